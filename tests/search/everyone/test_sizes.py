"""Sizes of groups that the same people suggested: intervals that allow for the search, and estimates from halves."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from ald.data.coded import AuditData
from ald.datasets import make_synthetic
from ald.notions import ACCURACY, FNR, FPR, SELECTION, RateCounter
from ald.search.everyone.rounds import Everyone, Taken
from ald.search.everyone.sizes import Size, _shared, expected_size, size
from ald.search.explore.scoring import Aim
from ald.statistics.score import Tables
from tests.coded import PARITY, coded


def listed(data: AuditData, rates: RateCounter = PARITY, **options: int) -> list[Taken]:
    return [taken for taken in Everyone(data, rates, Aim(), **options).rounds() if taken.listed]


def size_of(taken: Taken, data: AuditData, rates: RateCounter = PARITY) -> Size:
    return size(taken.criterion, taken.strata, data, rates, [value - taken.price for value in taken.critical])


@pytest.mark.parametrize(("dataset", "rho", "n"), [(1, 0.15, 1500), (2, 0.2, 900), (5, 0.0, 4000)])
@pytest.mark.parametrize("seed", [0, 1])
def test_intervals_agree_with_the_list(dataset: int, rho: float, n: int, seed: int) -> None:
    """The interval of a group that is listed excludes zero, in whatever round."""
    data = coded(make_synthetic(dataset, rho=rho, n=n, seed=seed))
    found = listed(data)
    for taken in found:
        interval = size_of(taken, data).interval
        assert interval[0] > 0 or interval[1] < 0
        assert interval[0] < size_of(taken, data).psi < interval[1]


def test_the_interval_ends_where_the_statistic_is_the_critical_one() -> None:
    """At both ends the score statistic has the p-value that a group of this price needs."""
    data = coded(make_synthetic(1, rho=0.3, n=1500, seed=3))
    taken = listed(data)[0]
    found = size_of(taken, data)
    mask = np.asarray(data.codes[0])
    low, high = taken.criterion[0].low, taken.criterion[0].high
    inside = (mask >= low) & (mask < high)
    counts = [np.bincount(data.cells[side], data.counts[side], 2).astype(int) for side in (inside, ~inside)]
    table = Tables(
        hits_in=counts[0][1:], base_in=counts[0].sum(keepdims=True), hits_out=counts[1][1:],
        base_out=counts[1].sum(keepdims=True), by_margins=True,
    )  # fmt: skip
    for end in found.interval:
        statistic = ((table.difference - end) / table.error(end)) ** 2
        assert np.isclose(stats.chi2.logsf(statistic, 1), taken.critical[0] - taken.price)


def test_psi_of_several_rates_ranges_over_what_the_combined_test_does_not_reject() -> None:
    """The ends are those of a fine grid of both differences whose statistics add up to no more, and never inside."""
    counts = [((30, 100, 60, 400), (25, 120, 90, 380)), ((51, 100, 190, 400), (10, 120, 120, 380))]
    for rows in counts:
        tables = [
            Tables(
                hits_in=np.array([a]), base_in=np.array([n]), hits_out=np.array([b]), base_out=np.array([m]),
                by_margins=True,
            )
            for a, n, b, m in rows
        ]  # fmt: skip
        statistic = 6.0
        grid = np.linspace(-0.6, 0.6, 4001)
        each = [((table.difference - grid[:, None]) / table.error(grid[:, None])).ravel() ** 2 for table in tables]
        order = [np.argsort(np.abs(grid), kind="stable")] * 2
        together = each[0][order[0]][:, None] + each[1][order[1]][None, :] <= statistic
        psi = (np.abs(grid)[order[0]][:, None] + np.abs(grid)[order[1]][None, :]) / 2
        low, high = _shared(tables, statistic)
        assert low <= psi[together].min() + 1e-3
        assert high >= psi[together].max() - 1e-3
        assert psi[together].min() - low < 0.01
        assert high - psi[together].max() < 0.01


def test_rates_that_share_people_have_their_own_critical_values() -> None:
    """Where bases overlap every rate has its interval by its own shuffles; the rate that was found excludes zero."""
    rng = np.random.default_rng(1)
    group = rng.choice(["x", "y"], 2000)
    truth = rng.integers(0, 2, 2000)
    prediction = np.where(rng.random(2000) < np.where(group == "x", 0.1, 0.4), 1 - truth, truth)
    data = coded({"group": group, "prediction": prediction, "truth": truth})
    rates = RateCounter([SELECTION, ACCURACY], 4)
    taken = listed(data, rates)[0]
    assert len(taken.critical) == 2
    assert np.isfinite(taken.critical).all()
    found = size_of(taken, data, rates)
    (sel_low, sel_high), (acc_low, acc_high) = found.intervals
    assert sel_low < 0 < sel_high
    assert acc_low > 0 or acc_high < 0
    assert found.interval[0] < found.psi < found.interval[1]


def test_the_estimate_is_what_new_people_show() -> None:
    """Over many data sets estimates from halves are about the true difference, and smaller than that on everyone."""
    naive, honest = [], []
    for seed in range(20):
        data = coded(make_synthetic(1, rho=0.2, n=1000, seed=seed))
        taken = listed(data, seed=seed)[0]
        naive.append(abs(size_of(taken, data).psi))
        honest.append(abs(expected_size(taken.criterion, taken.strata, data, PARITY, seed=seed, splits=6)))
    # The band has a difference of 0.2; its ends are not known.
    assert np.mean(honest) < np.mean(naive)
    assert 0.85 * 0.2 < np.mean(honest) < 1.15 * 0.2


def test_where_nothing_is_there_halves_say_so() -> None:
    """A group of random outcomes looks large on everyone, and shows nothing on new people on average."""
    naive, honest = [], []
    for seed in range(25):
        data = coded(make_synthetic(1, rho=0.0, n=400, seed=seed))
        kept = coded({"age": np.random.default_rng(seed).random(400), "y": data.cells.repeat(data.counts)})
        taken = next(Everyone(kept, PARITY, Aim(), seed=seed, shuffles=19).rounds())
        naive.append(size(taken.found, taken.strata, kept, PARITY, [-3.0]).psi)
        honest.append(np.sign(naive[-1]) * expected_size(taken.found, taken.strata, kept, PARITY, seed=seed, splits=8))
    assert np.mean(np.abs(naive)) > 0.08
    assert abs(np.mean(honest)) < 0.04


def test_the_estimate_is_the_same_in_any_order() -> None:
    """Halves are drawn from what rows say: another order of the same people changes nothing."""
    columns = make_synthetic(2, n=800, rho=0.3, seed=1)
    order = np.random.default_rng(0).permutation(800)
    found = []
    for columns_in_order in (columns, {name: column[order] for name, column in columns.items()}):
        data = coded(columns_in_order)
        taken = listed(data)[0]
        found.append(expected_size(taken.criterion, taken.strata, data, PARITY, splits=5))
    assert found[0] == found[1]


def test_several_rates_have_an_estimate_too() -> None:
    """With two rates the mean of both differences, with the signs of the other half, is about the true psi."""
    data = coded(make_synthetic(3, n=4000, rho=0.4, seed=2))
    rates = RateCounter([FPR, FNR], 4)
    taken = listed(data, rates)[0]
    found = size_of(taken, data, rates)
    assert len(found.intervals) == 2
    assert all(low < high for low, high in (*found.intervals, found.interval))
    assert found.interval[0] < 0.2 < found.interval[1]
    assert abs(expected_size(taken.criterion, taken.strata, data, rates, splits=5) - 0.2) < 0.06


def test_shares_of_a_statistic_of_one_rate_are_its_interval() -> None:
    """Nothing is shared out with one rate: wider statistics, wider ranges."""
    table = Tables(
        hits_in=np.array([30]), base_in=np.array([100]), hits_out=np.array([60]), base_out=np.array([400]),
        by_margins=True,
    )  # fmt: skip
    ranges = [_shared([table], statistic) for statistic in (1.0, 4.0, 9.0)]
    assert all(a[0] > b[0] and a[1] < b[1] for a, b in pairwise(ranges))
