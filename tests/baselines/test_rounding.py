"""Numbers as categories."""

from __future__ import annotations

import numpy as np

from ald.baselines.rounding import rounded_view
from ald.groups.derived import extend_data
from ald.groups.membership import member_mask
from tests.coded import coded

DATA = coded({"x": [0.4, 0.6, 1.2, 2.4, None, 3.1] * 4, "g": list("pqpqpq") * 4, "y": [0, 1, 1] * 8})
X = next(a for a, attribute in enumerate(DATA.attributes) if attribute.name == "x")


def test_numbers_become_whole_ordered_levels() -> None:
    """Numbers are rounded, levels stay as they are, and a missing number stays missing."""
    view = rounded_view(DATA)
    attribute = view.data.attributes[X]
    assert (attribute.name, attribute.kind, attribute.levels) == ("x (rounded)", "ordinal", ("0", "1", "2", "3"))
    assert view.of[1 - X] is None
    missing = DATA.codes[X] == DATA.attributes[X].size
    assert missing.any()
    assert np.array_equal(view.data.codes[X] == 4, missing)


def test_neighbours_are_an_interval_of_the_numbers() -> None:
    """Whole numbers in a row are a condition on the numbers themselves, with the same members."""
    view = rounded_view(DATA)
    chosen: list[tuple[int, ...]] = [(), ()]
    chosen[X] = (1, 2)
    (condition,) = view.criterion(chosen)
    assert (condition.attribute, condition.levels) == (X, ())
    assert np.array_equal(member_mask((condition,), DATA), np.isin(view.data.codes[X], [1, 2]))


def test_other_levels_are_those_of_the_rounded_attribute() -> None:
    """Whole numbers apart are levels of the attribute that is derived, with the same members."""
    view = rounded_view(DATA)
    chosen: list[tuple[int, ...]] = [(), ()]
    chosen[X] = (0, 2)
    criterion = view.criterion(chosen)
    assert [condition.levels for condition in criterion] == [(0, 2)]
    assert np.array_equal(
        member_mask(criterion, extend_data(DATA, view.derive_attributes())), np.isin(view.data.codes[X], [0, 2])
    )


def test_all_levels_are_no_condition() -> None:
    """Naming all levels, or none, says nothing."""
    assert rounded_view(DATA).criterion([(), tuple(range(4))] if X else [tuple(range(4)), ()]) == ()
