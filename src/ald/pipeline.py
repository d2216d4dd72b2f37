"""Steps 1 to 3 on one halving of the data: what is searched for on D1, and what D2 says about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from math import ceil
from threading import Lock

import numpy as np

from ald._core.arrays import FloatArray, IntArray
from ald._core.threads import in_threads
from ald.assess.assessment import Assessment, Terms, assess, assess_in_order
from ald.baselines.interface import propose
from ald.data.coded import AuditData
from ald.data.inputs.memory import machine_memory
from ald.data.strata import Given, Strata, in_classes, in_strata
from ald.errors import InputError
from ald.groups.derived import extended
from ald.groups.membership import NodeMembers, member_mask
from ald.groups.rules import Candidates, candidates, named_in
from ald.groups.tree import CodedCriterion, Forest
from ald.notions import ERROR, Rate, RateCounter
from ald.options import AuditConfig
from ald.questions import Question
from ald.ranking import Scores, joined, rank, significant
from ald.results.details import People, TreePeople, people_of_trees
from ald.search.adapting import as_counts, design_effect, few_strata
from ald.search.explore.representatives import MAX_CELLS, correlation, nearest_nodes, representatives
from ald.search.explore.scoring import Terms as SearchTerms
from ald.search.explore.scoring import smallest_group
from ald.search.forest import packed
from ald.search.forest.growth import SAMPLE_SHARE, GrowthRules, bytes_per_row, grow_forest
from ald.search.forest.packed import PackedRows
from ald.statistics.basics import adjust as adjust_p
from ald.statistics.basics import rounded

Progress = Callable[[str, float], None]
# Per candidate its other descriptions with their size on D2 and the share of the candidate that they hold.
Overlaps = dict[int, tuple[tuple[CodedCriterion, int, float], ...]]

# Groups whose memberships correlate at least this much are equivalent: the same finding in another halving.
EQUIVALENT = 0.8
# Rows of all trees from which threads grow trees of their own.
_WORTH_GROUPS = 5_000_000
# The part of the memory that is for growing trees.
_SHARE_FOR_TREES = 4
# Strata of legitimate factors leave room for so many patterns of membership in groups that are already taken.
_PATTERNS = 8


@dataclass(frozen=True, kw_only=True, eq=False)
class Answer:
    """What one question got: the forest, the groups that it led to, and their assessment on D2.

    overlaps: as the function of that name gives them, where they were counted already.
    """

    question: Question
    d2: AuditData
    forest: Forest
    proposed: Candidates
    assessment: Assessment
    overlaps: Overlaps | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Split:
    """Search, assessment and ranking for one halving.

    scores: all candidates, those of the first question first; order, significant (all of them, in order) and chosen
    (those that are listed): positions among them. strata: what strata of legitimate factors mean, if there are any.
    """

    d1: AuditData
    d2: AuditData
    answers: tuple[Answer, ...]
    scores: Scores
    order: IntArray
    significant: IntArray
    chosen: IntArray
    strata: Strata | None = None

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
        return Forest.joined([answer.forest for answer in self.answers])

    @property
    def tested(self) -> int:
        """How many candidates could be tested."""
        return int(np.count_nonzero(~np.isnan(self.scores.log_p)))


def one_split(
    data: AuditData,
    asked: Sequence[Question],
    config: AuditConfig,
    rules: GrowthRules,
    repeat: int,
    threads: int,
    say: Progress,
    memory_limit: int | None = None,
    given: Given | None = None,
) -> Split:
    """Steps 1 to 3 on one halving: the first is the one that is reported.

    given: legitimate factors, which are cut where the outcomes of D1 change.
    """
    sequence = np.random.SeedSequence(config.seed, spawn_key=(1000 + repeat,) if repeat else ())
    halves_seed, forest_seed = sequence.spawn(2)

    def step(name: str, share: float) -> None:
        say(name if config.repeats == 1 else "repeat", share if config.repeats == 1 else repeat / config.repeats)

    d1, d2 = data.halves(np.random.default_rng(halves_seed), config.fraction, threads)
    strata = None
    if given is not None:
        strata, (d1, d2) = in_strata([d1, d2], given, by=d1)
    answers = []
    for number, question in enumerate(asked):

        def part(share: float, number: int = number) -> None:
            step("search", (number + share) / len(asked))

        part(0.0)
        rngs = [np.random.default_rng(seed) for seed in forest_seed.spawn(config.trees)]
        forest, proposed = search(question.view(d1), question, config, rules, rngs, threads, part, memory_limit)

        step("assess", number / len(asked))
        d1, d2 = (extended(half, proposed.derived) for half in (d1, d2))
        seen = question.view(d2)
        assessor = assess_in_order if config.explores else partial(assess, leaves=proposed.leaves)
        assessment = assessor(proposed.criteria, seen, question.notion, assessment_terms(config), threads=threads)
        if config.explores and config.ranking == "magnitude":
            expected = expected_signs(proposed.criteria, question.view(d1), question, config)
            assessment = replace(assessment, expected=expected)
        answers.append(Answer(question=question, d2=seen, forest=forest, proposed=proposed, assessment=assessment))

    step("rank", 0.0)
    return ranked(d1, d2, answers, config, strata)


def ranked(
    d1: AuditData, d2: AuditData, answers: Sequence[Answer], config: AuditConfig, strata: Strata | None = None
) -> Split:
    """Step 3: all candidates in order, with one correction, and those that are listed."""
    scores = joined([answer.assessment for answer in answers], config.adjust)
    criteria = all_criteria([answer.proposed for answer in answers])
    order = rank(scores, criteria, d2.attributes, config.ranking)
    found = significant(scores, order, config.level)
    ends = np.cumsum([0, *(len(answer.proposed) for answer in answers)]).tolist()
    corrected = tuple(
        replace(answer, assessment=replace(answer.assessment, log_p_adjusted=scores.log_p_adjusted[start:end]))
        for answer, start, end in zip(answers, ends[:-1], ends[1:], strict=True)
    )
    return Split(
        d1=d1,
        d2=d2,
        answers=corrected,
        scores=scores,
        order=order,
        significant=found,
        chosen=found[: config.groups],
        strata=strata,
    )


def all_criteria(proposed: Sequence[Candidates]) -> Sequence[CodedCriterion]:
    """The criteria of several lists one after the other; those of one list as they are, which may not be made yet."""
    if len(proposed) == 1:
        return proposed[0].criteria
    return [criterion for each in proposed for criterion in each.criteria]


def assessment_terms(config: AuditConfig) -> Terms:
    """How groups are tested, from the settings. The paper's search has chi2 tests of groups of any size."""
    return Terms(
        adjustment=config.adjust,
        level=config.level,
        threshold=config.threshold,
        direction=config.sign,
        reference=config.reference_kind,
        exact=config.preset != "paper",
    )


def expected_signs(
    criteria: Sequence[CodedCriterion], d1: AuditData, question: Question, config: AuditConfig
) -> FloatArray:
    """The signs of the differences on D1: what D2 shows in their direction is not biased, as the absolute value is."""
    found = assess_in_order(criteria, d1, question.notion, assessment_terms(config))
    return np.sign(np.nan_to_num(found.differences))


def search_rates(question: Question, config: AuditConfig) -> tuple[Rate, ...]:
    """What the trees split on: the notion's own rates, or in the paper's search the error indicator."""
    if config.preset == "paper" and question.notion.needs_truth:
        return (ERROR,)
    return question.notion.rates


def search(
    d1: AuditData,
    question: Question,
    config: AuditConfig,
    rules: GrowthRules,
    rngs: Sequence[np.random.Generator],
    threads: int,
    progress: Callable[[float], None],
    memory_limit: int | None = None,
) -> tuple[Forest, Candidates]:
    """Step 1: the forest, and the groups to test."""
    rates = RateCounter(search_rates(question, config), d1.n_cells)
    effect = design_effect(d1, rates)
    d1 = as_counts(d1)
    if config.method is not None:
        found, forest = propose(config.method, d1, rates, rngs[0], alpha=config.alpha)
        return forest, found
    strata = d1.design.strata
    references = 1 if d1.design.reference is None else 2
    limit = max(2, MAX_CELLS // (_PATTERNS * d1.n_cells * references))
    given = None if strata is None else few_strata(strata, d1, rates, limit)
    done, telling = np.zeros(len(rngs)), Lock()
    rows = PackedRows.of(d1, threads) if given is None and packed.available(d1) else None

    def grown(part: slice, threads: int) -> Forest:
        def share(of_part: float) -> None:
            # Callers hear of one step at a time, and never of less than before.
            with telling:
                done[part] = of_part
                progress(float(done.mean()) / 2)

        return grow_forest(
            d1, rates, rules, rngs[part], given=given, effect=effect, threads=threads, progress=share, rows=rows
        )

    forests = []
    for part in tree_parts(len(d1.cells) * bytes_per_row(d1), len(rngs), memory_limit):
        # With many rows every thread grows trees of its own: while one asks for statistics, another counts.
        trees = part.stop - part.start
        groups = min(threads, trees) if trees * len(d1.cells) >= _WORTH_GROUPS else 1
        edges = np.linspace(part.start, part.stop, groups + 1).astype(int).tolist()
        pieces = [slice(a, b) for a, b in pairwise(edges)]
        forests += in_threads(partial(grown, threads=threads // groups), pieces, threads)
    forest = Forest.joined(forests)
    if not config.explores:
        return forest, candidates(forest, d1)
    factors = frozenset(i for i, attribute in enumerate(d1.attributes) if attribute.name in config.given)
    terms = SearchTerms(given=given, direction=config.sign, effect=effect, factors=factors)
    return forest, representative_candidates(d1, rates, forest, config, terms, threads, progress)


def tree_parts(tree: int, trees: int, memory_limit: int | None) -> list[slice]:
    """The trees that are grown at a time. Every tree has a generator of its own, so this changes no result.

    tree: the bytes that growing one tree takes.

    >>> tree_parts(16 * 10**7, 25, 4 * 10**9)
    [slice(0, 6, None), slice(6, 12, None), slice(12, 18, None), slice(18, 24, None), slice(24, 25, None)]
    """
    limit = memory_limit or (machine_memory() // 2)
    most = max(1, limit // _SHARE_FOR_TREES // max(tree, 1))
    return [slice(start, min(start + most, trees)) for start in range(0, trees, most)]


def representative_candidates(
    d1: AuditData,
    rates: RateCounter,
    forest: Forest,
    config: AuditConfig,
    terms: SearchTerms,
    threads: int,
    progress: Callable[[float], None],
) -> Candidates:
    """The representatives as candidates, each with the forest's node that comes closest to it."""
    progress(0.5)
    nodes = NodeMembers(forest, d1.attributes)
    found = representatives(d1, rates, nodes, config.groups, config.ranking, terms, threads)
    nearest = nearest_nodes([r.criterion for r in found], nodes, d1, threads)
    return Candidates(
        criteria=tuple(named_in(r.criterion, d1) for r in found),
        tree=tuple(forest.tree[nearest].tolist()),
        node=tuple(forest.node[nearest].tolist()),
        also=tuple(tuple(named_in(other, d1) for other in r.also) for r in found),
    )


def listed_trees(split: Split, people: Sequence[People]) -> tuple[TreePeople, ...]:
    """The trees of listed groups as D2 sees them. people: D2, per answer."""
    places, first = [split.places[i] for i in split.chosen.tolist()], 0
    out: list[TreePeople] = []
    for number, (answer, counted) in enumerate(zip(split.answers, people, strict=True)):
        trees = [answer.proposed.tree[own] for question, own in places if question == number]
        out += people_of_trees(answer.forest, trees, counted, first)
        first += answer.forest.n_trees
    return tuple(out)


def stability(splits: Sequence[Split], data: AuditData) -> dict[int, float]:
    """Per listed group of the first halving: the share of all halvings that list an equivalent group."""
    lists = []
    for split in splits:
        places, criteria = split.places, split.criteria
        derived = [new for answer in split.answers for new in answer.proposed.derived]
        everyone = extended(in_classes(data, split.strata), derived)
        lists.append([(places[i][0], member_mask(criteria[i], everyone)) for i in split.chosen.tolist()])
    out = {}
    for i, (question, mask) in zip(splits[0].chosen.tolist(), lists[0], strict=True):
        found = [
            any(question == other and abs(correlation(mask, members, data)) >= EQUIVALENT for other, members in entries)
            for entries in lists
        ]
        out[i] = sum(found) / len(found)
    return out


def p_any(scores: Sequence[Scores]) -> float:
    """One p-value for "is there any disparity at all": twice the median over halvings of the Bonferroni minimum."""
    minima = [0.0]
    for one in scores:
        adjusted = adjust_p(one.log_p, "bonferroni")
        minima.append(float(np.nanmin(adjusted)) if not np.isnan(adjusted).all() else 0.0)
    return (
        float(rounded(min(1.0, 2.0 * np.exp(np.median(minima[1:])))) or 0.0)
        if len(minima) > 2
        else float(rounded(np.exp(minima[1])) or 0.0)
    )


def untested(split: Split, config: AuditConfig) -> tuple[str, ...]:
    """Per question of which no group could be tested, a sentence that says why."""
    return tuple(
        f"no group could be tested{_about(answer.question, config)}: {_why(split.d1, answer, config)}"
        for answer in split.answers
        if np.isnan(answer.assessment.log_p).all()
    )


def _about(question: Question, config: AuditConfig) -> str:
    """Which of several questions is meant; empty if there is one."""
    of = [question.outcome or ""] if len(config.outcomes) > 1 else []
    of += [question.notion.name] if len(config.notions) > 1 else []
    return f" for {', '.join(of)}" if of else ""


def _why(d1: AuditData, answer: Answer, config: AuditConfig) -> str:
    """Why a question has no group with a test: the halves, the search, or what D2 shows of the groups proposed."""
    if len(answer.proposed):
        reasons = dict.fromkeys(answer.assessment.reason(i) for i in range(len(answer.proposed)))
        return f"in the half that was kept for the tests, {'; '.join(reasons)}"
    d1 = answer.question.view(d1)
    rates = RateCounter(search_rates(answer.question, config), d1.n_cells)
    hits, bases = (column(d1.cell_counts()).tolist() for column in (rates.hit, rates.base))
    same = [
        f"the {rate.name} is undefined: no one there counts for it" if base == 0 else
        f"the {rate.name} is {'0' if hit == 0 else '1'} for everyone"
        for rate, hit, base in zip(rates.rates, hits, bases, strict=True)
        if hit in (0, base)
    ]  # fmt: skip
    searched = "in the half that was searched,"
    if len(same) == len(rates.rates):
        return f"{searched} {' and '.join(same)}"
    if config.method is not None:
        return f"{searched} {config.method} proposes none"
    if not config.explores:
        return f"{searched} no tree finds a split at alpha {config.alpha:g}"
    least = smallest_group(d1.total)
    which = "differs from" if config.direction == "both" else f"is {config.direction} compared with"
    within = " within the strata given" if config.given else ""
    return (
        f"{searched} no condition on one attribute gives a group of {least:,} people or more that {which} {least:,} "
        f"others or more{within}"
    )


def overlaps(proposed: Candidates, d2: AuditData) -> Overlaps:
    """Per candidate its other descriptions with their size on D2 and the share of the candidate that they hold."""
    out = {}
    for i, others in enumerate(proposed.also):
        own = member_mask(proposed.criteria[i], d2)
        size = max(d2.people(own), 1)
        masks = [member_mask(other, d2) for other in others]
        out[i] = tuple(
            (other, d2.people(mask), float(rounded(d2.people(mask & own) / size) or 0.0))
            for other, mask in zip(others, masks, strict=True)
        )
    return out


def minimum_rows(rules: GrowthRules, fraction: float = 0.5) -> int:
    """The least number of people with which a tree's sample of D1 can be split at all."""
    n = ceil(rules.minsplit / (SAMPLE_SHARE * fraction))
    while int(SAMPLE_SHARE * int(fraction * n)) < rules.minsplit:
        n += 1
    return n + n % 2


def check_halves(searched: int, assessed: int, least: int) -> None:
    """Raises if halves that were given are too small."""
    if searched < least or assessed == 0:
        raise InputError(
            f"the half for the search has {searched:,} rows and the one for the assessment {assessed:,}: the search "
            f"needs {least:,} at least, and the assessment some"
        )
