"""How many people of coded data satisfy criteria, by confusion cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil

import numpy as np

from ald._core import _numpy_kernel, kernels
from ald._core.arrays import AnyArray, BoolArray, ByteArray, CodeArray, IntArray
from ald._core.exact import moments
from ald._core.threads import in_threads
from ald.data import packing
from ald.data.coded import Attribute, AuditData, number_values, weighted_bincount
from ald.data.joint import joint_tables
from ald.groups.tree import CodedCondition, CodedCriterion, Forest
from ald.notions import AMOUNT_CELLS

_WORTH_A_THREAD = 1_000_000
# Rows that go down a tree together.
_ROWS_AT_ONCE = 1 << 15
_ROWS_PER_LEAF = 128
# The same of rows that are numbered on their way.
_NUMBERED_AT_ONCE = 1 << 16
# Memberships that are put together before patterns are numbered: numbers of rows times so many bits fit 63.
_BITS_AT_ONCE = 24


def count_members(criteria: Sequence[CodedCriterion], data: AuditData, threads: int = 1) -> IntArray:
    """Counts per criterion and cell: [criteria, cells]. Membership is the criterion's alone, never a tree's routing."""
    members = Members(criteria, data.attributes)
    return members.count(data, threads)[members.which]


class Members:
    """Criteria made ready for their members to be counted, in any data with these attributes.

    criteria: every different one once; which: the number of every one that was given among these.
    """

    def __init__(self, criteria: Sequence[CodedCriterion], attributes: Sequence[Attribute]) -> None:
        number: dict[CodedCriterion, int] = {}
        of_each = (number.setdefault(criterion, len(number)) for criterion in criteria)
        self.which = np.fromiter(of_each, np.int64, len(criteria))
        self.criteria = list(number)
        self.attributes = attributes
        self._lengths = np.array([len(criterion) for criterion in self.criteria], dtype=np.int64)

    def count(self, data: AuditData, threads: int = 1) -> IntArray:
        """Counts per different criterion and cell."""
        # Rows by cell, so that each cell's sum runs over neighbours.
        order = np.argsort(data.cells, kind="stable")
        named = {condition.attribute for criterion in self.criteria for condition in criterion}
        codes = [code[order] if k in named else code for k, code in enumerate(data.codes)]
        bounds = np.searchsorted(data.cells[order], np.arange(data.n_cells + 1)).astype(np.int64)
        return self._count(codes, data.counts if data.one_each else data.counts[order], bounds, threads)

    def people(self, data: AuditData, threads: int = 1) -> IntArray:
        """The people of every different criterion, in whatever cell they are."""
        return self._count(data.codes, data.counts, np.array([0, len(data.cells)]), threads)[:, 0]

    def _count(self, codes: Sequence[CodeArray], counts: IntArray, bounds: IntArray, threads: int) -> IntArray:
        """Of rows from one bound to the next."""
        out = np.zeros((len(self.criteria), len(bounds) - 1), dtype=np.int64)
        work = (1 + self._lengths) * len(counts)
        parts = kernels.chunks(work, threads, _WORTH_A_THREAD) if len(self.criteria) else []

        def count(part: slice) -> None:
            kernels.kernel().members(codes, counts, bounds, *self._part(part), out[part])

        in_threads(count, parts, threads)
        return out

    def _part(self, part: slice) -> tuple[AnyArray, ...]:
        """The kernel's arrays for some of the criteria: only the conditions that these have."""
        conditions, tables, offsets, used = self._arrays
        start, end = offsets[part.start], offsets[part.stop]
        offsets, used = offsets[part.start : part.stop + 1] - start, used[start:end]
        if len(offsets) <= len(self.criteria):
            own, used = np.unique(used, return_inverse=True)
            conditions = np.ascontiguousarray(conditions[:, own])
        return *conditions, tables, offsets, used

    @cached_property
    def _arrays(self) -> tuple[IntArray, ByteArray, IntArray, IntArray]:
        """Every different condition once (attribute, low, high, place of its table), all tables, and per criterion the
        numbers of its conditions."""
        number: dict[CodedCondition, int] = {}
        used = [number.setdefault(condition, len(number)) for criterion in self.criteria for condition in criterion]
        tables = [_table(condition, self.attributes) for condition in number if condition.levels]
        ends = np.cumsum([len(table) for table in tables])
        tables_at = np.full(len(number), -1, dtype=np.int64)
        named = [k for condition, k in number.items() if condition.levels]
        tables_at[named] = np.concatenate([[0], ends])[: len(tables)]
        joined = np.concatenate(tables).astype(np.uint8) if tables else np.zeros(1, np.uint8)
        columns = np.array([condition[:3] for condition in number], dtype=np.int64).reshape(-1, 3).T
        offsets = np.concatenate([[0], np.cumsum(self._lengths)]).astype(np.int64)
        conditions = np.ascontiguousarray(np.vstack([columns, tables_at]))
        return conditions, joined, offsets, np.array(used, dtype=np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class FewRows:
    """The rows of groups that have few: those of group i are rows[place[i], :lengths[i]], in any order.

    lengths: 0 where nothing is known of a group.
    """

    place: IntArray
    lengths: IntArray
    rows: AnyArray

    @classmethod
    def of(cls, groups: Sequence[IntArray | tuple[()]]) -> FewRows:
        """From the rows of every group."""
        lengths = np.array([len(rows) for rows in groups], dtype=np.int64)
        table = np.zeros((len(groups), int(lengths.max(initial=0))), np.uint32)
        for i in np.flatnonzero(lengths).tolist():
            table[i, : lengths[i]] = groups[i]
        return cls(place=np.arange(len(groups)), lengths=lengths, rows=table)

    def __getitem__(self, group: int) -> IntArray:
        """The rows of a group, ascending."""
        return np.sort(self.rows[self.place[group], : self.lengths[group]]).astype(np.int64)

    def together(self, groups: IntArray, n: int) -> IntArray:
        """Those of groups of n rows each, [groups, n]."""
        return np.sort(self.rows[self.place[groups], :n], axis=1).astype(np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class Leaves:
    """Criteria that are paths to leaves of a forest: everyone is sent down its trees instead of held against each.

    at: the positions of the leaves in the forest; `present`: per ordered attribute with levels those that its criteria
    name. A value that a split does not name goes nowhere, so that this counts members, not where trees route people.
    """

    forest: Forest
    at: IntArray
    present: Mapping[int, list[int]]

    def count(self, data: AuditData, threads: int = 1) -> IntArray:
        """As `count_members`: [criteria, cells]."""
        forest = self.forest
        sizes = np.array([attribute.size + 1 for attribute in data.attributes], dtype=np.int64)
        tables_at, tables = self._tables(sizes)
        if data.design.amounts is None and packing.available(data):
            return _count_leaves(data, forest, (tables_at, tables), threads)[self.at]
        out = np.zeros((forest.n_nodes, data.n_cells), dtype=np.int64)
        roots = np.flatnonzero(forest.parent < 0)
        _numpy_kernel.descend(
            data.codes, data.cells, data.counts, roots, forest.attribute, forest.left, forest.right, forest.cut,
            tables_at, tables, sizes, data.n_cells, out,
        )  # fmt: skip
        return np.asarray(out[self.at])

    def sums(self, data: AuditData, keep: float, threads: int = 1) -> tuple[IntArray, FewRows]:
        """Of amounts what `count` is of people, and the rows of every leaf with fewer people than `keep`."""
        assert data.design.amounts is not None
        forest = self.forest
        sizes = np.array([attribute.size + 1 for attribute in data.attributes], dtype=np.int64)
        tables_at, tables = self._tables(sizes)
        if packing.available(data) and (data.one_each or int(data.counts.min()) > 0):
            out, used, rows = _add_up_leaves(data, forest, (tables_at, tables), max(ceil(keep) - 1, 0), threads)
            place, few = np.cumsum(forest.is_leaf) - 1, np.where(forest.is_leaf & (out[:, 0] < keep), used, 0)
            return np.asarray(out[self.at]), FewRows(place=place[self.at], lengths=few[self.at], rows=rows)
        added = moments(data.design.amounts) * data.counts[:, None]
        out = np.zeros((forest.n_nodes, added.shape[1]), dtype=np.int64)
        small: dict[int, IntArray] = {}

        def descend(root: int) -> None:
            leaves = list(_leaves_below(root, data, forest, (tables_at, tables, sizes)))
            if not leaves:
                return
            starts = np.cumsum([0, *(len(rows) for _, rows in leaves[:-1])])
            nodes = [node for node, _ in leaves]
            out[nodes] = np.add.reduceat(added[np.concatenate([rows for _, rows in leaves])], starts)
            small.update({node: rows for node, rows in leaves if out[node, 0] < keep})

        in_threads(descend, np.flatnonzero(forest.parent < 0).tolist(), threads)
        return np.asarray(out[self.at]), FewRows.of([small.get(node, ()) for node in self.at.tolist()])

    def everywhere(self, data: AuditData, threads: int = 1) -> IntArray:
        """People at every node of the forest, by packed rows: [nodes, cells]."""
        sizes = np.array([attribute.size + 1 for attribute in data.attributes], dtype=np.int64)
        return _count_leaves(data, self.forest, self._tables(sizes), threads, everywhere=True)

    def _tables(self, sizes: IntArray) -> tuple[IntArray, ByteArray]:
        """Per node whose split names levels: where its table starts (-1 for others), and all tables.

        A table has an entry per code: 1 for left, 0 for right, 2 for neither.
        """
        forest = self.forest
        ordered = np.flatnonzero(np.isin(forest.attribute, list(self.present)))
        sides = forest.sides
        nodes = np.concatenate([sides.nodes, ordered])
        ends = np.cumsum(sizes[forest.attribute[nodes]])
        tables_at = np.full(forest.n_nodes, -1, dtype=np.int64)
        tables_at[nodes] = np.concatenate([[0], ends])[: len(nodes)]
        tables = np.full(int(ends[-1]) if len(nodes) else 1, 2, dtype=np.uint8)
        starts = np.repeat(tables_at[sides.nodes], np.diff(sides.offsets))
        tables[starts + sides.codes] = sides.is_left
        for node in ordered.tolist():
            codes = np.array(self.present[int(forest.attribute[node])])
            tables[tables_at[node] + codes] = codes <= forest.cut[node]
        return tables_at, tables


def _count_leaves(
    data: AuditData, forest: Forest, tables: tuple[IntArray, ByteArray], threads: int, *, everywhere: bool = False
) -> IntArray:
    """People per node and cell at the leaves of trees, or at all their nodes: [nodes, cells].

    tables: where the table of every node starts, -1 for those that cut; and all tables, per code 1 for left, 0 for
    right, 2 for neither.
    """
    rows = packing.PackedRows.of(data, threads)
    layout, words = rows.layout, rows.words
    layout.with_people(words, data.counts)
    fields = layout.fields(np.array([each.size for each in data.attributes], dtype=np.int64))
    # Enough rows for a few per leaf, and few enough to stay in the cache if possible.
    block = max(_ROWS_AT_ONCE, _ROWS_PER_LEAF * forest.n_nodes // max(forest.n_trees, 1))
    work = np.full(-(-len(words) // _ROWS_AT_ONCE), _ROWS_AT_ONCE * forest.n_trees, dtype=np.int64)

    def count(part: slice) -> IntArray:
        out = np.empty((forest.n_nodes, data.n_cells), np.int64)
        first, last = part.start * _ROWS_AT_ONCE, min(part.stop * _ROWS_AT_ONCE, len(words))
        nodes = forest.parent, forest.attribute, forest.left, forest.right, forest.cut
        packing.kernel().descend(
            layout.shape, data.n_cells, first, last, block, int(everywhere), (*fields, words, *nodes, *tables, out)
        )
        return out

    pieces = in_threads(count, kernels.chunks(work, threads, packing.WORTH_A_THREAD), threads)
    return np.asarray(np.sum([np.zeros((forest.n_nodes, data.n_cells), np.int64), *pieces], axis=0))


def _add_up_leaves(
    data: AuditData, forest: Forest, tables: tuple[IntArray, ByteArray], most: int, threads: int
) -> tuple[IntArray, IntArray, AnyArray]:
    """What amounts add up to at the leaves of trees, [nodes, 4], how many rows are there, and up to `most` rows of each
    leaf, [leaves, most].
    """
    packed = packing.PackedRows.of(data, threads)
    layout, words = packed.layout, packed.words
    layout.with_people(words, data.counts)
    fields = layout.fields(np.array([each.size for each in data.attributes], dtype=np.int64))
    n_leaves, is_leaf = int(np.count_nonzero(forest.is_leaf)), forest.is_leaf
    kept_at = np.where(is_leaf, (np.cumsum(is_leaf) - 1) * most, 0)
    out, used = np.empty((forest.n_nodes, len(AMOUNT_CELLS)), np.int64), np.empty(forest.n_nodes, np.int64)
    rows = np.empty((n_leaves, most), np.uint32)
    roots = np.append(np.flatnonzero(forest.parent < 0), forest.n_nodes)
    nodes = forest.parent, forest.attribute, forest.left, forest.right, forest.cut
    arrays = (*fields, words, *nodes, *tables, kept_at, out, used, rows)

    def add(trees: slice) -> None:
        first, last = int(roots[trees.start]), int(roots[trees.stop])
        packing.kernel().descend_amounts(layout.shape, first, last, _NUMBERED_AT_ONCE, most, arrays)

    work = np.full(len(roots) - 1, len(words), dtype=np.int64)
    in_threads(add, kernels.chunks(work, threads, packing.WORTH_A_THREAD), threads)
    return out, used, rows


class NodeMembers(Members):
    """The criteria of all nodes of a forest. Everyone is sent down its trees, where these can be packed."""

    def __init__(self, forest: Forest, attributes: Sequence[Attribute]) -> None:
        super().__init__(forest.criteria([attribute.size for attribute in attributes]), attributes)
        self._leaves = Leaves(forest=forest, at=np.flatnonzero(forest.is_leaf), present={})
        # Of every different criterion one of the nodes that have it.
        self._node = np.zeros(len(self.criteria), np.int64)
        self._node[self.which] = np.arange(len(self.which))

    def count(self, data: AuditData, threads: int = 1) -> IntArray:
        """As held against every criterion."""
        if data.design.amounts is not None or not packing.available(data) or len(self.criteria) == 0:
            return super().count(data, threads)
        return self._leaves.everywhere(data, threads)[self._node]


def _table(condition: CodedCondition, attributes: Sequence[Attribute]) -> BoolArray:
    table = np.zeros(attributes[condition.attribute].size + 1, dtype=bool)
    table[list(condition.levels)] = True
    return table


def _leaves_below(
    root: int, data: AuditData, forest: Forest, tests: tuple[IntArray, ByteArray, IntArray]
) -> Iterator[tuple[int, IntArray]]:
    """The leaves of one tree that anyone is in, with the rows of each, ascending."""
    tables_at, tables, sizes = tests
    waiting = [(root, np.arange(len(data.cells)))]
    while waiting:
        node, rows = waiting.pop()
        attribute = int(forest.attribute[node])
        if len(rows) == 0:
            continue
        if attribute < 0:
            yield node, rows
            continue
        code = data.codes[attribute][rows]
        if tables_at[node] >= 0:
            side = tables[tables_at[node] + code.astype(np.int64)]
            left, right = side == 1, side == 0
        else:
            cut, missing = int(forest.cut[node]), int(sizes[attribute]) - 1
            left = code <= cut
            right = ~left & (code < missing)
        waiting += [(int(forest.left[node]), rows[left]), (int(forest.right[node]), rows[right])]


def member_mask(criterion: CodedCriterion, data: AuditData) -> BoolArray:
    """Which rows of coded data satisfy a criterion."""
    mask = np.ones(len(data.cells), dtype=bool)
    for condition in criterion:
        code = data.codes[condition.attribute]
        if condition.levels:
            mask &= _table(condition, data.attributes)[code]
        else:
            mask &= (code >= condition.low) & (code < condition.high)
    return mask


def people_along(data: AuditData, attribute: int, criterion: CodedCriterion = ()) -> IntArray:
    """People who satisfy a criterion, per code of an attribute (the last one: missing) and cell."""
    rows = np.flatnonzero(member_mask(criterion, data)) if criterion else None
    return people_along_each(data, [attribute], rows)[0]


def people_along_each(
    data: AuditData, attributes: Sequence[int], rows: IntArray | None = None, threads: int = 1
) -> list[IntArray]:
    """The same of several attributes. rows: those that count (all, if None)."""
    sizes = [each.size + 1 for each in data.attributes]
    return joint_tables(data.codes, sizes, [(a,) for a in attributes], data, rows=rows, threads=threads)


def people_jointly(
    data: AuditData, columns: Sequence[tuple[int, IntArray, int]], before: Sequence[CodedCriterion], n_strata: int = 1
) -> tuple[IntArray, IntArray]:
    """People per combination that occurs, of several columns, of strata and of membership in groups, and per cell.

    columns: per attribute its number, what its codes are to be taken for, and how many of these there are. Keys are
    numbers of mixed base: the columns, the first one highest, then the stratum of `n_strata`, then a bit per group.
    """
    key = np.zeros(len(data.cells), np.int64)
    for attribute, table, size in columns:
        key = key * size + table[data.codes[attribute]]
    if n_strata > 1:
        assert data.design.strata is not None
        key = key * n_strata + data.design.strata
    for criterion in before:
        key = 2 * key + member_mask(criterion, data)
    present, place = number_values(key)
    counts = weighted_bincount(place * data.n_cells + data.cells, data.counts, len(present) * data.n_cells)
    return present, counts.reshape(-1, data.n_cells)


def membership_strata(masks: Sequence[BoolArray]) -> IntArray:
    """The stratum of every row: its pattern of membership, numbered over the patterns that occur."""
    pattern = np.zeros(len(masks[0]), dtype=np.int64)
    for i, mask in enumerate(masks):
        if i and i % _BITS_AT_ONCE == 0:
            pattern = number_values(pattern)[1]
        pattern = 2 * pattern + mask
    return number_values(pattern)[1]


def correlation(a: BoolArray, b: BoolArray, data: AuditData) -> float:
    """The correlation of two memberships over all people; 0 if one of them does not vary."""
    in_a, in_b, both = (float(data.people(mask)) for mask in (a, b, a & b))
    return correlation_of(float(data.total), in_a, in_b, both)


def correlation_of(n: float, in_a: float, in_b: float, both: float) -> float:
    """The correlation of two memberships, from numbers of people."""
    spread = in_a * (n - in_a) * in_b * (n - in_b)
    return (n * both - in_a * in_b) / spread**0.5 if spread > 0 else 0.0
