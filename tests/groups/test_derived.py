"""Attributes made of others."""

from __future__ import annotations

from dataclasses import replace

from ald.groups.derived import Derived, extend_data
from tests.coded import coded


def test_derived_attributes_follow_the_datas_own() -> None:
    """Their codes are made of the data at hand; people and what is known of them stay the same."""
    data = coded({"a": ["p", "q", "p", "q"], "y": [0, 1, 1, 0]})
    swapped = Derived(attribute=replace(data.attributes[0], name="b"), codes=lambda some: 1 - some.codes[0])
    made = extend_data(data, [swapped])
    assert [attribute.name for attribute in made.attributes] == ["a", "b"]
    assert made.codes[1].tolist() == [1 - code for code in data.codes[0].tolist()]
    assert made.codes[0].tolist() == data.codes[0].tolist()
    assert made.counts.tolist() == data.counts.tolist()


def test_nothing_derived_nothing_changed() -> None:
    """Without derived attributes the data is the same object."""
    data = coded({"a": ["p", "q"], "y": [0, 1]})
    assert extend_data(data, []) is data
