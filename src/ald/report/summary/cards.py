"""A card per listed group: everything about it in sentences, tables, curves and code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ald.groups.wording import readable, readable_condition
from ald.notions import Notion, Rate
from ald.report.code import to_pandas, to_sql
from ald.report.curves import CurveView, curve_view
from ald.report.model import Card, Entry, Grid
from ald.report.summary.findings import search_tree
from ald.report.summary.phrases import compared_with
from ald.report.summary.sentences import certainty, finer_cuts, magnitude, question, state
from ald.report.summary.table import confidence_text, gap, gap_head, name, number, text_and_numbers, word
from ald.report.trees import Tree
from ald.report.words import confidence, count, interval, percent
from ald.results.details import Dropped
from ald.results.finding import Finding, StratumResult

if TYPE_CHECKING:
    from ald.results.audit import Audit


def make_cards(audit: Audit) -> tuple[Card, ...]:
    """The cards of all listed groups, in the order of the list."""
    confidence = _rank([finding.log10_p or 0.0 for finding in audit.groups])
    magnitudes = _rank([-abs(finding.psi or 0.0) for finding in audit.groups])
    if audit.config.ranking == "magnitude":
        magnitudes = [i + 1 for i in range(len(audit.groups))]
    trees: dict[tuple[int | None, Notion], Tree] = {}
    cards = []
    for i, finding in enumerate(audit.groups):
        notion = audit.notion_of(finding)
        key = (finding.tree, notion)
        if finding.tree is not None and key not in trees:
            trees[key] = search_tree(finding, audit)
        cards.append(
            Card(
                rank=i + 1,
                rank_confidence=confidence[i],
                rank_magnitude=magnitudes[i],
                finding=finding,
                notion=notion,
                criterion=readable(finding.criterion),
                about=question(finding.notion, finding.outcome, audit).removeprefix(" for "),
                sentences=(
                    state(finding, audit),
                    magnitude(finding, audit),
                    certainty(finding, audit),
                    *finer_cuts(finding),
                ),
                pandas=to_pandas(finding.criterion),
                sql=to_sql(finding.criterion),
                numbers=_tabulate_rates(finding, notion, audit),
                breakdown=_break_down(finding, audit.details.dropped[i], audit),
                dropped=audit.details.dropped[i],
                close=_tabulate_close(finding),
                strata=tabulate_strata(finding, notion),
                curves=_trace_curves(finding, notion, audit.details.dropped[i], audit),
                tree=trees.get(key),
                node=finding.node or 1,
                origin=_tell_origin(finding, audit),
            )
        )
    return tuple(cards)


def _tell_origin(finding: Finding, audit: Audit) -> str:
    """How the group was found."""
    if finding.tree is None:
        return "Found by searching everyone; no tree grew."
    place = f"node {finding.node} of tree {(finding.tree or 0) + 1}"
    if audit.config.explores:
        return (
            "Found by exploring all trees and combinations. Shown is the node of the forest with the most similar "
            f"people, {place}; it need not be the same group."
        )
    return f"Proposed by {place}."


def _rank(values: list[float]) -> list[int]:
    """The place of each value, smallest first; ties in the order given."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    return [order.index(i) + 1 for i in range(len(values))]


def _tabulate_rates(finding: Finding, notion: Notion, audit: Audit) -> Grid:
    """One row per rate: inside, outside, difference, interval, ratio."""
    rows = []
    for rate in notion.rates:
        inside, outside = finding.rates_inside[rate.key], finding.rates_outside[rate.key]
        difference, ratio = finding.parts[rate.key], finding.ratios[rate.key]
        bounds = finding.part_intervals[rate.key]
        rows.append(
            (
                word(rate.name),
                number(inside, percent(inside)),
                number(outside, percent(outside)),
                gap(difference),
                word(interval(bounds)),
                number(ratio, "undefined" if ratio is None else f"{ratio:.2f}"),
            )
        )
    heads = ("rate", "inside", "outside", "gap", f"{confidence_text(audit)} interval", "ratio")
    caption = f"Rates of the group and of {compared_with(audit.config, finding)}"
    return Grid(caption=caption, columns=text_and_numbers(*heads), rows=tuple(rows))


def tabulate_strata(finding: Finding, notion: Notion) -> Grid | None:
    """The group in every stratum of legitimate factors: what psi is a mean of."""
    if not finding.strata:
        return None
    rows = tuple(
        (
            name(stratum.criterion),
            number(stratum.size, f"{stratum.size:,}"),
            number(stratum.size_outside, f"{stratum.size_outside:,}"),
            *(entry for rate in notion.rates for entry in _compare(stratum, rate)),
            number(stratum.weight, percent(stratum.weight)),
        )
        for stratum in finding.strata
        if stratum.weight > 0
    )
    if not rows:
        return None
    by_rate = [f"{rate.key} {what}" for rate in notion.rates for what in ("inside", "outside", "gap")]
    unit = "people" if finding.people is None else "rows"
    heads = text_and_numbers("stratum", f"{unit} inside", f"{unit} outside", *by_rate, "weight")
    mean = "the gap is the weighted mean" if len(notion.rates) == 1 else "weights are means over the rates"
    empty = len(finding.strata) - len(rows)
    left = f"; {count(empty, 'stratum', 'strata')} without people on both sides left out" if empty else ""
    return Grid(caption=f"The group in every stratum: {mean}{left}", columns=heads, rows=rows)


def _compare(stratum: StratumResult, rate: Rate) -> tuple[Entry, ...]:
    """A rate inside and outside, and the difference; a dash where it is undefined."""
    sides = (stratum.rates_inside[rate.key], stratum.rates_outside[rate.key])
    difference = stratum.parts[rate.key]
    return (
        *(number(side, "–" if side is None else percent(side)) for side in sides),
        word("–") if difference is None else gap(difference),
    )


def _break_down(finding: Finding, dropped: tuple[Dropped, ...], audit: Audit) -> Grid | None:
    """The group, and what is left of the disparity without each of its conditions."""
    if not dropped:
        return None
    several = len(finding.parts) > 1
    whole = (
        word("the group itself"),
        number(finding.size, f"{finding.size:,}"),
        number(finding.share, percent(finding.share)),
        gap(finding.psi, several),
        word(interval(finding.interval_unadjusted)),
    )
    rows = [
        (
            Entry(text=f"without {readable_condition(condition)}", value=condition.attribute),
            number(entry.size, f"{entry.size:,}"),
            number(entry.share, percent(entry.share)),
            gap(entry.psi, several),
            word(interval(entry.interval)),
        )
        for condition, entry in zip(finding.criterion, dropped, strict=True)
    ]
    heads = text_and_numbers(
        "group", "people", "share", gap_head(several), f"{confidence(1 - audit.config.level)} interval"
    )
    caption = "How the gap changes when one condition is dropped; intervals are for one group at a time"
    return Grid(caption=caption, columns=heads, rows=(whole, *rows))


def _tabulate_close(finding: Finding) -> Grid | None:
    """Groups that overlap this one, and that were not tested separately."""
    if not finding.also:
        return None
    rows = tuple(
        (
            name(other.criterion),
            number(other.size, f"{other.size:,}"),
            number(other.overlap, f"{other.overlap:.0%}"),
        )
        for other in finding.also
    )
    heads = text_and_numbers("group", "people", "share of this group inside it")
    return Grid(caption="Overlaps this group; not tested separately", columns=heads, rows=rows)


def _trace_curves(
    finding: Finding, notion: Notion, dropped: tuple[Dropped, ...], audit: Audit
) -> tuple[CurveView, ...]:
    """Every rate of the notion along every attribute of the group."""
    within = {entry.attribute: entry.within for entry in dropped}
    return tuple(
        curve_view(
            audit.details.curve(condition.attribute, finding.outcome),
            rate,
            condition,
            audit.config.level,
            within.get(condition.attribute),
        )
        for condition in finding.criterion
        for rate in notion.rates
    )
