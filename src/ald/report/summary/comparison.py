"""The report of a comparison of two models."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

from ald._core.version import __version__
from ald.groups.criterion import quote
from ald.groups.wording import readable
from ald.options.table import of_command
from ald.report.identity import Identity
from ald.report.model import Chart, Charts, Entry, Figure, Grid, Heading, Records, Report, Section, Spot
from ald.report.summary.facts import describe_outcomes
from ald.report.summary.phrases import group_words, sentence
from ald.report.summary.sections import say_fingerprint, tabulate_attributes, tabulate_left_out
from ald.report.summary.sentences import LIMITATION
from ald.report.summary.settings import tabulate_some, tabulate_versions, trace
from ald.report.summary.table import gap, name, number, text_and_numbers, word
from ald.report.units import Points, Units, units_of_notion
from ald.report.words import confidence, count, evidence, format_signed, list_words, p_value, percent
from ald.results.comparison import ChangedGroup, Comparison, RateChange

if TYPE_CHECKING:
    from ald.notions import Rate

_LEGEND = (
    "Each line leads from the gap under the first model to that under the second; a gap of 0 is a group that fares as "
    "everyone else."
)


def summarise_comparison(found: Comparison, identity: Identity) -> Report:
    """The comparison in words, numbers and tables."""
    file = [] if found.input_name is None else [found.input_name]
    table = _tabulate(found, found.groups, f"Groups whose gap changes, {_from_to(found)}")
    charts = [Section(key="changes", title="How gaps change", charts=_draw(found))] if found.groups else []
    return Report(
        subject=found.KIND,
        title=identity.title,
        made=(*file, identity.day_words, f"ALD {__version__}"),
        day=identity.day,
        notes=identity.notes,
        headline=_headline(found),
        group=group_words(found.groups[0].criterion) if found.groups else "",
        lead=_lead(found),
        result=_result(found),
        groups_title="Groups whose gap changes" if found.groups else "No group is listed",
        is_search=True,
        has_trees=False,
        ranking="confidence",
        notions=found.notion.name,
        figures=_figures(found),
        giveaways=None,
        overview=(*charts, _overall(found)),
        footnote=_footnote(found) if found.groups else "",
        table=table,
        brief=table,
        records=_record(found, found.groups),
        facts=_facts(found),
        warnings=found.data_summary.warnings,
        profile=(),
        limitation=LIMITATION,
        provenance=trace(identity, found.input_name, found.input_sha256),
        _cards=lambda: (),
        _sections=lambda: _sections(found),
        _candidates=lambda: _record(found, found.tested),
        _document=found.to_dict,
    )


def _units(found: Comparison) -> Units:
    """How gaps are written: a comparison asks for rates, or for one mean."""
    return units_of_notion(found.notion)


def _from_to(found: Comparison) -> str:
    return f"{quote(found.first)} to {quote(found.second)}"


def _headline(found: Comparison) -> str:
    if not found.groups:
        return (
            f"No group's gap changes significantly when {quote(found.first)} is replaced by {quote(found.second)} "
            f"({found.notion.name})."
        )
    first, units = found.groups[0], _units(found)
    gaps = [(_rate(found, rate).name, units.signed(rate.gap_first), rate.gap_second) for rate in first.rates]
    moved = [(what, before, after) for what, before, after in gaps if before != units.signed(after)] or gaps
    said = [f"{what} from {before} to {_with_unit(after, units)}" for what, before, after in moved]
    return sentence(
        f"when {quote(found.first)} is replaced by {quote(found.second)}, the gap of people with "
        f"{group_words(first.criterion)} changes: {list_words(said)}"
    )


def _with_unit(value: float, units: Units) -> str:
    return f"{format_signed(value)} points" if isinstance(units, Points) else units.gap_words(value)


def _rate(found: Comparison, change: RateChange) -> Rate:
    return next(rate for rate in found.notion.rates if rate.key == change.rate)


def _lead(found: Comparison) -> tuple[str, ...]:
    units = _units(found)
    gap = "A gap is a group's rate minus that of everyone else, in percentage points."
    if found.config.mean is not None:
        mean, where = found.config.mean.name, "in percentage points" if isinstance(units, Points) else units.gaps_in
        gap = f"A gap is a group's {mean} minus that of everyone else, {where}."
    if not found.groups:
        return (f"{gap} What both models do to the same person is not taken for two persons.",)
    first = found.groups[0]
    by = [
        f"by {_with_unit(rate.change, units)} ({confidence(found.confidence)} interval "
        f"{units.interval(rate.interval)}) in {_rate(found, rate).name}"
        for rate in first.rates
    ]
    return (
        f"{gap} This one changes {list_words(by)}; the evidence is {evidence(first.log10_p_adjusted)} (corrected "
        f"{_p(first)}).",
        f"The group has {first.size:,} people, {percent(first.share)} of those who were kept for the tests.",
    )


def _p(group: ChangedGroup) -> str:
    text = p_value(group.log10_p_adjusted)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"


def _result(found: Comparison) -> str:
    listed = count(len(found.groups), "group") if found.groups else "No group"
    line = (
        f"{listed} listed of {found.n_tested:,} tested on {found.data_summary.rows_assess:,} people that the search "
        f"never saw ({found.notion.name}, level {found.level:g})."
    )
    more = found.n_significant - len(found.groups)
    if not more:
        return line
    return (
        f"{line} {count(more, 'group')} more {'is' if more == 1 else 'are'} significant, but the list ends after "
        f"{len(found.groups)}: groups={found.n_significant} (--groups {found.n_significant}) lists all."
    )


def _footnote(found: Comparison) -> str:
    how = f"Intervals of the change have {confidence(found.confidence)} confidence"
    if found.n_significant < found.n_tested:
        how += f", which allows for {found.n_significant} of {found.n_tested} tested groups being significant"
    if found.config.mean is not None:
        return f"{how}. They are those of Welch's t."
    if len(found.notion.rates) == 1:
        return f"{how}. They hold the changes that the score test does not reject."
    return f"{how}, all rates of a group together. Those of single rates can hold 0 where the rates together do not."


def _figures(found: Comparison) -> tuple[Figure, ...]:
    data = found.data_summary
    return (
        Figure(text=f"{data.rows:,}", label="people compared"),
        Figure(text=f"{data.rows_assess:,}", label="of them kept for the tests"),
        Figure(text=f"{len(data.attributes):,}", label=f"attribute{'' if len(data.attributes) == 1 else 's'} searched"),
        Figure(text=f"{found.n_tested:,}", label=f"group{'' if found.n_tested == 1 else 's'} tested"),
        Figure(text=f"{len(found.groups):,}", label="listed"),
    )


def _tabulate(found: Comparison, groups: Sequence[ChangedGroup], caption: str) -> Grid:
    """One row per group: of every rate the gap under both models, and its change with the interval."""
    several = len(found.notion.rates) > 1
    heads = [*text_and_numbers("group", "people", "share")]
    for rate in found.notion.rates:
        about = f"{rate.key} " if several else ""
        heads += [
            Heading(key=f"{rate.key} gaps", header=f"{about}gap, first → second", meaning=rate.name),
            Heading(key=f"{rate.key} change", header=f"{about}change", meaning="gap under the second less the first"),
            *([] if several else [Heading(key="lower", header="interval")]),
        ]
    heads.append(Heading(key="p_adjusted", header="adj. p"))
    rows = tuple(
        (
            name(group.criterion),
            number(group.size, f"{group.size:,}"),
            number(group.share, percent(group.share)),
            *(entry for rate in group.rates for entry in _of_rate(rate, _units(found), several=several)),
            number(group.log10_p_adjusted, p_value(group.log10_p_adjusted)),
        )
        for group in groups
    )
    return Grid(caption=caption, columns=tuple(heads), rows=rows)


def _of_rate(rate: RateChange, units: Units, *, several: bool) -> tuple[Entry, ...]:
    """The gaps and the change; of several rates with the interval in one entry."""
    text = f"{units.signed(rate.gap_first)} → {units.signed(rate.gap_second)}"
    gaps = Entry(text=text, value=units.scale * rate.gap_first)
    if several:
        change = f"{units.signed(rate.change)} ({units.interval(rate.interval)})"
        return gaps, number(units.scale * rate.change, change)
    return gaps, gap(rate.change, units), word(units.interval(rate.interval))


def _record(found: Comparison, groups: Sequence[ChangedGroup]) -> Records:
    """One row of plain values per group."""
    several = len(found.notion.rates) > 1
    columns = [("criterion", "group"), ("size", "people"), ("share", "share"), ("change", "change")]
    keys = ("gap_first", "gap_second", "change")
    for rate in found.notion.rates:
        start = f"{rate.key}_" if several else ""
        columns += [(f"{start}{key}", f"{start}{key}") for key in (*keys[: 2 + several], "lower", "upper")]
    columns += [("p_adjusted", "adj. p"), ("log10_p_adjusted", "")]
    rows = tuple(
        (
            str(group.criterion),
            group.size,
            group.share,
            group.change,
            *(
                value
                for rate in group.rates
                for value in (*[getattr(rate, key) for key in keys[: 2 + several]], *rate.interval)
            ),
            group.p_adjusted,
            group.log10_p_adjusted,
        )
        for group in groups
    )
    return Records(
        columns=tuple(Heading(key=key, header=header, is_number=key != "criterion") for key, header in columns),
        rows=rows,
        remarks=tuple((found.notion.name, None) for _ in groups),
        decimals=getattr(_units(found), "decimals", None),
    )


def _draw(found: Comparison) -> Charts:
    """From the first model's gap to the second's, for every listed group and rate."""
    units = _units(found)
    charts = tuple(
        Chart(
            title=readable(group.criterion),
            note=f"{_rate(found, rate).name}, change {units.signed(rate.change)} ({units.interval(rate.interval)})",
            spots=(Spot(label=found.first, value=rate.gap_first), Spot(label=found.second, value=rate.gap_second)),
        )
        for group in found.groups
        for rate in group.rates
    )
    title = f"Gaps {units.gaps_in}, {_from_to(found)}"
    return Charts(title=title, legend=_LEGEND, charts=charts, is_joined=True, units=units)


def _overall(found: Comparison) -> Section:
    """Each rate of both models, or their mean, among everyone who was kept for the tests."""
    units = _units(found)
    rows = tuple(
        (word(rate.name), *(number(value, units.level(value) if isfinite(value) else "undefined") for value in both))
        for rate in found.notion.rates
        for both in [found.overall[rate.key]]
    )
    return Section(
        key="overall",
        title="Everyone together",
        table=Grid(
            caption=f"{units.noun.capitalize()}s of both models among all people kept for the tests",
            columns=text_and_numbers(units.noun, quote(found.first), quote(found.second)),
            rows=rows,
        ),
    )


def _facts(found: Comparison) -> tuple[str, ...]:
    data = found.data_summary
    return (
        describe_outcomes(found),
        f"Second model: {found.second}.",
        f"{data.rows:,} people: {data.rows_search:,} for the search, {data.rows_assess:,} for the tests, which the "
        "search never saw.",
        f"{count(len(data.attributes), 'attribute')}: {', '.join(entry.name for entry in data.attributes)}.",
        *_say_hidden(found),
    )


def _say_hidden(found: Comparison) -> tuple[str, ...]:
    """What is not shown because it is too small; nothing where everything is shown."""
    least = found.config.min_group_size
    left = f"{count(found.hidden, 'group')} of those tested" if found.hidden else "none"
    said = (
        f"Groups with fewer than {least:,} people in them or outside them are not shown (min_group_size): {left}. "
        "Corrections count them all the same. This is no disclosure control."
    )
    return (said,) if least > 1 else ()


def _sections(found: Comparison) -> tuple[Section, ...]:
    data, facts = found.data_summary, _facts(found)
    options = [key for key, option in of_command("compare").items() if option.in_document and key != "predictions"]
    tested = _tabulate(found, found.tested, "All groups that were tested, smallest p first")
    sections = (
        Section(key="warnings", title="Warnings", paragraphs=data.warnings),
        Section(key="tested", title="Groups tested", table=tested if tested.rows else None),
        Section(
            key="data",
            title="Data",
            paragraphs=(*facts[:3], say_fingerprint(found.input_sha256)),
            table=tabulate_attributes(data, found.config),
        ),
        Section(key="left-out", title="Columns left out", table=tabulate_left_out(data)),
        Section(key="method", title="Method", paragraphs=_METHOD if found.config.mean is None else _METHOD_OF_MEANS),
        Section(
            key="settings",
            title="Settings",
            table=tabulate_some(
                found.config, options, ("predictions", f"{found.first}, {found.second}"), subject="comparison"
            ),
        ),
        Section(key="versions", title="Versions", table=tabulate_versions()),
        Section(
            key="limits",
            title="What this report is not",
            paragraphs=(
                LIMITATION,
                "A group that is not listed may still gain or lose: the search may have missed it, or the data may be "
                "too few to show it.",
                "Whether a change of some size is acceptable is not for statistics to say.",
                *_say_hidden(found),
            ),
        ),
    )
    return tuple(section for section in sections if section.paragraphs or section.table)


_METHOD = (
    "The people are split at random into two halves. One is searched for groups in which the difference between the "
    "models changes: an instability tree (Chouldechova and G'Sell 2017), whose response is how the second model's "
    "contribution of each person to a rate differs from the first's. Its leaves are tested on the other half.",
    "The change of a gap is the mean of its members' own differences minus that of everyone else's. Test and interval "
    "are of this number: the score test of two independent samples of paired differences (Tango 1998).",
)
_METHOD_OF_MEANS = (
    "The people are split at random into two halves. One is searched for groups in which the difference between the "
    "models changes: a conditional inference tree (Chouldechova and G'Sell 2017), whose response is what each person "
    "has more of under the second model than under the first. Its leaves are tested on the other half.",
    "The change of a gap is the mean of its members' own differences minus that of everyone else's. The test is "
    "Welch's t, a permutation test of it for few people or skew amounts, or the rank test where a few people hold most "
    "of what changes.",
)
