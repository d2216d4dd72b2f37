"""Who can be shuffled with whom: people in the order of their rate's base and their stratum."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ald._core.arrays import AnyArray, ByteArray, FloatArray, IntArray
from ald.data.coded import AuditData
from ald.notions import RateCounter


@dataclass(frozen=True, kw_only=True, eq=False)
class Layout:
    """Everyone who is in the base of a rate, one entry per person, those of one rate and stratum together.

    No person is in the base of two rates. data: all rows, their cells replaced by the number of their rate (that of
    rates: none); strata: of all rows. rows: the row of every person; starts: where the people of every rate and stratum
    start, and the end; hits: how many of them have a hit; outcome: whether each person has one. size, share, weight
    [rates, strata]: people, their rate, and the variance of a group's hits per b (size - b), where b of them are in it.
    """

    data: AuditData
    rates: int
    strata: AnyArray
    n_strata: int
    rows: IntArray
    starts: IntArray
    hits: IntArray
    outcome: ByteArray
    size: FloatArray
    share: FloatArray
    weight: FloatArray

    @property
    def people(self) -> int:
        return len(self.rows)

    def rate_of_people(self) -> ByteArray:
        """The number of every person's rate."""
        of_each = np.repeat(np.arange(self.rates, dtype=np.uint8), self.size.sum(axis=1).astype(np.int64))
        return np.asarray(of_each)


def layout(data: AuditData, rates: RateCounter, strata: IntArray | None = None) -> Layout:
    """The layout of all people; `strata`: a number per row, from 0 on, within which outcomes are shuffled."""
    if not rates.disjoint:
        raise ValueError("people who are in the base of several rates cannot be shuffled for all of them together")
    n_rates = len(rates.rates)
    numbers = np.zeros(len(data.cells), np.int64) if strata is None else strata
    n_strata = int(numbers.max(initial=0)) + 1
    each = np.eye(data.n_cells, dtype=np.int64)
    in_base, is_hit = rates.base(each), rates.hit(each)
    rate_of_cell = np.where(in_base.any(axis=0), in_base.argmax(axis=0), n_rates).astype(np.uint8)
    rate, hit = rate_of_cell[data.cells], np.asarray(is_hit.any(axis=0))[data.cells]
    counted = np.flatnonzero(rate < n_rates)
    key = rate[counted].astype(np.int64) * n_strata + numbers[counted]
    order = np.argsort(key, kind="stable")
    rows = np.repeat(counted[order], data.counts[counted[order]])
    people_of = np.bincount(key, data.counts[counted], minlength=n_rates * n_strata).astype(np.int64)
    hits = np.bincount(key, data.counts[counted] * hit[counted], minlength=n_rates * n_strata).astype(np.int64)
    n, h = (part.reshape(n_rates, n_strata).astype(float) for part in (people_of, hits))
    many = n > 1
    weight = np.where(many, h * (n - h) / np.where(many, n * n * (n - 1.0), 1.0), 0.0)
    return Layout(
        data=replace(data, cells=rate, n_cells=n_rates + 1),
        rates=n_rates,
        strata=numbers.astype(np.uint32) if n_strata > 256 else numbers.astype(np.uint8),
        n_strata=n_strata,
        rows=rows,
        starts=np.concatenate([[0], np.cumsum(people_of)]),
        hits=hits,
        outcome=hit[rows].astype(np.uint8),
        size=n,
        share=np.where(n > 0, h / np.maximum(n, 1.0), 0.0),
        weight=weight,
    )
