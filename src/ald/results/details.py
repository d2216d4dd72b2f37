"""What a report shows beyond the findings, counted on D2: groups without one of their conditions, and rates along
the attributes that listed groups use.

Nothing here decides anything: the groups and their order are fixed before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from ald._core.arrays import FloatArray, IntArray
from ald.assess.assessment import Assessment, Terms, assess_given
from ald.data.coarse import coarse_view
from ald.data.coded import Attribute, AuditData, as_counts, weighted_bincount
from ald.data.columns import compact
from ald.data.strata import Strata
from ald.groups.criterion import format_bound
from ald.groups.membership import count_members, member_mask, people_along
from ald.groups.tree import CodedCriterion, Forest
from ald.groups.wording import readable_condition
from ald.notions import AMOUNT_CELLS, Notion, RateCounter
from ald.results.beside import Alike, Beside, Sides, alike, gaps_within, together
from ald.results.privacy import too_few
from ald.results.reliability import Reliability, reliability_of
from ald.results.spreads import Spread, spread_of
from ald.statistics.basics import round_reported

# Bins of a number along which rates are shown, and levels shown one by one.
BINS = 24
LEVELS = 30


@dataclass(frozen=True, kw_only=True)
class Bin:
    """A piece of an attribute with its people per confusion cell.

    Numbers and dates: the `first` and `last` value that occur in it. Levels: their names, of a run of ordered levels
    the first and the last, and none for the rest of many or for several that too few people have; `n_levels` is their
    number. The level None is "missing".
    """

    counts: tuple[int, ...]
    first: float | None = None
    last: float | None = None
    levels: tuple[str | None, ...] = ()
    n_levels: int = 0


@dataclass(frozen=True, kw_only=True)
class Curve:
    """The people of D2 along one attribute: numbers in bins of about equal size, levels as they are.

    without_missing: people without a value are too few to be shown.
    """

    attribute: str
    kind: str
    bins: tuple[Bin, ...]
    outcome: str | None = None
    without_missing: bool = False


@dataclass(frozen=True, kw_only=True)
class Dropped:
    """A listed group without its condition on one attribute, compared as the group is; the interval is for it alone.

    `within`: those who satisfy the other conditions, along this attribute, in the bins of its curve; None for a bin
    with too few of them to be shown.
    """

    attribute: str
    size: int
    share: float
    psi: float | None
    rates_inside: dict[str, float | None]
    rates_outside: dict[str, float | None]
    interval: tuple[float | None, float | None]
    undefined: str
    within: tuple[tuple[int, ...] | None, ...]


@dataclass(frozen=True, kw_only=True)
class TreePeople:
    """The people of D2 in every node of a search tree, per confusion cell, by the conditions that lead there.

    None for a node with too few people in it or outside it to be shown.
    """

    tree: int
    counts: tuple[tuple[int, ...] | None, ...]


@dataclass(frozen=True, kw_only=True)
class Details:
    """Curves of the attributes that listed groups use, and per listed group what dropping each condition does.

    A group of one condition has nothing to drop: without it, it is everyone. Where all but a few people are left
    without a condition, that is not shown. `trees`: the trees that listed groups came from, as D2 sees them.
    `spreads`: of amounts, per listed group. `reliabilities`: of scores with a truth. `beside`: per listed group its
    gap among people who are alike otherwise; None where it is not compared with everyone else.
    """

    curves: tuple[Curve, ...] = ()
    dropped: tuple[tuple[Dropped, ...], ...] = ()
    trees: tuple[TreePeople, ...] = ()
    spreads: tuple[Spread, ...] = ()
    reliabilities: tuple[Reliability, ...] = ()
    beside: tuple[Beside | None, ...] = ()

    def people_of_tree(self, tree: int) -> TreePeople | None:
        """The people of D2 in the nodes of this tree, if they were counted."""
        return next((people for people in self.trees if people.tree == tree), None)

    def curve(self, attribute: str, outcome: str | None = None) -> Curve:
        """The curve of this attribute, for this outcome if there are several."""
        return next(curve for curve in self.curves if (curve.attribute, curve.outcome) == (attribute, outcome))

    def to_dict(self) -> dict[str, Any]:
        """The details as plain data (the schema's `details`); spreads only of amounts."""
        entry = asdict(self)
        for name in ("spreads", "reliabilities"):
            shown = [one.to_dict() for one in getattr(self, name)]
            entry |= {name: shown}
            if not shown:
                del entry[name]
        return entry

    @classmethod
    def from_dict(cls, entry: dict[str, Any]) -> Details:
        """The inverse of `to_dict`, also of what JSON makes of it."""
        curves = tuple(
            Curve(
                attribute=curve["attribute"],
                kind=curve["kind"],
                outcome=curve["outcome"],
                without_missing=curve["without_missing"],
                bins=tuple(
                    Bin(**bin_ | {"counts": tuple(bin_["counts"]), "levels": tuple(bin_["levels"])})
                    for bin_ in curve["bins"]
                ),
            )
            for curve in entry["curves"]
        )
        dropped = tuple(
            tuple(
                Dropped(**one | {"interval": tuple(one["interval"]), "within": _tuples(one["within"])}) for one in group
            )
            for group in entry["dropped"]
        )
        trees = tuple(TreePeople(tree=tree["tree"], counts=_tuples(tree["counts"])) for tree in entry.get("trees", ()))
        spreads = tuple(Spread.from_dict(spread) for spread in entry.get("spreads", ()))
        reliabilities = tuple(Reliability.from_dict(one) for one in entry.get("reliabilities", ()))
        beside = tuple(None if one is None else Beside.from_dict(one) for one in entry["beside"])
        return cls(
            curves=curves, dropped=dropped, trees=trees, spreads=spreads, reliabilities=reliabilities, beside=beside
        )


def _tuples(rows: Sequence[Sequence[int] | None]) -> tuple[tuple[int, ...] | None, ...]:
    return tuple(None if row is None else tuple(row) for row in rows)


class People(Protocol):
    """D2 as details ask for it: people along an attribute, of everyone or of a group, and the test of a group."""

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """What is known of everyone."""

    def along(self, attribute: int, criterion: CodedCriterion = ()) -> IntArray:
        """People who satisfy a criterion, per code of an attribute (the last one: missing) and cell."""

    def members(self, criteria: Sequence[CodedCriterion]) -> IntArray:
        """People who satisfy each of these criteria, per cell: [criteria, cells]."""

    def in_strata(self, criterion: CodedCriterion, n: int) -> IntArray:
        """People who satisfy a criterion in each of n strata of legitimate factors, per cell: [n, cells]."""

    @property
    def samples_people(self) -> bool:
        """Whether rows are independent people who count alike, so that tests follow from counts."""

    def assess(
        self, criterion: CodedCriterion, before: Sequence[CodedCriterion], notion: Notion, terms: Terms
    ) -> Assessment:
        """The assessment of one group, within the strata of those before it."""

    def spread(self, criterion: CodedCriterion, reference: str) -> Spread | None:
        """How amounts are spread in a group and among those it is compared with; None of yes and no."""

    def reliability(self, criterion: CodedCriterion, terms: Terms) -> Reliability | None:
        """How well a score tells the truth there; None where there is no score with a truth."""


@dataclass(frozen=True, eq=False)
class PeopleInMemory:
    """D2 in memory; people of surveys count by their weights along attributes."""

    data: AuditData

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return self.data.attributes

    @cached_property
    def _counted(self) -> AuditData:
        people = as_counts(self.data)
        return people if people.design.amounts is None else people.ledger

    def along(self, attribute: int, criterion: CodedCriterion = ()) -> IntArray:
        return people_along(self._counted, attribute, criterion)

    def members(self, criteria: Sequence[CodedCriterion]) -> IntArray:
        return count_members(criteria, self._counted)

    def in_strata(self, criterion: CodedCriterion, n: int) -> IntArray:
        counted, strata = self._counted, self.data.design.strata
        if self.data.design.amounts is None:
            strata = counted.design.strata
        assert strata is not None
        if self.data.design.amounts is not None:
            # Every row of the ledger is of one sum of a row of people.
            strata = np.repeat(strata, len(AMOUNT_CELLS))
        rows: Any = np.flatnonzero(member_mask(criterion, counted)) if criterion else slice(None)
        keys = strata[rows] * counted.n_cells + counted.cells[rows]
        return weighted_bincount(keys, counted.counts[rows], n * counted.n_cells).reshape(n, counted.n_cells)

    @property
    def samples_people(self) -> bool:
        return self.data.design.samples_people

    def assess(
        self, criterion: CodedCriterion, before: Sequence[CodedCriterion], notion: Notion, terms: Terms
    ) -> Assessment:
        return assess_given(before, criterion, self.data, notion, terms)

    def spread(self, criterion: CodedCriterion, reference: str) -> Spread | None:
        return None if self.data.design.amounts is None else spread_of(criterion, self.data, reference)

    def reliability(self, criterion: CodedCriterion, terms: Terms) -> Reliability | None:
        if self.data.design.scores is None or self.data.design.truths is None:
            return None
        return reliability_of(criterion, self.data, terms.reference, terms.level)


@dataclass(frozen=True, kw_only=True, eq=False)
class Subject:
    """A listed group, the notion and outcome (if there are several) that it is about, and D2 as seen from there.

    before: the groups within whose strata it was compared. strata: of legitimate factors, if there are any. others: the
    attributes whose people it is held beside; None where groups are not compared with everyone else.
    """

    criterion: CodedCriterion
    before: tuple[CodedCriterion, ...] = ()
    notion: Notion
    outcome: str | None
    people: People
    strata: Strata | None = None
    others: tuple[int, ...] | None = None

    @property
    def along(self) -> list[tuple[int, CodedCriterion]]:
        """The attributes along which the group itself is counted."""
        return [(attribute, self.criterion) for attribute in self.others or ()]

    @property
    def parts(self) -> list[tuple[int, CodedCriterion]]:
        """Per condition, by name, its attribute and the other conditions; a group of one condition has no parts."""
        if len(self.criterion) < 2:
            return []
        named = sorted(self.criterion, key=lambda c: self.people.attributes[c.attribute].name)
        return [(c.attribute, tuple(other for other in self.criterion if other != c)) for c in named]


def details(subjects: Sequence[Subject], terms: Terms, least: int = 1) -> Details:
    """Curves and dropped conditions of these groups, counted on D2; curves of surveys count people by their weights.

    least: parts with fewer people in them or outside them are not shown.
    """
    curves: list[Curve] = []
    dropped: dict[int, tuple[Dropped, ...]] = {}
    beside: dict[int, Beside | None] = {}
    for outcome in dict.fromkeys(subject.outcome for subject in subjects):
        here = {i: subject for i, subject in enumerate(subjects) if subject.outcome == outcome}
        people = next(iter(here.values())).people
        used = sorted({condition.attribute for subject in here.values() for condition in subject.criterion})
        count = RateCounter(next(iter(here.values())).notion.rates, 0).people
        lines = {a: _Line(people.attributes[a], people.along(a), count, least) for a in used}
        curves += [line.curve(outcome) for line in lines.values()]
        for i, subject in here.items():
            found = [_describe_dropped(subject, people, *part, terms, lines) for part in subject.parts]
            dropped[i] = tuple(one for one in found if one is not None)
        held = dict.fromkeys(a for subject in here.values() for a in subject.others or ())
        lines |= {a: _Line(people.attributes[a], people.along(a), count, least) for a in held if a not in lines}
        for i, subject in here.items():
            beside[i] = None if subject.others is None else _hold_beside(subject, lines, terms.level)
    spreads = [subject.people.spread(subject.criterion, terms.reference) for subject in subjects]
    told = [subject.people.reliability(subject.criterion, terms) for subject in subjects]
    return Details(
        curves=tuple(curves),
        dropped=tuple(dropped[i] for i in range(len(subjects))),
        spreads=tuple(spread for spread in spreads if spread is not None),
        reliabilities=tuple(one.without_few(least) for one in told if one is not None),
        beside=tuple(beside[i] for i in range(len(subjects))),
    )


def held_beside(criterion: CodedCriterion, attributes: Sequence[Attribute], strata: Strata | None) -> tuple[int, ...]:
    """The attributes that a group is held beside: those that neither it nor a legitimate factor is about."""
    own = {condition.attribute for condition in criterion}
    factors = set() if strata is None else {factor.name for factor in strata.factors}
    return tuple(a for a, attribute in enumerate(attributes) if a not in own and attribute.name not in factors)


def _hold_beside(subject: Subject, lines: Mapping[int, _Line], level: float) -> Beside:
    people, rates, criterion = subject.people, subject.notion.rates, subject.criterion
    tested = people.samples_people
    (inside,), (everyone,) = people.members([criterion]), people.members([()])
    attributes = []
    for a in subject.others or ():
        sides = lines[a].sides(people.along(a, criterion))
        named = lines[a].words, lines[a].pieces
        attributes.append(alike(lines[a].attribute.name, sides, *named, rates, level, tested=tested))
    factors: list[Alike] = []
    all_alike = None
    if subject.strata is not None:
        n = len(subject.strata)
        own = people.in_strata(criterion, n)
        sides = Sides(inside=own, outside=people.in_strata((), n) - own)
        all_alike = together(sides, rates, level, tested=tested)
        for f, factor in enumerate(subject.strata.factors):
            words = [readable_condition(condition) for condition in factor.conditions]
            by_class = sides.merged(subject.strata.classes[:, f], len(words))
            pieces = [np.array([c]) for c in range(len(words))]
            factors.append(alike(factor.name, by_class, words, pieces, rates, level, tested=tested))
    return Beside(
        crude=gaps_within(Sides(inside=inside[None], outside=(everyone - inside)[None]), rates, level, tested=tested),
        factors=tuple(factors),
        together=all_alike,
        attributes=tuple(attributes),
    )


def people_of_trees(
    forest: Forest, numbers: Sequence[int], people: People, first: int = 0, *, rates: RateCounter, least: int = 1
) -> tuple[TreePeople, ...]:
    """Some trees of a forest, counted on D2. first: the number that the forest's first tree has in the audit.

    rates: say how many people counts are. least: nodes with fewer people in them or outside them are not shown.
    """
    numbers = sorted(set(numbers))
    criteria = forest.criteria([attribute.size for attribute in people.attributes])
    nodes = [np.flatnonzero(forest.tree == number).tolist() for number in numbers]
    table = people.members([criteria[i] for at in nodes for i in at])
    ends = np.cumsum([0, *map(len, nodes)]).tolist()
    out = []
    for number, start, end in zip(numbers, ends[:-1], ends[1:], strict=True):
        size = rates.people(table[start:end])
        small = too_few(size, size[:1] - size, least)
        counts = [None if few else tuple(cells) for few, cells in zip(small, table[start:end].tolist(), strict=True)]
        out.append(TreePeople(tree=first + number, counts=tuple(counts)))
    return tuple(out)


class _Line:
    """One attribute in the bins of a coarse view, and which of its bins are shown together."""

    def __init__(
        self, attribute: Attribute, people: IntArray, count: Callable[[IntArray], IntArray], least: int = 1
    ) -> None:
        """people: everyone per code (the last one: missing) and cell; count: how many people counts per cell are.

        least: no bin has fewer people.
        """
        self.count, self.least = count, least
        by_code = count(people)
        codes = np.flatnonzero(by_code)
        data = AuditData(
            attributes=(attribute,),
            codes=(compact(codes, attribute.size),),
            cells=np.zeros(len(codes), np.uint8),
            counts=by_code[codes],
            n_cells=1,
        )
        self.attribute, self.present = attribute, np.unique(codes)
        self.column = coarse_view(data, BINS).columns[0]
        # Codes that nobody has are in no bin, and add nothing to the first.
        self.bins = np.zeros(attribute.size + 1, np.int64)
        self.bins[codes] = self.column.bins
        self.table = self._bin_people(people)
        self.pieces = self._pieces()

    def _bin_people(self, people: IntArray) -> IntArray:
        """People per bin (the last one: missing) and cell."""
        out = np.zeros((self.column.n + 1, people.shape[1]), np.int64)
        np.add.at(out, self.bins, people)
        return out

    def _pieces(self) -> list[IntArray]:
        """The bins that are shown, each as the numbers of the coarse bins in it; "missing" comes last, if it occurs.

        Where bins are small, neighbours are taken together, and of levels without an order all small ones.
        """
        n, people = self.column.n, self.count(self.table)
        missing = [np.array([n])] if people[n] else []
        bins = np.arange(n)
        if self.column.nominal:
            return self._levels(people)
        pieces = [bins[[b]] for b in bins.tolist() if people[b]]
        merged: list[IntArray] = []
        for piece in pieces:
            if merged and people[merged[-1]].sum() < self.least:
                merged[-1] = np.append(merged[-1], piece)
            else:
                merged.append(piece)
        if len(merged) > 1 and people[merged[-1]].sum() < self.least:
            merged[-2:] = [np.concatenate(merged[-2:])]
        kept = missing if people[n] >= self.least else []
        shown = [*merged, *kept]
        total = int(people.sum())
        return [p for p in shown if not too_few(int(people[p].sum()), total - int(people[p].sum()), self.least)]

    def _levels(self, people: IntArray) -> list[IntArray]:
        """Levels without an order: those of the most people one by one, and all others together."""
        n = self.column.n
        present = [np.array([b]) for b in range(n) if people[b]] if n <= LEVELS else []
        rest: list[int] = []
        if n > LEVELS:
            order = np.argsort(-people[:n], kind="stable")
            present, rest = [np.array([b]) for b in np.sort(order[:LEVELS]).tolist()], order[LEVELS:].tolist()
        missing = [n] if people[n] else []
        small = [int(p[0]) for p in present if people[p[0]] < self.least]
        together = sorted([*rest, *small, *(b for b in missing if people[b] < self.least)])
        alone = [p for p in present if people[p[0]] >= self.least]
        while alone and 0 < people[together].sum() < self.least:
            least = min(alone, key=lambda p: int(people[p[0]]))
            alone = [p for p in alone if p is not least]
            together = sorted([*together, int(least[0])])
        kept = [np.array([b]) for b in missing if people[b] >= self.least]
        return [*alone, *([np.array(together)] if together else []), *kept]

    def curve(self, outcome: str | None) -> Curve:
        """Everyone along the attribute."""
        bins = tuple(self._bin(piece, self.present) for piece in self.pieces)
        n = self.column.n
        unseen = bool(self.count(self.table)[n]) and not any(n in piece for piece in self.pieces)
        return Curve(
            attribute=self.attribute.name, kind=self.attribute.kind, bins=bins, outcome=outcome, without_missing=unseen
        )

    def _bin(self, piece: IntArray, present: IntArray) -> Bin:
        counts, start = _sum_cells(self.table, piece), int(piece[0])
        if start == self.column.n and len(piece) == 1:
            return Bin(counts=counts, levels=(None,), n_levels=1)
        levels, values = self.attribute.levels, self.attribute.values
        if self.column.nominal:
            names = (levels[int(self.column.levels[start])],) if len(piece) == 1 else ()
            return Bin(counts=counts, levels=names, n_levels=len(piece))
        from_, to = np.searchsorted(present, self.column.edges[[start, int(piece[-1]) + 1]]).tolist()
        first, last = int(present[from_]), int(present[to - 1])
        if values is not None:
            return Bin(counts=counts, first=float(values[first]), last=float(values[last]))
        return Bin(counts=counts, levels=tuple(dict.fromkeys((levels[first], levels[last]))), n_levels=to - from_)

    def sides(self, people: IntArray) -> Sides:
        """Some people, given per code and cell, and everyone else, per bin."""
        inside = self._bin_people(people)
        return Sides(inside=inside, outside=self.table - inside)

    @cached_property
    def words(self) -> list[str]:
        """What the bins that are shown together hold."""
        return [self._say(self._bin(piece, self.present)) for piece in self.pieces]

    def _say(self, bin_: Bin) -> str:
        if bin_.first is not None and bin_.last is not None:
            ends = dict.fromkeys(format_bound(value, self.attribute.kind) for value in (bin_.first, bin_.last))
            return " to ".join(ends)
        return " to ".join(level or "missing" for level in bin_.levels) or f"{bin_.n_levels:,} others"

    def within(self, people: IntArray) -> tuple[tuple[int, ...] | None, ...]:
        """Some people, given per code and cell, per bin and cell."""
        table, total = self._bin_people(people), int(self.count(self.table).sum())
        sizes = [int(self.count(table)[piece].sum()) for piece in self.pieces]
        return tuple(
            None if too_few(size, total - size, self.least) else _sum_cells(table, piece)
            for size, piece in zip(sizes, self.pieces, strict=True)
        )


def _sum_cells(table: IntArray, piece: IntArray) -> tuple[int, ...]:
    return tuple(table[piece].sum(axis=0).tolist())


def _describe_dropped(
    subject: Subject, people: People, attribute: int, others: CodedCriterion, terms: Terms, lines: Mapping[int, _Line]
) -> Dropped | None:
    """The group without one of its conditions; None where all but a few people are left."""
    assessment = subject.people.assess(others, subject.before, subject.notion, replace(terms, exact=True))
    inside, outside = (assessment.counter.people(side)[0] for side in (assessment.inside, assessment.outside))
    if too_few(inside, outside, lines[attribute].least):
        return None
    intervals = assessment.intervals(terms.level)
    return Dropped(
        attribute=people.attributes[attribute].name,
        size=int(assessment.size[0]),
        share=float(round_reported(assessment.share[0]) or 0.0),
        psi=round_reported(assessment.psi[0]),
        rates_inside=_by_rate(assessment, assessment.rate_in),
        rates_outside=_by_rate(assessment, assessment.rate_out),
        interval=(round_reported(intervals.low[0]), round_reported(intervals.high[0])),
        undefined=assessment.reason(0),
        within=lines[attribute].within(people.along(attribute, others)),
    )


def _by_rate(assessment: Assessment, values: FloatArray) -> dict[str, float | None]:
    rates = assessment.notion.rates
    return {rate.key: round_reported(value) for rate, value in zip(rates, values[:, 0].tolist(), strict=True)}
