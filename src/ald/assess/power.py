"""What an audit could have seen: the smallest disparity that its tests would have found.

A test depends on how many of the group are hits. Given how many people are hits in all, this number follows the
hypergeometric distribution, tilted by the odds ratio that a disparity makes. Power is the probability of those numbers
that the test rejects: so exact tests have their own power, and so have rare outcomes. It is the mean over several
numbers of hits in all, and of people in the group, as chance may have them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from ald._core.arrays import FloatArray, IntArray
from ald.assess.assessment import Terms
from ald.data.coded import AuditData, design_effect, effect_of, number_values, weighted_bincount
from ald.notions import Mean, Notion, RateCounter
from ald.statistics.basics import chi2_isf, round_reported, t_log_sf
from ald.statistics.exact import is_small, log_hypergeometric, log_p_of_all
from ald.statistics.score import Tables

SHARES = (0.01, 0.02, 0.05, 0.1, 0.25, 0.5)
POWER = 0.8
# Numbers of hits that are looked at: up to so many standard deviations from the expected one, or this far if that is
# more; of very many so many, evenly spread.
_DEVIATIONS, _AT_LEAST, _AT_MOST = 40.0, 200.0, 500
# How many numbers of hits in all, and of people in the group; neighbours of the one are so far apart in the other.
_MARGINS, _APART = 15, 4
# How often the range of possible disparities is halved.
_HALVINGS = 16
# Odds end where a rate is 0 or 1; rates are at least so far from that.
_EDGE = 1e-12
# Steps in which the evidence of several rates is added up.
_STEPS = 256


@dataclass(frozen=True, kw_only=True)
class Detectable:
    """For groups of this share: the smallest |psi| found with 80 % power, had the search proposed exactly this group.

    Of either sign, if both are looked for. None: even the largest possible disparity of such a group would be missed
    more often than that.
    """

    share: float
    psi: float | None
    notion: str = ""
    outcome: str | None = None


@dataclass(frozen=True, kw_only=True)
class Known:
    """How much the people of a design say about a rate.

    effect: by how much they are fewer than independent people without strata; below 1 where strata explain some of what
    varies. units: from how many clusters or weighted people variances are learned; infinite if they need not be.
    together: how much the disparity itself adds to the variance that these show. clustered: whether people have several
    rows.
    """

    effect: float = 1.0
    units: float = np.inf
    together: float = 1.0
    clustered: bool = False


def known(data: AuditData, rates: RateCounter) -> tuple[Known, ...]:
    """What these people say about every rate, by their strata, clusters and weights."""
    one = np.eye(data.n_cells, dtype=np.int64)
    out = []
    for hit, base in zip(rates.hit(one), rates.base(one), strict=True):
        effect = design_effect(data, hit[None], base[None])
        units, together = _units(data, base)
        out.append(
            Known(
                effect=effect * _strata_effect(data, hit, base),
                units=units,
                together=max(together / effect, 1.0),
                clustered=data.design.clusters is not None,
            )
        )
    return tuple(out)


def _strata_effect(data: AuditData, hit: IntArray, base: IntArray) -> float:
    """What varies within strata against what varies in all; the rate of every stratum takes up one of its people."""
    if data.design.strata is None:
        return 1.0
    present, numbers = number_values(data.design.strata)
    keys, size = numbers * data.n_cells + data.cells, len(present) * data.n_cells
    counts = weighted_bincount(keys, data.counts, size).reshape(-1, data.n_cells)
    hits, bases = counts @ hit, counts @ base
    within, left = float((hits * (1.0 - hits / np.maximum(bases, 1))).sum()), float(np.maximum(bases - 1, 0).sum())
    positive, people = float(hits.sum()), float(bases.sum())
    alone = positive * (people - positive)
    return within * (people / left) ** 2 * people / alone if alone > 0 and within > 0 else 1.0


def _units(data: AuditData, base: IntArray) -> tuple[float, float]:
    """How many equally large clusters, or people of equal weight, vary as much as these, and the design effect if all
    rows of a cluster were the same."""
    design, people = data.design, data.counts * base[data.cells]
    if design.samples_people:
        return float(np.inf), 1.0
    weight = np.ones(len(data.cells)) if design.weights is None else design.weights
    if design.clusters is None:
        sums, squares = np.array([(people * weight**2).sum()]), float((people * weight**4).sum())
    else:
        sums = np.bincount(design.clusters, people * weight) ** 2
        squares = float((np.bincount(design.clusters, people * weight**2) ** 2).sum())
    total, all_weight = float((people * weight**2).sum()), float((people * weight).sum())
    if not total:
        return 1.0, 1.0
    return total**2 / squares, float(people.sum()) * float(sums.sum()) / all_weight**2


def detectable(
    everyone: IntArray,
    notion: Notion,
    terms: Terms,
    tests: int,
    shares: Sequence[float] = SHARES,
    *,
    known: Sequence[Known] = (),
    reference: IntArray | None = None,
    outcome: str | None = None,
) -> tuple[Detectable, ...]:
    """The smallest detectable |psi| per share of people, if no other of this number of tests finds anything.

    Every rate is taken to differ by the same amount. everyone, reference: people per cell, in all and in the group that
    others are compared with. known: what they say about every rate; empty for independent people without strata.
    """
    rates = RateCounter(notion.rates, len(everyone))
    compared = everyone if reference is None else reference
    bases, hits, others = (
        column.tolist() for column in (rates.base(everyone), rates.hit(compared), rates.base(compared))
    )
    of_rates = list(zip(bases, hits, others, known or [Known()] * len(notion.rates), rates.signs.tolist(), strict=True))
    by_fisher = rates.disjoint and not any(entry.clustered for entry in known)
    out, level = [], _single_level(terms, tests)
    for share in shares:
        tables = [_Table.of(share, terms, *of_rate) for of_rate in of_rates]
        psi = _smallest(_Tests(tables=tables, level=level, by_fisher=by_fisher))
        if psi is not None and terms.reference == "all":
            psi *= 1.0 - share  # members are among those that they are compared with
        out.append(
            Detectable(
                share=share, psi=None if psi is None else round_reported(psi), notion=notion.name, outcome=outcome
            )
        )
    return tuple(out)


def detectable_means(
    data: AuditData, notion: Notion, terms: Terms, tests: int, shares: Sequence[float] = SHARES, *, kept: float = 1.0
) -> tuple[Detectable, ...]:
    """The same of amounts, tested by t: differences of their means. kept: the share of the people who are tested."""
    design, mean = data.design, notion.rates[0]
    assert design.amounts is not None
    assert isinstance(mean, Mean)
    strata = np.zeros(len(data.cells), np.int64) if design.strata is None else number_values(design.strata)[1]
    weight = data.counts.astype(float) if design.weights is None else data.counts * design.weights
    total, people = (np.bincount(strata, values) for values in (weight * design.amounts, weight))
    residual = design.amounts - (total / np.maximum(people, 1e-300))[strata]
    spread = float(weight @ residual**2 / weight.sum()) ** 0.5 / mean.per_one
    effect, n = effect_of(data, [residual]), kept * data.total
    compared = n if design.reference is None else data.people(design.reference)
    level = terms.interval_level(_single_level(terms, tests))
    out = []
    for share in shares:
        inside, outside = share * n, compared if design.reference is not None else (1.0 - share) * n
        psi = None
        if inside >= 2 and outside >= 2 and spread > 0:
            error = spread * (effect * (1.0 / inside + 1.0 / outside)) ** 0.5
            df = max((inside + outside) / effect - 2.0, 1.0)
            psi = terms.threshold + error * (float(special.ndtri(POWER)) - float(special.stdtrit(df, level / 2.0)))
            psi *= 1.0 - share if terms.reference == "all" else 1.0
        out.append(Detectable(share=share, psi=None if psi is None else round_reported(psi), notion=notion.name))
    return tuple(out)


def _single_level(terms: Terms, tests: int) -> float:
    """The p-value up to which one group is listed, where no other test finds anything."""
    tests = max(tests, 1)
    if terms.adjustment == "none":
        return terms.level
    harmonic = sum(1.0 / i for i in range(1, tests + 1)) if terms.adjustment == "by" else 1.0
    return terms.level / (tests * harmonic)


def _smallest(tests: _Tests) -> float | None:
    """The smallest disparity that is found with this power; None if there is none."""
    low, high = tests.tables[0].threshold, min(max(map(table.limit, table.signs)) for table in tests.tables)
    if high <= low or tests.power(high) < POWER:
        return None
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if tests.power(middle) >= POWER else (middle, high)
    return high


@dataclass(frozen=True, kw_only=True, eq=False)
class _Table:
    """One rate: people inside and outside the group, the share of hits, and the test of every number of hits inside.

    Arrays of numbers have one row per number of hits in all. signs: those that a disparity may have; one if tests are
    of that sign only. df: of the variance that the test uses; together: what the disparity adds to it.
    """

    inside: int
    outside: int
    mean: float
    signs: tuple[float, ...]
    threshold: float
    is_exact: bool
    df: float
    together: float

    @classmethod
    def of(cls, share: float, terms: Terms, base: int, hits: int, compared: int, known: Known, better: float) -> _Table:
        """The table of a group with this share of the base, compared with people of whom so many are hits."""
        others, mean = compared * (1.0 - share), hits / max(compared, 1)
        inside, outside = (max(round(people / known.effect), 1) for people in (base * share, others))
        # So many units in the group and outside of it as its share says (Satterthwaite, less one).
        df = known.units * share * (1.0 - share) / ((1.0 - share) ** 3 + share**3) - 1.0
        return cls(
            inside=inside,
            outside=outside,
            mean=mean,
            signs=(terms.direction * better,) if terms.direction else (-1.0, 1.0),
            threshold=terms.threshold,
            is_exact=terms.exact
            and terms.threshold == 0
            and np.isinf(known.units)
            and is_small(round(mean * (base * share + others)), round(base * share), 0, round(others)),
            df=max(df, 1.0),
            together=known.together,
        )

    @property
    def side(self) -> int:
        return int(self.signs[0]) if len(self.signs) == 1 else 0

    @property
    def people(self) -> int:
        return self.inside + self.outside

    @cached_property
    def margins(self) -> tuple[FloatArray, FloatArray]:
        """Numbers of hits in all, and of people in the group, equally likely and in no order."""
        places, share = np.arange(_MARGINS), self.inside / self.people
        deviates = special.ndtri((places + 0.5) / _MARGINS)
        hits = self.mean * self.people + (self.mean * (1.0 - self.mean) * self.people) ** 0.5 * deviates
        inside = self.inside + (share * (1.0 - share) * self.people) ** 0.5 * deviates[places * _APART % _MARGINS]
        columns = np.clip(np.round(hits), 0, self.people), np.clip(np.round(inside), 1, self.people - 1)
        return columns[0][:, None], columns[1][:, None]

    @cached_property
    def numbers(self) -> FloatArray:
        """Hits in the group: all that are possible, or those around the expected number."""
        middle, weight = self.mean * self.inside, self.inside * self.outside / self.people
        reach = max(_DEVIATIONS * (self.mean * (1.0 - self.mean) * weight) ** 0.5, _AT_LEAST) + self.threshold * weight
        hits, inside = self.margins
        low = max(0, int((hits + inside).min()) - self.people, int(middle - reach))
        high = min(int(hits.max()), int(inside.max()), int(middle + reach))
        return np.arange(low, high + 1, 1 + (high - low) // _AT_MOST, dtype=float)

    @cached_property
    def log_chance(self) -> FloatArray:
        """log probabilities of these numbers where there is no disparity."""
        hits, inside = self.margins
        chance = log_hypergeometric(self.numbers, inside, hits, self.people)
        return np.where((self.numbers <= inside) & (hits - self.numbers <= self.people - inside), chance, -np.inf)

    def limit(self, sign: float) -> float:
        """The largest disparity of this sign."""
        inside, outside = (1.0 - self.mean, self.mean) if sign > 0 else (self.mean, 1.0 - self.mean)
        return self.people * min(inside / self.outside, outside / self.inside)

    def rates(self, psi: float, sign: float) -> tuple[float, float]:
        """The rates inside and outside with this disparity, as many being hits in all."""
        inside = self.mean + sign * psi * self.outside / self.people
        outside = self.mean - sign * psi * self.inside / self.people
        return min(max(inside, _EDGE), 1.0 - _EDGE), min(max(outside, _EDGE), 1.0 - _EDGE)

    def hardest(self, psi: float, level: float) -> tuple[FloatArray, float]:
        """Probabilities of the numbers with this disparity, and power; of the sign that is harder to find."""
        rejected, out = self.chance_to_reject(level), []
        for sign in self.signs:
            if psi <= self.limit(sign):
                inside, outside = special.logit(self.rates(psi, sign))
                chances = special.softmax(self.log_chance + (inside - outside) * self.numbers, axis=1)
                out.append((chances / len(chances), float((chances * rejected).sum(axis=1).mean())))
        return min(out, key=lambda pair: pair[1])

    @cached_property
    def z(self) -> FloatArray:
        """How many standard errors the differences are beyond the threshold."""
        hits, inside = self.margins
        columns = np.broadcast_arrays(self.numbers, inside, hits - self.numbers, self.people - inside)
        # What is impossible has no probability either, whatever its statistic.
        a, n, b, m = (np.maximum(column, 0).astype(np.int64)[..., None] for column in columns)
        tables = Tables(hits_in=np.minimum(a, n), base_in=n, hits_out=np.minimum(b, m), base_out=m, by_margins=False)
        sign = (
            np.where(tables.difference >= 0, 1.0, -1.0)
            if self.side == 0
            else np.full(tables.difference.shape, float(self.side))
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            z = (sign * tables.difference - self.threshold) / tables.error(sign * self.threshold)
        return np.asarray(np.nan_to_num(z))

    @property
    def tails(self) -> int:
        return 2 if self.side == 0 and self.threshold == 0 else 1

    @cached_property
    def log_p(self) -> FloatArray:
        """log p of the numbers."""
        if self.is_exact:
            return np.array([log_p_of_all(row, self.side) for row in self.log_chance])
        return np.asarray(np.minimum(np.log(self.tails) + t_log_sf(self.z, np.asarray(self.df)), 0.0))

    def chance_to_reject(self, level: float) -> FloatArray:
        """The probability that the test rejects, for each of the numbers."""
        if self.is_exact or np.isinf(self.df):
            return np.asarray(self.log_p <= np.log(level), dtype=float)
        # Both tests must: that with a known variance, and that with one learned from the units, which varies itself.
        certain, learned = -special.ndtri(level / self.tails), special.stdtrit(self.df, 1.0 - level / self.tails)
        square = (np.maximum(self.z, 0.0) / learned) ** 2 / self.learned_variance
        return np.asarray(np.where(self.z >= certain, special.gammainc(self.df / 2, self.df / 2 * square), 0.0))

    @property
    def learned_variance(self) -> FloatArray:
        """The variance that the units show, residuals being those from the rate of all, over that of no disparity."""
        hits, inside = self.margins
        outside = self.people - inside
        mean, rate_in, rate_out = hits / self.people, self.numbers / inside, (hits - self.numbers) / outside
        shown = [rate * (1 - rate) + self.together * (rate - mean) ** 2 for rate in (rate_in, rate_out)]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = (outside * shown[0] + inside * shown[1]) / (self.people * mean * (1 - mean))
        return np.maximum(np.nan_to_num(ratio, nan=1.0), _EDGE)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Tests:
    """The tests of all rates, combined by Fisher's method or else by that of Bonferroni."""

    tables: Sequence[_Table]
    level: float
    by_fisher: bool

    def power(self, psi: float) -> float:
        """The probability of finding this disparity; of a sign, if both are possible, that is harder to find."""
        if len(self.tables) > 1 and self.tables[0].threshold > 0:
            return self._beyond(psi)
        level = self.level if self.by_fisher else self.level / len(self.tables)
        chances, found = zip(*(table.hardest(psi, level) for table in self.tables), strict=True)
        if len(self.tables) == 1 or not self.by_fisher:
            return float(max(found))
        # Evidence in steps up to what is needed, and all that is beyond in the last one.
        needed = float(chi2_isf(level, np.asarray(2 * len(self.tables)))) / 2.0
        total = np.ones(1)
        for table, chance in zip(self.tables, chances, strict=True):
            steps = np.minimum(np.rint(-table.log_p / needed * _STEPS), _STEPS).astype(np.int64)
            both = np.convolve(total, np.bincount(steps.ravel(), chance.ravel(), _STEPS + 1))
            total = np.append(both[:_STEPS], both[_STEPS:].sum())
        return float(total[_STEPS])

    def _beyond(self, psi: float) -> float:
        """The power of psi by its standard error: normally distributed."""
        variance = 0.0
        for table in self.tables:
            sides = [table.rates(psi, sign) for sign in table.signs if psi <= table.limit(sign)]
            variance += max(p * (1 - p) / table.inside + q * (1 - q) / table.outside for p, q in sides)
        error = variance**0.5 / len(self.tables)
        critical = -special.ndtri(self.level / 2 ** len(self.tables))
        return float(special.ndtr((psi - self.tables[0].threshold) / error - critical))
