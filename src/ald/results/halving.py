"""What one halving of the data gave: groups that D1 suggested, and what D2 says about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ald._core.arrays import BoolArray, FloatArray, IntArray
from ald.assess.assessment import Assessment
from ald.data.coded import AuditData
from ald.data.strata import Strata
from ald.groups.membership import member_mask
from ald.groups.rules import Candidates
from ald.groups.tree import CodedCriterion, Forest
from ald.options import AuditConfig
from ald.questions import Question
from ald.ranking import Scores, join_assessments, rank, significant
from ald.statistics.basics import round_reported

# Per candidate its other descriptions with their size on D2 and the share of the candidate that they hold.
Overlaps = dict[int, tuple[tuple[CodedCriterion, int, float], ...]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Answer:
    """What one question got: the forest, the groups that it led to, and their assessment on D2.

    overlaps: as the function of that name gives them, where they were counted already. giveaways: the assessment of
    the conditions that give the outcome away, if there are any.
    """

    question: Question
    d2: AuditData
    forest: Forest
    proposed: Candidates
    assessment: Assessment
    overlaps: Overlaps | None = None
    giveaways: Assessment | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Halving:
    """Search, assessment and ranking for one halving.

    scores: all candidates, those of the first question first; order, significant (all of them, in order) and chosen
    (those that are listed): positions among them. strata: what strata of legitimate factors mean, if there are any.
    small: which candidates have too few people to be shown, once that was asked.
    """

    d1: AuditData
    d2: AuditData
    answers: tuple[Answer, ...]
    scores: Scores
    order: IntArray
    significant: IntArray
    chosen: IntArray
    strata: Strata | None = None
    small: BoolArray | None = None

    @property
    def places(self) -> list[tuple[int, int]]:
        """Per candidate the number of its answer and its own number there."""
        return [(a, i) for a, answer in enumerate(self.answers) for i in range(len(answer.proposed))]

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
        return np.concatenate([self.scores.log_p, *columns])

    @property
    def tested(self) -> int:
        """How many candidates could be tested."""
        return int(np.count_nonzero(~np.isnan(self.scores.log_p)))


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
    """All candidates in order, with one correction, and those that are listed."""
    scores = join_assessments([answer.assessment for answer in answers], config.adjust)
    criteria = all_criteria([answer.proposed for answer in answers])
    order = rank(scores, criteria, d2.attributes, config.ranking)
    found = significant(scores, order, config.level)
    ends = np.cumsum([0, *(len(answer.proposed) for answer in answers)]).tolist()
    corrected = tuple(
        replace(answer, assessment=replace(answer.assessment, log_p_adjusted=scores.log_p_adjusted[start:end]))
        for answer, start, end in zip(answers, ends[:-1], ends[1:], strict=True)
    )
    return Halving(
        d1=d1,
        d2=d2,
        answers=corrected,
        scores=scores,
        order=order,
        significant=found,
        chosen=found[: config.groups],
        strata=strata,
    )
