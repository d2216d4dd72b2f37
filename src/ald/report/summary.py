"""What every rendering shows, said once: the headline sentences and the table of listed groups."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ald.findings import Finding, p_text

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


def columns(audit: Audit) -> list[Cell]:
    """The columns of the ranked table, for the audit's notion."""
    cells = [
        Cell(
            key="criterion",
            header="group",
            value=lambda f: str(f.criterion),
            text=lambda f: str(f.criterion),
            is_number=False,
        ),
        Cell(key="size", header="people", value=lambda f: f.size, text=lambda f: f"{f.size:,}"),
        Cell(key="share", header="share", value=lambda f: f.share, text=lambda f: f"{f.share:.1%}"),
        Cell(key="psi", header="psi", value=lambda f: f.psi, text=lambda f: signed(f.psi)),
    ]
    rates = audit.notion.rates
    for rate in rates:
        key = rate.key
        if len(rates) > 1:
            cells.append(Cell(key=f"psi_{key}", header=f"psi {key}",
                              value=lambda f, k=key: f.parts[k], text=lambda f, k=key: signed(f.parts[k])))  # type: ignore[misc]  # fmt: skip
        cells.append(Cell(key=f"{key}_inside", header=f"{key} in",
                          value=lambda f, k=key: f.rates_inside[k], text=lambda f, k=key: plain(f.rates_inside[k])))  # type: ignore[misc]  # fmt: skip
        cells.append(Cell(key=f"{key}_outside", header=f"{key} out",
                          value=lambda f, k=key: f.rates_outside[k], text=lambda f, k=key: plain(f.rates_outside[k])))  # type: ignore[misc]  # fmt: skip
    key = rates[0].key
    if len(rates) == 1:
        cells.append(Cell(key="ratio", header="ratio",
                          value=lambda f: f.ratios[key], text=lambda f: plain(f.ratios[key], 2)))  # fmt: skip
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


def printed(audit: Audit) -> list[Cell]:
    """The columns of the table as people read it: fewer, with what belongs together in one."""
    everything = {cell.key: cell for cell in columns(audit)}
    cells = [everything["criterion"]]
    cells.append(_text("people", lambda f: f"{f.size:,} ({f.share:.1%})"))
    cells.append(everything["psi"])
    cells.append(_text(f"{confidence_text(audit)} interval", lambda f: interval(f.interval)))
    for rate in audit.notion.rates:
        cells.append(
            _text(f"{rate.key} in / out", functools.partial(_rate_text, rate.key, len(audit.notion.rates) > 1))
        )
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


def _rate_text(key: str, with_difference: bool, finding: Finding) -> str:
    text = f"{percent(finding.rates_inside[key])} / {percent(finding.rates_outside[key])}"
    return f"{text} ({signed(finding.parts[key])})" if with_difference else text


def headline(audit: Audit) -> str:
    """What was found, in one sentence."""
    data, n = audit.data_summary, len(audit.groups)
    if not audit.groups:
        threshold = audit.config.threshold
        what = f"disparity significantly larger than {threshold:g}" if threshold else "significant disparity"
        return (
            f"No group with a {what} ({audit.notion.name}, level {audit.config.level:g}) among "
            f"{audit.n_candidates:,} tested on {data.rows_assess:,} people."
        )
    first = audit.groups[0]
    return (
        f"{n} group{'' if n == 1 else 's'} listed of {audit.n_candidates:,} tested on {data.rows_assess:,} people; "
        f"first: {first.criterion} ({described(first, audit)})."
    )


def described(finding: Finding, audit: Audit) -> str:
    """The disparity in words: rates inside and outside of each rate."""
    parts = []
    for rate in audit.notion.rates:
        inside, outside = finding.rates_inside[rate.key], finding.rates_outside[rate.key]
        if inside is None or outside is None:
            parts.append(f"{rate.name} undefined")
        else:
            parts.append(f"{rate.name} {inside:.1%} against {outside:.1%} among everyone else")
    return "; ".join(parts)


def facts(audit: Audit) -> list[str]:
    """What was done, one line each: data, search, testing."""
    data, config = audit.data_summary, audit.config
    plain = "the default search" if config.explore else "every leaf tested"
    search = "the paper's search" if config.preset == "paper" else plain
    how = f"{config.trees} trees ({search}" if config.method is None else f"Search: {config.method} (another system's"
    return [
        _audited(audit),
        f"{data.rows:,} people: {data.rows_search:,} for the search, {data.rows_assess:,} for the tests, which the "
        "search never saw.",
        f"{len(data.attributes)} attribute{'' if len(data.attributes) == 1 else 's'}: "
        f"{', '.join(entry.name for entry in data.attributes)}.",
        f"Notion: {audit.notion.name}. {how}, alpha {config.alpha:g}, seed {config.seed}); "
        f"correction: {config.adjust}, level {config.level:g}; ranked by {config.ranking}.",
        *_details(audit),
        *[f"Left out: {entry.name}: {entry.reason}." for entry in data.left_out],
        *[f"Warning: {warning}" for warning in data.warnings],
    ]


def _audited(audit: Audit) -> str:
    """Which columns were audited, and which value counts as favourable."""
    config = audit.config
    value = "1 or true, as assumed" if config.favourable is None else config.favourable
    if config.outcome is not None:
        return f"Outcome: {config.outcome}, favourable value: {value}."
    return f"Prediction: {config.prediction}, truth: {config.truth}, positive value: {value}."


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
    given = [str(i) for i, finding in enumerate(audit.groups, 1) if "given" in finding.test]
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
    seen = ", ".join(
        f"{entry.share:.0%} of people: {'not detectable' if entry.psi is None else f'{entry.psi:.3f}'}"
        for entry in audit.detectable
    )
    lines.append(f"Smallest |psi| that these tests find with 80% power in a group of: {seen}.")
    return lines


def signed(value: float | None) -> str:
    return "undefined" if value is None else f"{value:+.3f}"


def percent(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.1%}"


def plain(value: float | None, digits: int = 3) -> str:
    return "undefined" if value is None else f"{value:.{digits}f}"


def interval(bounds: tuple[float | None, float | None]) -> str:
    return f"{signed(bounds[0])} to {signed(bounds[1])}" if None not in bounds else "undefined"
