"""What the steps of an audit ask of the data: of rows in memory (`ald.rows.local`), or elsewhere (`ald.remote`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ald.assess.assessment import MemberCounter
from ald.assess.together import Jointly
from ald.data.coded import AuditData
from ald.data.prepare import DataSummary
from ald.data.strata import Strata
from ald.groups.rules import Candidates
from ald.groups.tree import CodedCriterion, Forest
from ald.options import AuditConfig
from ald.questions import Question
from ald.results.details import Details, People
from ald.results.finding import Finding
from ald.results.gaps import Gaps
from ald.results.halving import Halving, Overlaps


@dataclass(frozen=True, kw_only=True, eq=False)
class Whole:
    """Everyone, coded. strata: what strata of legitimate factors mean, which are cut where the outcomes change."""

    data: AuditData
    strata: Strata | None = None
    threads: int = 1


class Rows(Protocol):
    """The data after LOAD: in memory, or where it is, if that does not hold it."""

    @property
    def config(self) -> AuditConfig:
        """The settings, once the data has said what its outcome is."""

    @property
    def summary(self) -> DataSummary:
        """What is known of the data; once halves are searched, with what is to be said of that."""

    @property
    def input_sha256(self) -> str | None:
        """The fingerprint of the file that was read, if it was one."""

    def assess_named(self, asked: Sequence[Question]) -> tuple[Finding, ...]:
        """The groups that the user named, tested on all rows."""

    def gaps(self, asked: Sequence[Question]) -> Callable[[], Gaps]:
        """What tells every attribute's own gap on all rows, when somebody asks."""

    @property
    def size(self) -> int:
        """People times attributes, which is known before anyone is searched."""

    @property
    def why_halves(self) -> str:
        """Why these rows can only be searched and tested in halves; empty if they need not be."""

    def read_all(self) -> Whole:
        """All rows, to be searched and tested without halves."""

    def halves(self, seed: np.random.SeedSequence) -> Halves:
        """A random halving, or the data's own."""

    def searched(self, halving: Halving, criteria: Sequence[CodedCriterion]) -> list[int]:
        """How many people of D1 satisfy each of these criteria."""

    def stability(self, halvings: Sequence[Halving]) -> dict[int, float]:
        """With several halvings, per listed group of the first: the share of all that list an equivalent group."""

    def details(self, halving: Halving) -> Details | Callable[[], Details]:
        """What reports show of the listed groups, or what counts it when somebody asks."""


class Halves(Protocol):
    """D1 and D2. Where rows are elsewhere, `d1` and `d2` say only how many people there are per confusion cell.

    strata: what strata of legitimate factors mean, if there are any.
    """

    @property
    def d1(self) -> AuditData: ...
    @property
    def d2(self) -> AuditData: ...
    @property
    def strata(self) -> Strata | None: ...
    @property
    def threads(self) -> int: ...

    def propose(
        self, question: Question, seeds: Sequence[np.random.SeedSequence], progress: Callable[[float], None]
    ) -> tuple[Forest, Candidates]:
        """A forest on D1, a tree per seed, and the groups to test that it leads to."""

    def extend(self, proposed: Sequence[Candidates]) -> Halves:
        """The halves with the attributes that were made to describe these groups."""

    def view_d1(self, question: Question) -> AuditData:
        """The people of D1 with whom the groups were chosen."""

    def view_d2(self, question: Question) -> D2View:
        """The people of D2."""


class D2View(People, Protocol):
    """D2 with one question in mind."""

    @property
    def data(self) -> AuditData:
        """The rows; where they are elsewhere, only how many people there are per confusion cell."""

    def memberships(self, criteria: Sequence[CodedCriterion]) -> tuple[AuditData, Sequence[CodedCriterion]]:
        """Rows that tell who is in which of these groups, and the groups as criteria on these rows."""

    def jointly(self, groups: Sequence[tuple[CodedCriterion, Sequence[CodedCriterion]]]) -> Sequence[Jointly | None]:
        """People by what groups of two or three attributes are made of; None for other groups.

        groups: each with those before it.
        """

    def leaves(self, proposed: Candidates) -> MemberCounter | None:
        """Who counts the members of candidates that are leaves of a forest; None if they are not."""

    def overlaps(self, proposed: Candidates) -> Overlaps | None:
        """The other descriptions of these groups, if they are to be counted now."""
