"""The audit, step by step: load, split, grow, assess, rank."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ald._core.arrays import IntArray
from ald._core.threads import available_threads
from ald.assess.assessment import assess_masks
from ald.assess.power import Detectable, detectable
from ald.data.columns import as_word
from ald.data.inputs.fingerprint import Seen, seen
from ald.data.inputs.memory import parse_size
from ald.data.inputs.reading import ManyCellsError, reading_of
from ald.data.inputs.sources import load, load_halves
from ald.data.prepare import DataSummary, Prepared, prepare, with_kinds
from ald.data.roles import Roles
from ald.data.table import Table
from ald.errors import SettingError
from ald.groups.criterion import Criterion, visible
from ald.groups.language import mentioned
from ald.groups.tree import Forest
from ald.notions import Notion, RateCounter
from ald.options import AuditConfig, check_threads, several
from ald.pipeline import (
    Progress,
    Split,
    assessment_terms,
    check_halves,
    listed_trees,
    minimum_rows,
    one_split,
    p_any,
    stability,
    untested,
)
from ald.profiles import Profile, count_profile
from ald.questions import Question, joint_cells, questions
from ald.ranking import joined
from ald.results import finer
from ald.results.candidates import Results, design_details
from ald.results.details import Details, PeopleInMemory, Subject, details
from ald.results.finding import Finding, finding
from ald.search.adapting import design_effect
from ald.search.forest.growth import GrowthRules

if TYPE_CHECKING:
    from ald.remote.distributed import Distributed
    from ald.report.summary import Report
    from ald.report.svg import Picture


def audit(
    data: Any = None,
    *,
    outcome: str | Sequence[str] | None = None,
    favourable: Any = None,
    prediction: str | None = None,
    truth: str | None = None,
    attributes: Sequence[str] | None = None,
    exclude: str | Sequence[str] = (),
    weights: str | None = None,
    survey_weights: str | None = None,
    kinds: Mapping[str, str | Sequence[str]] | None = None,
    given: str | Sequence[str] = (),
    given_in_criteria: bool = False,
    given_bins: int | None = None,
    cluster: str | None = None,
    split: Any = "random",
    fraction: float = 0.5,
    direction: str = "both",
    reference: str | Criterion = "rest",
    groups_of_interest: str | Criterion | Sequence[str | Criterion] = (),
    notion: str | Notion | Sequence[str | Notion] = "statistical parity",
    ranking: str = "confidence",
    groups: int = 3,
    trees: int = 25,
    alpha: float = 0.1,
    level: float = 0.05,
    adjust: str = "bh",
    preset: str | None = None,
    method: str | None = None,
    explore: bool = True,
    threshold: float = 0.0,
    repeats: int = 1,
    seed: int = 0,
    profile: str | None = None,
    profile_columns: Mapping[str, str] | None = None,
    threads: int | None = None,
    memory_limit: str | int | None = None,
    query: str | None = None,
    engine: str | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Locates the groups of people with disparate outcomes.

    data: a path (CSV, TSV, also .gz and .zst, Parquet, JSON lines), a DataFrame of any library that Narwhals knows
        (those of Spark, Dask and databases are counted where they are), a dictionary of arrays, or the address of a
        PostgreSQL database (with `query`).
    outcome, favourable: the column to audit, and the value of it that is good for people. Of 0/1 and true/false it need
        not be said: then 1 and true are counted, and reports do not claim that they are good. Several columns are
        audited together, and `favourable` may then be a dictionary. Or:
    prediction, truth: two columns with the same coding. `favourable`, or else 1 or true, is the positive value of both:
        a false positive is predicted to be that, and is not.
    attributes: the columns that may describe groups; by default all others.
    exclude: columns that are left out.
    weights: a column that says how many people a row stands for (whole numbers: a table of counts).
    survey_weights: a column of survey weights: rates and tests are then those of the population.
    kinds: overrides per column: "numeric", "nominal", "boolean", "ordinal", or the list of levels, lowest first.
    given: legitimate factors. People are compared with others of the same stratum only; numbers are cut into classes
        (`given_bins`). Groups are not described by these columns unless `given_in_criteria` is true.
    cluster: a column that says whom a row is about, where people have several rows. Halves and samples are drawn by
        person, and tests do not take the rows of a person for independent.
    split: "random"; or a column with two values that says which rows are searched (the lower one) and which ones test;
        or two data sets, such as (last_year, this_year), instead of `data`.
    fraction: the share of people (random halves only) on whom groups are searched.
    direction: "disadvantaged" or "advantaged" to look for such groups only, by one-sided tests; needs `favourable`. Of
        several rates each is tested in that direction, and at least one must differ in it.
    reference: compare groups with the "rest" (everyone else), with "all", or with a group in words.
    groups_of_interest: groups in words, such as "sex = F and age > 60": tested on all data, as a family of their own.
    notion: a name from `ald.NOTIONS` or your own `ald.Notion`; several are audited together, with one correction.
    ranking: "confidence" (smallest p first) or "magnitude" (largest |psi| first).
    groups, trees: how many groups to list, and how many trees to grow.
    alpha: a node splits while its best attribute has p < alpha.
    level: a group is listed if its corrected p-value is at most this; intervals have confidence 1 - level.
    adjust: the correction for the number of candidates: "bh", "by", "bonferroni" or "none".
    preset: "paper" for the search of the 2023 paper; None for ours.
    method: another system's search (`ald.baselines.SYSTEMS`): what it proposes on D1 is tested on D2 all the same.
    explore: False tests every leaf of the forest instead of a list without repetition (so always in the paper's
        search).
    threshold: the largest |psi| that is acceptable; groups are listed if theirs is significantly larger.
    repeats: random halvings; with more than one, findings say how many of them list an equivalent group.
    seed: same seed, same result, whatever the number of threads.
    profile: also count what a law asks for: "nyc-ll144" or "eu-ai-act" (docs/profiles.md).
    profile_columns: the columns of the profile's categories, such as {"sex": "gender", "race": "ethnicity"}.
    memory_limit: memory to use, such as "4GB": larger data is reduced to counts first, or kept on disk.
    query: what to select, if `data` is the address of a database: ald.audit("postgresql://...", query="select ...").
    engine: who reads the file and counts: "spark", the address of a Spark master (spark://host:7077), or "dask".
    progress: called with the name of the step and the share of it that is done; from any thread, one call at a time.

    >>> import ald
    >>> found = ald.audit(ald.datasets.load_berkeley(), outcome="admitted", favourable="yes")
    >>> found.groups[0].criterion
    <Criterion department in {A, B}>
    """
    return _audit(**locals(), search=True)


def assess(
    data: Any,
    groups: str | Criterion | Sequence[str | Criterion],
    *,
    outcome: str | Sequence[str] | None = None,
    favourable: Any = None,
    prediction: str | None = None,
    truth: str | None = None,
    weights: str | None = None,
    survey_weights: str | None = None,
    kinds: Mapping[str, str | Sequence[str]] | None = None,
    given: str | Sequence[str] = (),
    given_bins: int | None = None,
    cluster: str | None = None,
    direction: str = "both",
    reference: str | Criterion = "rest",
    notion: str | Notion | Sequence[str | Notion] = "statistical parity",
    level: float = 0.05,
    adjust: str = "bh",
    threshold: float = 0.0,
    memory_limit: str | int | None = None,
    query: str | None = None,
    engine: str | None = None,
) -> Audit:
    """Tests groups that you name, on all data, without any search. The options are those of `ald.audit`.

    groups: in words, such as ["sex = F and age > 60"]. The result has them as `named`, in the order given.

    >>> import ald
    >>> asked = ald.assess(ald.datasets.load_berkeley(), "gender = female", outcome="admitted", favourable="yes")
    >>> asked.named[0]
    <Finding gender = female: psi -0.142, 1,835 people, adjusted p = 7.8e-22>
    """
    given_options = locals() | {"groups_of_interest": groups, "search": False}
    del given_options["groups"]
    return _audit(**given_options)


def _audit(
    *,
    data: Any,
    search: bool,
    attributes: Sequence[str] | None = None,
    exclude: str | Sequence[str] = (),
    split: Any = "random",
    profile: str | None = None,
    profile_columns: Mapping[str, str] | None = None,
    threads: int | None = None,
    memory_limit: str | int | None = None,
    query: str | None = None,
    engine: str | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Audit:
    """Roles and settings from the options of `audit` and `assess`."""
    check_threads(threads)
    if isinstance(attributes, str):
        raise SettingError(f"attributes must be a list of column names, such as [{attributes!r}], not a text")
    if not isinstance(split, str):
        data, split = _own_data(data, split), "own"
    if engine is not None:
        from ald.remote.engines.opening import opened

        if progress is not None:
            progress("load", 0.0)
        data = tuple(opened(half, engine, query) for half in data) if split == "own" else opened(data, engine, query)
    outcome, favourable = options.pop("outcome"), options.pop("favourable")
    if outcome is not None and not isinstance(outcome, str):
        outcome = tuple(outcome) if isinstance(outcome, Sequence) else outcome
    given = options.pop("given")
    roles = Roles(
        outcome=outcome,
        favourable=favourable,
        attributes=None if attributes is None else tuple(attributes),
        exclude=tuple(dict.fromkeys(several(exclude))),
        given=several(given),
        split=None if split in ("random", "own") else split,
        weights=options.pop("weights"),
        kinds=options.pop("kinds"),
        directed=options["direction"] != "both",
        **{name: options[name] for name in _ROLES if name in options},
    )
    for name in ("reference", "groups_of_interest"):
        if name in options:
            options[name] = _words(options[name])
    config = AuditConfig(
        outcome=outcome,
        favourable=_favourable_words(favourable, several(outcome)),
        given=roles.given,
        split=split,
        search=search,
        **options,
    )
    limit = parse_size(memory_limit)
    if query is not None and not isinstance(query, str):
        raise SettingError(f"query must be a text such as 'select * from decisions', not {type(query).__name__}")
    parts = data if split == "own" else (data,)
    file = None if split == "own" else seen(data)
    counted = count_profile(parts, roles, joint_cells(config), profile, profile_columns, limit, query)
    audited = run(data, roles, config, threads=threads, progress=progress, memory_limit=limit, query=query, file=file)
    return replace(audited, profile=counted)


_ROLES = ("prediction", "truth", "survey_weights", "given_in_criteria", "given_bins", "cluster")


def _own_data(data: Any, halves: Any) -> tuple[Any, Any]:
    if not isinstance(halves, Sequence) or len(halves) != 2:
        raise SettingError(
            'split must be "random", the name of a column, or two data sets (for the search, for the assessment), not '
            f"{type(halves).__name__}"
        )
    if data is not None:
        raise SettingError("give the data, or two data sets as split=(for the search, for the assessment); not both")
    return halves[0], halves[1]


def _words(value: Any) -> Any:
    """Criteria as text: they are read again with the data's columns at hand."""
    if isinstance(value, Criterion):
        return str(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(_words(one) for one in value)
    return value


def _favourable_words(favourable: Any, outcomes: Sequence[str]) -> str | tuple[str | None, ...] | None:
    if isinstance(favourable, Mapping):
        return tuple(_favourable_words(favourable.get(name), ()) for name in outcomes)  # type: ignore[misc]
    return None if favourable is None else as_word(favourable)


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
    return tuple(
        entry
        for answer in split.answers
        for entry in detectable(
            answer.d2.cell_counts(),
            answer.question.notion,
            min(1.0, config.level * (2 if config.sign else 1)),
            split.tested,
            threshold=config.threshold,
            effect=design_effect(answer.d2, RateCounter(answer.question.notion.rates, answer.d2.n_cells)),
            outcome=answer.question.outcome if len(config.outcomes) > 1 else None,
        )
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Audit:
    """The result of an audit.

    groups: the listed findings, best first: groups with a significant disparity. May be empty.
    named: the groups of interest, in the order given, whatever was found of them.
    candidates: every group that was tested, in ranked order.
    significant: the places of all significant groups among the candidates, the listed ones first.
    config, data_summary: what was asked, and what was audited (with columns left out and warnings).
    forest: the search trees.
    detectable: what the audit could have seen, by share of people.
    p_any: one p-value for "is there any disparity at all", over all halvings.
    details: listed groups without one of their conditions, and rates along the attributes that they use.
    input_sha256: the fingerprint of the file that was audited; None for other data, and of an audit read from JSON.
    profile: what a law asks to be counted, if that was asked for.
    """

    config: AuditConfig
    data_summary: DataSummary
    groups: tuple[Finding, ...]
    named: tuple[Finding, ...]
    forest: Forest
    detectable: tuple[Detectable, ...]
    p_any: float
    significant: tuple[int, ...]
    input_sha256: str | None = None
    profile: Profile | None = None
    _candidates: Results | tuple[Finding, ...] = field(repr=False)
    # Or how to count them, when somebody asks.
    _details: Details | Callable[[], Details] = field(repr=False)

    def __post_init__(self) -> None:
        for group in (*self.groups, *self.named):
            group.at_home(self)

    @cached_property
    def details(self) -> Details:
        return self._details() if callable(self._details) else self._details

    @cached_property
    def candidates(self) -> tuple[Finding, ...]:
        found = self._candidates.ranked() if isinstance(self._candidates, Results) else self._candidates
        return tuple(finding.at_home(self) for finding in found)

    def first_candidates(self, n: int) -> tuple[Finding, ...]:
        """The first candidates in ranked order, without writing out all others."""
        if not isinstance(self._candidates, Results) or "candidates" in self.__dict__:
            return self.candidates[:n]
        first = self._candidates.at(range(min(n, len(self._candidates))))
        return tuple(finding.at_home(self) for finding in first)

    @property
    def n_further(self) -> int:
        """How many groups are significant too, and not listed because there are more than `groups`."""
        return len(self.significant) - len(self.groups)

    def further(self, most: int | None = None) -> tuple[Finding, ...]:
        """The significant groups that are not listed, best first; of many no more than `most`."""
        places = self.significant[len(self.groups) :][:most]
        if not isinstance(self._candidates, Results) or "candidates" in self.__dict__:
            return tuple(self.candidates[place] for place in places)
        return tuple(finding.at_home(self) for finding in self._candidates.at(places))

    @property
    def n_candidates(self) -> int:
        """How many groups the search proposed."""
        return len(self._candidates)

    @property
    def n_tested(self) -> int:
        """How many of them could be tested."""
        if isinstance(self._candidates, Results):
            return self._candidates.split.tested
        return sum(finding.p_adjusted is not None for finding in self._candidates)

    @property
    def notion(self) -> Notion:
        """The notion, or the first of several."""
        return self.config.notions[0]

    def notion_of(self, finding: Finding) -> Notion:
        """The notion that a finding was assessed for."""
        return next(notion for notion in self.config.notions if notion.name == finding.notion)

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.data_summary.warnings

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Audit) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        n = len(self.groups)
        of = f"{len(self.significant):,} significant and " if self.n_further else ""
        return (
            f"<Audit for {visible(self.notion.name)}: {n} group{'' if n == 1 else 's'} listed of {of}"
            f"{self.n_tested:,} tested on {self.data_summary.rows_assess:,} people. print(audit) shows them, "
            "audit.save('audit.html') writes the report; see .groups, .to_frame(), .to_json()>"
        )

    def __str__(self) -> str:
        from ald.report.text import to_text

        return to_text(self)

    def report(self) -> Report:
        """The audit in words, numbers and tables, as every format shows it."""
        from ald.report.law import with_profile
        from ald.report.summary import summarise

        return with_profile(summarise(self))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the report; its format is that of the file's ending, such as .html, .md or .json."""
        from ald.report.files import check_target, write_report

        check_target(os.fspath(path))
        write_report(self, os.fspath(path))

    def plot_tree(self, finding: Finding, levels: int | None = 3) -> Picture:
        """The search tree of a finding as a picture (SVG), down to some levels; None for all."""
        from ald.report.notebook import plot_tree

        return plot_tree(self, finding, levels)

    def _repr_html_(self) -> str:
        from ald.report.notebook import audit_html

        return audit_html(self)

    def finding_html(self, finding: Finding) -> str:
        """A finding as notebooks show it."""
        from ald.report.notebook import finding_html

        return finding_html(self, finding)

    def to_frame(self, backend: str | None = None) -> Any:
        """The listed groups as a DataFrame: pandas, or the first installed of pandas, Polars and PyArrow."""
        from ald.report.frame import to_frame

        return to_frame(self, backend)

    def to_dict(self) -> dict[str, Any]:
        """The whole audit as plain data in the documented schema (docs/schema.md)."""
        from ald.results.document import audit_to_dict

        return audit_to_dict(self)

    def to_reduced_dict(self, candidates: int) -> dict[str, Any]:
        """The audit as plain data, with some candidates and the trees of listed groups only: what fits on a page."""
        from ald.results.document import reduced_to_dict

        return reduced_to_dict(self, candidates)

    def to_json(self) -> str:
        """The whole audit as JSON. Same audit, same bytes."""
        from ald.results.document import audit_to_json

        return audit_to_json(self)

    @classmethod
    def from_json(cls, text: str | bytes) -> Audit:
        """The audit that `to_json` wrote."""
        from ald.results.document import audit_from_json

        return audit_from_json(text)

    def to_markdown(self, heading: int = 1) -> str:
        """The report as Markdown, for model cards and pull requests; `heading` is the level of its title."""
        from ald.report.markdown import to_markdown

        return to_markdown(self.report(), heading)

    def to_html(self) -> str:
        """The report as one HTML page that needs nothing else."""
        from ald.report.html import to_html

        return to_html(self.report())

    def to_pdf(self) -> bytes:
        """The report as a PDF document (PDF/A-2b, PDF/UA-1); needs the extra `pdf`. Same audit, same bytes."""
        from ald.report.pdf import to_pdf

        return to_pdf(self.report())

    def to_excel(self) -> bytes:
        """The findings, all candidates and the settings as an Excel workbook; needs the extra `excel`."""
        from ald.report.excel import to_excel

        return to_excel(self.report())

    def to_csv(self) -> str:
        """The listed groups as CSV, safe to open in a spreadsheet."""
        from ald.report.csv import to_csv

        return to_csv(self)
