"""Curves: rates along an attribute."""

from __future__ import annotations

import pytest

from ald.groups.criterion import Interval, Levels
from ald.notions import FPR, SELECTION
from ald.report.curves import axis_label, bin_label, curve_view
from ald.results.details import Bin, Curve
from ald.statistics.basics import newcombe, wilson

AGES = Curve(
    attribute="age",
    kind="numeric",
    bins=(
        Bin(counts=(30, 10), first=18.0, last=29.0),
        Bin(counts=(20, 20), first=30.0, last=44.0),
        Bin(counts=(5, 35), first=45.0, last=80.0),
        Bin(counts=(4, 0), levels=(None,), n_levels=1),
    ),
)
COLOURS = Curve(
    attribute="colour",
    kind="nominal",
    bins=(
        Bin(counts=(9, 1), levels=("red",), n_levels=1),
        Bin(counts=(1, 9), levels=("",), n_levels=1),
        Bin(counts=(5, 5), levels=(None,), n_levels=1),
        Bin(counts=(2, 2), n_levels=7),
    ),
)


def test_rates_and_intervals() -> None:
    """A point has Wilson's interval of its rate, and Newcombe's of its difference from all others."""
    view = curve_view(AGES, SELECTION, Interval("age", "numeric", 29.0), 0.05, None)
    point = view.series[0].points[1]
    assert (point.n, point.base, point.rate) == (40, 40, 0.5)
    low, high = wilson(20, 40, 0.05)  # type: ignore[arg-type]
    assert (point.low, point.high) == pytest.approx((float(low), float(high)))
    assert point.psi == pytest.approx(20 / 40 - 45 / 84)
    low, high = newcombe(20, 40, 45, 84, 0.05)  # type: ignore[arg-type]
    assert (point.psi_low, point.psi_high) == pytest.approx((float(low), float(high)))
    assert view.series[0].average == pytest.approx(65 / 124)


@pytest.mark.parametrize(
    ("lower", "upper", "inside"),
    [
        (29.0, None, [False, True, True, False]),
        (None, 44.0, [True, True, False, False]),
        (30.0, None, [False, None, True, False]),
        (20.0, 25.0, [None, False, False, False]),
        (18.0, 80.0, [None, True, True, False]),
        (29.0, 44.0, [False, True, False, False]),
    ],
)
def test_bins_inside_an_interval(lower: float | None, upper: float | None, inside: list[bool | None]) -> None:
    """A bin is in or out with all its values, or neither if it is cut; people without a value are out."""
    view = curve_view(AGES, SELECTION, Interval("age", "numeric", lower, upper), 0.05, None)
    assert [point.inside for point in view.series[0].points] == inside
    assert view.cuts == tuple(bound for bound in (lower, upper) if bound is not None)


def test_levels_inside() -> None:
    """Named levels are in or out; of levels without names nobody knows."""
    view = curve_view(COLOURS, SELECTION, Levels("colour", "nominal", ("red", None)), 0.05, None)
    assert [point.inside for point in view.series[0].points] == [True, False, True, None]
    assert (view.is_ordered, view.cuts) == (False, ())


def test_a_second_series() -> None:
    """Those who satisfy the other conditions are a series of their own, with their own rates."""
    within = [(3, 1), (0, 0), (1, 3), (0, 0)]
    view = curve_view(AGES, SELECTION, Interval("age", "numeric", 29.0), 0.05, within)
    assert [series.title for series in view.series] == ["everyone", "those who satisfy the group's other conditions"]
    assert [point.rate for point in view.series[1].points] == [0.25, None, 0.75, None]
    assert view.series[1].average == 0.5


def test_a_rate_without_a_base() -> None:
    """Only those who count for the rate are its base; without any, it is undefined."""
    curve = Curve(attribute="x", kind="nominal", bins=(Bin(counts=(0, 0, 3, 4), levels=("a",), n_levels=1),))
    view = curve_view(curve, FPR, Levels("x", "nominal", ("a",)), 0.05, None)
    point = view.series[0].points[0]
    assert (point.n, point.base, point.rate, point.psi) == (7, 0, None, None)
    assert view.series[0].average is None


def test_labels() -> None:
    """Bins are named by their ends, levels by their names, and the rest by its number."""
    assert [bin_label(bin_, "numeric") for bin_ in AGES.bins] == ["18 to 29", "30 to 44", "45 to 80", "missing"]
    assert [bin_label(bin_, "nominal") for bin_ in COLOURS.bins] == ["red", '""', "missing", "7 others"]
    assert bin_label(Bin(counts=(1,), levels=("low", "high"), n_levels=3), "ordinal") == "low to high"
    assert bin_label(Bin(counts=(1,), first=3.0, last=3.0), "numeric") == "3"
    assert axis_label(18262.0, "date") == "2020-01-01"
