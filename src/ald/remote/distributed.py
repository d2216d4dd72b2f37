"""Steps 1 to 3 where the rows stay on a cluster: it counts, and only counts come back.

Halves and samples are drawn by hash (`ald.data.hashing`), so that nothing depends on where a row is. Each step is the
one of `ald.pipeline` on counts that were added up over all partitions. One thing is a sample: the list without
repetition is chosen with about `POOL` people of D1 at most, drawn by hash, while the forest sees all of D1, and all of
D2 is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ald._core.arrays import ByteArray, IntArray
from ald.assess.assessment import Assessment, Terms, assess_counts, assess_given, assess_in_order, assessment_terms
from ald.data.coded import Attribute, AuditData
from ald.data.columns import compact
from ald.data.duplicates import repeated_rows
from ald.data.outcomes import left_out_note
from ald.data.prepare import DataSummary
from ald.data.roles import Roles
from ald.errors import SettingError
from ald.groups.rules import Candidates, candidates
from ald.groups.tree import CodedCondition, CodedCriterion, Forest
from ald.notions import Notion, RateCounter
from ald.options import AuditConfig
from ald.pipeline import (
    Progress,
    check_halves,
    expected_signs,
    listed_trees,
    minimum_rows,
    ranked,
    representative_candidates,
    search_rates,
)
from ald.questions import Question, joint_cells
from ald.remote.counting import (
    ClusterCounter,
    CountAlong,
    CountGroups,
    CountMembers,
    CountPatterns,
    CountShared,
    CountValues,
    Partition,
    draw_pool,
    value_places,
)
from ald.remote.engines.failures import told
from ald.remote.spread import PreparedSpread, prepare_spread
from ald.results.details import Details, Subject, details
from ald.results.halving import Answer, Overlaps, Split
from ald.search.explore.scoring import Terms as SearchTerms
from ald.search.forest.growth import SAMPLE_SHARE, GrowthRules, grow
from ald.statistics.basics import rounded

if TYPE_CHECKING:
    from ald.remote.lazy import Spread

# About how many people of D1 come back at most, to choose the groups to test.
POOL = 1_000_000
# Bits of a key that say which groups people are in.
_KEY_BITS = 62


@dataclass(frozen=True, kw_only=True, eq=False)
class Distributed:
    """What came back: the summary of the data, the groups found, and what a report shows of them."""

    summary: DataSummary
    split: Split
    details: Details


def audit_spread(
    spread: Spread,
    roles: Roles,
    config: AuditConfig,
    asked: Sequence[Question],
    rules: GrowthRules,
    threads: int,
    say: Progress,
) -> Distributed:
    """The audit of data that does not fit, where it is."""
    _check_possible(spread, roles, config)
    least = minimum_rows(rules, config.fraction) if config.split == "random" else 1
    with told(spread.engine.name, spread.engine.failures):
        prepared = prepare_spread(spread, roles, joint_cells(config), least)
        try:
            return _Audit(prepared, config, rules, threads, say).result(spread, asked)
        finally:
            prepared.blocks.close()


def _check_possible(spread: Spread, roles: Roles, config: AuditConfig) -> None:
    """Raises where something was asked that needs all rows in one place."""
    asked = {
        "weights": roles.weights,
        "survey_weights": roles.survey_weights,
        "cluster": roles.cluster,
        "given": roles.given,
        "reference": config.reference if config.reference_kind == "group" else None,
        "groups_of_interest": config.groups_of_interest,
        "method": config.method,
        "repeats": config.repeats if config.repeats > 1 else None,
    }
    for option, value in asked.items():
        if value:
            raise SettingError(
                f"{option} cannot be had for this data: it has about {spread.cells:,} different rows, more than the "
                "memory holds, and stays where it is. Name fewer attributes or round their values, so that fewer rows "
                "differ, or give more memory_limit."
            )


class _Audit:
    """One audit: what is the same for all questions.

    values: per half and attribute the people per code and cell. share: that of D1 which comes back, to choose groups.
    """

    def __init__(
        self, prepared: PreparedSpread, config: AuditConfig, rules: GrowthRules, threads: int, say: Progress
    ) -> None:
        self.blocks, self.summary = prepared.blocks, prepared.summary
        self.config, self.rules, self.threads, self.say = config, rules, threads, say
        layout = prepared.layout
        self.partition = Partition(layout=layout, seed=config.seed, fraction=config.fraction, n_cells=layout.n_cells)
        ends, size = value_places(layout)
        keys, counts = self.blocks.summed(CountValues(partition=self.partition), layout.n_cells)
        table = np.zeros((2 * size, layout.n_cells), np.int64)
        table[keys] = counts
        both = table.reshape(2, size, layout.n_cells)
        self.values = [[half[start:end] for start, end in pairwise(ends.tolist())] for half in both]
        self.totals = [half[0].sum(axis=0) for half in self.values]
        in_search, in_assess = (int(total.sum()) for total in self.totals)
        if config.split != "random":
            check_halves(in_search, in_assess, minimum_rows(rules) // 2)
        self.share = min(1.0, POOL / max(in_search, 1))

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return self.partition.layout.attributes

    def result(self, spread: Spread, asked: Sequence[Question]) -> Distributed:
        """Search, assessment and ranking for all questions."""
        config = self.config
        _, forest_seed = np.random.SeedSequence(config.seed).spawn(2)
        pool = draw_pool(self.blocks, self.partition, self.share) if config.explores else None
        copies = [] if pool is None else repeated_rows(pool)
        answers = []
        for number, question in enumerate(asked):

            def part(share: float, number: int = number) -> None:
                self.say("search", (number + share) / len(asked))

            part(0.0)
            rngs = [np.random.default_rng(seed) for seed in forest_seed.spawn(config.trees)]
            samples = range(number * config.trees, (number + 1) * config.trees)
            answers.append(_Asked(self, question, pool).answer(rngs, samples, part))
        self.say("rank", 0.0)
        d1, d2 = (_everyone(self.attributes, total) for total in self.totals)
        split = ranked(d1, d2, answers, config)
        return Distributed(summary=self._summary(spread, copies), split=split, details=self._details(split))

    def _summary(self, spread: Spread, copies: Sequence[str]) -> DataSummary:
        total = self.totals[0] + self.totals[1]
        note = (
            f"about {spread.cells:,} different rows do not fit into the memory: they were counted where they are, "
            "halves and samples were drawn by hash"
        )
        if self.config.explores and self.share < 1.0:
            note += f", and the groups to test were chosen with about {POOL:,} people of the search's half"
        rows = int(total.sum())
        gone = spread.rows - rows
        left_out = [left_out_note(gone, spread.rows, self.config.outcome_columns)] if gone else []
        return replace(
            self.summary,
            rows=rows,
            cells={name: int(n) for name, n in zip(self.summary.cells, total, strict=True)},
            warnings=(*self.summary.warnings, *left_out, *copies, note),
        )

    def _details(self, split: Split) -> Details:
        """Curves, dropped conditions and trees of the listed groups, each counted by one job."""
        several = len(self.config.outcomes) > 1
        subjects = []
        for number, own in (split.places[i] for i in split.chosen.tolist()):
            question, proposed = split.answers[number].question, split.answers[number].proposed.criteria
            subjects.append(
                Subject(
                    criterion=proposed[own],
                    before=tuple(proposed[:own]) if self.config.explores else (),
                    notion=question.notion,
                    outcome=question.outcome if several else None,
                    people=_People(self, question),
                )
            )
        pairs = tuple(dict.fromkeys(pair for subject in subjects for pair in subject.parts))
        if pairs:
            stride = 1 + max(attribute.size for attribute in self.attributes)
            job = CountAlong(partition=self.partition, pairs=pairs, stride=stride)
            keys, counts = self.blocks.summed(job, self.partition.n_cells)
            tables = {}
            for i, (attribute, criterion) in enumerate(pairs):
                here = slice(*np.searchsorted(keys, [i * stride, (i + 1) * stride]))
                table = np.zeros((self.attributes[attribute].size + 1, self.partition.n_cells), np.int64)
                table[keys[here] - i * stride] = counts[here]
                tables[attribute, criterion] = table
            for subject in subjects:
                assert isinstance(subject.people, _People)
                subject.people.tables.update(tables)
        trees = listed_trees(split, [_People(self, answer.question) for answer in split.answers])
        return replace(details(subjects, assessment_terms(self.config)), trees=trees)

    def members(self, criteria: Sequence[CodedCriterion], question: Question) -> tuple[AuditData, list[CodedCriterion]]:
        """D2 as its assessment needs it: who is a member of which groups; and the groups as criteria on this data."""
        partition, n = self.view(question), len(criteria)
        memberships, counts = self._memberships(criteria, partition)
        which, cells = np.nonzero(counts)
        data = AuditData(
            attributes=tuple(Attribute(name=str(i), kind="boolean", levels=("False", "True")) for i in range(n)),
            codes=tuple(member[which] for member in memberships),
            cells=cells.astype(np.uint8),
            counts=counts[which, cells],
            n_cells=partition.n_cells,
        )
        return data, [(CodedCondition(i, 0, 0, (1,)),) for i in range(n)]

    def view(self, question: Question) -> Partition:
        """The partition with the confusion cells of one question."""
        return replace(self.partition, cells=question.cells, n_cells=len(question.cell_names))

    def _memberships(
        self, criteria: Sequence[CodedCriterion], partition: Partition
    ) -> tuple[list[ByteArray], IntArray]:
        """Per group whether each pattern of membership that occurs in D2 is one of members; and counts per pattern.

        A pattern has a number, with a bit per group: where there are more groups than bits, some at a time.
        """
        rounds: list[tuple[tuple[CodedCriterion, ...], IntArray]] = []
        counts = np.zeros((1, partition.n_cells), np.int64)
        left = tuple(criteria)
        while left or not rounds:
            n_bits = max(1, _KEY_BITS - len(counts).bit_length())
            job = CountPatterns(partition=partition, criteria=left[:n_bits], known=tuple(rounds))
            keys, counts = self.blocks.summed(job, partition.n_cells)
            rounds.append((left[:n_bits], keys))
            left = left[n_bits:]
        members: list[ByteArray] = []
        pattern = np.arange(len(counts))
        for some, keys in reversed(rounds):
            key = keys[pattern]
            members[:0] = [((key >> i) & 1).astype(np.uint8) for i in reversed(range(len(some)))]
            pattern = key >> len(some)
        return members, counts


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


class _Asked:
    """One question, answered with jobs on the cluster."""

    def __init__(self, audit: _Audit, question: Question, pool: AuditData | None) -> None:
        self.audit, self.question = audit, question
        self.pool = None if pool is None else question.view(pool)
        self.partition = audit.view(question)
        self.d2 = question.view(_everyone(audit.attributes, audit.totals[1]))

    def answer(
        self, rngs: Sequence[np.random.Generator], samples: Sequence[int], progress: Callable[[float], None]
    ) -> Answer:
        """The forest, the groups to test and their assessment."""
        audit, config = self.audit, self.audit.config
        rates = RateCounter(search_rates(self.question, config), self.partition.n_cells)
        counter = ClusterCounter(audit.blocks, self.partition, SAMPLE_SHARE, samples)
        present = _present(audit.attributes, audit.values[0], self.partition.n_cells)
        forest = grow(
            counter, audit.attributes, present.scores(), rates, audit.rules, rngs,
            threads=audit.threads, progress=lambda done: progress(done / 2),
        )  # fmt: skip
        if self.pool is None:
            proposed = candidates(forest, present)
            return self._answer(forest, proposed, self._assess_leaves(proposed))
        terms = SearchTerms(direction=config.sign)
        proposed = representative_candidates(self.pool, rates, forest, config, terms, audit.threads, progress)
        assessment = self._assess_in_order(proposed)
        if config.ranking == "magnitude":
            expected = expected_signs(proposed.criteria, self.pool, self.question, config)
            assessment = replace(assessment, expected=expected)
        return self._answer(forest, proposed, assessment, self._overlaps(proposed))

    def _answer(
        self, forest: Forest, proposed: Candidates, assessment: Assessment, overlaps: Overlaps | None = None
    ) -> Answer:
        return Answer(
            question=self.question, d2=self.d2, forest=forest, proposed=proposed, assessment=assessment,
            overlaps=overlaps,
        )  # fmt: skip

    def _assess_leaves(self, proposed: Candidates) -> Assessment:
        """Every leaf, from the counts of its members."""
        assert proposed.leaves is not None
        inside = np.zeros((len(proposed), self.partition.n_cells), np.int64)
        job = CountMembers(partition=self.partition, leaves=proposed.leaves)
        leaves, counts = self.audit.blocks.summed(job, self.partition.n_cells)
        inside[leaves] = counts
        return assess_counts(inside, self.d2.cell_counts(), self.question.notion, self._terms)

    @property
    def _terms(self) -> Terms:
        return assessment_terms(self.audit.config)

    def _assess_in_order(self, proposed: Candidates) -> Assessment:
        """Every group given those before it."""
        members, criteria = self.audit.members(proposed.criteria, self.question)
        return assess_in_order(criteria, members, self.question.notion, self._terms, threads=self.audit.threads)

    def _overlaps(self, proposed: Candidates) -> Overlaps:
        """How many people the other descriptions of a group have, and how many of its own."""
        pairs = [(i, other) for i, others in enumerate(proposed.also) for other in others]
        job = CountShared(partition=self.partition, pairs=tuple((proposed.criteria[i], other) for i, other in pairs))
        _, counts = self.audit.blocks.summed(job, 3) if pairs else ((), ())
        out: dict[int, list[tuple[CodedCriterion, int, float]]] = {i: [] for i in range(len(proposed.also))}
        for (i, other), (own, size, both) in zip(pairs, counts, strict=True):
            out[i].append((other, int(size), float(rounded(both / max(own, 1)) or 0.0)))
        return {i: tuple(others) for i, others in out.items()}


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


class _People:
    """D2 as a report's details ask for it, from counts that came back."""

    def __init__(self, audit: _Audit, question: Question) -> None:
        self.audit, self.attributes, self.question = audit, audit.attributes, question
        self.tables: dict[tuple[int, CodedCriterion], IntArray] = {(a, ()): t for a, t in enumerate(audit.values[1])}

    def along(self, attribute: int, criterion: CodedCriterion = ()) -> IntArray:
        """As in memory."""
        table = self.tables[attribute, criterion]
        if self.question.cells is None:
            return table
        out = np.zeros((len(table), len(self.question.cell_names)), np.int64)
        np.add.at(out.T, np.array(self.question.cells), table.T)
        return out

    def members(self, criteria: Sequence[CodedCriterion]) -> IntArray:
        """As in memory, by one more job, if there are any criteria."""
        partition = self.audit.view(self.question)
        out = np.zeros((len(criteria), partition.n_cells), np.int64)
        if criteria:
            job = CountGroups(partition=partition, criteria=tuple(criteria))
            keys, counts = self.audit.blocks.summed(job, partition.n_cells)
            out[keys] = counts
        return out

    def assessed(
        self, criterion: CodedCriterion, before: Sequence[CodedCriterion], notion: Notion, terms: Terms
    ) -> Assessment:
        """As in memory: from the members along any attribute, or given groups before by one more job."""
        if not before:
            attribute = next(a for a, own in self.tables if own == criterion)
            inside, everyone = (self.along(attribute, own).sum(axis=0) for own in (criterion, ()))
            return assess_counts(inside[None], everyone, notion, terms)
        members, (*others, own) = self.audit.members([*before, criterion], self.question)
        return assess_given(others, own, members, notion, terms)
