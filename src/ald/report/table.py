"""The table of listed groups: its columns, and each group's value in them as a number and as printed."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ald.notions import Notion, Rate
from ald.report.words import confidence, interval, p_value, percent, plain, readable, signed
from ald.results.finding import Finding

if TYPE_CHECKING:
    from ald.results.audit import Audit


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A column of the table: its header, and a finding's value as a number or text, and as it is printed."""

    key: str
    header: str
    value: Callable[[Finding], Any]
    text: Callable[[Finding], str]
    is_number: bool = True

    @property
    def is_main(self) -> bool:
        """Whether the column stays where there is little room."""
        return self.key in ("criterion", "people", "psi", "p_adjusted")

    @property
    def is_short(self) -> bool:
        """Whether the column's texts are short enough to stand in one line."""
        return self.key in ("people", "psi", "ratio", "statistic", "p_adjusted", "listed again")


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column of a table of a report: its header, whether it holds numbers, and what it means."""

    key: str
    header: str
    is_number: bool = True
    meaning: str = ""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A value of a table: as it is shown, and as the number (or text) that it is sorted and computed by."""

    text: str
    value: Any = None


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of a report: what it shows, its columns and its rows."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Entry, ...], ...]


def tabulated(audit: Audit) -> tuple[Finding, ...]:
    """The rows of tables: the listed groups, or the named ones where nothing was searched."""
    return audit.groups if audit.config.searches else audit.named_groups


def notions(audit: Audit) -> tuple[Notion, ...]:
    """The notions of the groups in the table, each once; without groups the audit's own."""
    return tuple(dict.fromkeys(audit.notion_of(finding) for finding in tabulated(audit))) or (audit.notion,)


def _questions(audit: Audit) -> list[Cell]:
    """Which question a group answers, where several were asked."""
    cells = {"notion": len(audit.config.notions) > 1, "outcome": len(audit.config.outcomes) > 1}
    return [
        Cell(key=key, header=key, value=value, text=value, is_number=False)
        for key, value in (("notion", lambda f: f.notion), ("outcome", lambda f: f.outcome or ""))
        if cells[key]
    ]


def rates(audit: Audit) -> tuple[Rate, ...]:
    """The rates of the listed groups, each once."""
    return tuple(dict.fromkeys(rate for notion in notions(audit) for rate in notion.rates))


def columns(audit: Audit) -> list[Cell]:
    """The columns of the ranked table with everything in them, for the notions of the listed groups."""
    cells = [
        Cell(
            key="criterion",
            header="group",
            value=lambda f: str(f.criterion),
            text=lambda f: str(readable(f.criterion)),
            is_number=False,
        ),
        *_questions(audit),
        Cell(key="size", header="people", value=lambda f: f.size, text=lambda f: f"{f.size:,}"),
        Cell(key="share", header="share", value=lambda f: f.share, text=lambda f: f"{f.share:.1%}"),
        Cell(key="psi", header="psi", value=lambda f: f.psi, text=lambda f: signed(f.psi)),
    ]
    several = any(len(notion.rates) > 1 for notion in notions(audit))
    for rate in rates(audit):
        if several:
            cells.append(_rate_cell(f"psi_{rate.key}", f"psi {rate.key}", "parts", rate.key, signed))
        cells.append(_rate_cell(f"{rate.key}_inside", f"{rate.key} in", "rates_inside", rate.key, percent))
        cells.append(_rate_cell(f"{rate.key}_outside", f"{rate.key} out", "rates_outside", rate.key, percent))
    if not several:
        cells.append(Cell(key="ratio", header="ratio", value=_ratio, text=lambda f: plain(_ratio(f), 2)))
    return [
        *cells,
        Cell(key="lower", header=f"{confidence_text(audit)} interval",
             value=lambda f: f.interval[0], text=lambda f: interval(f.interval)),
        Cell(key="upper", header="", value=lambda f: f.interval[1], text=lambda f: ""),
        Cell(key="statistic", header="chi2", value=lambda f: f.statistic, text=lambda f: plain(f.statistic, 1)),
        Cell(key="p_adjusted", header="adj. p", value=lambda f: f.p_adjusted,
             text=lambda f: p_value(f.log10_p_adjusted)),
        Cell(key="log10_p_adjusted", header="", value=lambda f: f.log10_p_adjusted, text=lambda f: ""),
        Cell(key="interval_level", header="", value=lambda f: f.interval_level, text=lambda f: ""),
        *_count_of_significant(audit),
        Cell(key="test", header="", value=lambda f: f.test, text=lambda f: f.test, is_number=False),
        Cell(key="stability", header="listed again", value=lambda f: f.stability, text=lambda f: percent(f.stability)),
    ]  # fmt: skip


def _count_of_significant(audit: Audit) -> list[Cell]:
    """How many groups are significant, the same in every row: so a table by itself says that it is not all."""
    if not audit.config.searches:
        return []
    n = len(audit.significant)
    return [Cell(key="significant_groups", header="", value=lambda _: n, text=lambda _: "")]


def _rate_cell(key: str, header: str, of: str, rate: str, text: Callable[[float | None], str]) -> Cell:
    """A column of one number per rate; empty for findings of a notion without this rate."""
    return Cell(
        key=key,
        header=header,
        value=lambda f: getattr(f, of).get(rate),
        text=lambda f: text(getattr(f, of)[rate]) if rate in getattr(f, of) else "",
    )


def _ratio(finding: Finding) -> float | None:
    return next(iter(finding.ratios.values()))


def printed(audit: Audit) -> list[Cell]:
    """The columns of the table where there is little room: fewer, with what belongs together in one."""
    everything = {cell.key: cell for cell in columns(audit)}
    cells = [everything["criterion"], *_questions(audit)]
    cells.append(_text("people", _people))
    cells.append(everything["psi"])
    cells.append(_text(f"{confidence_text(audit)} interval", lambda f: interval(f.interval)))
    for rate in rates(audit):
        cells.append(_text(f"{rate.key} in / out", functools.partial(_rate_text, rate.key)))
    cells += [everything[key] for key in ("ratio", "statistic", "p_adjusted") if key in everything]
    if audit.config.repeats > 1:
        cells.append(_text("listed again", lambda f: percent(f.stability)))
    return cells


# What a reader may ask of a column's header.
_MEANINGS = {
    "criterion": "who belongs to the group",
    "notion": "the fairness notion",
    "outcome": "the outcome that was audited",
    "size": "members in the half of the data that was kept for testing",
    "share": "their share of that half",
    "psi": "the disparity: the group's rate minus that of whom it is compared with; for several rates the mean "
    "absolute difference",
    "ratio": "the rate inside divided by the rate outside; the four-fifths rule looks at this ratio of selection rates",
    "lower": "where psi plausibly lies, allowing for the group having been picked from those tested",
    "statistic": "chi2 of the group against whom it is compared with; Fisher's statistic where several are combined",
    "p_adjusted": "the p-value, given the groups found before this one, corrected for the number of groups tested",
    "stability": "the share of random halvings that list an equivalent group",
}


def ranked_table(audit: Audit) -> Table:
    """The listed groups, best first, as a table that can be sorted: every number in a column of its own."""
    cells = [cell for cell in columns(audit) if cell.header]
    if audit.config.repeats == 1:
        cells = [cell for cell in cells if cell.key != "stability"]
    meanings = _MEANINGS | {f"{rate.key}_inside": f"{rate.name} inside the group" for rate in rates(audit)}
    meanings |= {f"{rate.key}_outside": f"{rate.name} outside the group" for rate in rates(audit)}
    meanings |= {f"psi_{rate.key}": f"{rate.name}: inside minus outside" for rate in rates(audit)}
    heads = [Column(key=cell.key, header=cell.header, is_number=cell.is_number, meaning=meanings[cell.key])
             for cell in cells]  # fmt: skip
    rows = [
        tuple(Entry(text=cell.text(finding), value=_sortable(cell, finding)) for cell in cells)
        for finding in audit.groups
    ]
    return Table(caption="Listed groups, best first", columns=tuple(heads), rows=tuple(rows))


def _sortable(cell: Cell, finding: Finding) -> Any:
    # p-values of large data underflow to 0; their logarithms keep the order.
    return finding.log10_p_adjusted if cell.key == "p_adjusted" else cell.value(finding)


def confidence_text(audit: Audit) -> str:
    """The confidence of the intervals of listed groups, which may be above 1 - level to make up for their selection."""
    return confidence(audit.groups[0].interval_level if audit.groups else 1 - audit.config.level)


def _people(finding: Finding) -> str:
    """How many, and their share; with clusters rows, and the people that they are about."""
    who = "" if finding.people is None else f" rows of {finding.people:,}"
    return f"{finding.size:,}{who} ({finding.share:.1%})"


def _text(header: str, text: Callable[[Finding], str]) -> Cell:
    return Cell(key=header, header=header, value=text, text=text)


def _rate_text(key: str, finding: Finding) -> str:
    if key not in finding.parts:
        return ""
    text = f"{percent(finding.rates_inside[key])} / {percent(finding.rates_outside[key])}"
    return f"{text} ({signed(finding.parts[key])})" if len(finding.parts) > 1 else text
