"""A card per listed group: everything about it in sentences, tables, curves and code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ald.groups.wording import readable, readable_condition
from ald.notions import Notion
from ald.report.code import to_pandas, to_sql
from ald.report.curves import CurveView, curve_view
from ald.report.model import Card, Entry, Table
from ald.report.summary.findings import search_tree
from ald.report.summary.sentences import certainty, compared_with, finer_cuts, magnitude, question, statement
from ald.report.summary.table import confidence_text, name, number, text_and_numbers, word
from ald.report.trees import Tree
from ald.report.words import interval, percent, signed
from ald.results.details import Dropped
from ald.results.finding import Finding

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
        sentence = statement(finding, audit)
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
                    f"{sentence[0].upper()}{sentence[1:]}.",
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
            f"Found by exploring from all trees and combinations. Shown is the node of the forest whose people are "
            f"most alike, {place}; it need not be the same group."
        )
    return f"Proposed by {place}."


def _rank(values: list[float]) -> list[int]:
    """The place of each value, smallest first; ties in the order given."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    return [order.index(i) + 1 for i in range(len(values))]


def _tabulate_rates(finding: Finding, notion: Notion, audit: Audit) -> Table:
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
                number(difference, signed(difference)),
                number(bounds[0], interval(bounds)),
                number(ratio, "undefined" if ratio is None else f"{ratio:.2f}"),
            )
        )
    heads = ("rate", "inside", "outside", "difference", f"{confidence_text(audit)} interval", "ratio")
    caption = f"Rates of the group and of {compared_with(audit.config, finding)}"
    return Table(caption=caption, columns=text_and_numbers(*heads), rows=tuple(rows))


def tabulate_strata(finding: Finding, notion: Notion) -> Table | None:
    """The group in every stratum of legitimate factors: what psi is a mean of."""
    if not finding.strata:
        return None
    rows = tuple(
        (
            name(stratum.criterion),
            number(stratum.size, f"{stratum.size:,}"),
            number(stratum.size_outside, f"{stratum.size_outside:,}"),
            *(
                number(value, "–" if value is None else text(value))
                for rate in notion.rates
                for value, text in (
                    (stratum.rates_inside[rate.key], percent),
                    (stratum.rates_outside[rate.key], percent),
                    (stratum.parts[rate.key], signed),
                )
            ),
            number(stratum.weight, percent(stratum.weight)),
        )
        for stratum in finding.strata
    )
    by_rate = [f"{rate.key} {what}" for rate in notion.rates for what in ("inside", "outside", "difference")]
    unit = "people" if finding.people is None else "rows"
    heads = text_and_numbers("stratum", f"{unit} inside", f"{unit} outside", *by_rate, "weight")
    mean = "psi is the weighted mean" if len(notion.rates) == 1 else "weights are means over the rates"
    return Table(caption=f"The group in every stratum; {mean}", columns=heads, rows=rows)


def _break_down(finding: Finding, dropped: tuple[Dropped, ...], audit: Audit) -> Table | None:
    """The group, and what is left of the disparity without each of its conditions."""
    if not dropped:
        return None
    whole = (
        word("the group itself"),
        number(finding.size, f"{finding.size:,}"),
        number(finding.share, percent(finding.share)),
        number(finding.psi, signed(finding.psi)),
        number(finding.interval_unadjusted[0], interval(finding.interval_unadjusted)),
    )
    rows = [
        (
            Entry(text=f"without {readable_condition(condition)}", value=condition.attribute),
            number(entry.size, f"{entry.size:,}"),
            number(entry.share, percent(entry.share)),
            number(entry.psi, signed(entry.psi)),
            number(entry.interval[0], interval(entry.interval)),
        )
        for condition, entry in zip(finding.criterion, dropped, strict=True)
    ]
    heads = text_and_numbers("group", "people", "share", "psi", f"{100 * (1 - audit.config.level):.3g}% interval")
    caption = "How the disparity changes when one condition is dropped; intervals are for one group at a time"
    return Table(caption=caption, columns=heads, rows=(whole, *rows))


def _tabulate_close(finding: Finding) -> Table | None:
    """Groups that the search found close to this one, and that were not tested beside it."""
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
    caption = "Close to this group, and not tested beside it"
    return Table(caption=caption, columns=text_and_numbers("group", "people", "holds of this group"), rows=rows)


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
