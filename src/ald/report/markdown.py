"""The audit as Markdown, for model cards and pull requests."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ald.criterion import visible
from ald.report.sentences import headline
from ald.report.summary import LIMITATION, facts, result
from ald.report.table import printed

if TYPE_CHECKING:
    from ald.auditing import Audit

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~&$:@-]|(?<=www)\.)", re.IGNORECASE)


def escape(text: str) -> str:
    """Text that Markdown shows as it is: no markup, no HTML, no link, no table cell of its own.

    >>> print(escape("<b>|*"))
    \\<b\\>\\|\\*
    """
    return _SPECIAL.sub(r"\\\1", visible(text))


def to_markdown(audit: Audit) -> str:
    """Headline, table of listed groups, facts and limitation."""
    lines = ["# Audit for disparities", "", escape(headline(audit)), "", escape(result(audit)), ""]
    cells = printed(audit)
    if audit.groups:
        lines.append("| # | " + " | ".join(escape(cell.header) for cell in cells) + " |")
        lines.append("|--:|" + "|".join("--:" if cell.is_number else "---" for cell in cells) + "|")
        for i, finding in enumerate(audit.groups, 1):
            lines.append(f"| {i} | " + " | ".join(escape(cell.text(finding)) for cell in cells) + " |")
        lines.append("")
    lines += [f"- {escape(fact)}" for fact in facts(audit)]
    lines += ["", LIMITATION, ""]
    return "\n".join(lines)
