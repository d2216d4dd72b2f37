"""The audit, step by step: load, split, grow, assess, rank, report; or load, search, list, report with everyone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ald._core.arrays import FloatArray, IntArray
from ald._core.threads import available_threads
from ald.assess.assessment import Assessment, Terms, assess, assess_in_order, assessment_terms
from ald.assess.power import Detectable, detectable, detectable_means, known
from ald.assess.together import Combination, assess_together
from ald.data.asked import amount_asked, with_positions
from ald.data.classes import classes_asked
from ald.data.coded import AuditData
from ald.data.inputs.fingerprint import Seen
from ald.data.inputs.reading import reading_of
from ald.data.inputs.sources import load, load_halves, load_or_leave
from ald.data.prepare import DataSummary, Prepared, check_halves, check_rows, prepare, with_kinds
from ald.data.roles import Roles
from ald.data.scores import score_asked
from ald.data.table import Table
from ald.errors import SettingError
from ald.everyone import Answered, Listed, list_all, search_all
from ald.groups.criterion import Criterion
from ald.groups.language import find_mentioned
from ald.groups.rules import Candidates
from ald.groups.tree import CodedCriterion, Forest
from ald.groups.wording import readable
from ald.notions import Mean, RateCounter
from ald.options import AuditConfig
from ald.questions import Question, joint_cells, questions
from ald.results import finer
from ald.results.audit import Audit
from ald.results.candidates import Results
from ald.results.details import Details
from ald.results.finding import Finding
from ald.results.giveaways import list_giveaways
from ald.results.halving import Answer, Halving, rank_answers
from ald.results.listed import listed_in_d1
from ald.results.mode import HALVES, NAMED, Mode
from ald.results.privacy import check_named, hide_groups, hide_in_summary
from ald.results.stability import p_any
from ald.rows.local import LocalRows
from ald.rows.protocols import D2View, Halves, Rows
from ald.search.explore.scoring import smallest_group
from ald.search.forest.rules import GrowthRules, minimum_rows
from ald.search.pool import pool_note
from ald.search.proposing import why_none

if TYPE_CHECKING:
    from ald.remote.lazy import RemoteTable

Progress = Callable[[str, float], None]
# With split="auto" people are split where people times attributes are more.
EVERYONE = 200_000


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
    halvings, say = list[Halving](), progress or _say_nothing
    say("load", 0.0)
    with load_rows(data, roles, config, threads or available_threads(), memory_limit, query, file) as rows:
        config = rows.config
        asked = questions(config)
        named = rows.assess_named(asked)
        mode = decide(rows, config)
        if mode.is_everyone:
            whole = rows.read_all()
            answered = search_all(whole, asked, config, say)
            listed = list_all(whole, answered, config, say)
            return report_everyone(rows, asked, answered, named, listed, config, say)
        for repeat in range(config.repeats if config.searches else 0):
            tell = say if config.repeats == 1 else partial(_say_repeat, say, repeat / config.repeats)
            halves, seed = split(rows, config, repeat)
            grown = grow(halves, asked, config, seed, tell)
            answers = assess_groups(grown, config, tell)
            halvings.append(rank_groups(grown.halves, answers, config, tell))
        return report(rows, asked, named, halvings, config, mode, say)


def decide(rows: Rows, config: AuditConfig) -> Mode:
    """Whether people are split; with split="auto" everyone is searched and tested where that is quick, and possible."""
    if not config.searches:
        return NAMED
    if config.split != "auto":
        return Mode(name="everyone") if config.split == "none" else HALVES
    large = f"people times attributes are more than {EVERYONE:,}" if rows.size > EVERYONE else ""
    reason = config.why_halves or large or rows.why_halves
    return Mode(name="halves", reason=reason) if reason else Mode(name="everyone")


@dataclass(frozen=True, kw_only=True, eq=False)
class Grown:
    """What D1 suggested: a forest and the groups to test for every question, and the halves that can tell them."""

    halves: Halves
    proposals: tuple[tuple[Question, Forest, Candidates], ...]


@contextmanager
def load_rows(
    data: Any,
    roles: Roles,
    config: AuditConfig,
    threads: int,
    memory_limit: int | None = None,
    query: str | None = None,
    file: Seen | None = None,
) -> Iterator[Rows]:
    """LOAD: the data as coded rows, in memory or where they are; these are given back in the end."""
    found, half = read(data, roles, config, memory_limit, query, threads)
    if isinstance(found, Table):
        check_rows(found)
        found = with_positions(found, roles)
        config = config.of_amounts(_mean_asked(found, roles, config))
        config = replace(config, classes=classes_asked(found, roles))
        sha256 = None if file is None else file.sha256()
        prepared = arrange(found, half, roles, config)
        yield LocalRows(
            prepared=prepared, config=config, threads=threads, memory_limit=memory_limit, input_sha256=sha256
        )
        return
    from ald.remote.distributed import remote_rows

    if roles.score is not None:
        raise SettingError(
            f"score {roles.score!r}: means are added up in memory only, while this data stays where it is. Give fewer "
            "attributes or more memory_limit."
        )
    with remote_rows(found, roles, config.of_amounts(None), threads) as rows:
        yield rows


def _mean_asked(table: Table, roles: Roles, config: AuditConfig) -> Mean | None:
    """The mean that is compared, if the outcome is a number or a score."""
    return amount_asked(table, roles) if config.mean is None else score_asked(table, roles, config.mean)


def read(
    data: Any,
    roles: Roles,
    config: AuditConfig,
    memory_limit: int | None = None,
    query: str | None = None,
    threads: int = 1,
) -> tuple[Table | RemoteTable, IntArray | None]:
    """The data as one table, and where it came as two data sets, which half every row belongs to."""
    words = [*([config.reference] if config.reference_kind == "group" else []), *config.named_groups]
    needed = None if words else roles.needed
    reading = reading_of(roles, find_mentioned(words), memory_limit, query, threads, search=config.searches)
    if config.split == "own":
        table, half = load_halves(data, needed, reading)
        return with_kinds(table, roles.kinds, roles.taken), half
    found = load_or_leave(data, needed, reading) if config.searches else load(data, needed, reading)
    return with_kinds(found, roles.kinds, roles.taken) if isinstance(found, Table) else found, None


def arrange(table: Table, half: IntArray | None, roles: Roles, config: AuditConfig) -> Prepared:
    """The coded data, with the groups in words that the settings name."""
    reference = Criterion.parse(config.reference, table) if config.reference_kind == "group" else None
    named = [Criterion.parse(text, table) for text in config.named_groups]
    for criterion in (*named, *(() if reference is None else (reference,))):
        for condition in criterion:
            if condition.attribute in roles.outcome_columns:
                raise SettingError(
                    f"the group {readable(criterion)!r} is described by {condition.attribute!r}, which is what is "
                    "audited: its members differ in that by definition"
                )
    rules = GrowthRules(alpha=config.alpha)
    least = 1
    if config.draws_halves:
        least = minimum_rows(rules, config.fraction)
    elif config.searches and not config.has_own_split:
        least = 2 * smallest_group(0)
    prepared = prepare(
        table,
        roles,
        joint_cells(config),
        least,
        half=half,
        reference=reference,
        named=named,
        search=config.searches,
        mean=config.mean,
        classes=config.classes,
    )
    design = prepared.whole.design
    marks = [("named group", criterion, member) for criterion, member in zip(named, design.named, strict=True)]
    if reference is not None and design.reference is not None:
        marks.append(("reference", reference, design.reference))
    check_named(marks, prepared.whole, config)
    if config.searches and prepared.data.design.half is not None:
        first, second = (int(prepared.data.counts[prepared.data.design.half == half].sum()) for half in (0, 1))
        check_halves(first, second, minimum_rows(rules) // 2)
    return prepared


def seeds_of(config: AuditConfig, repeat: int) -> tuple[np.random.SeedSequence, np.random.SeedSequence]:
    """Of a halving, and of the forests on its D1. The first halving is the one that is reported."""
    halves, forests = np.random.SeedSequence(config.seed, spawn_key=(1000 + repeat,) if repeat else ()).spawn(2)
    return halves, forests


def split(rows: Rows, config: AuditConfig, repeat: int) -> tuple[Halves, np.random.SeedSequence]:
    """SPLIT: D1 and D2, and the seed of the forests on D1."""
    halves, forests = seeds_of(config, repeat)
    return rows.halves(halves), forests


def grow(
    halves: Halves, asked: Sequence[Question], config: AuditConfig, seed: np.random.SeedSequence, tell: Progress
) -> Grown:
    """GROW: for every question a forest on D1, and the groups that it leads to."""
    proposals = []
    for number, question in enumerate(asked):

        def progress(share: float, number: int = number) -> None:
            tell("search", (number + share) / len(asked))

        progress(0.0)
        proposals.append((question, *halves.propose(question, seed.spawn(config.trees), progress)))
    return Grown(halves=halves.extend([proposed for *_, proposed in proposals]), proposals=tuple(proposals))


def assess_groups(grown: Grown, config: AuditConfig, tell: Progress) -> list[Answer]:
    """ASSESS: every group that was proposed, tested on D2."""
    answers, terms, threads = [], assessment_terms(config), grown.halves.threads
    for number, (question, forest, proposed) in enumerate(grown.proposals):
        tell("assess", number / len(grown.proposals))
        d2 = grown.halves.view_d2(question)
        if config.explores:
            people, criteria = d2.memberships(proposed.criteria)
            assessment = assess_in_order(criteria, people, question.notion, terms, threads=threads)
        else:
            leaves = d2.leaves(proposed)
            assessment = assess(proposed.criteria, d2.data, question.notion, terms, leaves=leaves, threads=threads)
        if config.explores and config.ranking == "magnitude":
            expected = expected_signs(proposed.criteria, grown.halves.view_d1(question), question, config)
            assessment = replace(assessment, expected=expected)
        answers.append(
            Answer(
                question=question,
                d2=d2.data,
                forest=forest,
                proposed=proposed,
                assessment=assessment,
                overlaps=d2.overlaps(proposed),
                giveaways=assess_giveaways(proposed, d2, question, terms) if proposed.giveaways else None,
                together=assess_combinations(proposed, d2, question, config, number) if config.combines else (),
            )
        )
    return answers


def assess_combinations(
    proposed: Candidates, d2: D2View, question: Question, config: AuditConfig, number: int
) -> tuple[Combination | None, ...]:
    """Per group of two or three attributes whether these matter together, given the groups before it."""
    people = d2.jointly([(criterion, proposed.criteria[:i]) for i, criterion in enumerate(proposed.criteria)])
    return tuple(
        None if one is None else assess_together(one, question.notion, config.sign, (config.seed, number, i))
        for i, one in enumerate(people)
    )


def assess_giveaways(proposed: Candidates, d2: D2View, question: Question, terms: Terms) -> Assessment:
    """Each of the conditions that give the outcome away, tested by itself."""
    people, criteria = d2.memberships(proposed.giveaways)
    return assess(criteria, people, question.notion, terms)


def expected_signs(
    criteria: Sequence[CodedCriterion], d1: AuditData, question: Question, config: AuditConfig
) -> FloatArray:
    """The signs of the differences on D1: what D2 shows in their direction is not biased, as the absolute value is."""
    found = assess_in_order(criteria, d1, question.notion, assessment_terms(config))
    return np.sign(np.nan_to_num(found.differences))


def rank_groups(halves: Halves, answers: Sequence[Answer], config: AuditConfig, tell: Progress) -> Halving:
    """RANK: all groups in order, with one correction, and those that are listed."""
    tell("rank", 0.0)
    return rank_answers(halves.d1, halves.d2, answers, config, halves.strata)


def report(
    rows: Rows,
    asked: Sequence[Question],
    named: tuple[Finding, ...],
    halvings: Sequence[Halving],
    config: AuditConfig,
    mode: Mode,
    say: Progress,
) -> Audit:
    """REPORT: what was found. The first halving is the one that is reported."""
    if not halvings:
        summary = replace(rows.summary, rows_assess=rows.summary.rows)
        return Audit(
            config=config,
            mode=mode,
            data_summary=_with_warnings(summary, named, config),
            giveaways=(),
            groups=(),
            named_groups=named,
            forest=Forest.concatenate([], len(asked[0].cell_names)),
            _detectable=(),
            p_any=1.0,
            _details=Details(),
            _gaps=rows.gaps(asked),
            input_sha256=rows.input_sha256,
            _candidates=(),
            significant=(),
        )
    first, hidden = hide_groups(halvings[0], config)
    in_d1 = partial(rows.searched, first)
    results = Results(
        config=config,
        attributes=first.d1.attributes,
        split=first,
        stability=rows.stability([first, *halvings[1:]]),
        searched=listed_in_d1(first, in_d1),
    )
    groups = results.list_findings()
    summary = _with_warnings(_with_halves(rows.summary, first, config), (*groups, *named), config)
    details = rows.details(first)
    away, n_away = list_giveaways(first, config, in_d1)
    say("rank", 1.0)
    return Audit(
        config=config,
        mode=mode,
        data_summary=summary,
        hidden=replace(hidden, giveaways=n_away),
        giveaways=away,
        groups=groups,
        named_groups=named,
        forest=first.forest.with_attributes(first.d1.attributes),
        _detectable=partial(_detectable, first, config),
        p_any=p_any(halvings),
        _details=details,
        _gaps=rows.gaps(asked),
        input_sha256=rows.input_sha256,
        _candidates=results,
        significant=results.significant,
    )


def report_everyone(
    rows: Rows,
    asked: Sequence[Question],
    answered: Sequence[Answered],
    named: tuple[Finding, ...],
    listed: Listed,
    config: AuditConfig,
    say: Progress,
) -> Audit:
    """REPORT: what was found where nobody was kept apart for the tests."""
    untested = tuple(
        f"no group could be tested{_about(question, config)}: {why_none(data, question, config)}"
        for question, data, searched in answered
        if not searched.groups
    )
    summary = replace(rows.summary, rows_assess=rows.summary.rows, warnings=(*rows.summary.warnings, *untested))
    say("rank", 1.0)
    return Audit(
        config=config,
        mode=listed.mode,
        data_summary=_with_warnings(summary, (*listed.groups, *named), config),
        hidden=listed.hidden,
        giveaways=listed.giveaways,
        groups=listed.groups,
        named_groups=named,
        forest=Forest.concatenate([], len(answered[0][0].cell_names)),
        _detectable=listed.detectable,
        p_any=listed.p_any,
        _gaps=rows.gaps(asked),
        _details=listed.details,
        input_sha256=rows.input_sha256,
        _candidates=listed.candidates,
        significant=listed.significant,
    )


def _say_nothing(step: str, share: float) -> None:
    """Nobody asked how far the audit is."""


def _say_repeat(say: Progress, done: float, step: str, share: float) -> None:
    """Of several halvings, only how many are done."""
    say("repeat", done)


def _with_halves(summary: DataSummary, split: Halving, config: AuditConfig) -> DataSummary:
    """The summary with the sizes of both halves, and a warning where nothing could be tested."""
    strata = None if split.strata is None else len(split.strata)
    part = pool_note(len(split.d1.cells), config)
    warnings = (*summary.warnings, *part, *explain_untested(split, config), *skipped(split))
    summary = replace(summary, rows_search=split.d1.total, rows_assess=split.d2.total, strata=strata, warnings=warnings)
    if split.d1.design.clusters is None or split.d2.design.clusters is None:
        return summary
    clusters = [len(np.unique(half)) for half in (split.d1.design.clusters, split.d2.design.clusters)]
    return replace(summary, clusters_search=clusters[0], clusters_assess=clusters[1])


def _with_warnings(summary: DataSummary, findings: Sequence[Finding], config: AuditConfig) -> DataSummary:
    """The summary with what is to be said of findings that finer strata end, and without what is too small."""
    summary = hide_in_summary(summary, config)
    return replace(summary, warnings=(*summary.warnings, *finer.warnings(findings, config)))


def _detectable(split: Halving, config: AuditConfig) -> tuple[Detectable, ...]:
    """What the tests could have seen, for every question."""
    out: list[Detectable] = []
    for answer in split.answers:
        d2, notion = answer.d2, answer.question.notion
        if config.mean is not None:
            out += detectable_means(d2, notion, assessment_terms(config), split.tested)
            continue
        reference = d2.design.reference
        out += detectable(
            d2.cell_counts(),
            notion,
            assessment_terms(config),
            split.n_tests,
            known=known(d2, RateCounter(notion.rates, d2.n_cells)),
            reference=None if reference is None else d2.with_counts(np.where(reference, d2.counts, 0)).cell_counts(),
            outcome=answer.question.outcome if len(config.asked_outcomes) > 1 else None,
        )
    return tuple(out)


def explain_untested(split: Halving, config: AuditConfig) -> tuple[str, ...]:
    """Per question of which no group could be tested, a sentence that says why."""
    return tuple(
        f"no group could be tested{_about(answer.question, config)}: {_why(split.d1, answer, config)}"
        for answer in split.answers
        if np.isnan(answer.assessment.log_p).all()
    )


def skipped(split: Halving) -> tuple[str, ...]:
    """What the search did not look at, one sentence for all questions."""
    return tuple(dict.fromkeys(answer.proposed.skipped for answer in split.answers if answer.proposed.skipped))


def _about(question: Question, config: AuditConfig) -> str:
    """Which of several questions is meant; empty if there is one."""
    of = [question.outcome or ""] if len(config.asked_outcomes) > 1 else []
    of += [question.notion.name] if len(config.notions) > 1 else []
    return f" for {', '.join(of)}" if of else ""


def _why(d1: AuditData, answer: Answer, config: AuditConfig) -> str:
    """Why a question has no group with a test: the halves, the search, or what D2 shows of the groups proposed."""
    if len(answer.proposed):
        reasons = dict.fromkeys(answer.assessment.reason(i) for i in range(len(answer.proposed)))
        return f"in the half that was kept for the tests, {'; '.join(reasons)}"
    if answer.proposed.giveaways and len(answer.proposed.giveaways) == len(d1.attributes):
        return "every attribute gives the outcome away"
    return f"in the half that was searched, {why_none(answer.question.view(d1), answer.question, config)}"
