"""The score test of how paired differences differ: published numbers, brute force, coverage."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import optimize, special, stats

from ald._core.arrays import FloatArray, IntArray
from ald.statistics.paired import Pairs, Sample


def sample(*counts: tuple[int, int, int]) -> Sample:
    """Responses 1, -1 and 0 of every comparison."""
    up, down, same = np.array(counts).T
    return Sample(up=up, down=down, people=up + down + same)


def drawn(rng: np.random.Generator, n: int, most: int = 60) -> list[tuple[int, int, int]]:
    """Random counts, many of them 0."""
    drawn = (rng.multinomial(rng.integers(1, most), rng.dirichlet([0.4, 0.4, 1.0])).tolist() for _ in range(n))
    return [(up, down, same) for up, down, same in drawn]


def alone(up: int, down: int, people: int) -> Pairs:
    """One paired difference: outside nobody of very many people changes."""
    return Pairs(inside=sample((up, down, people - up - down)), outside=sample((0, 0, 10**12)))


@pytest.mark.parametrize(
    ("up", "down", "people", "level", "ends", "digits"),
    [
        # R's ratesci, pairbinci(c(1, 1, 7, 12)): hyper-responsiveness of airways before and after a transplantation.
        (1, 7, 21, 0.05, (-0.517, -0.026), 3),
        # R's contingencytables, Tango_asymptotic_score_CI_paired_2x2(cavo_2012): response before and after a therapy.
        (6, 16, 161, 0.05, (-0.1240, -0.0054), 4),
        # R's PropCIs, scoreci.mp(25, 28, 618, 0.9).
        (28, 25, 618, 0.10, (-0.0148, 0.0247), 4),
    ],
)
def test_published_intervals(
    up: int, down: int, people: int, level: float, ends: tuple[float, float], digits: int
) -> None:
    """Where nobody outside changes, the interval is that of Tango (1998)."""
    low, high = alone(up, down, people).interval(level)
    assert (round(float(low[0]), digits), round(float(high[0]), digits)) == ends


@pytest.mark.parametrize(("up", "down"), [(1, 7), (6, 16), (3, 0), (0, 12)])
def test_mcnemar(up: int, down: int) -> None:
    """Where nobody outside changes, the test is McNemar's without correction."""
    expected = (up - down) ** 2 / (up + down)
    pairs = alone(up, down, 100)
    assert pairs.statistic[0] == pytest.approx(expected, rel=1e-6)
    assert np.exp(pairs.log_p[0]) == pytest.approx(stats.chi2.sf(expected, 1), rel=1e-6)


def test_nobody_changes() -> None:
    """Without any change the interval has the width that the number of people allows, and p is 1."""
    z = float(-special.ndtri(0.025))
    low, high = alone(0, 0, 20).interval(0.05)
    assert high[0] == pytest.approx(z * z / (20 + z * z))  # Tango (1998) for no discordant pair
    assert low[0] == pytest.approx(-high[0])
    assert (alone(0, 0, 20).statistic[0], alone(0, 0, 20).log_p[0]) == (0, 0)


def test_no_people_no_test() -> None:
    """Without people on one side there is neither test nor interval."""
    pairs = Pairs(inside=sample((0, 0, 0), (3, 1, 5)), outside=sample((2, 3, 5), (0, 0, 0)))
    assert np.isnan(pairs.statistic).all()
    assert np.isnan(pairs.log_p).all()


def standard_error(inside: tuple[int, int, int], outside: tuple[int, int, int], at: float) -> float:
    """By maximising the likelihood of all three free parameters with SciPy."""

    def variance(mean: float, down: float) -> float:
        return 2 * down + mean - mean**2

    def unlikely(free: FloatArray) -> float:
        mean, *downs = free.tolist()
        total = 0.0
        for counts, own, down in ((inside, mean + at, downs[0]), (outside, mean, downs[1])):
            shares = (down + own, down, 1 - 2 * down - own)
            if min(shares) < -1e-12:
                return np.inf
            total -= sum(n * np.log(max(share, 1e-300)) for n, share in zip(counts, shares, strict=True) if n)
        return total

    rng, best = np.random.default_rng(0), (np.inf, np.zeros(3))
    for _ in range(6):
        mean = rng.uniform(max(-1, -1 - at), min(1, 1 - at))
        downs = [rng.uniform(max(0, -own), (1 - own) / 2) for own in (mean + at, mean)]
        found = np.array([mean, *downs])
        for _ in range(4):
            found = optimize.minimize(
                unlikely, found, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 4000}
            ).x
        best = min(best, (unlikely(found), found), key=lambda pair: pair[0])
    mean, inner, outer = best[1]
    return float(np.sqrt(variance(mean + at, inner) / sum(inside) + variance(mean, outer) / sum(outside)))


def test_standard_errors_by_brute_force() -> None:
    """All other parameters are the most likely ones with the difference that is tested."""
    rng = np.random.default_rng(1)
    for inside, outside in zip(drawn(rng, 8), drawn(rng, 8), strict=True):
        at = float(rng.uniform(-0.8, 0.8))
        found = Pairs(inside=sample(inside), outside=sample(outside)).error(at)
        assert found[0] == pytest.approx(standard_error(inside, outside, at), abs=1e-6)


def test_the_interval_inverts_the_test() -> None:
    """It holds 0 where p is above the level, and its ends are where the test begins to reject."""
    rng = np.random.default_rng(2)
    pairs = Pairs(inside=sample(*drawn(rng, 300)), outside=sample(*drawn(rng, 300, 3000)))
    for level in (0.5, 0.05, 1e-6):
        low, high = pairs.interval(level)
        assert np.array_equal((low <= 0) & (high >= 0), pairs.log_p > np.log(level))
        z = float(-special.ndtri(level / 2))
        for end in (low, high):
            inner = np.abs(end) < 1.9
            distance = np.abs(end - pairs.difference) - z * pairs.error(end)
            assert np.abs(distance[inner]).max() < 1e-12
        assert ((low <= pairs.difference) & (pairs.difference <= high)).all()
        assert (high - low > 0).all()


def test_all_that_is_not_rejected_is_one_interval() -> None:
    """The further a difference is from the one observed, the less it is accepted."""
    rng, grid = np.random.default_rng(3), np.linspace(-1.99, 1.99, 398)  # not 0, where nothing may vary
    for inside, outside in zip(drawn(rng, 40), drawn(rng, 40), strict=True):
        pairs = Pairs(inside=sample(*[inside] * 398), outside=sample(*[outside] * 398))
        with np.errstate(divide="ignore"):
            assert (np.diff((pairs.difference - grid) / pairs.error(grid)) <= 1e-6).all()


def test_a_group_and_its_complement() -> None:
    """Both sides have one p-value, and the interval of one is that of the other with the sign turned."""
    rng = np.random.default_rng(4)
    one, other = sample(*drawn(rng, 100)), sample(*drawn(rng, 100))
    pairs, turned = Pairs(inside=one, outside=other), Pairs(inside=other, outside=one)
    np.testing.assert_allclose(pairs.log_p, turned.log_p, atol=1e-9)
    np.testing.assert_allclose(pairs.interval(0.05), [-end for end in turned.interval(0.05)[::-1]], atol=1e-9)


def shares(n: int, up: float, down: float) -> tuple[IntArray, FloatArray]:
    """All counts of `n` people, and how probable each is."""
    counts = np.array([(u, d, n - u - d) for u, d in itertools.product(range(n + 1), repeat=2) if u + d <= n])
    return counts, np.asarray(stats.multinomial.pmf(counts, n, [up, down, 1 - up - down]))


@pytest.mark.parametrize(
    ("inside", "outside"),
    [
        ((0.05, 0.0), (0.0, 0.0)),  # the interval of Wald holds .05 in 54 of 100 such groups of 15
        ((0.1, 0.02), (0.02, 0.02)),
        ((0.2, 0.2), (0.02, 0.02)),
        ((0.3, 0.05), (0.05, 0.05)),
        ((0.02, 0.12), (0.1, 0.02)),
        ((0.6, 0.05), (0.3, 0.3)),
    ],
)
def test_exact_coverage_of_small_groups(inside: tuple[float, float], outside: tuple[float, float]) -> None:
    """Over all possible counts of 15 people against 12, at least 94 % of the intervals hold the true difference."""
    (first, weight_first), (second, weight_second) = shares(15, *inside), shares(12, *outside)
    pairs = Pairs(
        inside=sample(*np.repeat(first, len(second), axis=0).tolist()),
        outside=sample(*np.tile(second, (len(first), 1)).tolist()),
    )
    true = inside[0] - inside[1] - outside[0] + outside[1]
    held = np.abs(pairs.difference - true) <= float(-special.ndtri(0.025)) * pairs.error(true)
    assert np.outer(weight_first, weight_second).ravel()[held].sum() >= 0.94
