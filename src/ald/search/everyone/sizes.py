"""How large the difference of a group is that the same people suggested.

The interval allows for the search: it holds every difference that would not have stood out among shuffles, whatever
group had been named. So it excludes zero wherever the group is listed. The estimate is of what such a group shows on
new people: groups are found anew on random halves, and measured on the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import exp

import numpy as np
from scipy import special

from ald._core.arrays import BoolArray, FloatArray, IntArray
from ald._core.threads import in_threads
from ald.data.coded import AuditData, number_values
from ald.data.hashing import drawn, row_hashes, salt
from ald.groups.membership import member_mask
from ald.groups.tree import CodedCriterion
from ald.notions import RateCounter
from ald.search.everyone.descriptions import Descriptions, descriptions
from ald.search.everyone.layout import layout
from ald.search.everyone.shuffles import RESPLIT, own_outcomes
from ald.search.everyone.strongest import Round
from ald.search.explore.conditions import Conditions
from ald.search.explore.scoring import Aim, Scorer
from ald.search.explore.sharpen import Sharpener
from ald.statistics.basics import chi2_isf
from ald.statistics.score import Tables
from ald.statistics.stratified import mantel_haenszel

# Random halvings on which a group is found anew, both ways round.
SPLITS = 25
# Steps in which a statistic is shared out among several rates.
_STEPS = 48
_TINY = -600.0
# Strata times cells that the search can count.
_MOST_STRATA = 256


@dataclass(frozen=True, kw_only=True)
class Size:
    """The differences of a group within strata, per rate, and psi, with simultaneous intervals. NaN: undefined."""

    differences: tuple[float, ...]
    intervals: tuple[tuple[float, float], ...]
    psi: float
    interval: tuple[float, float]


def size(
    criterion: CodedCriterion,
    strata: IntArray,
    data: AuditData,
    rates: RateCounter,
    log_p: Sequence[float],
) -> Size:
    """The size of a group within strata, with all differences that are not rejected at `log_p`.

    log_p: the critical value less the price of the group, of all rates together or of every rate by itself.
    """
    mask = member_mask(criterion, data)
    tables = [_tables(mask, strata, data, rates, r) for r in range(len(rates.rates))]
    differences = [float(table.difference) for table in tables]
    together = len(log_p) == 1
    most = [float(chi2_isf(_chance(one), np.asarray(len(tables) if together else 1))) for one in log_p]
    ends = [_interval(table, most[0 if together else r]) for r, table in enumerate(tables)]
    if len(tables) == 1:
        return Size(differences=tuple(differences), intervals=tuple(ends), psi=differences[0], interval=ends[0])
    if together:
        interval = _shared(tables, most[0])
    else:
        low, high = np.array([_magnitudes(*one) for one in ends]).mean(axis=0).tolist()
        interval = (low, high)
    return Size(
        differences=tuple(differences),
        intervals=tuple(ends),
        psi=float(np.mean(np.abs(differences))),
        interval=interval,
    )


def power(
    criterion: CodedCriterion,
    strata: IntArray,
    data: AuditData,
    rates: RateCounter,
    log_p: Sequence[float],
    psi: float,
) -> float:
    """How likely such a group is to be listed, if its psi is this one: normally distributed, all rates in proportion.

    log_p: as for `size`.
    """
    mask = member_mask(criterion, data)
    tables = [_tables(mask, strata, data, rates, r) for r in range(len(rates.rates))]
    differences = np.array([float(table.difference) for table in tables])
    whole = differences[0] if len(tables) == 1 else np.abs(differences).mean()
    errors = np.array([float(table.error(np.asarray(0.0))) for table in tables])
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.nan_to_num(max(psi / whole, 0.0) * differences / errors)
    if len(log_p) == 1:
        least = float(chi2_isf(_chance(log_p[0]), np.asarray(len(tables))))
        return float(1.0 - special.chndtr(least, len(tables), float(z @ z)))
    each = [
        1.0 - special.chndtr(float(chi2_isf(_chance(one), np.asarray(1))), 1, float(own * own))
        for one, own in zip(log_p, z, strict=True)
    ]
    return float(max(each))


def _chance(log_p: float) -> float:
    return exp(max(min(log_p, 0.0), _TINY))


def _tables(mask: BoolArray, strata: IntArray, data: AuditData, rates: RateCounter, r: int) -> Tables:
    inside, outside = _by_stratum(mask, strata, data), _by_stratum(~mask, strata, data)
    return Tables(
        hits_in=rates.hit(inside)[r],
        base_in=rates.base(inside)[r],
        hits_out=rates.hit(outside)[r],
        base_out=rates.base(outside)[r],
        by_margins=True,
    )


def _by_stratum(mask: BoolArray, strata: IntArray, data: AuditData) -> IntArray:
    n = int(strata.max(initial=0)) + 1
    keys = strata[mask] * data.n_cells + data.cells[mask]
    counts = np.bincount(keys, data.counts[mask], n * data.n_cells).astype(np.int64)
    return counts.reshape(n, data.n_cells)


def _interval(tables: Tables, statistic: float) -> tuple[float, float]:
    """The differences whose statistic is no larger."""
    low, high = tables.interval(2.0 * float(special.ndtr(-np.sqrt(statistic))))
    return float(low), float(high)


def _magnitudes(low: float, high: float) -> tuple[float, float]:
    """The smallest and the largest absolute value of an interval."""
    return (0.0 if low <= 0 <= high else min(abs(low), abs(high)), max(abs(low), abs(high)))


def _shared(tables: Sequence[Tables], statistic: float) -> tuple[float, float]:
    """The least and largest mean absolute difference while the rates' statistics add up to no more than that.

    Shares are whole steps, and one step more than there are for every further rate: never too short an interval.
    """
    least, largest = np.zeros(1), np.zeros(1)
    for table in tables:
        ends = [_magnitudes(*_interval(table, statistic * step / _STEPS)) for step in range(_STEPS + 1)]
        low, high = np.array(ends).T
        places = np.arange(len(least) + _STEPS)
        from_before = places[:, None] - np.arange(_STEPS + 1)
        known = (from_before >= 0) & (from_before < len(least))
        before = np.clip(from_before, 0, len(least) - 1)
        least, largest = (
            np.where(known, least[before] + low, np.inf).min(axis=1),
            np.where(known, largest[before] + high, -np.inf).max(axis=1),
        )
    last = _STEPS + len(tables) - 1
    return float(least[: last + 1].min()) / len(tables), float(largest[: last + 1].max()) / len(tables)


def expected_size(
    criterion: CodedCriterion,
    strata: IntArray,
    data: AuditData,
    rates: RateCounter,
    *,
    direction: int = 0,
    seed: int = 0,
    splits: int = SPLITS,
    threads: int = 1,
) -> float:
    """What such a group shows on new people: the median over halves of what groups found on the other half show there.

    Groups are found on the attributes that the criterion names. NaN if no half has a group that can be measured.
    """
    named = sorted({condition.attribute for condition in criterion})
    own = replace(data, attributes=tuple(data.attributes[j] for j in named), codes=tuple(data.codes[j] for j in named))
    measure = partial(_shown, own, strata, rates, direction)
    shown = np.array(in_threads(measure, halvings(data, seed, splits), threads))
    if np.isnan(shown).all():
        return float("nan")
    median = float(np.nanmedian(shown))
    if len(rates.rates) > 1:
        return median
    whole = float(_differences(member_mask(criterion, data), strata, data, rates)[0])
    return median if whole >= 0 else -median


def halvings(data: AuditData, seed: int, splits: int = SPLITS) -> list[tuple[IntArray, IntArray]]:
    """Random halves, both ways round: how many people of every row are in the first and in the second."""
    hashes = row_hashes(data)
    first = [drawn(hashes, data.counts, 0.5, salt(seed, RESPLIT, number)) for number in range(splits)]
    return [pair for half in first for pair in ((half, data.counts - half), (data.counts - half, half))]


def _shown(
    data: AuditData, strata: IntArray, rates: RateCounter, direction: int, halves: tuple[IntArray, IntArray]
) -> float:
    """The psi on one half of the group found on the other, with the signs that it had there."""
    fitting, measuring = halves
    half = data.with_counts(fitting)
    kept = number_values(strata[np.flatnonzero(fitting)])[1]
    criterion = _found(half, kept, rates, direction)
    if not criterion:
        return float("nan")
    there = _differences(member_mask(criterion, half), kept, half, rates)
    here = _differences(member_mask(criterion, data), strata, replace(data, counts=measuring), rates)
    return float(np.mean(np.sign(there) * here))


def _differences(mask: BoolArray, strata: IntArray, data: AuditData, rates: RateCounter) -> FloatArray:
    found = mantel_haenszel(_by_stratum(mask, strata, data), _by_stratum(~mask, strata, data), rates)
    return found.difference


def _found(data: AuditData, strata: IntArray, rates: RateCounter, direction: int) -> CodedCriterion:
    """The strongest group of these people that names all attributes, sharpened; of four or more, as many as it can."""
    counters = [rates] if rates.disjoint else [RateCounter([rate], data.n_cells) for rate in rates.rates]
    best: tuple[float, CodedCriterion] = (np.inf, ())
    for counter in counters:
        described = _naming_all(descriptions(data, len(counter.rates)), len(data.attributes))
        people = layout(data, counter, strata)
        found = Round(described, people, sides=counter.signs * direction).strongest(own_outcomes(people))
        if not found.first or not np.isfinite(found.values[0]):
            continue
        options = {found.first: float(found.values[0])}
        within = strata if (int(strata.max(initial=0)) + 1) * data.n_cells <= _MOST_STRATA else None
        scorer = Scorer(described.view, counter, None, Aim(given=within, direction=direction), described.prices)
        sharper = Sharpener(scorer, Conditions(described.prices, len(counter.rates))).sharpen([found.first])
        options |= {c: value for c, value in sharper.items() if len(c) >= len(found.first)}
        criterion = min(options, key=lambda c: (options[c], c))
        best = min(best, (options[criterion], criterion))
    return best[1]


def _naming_all(described: Descriptions, attributes: int) -> Descriptions:
    """The descriptions of as many attributes as there are, or of as many as can be combined."""
    orders = [len(batch.parts[0]) for batch in described.batches]
    order = min(attributes, max(orders, default=1))
    batches = tuple(batch for batch in described.batches if len(batch.parts[0]) == order)
    return replace(described, singles=() if order > 1 else described.singles, batches=batches)
