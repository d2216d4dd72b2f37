"""Data in memory, as the steps of an audit ask for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ald._core.arrays import IntArray
from ald.assess.together import Jointly, ask
from ald.data.coded import AuditData, merge
from ald.data.prepare import DataSummary, Prepared
from ald.data.strata import Factors, Strata, in_strata
from ald.groups.derived import extend_data
from ald.groups.membership import Leaves, Members, people_along, people_jointly
from ald.groups.rules import Candidates
from ald.groups.tree import CodedCriterion, Forest
from ald.options import AuditConfig
from ald.questions import Question
from ald.results.details import Details, PeopleInMemory
from ald.results.finding import Finding
from ald.results.gaps import Gaps, assess_gaps, count_in_memory, needs_rows
from ald.results.halving import Halving
from ald.results.listed import listed_details
from ald.results.named import assess_named
from ald.results.stability import stability
from ald.rows.protocols import Whole
from ald.search.pool import pool_people, pool_share
from ald.search.proposing import propose_groups


@dataclass(frozen=True, kw_only=True, eq=False)
class LocalRows:
    """All rows, coded. input_sha256: of the file that they are from."""

    prepared: Prepared
    config: AuditConfig
    threads: int = 1
    memory_limit: int | None = None
    input_sha256: str | None = None

    @property
    def summary(self) -> DataSummary:
        return self.prepared.summary

    def assess_named(self, asked: Sequence[Question]) -> tuple[Finding, ...]:
        return assess_named(self.prepared, asked, self.config)

    def gaps(self, asked: Sequence[Question]) -> Callable[[], Gaps]:
        # Counts are few numbers; rows are kept only where there is no other way.
        whole, config = self.prepared.whole, self.config
        rows = whole if needs_rows(whole, config) else None
        return partial(assess_gaps, count_in_memory(whole, config, self.threads), asked, config, rows)

    @property
    def size(self) -> int:
        return self.summary.rows * len(self.summary.attributes)

    @property
    def why_halves(self) -> str:
        return ""

    def read_all(self) -> Whole:
        # Shuffles go by the places of rows, which must not depend on the order of the input.
        return Whole(data=merge(self.prepared.whole), strata=self.prepared.strata, threads=self.threads)

    def halves(self, seed: np.random.SeedSequence) -> LocalHalves:
        return LocalHalves.of(
            self.prepared.data, self.prepared.given, self.config, seed, self.threads, self.memory_limit
        )

    def searched(self, halving: Halving, criteria: Sequence[CodedCriterion]) -> list[int]:
        members = Members(criteria, halving.d1.attributes)
        return [int(n) for n in members.people(halving.d1, self.threads)[members.which]]

    def stability(self, halvings: Sequence[Halving]) -> dict[int, float]:
        return stability(halvings, self.prepared.data) if len(halvings) > 1 else {}

    def details(self, halving: Halving) -> Callable[[], Details]:
        return partial(_details, halving, self.config)


@dataclass(frozen=True, kw_only=True, eq=False)
class LocalHalves:
    """Both halves. strata: what strata of legitimate factors mean, which are cut where the outcomes of D1 change."""

    d1: AuditData
    d2: AuditData
    config: AuditConfig
    strata: Strata | None = None
    threads: int = 1
    memory_limit: int | None = None

    @classmethod
    def of(
        cls,
        data: AuditData,
        given: Factors | None,
        config: AuditConfig,
        seed: np.random.SeedSequence,
        threads: int = 1,
        memory_limit: int | None = None,
    ) -> LocalHalves:
        """A random halving, or the data's own. given: legitimate factors."""
        d1, d2 = data.halves(np.random.default_rng(seed), config.fraction, threads)
        strata = None
        if given is not None:
            strata, (d1, d2) = in_strata([d1, d2], given, by=d1)
        return cls(d1=d1, d2=d2, config=config, strata=strata, threads=threads, memory_limit=memory_limit)

    def propose(
        self, question: Question, seeds: Sequence[np.random.SeedSequence], progress: Callable[[float], None]
    ) -> tuple[Forest, Candidates]:
        rngs = [np.random.default_rng(seed) for seed in seeds]
        d1 = question.view(self.d1)
        return propose_groups(d1, question, self.config, rngs, self.threads, progress, self.memory_limit)

    def extend(self, proposed: Sequence[Candidates]) -> LocalHalves:
        derived = [new for one in proposed for new in one.derived]
        return replace(self, d1=extend_data(self.d1, derived), d2=extend_data(self.d2, derived))

    def view_d1(self, question: Question) -> AuditData:
        share = pool_share(len(self.d1.cells), self.d1.total)
        return pool_people(question.view(self.d1), share, self.config.seed)

    def view_d2(self, question: Question) -> LocalD2:
        return LocalD2(question.view(self.d2))


class LocalD2(PeopleInMemory):
    """D2, with the question in mind."""

    def memberships(self, criteria: Sequence[CodedCriterion]) -> tuple[AuditData, Sequence[CodedCriterion]]:
        return self.data, criteria

    def jointly(self, groups: Sequence[tuple[CodedCriterion, Sequence[CodedCriterion]]]) -> list[Jointly | None]:
        data, strata = self.data, self.data.design.strata
        n_strata = 1 if strata is None else int(strata.max(initial=0)) + 1

        def along(attribute: int) -> IntArray:
            return np.asarray(people_along(data, attribute).sum(axis=1))

        asked = [ask(criterion, before, data.attributes, along) for criterion, before in groups]
        return [
            None if one is None else Jointly(one, *people_jointly(data, one.columns, one.before, n_strata), n_strata)
            for one in asked
        ]

    def leaves(self, proposed: Candidates) -> Leaves | None:
        return proposed.leaves

    def overlaps(self, proposed: Candidates) -> None:
        """Later, when somebody asks for a finding."""


def _details(split: Halving, config: AuditConfig) -> Details:
    return listed_details(split, config, [PeopleInMemory(answer.d2) for answer in split.answers])
