"""The audit as plain text, for `print(audit)` and files."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from ald.criterion import visible
from ald.report.sentences import headline
from ald.report.summary import LIMITATION, facts, result
from ald.report.table import printed

if TYPE_CHECKING:
    from ald.auditing import Audit

_WIDTH = 110


def to_text(audit: Audit) -> str:
    """Headline, one block per listed group, facts and limitation."""
    blocks = [textwrap.fill(visible(line), _WIDTH) for line in (headline(audit), result(audit))]
    cells = printed(audit)
    for i, finding in enumerate(audit.groups, 1):
        numbers = visible(", ".join(f"{cell.header} {cell.text(finding)}" for cell in cells[1:]))
        details = textwrap.fill(numbers, _WIDTH, initial_indent="   ", subsequent_indent="   ")
        blocks.append(f"{i}. {cells[0].text(finding)}\n{details}")
    blocks.append("\n".join(textwrap.fill(visible(line), _WIDTH, subsequent_indent="  ") for line in facts(audit)))
    blocks.append(textwrap.fill(LIMITATION, _WIDTH))
    return "\n\n".join(blocks)
