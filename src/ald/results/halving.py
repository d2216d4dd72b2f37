"""What one halving of the data gave: groups that D1 suggested, and what D2 says about them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate

import numpy as np

from ald._core.arrays import BoolArray, FloatArray, IntArray
from ald.assess.assessment import Assessment
from ald.assess.together import Combination
from ald.data.coded import AuditData
from ald.data.strata import Strata
from ald.groups.membership import member_mask
from ald.groups.rules import Candidates
from ald.groups.tree import CodedCriterion, Forest
from ald.options import AuditConfig
from ald.questions import Question
from ald.ranking import Scores, join_assessments, rank, significant
from ald.statistics.basics import adjust, round_reported

# Per candidate its other descriptions with their size on D2 and the share of the candidate that they hold.
Overlaps = dict[int, tuple[tuple[CodedCriterion, int, float], ...]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Answer:
    """What one question got: the forest, the groups that it led to, and their assessment on D2.

    overlaps: as the function of that name gives them, where they were counted already. giveaways: the assessment of
    the conditions that give the outcome away, if there are any. together: per candidate whether its attributes matter
    together; None, or no entry at all, where that was not tested.
    """

    question: Question
    d2: AuditData
    forest: Forest
    proposed: Candidates
    assessment: Assessment
    overlaps: Overlaps | None = None
    giveaways: Assessment | None = None
    together: tuple[Combination | None, ...] = ()

    @property
    def log_p_together(self) -> FloatArray:
        """log p of each candidate's combination; NaN where it was not tested."""
        tests = self.together or (None,) * len(self.proposed)
        return np.array([np.nan if one is None else one.log_p for one in tests], dtype=float)


@dataclass(frozen=True, kw_only=True, eq=False)
class Halving:
    """Search, assessment and ranking for one halving.

    scores: all candidates, those of the first question first, with the p-values of what they are listed for; order,
    significant (all of them, in order) and chosen (those that are listed): positions among them. groups, together: the
    p-values of both claims, that the group differs and that its attributes matter together; NaN is undefined, or not
    tested. alone: whether a candidate is significant as a combination only. strata: what strata of legitimate factors
    mean, if there are any. small: which candidates have too few people to be shown, once that was asked.
    """

    d1: AuditData
    d2: AuditData
    answers: tuple[Answer, ...]
    scores: Scores
    groups: Corrected
    together: Corrected
    alone: BoolArray
    order: IntArray
    significant: IntArray
    chosen: IntArray
    strata: Strata | None = None
    small: BoolArray | None = None

    @cached_property
    def _ends(self) -> list[int]:
        return list(accumulate(len(answer.proposed) for answer in self.answers))

    def place(self, candidate: int) -> tuple[int, int]:
        """The number of a candidate's answer and its own number there."""
        answer = bisect_right(self._ends, candidate)
        return answer, candidate - (self._ends[answer - 1] if answer else 0)

    @property
    def criteria(self) -> Sequence[CodedCriterion]:
        return all_criteria([answer.proposed for answer in self.answers])

    @property
    def forest(self) -> Forest:
        """The trees of all questions."""
        return Forest.concatenate([answer.forest for answer in self.answers])

    @property
    def log_p(self) -> FloatArray:
        """The p-values of all tests on D2: of the candidates, and of columns that give the outcome away."""
        columns = [answer.giveaways.log_p for answer in self.answers if answer.giveaways is not None]
        return np.concatenate([self.groups.log_p, self.together.log_p, *columns])

    @property
    def tested(self) -> int:
        """How many candidates could be tested."""
        return int(np.count_nonzero(~np.isnan(self.groups.log_p)))

    @property
    def n_tests(self) -> int:
        """How many claims were tested and corrected together."""
        return self.tested + int(np.count_nonzero(~np.isnan(self.together.log_p)))

    def rejected(self, level: float) -> int:
        """How many of these claims are significant."""
        return int(np.count_nonzero(self.groups.holds(level)) + np.count_nonzero(self.together.holds(level)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Corrected:
    """The p-values of one kind of claim, one entry per candidate of all questions."""

    log_p: FloatArray
    log_p_adjusted: FloatArray

    def holds(self, level: float) -> BoolArray:
        """Which claims are significant."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.log_p_adjusted <= np.log(level))


def all_criteria(proposed: Sequence[Candidates]) -> Sequence[CodedCriterion]:
    """The criteria of several lists one after the other; those of one list as they are, which may not be made yet."""
    if len(proposed) == 1:
        return proposed[0].criteria
    return [criterion for each in proposed for criterion in each.criteria]


def overlaps(proposed: Candidates, d2: AuditData) -> Overlaps:
    """Per candidate its other descriptions with their size on D2 and the share of the candidate that they hold."""
    out = {}
    for i, others in enumerate(proposed.also):
        own = member_mask(proposed.criteria[i], d2)
        size = max(d2.people(own), 1)
        masks = [member_mask(other, d2) for other in others]
        out[i] = tuple(
            (other, d2.people(mask), float(round_reported(d2.people(mask & own) / size) or 0.0))
            for other, mask in zip(others, masks, strict=True)
        )
    return out


def rank_answers(
    d1: AuditData, d2: AuditData, answers: Sequence[Answer], config: AuditConfig, strata: Strata | None = None
) -> Halving:
    """All candidates in order, with one correction of both claims about them, and those that are listed."""
    scores = join_assessments([answer.assessment for answer in answers], config.adjust)
    beyond = np.concatenate([answer.log_p_together for answer in answers])
    log_p, adjusted = np.stack([scores.log_p, beyond]), adjust(np.append(scores.log_p, beyond), config.adjust)
    groups, together = (
        Corrected(log_p=own, log_p_adjusted=corrected)
        for own, corrected in zip(log_p, adjusted.reshape(2, -1), strict=True)
    )
    alone = together.holds(config.level) & ~groups.holds(config.level)
    scores = replace(
        scores,
        log_p=np.where(alone, together.log_p, groups.log_p),
        log_p_adjusted=np.where(alone, together.log_p_adjusted, groups.log_p_adjusted),
    )
    criteria = all_criteria([answer.proposed for answer in answers])
    order = rank(scores, criteria, d2.attributes, config.ranking)
    found = significant(scores, order, config.level)
    ends = np.cumsum([0, *(len(answer.proposed) for answer in answers)]).tolist()
    corrected = tuple(
        replace(answer, assessment=replace(answer.assessment, log_p_adjusted=groups.log_p_adjusted[start:end]))
        for answer, start, end in zip(answers, ends[:-1], ends[1:], strict=True)
    )
    return Halving(
        d1=d1,
        d2=d2,
        answers=corrected,
        scores=scores,
        groups=groups,
        together=together,
        alone=alone,
        order=order,
        significant=found,
        chosen=found[: config.groups],
        strata=strata,
    )
