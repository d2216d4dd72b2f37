"""Whether a group differs beyond the main effects of its attributes: a score test, on the scale of rates.

People are counted by the crossings of two or three attributes (one level or bin of each), and by strata. The effects
that are given (of levels or bins; of three attributes also of their pairs) and strata add up. The score of a group is
the sum of hits, weighted by what is left of membership after projection on them, so that it does not depend on how
large they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ald._core.arrays import BoolArray, FloatArray, IntArray
from ald.statistics.basics import directed_log_p

# Expected hits or misses, inside or outside the group, below which chi2 is replaced by draws; and how many of these.
SMALL = 10.0
DRAWS = 999
# Effects that are nearly those of others are taken as none: share of the largest eigenvalue.
_NONE = 1e-10
# Of a score that says something: its variance per person, at least.
_NOTHING_LEFT = 1e-6
# Digits of fitted chances: what a machine's linear algebra adds must not decide a draw.
_DIGITS = 9
# Statistics that differ by less than this share are equal.
_TIE = 1e-9


@dataclass(frozen=True, kw_only=True)
class Score:
    """A test of a group beyond main effects: its chi2 with one degree of freedom, and log p.

    difference: has the sign of the score. as_strong: in how many of so many draws (`drawn`) from the main effects the
    statistic was as large; None where chi2 gave the p-value.
    """

    statistic: float
    difference: float
    log_p: float
    as_strong: int | None = None
    drawn: int | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Crossings:
    """People of one rate's base by crossing and stratum, none of them empty.

    people: in every one; member: whether it belongs to the group. effects: per family of effects that are given, which
    of them it has; strata: its stratum. All are numbered from 0 on.
    """

    people: FloatArray
    member: BoolArray
    effects: Sequence[IntArray]
    strata: IntArray

    @cached_property
    def _sizes(self) -> list[int]:
        return [int(family.max()) + 1 for family in self.effects]

    @cached_property
    def _of_strata(self) -> FloatArray:
        return np.asarray(np.bincount(self.strata, self.people), float)

    @cached_property
    def _by_stratum(self) -> FloatArray:
        """People per effect and stratum."""
        n = len(self._of_strata)
        return np.concatenate([
            np.bincount(family * n + self.strata, self.people, size * n).reshape(size, n)
            for family, size in zip(self.effects, self._sizes, strict=True)
        ])  # fmt: skip

    @cached_property
    def _inverse(self) -> FloatArray:
        """The inverse, as far as there is one, of the effects' products within strata."""
        blocks = [
            [
                np.bincount(one * width + other, self.people, height * width).reshape(height, width)
                for other, width in zip(self.effects, self._sizes, strict=True)
            ]
            for one, height in zip(self.effects, self._sizes, strict=True)
        ]
        gram = np.block(blocks) - (self._by_stratum / self._of_strata) @ self._by_stratum.T
        return np.asarray(np.linalg.pinv(gram, rcond=_NONE, hermitian=True))

    def fit(self, sums: FloatArray) -> FloatArray:
        """The mean in every crossing by strata and effects, from the sums."""
        mean = np.bincount(self.strata, sums) / self._of_strata
        along = [np.bincount(family, sums, size) for family, size in zip(self.effects, self._sizes, strict=True)]
        effect = self._inverse @ (np.concatenate(along) - self._by_stratum @ mean)
        fitted = (mean - effect @ self._by_stratum / self._of_strata)[self.strata]
        start = 0
        for family, size in zip(self.effects, self._sizes, strict=True):
            fitted = fitted + effect[start : start + size][family]
            start += size
        return np.asarray(fitted)

    @cached_property
    def weights(self) -> FloatArray:
        """What is left of membership."""
        member = self.member.astype(float)
        return member - self.fit(self.people * member)

    def variance(self, chances: FloatArray) -> float:
        """Of the score, where people have these chances of a hit."""
        chances = np.clip(chances, 0.0, 1.0)
        return float((self.weights**2 * self.people * chances * (1.0 - chances)).sum())


def score_beyond(
    table: Crossings, hits: FloatArray, side: int = 0, rng: np.random.Generator | None = None
) -> Score | None:
    """The test; None where the group follows from the effects, or nobody's outcome is left open.

    side: 1 or -1 for a difference of this sign only. rng: draws where counts are small; without it chi2 has to do.
    """
    chances: FloatArray = np.asarray(np.round(np.clip(table.fit(hits), 0.0, 1.0), _DIGITS), float)
    total = table.people.sum()
    variance = table.variance(chances)
    if (table.weights**2 * table.people).sum() <= _NOTHING_LEFT * total or variance <= _NOTHING_LEFT * _NOTHING_LEFT:
        return None
    score = float(table.weights @ hits)
    statistic = score**2 / variance
    log_p = float(directed_log_p(np.array([[statistic]]), np.array([[score]]), (side,))[0, 0])
    if rng is None or not _is_small(table, chances):
        return Score(statistic=statistic, difference=score, log_p=log_p)
    as_strong = 0
    people, n = table.people.astype(np.int64), np.sign(score) if side else 0.0
    worth = n * side * statistic if side else statistic
    for _ in range(DRAWS):
        drawn = rng.binomial(people, chances).astype(float)
        again, spread = float(table.weights @ drawn), table.variance(table.fit(drawn))
        value = again**2 / spread if spread > 0 else 0.0
        as_strong += (np.sign(again) * side * value if side else value) >= worth - _TIE * statistic
    log_p = float(np.log((1 + as_strong) / (1 + DRAWS)))
    return Score(statistic=statistic, difference=score, log_p=log_p, as_strong=int(as_strong), drawn=DRAWS)


def _is_small(table: Crossings, chances: FloatArray) -> bool:
    """Whether few hits or misses are to be expected inside the group, or outside it."""
    expected = [table.people * chances, table.people * (1.0 - chances)]
    return min(float(one[side].sum()) for one in expected for side in (table.member, ~table.member)) < SMALL
