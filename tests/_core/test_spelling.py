"""American spelling of options."""

from __future__ import annotations

import inspect

import pytest

import ald
from ald._core.spelling import british
from tests.tables import decisions, people


def test_favorable_is_favourable() -> None:
    """Every function that takes `favourable` takes `favorable`, with the same result, and shows one of them."""
    data, scored = people(), decisions() | {"second": decisions(seed=5)["predicted"]}
    calls = [
        (ald.audit, {"data": data, "outcome": "y", "search": ald.Search(trees=2)}),
        (ald.audit, {"data": data, "search": "none", "named_groups": "sex = F", "outcome": "y"}),
        (ald.look, {"data": data, "outcome": "y"}),
        (ald.compare, {"data": scored, "predictions": ["predicted", "second"], "truth": "true"}),
    ]
    for function, options in calls:
        assert repr(function(**options, favorable=1)) == repr(function(**options, favourable=1))  # type: ignore[operator]
        assert "favorable" not in inspect.signature(function).parameters


def test_not_both() -> None:
    """Both spellings at once are an error."""
    with pytest.raises(ald.SettingError, match="give favourable or favorable, not both"):
        ald.audit(people(), outcome="y", favourable=1, favorable=1)  # type: ignore[call-arg]


def test_order_stays() -> None:
    """The options keep their order and values."""
    assert list(british({"a": 1, "favorable": 2, "b": 3}).items()) == [("a", 1), ("favourable", 2), ("b", 3)]
