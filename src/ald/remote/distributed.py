"""Data that stays on a cluster, as the steps of an audit ask for it: it counts, and only counts come back.

Halves and samples are drawn from what is in the rows (`ald.data.hashing`), so that nothing depends on where a row is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import accumulate, pairwise
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ald._core.arrays import ByteArray, IntArray
from ald.assess.assessment import Assessment, Terms, assess_counts, assess_given
from ald.assess.together import Jointly, ask
from ald.data.coded import Attribute, AuditData
from ald.data.columns import compact
from ald.data.duplicates import repeated_rows
from ald.data.hashing import key_of
from ald.data.outcomes import left_out_note
from ald.data.prepare import DataSummary, check_halves
from ald.data.roles import Roles
from ald.errors import SettingError
from ald.groups.membership import Leaves
from ald.groups.rules import Candidates, candidates
from ald.groups.tree import CodedCondition, CodedCriterion, Forest
from ald.notions import Notion, RateCounter
from ald.options import AuditConfig
from ald.questions import Question, joint_cells
from ald.remote.counting import (
    ClusterCounter,
    CountAlong,
    CountGroups,
    CountJointly,
    CountMembers,
    CountPatterns,
    CountShared,
    CountValues,
    Partition,
    draw_pool,
    value_places,
)
from ald.remote.engines.failures import translate_errors
from ald.remote.engines.protocols import Blocks
from ald.remote.preparing import PreparedRemote, prepare_remote
from ald.results.details import Details
from ald.results.finding import Finding
from ald.results.gaps import Gaps, assess_gaps, count_parts
from ald.results.halving import Halving, Overlaps
from ald.results.listed import listed_details, listed_subjects
from ald.rows.protocols import Whole
from ald.search.explore.scoring import Aim
from ald.search.forest.growth import grow
from ald.search.forest.histograms import HistogramSplitter
from ald.search.forest.rules import SAMPLE_SHARE, GrowthRules, minimum_rows
from ald.search.giveaways import errors_of_guessing, judge_tables, kept_beside, no_search, renumber, without
from ald.search.pool import pool_note, pool_share
from ald.search.proposing import explore_from, search_rates
from ald.statistics.basics import round_reported

if TYPE_CHECKING:
    from ald.remote.lazy import RemoteTable

# Bits of a key that say which groups people are in.
_KEY_BITS = 62


@contextmanager
def remote_rows(remote: RemoteTable, roles: Roles, config: AuditConfig, threads: int) -> Iterator[RemoteRows]:
    """The rows coded where they are, until the end."""
    _check_possible(remote, roles, config)
    least = 1 if config.has_own_split else minimum_rows(GrowthRules(), config.fraction)
    with translate_errors(remote.engine.name, remote.engine.failures):
        prepared = prepare_remote(remote, roles, joint_cells(config), least)
        try:
            yield RemoteRows(remote, prepared, config, threads)
        finally:
            prepared.blocks.close()


def _check_possible(remote: RemoteTable, roles: Roles, config: AuditConfig) -> None:
    """Raises where something was asked that needs all rows in one place."""
    asked = {
        "weights": roles.weights,
        "survey_weights": roles.survey_weights,
        "cluster": roles.cluster,
        "given": roles.given,
        "reference": config.reference if config.reference_kind == "group" else None,
        "named_groups": config.named_groups,
        "search": config.system,
        "repeats": config.repeats if config.repeats > 1 else None,
        "split='none'": config.split == "none",
    }
    for option, value in asked.items():
        if value:
            raise SettingError(_not_here(option, remote))


def _not_here(option: str, remote: RemoteTable) -> str:
    return (
        f"{option} is not supported for this data: it has about {remote.distinct:,} different rows, more than fit "
        "into memory, and stays where it is. Name fewer attributes or round their values, so that fewer rows differ, "
        "or give more memory_limit."
    )


class RemoteRows:
    """All rows of one audit, and its only halving."""

    input_sha256 = None

    def __init__(self, remote: RemoteTable, prepared: PreparedRemote, config: AuditConfig, threads: int) -> None:
        self._remote, self._summary, self.config = remote, prepared.summary, config
        self._prepared, self._threads = prepared, threads
        self._found: RemoteHalves | None = None

    @property
    def _halves(self) -> RemoteHalves:
        assert self._found is not None
        return self._found

    @property
    def summary(self) -> DataSummary:
        halves, distinct = self._halves, self._remote.distinct
        note = f"about {distinct:,} different rows do not fit into memory, so they were counted where they are"
        copies = [] if halves.pool is None else repeated_rows(halves.pool)
        total = halves.totals[0] + halves.totals[1]
        rows = int(total.sum())
        gone = self._remote.rows - rows
        left_out = [left_out_note(gone, self._remote.rows, self.config.outcome_columns)] if gone else []
        return replace(
            self._summary,
            rows=rows,
            cells={name: int(n) for name, n in zip(self._summary.cells, total, strict=True)},
            warnings=(*self._summary.warnings, *left_out, *copies, *pool_note(halves.different, self.config), note),
        )

    def assess_named(self, asked: Sequence[Question]) -> tuple[Finding, ...]:
        """None: groups in words need all rows in one place, and were refused."""
        return ()

    def gaps(self, asked: Sequence[Question]) -> Callable[[], Gaps]:
        """From the people along every attribute, who were counted for the halves."""
        tables = [first + second for first, second in zip(*self._halves.values, strict=True)]
        counted = count_parts(self._halves.attributes, tables, self.config)
        return partial(assess_gaps, counted, asked, self.config)

    @property
    def size(self) -> int:
        """With the rows that will be left out: they are not counted by themselves."""
        return self._remote.rows * len(self._summary.attributes)

    @property
    def why_halves(self) -> str:
        return "the rows stay where they are"

    def read_all(self) -> Whole:
        """Nobody: rows that stay where they are cannot be shuffled."""
        raise SettingError(_not_here("split='none'", self._remote))

    def halves(self, seed: np.random.SeedSequence) -> RemoteHalves:
        self._found = RemoteHalves(self._prepared, self.config, self._threads, key_of(np.random.default_rng(seed)))
        return self._found

    def searched(self, halving: Halving, criteria: Sequence[CodedCriterion]) -> list[int]:
        """By one more job, if there are any criteria."""
        counts = self._halves.count_members(criteria, self._halves.partition, half=0)
        return [int(n) for n in counts.sum(axis=1)]

    def stability(self, halvings: Sequence[Halving]) -> dict[int, float]:
        """There is one halving only."""
        return {}

    def details(self, halving: Halving) -> Details:
        """Curves, dropped conditions and trees of the listed groups, counted now, each by one job."""
        people = [self._halves.view_d2(answer.question) for answer in halving.answers]
        subjects = listed_subjects(halving, self.config, people)
        pairs = dict.fromkeys(pair for subject in subjects for pair in (*subject.parts, *subject.along))
        self._halves.count_along(tuple(pairs))
        return listed_details(halving, self.config, people)


class RemoteHalves:
    """Both halves, counted by jobs.

    values: per half and attribute the people per code and cell; totals: per half the people per cell. different: how
    many different rows D1 has. tables: of D2, along attributes, as far as it was counted.
    """

    strata = None

    def __init__(self, prepared: PreparedRemote, config: AuditConfig, threads: int, key: int) -> None:
        self.blocks: Blocks = prepared.blocks
        self.config, self.threads = config, threads
        layout = prepared.layout
        self.partition = Partition(layout=layout, key=key, fraction=config.fraction, n_cells=layout.n_cells)
        ends, size = value_places(layout)
        keys, counts = self.blocks.sum_by_key(CountValues(partition=self.partition), layout.n_cells)
        table = np.zeros((2 * size + 1, layout.n_cells), np.int64)
        table[keys] = counts
        both, self.different = table[:-1].reshape(2, size, layout.n_cells), int(table[-1, 0])
        self.values = [[half[start:end] for start, end in pairwise(ends.tolist())] for half in both]
        self.totals = [half[0].sum(axis=0) for half in self.values]
        in_search, in_assess = (int(total.sum()) for total in self.totals)
        if config.has_own_split:
            check_halves(in_search, in_assess, minimum_rows(GrowthRules()) // 2)
        self.share = pool_share(self.different, in_search)
        self.tables: dict[tuple[int, CodedCriterion], IntArray] = {(a, ()): t for a, t in enumerate(self.values[1])}

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return self.partition.layout.attributes

    @cached_property
    def d1(self) -> AuditData:
        return _everyone(self.attributes, self.totals[0])

    @cached_property
    def d2(self) -> AuditData:
        return _everyone(self.attributes, self.totals[1])

    @cached_property
    def pool(self) -> AuditData | None:
        """The people of D1 who come back; None where no groups are chosen with them."""
        if not self.config.explores:
            return None
        return draw_pool(self.blocks, self.partition, self.share, self.config.seed)

    def view(self, question: Question) -> Partition:
        """The partition with the confusion cells of one question."""
        return replace(self.partition, cells=question.cells, n_cells=len(question.cell_names))

    def propose(
        self, question: Question, seeds: Sequence[np.random.SeedSequence], progress: Callable[[float], None]
    ) -> tuple[Forest, Candidates]:
        """The forest, and the groups to test."""
        partition, config = self.view(question), self.config
        rates = RateCounter(search_rates(question, config), partition.n_cells)
        present = _present(self.attributes, self.values[0], partition.n_cells)
        away = () if config.search == "paper" else self._giveaways(question, rates)
        kept, searched = kept_beside(present, away), without(present, away)
        if not kept:
            return renumber(*no_search(partition.n_cells), present, away)
        rngs = [np.random.default_rng(seed) for seed in seeds]
        samples = [key_of(rng) for rng in rngs]
        counter = ClusterCounter(self.blocks, partition, SAMPLE_SHARE, samples, kept)
        forest = grow(
            HistogramSplitter(counter, self.threads), searched.attributes, searched.scores(), rates,
            GrowthRules(alpha=config.alpha), rngs, progress=lambda done: progress(done / 2),
        )  # fmt: skip
        if self.pool is None:
            return renumber(forest, candidates(forest, searched), present, away)
        aim, d1 = Aim(direction=config.sign), without(self.view_d1(question), away)
        return renumber(forest, explore_from(forest, d1, rates, config, aim, self.threads, progress), present, away)

    def _giveaways(self, question: Question, rates: RateCounter) -> tuple[CodedCriterion, ...]:
        """The conditions that give the outcome away, from the people of D1 along every attribute."""
        tables = (_with_cells(table, question) for table in self.values[0])
        return judge_tables(
            self.attributes, tables, rates, errors_of_guessing(question.view(self.d1), rates), self.config.sign
        )

    def extend(self, proposed: Sequence[Candidates]) -> RemoteHalves:
        """The same: only other systems make attributes."""
        return self

    def view_d1(self, question: Question) -> AuditData:
        """The people of D1 who came back."""
        assert self.pool is not None
        return question.view(self.pool)

    def view_d2(self, question: Question) -> RemoteD2:
        return RemoteD2(self, question)

    def count_members(self, criteria: Sequence[CodedCriterion], partition: Partition, *, half: int) -> IntArray:
        """People of a half who satisfy each of these criteria, per cell: one job, if there are any criteria."""
        out = np.zeros((len(criteria), partition.n_cells), np.int64)
        if len(criteria):
            job = CountGroups(partition=partition, criteria=tuple(criteria), half=half)
            keys, counts = self.blocks.sum_by_key(job, partition.n_cells)
            out[keys] = counts
        return out

    def count_along(self, pairs: tuple[tuple[int, CodedCriterion], ...]) -> None:
        """Counts the people of D2 who satisfy criteria along attributes, in one job, if there are any."""
        if not pairs:
            return
        stride = 1 + max(attribute.size for attribute in self.attributes)
        job = CountAlong(partition=self.partition, pairs=pairs, stride=stride)
        keys, counts = self.blocks.sum_by_key(job, self.partition.n_cells)
        for i, (attribute, criterion) in enumerate(pairs):
            here = slice(*np.searchsorted(keys, [i * stride, (i + 1) * stride]))
            table = np.zeros((self.attributes[attribute].size + 1, self.partition.n_cells), np.int64)
            table[keys[here] - i * stride] = counts[here]
            self.tables[attribute, criterion] = table


def _everyone(attributes: tuple[Attribute, ...], cells: IntArray) -> AuditData:
    """A half of which only the number of people per cell is known."""
    present = np.flatnonzero(cells)
    return AuditData(
        attributes=attributes,
        codes=tuple(compact(np.full(len(present), attribute.size), attribute.size) for attribute in attributes),
        cells=present.astype(np.uint8),
        counts=cells[present],
        n_cells=len(cells),
    )


def _present(attributes: tuple[Attribute, ...], values: Sequence[IntArray], n_cells: int) -> AuditData:
    """Data in which every attribute has just the values that it has in D1, in no meaningful combination."""
    present = [np.flatnonzero(table.any(axis=1)) for table in values]
    rows = np.arange(max(len(codes) for codes in present))
    return AuditData(
        attributes=attributes,
        codes=tuple(
            compact(codes[rows % len(codes)], attribute.size)
            for attribute, codes in zip(attributes, present, strict=True)
        ),
        cells=np.zeros(len(rows), np.uint8),
        counts=np.ones(len(rows), np.int64),
        n_cells=n_cells,
    )


def _with_cells(table: IntArray, question: Question) -> IntArray:
    """Counts per confusion cell as the question has them."""
    if question.cells is None:
        return table
    out = np.zeros((len(table), len(question.cell_names)), np.int64)
    np.add.at(out.T, np.array(question.cells), table.T)
    return out


class RemoteD2:
    """D2 with a question in mind, from counts that come back."""

    def __init__(self, halves: RemoteHalves, question: Question) -> None:
        self.attributes, self.data = halves.attributes, question.view(halves.d2)
        self._halves, self._question, self._partition = halves, question, halves.view(question)

    def along(self, attribute: int, criterion: CodedCriterion = ()) -> IntArray:
        """As in memory, where it was counted."""
        return _with_cells(self._halves.tables[attribute, criterion], self._question)

    def members(self, criteria: Sequence[CodedCriterion]) -> IntArray:
        """As in memory, by one more job, if there are any criteria."""
        return self._halves.count_members(criteria, self._partition, half=1)

    def in_strata(self, criterion: CodedCriterion, n: int) -> IntArray:
        """There are no strata where rows stay elsewhere."""
        raise NotImplementedError

    samples_people = True

    def assess(
        self, criterion: CodedCriterion, before: Sequence[CodedCriterion], notion: Notion, terms: Terms
    ) -> Assessment:
        """As in memory: from the members along any attribute, or given groups before by one more job."""
        if not before:
            attribute = next(a for a, own in self._halves.tables if own == criterion)
            inside, everyone = (self.along(attribute, own).sum(axis=0) for own in (criterion, ()))
            return assess_counts(inside[None], everyone, notion, terms)
        members, (*others, own) = self.memberships([*before, criterion])
        return assess_given(others, own, members, notion, terms)

    def spread(self, criterion: CodedCriterion, reference: str) -> None:
        """Amounts are in memory only."""

    def reliability(self, criterion: CodedCriterion, terms: Terms) -> None:
        """So are scores."""

    def jointly(self, groups: Sequence[tuple[CodedCriterion, Sequence[CodedCriterion]]]) -> list[Jointly | None]:
        """As in memory, by one more job, if any group has two or three attributes."""
        values = self._halves.values[1]
        asked = [
            ask(criterion, before, self.attributes, lambda attribute: values[attribute].sum(axis=1))
            for criterion, before in groups
        ]
        told = [one for one in asked if one is not None]
        spans = [prod(size for *_, size in one.columns) << len(one.before) for one in told]
        starts = [0, *accumulate(spans)]
        if not told or starts[-1] >= 1 << _KEY_BITS:
            return [None] * len(asked)
        job = CountJointly(
            partition=self._partition,
            columns=tuple(one.columns for one in told),
            before=tuple(one.before for one in told),
            starts=tuple(starts[:-1]),
        )
        keys, counts = self._halves.blocks.sum_by_key(job, self._partition.n_cells)
        ends = np.searchsorted(keys, starts)
        parts = (slice(*pair) for pair in pairwise(ends.tolist()))
        found = iter(
            [
                Jointly(one, keys[part] - at, counts[part], 1)
                for one, part, at in zip(told, parts, starts[:-1], strict=True)
            ]
        )
        return [None if one is None else next(found) for one in asked]

    def leaves(self, proposed: Candidates) -> RemoteLeaves | None:
        """Who counts candidates that are leaves, by one job."""
        return None if proposed.leaves is None else RemoteLeaves(self._halves.blocks, self._partition, proposed.leaves)

    def overlaps(self, proposed: Candidates) -> Overlaps:
        """How many people the other descriptions of a group have, and how many of its own."""
        pairs = [(i, other) for i, others in enumerate(proposed.also) for other in others]
        job = CountShared(partition=self._partition, pairs=tuple((proposed.criteria[i], other) for i, other in pairs))
        _, counts = self._halves.blocks.sum_by_key(job, 3) if pairs else ((), ())
        out: dict[int, list[tuple[CodedCriterion, int, float]]] = {i: [] for i in range(len(proposed.also))}
        for (i, other), (own, size, both) in zip(pairs, counts, strict=True):
            out[i].append((other, int(size), float(round_reported(both / max(own, 1)) or 0.0)))
        return {i: tuple(others) for i, others in out.items()}

    def memberships(self, criteria: Sequence[CodedCriterion]) -> tuple[AuditData, list[CodedCriterion]]:
        """A row per pattern of membership that occurs, and the groups as criteria on these rows."""
        n = len(criteria)
        patterns, counts = self._patterns(criteria)
        which, cells = np.nonzero(counts)
        data = AuditData(
            attributes=tuple(Attribute(name=str(i), kind="boolean", levels=("False", "True")) for i in range(n)),
            codes=tuple(member[which] for member in patterns),
            cells=cells.astype(np.uint8),
            counts=counts[which, cells],
            n_cells=self._partition.n_cells,
        )
        return data, [(CodedCondition(i, 0, 0, (1,)),) for i in range(n)]

    def _patterns(self, criteria: Sequence[CodedCriterion]) -> tuple[list[ByteArray], IntArray]:
        """Per group whether each pattern of membership that occurs in D2 is one of members; and counts per pattern.

        A pattern has a number, with a bit per group: where there are more groups than bits, some at a time.
        """
        partition = self._partition
        rounds: list[tuple[tuple[CodedCriterion, ...], IntArray]] = []
        counts = np.zeros((1, partition.n_cells), np.int64)
        left = tuple(criteria)
        while left or not rounds:
            n_bits = max(1, _KEY_BITS - len(counts).bit_length())
            job = CountPatterns(partition=partition, criteria=left[:n_bits], known=tuple(rounds))
            keys, counts = self._halves.blocks.sum_by_key(job, partition.n_cells)
            rounds.append((left[:n_bits], keys))
            left = left[n_bits:]
        members: list[ByteArray] = []
        pattern = np.arange(len(counts))
        for some, keys in reversed(rounds):
            key = keys[pattern]
            members[:0] = [((key >> i) & 1).astype(np.uint8) for i in reversed(range(len(some)))]
            pattern = key >> len(some)
        return members, counts


@dataclass(frozen=True)
class RemoteLeaves:
    """Counts the people of D2 at leaves of a forest."""

    blocks: Blocks
    partition: Partition
    leaves: Leaves

    def count(self, data: AuditData, threads: int = 1) -> IntArray:
        """From the rows where they are; `data` has the cells only."""
        inside = np.zeros((len(self.leaves.at), data.n_cells), np.int64)
        places, counts = self.blocks.sum_by_key(
            CountMembers(partition=self.partition, leaves=self.leaves), data.n_cells
        )
        inside[places] = counts
        return inside
