"""The audit, step by step: load, split, grow, assess, rank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from math import ceil
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from ald._core.arrays import FloatArray, IntArray
from ald._core.threads import available_threads, in_threads
from ald.assess.assessment import assess, assess_in_order, assess_masks, assessment_terms
from ald.assess.power import Detectable, detectable, known
from ald.baselines.interface import propose
from ald.data.coded import AuditData
from ald.data.inputs.fingerprint import Seen
from ald.data.inputs.memory import machine_memory
from ald.data.inputs.reading import ManyCellsError, reading_of
from ald.data.inputs.sources import load, load_halves
from ald.data.prepare import DataSummary, Prepared, prepare, with_kinds
from ald.data.roles import Roles
from ald.data.strata import Given, Strata, in_classes, in_strata
from ald.data.table import Table
from ald.errors import InputError, SettingError
from ald.groups.criterion import Criterion
from ald.groups.derived import extended
from ald.groups.language import mentioned
from ald.groups.membership import NodeMembers, member_mask
from ald.groups.rules import Candidates, candidates, named_in
from ald.groups.tree import CodedCriterion, Forest
from ald.notions import ERROR, Rate, RateCounter
from ald.options import AuditConfig
from ald.questions import Question, joint_cells, questions
from ald.ranking import Scores, joined, rank, significant
from ald.results import finer
from ald.results.audit import Audit
from ald.results.candidates import Results, design_details
from ald.results.details import Details, People, PeopleInMemory, Subject, TreePeople, details, people_of_trees
from ald.results.finding import Finding, finding
from ald.results.halving import Answer, Split, all_criteria
from ald.search.adapting import as_counts, design_effect, few_strata
from ald.search.explore.representatives import MAX_CELLS, correlation, nearest_nodes, representatives
from ald.search.explore.scoring import Terms as SearchTerms
from ald.search.explore.scoring import smallest_group
from ald.search.forest import packed
from ald.search.forest.growth import SAMPLE_SHARE, GrowthRules, bytes_per_row, grow_forest
from ald.search.forest.packed import PackedRows
from ald.statistics.basics import adjust as adjust_p
from ald.statistics.basics import rounded

if TYPE_CHECKING:
    from ald.remote.distributed import Distributed

Progress = Callable[[str, float], None]
# Groups whose memberships correlate at least this much are equivalent: the same finding in another halving.
EQUIVALENT = 0.8
# Rows of all trees from which threads grow trees of their own.
_WORTH_GROUPS = 5_000_000
# The part of the memory that is for growing trees.
_SHARE_FOR_TREES = 4
# Strata of legitimate factors leave room for so many patterns of membership in groups that are already taken.
_PATTERNS = 8


def run(
    data: Any,
    roles: Roles,
    config: AuditConfig,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    memory_limit: int | None = None,
    query: str | None = None,
    file: Seen | None = None,
) -> Audit:
    """The audit with its settings in two objects. One line per step of the method. file: the data as it was before."""
    say = progress or (lambda step, share: None)
    threads = threads or available_threads()
    rules = GrowthRules(alpha=config.alpha)
    asked = questions(config)

    say("load", 0.0)
    spread = None
    try:
        table, half = read(data, roles, config, memory_limit, query, threads)
    except ManyCellsError as many:
        spread = many.spread
        if spread is None or not config.search or config.split == "own":
            raise
    if spread is not None:
        from ald.remote.distributed import audit_spread

        return _spread(audit_spread(spread, roles, config, asked, rules, threads, say), config)
    digest = None if file is None else file.sha256()
    prepared = arrange(table, half, roles, config, rules)
    named = assess_named(prepared, asked, config)
    if not config.search:
        return _without_search(digest, prepared, asked, config, named)
    splits = [
        one_split(prepared.data, asked, config, rules, repeat, threads, say, memory_limit, prepared.given)
        for repeat in range(config.repeats)
    ]
    first = splits[0]
    results = Results(
        config=config,
        attributes=first.d1.attributes,
        split=first,
        stability=stability(splits, prepared.data) if config.repeats > 1 else {},
    )
    groups = results.listed()
    summary = _with_warnings(_with_halves(prepared.summary, first, config), (*groups, *named), config)
    say("rank", 1.0)
    return Audit(
        config=config,
        data_summary=summary,
        groups=groups,
        named=named,
        forest=first.forest.with_attributes(first.d1.attributes),
        detectable=_detectable(first, config),
        p_any=p_any([split.scores for split in splits]),
        _details=partial(_details_of, first, config),
        input_sha256=digest,
        _candidates=results,
        significant=results.significant,
    )


def _spread(found: Distributed, config: AuditConfig) -> Audit:
    """The audit of data that stayed on a cluster."""
    split = found.split
    results = Results(config=config, attributes=split.d1.attributes, split=split, stability={})
    return Audit(
        config=config,
        data_summary=_with_halves(found.summary, split, config),
        groups=results.listed(),
        named=(),
        forest=split.forest.with_attributes(split.d1.attributes),
        detectable=_detectable(split, config),
        p_any=p_any([split.scores]),
        _details=found.details,
        _candidates=results,
        significant=results.significant,
    )


def read(
    data: Any,
    roles: Roles,
    config: AuditConfig,
    memory_limit: int | None = None,
    query: str | None = None,
    threads: int = 1,
) -> tuple[Table, IntArray | None]:
    """The data as one table, and where it came as two data sets, which half every row belongs to."""
    words = [*([config.reference] if config.reference_kind == "group" else []), *config.groups_of_interest]
    needed = None if words else roles.needed
    reading = reading_of(roles, mentioned(words), memory_limit, query, threads, search=config.search)
    if config.split == "own":
        table, half = load_halves(data, needed, reading)
        return with_kinds(table, roles), half
    return with_kinds(load(data, needed, reading), roles), None


def arrange(table: Table, half: IntArray | None, roles: Roles, config: AuditConfig, rules: GrowthRules) -> Prepared:
    """The coded data, with the groups in words that the settings name."""
    reference = Criterion.parse(config.reference, table) if config.reference_kind == "group" else None
    named = [Criterion.parse(text, table) for text in config.groups_of_interest]
    for criterion in (*named, *(() if reference is None else (reference,))):
        for condition in criterion:
            if condition.attribute in roles.outcome_columns:
                raise SettingError(
                    f"the group {str(criterion)!r} is described by {condition.attribute!r}, which is what is audited: "
                    "its members differ in that by definition"
                )
    least = minimum_rows(rules, config.fraction) if config.search and config.split == "random" else 1
    prepared = prepare(
        table,
        roles,
        joint_cells(config),
        least,
        half=half,
        reference=reference,
        named=named,
        search=config.search,
    )
    if config.search and prepared.data.design.half is not None:
        first, second = (int(prepared.data.counts[prepared.data.design.half == half].sum()) for half in (0, 1))
        check_halves(first, second, minimum_rows(rules) // 2)
    return prepared


def assess_named(prepared: Prepared, asked: Sequence[Question], config: AuditConfig) -> tuple[Finding, ...]:
    """The groups of interest, for every question, tested on all data with a correction of their own."""
    masks = prepared.whole.design.named
    if not masks:
        return ()
    terms = replace(assessment_terms(config), exact=True)
    views = [question.view(prepared.whole) for question in asked]
    found = [assess_masks(masks, view, question.notion, terms) for question, view in zip(asked, views, strict=True)]
    intervals = [one.intervals(config.level) for one in found]
    corrected = joined(found, config.adjust).log_p_adjusted.reshape(len(asked), len(masks))
    found = [replace(one, log_p_adjusted=log_p) for one, log_p in zip(found, corrected, strict=True)]
    again = finer.of_named(masks, views, asked, found, prepared.strata, config)
    return tuple(
        finding(
            prepared.named[i],
            found[q],
            i,
            question.cell_names,
            level=config.level,
            intervals=intervals[q],
            unadjusted=intervals[q],
            place=i,
            outcome=question.outcome if len(config.outcomes) > 1 else None,
            finer=again[q][i],
            **design_details(masks[i], views[q], question.notion, config, prepared.strata),
        )
        for i in range(len(masks))
        for q, question in enumerate(asked)
    )


def _without_search(
    digest: str | None, prepared: Prepared, asked: Sequence[Question], config: AuditConfig, named: tuple[Finding, ...]
) -> Audit:
    return Audit(
        config=config,
        data_summary=_with_warnings(replace(prepared.summary, rows_assess=prepared.summary.rows), named, config),
        groups=(),
        named=named,
        forest=Forest.joined([], len(asked[0].cell_names)),
        detectable=(),
        p_any=1.0,
        _details=Details(),
        input_sha256=digest,
        _candidates=(),
        significant=(),
    )


def _details_of(split: Split, config: AuditConfig) -> Details:
    """What reports show beyond the findings, and the trees of listed groups as D2 sees them."""
    trees = listed_trees(split, [PeopleInMemory(answer.d2) for answer in split.answers])
    return replace(details(_subjects(split, config), assessment_terms(config)), trees=trees)


def _subjects(split: Split, config: AuditConfig) -> list[Subject]:
    """The listed groups with what a report needs to show them."""
    places, criteria, several = split.places, split.criteria, len(config.outcomes) > 1
    answers = [split.answers[places[i][0]] for i in split.chosen.tolist()]
    return [
        Subject(
            criterion=criteria[i],
            before=tuple(answer.proposed.criteria[: places[i][1]]) if config.explores else (),
            notion=answer.question.notion,
            outcome=answer.question.outcome if several else None,
            people=PeopleInMemory(answer.d2),
        )
        for i, answer in zip(split.chosen.tolist(), answers, strict=True)
    ]


def _with_halves(summary: DataSummary, split: Split, config: AuditConfig) -> DataSummary:
    """The summary with the sizes of both halves, and a warning where nothing could be tested."""
    strata = None if split.strata is None else len(split.strata)
    warnings = (*summary.warnings, *untested(split, config))
    summary = replace(summary, rows_search=split.d1.total, rows_assess=split.d2.total, strata=strata, warnings=warnings)
    if split.d1.design.clusters is None or split.d2.design.clusters is None:
        return summary
    clusters = [len(np.unique(half)) for half in (split.d1.design.clusters, split.d2.design.clusters)]
    return replace(summary, clusters_search=clusters[0], clusters_assess=clusters[1])


def _with_warnings(summary: DataSummary, findings: Sequence[Finding], config: AuditConfig) -> DataSummary:
    """The summary with what is to be said of findings that finer strata end."""
    return replace(summary, warnings=(*summary.warnings, *finer.warnings(findings, config)))


def _detectable(split: Split, config: AuditConfig) -> tuple[Detectable, ...]:
    """What the tests could have seen, for every question."""
    out: list[Detectable] = []
    for answer in split.answers:
        d2, notion = answer.d2, answer.question.notion
        reference = d2.design.reference
        out += detectable(
            d2.cell_counts(),
            notion,
            assessment_terms(config),
            split.tested,
            known=known(d2, RateCounter(notion.rates, d2.n_cells)),
            reference=None if reference is None else d2.with_counts(np.where(reference, d2.counts, 0)).cell_counts(),
            outcome=answer.question.outcome if len(config.outcomes) > 1 else None,
        )
    return tuple(out)


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
