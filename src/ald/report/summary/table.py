"""The tables of findings: their columns, and each finding's value in them as a number and as printed."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ald.groups.criterion import Criterion
from ald.groups.wording import readable
from ald.notions import Notion, Rate
from ald.report.model import Entry, Grid, Heading, Records
from ald.report.summary import everyone
from ald.report.summary.sentences import question
from ald.report.units import POINTS, Units, units_of, units_of_notion
from ald.report.words import confidence, p_value, percent, plain
from ald.results.finding import Finding

if TYPE_CHECKING:
    from ald.results.audit import Audit


@dataclass(frozen=True, kw_only=True)
class Field:
    """A column of tables of findings: its header, and a finding's value as a number or text, and as it is printed.

    shown: its header where people read the printed value.
    """

    key: str
    header: str
    value: Callable[[Finding], Any]
    text: Callable[[Finding], str]
    is_number: bool = True
    shown: str = ""

    def column(self, meaning: str = "") -> Heading:
        """The column of a table for people, whose header may be another word than that of the number for machines."""
        return Heading(key=self.key, header=self.shown or self.header, is_number=self.is_number, meaning=meaning)

    def record(self) -> Heading:
        """The column of the same for machines."""
        return Heading(key=self.key, header=self.header, is_number=self.is_number)


def word(text: str) -> Entry:
    """A text as an entry of a table."""
    return Entry(text=text, value=text)


def number(value: float | None, text: str) -> Entry:
    """A number as an entry of a table."""
    return Entry(text=text, value=value)


def gap(value: float | None, units: Units = POINTS, *, several: bool = False) -> Entry:
    """A difference in points, or in the unit of an amount; the mean of several has no sign."""
    text = units.unsigned(value) if several else units.signed(value)
    return Entry(text=text, value=None if value is None else units.scale * value)


def gap_of(value: float | None, notion: Notion) -> Entry:
    """psi of a notion as an entry of a table."""
    return gap(value, units_of_notion(notion), several=len(notion.rates) > 1)


def gap_head(several: bool) -> str:
    """What a column of gaps is called."""
    return "mean gap" if several else "gap"


def name(criterion: Criterion) -> Entry:
    """A group as an entry of a table."""
    return Entry(text=readable(criterion), value=str(criterion))


def entries_of(finding: Finding, audit: Audit) -> tuple[Entry, ...]:
    """Which group, of several questions for which one, how many people, and by how much they differ."""
    several = len(audit.config.notions) > 1 or len(audit.config.asked_outcomes) > 1
    about = question(finding.notion, finding.outcome, audit).removeprefix(" for ")
    return (
        name(finding.criterion),
        *([word(about)] if several else []),
        number(finding.size, f"{finding.size:,}"),
        number(finding.share, percent(finding.share)),
        gap_of(finding.psi, audit.notion_of(finding)),
        word(_interval(audit, finding)),
    )


def text_and_numbers(*heads: str) -> tuple[Heading, ...]:
    """Columns of a table whose first column is text."""
    return tuple(Heading(key=head, header=head, is_number=i > 0) for i, head in enumerate(heads))


def _rows_of(audit: Audit) -> tuple[Finding, ...]:
    """The rows of tables: the listed groups, or the named ones where nothing was searched."""
    return audit.groups if audit.config.searches else audit.named_groups


def _notions_of(audit: Audit) -> tuple[Notion, ...]:
    """The notions of the groups in the table, each once; without groups the audit's own."""
    return tuple(dict.fromkeys(audit.notion_of(finding) for finding in _rows_of(audit))) or (audit.notion,)


def _rates_of(audit: Audit) -> tuple[Rate, ...]:
    """The rates of the listed groups, each once."""
    return tuple(dict.fromkeys(rate for notion in _notions_of(audit) for rate in notion.rates))


def _make_question_fields(audit: Audit) -> list[Field]:
    """Which question a group answers, where several were asked."""
    asked = {"notion": len(audit.config.notions) > 1, "outcome": len(audit.config.asked_outcomes) > 1}
    return [
        Field(key=key, header=key, value=value, text=value, is_number=False)
        for key, value in (("notion", lambda f: f.notion), ("outcome", lambda f: f.outcome or ""))
        if asked[key]
    ]


def _make_fields(audit: Audit) -> list[Field]:
    """Everything about a finding, for the notions of the listed groups."""
    fields = [
        Field(
            key="criterion",
            header="group",
            value=lambda f: str(f.criterion),
            text=lambda f: readable(f.criterion),
            is_number=False,
        ),
        *_make_question_fields(audit),
        Field(key="size", header="people", value=lambda f: f.size, text=lambda f: f"{f.size:,}"),
        Field(key="share", header="share", value=lambda f: f.share, text=lambda f: f"{f.share:.1%}"),
    ]
    several = any(len(notion.rates) > 1 for notion in _notions_of(audit))
    fields += [
        *([_make_everywhere_field()] if audit.config.searches and not audit.mode.is_everyone else []),
        Field(
            key="psi",
            header="psi",
            shown=gap_head(several),
            value=lambda f: f.psi,
            text=lambda f: gap_of(f.psi, audit.notion_of(f)).text,
        ),
    ]
    for rate in _rates_of(audit):
        key, units = rate.key, units_of(rate)
        if several:
            fields.append(_make_rate_field(f"psi_{key}", f"psi {key}", "parts", key, units.signed, f"{key} gap"))
        fields.append(_make_rate_field(f"{key}_inside", f"{key} in", "rates_inside", key, units.level))
        fields.append(_make_rate_field(f"{key}_outside", f"{key} out", "rates_outside", key, units.level))
    if not several and all(rate.has_ratio for rate in _rates_of(audit)):
        fields.append(Field(key="ratio", header="ratio", value=_ratio, text=lambda f: plain(_ratio(f), 2)))
    statistic = "chi2" if audit.config.mean is None else "t squared"
    return [
        *fields,
        Field(key="lower", header=f"{confidence_text(audit)} interval",
              value=lambda f: f.interval[0], text=functools.partial(_interval, audit)),
        Field(key="upper", header="", value=lambda f: f.interval[1], text=lambda f: ""),
        Field(key="statistic", header=statistic, value=lambda f: f.statistic, text=lambda f: plain(f.statistic, 1)),
        Field(key="p_adjusted", header="adj. p", value=lambda f: f.p_adjusted,
              text=everyone.p_adjusted_text),
        *_make_ledger_fields(audit),
        Field(key="log10_p_adjusted", header="", value=lambda f: f.log10_p_adjusted, text=lambda f: ""),
        Field(key="interval_level", header="", value=lambda f: f.interval_level, text=lambda f: ""),
        *_make_significance_fields(audit),
        Field(key="test", header="", value=lambda f: f.test, text=lambda f: f.test, is_number=False),
        Field(key="stability", header="found again",
              value=lambda f: f.stability, text=lambda f: percent(f.stability)),
        *(_make_fields_of_everyone(audit) if audit.mode.is_everyone else ()),
        *([_P_TOGETHER] if audit.mode.is_everyone or any(finding.together for finding in audit.groups) else []),
    ]  # fmt: skip


def _make_fields_of_everyone(audit: Audit) -> tuple[Field, ...]:
    """What findings have besides where everyone is searched and tested."""
    return (
        Field(
            key="psi_new",
            header="on new people",
            value=lambda f: None if f.shuffled is None else f.shuffled.psi_new,
            text=lambda f: "" if f.shuffled is None else gap_of(f.shuffled.psi_new, audit.notion_of(f)).text,
        ),
        Field(
            key="exaggerated",
            header="",
            value=lambda f: None if f.shuffled is None else f.shuffled.exaggerated,
            text=lambda f: "",
            is_number=False,
        ),
        Field(
            key="claim",
            header="",
            value=lambda f: None if f.shuffled is None else f.shuffled.claim,
            text=lambda f: "",
            is_number=False,
        ),
    )


_P_TOGETHER = Field(
    key="p_together",
    header="p together",
    value=lambda f: None if f.together is None else f.together.p_adjusted,
    text=lambda f: "" if f.together is None else p_value(f.together.log10_p_adjusted),
)


def _make_ledger_fields(audit: Audit) -> list[Field]:
    """The p-values over all questions that were asked of the data; people are shown them where there are several."""
    ledger = audit.ledger
    if ledger is None:
        return []

    def value(finding: Finding) -> float | None:
        p = ledger.correct(finding.log10_p_adjusted)
        return None if p is None else 10**p

    def text(finding: Finding) -> str:
        shown = p_value(ledger.correct(finding.log10_p_adjusted))
        return f"≤ {shown}" if everyone.p_adjusted_text(finding).startswith("≤") else shown

    n, exploratory = ledger.total, ledger.own.exploratory
    return [
        Field(key="p_questions", header=f"p, {n} questions" if n > 1 else "", value=value, text=text),
        Field(key="questions", header="", value=lambda _: n, text=lambda _: ""),
        Field(key="exploratory", header="", value=lambda _: exploratory, text=lambda _: "", is_number=False),
    ]


def _make_significance_fields(audit: Audit) -> list[Field]:
    """How many groups are significant, and how many columns give the outcome away, the same in every row.

    So a table by itself says that it is not all.
    """
    if not audit.config.searches:
        return []
    n = len(audit.significant)
    away = len(audit.giveaways)
    return [
        Field(key="significant_groups", header="", value=lambda _: n, text=lambda _: ""),
        Field(key="giveaways", header="", value=lambda _: away, text=lambda _: ""),
    ]


def _make_everywhere_field() -> Field:
    """How many there are in all data: what one finds who filters the data."""
    return Field(key="size_all", header="people in all data", shown="in all data", value=lambda f: f.size_all,
                 text=lambda f: "" if f.size_all is None else f"{f.size_all:,}")  # fmt: skip


def _make_rate_field(
    key: str, header: str, of: str, rate: str, text: Callable[[float | None], str], shown: str = ""
) -> Field:
    """A column of one number per rate; empty for findings of a notion without this rate."""
    return Field(
        key=key,
        header=header,
        shown=shown,
        value=lambda f: getattr(f, of).get(rate),
        text=lambda f: text(getattr(f, of)[rate]) if rate in getattr(f, of) else "",
    )


def _crude(audit: Audit, finding: Finding) -> str:
    """The gap from everyone else, where psi is one among comparable people."""
    return gap_of(finding.psi_crude, audit.notion_of(finding)).text if _is_adjusted(finding) else ""


def _is_adjusted(finding: Finding) -> bool:
    """Whether psi is another one among comparable people."""
    return finding.psi_crude is not None and finding.psi_crude != finding.psi


def _say_claim(finding: Finding) -> str:
    """What a group is listed for where others are for themselves: that its attributes matter together."""
    return "the combination" if finding.is_combination else ""


def _ratio(finding: Finding) -> float | None:
    return next(iter(finding.ratios.values()))


def _make_brief_fields(audit: Audit) -> list[Field]:
    """The columns where there is little room: fewer, with what belongs together in one."""
    everything = {field.key: field for field in _make_fields(audit)}
    fields = [everything["criterion"], *_make_question_fields(audit)]
    fields.append(_make_text_field("people", _people))
    fields += [everything[key] for key in ("size_all",) if key in everything]
    for rate in _rates_of(audit):
        fields.append(_make_text_field(f"{rate.key} in / out", functools.partial(_rate_text, rate)))
    fields.append(everything["psi"])
    fields.append(_make_text_field(f"{confidence_text(audit)} interval", functools.partial(_interval, audit)))
    if any(_is_adjusted(finding) for finding in audit.groups):
        fields.append(_make_text_field("unadjusted gap", functools.partial(_crude, audit)))
    if any(finding.is_combination for finding in audit.groups):
        fields.append(_make_text_field("listed for", _say_claim))
    last = [everything[key] for key in ("ratio", "p_adjusted", "p_questions") if key in everything]
    fields += [field for field in last if field.header]
    if audit.mode.is_everyone:
        fields += [everything[key] for key in ("psi_new", "stability")]
    elif audit.config.repeats > 1:
        fields.append(_make_text_field("found again", lambda f: _count_splits(f, audit.config.repeats)))
    return fields


# What a reader may ask of a column's header.
_MEANINGS = {
    "criterion": "who belongs to the group",
    "notion": "the fairness notion",
    "outcome": "the outcome that was audited",
    "size": "members in the half of the data that was kept for testing",
    "share": "their share of that half",
    "size_all": "members in all data, in both halves: who filters the data finds this number",
    "psi": "psi in percentage points: the group's rate minus that of the people it is compared with; for several rates "
    "the mean of the absolute differences",
    "ratio": "the rate inside divided by the rate outside; the four-fifths rule looks at this ratio of selection rates",
    "lower": "where the gap plausibly lies, in points, allowing for the group having been picked from those tested",
    "statistic": "chi2 of the group against those it is compared with; Fisher's statistic where several are combined",
    "p_adjusted": "the p-value, given the groups found before this one, corrected for the number of groups tested",
    "p_questions": "the same, corrected also for the number of questions that were asked of this data",
    "stability": "the share of random splits in which an equivalent group is found",
    "p_together": "corrected p-value of the claim that the attributes matter together, beyond what each does by itself",
}


_MEANINGS_OF_AMOUNTS = {
    "psi": "psi in the unit of the outcome: the group's mean minus that of the people it is compared with",
    "ratio": "the mean inside divided by the mean outside",
    "lower": "where the gap plausibly lies, allowing for the group having been picked from those tested",
    "statistic": "the square of t, or of the rank test's z, of the group against those it is compared with",
}


def make_ranked_table(audit: Audit) -> Grid:
    """The listed groups, best first, as a table that can be sorted: every number in a column of its own."""
    # Cards have the gap of each rate with its interval, and machines the statistic: there is little room beside groups.
    fields = [field for field in _make_fields(audit) if field.header and not _is_aside(field, audit.groups)]
    if audit.config.repeats == 1 and not audit.mode.is_everyone:
        fields = [field for field in fields if field.key != "stability"]
    rates = _rates_of(audit)
    meanings = _MEANINGS | {f"{rate.key}_inside": f"{rate.name} inside the group" for rate in rates}
    meanings |= {f"{rate.key}_outside": f"{rate.name} outside the group" for rate in rates}
    meanings |= {} if audit.config.mean is None else _MEANINGS_OF_AMOUNTS
    meanings |= everyone.meanings() if audit.mode.is_everyone else {}
    meanings |= {f"psi_{rate.key}": f"{rate.name}: inside minus outside" for rate in rates}
    return Grid(
        caption="Listed groups, best first",
        columns=tuple(field.column(meanings[field.key]) for field in fields),
        rows=tuple(
            tuple(Entry(text=field.text(finding), value=_sortable(field, finding)) for field in fields)
            for finding in audit.groups
        ),
    )


def _is_aside(field: Field, findings: Sequence[Finding]) -> bool:
    if field is _P_TOGETHER:
        return not any(finding.together for finding in findings)
    return field.key == "statistic" or (field.key.startswith("psi_") and field.key != "psi_new")


def make_brief_table(audit: Audit, findings: Sequence[Finding]) -> Grid:
    """Some findings in the few columns that fit a page."""
    fields = _make_brief_fields(audit)
    return Grid(
        caption="Listed groups, best first",
        columns=tuple(field.column() for field in fields),
        rows=tuple(
            tuple(Entry(text=field.text(finding), value=field.value(finding)) for field in fields)
            for finding in findings
        ),
    )


def make_records(audit: Audit) -> Records:
    """The listed groups in ranked order, or the named ones in the order given, with all numbers."""
    return _record(
        audit, _rows_of(audit), f"{confidence_text(audit)} interval" if audit.config.searches else "interval"
    )


def make_candidate_records(audit: Audit) -> Records:
    """All groups that were tested, with all numbers."""
    one_level = not (audit.candidates or audit.groups)
    return _record(audit, audit.candidates, f"{confidence_text(audit)} interval" if one_level else "interval")


def _record(audit: Audit, findings: Sequence[Finding], interval_header: str) -> Records:
    fields = _make_fields(audit)
    columns = tuple(field.record() for field in fields)
    return Records(
        columns=tuple(
            replace(column, header=interval_header) if column.key == "lower" else column for column in columns
        ),
        rows=tuple(tuple(field.value(finding) for field in fields) for finding in findings),
        decimals=None if audit.config.mean is None else audit.config.mean.decimals,
        remarks=tuple((audit.notion_of(finding).name, finding.undefined or None) for finding in findings),
    )


def _count_splits(finding: Finding, repeats: int) -> str:
    """In how many of the random splits an equivalent group was found."""
    return "" if finding.stability is None else f"{round(finding.stability * repeats)} of {repeats}"


def _sortable(field: Field, finding: Finding) -> Any:
    # p-values of large data underflow to 0; their logarithms keep the order.
    return finding.log10_p_adjusted if field.key == "p_adjusted" else field.value(finding)


def confidence_text(audit: Audit) -> str:
    """The confidence of the intervals of listed groups, which may be above 1 - level to make up for their selection."""
    return confidence(audit.groups[0].interval_level if audit.groups else 1 - audit.config.level)


def _people(finding: Finding) -> str:
    """How many, and their share; with clusters rows, and the people that they are about."""
    who = "" if finding.people is None else f" rows of {finding.people:,}"
    return f"{finding.size:,}{who} ({finding.share:.1%})"


def _make_text_field(header: str, text: Callable[[Finding], str]) -> Field:
    return Field(key=header, header=header, value=text, text=text)


def _interval(audit: Audit, finding: Finding) -> str:
    return units_of_notion(audit.notion_of(finding)).interval(finding.interval)


def _rate_text(rate: Rate, finding: Finding) -> str:
    key, units = rate.key, units_of(rate)
    if key not in finding.parts:
        return ""
    text = f"{units.level(finding.rates_inside[key])} / {units.level(finding.rates_outside[key])}"
    return f"{text} ({units.signed(finding.parts[key])})" if len(finding.parts) > 1 else text
