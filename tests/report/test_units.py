"""How numbers are written: rates in percent and points, amounts in their own unit."""

from __future__ import annotations

import pytest

from ald.notions import NOTIONS, SELECTION, Mean, Notion
from ald.report.units import POINTS, Amounts, common_units, units_of, units_of_notion

WAGE = Mean("mean", "mean wage", unit="EUR")


def test_rates_and_means() -> None:
    """A rate is in percent, with gaps in points; a mean is in its unit, with as many decimals as it says."""
    assert units_of(SELECTION) is POINTS
    assert POINTS.level_words(0.4123) == "41.2%"
    assert POINTS.gap_words(-0.2) == "-20.0 points"
    assert POINTS.size(0.01) == "1 percentage point"
    wage = units_of(WAGE)
    assert wage.level_words(2909.7) == "2,910 EUR"
    assert wage.level(2909.7) == "2,910"
    assert wage.size(-411.8) == "412 EUR"
    days = units_of(Mean("mean", "mean waiting", decimals=1))
    assert days.gap_words(3.14) == "+3.1"
    assert (days.gaps_in, wage.gaps_in, POINTS.gaps_in) == ("in the outcome's own unit", "in EUR", "in points")


@pytest.mark.parametrize(
    ("value", "bounds", "said"),
    [
        (-412.0, (-474.0, -350.0), "on average 412 EUR less, 95% interval 350 to 474"),
        (412.0, (350.0, 474.0), "on average 412 EUR more, 95% interval 350 to 474"),
        (-12.0, (-50.0, 26.0), "on average 12 EUR less, 95% interval 50 less to 26 more"),
        (-412.0, (None, None), "on average 412 EUR less"),
        (0.2, (-50.0, 50.0), "on average as much, 95% interval 50 less to 50 more"),
    ],
)
def test_differences_of_means(value: float, bounds: tuple[float | None, float | None], said: str) -> None:
    """A difference is said as how much more or less, and so are the ends of an interval that holds none."""
    assert Amounts(unit="EUR").difference(value, bounds, "95%") == said


def test_no_sign_before_nothing() -> None:
    """What is 0 when rounded has no sign."""
    assert Amounts(decimals=1).signed(-0.04) == "0.0"
    assert Amounts(decimals=1).signed(0.04) == "0.0"
    assert Amounts(decimals=1).signed(-0.06) == "-0.1"
    assert Amounts().level(None) == "undefined"


def test_one_unit_for_a_table() -> None:
    """Several notions share a unit, or their gaps stand in points."""
    mean = Notion("equal means", (WAGE,))
    assert common_units([mean]) == units_of_notion(mean) == Amounts(unit="EUR")
    assert common_units([mean, NOTIONS["accuracy"]]) is POINTS
    assert common_units([NOTIONS["equalized odds"], NOTIONS["accuracy"]]) is POINTS
