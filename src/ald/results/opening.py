"""Documents of any kind: each is read by the result that wrote it."""

from __future__ import annotations

import json

from ald.results.audit import Audit
from ald.results.comparison import Comparison
from ald.results.watch import Watch

_KINDS: dict[str | None, type[Audit] | type[Comparison] | type[Watch]] = {
    None: Audit,
    Comparison.KIND: Comparison,
    Watch.KIND: Watch,
}


def open_document(text: str | bytes) -> Audit | Comparison | Watch:
    """The audit, comparison or watch that wrote the document."""
    try:
        document = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        document = None  # which audits say better
    kind = document.get("kind") if isinstance(document, dict) else None
    return _KINDS.get(kind if isinstance(kind, str) else None, Audit).from_json(text)
