"""What reports say of groups that the user named, and of groups within strata of legitimate factors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ald.findings import Finding, StratumResult, p_text

if TYPE_CHECKING:
    from ald.auditing import Audit

# Strata shown per group, those of the largest weight; the document has more.
_STRATA = 12


def named_headline(audit: Audit) -> str:
    """What the tests of named groups gave, in one sentence."""
    n, level = len(audit.named), audit.config.level
    found = [finding for finding in audit.named if finding.p_adjusted is not None and finding.p_adjusted <= level]
    threshold = audit.config.threshold
    what = f"disparity significantly larger than {threshold:g}" if threshold else "significant disparity"
    return (
        f"{len(found)} of {n} named group{'' if n == 1 else 's'} with a {what} (level {level:g}), tested on all "
        f"{audit.data_summary.rows:,} people."
    )


def asked_facts(audit: Audit) -> list[str]:
    """One line per named group; then one per stratum of every group, named or listed, that has strata."""
    lines = [f"Named group: {named_line(finding, audit)}" for finding in audit.named]
    for finding in (*audit.named, *audit.groups):
        lines += [f"{finding.criterion}, given {line}" for line in strata_lines(finding)]
    return lines


def named_line(finding: Finding, audit: Audit) -> str:
    """A named group with its disparity and how sure we are."""
    people = "" if finding.people is None else f", {finding.people:,} different ones"
    parts = [f"{finding.criterion} ({finding.size:,} people{people}){question(finding, audit)}"]
    if finding.undefined:
        return f"{parts[0]}: undefined. {finding.undefined[:1].upper()}{finding.undefined[1:]}."
    rates = ", ".join(
        f"{key} {_percent(finding.rates_inside[key])} against {_percent(finding.rates_outside[key])}"
        for key in finding.parts
    )
    low, high = finding.interval
    crude = (
        f" Without regard to {', '.join(audit.config.given)} psi is {_signed(finding.psi_crude)}."
        if finding.psi_crude is not None
        else ""
    )
    return (
        f"{parts[0]}: psi {_signed(finding.psi)} ({100 * finding.interval_level:.3g}% interval {_signed(low)} to "
        f"{_signed(high)}), {rates}; {finding.test}, adjusted {p_text(finding.log10_p_adjusted)}.{crude}"
    )


def question(finding: Finding, audit: Audit) -> str:
    """Which of several questions a finding answers; empty if there is one."""
    words = [
        *([finding.notion] if len(audit.config.notions) > 1 else []),
        *([] if finding.outcome is None else [finding.outcome]),
    ]
    return f" for {' of '.join(words)}" if words else ""


def strata_lines(finding: Finding) -> list[str]:
    """A group in each stratum where it can be compared: one sees where it differs, and in which direction."""
    compared = [stratum for stratum in finding.strata if stratum.weight > 0]
    shown = sorted(compared, key=lambda stratum: -stratum.weight)[:_STRATA]
    lines = [_stratum_line(stratum) for stratum in compared if stratum in shown]
    left = len(compared) - len(shown)
    return [*lines, f"{left:,} more strata: the JSON document has them."] if left else lines


def _stratum_line(stratum: StratumResult) -> str:
    rates = ", ".join(
        f"{key} {_percent(stratum.rates_inside[key])} against {_percent(stratum.rates_outside[key])} "
        f"({_signed(stratum.parts[key])})"
        for key in stratum.parts
    )
    people = f"{stratum.size:,} and {stratum.size_outside:,} people"
    return f"{stratum.criterion}: {rates}; {people}, weight {stratum.weight:.0%}."


def _percent(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.1%}"


def _signed(value: float | None) -> str:
    return "undefined" if value is None else f"{value:+.3f}"
