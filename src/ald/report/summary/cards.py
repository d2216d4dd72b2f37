"""A card per listed group: everything about it in sentences, tables, curves and code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ald.groups.wording import readable, readable_condition
from ald.notions import Notion, Rate
from ald.report.code import to_pandas, to_sql
from ald.report.curves import CurveView, curve_view
from ald.report.model import Card, Entry, Grid
from ald.report.summary.beside import tabulate_beside, tell_beside
from ald.report.summary.findings import search_tree
from ald.report.summary.phrases import compared_with
from ald.report.summary.sentences import certainty, few, finer_cuts, magnitude, question, state
from ald.report.summary.table import confidence_text, gap, gap_head, gap_of, name, number, text_and_numbers, word
from ald.report.trees import Tree
from ald.report.units import units_of, units_of_notion
from ald.report.words import confidence, count, percent
from ald.results.details import Dropped
from ald.results.finding import Finding, StratumResult
from ald.results.reliability import Area, Reliability
from ald.results.spreads import SHARES, Spread

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
        beside = audit.details.beside[i]
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
                    *([] if beside is None else tell_beside(beside, notion)),
                    *finer_cuts(finding, notion),
                ),
                pandas=to_pandas(finding.criterion),
                sql=to_sql(finding.criterion),
                numbers=_tabulate_rates(finding, notion, audit),
                breakdown=_break_down(finding, audit.details.dropped[i], audit),
                dropped=audit.details.dropped[i],
                close=_tabulate_close(finding),
                beside=None if beside is None else tabulate_beside(beside, notion, audit.config.level),
                strata=tabulate_strata(finding, notion),
                curves=_trace_curves(finding, notion, audit.details.dropped[i], audit),
                tree=trees.get(key),
                node=finding.node or 1,
                **_show_amounts(i, notion, audit),
                origin=_tell_origin(finding, audit),
            )
        )
    return tuple(cards)


def _show_amounts(i: int, notion: Notion, audit: Audit) -> dict[str, Any]:
    """How amounts are spread in a listed group, or how well a score tells the truth there; nothing of yes and no."""
    spreads, told = audit.details.spreads, audit.details.reliabilities
    out: dict[str, Any] = {}
    # What calibration is a mean of has two heaps, and no middle that says anything.
    if spreads and notion.rates[0].key != "calibration":
        out |= {"spread": spreads[i], "quantiles": _tabulate_spread(spreads[i], notion)}
    if told:
        out |= {"reliability": told[i], "bands": _tabulate_bands(told[i], audit)}
    return out


def _tabulate_bands(told: Reliability, audit: Audit) -> Grid:
    """The bands of a score, inside and outside, and the areas under the ROC curve in the caption."""

    def area(one: Area) -> str:
        low, high = one.interval
        ends = "" if low is None or high is None else f" ({low:.3f} to {high:.3f})"
        return "undefined" if one.value is None else f"{one.value:.3f}{ends}"

    def share(value: float | None) -> Entry:
        return number(value, "–" if value is None else percent(value))

    rows = tuple(
        (
            Entry(text=f"{percent(band.first)} to {percent(band.last)}", value=band.first),
            *(
                entry
                for side in (band.inside, band.outside)
                for entry in (number(side.people, few(side.people, audit.config)), share(side.score), share(side.truth))
            ),
        )
        for band in told.bands
    )
    heads = text_and_numbers(
        "score", *(f"{what}, {where}" for where in ("inside", "outside") for what in ("people", "mean score", "truth"))
    )
    caption = (
        "Bands of the score, with the share for whom the truth holds. Area under the ROC curve: "
        f"{area(told.auc_inside)} inside, {area(told.auc_outside)} outside "
        f"({confidence(1 - audit.config.level)} intervals)"
    )
    return Grid(caption=caption, columns=heads, rows=rows)


def _tabulate_spread(spread: Spread, notion: Notion) -> Grid:
    """Quantiles of the outcome in the group, and of those it is compared with."""
    units = units_of_notion(notion)
    heads = text_and_numbers("share of the people", *(f"{share:.0%}" for share in SHARES))
    rows = tuple(
        (word(f"{name}, at most"), *(number(value, units.level(value)) for value in values))
        for name, values in (("inside", spread.inside), ("outside", spread.outside))
        if values
    )
    return Grid(caption="So many have at most this", columns=heads, rows=rows)


def _tell_origin(finding: Finding, audit: Audit) -> str:
    """How the group was found."""
    if finding.tree is None:
        return "Found by searching everyone; no tree grew."
    place = f"node {finding.node} of tree {(finding.tree or 0) + 1}"
    if audit.hidden.nodes:
        place += " (or by one below it that is not shown)" if not audit.config.explores else ""
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
        difference, ratio, units = finding.parts[rate.key], finding.ratios[rate.key], units_of(rate)
        bounds = finding.part_intervals[rate.key]
        rows.append(
            (
                word(rate.name),
                number(inside, units.level(inside)),
                number(outside, units.level(outside)),
                gap(difference, units),
                word(units.interval(bounds)),
                number(ratio, "undefined" if ratio is None else f"{ratio:.2f}"),
            )
        )
    noun = units_of_notion(notion).noun
    heads = (noun, "inside", "outside", "gap", f"{confidence_text(audit)} interval", "ratio")
    caption = f"{noun.capitalize()}s of the group and of {compared_with(audit.config, finding)}"
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
    unseen = finding.strata_hidden
    left += f"; {count(unseen, 'stratum', 'strata')} of too few people not shown" if unseen else ""
    return Grid(caption=f"The group in every stratum: {mean}{left}", columns=heads, rows=rows)


def _compare(stratum: StratumResult, rate: Rate) -> tuple[Entry, ...]:
    """A rate inside and outside, and the difference; a dash where it is undefined."""
    sides = (stratum.rates_inside[rate.key], stratum.rates_outside[rate.key])
    difference, units = stratum.parts[rate.key], units_of(rate)
    return (
        *(number(side, "–" if side is None else units.level(side)) for side in sides),
        word("–") if difference is None else gap(difference, units),
    )


def _break_down(finding: Finding, dropped: tuple[Dropped, ...], audit: Audit) -> Grid | None:
    """The group, and what is left of the disparity without each of its conditions."""
    if not dropped:
        return None
    notion, several = audit.notion_of(finding), len(finding.parts) > 1
    units = units_of_notion(notion)
    whole = (
        word("the group itself"),
        number(finding.size, f"{finding.size:,}"),
        number(finding.share, percent(finding.share)),
        gap_of(finding.psi, notion),
        word(units.interval(finding.interval_unadjusted)),
    )
    rows = [
        (
            Entry(text=f"without {readable_condition(condition)}", value=condition.attribute),
            number(entry.size, f"{entry.size:,}"),
            number(entry.share, percent(entry.share)),
            gap_of(entry.psi, notion),
            word(units.interval(entry.interval)),
        )
        for condition in finding.criterion
        for entry in dropped
        if entry.attribute == condition.attribute
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
        if audit.details.curve(condition.attribute, finding.outcome).bins
        for rate in notion.rates
    )
