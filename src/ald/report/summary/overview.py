"""What stands on the first screen beside the groups: every attribute's own gap, and what could have been seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ald.data.guesses import is_protected
from ald.notions import Rate
from ald.report.model import Entry, Grid, Heading, Section
from ald.report.summary.phrases import compared_with, units_in
from ald.report.summary.sentences import question, unit_of
from ald.report.summary.table import gap_head, gap_of, name, number, word
from ald.report.units import POINTS, Points, Units, units_of, units_of_notion
from ald.report.words import confidence, count, list_words, p_value

if TYPE_CHECKING:
    from ald.results.audit import Audit
    from ald.results.gaps import Gap, Gaps

# Lines on the first screen; the others follow where all levels are.
ATTRIBUTES = 15
# Of these at most so many levels of an attribute that laws protect: nobody should have to ask where it is.
_PROTECTED = 4


def show_gaps(audit: Audit) -> Section | None:
    """The largest gap of every attribute, and all levels to unfold; None where there is no attribute."""
    gaps = audit.gaps
    if not gaps.rows:
        return None
    first = _choose_rows(gaps)
    left = len(gaps.largest()) - len({row.attribute for row in first})
    more = [f"{count(left, 'more attribute')} {'is' if left == 1 else 'are'} not among these."]
    whole = len(gaps) > len(first)
    units = units_in(audit)
    exactly = "in percentage points" if isinstance(units, Points) else units.gaps_in
    return Section(
        key="gaps",
        title="Every attribute by itself",
        paragraphs=(
            f"Of every attribute the level with the largest gap, against {compared_with(audit.config)}, on all "
            f"{audit.data_summary.rows:,} {unit_of(audit)}, {units.gaps_in}; gaps that chance does not explain come "
            f"first. The {confidence(gaps.interval_level)} intervals hold for {_all(gaps.compared)}; where one "
            "includes 0, the gap may be chance.",
            *(more if left > 0 else []),
        ),
        table=_tabulate(first, audit, f"Largest gap of every attribute, {exactly}", whole=False),
        more=_tabulate(gaps.rows, audit, _caption(audit), whole=True) if whole else None,
    )


def _choose_rows(gaps: Gaps) -> tuple[Gap, ...]:
    """The largest gap of every attribute, as many as fit; some levels more of those that laws protect, by their names.

    Of two levels one is the mirror of the other.
    """
    levels: dict[str, list[Gap]] = {}
    for row in gaps.rows:
        told = levels.setdefault(row.attribute, [])
        if row.criterion not in [other.criterion for other in told]:
            told.append(row)
    chosen = [rows[:1] for name, rows in levels.items() if is_protected(name)]
    chosen += [rows[1:_PROTECTED] for name, rows in levels.items() if is_protected(name) and len(rows) > 2]
    protected = [row for rows in chosen for row in rows][: ATTRIBUTES // 2]
    others = [rows[0] for name, rows in levels.items() if not is_protected(name)]
    shown = {id(row) for row in (*protected, *others[: ATTRIBUTES - len(protected)])}
    return tuple(row for row in gaps.rows if id(row) in shown)


def _all(comparisons: int) -> str:
    return f"all {comparisons:,} comparisons together" if comparisons > 1 else "this one comparison"


def _caption(audit: Audit) -> str:
    """What all levels are, and which are not among them."""
    gaps = audit.gaps
    left = list_words([f"{n:,} smaller levels of {attribute}" for attribute, n in gaps.shortened.items()])
    caption = f"All {count(len(gaps), 'level')}, those that chance does not explain first"
    caption += f"; {left} not compared" if left else ""
    return f"{caption}; {count(gaps.hidden, 'level')} of too few people not shown" if gaps.hidden else caption


def _tabulate(gaps: Sequence[Gap], audit: Audit, caption: str, *, whole: bool) -> Grid:
    """Some gaps; `whole`: with p-values, and with the rates even if there are several."""
    several = len(audit.config.notions) > 1 or len(audit.config.asked_outcomes) > 1
    mean = all(len(notion.rates) > 1 for notion in audit.config.notions)
    rates = whole or not mean
    heads = (
        Heading(key="criterion", header="level", is_number=False),
        *([Heading(key="question", header="about", is_number=False)] if several else []),
        Heading(key="size", header=unit_of(audit)),
        *([Heading(key="in / out", header="in / out")] if rates else []),
        Heading(key="psi", header=gap_head(mean)),
        Heading(key="interval", header="interval"),
        *([Heading(key="p_adjusted", header="adj. p")] if whole else []),
    )
    rows = tuple(_row(one, audit, several=several, rates=rates, whole=whole) for one in gaps)
    return Grid(caption=caption, columns=heads, rows=rows)


def _row(one: Gap, audit: Audit, *, several: bool, rates: bool, whole: bool) -> tuple[Entry, ...]:
    about, notion = question(one.notion, one.outcome, audit).removeprefix(" for "), audit.notion_of(one)
    return (
        name(one.criterion),
        *([word(about)] if several else []),
        number(one.size, f"{one.size:,}"),
        *([word(", ".join(_pair(one, rate) for rate in notion.rates))] if rates else []),
        gap_of(one.psi, notion),
        word(units_of_notion(notion).interval(one.interval)),
        *([number(one.log10_p_adjusted, p_value(one.log10_p_adjusted))] if whole else []),
    )


def _pair(one: Gap, rate: Rate) -> str:
    """The rate inside and outside; of several rates with its key."""
    named, units = f"{rate.key} " if len(one.parts) > 1 else "", units_of(rate)
    return f"{named}{units.level(one.rates_inside[rate.key])} / {units.level(one.rates_outside[rate.key])}"


def show_power(audit: Audit) -> Section | None:
    """The smallest gaps that the tests find, by the size of the group."""
    if not audit.detectable:
        return None
    questions = list(dict.fromkeys((entry.notion, entry.outcome) for entry in audit.detectable))
    shares = list(dict.fromkeys(entry.share for entry in audit.detectable))
    found = {(entry.notion, entry.outcome, entry.share): entry.psi for entry in audit.detectable}
    tested = audit.data_summary.rows_assess
    units = {notion.name: units_of_notion(notion) for notion in audit.config.notions}
    rows = tuple(
        (
            word(f"smallest gap{question(*asked, audit)}"),
            *(_least(found.get((*asked, share)), units.get(asked[0], POINTS)) for share in shares),
        )
        for asked in questions
    )
    heads = (
        Heading(key="question", header=f"{unit_of(audit)} in the group", is_number=False),
        *(Heading(key=f"{share}", header=f"{round(share * tested):,} ({share:.0%})") for share in shares),
    )
    missed = any(found.get((*asked, share)) is None for asked in questions for share in shares)
    return Section(
        key="seen",
        title="What the audit could have seen",
        paragraphs=(
            f"How large a gap must be, {units_in(audit).gaps_in}, for the tests to find it in four of five cases, by "
            "the size of the group. Smaller gaps may be there unseen."
            + (" None: even the largest possible gap would usually be missed." if missed else ""),
        ),
        table=Grid(caption="Smallest gap that would be found, by the size of the group", columns=heads, rows=rows),
    )


def _least(psi: float | None, units: Units) -> Entry:
    if psi is None:
        return word("none")
    text = units.short(psi)
    return number(units.scale * psi, f"{float(text):.1f}" if isinstance(units, Points) else text)
