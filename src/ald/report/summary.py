"""What every rendering shows, said once: the headline sentences and the table of listed groups."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ald.findings import Finding, p_text
from ald.notions import Notion, Rate
from ald.power import SHARES
from ald.report.asked import asked_facts, named_headline, question

if TYPE_CHECKING:
    from ald.auditing import Audit

LIMITATION = (
    "These are associations found in logged data: hypotheses for people who know the case, neither causes nor a "
    "verdict on whether a model is biased."
)


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


def tabulated(audit: Audit) -> tuple[Finding, ...]:
    """The rows of tables: the listed groups, or the named ones where nothing was searched."""
    return audit.groups if audit.config.search else audit.named


def notions(audit: Audit) -> tuple[Notion, ...]:
    """The notions of the groups in the table, each once; without groups the audit's own."""
    return tuple(dict.fromkeys(audit.notion_of(finding) for finding in tabulated(audit))) or (audit.notion,)


def listed_rates(audit: Audit) -> tuple[Rate, ...]:
    """The rates of the listed groups, each once."""
    return tuple(dict.fromkeys(rate for notion in notions(audit) for rate in notion.rates))


def columns(audit: Audit) -> list[Cell]:
    """The columns of the ranked table, for the notions of the listed groups."""
    cells = [
        Cell(
            key="criterion",
            header="group",
            value=lambda f: str(f.criterion),
            text=lambda f: str(f.criterion),
            is_number=False,
        ),
        *_questions(audit),
        Cell(key="size", header="people", value=lambda f: f.size, text=lambda f: f"{f.size:,}"),
        Cell(key="share", header="share", value=lambda f: f.share, text=lambda f: f"{f.share:.1%}"),
        Cell(key="psi", header="psi", value=lambda f: f.psi, text=lambda f: signed(f.psi)),
    ]
    several = any(len(notion.rates) > 1 for notion in notions(audit))
    for rate in listed_rates(audit):
        key = rate.key
        if several:
            cells.append(_rate_cell(f"psi_{key}", f"psi {key}", "parts", key, signed))
        cells.append(_rate_cell(f"{key}_inside", f"{key} in", "rates_inside", key, plain))
        cells.append(_rate_cell(f"{key}_outside", f"{key} out", "rates_outside", key, plain))
    if not several:
        cells.append(Cell(key="ratio", header="ratio", value=_ratio, text=lambda f: plain(_ratio(f), 2)))
    confidence = f"{confidence_text(audit)} interval"
    return [
        *cells,
        Cell(key="lower", header=confidence, value=lambda f: f.interval[0], text=lambda f: interval(f.interval)),
        Cell(key="upper", header="", value=lambda f: f.interval[1], text=lambda f: ""),
        Cell(key="statistic", header="chi2", value=lambda f: f.statistic, text=lambda f: plain(f.statistic, 1)),
        Cell(key="p_adjusted", header="adj. p", value=lambda f: f.p_adjusted,
             text=lambda f: p_text(f.log10_p_adjusted).removeprefix("p = ")),
        Cell(key="log10_p_adjusted", header="", value=lambda f: f.log10_p_adjusted, text=lambda f: ""),
        Cell(key="test", header="", value=lambda f: f.test, text=lambda f: f.test, is_number=False),
        Cell(key="stability", header="", value=lambda f: f.stability, text=lambda f: percent(f.stability)),
    ]  # fmt: skip


def _questions(audit: Audit) -> list[Cell]:
    """Which question a group answers, where several were asked."""
    cells = {"notion": len(audit.config.notions) > 1, "outcome": len(audit.config.outcomes) > 1}
    return [
        Cell(key=key, header=key, value=value, text=value, is_number=False)
        for key, value in (("notion", lambda f: f.notion), ("outcome", lambda f: f.outcome or ""))
        if cells[key]
    ]


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
    """The columns of the table as people read it: fewer, with what belongs together in one."""
    everything = {cell.key: cell for cell in columns(audit)}
    cells = [everything[key] for key in ("criterion", "notion", "outcome") if key in everything]
    cells.append(_text("people", lambda f: f"{f.size:,} ({f.share:.1%})"))
    cells.append(everything["psi"])
    cells.append(_text(f"{confidence_text(audit)} interval", lambda f: interval(f.interval)))
    cells += [_text(f"{rate.key} in / out", functools.partial(_rate_text, rate.key)) for rate in listed_rates(audit)]
    cells += [everything[key] for key in ("ratio", "statistic", "p_adjusted") if key in everything]
    if audit.config.repeats > 1:
        cells.append(_text("listed again", lambda f: percent(f.stability)))
    return cells


def confidence_text(audit: Audit) -> str:
    """The confidence of the intervals of listed groups, which may be above 1 - level to make up for their selection."""
    level = audit.groups[0].interval_level if audit.groups else 1 - audit.config.level
    return f"{100 * level:.3g}%"


def _text(header: str, text: Callable[[Finding], str]) -> Cell:
    return Cell(key=header, header=header, value=text, text=text)


def _rate_text(key: str, finding: Finding) -> str:
    if key not in finding.parts:
        return ""
    text = f"{percent(finding.rates_inside[key])} / {percent(finding.rates_outside[key])}"
    return f"{text} ({signed(finding.parts[key])})" if len(finding.parts) > 1 else text


def headline(audit: Audit) -> str:
    """What was found, in one sentence."""
    data, n = audit.data_summary, len(audit.groups)
    if not audit.config.search:
        return named_headline(audit)
    asked = ", ".join(notion.name for notion in audit.config.notions)
    if not audit.groups:
        threshold = audit.config.threshold
        what = f"disparity significantly larger than {threshold:g}" if threshold else "significant disparity"
        return (
            f"No group with a {what} ({asked}, level {audit.config.level:g}) among "
            f"{audit.n_candidates:,} tested on {data.rows_assess:,} people."
        )
    first = audit.groups[0]
    return (
        f"{n} group{'' if n == 1 else 's'} listed of {audit.n_candidates:,} tested on {data.rows_assess:,} people; "
        f"first: {first.criterion}{question(first, audit)} ({described(first, audit)})."
    )


def described(finding: Finding, audit: Audit) -> str:
    """The disparity in words: rates inside and outside of each rate."""
    parts = []
    for rate in audit.notion_of(finding).rates:
        inside, outside = finding.rates_inside[rate.key], finding.rates_outside[rate.key]
        if inside is None or outside is None:
            parts.append(f"{rate.name} undefined")
        else:
            parts.append(f"{rate.name} {inside:.1%} against {outside:.1%} {compared_with(audit)}")
    return "; ".join(parts)


def compared_with(audit: Audit) -> str:
    """Whom groups are compared with, in words."""
    kind = audit.config.reference_kind
    among = {"rest": "among everyone else", "all": "among all", "group": f"among {audit.config.reference}"}[kind]
    return f"{among}, given {', '.join(audit.config.given)}" if audit.config.given else among


def facts(audit: Audit) -> list[str]:
    """What was done, one line each: data, search, testing."""
    data, config = audit.data_summary, audit.config
    asked = ", ".join(notion.name for notion in config.notions)
    if not config.search:
        return [
            *asked_facts(audit),
            _audited(audit),
            f"Notion: {asked}. Correction: {config.adjust}, level {config.level:g}.",
            *_design(audit),
            *[f"Warning: {warning}" for warning in data.warnings],
        ]
    plain = "the default search" if config.explore else "every leaf tested"
    search = "the paper's search" if config.preset == "paper" else plain
    return [
        *asked_facts(audit),
        _audited(audit),
        f"{data.rows:,} people: {data.rows_search:,} for the search, {data.rows_assess:,} for the tests, which the "
        "search never saw.",
        f"{len(data.attributes)} attribute{'' if len(data.attributes) == 1 else 's'}: "
        f"{', '.join(entry.name for entry in data.attributes)}.",
        f"Notion: {asked}. {config.trees} trees ({search}, alpha {config.alpha:g}, seed {config.seed}); "
        f"correction: {config.adjust}, level {config.level:g}; ranked by {config.ranking}.",
        *_design(audit),
        *_details(audit),
        *[f"Left out: {entry.name}: {entry.reason}." for entry in data.left_out],
        *[f"Warning: {warning}" for warning in data.warnings],
    ]


def _audited(audit: Audit) -> str:
    """Which columns were audited, and which value counts as favourable."""
    config = audit.config
    value = "1 or true, as assumed" if config.favourable is None else config.favourable
    if config.outcomes:
        return f"Outcome: {', '.join(config.outcomes)}, favourable value: {value}."
    return f"Prediction: {config.prediction}, truth: {config.truth}, positive value: {value}."


def _design(audit: Audit) -> list[str]:
    """What was compared with what, where that is not everyone with everyone else."""
    data, config = audit.data_summary, audit.config
    lines = []
    if config.given:
        lines.append(f"Given {', '.join(config.given)}: people are compared within {data.strata or 0:,} strata.")
    if config.cluster is not None:
        halves = f" ({data.clusters_search:,} for the search)" if data.clusters_search is not None else ""
        lines.append(f"Rows are about {data.clusters or 0:,} different people by {config.cluster}{halves}.")
    if config.survey_weights is not None:
        lines.append(f"Rates and tests are of the population, by the survey weights {config.survey_weights}.")
    if config.reference_kind != "rest":
        lines.append(f"Rates outside and psi: {compared_with(audit)}.")
    if config.direction != "both":
        lines.append(f"Only {config.direction} groups were looked for, by one-sided tests.")
    if config.split != "random":
        where = "two data sets" if config.split == "own" else f"the column {config.split}"
        lines.append(f"Who is searched and who tests was given by {where}.")
    return lines


def _details(audit: Audit) -> list[str]:
    """What helps to read the table: other descriptions, conditional tests, repeats, and what could not be seen."""
    config = audit.config
    lines = []
    for i, finding in enumerate(audit.groups, 1):
        close = [
            f"{other.criterion} ({other.size:,} people, {other.overlap:.0%} of the group)" for other in finding.also
        ]
        if close:
            lines.append(f"Close to group {i}, and not tested beside it: {'; '.join(close[:3])}.")
    given = [str(i) for i, finding in enumerate(audit.groups, 1) if "given earlier" in finding.test]
    if given:
        lines.append(
            f"The p-value of group{'s' if len(given) > 1 else ''} {', '.join(given)} is that of a stratified test: "
            "what it adds to the groups found before it."
        )
    if config.threshold > 0:
        lines.append(f"Tested against a disparity of {config.threshold:g}, not against none.")
    if config.repeats > 1:
        any_ = f"Any disparity beyond {config.threshold:g}" if config.threshold else "Any disparity at all"
        lines.append(f"{any_}, over {config.repeats} random halvings: p = {audit.p_any:.2g}.")
    for question_ in dict.fromkeys((entry.notion, entry.outcome) for entry in audit.detectable):
        seen = ", ".join(
            f"{entry.share:.0%} of people: {'not detectable' if entry.psi is None else f'{entry.psi:.3f}'}"
            for entry in audit.detectable
            if (entry.notion, entry.outcome) == question_
        )
        words = [word for word in question_ if word] if len(audit.detectable) > len(SHARES) else []
        lines.append(
            f"Smallest |psi|{' for ' + ' of '.join(words) if words else ''} that these tests find with 80% power in a "
            f"group of: {seen}."
        )
    return lines


def signed(value: float | None) -> str:
    return "undefined" if value is None else f"{value:+.3f}"


def percent(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.1%}"


def plain(value: float | None, digits: int = 3) -> str:
    return "undefined" if value is None else f"{value:.{digits}f}"


def interval(bounds: tuple[float | None, float | None]) -> str:
    return f"{signed(bounds[0])} to {signed(bounds[1])}" if None not in bounds else "undefined"
