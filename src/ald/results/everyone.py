"""The list where everyone is searched and tested: claims of several questions in one order, as findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ald._core.arrays import BoolArray
from ald.assess.assessment import assess, assess_in_order, assessment_terms
from ald.data.coded import AuditData
from ald.data.strata import Strata
from ald.groups.membership import member_mask, membership_strata
from ald.groups.rules import decode
from ald.groups.tree import CodedCriterion
from ald.options import AuditConfig
from ald.questions import Question
from ald.ranking import join_assessments
from ald.results.candidates import design_details
from ald.results.claims import DRAWN, Shuffled, Together, Told, p_of, write_together
from ald.results.details import Details, PeopleInMemory, Subject, details
from ald.results.finding import Finding, Finer, finding
from ald.results.listed import others_of
from ald.statistics.basics import adjust, round_reported


@dataclass(frozen=True, kw_only=True)
class Chances:
    """log p of a claim by itself, and as it counts on the list; of so many shuffles or draws so many were as strong.

    bound: whether none was, here and for those before. value: its evidence, which orders claims of equal p-values.
    """

    log_p: float
    log_p_adjusted: float
    as_strong: int
    of: int
    bound: bool
    value: float
    statistic: float
    df: int
    listed: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class Seen:
    """What is said of the size of a listed group, and of halves of the people."""

    interval: tuple[float, float]
    part_intervals: tuple[tuple[float, float], ...]
    psi_new: float
    power: float
    halves: int
    found: int
    descriptions: tuple[tuple[CodedCriterion, int], ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Claim:
    """A group of one question: as a group, as the combination of its attributes, or both.

    data: everyone, with the attributes that `criterion` and the groups `before` it are on.
    """

    question: Question
    data: AuditData
    criterion: CodedCriterion
    before: tuple[CodedCriterion, ...] = ()
    group: Chances | None
    together: Chances | None
    seen: Seen | None = None
    finer: tuple[Finer, ...] = ()

    @property
    def key(self) -> tuple[float, float]:
        """What claims are ordered by: what they are listed for, or else the better of both."""
        both = [one for one in (self.group, self.together) if one is not None]
        return min((one.log_p_adjusted, one.value) for one in both if one.listed or not self.listed)

    @property
    def listed(self) -> bool:
        return any(one is not None and one.listed for one in (self.group, self.together))


# From so much power on, psi is not much too large.
POWER = 0.8


def in_order(rounds: Sequence[Sequence[Claim]]) -> list[Claim]:
    """The claims of several sequences, strongest first; each sequence keeps its order."""
    left = [list(one) for one in rounds if one]
    out = []
    while left:
        first = min(left, key=lambda claims: (not claims[0].listed, claims[0].key))
        out.append(first.pop(0))
        left = [claims for claims in left if claims]
    return out


def write(claim: Claim, config: AuditConfig, strata: Strata | None) -> Finding:
    """A claim as a finding."""
    data, notion = claim.data, claim.question.notion
    criteria = [*claim.before, claim.criterion]
    terms = replace(assessment_terms(config), adjustment="none")
    assessment = assess_in_order(criteria, data, notion, terms)
    own = len(criteria) - 1
    plain = assessment.intervals(config.level, [own])
    details: dict[str, Any] = {}
    if strata is not None:
        masks = [member_mask(criterion, data) for criterion in criteria]
        within = membership_strata(masks[:-1]) if own else None
        details = design_details(masks[-1], data, notion, config, strata, within)
    base = finding(
        decode(claim.criterion, data.attributes),
        assessment,
        own,
        claim.question.cell_names,
        level=config.level,
        intervals=plain,
        unadjusted=plain,
        outcome=claim.question.outcome if len(config.asked_outcomes) > 1 else None,
        given_groups=tuple(decode(criterion, data.attributes) for criterion in claim.before),
        finer=claim.finer,
        size_elsewhere=0,
        **details,
    )
    chances = claim.group if claim.group is not None and (claim.group.listed or claim.together is None) else None
    said = chances or claim.together
    assert said is not None
    intervals = [(np.nan, np.nan)] * len(notion.rates) if claim.seen is None else claim.seen.part_intervals
    interval = (np.nan, np.nan) if claim.seen is None else claim.seen.interval
    (p_value, log10_p), (p_adjusted, log10_p_adjusted) = p_of(said.log_p), p_of(said.log_p_adjusted)
    return replace(
        base,
        statistic=round_reported(said.statistic),
        df=said.df,
        p_value=p_value,
        log10_p=log10_p,
        p_adjusted=p_adjusted,
        log10_p_adjusted=log10_p_adjusted,
        interval=(round_reported(interval[0]), round_reported(interval[1])),
        part_intervals={
            rate.key: (round_reported(low), round_reported(high))
            for rate, (low, high) in zip(notion.rates, intervals, strict=True)
        },
        interval_level=float(round_reported(1.0 - config.level) or 0.0),
        test="shuffled outcomes" if chances is not None else DRAWN,
        stability=None if claim.seen is None else round_reported(claim.seen.found / claim.seen.halves),
        together=_together(claim),
        shuffled=_shuffled(claim),
    )


def _together(claim: Claim) -> Together | None:
    said = claim.together
    if said is None:
        return None
    return write_together(
        tuple(claim.data.attributes[c.attribute].name for c in claim.criterion),
        statistic=said.statistic,
        df=said.df,
        log_p=said.log_p,
        log_p_adjusted=said.log_p_adjusted,
        listed=said.listed,
        bound=said.bound,
        as_strong=said.as_strong,
        drawn=said.of,
    )


def _shuffled(claim: Claim) -> Shuffled:
    group, together, seen = claim.group, claim.together, claim.seen
    as_group = group is not None and (group.listed or together is None)
    as_combination = together is not None and (together.listed or group is None)
    said = group if as_group else together
    assert said is not None
    shuffled = Shuffled(
        claim="both" if as_group and as_combination else "group" if as_group else "combination",
        as_strong=said.as_strong,
        shuffles=said.of,
        bound=said.bound,
    )
    if seen is None:
        return shuffled
    return replace(
        shuffled,
        psi_new=round_reported(seen.psi_new),
        exaggerated=bool(seen.power < POWER),
        halves=seen.halves,
        found=seen.found,
        descriptions=tuple(
            Told(criterion=decode(criterion, claim.data.attributes), halves=n) for criterion, n in seen.descriptions
        ),
    )


def giveaways_of_everyone(
    asked: Sequence[tuple[Question, AuditData, Sequence[CodedCriterion]]], config: AuditConfig, strata: Strata | None
) -> tuple[tuple[Finding, ...], float]:
    """The columns that give the outcome away, each tested by itself on everyone, and log p of any of them."""
    told = [one for one in asked if one[2]]
    if not told:
        return (), 0.0
    found = [assess(criteria, data, question.notion, assessment_terms(config)) for question, data, criteria in told]
    log_ps = join_assessments(found, config.adjust).log_p_adjusted
    out: list[Finding] = []
    for (question, data, criteria), assessment in zip(told, found, strict=True):
        corrected = replace(assessment, log_p_adjusted=log_ps[len(out) : len(out) + len(criteria)])
        intervals = corrected.intervals(config.level)
        for i, criterion in enumerate(criteria):
            member: BoolArray = member_mask(criterion, data)
            out.append(
                finding(
                    decode(criterion, data.attributes),
                    corrected,
                    i,
                    question.cell_names,
                    level=config.level,
                    intervals=intervals,
                    unadjusted=intervals,
                    place=i,
                    outcome=question.outcome if len(config.asked_outcomes) > 1 else None,
                    size_elsewhere=0,
                    **design_details(member, data, question.notion, config, strata),
                )
            )
    smallest = adjust(np.concatenate([one.log_p for one in found]), "bonferroni")
    return tuple(out), 0.0 if np.isnan(smallest).all() else float(np.nanmin(smallest))


def details_of_everyone(claims: Sequence[Claim], config: AuditConfig, strata: Strata | None) -> Details:
    """What reports show of listed groups beyond the findings."""
    return details(list(_subjects(claims, config, strata)), assessment_terms(config))


def _subjects(claims: Sequence[Claim], config: AuditConfig, strata: Strata | None) -> Iterator[Subject]:
    for claim in claims:
        people = PeopleInMemory(claim.data)
        yield Subject(
            criterion=claim.criterion,
            before=claim.before,
            notion=claim.question.notion,
            outcome=claim.question.outcome if len(config.asked_outcomes) > 1 else None,
            people=people,
            strata=strata,
            others=others_of(claim.criterion, claim.question.notion, people, strata, config),
        )
