"""Groups beyond the main effects of their attributes: against regression, calibrated, and in one direction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm

from ald._core.arrays import FloatArray
from ald.statistics.beyond import DRAWS, Crossings, score_beyond


def table(a: int = 3, b: int = 4, strata: int = 1, seed: int = 0) -> tuple[Crossings, FloatArray]:
    """Random people in every crossing and stratum, hits by main effects; the group is two by two."""
    rng = np.random.default_rng(seed)
    one, other, stratum = (part.ravel() for part in np.indices((a, b, strata)))
    people = rng.integers(20, 60, len(one)).astype(float)
    chances = 0.3 + 0.1 * one / a + 0.2 * other / b + 0.05 * stratum
    counts = Crossings(people=people, member=(one < 2) & (other < 2), effects=[one, other], strata=stratum)
    return counts, rng.binomial(people.astype(int), chances).astype(float)


@pytest.mark.parametrize("strata", [1, 3])
def test_weights_are_the_residuals_of_a_regression(strata: int) -> None:
    """What is left of membership is the residual of least squares on levels and strata."""
    counts, hits = table(strata=strata)
    levels = [np.eye(int(f.max()) + 1)[f] for f in (*counts.effects, counts.strata)]
    effects = np.concatenate([levels[0], *(one[:, 1:] for one in levels[1:])], axis=1)
    model = sm.WLS(counts.member.astype(float), effects, weights=counts.people).fit()
    assert counts.weights == pytest.approx(np.asarray(model.resid), abs=1e-9)
    fitted = sm.WLS(hits / counts.people, effects, weights=counts.people).fit().fittedvalues
    assert counts.fit(hits) == pytest.approx(np.asarray(fitted), abs=1e-9)
    found = score_beyond(counts, hits)
    assert found is not None
    variance = (counts.weights**2 * counts.people * fitted * (1 - fitted)).sum()
    assert found.statistic == pytest.approx(float((counts.weights @ hits) ** 2 / variance), rel=1e-6)


def test_main_effects_do_not_matter() -> None:
    """Hits that follow from levels and strata have no score, however large the effects are."""
    counts, _ = table(strata=2)
    one, other = counts.effects
    hits = counts.people * (0.05 + 0.2 * one + 0.1 * other + 0.05 * counts.strata)
    found = score_beyond(counts, hits)
    assert found is not None
    assert found.statistic == pytest.approx(0.0, abs=1e-12)


def test_a_combination_is_found() -> None:
    """A group that differs beyond its levels is found, with the sign that it has, and not in the other direction."""
    counts, hits = table()
    found = score_beyond(counts, hits + 0.3 * counts.people * counts.member)
    assert found is not None
    assert found.log_p < np.log(0.01)
    assert found.difference > 0
    towards, against = (score_beyond(counts, hits + 0.3 * counts.people * counts.member, side) for side in (1, -1))
    assert towards is not None
    assert against is not None
    assert towards.log_p == pytest.approx(found.log_p - np.log(2))
    assert np.exp(against.log_p) == pytest.approx(1 - np.exp(towards.log_p))


def test_what_follows_from_the_effects_is_not_tested() -> None:
    """A group that is one level, and outcomes that are all the same, leave nothing to test."""
    counts, hits = table()
    level = replace(counts, member=counts.effects[0] == 1)
    assert score_beyond(level, hits) is None
    assert score_beyond(counts, np.zeros_like(hits)) is None


def test_few_hits_are_drawn() -> None:
    """Where few hits are expected, draws from the main effects give the p-value; the same every time."""
    counts, _ = table()
    hits = np.where(counts.member, 2.0, 0.0)
    plain = score_beyond(counts, hits)
    one, again = (score_beyond(counts, hits, rng=np.random.default_rng(0)) for _ in range(2))
    assert plain is not None
    assert one is not None
    assert one == again
    assert (plain.drawn, one.drawn) == (None, DRAWS)
    assert one.as_strong is not None
    assert np.exp(one.log_p) == pytest.approx((1 + one.as_strong) / (1 + DRAWS))
    many, hits = table(seed=1)
    drawn = score_beyond(many, hits, rng=np.random.default_rng(0))
    assert drawn is not None
    assert drawn.drawn is None


@pytest.mark.parametrize(("rate", "people"), [(0.4, 30), (0.04, 12)])
def test_level(rate: float, people: int) -> None:
    """Of main effects alone about one in twenty is rejected at .05, with chi2 and with draws."""
    rng = np.random.default_rng(3)
    one, other = (part.ravel() for part in np.indices((3, 3)))
    size = np.full(9, float(people))
    counts = Crossings(
        people=size, member=(one == 0) & (other != 1), effects=[one, other], strata=np.zeros(9, np.int64)
    )
    chances = rate * (0.6 + 0.3 * one + 0.2 * (2 - other))
    found = [
        score_beyond(counts, rng.binomial(people, chances).astype(float), rng=np.random.default_rng(i))
        for i in range(300)
    ]
    share = np.mean([one is not None and one.log_p <= np.log(0.05) for one in found])
    assert 0.01 <= share <= 0.09
