"""Audits by the keys of the table of options, which tests can merge more easily than objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ald.auditing import audit_with
from ald.results.audit import Audit


def audit_flat(
    data: Any = None, *, profile: str | None = None, columns: Mapping[str, str] | None = None, **options: Any
) -> Audit:
    """What `ald.audit` finds with these options, such as trees=3 instead of search=ald.Search(trees=3).

    profile, columns: those of `ald.profile`, if it is to count for a law.
    """
    return audit_with({"data": data, **options}, profile=profile, columns=columns)
