"""What is left of findings where a legitimate factor is cut twice as fine.

Within a class of a number, what remains of its effect can look like a difference between groups. If it does, cutting
classes in two takes much of the difference away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import exp, isfinite, log

import numpy as np

from ald._core.arrays import BoolArray
from ald.assess.assessment import Assessment, assess, assess_in_order, assess_masks, assessment_terms
from ald.data.coded import AuditData
from ald.data.strata import Strata
from ald.errors import shorten
from ald.groups.wording import readable
from ald.options import AuditConfig
from ald.questions import Question
from ald.ranking import join_assessments
from ald.results.finding import Finding, Finer, p_text
from ald.results.halving import Answer, Halving
from ald.statistics.basics import adjust, round_reported


def of_listed(split: Halving, config: AuditConfig) -> dict[int, tuple[Finer, ...]]:
    """Per listed group what is left of it with each of the factors cut twice as fine, all else being equal."""
    chosen = split.chosen.tolist()
    places = {i: split.place(i) for i in chosen}
    out: dict[int, list[Finer]] = {i: [] for i in chosen}
    for number, factor in enumerate(() if split.strata is None else split.strata.finer):
        log_p = split.groups.log_p.copy()
        found: dict[int, tuple[Assessment, int, Assessment, int]] = {}
        for a, answer in enumerate(split.answers):
            own = {i: places[i][1] for i in chosen if places[i][0] == a and not split.alone[i]}
            if own:
                again, at = _again(answer, list(own.values()), number, config)
                found |= {i: (answer.assessment, own[i], again, place) for i, place in zip(own, at, strict=True)}
        for i, (_, _, again, place) in found.items():
            log_p[i] = again.log_p[place]
        adjusted = adjust(np.append(log_p, split.together.log_p), config.adjust)
        strata = int(split.d2.design.finer[number].max()) + 1
        for i, (before, own_place, again, place) in found.items():
            out[i].append(compared(factor, strata, before, own_place, again, place, float(adjusted[i]), config.level))
    return {i: tuple(entries) for i, entries in out.items()}


def _again(answer: Answer, own: Sequence[int], number: int, config: AuditConfig) -> tuple[Assessment, Sequence[int]]:
    """Candidates of a question assessed within finer strata, and their places in that assessment."""
    data, criteria, terms = within(answer.d2, number), answer.proposed.criteria, assessment_terms(config)
    notion = answer.question.notion
    if config.explores:
        return assess_in_order(criteria[: max(own) + 1], data, notion, terms), own
    return assess([criteria[i] for i in own], data, notion, terms), range(len(own))


def of_named(
    masks: Sequence[BoolArray],
    views: Sequence[AuditData],
    asked: Sequence[Question],
    assessed: Sequence[Assessment],
    strata: Strata | None,
    config: AuditConfig,
) -> list[list[tuple[Finer, ...]]]:
    """Per question and named group what is left of it, where it is significant."""
    terms = replace(assessment_terms(config), exact=True)
    out: list[list[tuple[Finer, ...]]] = [[()] * len(masks) for _ in asked]
    for number, factor in enumerate(() if strata is None else strata.finer):
        again = [
            assess_masks(masks, within(view, number), question.notion, terms)
            for view, question in zip(views, asked, strict=True)
        ]
        adjusted = join_assessments(again, config.adjust).log_p_adjusted.reshape(len(asked), len(masks))
        n_strata = int(views[0].design.finer[number].max()) + 1
        for q, before in enumerate(assessed):
            for i in np.flatnonzero(before.log_p_adjusted <= log(config.level)).tolist():
                entry = compared(factor, n_strata, before, i, again[q], i, float(adjusted[q, i]), config.level)
                out[q][i] = (*out[q][i], entry)
    return out


def warnings(findings: Sequence[Finding], config: AuditConfig) -> list[str]:
    """What is to be said of findings that do not hold where a factor is cut twice as fine."""
    several = [
        name for name, asked in (("notion", config.notions), ("outcome", config.asked_outcomes)) if len(asked) > 1
    ]
    out = []
    for found in findings:
        about = ", ".join(str(getattr(found, name)) for name in several)
        group = f"{readable(found.criterion)!r}{f' ({about})' if about else ''}"
        for finer in found.finer:
            if not finer.holds:
                ends = "differs the other way" if finer.turned else "no longer differs significantly"
                out.append(
                    f"{group} {ends} if {shorten(finer.factor)!r} is cut twice as fine (corrected "
                    f"{p_text(finer.log10_p_adjusted)}): the effect of {shorten(finer.factor)!r} within its classes "
                    "may be all that shows. More given_bins would tell."
                )
    return out


def within(data: AuditData, number: int) -> AuditData:
    """The data with strata in which one of the factors is cut twice as fine."""
    return replace(data, design=replace(data.design, strata=data.design.finer[number]))


def compared(
    factor: str, strata: int, before: Assessment, own: int, again: Assessment, place: int, log_p: float, level: float
) -> Finer:
    old, new = before.differences[:, own], again.differences[:, place]
    largest = int(np.argmax(np.abs(old)))
    return Finer(
        factor=factor,
        strata=strata,
        psi=round_reported(again.psi[place]),
        p_adjusted=round_reported(exp(log_p)) if isfinite(log_p) else None,
        log10_p_adjusted=round_reported(log_p / log(10)),
        turned=bool(old[largest] * new[largest] < 0),
        holds=bool(log_p <= log(level) and old[largest] * new[largest] > 0),
    )
