"""The audit as plain text, for `print(audit)` and files."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from ald.criterion import visible
from ald.report.summary import LIMITATION, facts, headline, printed

if TYPE_CHECKING:
    from ald.auditing import Audit

_WIDTH = 110


def to_text(audit: Audit) -> str:
    """Headline, one block per listed group, facts and limitation."""
    blocks = [visible(headline(audit))]
    cells = printed(audit)
    for i, finding in enumerate(audit.groups, 1):
        numbers = visible(", ".join(f"{cell.header} {cell.text(finding)}" for cell in cells[1:] if cell.text(finding)))
        details = textwrap.fill(numbers, _WIDTH, initial_indent="   ", subsequent_indent="   ")
        blocks.append(f"{i}. {cells[0].text(finding)}\n{details}")
    blocks.append("\n".join(textwrap.fill(visible(line), _WIDTH, subsequent_indent="  ") for line in facts(audit)))
    blocks.append(textwrap.fill(LIMITATION, _WIDTH))
    return "\n\n".join(blocks)
