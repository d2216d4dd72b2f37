"""The statistic of groups against everyone else, from their counts in all strata; in C where that was built.

The C code and NumPy give the same bits. Groups are counted in strata of four kinds, the axes of `everyone`: patterns
of membership in groups already taken, strata of legitimate factors, those outside and inside the reference group (if
there is one), and confusion cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from ald._core import kernels
from ald._core.arrays import ByteArray, FloatArray, IntArray
from ald._core.segments import few_sums
from ald.notions import RateCounter
from ald.search.forest.splitting import two_sample
from ald.statistics.stratified import NO_VARIANCE, cmh_terms, combined_statistic

# Groups that NumPy looks at at a time: their arrays then stay in the processor's cache.
_AT_ONCE = 1 << 14
# From so many rates on NumPy adds them up in an order that depends on the number of groups.
_MOST_RATES = 8


@dataclass(frozen=True, kw_only=True, eq=False)
class Yardstick:
    """Whom groups are compared with, and how.

    everyone: counts [patterns, strata given, references, cells]. direction: -1 for disadvantaged groups only, 1 for
    advantaged ones only. effect: by how much clusters or weights inflate statistics. smallest: the least number of
    people in a group, and of those that it is compared with.
    """

    everyone: IntArray
    rates: RateCounter
    direction: int = 0
    effect: float = 1.0
    smallest: int = 0

    def statistic(self, inside: IntArray) -> FloatArray:
        """The statistic of groups from their counts, all strata in the last axis.

        It is the one within patterns and strata given, as on D2.
        """
        table = np.ascontiguousarray(inside, dtype=np.int64).reshape(-1, self.everyone.size)
        return self._statistic(table, None, None, len(table)).reshape(inside.shape[:-1])

    def between(self, running: IntArray, low: IntArray, high: IntArray) -> FloatArray:
        """The statistic of groups whose counts are running[high] - running[low]."""
        return self._statistic(np.ascontiguousarray(running), low, high, len(high))

    def _statistic(self, table: IntArray, low: IntArray | None, high: IntArray | None, n: int) -> FloatArray:
        out = np.empty(n)
        compiled = kernels.evidence()
        if compiled is not None and len(self.rates.rates) < _MOST_RATES:
            ends = (None if end is None else np.ascontiguousarray(end, dtype=np.int64) for end in (low, high))
            hit_cells, base_cells = _cells(self.rates, self.everyone.shape[-1])
            compiled.statistic(
                table, *ends, self._flat, *self.everyone.shape, hit_cells, base_cells, self._sides,
                self.rates.disjoint, self.effect, self.smallest, out,
            )  # fmt: skip
            return out
        for start in range(0, n, _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            inside = table[part] if low is None or high is None else table[high[part]] - table[low[part]]
            out[part] = self._of(inside)
        return out

    @cached_property
    def _flat(self) -> IntArray:
        return np.ascontiguousarray(self.everyone, dtype=np.int64).ravel()

    @cached_property
    def _sides(self) -> FloatArray:
        """Per rate the side that counts: 1, -1, or 0 for both."""
        return self.rates.signs * self.direction

    @cached_property
    def _pooled(self) -> tuple[IntArray, IntArray]:
        """Everyone's hits and bases."""
        cells = self.everyone.reshape(-1, self.everyone.shape[-1]).sum(axis=0)
        return self.rates.hit(cells), self.rates.base(cells)

    def _of(self, inside: IntArray) -> FloatArray:
        """As `statistic`, by NumPy: counts [groups, all strata] in, [groups] out."""
        by_pattern = inside.reshape(len(inside), *self.everyone.shape)
        n_patterns, n_given, n_references, _ = self.everyone.shape
        if n_patterns == n_given == n_references == 1 and self.direction == 0:
            value = self._without_strata(inside)
        else:
            value = self._within(by_pattern, self.everyone)
        n = few_sums(inside, 1)
        if n_references > 1:
            others = (self.everyone - by_pattern)[..., 1, :].sum(axis=(1, 2, 3))
        else:
            others = self.everyone.sum() - n
        return np.where((n >= self.smallest) & (others >= self.smallest), value, 0.0)

    def _without_strata(self, counts: IntArray) -> FloatArray:
        hit, base = self.rates.hit(counts), self.rates.base(counts)
        hits, bases = (column[:, None] for column in self._pooled)
        margin = self.rates.margin(hits, bases)
        if self.rates.disjoint:
            value = two_sample(self.rates, hit, base, hits, bases, margin)
        else:
            # Rows count in several rates: the strongest of them.
            each = [slice(r, r + 1) for r in range(len(hit))]
            value = np.max(
                [two_sample(self.rates, hit[r], base[r], hits[r], bases[r], margin[r]) for r in each], axis=0
            )
        return value if self.effect == 1.0 else value / self.effect

    def _within(self, inside: IntArray, totals: IntArray) -> FloatArray:
        """Within strata. totals: [strata (in one axis or more), references, cells]; inside: [groups] of the same."""
        totals = totals.reshape(-1, *totals.shape[-2:])
        inside = inside.reshape(len(inside), *totals.shape)
        group = few_sums(inside, -2)
        # With a reference group, the others are its members who are not in the group; without, all who are not.
        everyone = totals[..., 0, :] if len(totals[0]) == 1 else group + totals[..., 1, :] - inside[..., 1, :]
        excess, variance = cmh_terms(group, everyone, self.rates)
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = np.where(variance > NO_VARIANCE, excess * excess / variance, 0.0)
        if self.direction:
            parts = np.where(excess * self.rates.signs[:, None] * self.direction > 0, parts, 0.0)
        return combined_statistic(parts, self.rates.disjoint) / self.effect


@lru_cache(maxsize=16)
def _cells(rates: RateCounter, n_cells: int) -> tuple[ByteArray, ByteArray]:
    """Per rate and cell whether the cell has its hits, and its base."""
    each = np.eye(n_cells, dtype=np.int64)
    hit, base = (np.ascontiguousarray(f(each), dtype=np.uint8) for f in (rates.hit, rates.base))
    return hit, base
