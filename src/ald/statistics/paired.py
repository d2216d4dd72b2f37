"""The score test of how two paired differences differ, at any difference, and the interval that inverts it.

Everyone's response is -1, 0 or 1: what a second model adds to a rate, less what the first does. Inside and outside a
group these are two independent samples; of interest is the mean inside minus the mean outside. All other parameters
are the most likely ones with the difference that is tested, on each side by itself (T. Tango, "Equivalence test and
confidence interval for the difference in proportions for the paired-sample design", Statistics in Medicine 17, 1998,
for one sample; O. Miettinen and M. Nurminen 1985 for two). Nothing is assumed of how often people change in each
direction on either side: a group in which more people change, in no direction, does not differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from ald._core.arrays import FloatArray, IntArray
from ald.statistics.basics import chi2_log_sf

# Steps of Newton's method, and how often a range is halved: until nothing that is reported changes.
_NEWTON = 9
_HALVINGS = 56


@dataclass(frozen=True, kw_only=True, eq=False)
class Sample:
    """How many people have the responses 1 and -1, of how many in all: one entry per comparison."""

    up: IntArray
    down: IntArray
    people: IntArray

    @property
    def mean(self) -> FloatArray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((self.up - self.down) / self.people)

    def pull(self, pull: FloatArray) -> tuple[FloatArray, FloatArray]:
        """A mean below the observed one (above it, if the pull is negative) and its variance, all else most likely.

        The pull is Lagrange's multiplier: the most likely share of a response is its count over (whole + pull times
        the response), where `whole` makes the shares add up to 1. The response that it pulls towards, if nobody has
        it, gets what is left.
        """
        responses = ((1, self.up), (0, self.people - self.up - self.down), (-1, self.down))

        def shares(whole: FloatArray, power: int = 1) -> list[FloatArray]:
            return [np.where(count > 0, count / (whole + sign * pull) ** power, 0.0) for sign, count in responses]

        with np.errstate(divide="ignore", invalid="ignore"):
            whole = np.max([np.where(count > 0, count - sign * pull, -np.inf) for sign, count in responses], axis=0)
            for _ in range(_NEWTON):  # from below: the sum of the shares is convex and falls
                whole = whole + (sum(shares(whole)) - 1) / sum(shares(whole, 2))
            is_new = np.where(pull > 0, self.down, self.up) == 0
            up, same, down = shares(np.where(is_new, np.maximum(whole, np.abs(pull)), whole))
            left = np.where(is_new, np.maximum(1 - up - same - down, 0.0), 0.0)
            up, down = up + np.where(pull < 0, left, 0.0), down + np.where(pull > 0, left, 0.0)
            return up - down, np.maximum(up + down - (up - down) ** 2, 0.0) / self.people


@dataclass(frozen=True, kw_only=True, eq=False)
class Pairs:
    """The responses inside and outside of groups."""

    inside: Sample
    outside: Sample

    @property
    def difference(self) -> FloatArray:
        """The mean inside minus the mean outside; NaN without people on one side."""
        return self.inside.mean - self.outside.mean

    def _pull_apart(self, pull: FloatArray) -> tuple[FloatArray, FloatArray]:
        """A difference below the observed one (above it, if the pull is negative) and its variance, all else most
        likely."""
        inside, variance_inside = self.inside.pull(pull)
        outside, variance_outside = self.outside.pull(-pull)
        return inside - outside, variance_inside + variance_outside

    def _pull(self, function: Callable[[FloatArray], FloatArray], side: FloatArray) -> FloatArray:
        """The pull of this sign where a function that grows with its size is 0; a very large one if there is none."""
        people = np.minimum(self.inside.people, self.outside.people)

        def pull(share: FloatArray) -> FloatArray:
            return np.asarray(side * people * share / (1 - share))

        share = _root(lambda share: function(pull(share)), side.shape)
        return pull(share)

    def error(self, at: FloatArray | float) -> FloatArray:
        """The standard error of the difference, if the true one is that."""
        side = np.where(self.difference >= at, 1.0, -1.0)
        pull = self._pull(lambda pull: side * (at - self._pull_apart(pull)[0]), side)
        return np.asarray(np.sqrt(self._pull_apart(pull)[1]))

    @cached_property
    def statistic(self) -> FloatArray:
        """The square of the difference in standard errors: 0 where all responses are the same, NaN without people."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.difference == 0, 0.0, (self.difference / self.error(0.0)) ** 2)

    @property
    def log_p(self) -> FloatArray:
        """log p of no difference."""
        return chi2_log_sf(self.statistic, np.asarray(1))

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """All differences that the test does not reject at `level`."""
        z = float(-special.ndtri(level / 2.0))
        side = np.array([1.0, -1.0]).reshape(2, *np.ones(self.difference.ndim, int)) + np.zeros(self.difference.shape)
        # The pull towards a difference is the distance to it over its variance: times its standard error that is z.
        pull = self._pull(lambda pull: np.abs(pull) * np.sqrt(self._pull_apart(pull)[1]) - z, side)
        low, high = self._pull_apart(pull)[0]
        return low, high


def _root(function: Callable[[FloatArray], FloatArray], shape: tuple[int, ...]) -> FloatArray:
    """Where functions that grow from 0 to 1 are 0; nearly 1 if they never are.

    >>> _root(lambda x: x**2 - np.array([0.25, 0.09, 2]), (3,)).round(6).tolist()
    [0.5, 0.3, 1.0]
    """
    low, high = np.zeros(shape), np.full(shape, 1 - 1e-12)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        is_below = function(middle) < 0
        low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
    return np.asarray((low + high) / 2)
