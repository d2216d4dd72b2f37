"""The report of groups that are watched along time."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from ald._core.version import __version__
from ald.groups.criterion import quote
from ald.groups.wording import readable
from ald.options import AuditConfig
from ald.options.table import of_command
from ald.report.identity import Identity
from ald.report.model import Chart, Charts, Figure, Grid, Heading, Records, Report, Section, Spot, Stretch
from ald.report.summary.facts import describe_outcomes
from ald.report.summary.phrases import group_words, sentence
from ald.report.summary.sections import say_fingerprint, tabulate_left_out
from ald.report.summary.sentences import LIMITATION, few
from ald.report.summary.settings import tabulate_some, tabulate_versions, trace
from ald.report.summary.table import gap, name, number, text_and_numbers, word
from ald.report.units import Units, common_units, units_of
from ald.report.words import confidence, count, list_words, p_value, plain
from ald.results.watch import Watch, Watched, WindowGap

if TYPE_CHECKING:
    from ald.report.model import Entry
    from ald.statistics.sequential import Change

_LEGEND = (
    "Strokes are gaps {}, lines their intervals. Where there was an alarm, a dashed line shows before which window the "
    "gap most likely changed, dotted ones its mean before and after, and a ring the window of the alarm."
)


def summarise_watch(found: Watch, identity: Identity) -> Report:
    """The watch in words, numbers and tables."""
    file = [] if found.input_name is None else [found.input_name]
    table = _tabulate_periods(found) if _is_two(found) else _tabulate(found)
    leading = _leading(found)
    return Report(
        subject=found.KIND,
        title=identity.title,
        made=(*file, identity.day_words, f"ALD {__version__}"),
        day=identity.day,
        notes=identity.notes,
        headline=_headline(found, leading),
        group="" if leading is None else group_words(leading.criterion),
        lead=_lead(found),
        result=_result(found),
        groups_title="Groups watched",
        is_search=False,
        has_trees=False,
        ranking="confidence",
        notions=", ".join(notion.name for notion in found.config.notions),
        figures=_figures(found),
        giveaways=None,
        overview=(Section(key="along", title=f"Gaps along {quote(found.by)}", charts=_draw(found)),),
        footnote=_footnote(found),
        table=table,
        brief=table,
        records=_record(found),
        facts=_facts(found),
        warnings=found.warnings,
        profile=(),
        limitation=LIMITATION,
        provenance=trace(identity, found.input_name, found.input_sha256),
        _cards=lambda: (),
        _sections=lambda: _sections(found),
        _candidates=lambda: Records(columns=(), rows=(), remarks=()),
        _document=found.to_dict,
    )


def _units(found: Watch) -> Units:
    """How gaps are written: an audit asks for rates, or for one mean."""
    return common_units(found.config.notions)


def _is_two(found: Watch) -> bool:
    """Whether two windows are compared, and no more."""
    return len(found.windows) == 2


def _leading(found: Watch) -> Watched | None:
    """The alarm to begin with: the one that stands out most."""
    return max(found.alarms, key=lambda one: one.looks[-1].statistic, default=None)


def _headline(found: Watch, leading: Watched | None) -> str:
    watched = count(len(found.watched), "watched gap")
    start, end = quote(found.windows[0]), quote(found.windows[-1])
    if leading is None:
        between = f"between {start} and {end}" if _is_two(found) else f"from {start} to {end}"
        who = "the watched gap shows no" if len(found.watched) == 1 else f"none of {watched} shows a"
        return f"No alarm: {who} change {between}."
    look, rate, units = leading.looks[-1], leading.rate.name, _units(found)
    since = f"from {start} to {end}" if _is_two(found) else f"since {quote(str(leading.changed))}"
    more = len(found.alarms) - 1
    others = f", and {count(more, 'other gap')} changed too" if more else ""
    return sentence(
        f"the gap of people with {group_words(leading.criterion)} changed by {units.gap_words(look.change)} "
        f"{since}, from {units.signed(look.before)} to {units.signed(look.before + look.change)} "
        f"({rate}{_about(leading, found)}){others}"
    )


def _about(one: Watched, found: Watch) -> str:
    """Which outcome and notion it is about, of several."""
    told = [one.outcome] if one.outcome is not None else []
    told += [one.notion] if len(found.config.notions) > 1 else []
    return f", {', '.join(map(quote, told))}" if told else ""


def _name(one: Watched, found: Watch) -> str:
    return f"{readable(one.criterion)}{_about(one, found)}"


def _lead(found: Watch) -> tuple[str, ...]:
    fixed = (
        "The groups were fixed beforehand."
        if found.audited is None
        else f"The groups were fixed beforehand: those that an audit of {quote(found.audited)} lists. That window "
        "takes no part in what is watched, for data that suggests a group shows its gap too large."
    )
    gaps, looks = len(found.watched), found.looks
    over = [f"{looks:,} planned looks"] if looks > 1 else []
    over += [f"{gaps:,} watched gaps"] if gaps > 1 else []
    whole = f"any false alarm, over all {list_words(over)} together," if over else "a false alarm"
    told = (
        f"The chance of {whole} is at most {found.level:.2g}. An alarm says that a gap is no longer what it was; "
        "neither why, nor whether it is acceptable."
    )
    return fixed, told


def _result(found: Watch) -> str:
    return (
        f"{count(len(found.watched), 'gap')} watched in {count(len(found.windows), 'window')}: "
        f"{len(found.windows) - 1:,} of {count(found.looks, 'planned look')} taken, "
        f"{count(len(found.alarms), 'alarm')} (level {found.level:g})."
    )


def _footnote(found: Watch) -> str:
    of_windows = f"Intervals of single windows have {confidence(1 - found.level)} confidence, one at a time."
    if _is_two(found):
        return f"Intervals of changes and corrected p-values allow for all watched gaps together. {of_windows}"
    return of_windows


def _figures(found: Watch) -> tuple[Figure, ...]:
    windows, alarms = len(found.windows), len(found.alarms)
    return (
        Figure(text=f"{found.data_summary.rows:,}", label="people"),
        Figure(text=f"{windows:,}", label="windows"),
        Figure(text=f"{len(found.watched):,}", label=f"gap{'' if len(found.watched) == 1 else 's'} watched"),
        Figure(text=f"{alarms:,}", label=f"alarm{'' if alarms == 1 else 's'}"),
    )


def _heads(found: Watch) -> list[Heading]:
    return [
        Heading(key="criterion", header="group", is_number=False),
        *([Heading(key="rate", header="rate", is_number=False)] if _has_rates(found) else []),
        Heading(key="people", header="people"),
    ]


def _has_rates(found: Watch) -> bool:
    """Whether it has to be said which rate a gap is of."""
    return len({(one.rate.key, one.outcome, one.notion) for one in found.watched}) > 1


def _first_entries(one: Watched, found: Watch) -> list[Entry]:
    people = sum(gap.people or 0 for gap in one.gaps)
    about = [word(f"{one.rate.name}{_about(one, found)}")] if _has_rates(found) else []
    return [name(one.criterion), *about, number(people, f"{people:,}")]


def _tabulate(found: Watch) -> Grid:
    """One row per gap: where it began, where it is now, and what changed."""
    start, end, units = found.windows[0], found.windows[-1], _units(found)
    heads = [*_heads(found), *text_and_numbers("", f"gap, {start}", f"gap, {end}", "interval", "change")[1:]]
    heads += [Heading(key=key, header=key, is_number=False) for key in ("changed in", "alarm in")]
    rows = []
    for one in found.watched:
        last, look = one.gaps[-1], one.looks[-1]
        rows.append(
            (
                *_first_entries(one, found),
                gap(one.gaps[0].gap, units),
                gap(last.gap, units),
                word(units.interval(last.interval)),
                gap(look.change, units) if one.alarm is not None else word("–"),
                word(one.changed or "–"),
                word(one.alarm or "none"),
            )
        )
    return Grid(caption="Watched gaps, in the first and in the last window", columns=tuple(heads), rows=tuple(rows))


def _tabulate_periods(found: Watch) -> Grid:
    """One row per gap: it in both windows, and the test whether it changed."""
    (start, end), units = found.windows, _units(found)
    numbers = text_and_numbers("", f"gap, {start}", f"gap, {end}", "change", "interval")[1:]
    heads = (*_heads(found), *numbers, Heading(key="p_adjusted", header="adj. p"))
    rows = []
    for one in found.watched:
        told = one.difference
        rows.append(
            (
                *_first_entries(one, found),
                *(gap(each.gap, units) for each in one.gaps),
                gap(None if told is None else told.change, units),
                word("undefined" if told is None else units.interval(told.interval)),
                number(None, "undefined")
                if told is None
                else number(told.log10_p_adjusted, p_value(told.log10_p_adjusted)),
            )
        )
    return Grid(caption=f"Watched gaps in {start} and in {end}", columns=heads, rows=tuple(rows))


def _record(found: Watch) -> Records:
    """One row of plain values per gap and window."""
    columns = ["criterion", "outcome", "notion", "rate", "window", "people", "others", "inside", "outside", "gap",
               "lower", "upper", "largest_z", "critical_z", "alarm"]  # fmt: skip
    texts = ("criterion", "outcome", "notion", "rate", "window", "alarm")
    rows = tuple(
        (
            str(one.criterion),
            one.outcome,
            one.notion,
            one.rate.key,
            each.window,
            each.people,
            each.others,
            each.inside,
            each.outside,
            each.gap,
            *each.interval,
            None if look is None else look.statistic,
            None if look is None or not isfinite(look.critical) else look.critical,
            "yes" if look is not None and look.alarm else "no",
        )
        for one in found.watched
        for each, look in _by_window(one)
    )
    return Records(
        columns=tuple(
            Heading(key=key, header="interval" if key == "lower" else key, is_number=key not in texts)
            for key in columns
        ),
        rows=rows,
        decimals=getattr(_units(found), "decimals", None),
        remarks=tuple((row[2], None if row[9] is not None else "nobody was there to compare") for row in rows),
    )


def _by_window(one: Watched) -> list[tuple[WindowGap, Change | None]]:
    """Every window's gap with the look at it; the first window is no look."""
    return list(zip(one.gaps, [None, *one.looks], strict=True))


def _draw(found: Watch) -> Charts:
    """The gap of every watched group and rate along the windows."""
    places, units = {window: i for i, window in enumerate(found.windows)}, _units(found)
    charts = []
    for one in found.watched:
        last, cut, note = len(found.windows) - 1, None, "no alarm"
        stretches: tuple[Stretch, ...] = ()
        look = one.looks[-1]
        if one.alarm is not None and one.changed is not None:
            cut = places[one.changed]
            stretches = (
                Stretch(first=0, last=cut - 1, value=look.before),
                Stretch(first=cut, last=last, value=look.before + look.change),
            )
            note = f"changed by {units.signed(look.change)} in {one.changed}, alarm in {one.alarm}"
        about = f"{one.rate.name}: " if _has_rates(found) else ""
        charts.append(
            Chart(
                title=_name(one, found),
                note=f"{about}{note}",
                spots=tuple(
                    Spot(label=each.window, value=each.gap, low=each.interval[0], high=each.interval[1])
                    for each in one.gaps
                ),
                stretches=stretches,
                cut=cut,
                marked=None if one.alarm is None else places[one.alarm],
            )
        )
    return Charts(
        title=f"Gaps {units.gaps_in} along {quote(found.by)}",
        legend=_LEGEND.format(units.gaps_in),
        charts=tuple(charts),
        units=units,
    )


def _facts(found: Watch) -> tuple[str, ...]:
    config, data = found.config, found.data_summary
    given = (
        [
            f"Given {', '.join(config.given)}: people are compared only with others of the same one of "
            f"{count(data.strata or 0, 'stratum', 'strata')}; gaps are weighted means of the strata's differences "
            "(Mantel and Haenszel)."
        ]
        if config.given
        else []
    )
    return (
        describe_outcomes(found),
        f"{data.rows:,} people in {count(len(found.windows), 'window')}, by {quote(found.by)}, every {found.every}.",
        *given,
    )


def _sections(found: Watch) -> tuple[Section, ...]:
    data, facts = found.data_summary, _facts(found)
    names = [
        key
        for key in of_command("watch")
        if key in ("favourable", "notion", "given", "given_bins", "level", "min_group_size", "seed")
    ]
    config = found.config
    asked = [
        ("outcome", ", ".join(config.outcomes)),
        ("prediction", config.prediction or ""),
        ("score", config.score or ""),
        ("truth", config.truth or ""),
        ("by", found.by),
        ("every", found.every),
        ("looks", f"{found.looks:,}"),
        *(("named_groups", group) for group in config.named_groups),
    ]
    sections = (
        Section(key="warnings", title="Warnings", paragraphs=data.warnings),
        *(
            Section(
                key=f"watched-{i}",
                title=f"{_name(one, found)}: {one.rate.name}",
                table=_tabulate_windows(one, found.config),
            )
            for i, one in enumerate(found.watched, 1)
        ),
        Section(key="data", title="Data", paragraphs=(*facts, say_fingerprint(found.input_sha256))),
        Section(key="left-out", title="Columns left out", table=tabulate_left_out(data)),
        Section(key="method", title="Method", paragraphs=(_METHOD_OF_MEANS if found.config.mean else _METHOD, _LOOKS)),
        Section(
            key="settings",
            title="Settings",
            table=tabulate_some(config, names, *(pair for pair in asked if pair[1]), subject="watch"),
        ),
        Section(key="versions", title="Versions", table=tabulate_versions()),
        Section(
            key="limits",
            title="What this report is not",
            paragraphs=(
                LIMITATION,
                "Without an alarm a gap may have changed all the same: too little, or too recently, to be told from "
                "chance. A gap that was there from the start and stays raises no alarm: an audit finds it.",
            ),
        ),
    )
    return tuple(section for section in sections if section.paragraphs or section.table)


def _tabulate_windows(one: Watched, config: AuditConfig) -> Grid:
    """One row per window."""
    units = units_of(one.rate)
    heads = text_and_numbers(
        "window", "people inside", "people outside", "inside", "outside", "gap", "interval", "largest z", "alarm from"
    )
    rows = tuple(
        (
            word(each.window),
            number(each.people, few(each.people, config)),
            number(each.others, few(each.others, config)),
            number(each.inside, units.level(each.inside)),
            number(each.outside, units.level(each.outside)),
            gap(each.gap, units),
            word(units.interval(each.interval)),
            word("–") if look is None else number(look.statistic, plain(look.statistic, 2)),
            word("–")
            if look is None or not isfinite(look.critical)
            else number(look.critical, plain(look.critical, 2)),
        )
        for each, look in _by_window(one)
    )
    caption = f"{units.noun.capitalize()}s inside and outside the group, window by window"
    return Grid(caption=caption, columns=heads, rows=rows)


_METHOD = (
    "The groups were fixed before the windows were looked at, by name or by an audit of other data. In every window a "
    "gap is the group's rate minus that of everyone else, with the interval of the score test."
)
_METHOD_OF_MEANS = (
    "The groups were fixed before the windows were looked at, by name or by an audit of other data. In every window a "
    "gap is the group's mean minus that of everyone else, with Welch's interval. For the alarm its standard error is "
    "at least that of variances that all windows share."
)
_LOOKS = (
    "At every look each earlier point in time is tried as the one where a gap changed: its mean after it minus its "
    "mean before, in standard errors (z). The largest of these raises an alarm if it reaches a value that spends an "
    "equal share of the level at every planned look (Lan and DeMets 1983), and an equal share for every watched gap. "
    "What the largest one is by chance is simulated from the standard errors."
)
