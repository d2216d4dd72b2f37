"""The audit, step by step: load, split, grow, assess, rank."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import ceil
from typing import Any

import numpy as np

from ald.arrays import IntArray
from ald.baselines.interface import propose
from ald.config import AuditConfig, check_threads
from ald.criterion import visible
from ald.data.coded import Attribute, AuditData
from ald.data.columns import as_word
from ald.data.prepare import DataSummary, Roles, prepare
from ald.data.sources import load
from ald.errors import SettingError
from ald.evaluation import Assessment, assess, assess_counts, assess_in_order
from ald.findings import Also, Finding, finding
from ald.notions import CELLS, ERROR, OUTCOME_CELLS, Notion, Rate, RateCounter
from ald.power import Detectable, detectable
from ald.ranking import listed, rank
from ald.search.derived import extended
from ald.search.growth import SAMPLE_SHARE, GrowthRules, grow_forest
from ald.search.membership import member_mask
from ald.search.representatives import correlation, nearest_nodes, representatives
from ald.search.rules import Candidates, candidates, decode, named
from ald.search.tree import CodedCriterion, Forest
from ald.statistics import adjust as adjust_p
from ald.statistics import rounded
from ald.threads import available_threads

Progress = Callable[[str, float], None]

# Groups whose memberships correlate at least this much are equivalent: the same finding in another halving.
EQUIVALENT = 0.8


def audit(
    data: Any,
    *,
    outcome: str | None = None,
    favourable: Any = None,
    prediction: str | None = None,
    truth: str | None = None,
    attributes: Sequence[str] | None = None,
    weights: str | None = None,
    kinds: Mapping[str, str | Sequence[str]] | None = None,
    notion: str | Notion = "statistical parity",
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
    threads: int | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Locates the groups of people with disparate outcomes.

    data: a path (CSV, TSV, also .gz and .zst, Parquet, JSON lines), a DataFrame of any library that Narwhals knows,
        or a dictionary of arrays.
    outcome, favourable: the column to audit and its favourable value (not needed for 0/1 and true/false). Or:
    prediction, truth: two columns with the same coding; `favourable` then is the positive value.
    attributes: the columns that may describe groups; by default all others.
    weights: a column that says how many people a row stands for.
    kinds: overrides per column: "numeric", "nominal", "boolean", "ordinal", or the list of levels, lowest first.
    notion: a name from `ald.NOTIONS` or your own `ald.Notion`.
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
    progress: called with the name of the step and the share of it that is done.

    >>> import ald
    >>> found = ald.audit(ald.datasets.load_berkeley(), outcome="admitted", favourable="yes")
    >>> found.groups[0].criterion
    <Criterion department in {A, B}>
    """
    check_threads(threads)
    if isinstance(attributes, str):
        raise SettingError(f"attributes must be a list of column names, such as [{attributes!r}], not a text")
    roles = Roles(
        outcome=outcome,
        favourable=favourable,
        prediction=prediction,
        truth=truth,
        attributes=None if attributes is None else tuple(attributes),
        weights=weights,
        kinds=kinds,
    )
    config = AuditConfig(
        notion=notion,  # type: ignore[arg-type]  # a name becomes its notion
        outcome=outcome,
        favourable=None if favourable is None else as_word(favourable),
        prediction=prediction,
        truth=truth,
        ranking=ranking,
        groups=groups,
        trees=trees,
        alpha=alpha,
        level=level,
        adjust=adjust,
        preset=preset,
        method=method,
        explore=explore,
        threshold=threshold,
        repeats=repeats,
        seed=seed,
    )
    return run(data, roles, config, threads=threads, progress=progress)


def run(
    data: Any,
    roles: Roles,
    config: AuditConfig,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Audit:
    """The audit with its settings in two objects. One line per step of the method."""
    say = progress or (lambda step, share: None)
    threads = threads or available_threads()
    rules = GrowthRules(alpha=config.alpha)
    cell_names = OUTCOME_CELLS if config.outcome is not None else CELLS

    say("load", 0.0)
    prepared = prepare(load(data, roles.needed), roles, cell_names, minimum_rows(rules))
    splits = [one_split(prepared.data, config, rules, repeat, threads, say) for repeat in range(config.repeats)]
    first = splits[0]
    summary = replace(prepared.summary, rows_search=first.d1.total, rows_assess=first.d2.total)
    results = Results(
        attributes=first.d1.attributes,
        cell_names=cell_names,
        split=first,
        level=config.level,
        also=overlaps(first.proposed, first.d2),
        stability=stability(splits, prepared.data) if config.repeats > 1 else {},
    )
    say("rank", 1.0)
    tested = int(np.count_nonzero(~np.isnan(first.assessment.log_p)))
    return Audit(
        config=config,
        data_summary=summary,
        groups=results.listed(selective=config.explores or config.method is not None),
        forest=first.forest.with_attributes(first.d1.attributes),
        detectable=detectable(first.d2.cell_counts(), config.notion, config.level, tested, threshold=config.threshold),
        p_any=p_any([split.assessment for split in splits]),
        _candidates=results,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Split:
    """Search, assessment and ranking for one random halving."""

    d1: AuditData
    d2: AuditData
    forest: Forest
    proposed: Candidates
    assessment: Assessment
    order: IntArray
    chosen: IntArray


def one_split(
    data: AuditData, config: AuditConfig, rules: GrowthRules, repeat: int, threads: int, say: Progress
) -> Split:
    """Steps 1 to 3 on one random halving: the first is the one that is reported."""
    sequence = np.random.SeedSequence(config.seed, spawn_key=(1000 + repeat,) if repeat else ())
    halves_seed, forest_seed = sequence.spawn(2)

    def step(name: str, share: float) -> None:
        say(name if config.repeats == 1 else "repeat", share if config.repeats == 1 else repeat / config.repeats)

    d1, d2 = data.halves(np.random.default_rng(halves_seed))

    step("search", 0.0)
    rngs = [np.random.default_rng(seed) for seed in forest_seed.spawn(config.trees)]
    rates = RateCounter(search_rates(config), d1.n_cells)
    if config.method is None:
        forest = grow_forest(d1, rates, rules, rngs, threads=threads, progress=lambda share: step("search", share / 2))
        if config.explores:
            proposed = representative_candidates(d1, rates, forest, config, lambda share: step("search", share))
        else:
            proposed = candidates(forest, d1)
    else:
        proposed, forest = propose(config.method, d1, rates, rngs[0], alpha=config.alpha)
        d1, d2 = (extended(half, proposed.derived) for half in (d1, d2))

    step("assess", 0.0)
    assessor = assess_in_order if config.explores else partial(assess, exact=config.method is not None)
    assessment = assessor(
        proposed.criteria,
        d2,
        config.notion,
        adjustment=config.adjust,
        level=config.level,
        threshold=config.threshold,
        threads=threads,
    )

    step("rank", 0.0)
    order = rank(assessment, proposed.criteria, d2.attributes, config.ranking)
    chosen = listed(assessment, order, config.level, config.groups)
    return Split(d1=d1, d2=d2, forest=forest, proposed=proposed, assessment=assessment, order=order, chosen=chosen)


def stability(splits: Sequence[Split], data: AuditData) -> dict[int, float]:
    """Per listed group of the first halving: the share of all halvings that list an equivalent group."""
    lists = [
        [member_mask(split.proposed.criteria[i], extended(data, split.proposed.derived)) for i in split.chosen.tolist()]
        for split in splits
    ]
    out = {}
    for i, mask in zip(splits[0].chosen.tolist(), lists[0], strict=True):
        found = [any(abs(correlation(mask, other, data.counts)) >= EQUIVALENT for other in others) for others in lists]
        out[i] = sum(found) / len(found)
    return out


def p_any(assessments: Sequence[Assessment]) -> float:
    """One p-value for "is there any disparity at all": twice the median over halvings of the Bonferroni minimum."""
    minima = [0.0]
    for assessment in assessments:
        adjusted = adjust_p(assessment.log_p, "bonferroni")
        minima.append(float(np.nanmin(adjusted)) if not np.isnan(adjusted).all() else 0.0)
    return (
        float(rounded(min(1.0, 2.0 * np.exp(np.median(minima[1:])))) or 0.0)
        if len(minima) > 2
        else float(rounded(np.exp(minima[1])) or 0.0)
    )


def search_rates(config: AuditConfig) -> tuple[Rate, ...]:
    """What the trees split on: the notion's own rates, or in the paper's search the error indicator."""
    if config.preset == "paper" and config.notion.needs_truth:
        return (ERROR,)
    return config.notion.rates


def representative_candidates(
    d1: AuditData, rates: RateCounter, forest: Forest, config: AuditConfig, progress: Callable[[float], None]
) -> Candidates:
    """The representatives as candidates, each with the forest's node that comes closest to it."""
    progress(0.5)
    paths = forest.criteria([attribute.size for attribute in d1.attributes])
    found = representatives(d1, rates, paths, config.groups, config.ranking)
    nearest = nearest_nodes([r.criterion for r in found], paths, d1)
    return Candidates(
        criteria=tuple(named(r.criterion, d1) for r in found),
        tree=tuple(forest.tree[nearest].tolist()),
        node=tuple(forest.node[nearest].tolist()),
        also=tuple(tuple(named(other, d1) for other in r.also) for r in found),
    )


def overlaps(proposed: Candidates, d2: AuditData) -> dict[int, tuple[tuple[CodedCriterion, int, float], ...]]:
    """Per candidate its other descriptions with their size on D2 and the share of the candidate that they hold."""
    out = {}
    for i, others in enumerate(proposed.also):
        own = member_mask(proposed.criteria[i], d2)
        size = max(int(d2.counts[own].sum()), 1)
        masks = [member_mask(other, d2) for other in others]
        out[i] = tuple(
            (other, int(d2.counts[mask].sum()), float(rounded(d2.counts[mask & own].sum() / size) or 0.0))
            for other, mask in zip(others, masks, strict=True)
        )
    return out


def minimum_rows(rules: GrowthRules) -> int:
    """The least number of people with which a tree's sample of D1 can be split at all."""
    half = ceil(rules.minsplit / SAMPLE_SHARE)
    while int(SAMPLE_SHARE * half) < rules.minsplit:
        half += 1
    return 2 * half


@dataclass(frozen=True, kw_only=True, eq=False)
class Results(Sequence[Finding]):
    """All candidates, kept as columns; a finding is written out when it is asked for."""

    attributes: tuple[Attribute, ...]
    cell_names: tuple[str, ...]
    split: Split
    level: float
    also: dict[int, tuple[tuple[CodedCriterion, int, float], ...]]
    stability: dict[int, float]

    def __len__(self) -> int:
        return len(self.split.proposed)

    def __getitem__(self, i: Any) -> Any:
        return self._finding(i, self.level, None)

    def _finding(self, i: int, level: float, selected: Assessment | None) -> Finding:
        also = tuple(
            Also(criterion=decode(other, self.attributes), size=size, overlap=overlap)
            for other, size, overlap in self.also.get(i, ())
        )
        return finding(
            decode(self.split.proposed.criteria[i], self.attributes),
            self.split.assessment,
            i,
            self.cell_names,
            tree=self.split.proposed.tree[i],
            node=self.split.proposed.node[i],
            level=level,
            selected=selected,
            also=also,
            stability=self.stability.get(i),
        )

    def listed(self, *, selective: bool) -> tuple[Finding, ...]:
        """The listed findings. Their intervals are selective: they hold at level * listed / tested."""
        chosen, assessment = self.split.chosen.tolist(), self.split.assessment
        if not selective or not chosen:
            return tuple(self[i] for i in chosen)
        tested = int(np.count_nonzero(~np.isnan(assessment.log_p)))
        level = self.level * len(chosen) / tested
        everyone = assessment.inside[0] + assessment.outside[0]
        adjusted = assess_counts(assessment.inside, everyone, assessment.notion, level=level)
        return tuple(self._finding(i, level, adjusted) for i in chosen)

    def ranked(self) -> tuple[Finding, ...]:
        """All candidates as findings in ranked order."""
        return tuple(self[i] for i in self.split.order.tolist())


@dataclass(frozen=True, kw_only=True, eq=False)
class Audit:
    """The result of an audit.

    groups: the listed findings, best first: groups with a significant disparity. May be empty.
    candidates: every group that was tested, in ranked order.
    config, data_summary: what was asked, and what was audited (with columns left out and warnings).
    forest: the search trees.
    detectable: what the audit could have seen, by share of people.
    p_any: one p-value for "is there any disparity at all", over all halvings.
    """

    config: AuditConfig
    data_summary: DataSummary
    groups: tuple[Finding, ...]
    forest: Forest
    detectable: tuple[Detectable, ...]
    p_any: float
    _candidates: Results | tuple[Finding, ...] = field(repr=False)

    @cached_property
    def candidates(self) -> tuple[Finding, ...]:
        return self._candidates.ranked() if isinstance(self._candidates, Results) else self._candidates

    @property
    def n_candidates(self) -> int:
        """How many groups were tested."""
        return len(self._candidates)

    @property
    def notion(self) -> Notion:
        return self.config.notion

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.data_summary.warnings

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Audit) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        n = len(self.groups)
        return (
            f"<Audit for {visible(self.notion.name)}: {n} group{'' if n == 1 else 's'} listed of {self.n_candidates:,} "
            f"tested on {self.data_summary.rows_assess:,} people. print(audit) shows them; see .groups, .to_frame(), "
            ".to_json()>"
        )

    def __str__(self) -> str:
        from ald.report.text import to_text

        return to_text(self)

    def to_frame(self, backend: str | None = None) -> Any:
        """The listed groups as a DataFrame: pandas, or the first installed of pandas, Polars and PyArrow."""
        from ald.report.frame import to_frame

        return to_frame(self, backend)

    def to_dict(self) -> dict[str, Any]:
        """The whole audit as plain data in the documented schema (docs/schema.md)."""
        from ald.schema import audit_to_dict

        return audit_to_dict(self)

    def to_json(self) -> str:
        """The whole audit as JSON. Same audit, same bytes."""
        from ald.schema import audit_to_json

        return audit_to_json(self)

    @classmethod
    def from_json(cls, text: str | bytes) -> Audit:
        """The audit that `to_json` wrote."""
        from ald.schema import audit_from_json

        return audit_from_json(text)

    def to_markdown(self) -> str:
        """The listed groups as a Markdown report."""
        from ald.report.markdown import to_markdown

        return to_markdown(self)

    def to_csv(self) -> str:
        """The listed groups as CSV, safe to open in a spreadsheet."""
        from ald.report.csv import to_csv

        return to_csv(self)
