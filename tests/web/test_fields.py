"""The form of an audit is made of the table of options, and read back into it."""

from __future__ import annotations

from typing import Any

import pytest

import ald
from ald.options.table import AUDIT_OPTIONS
from ald.web.fields import AUDITED, asked_of_look, column_parts, field_of, first_answers, read, settings
from tests.tables import decisions, people

COLUMNS = ["age", "sex", "y", "sex, or not"]


def answers(*pairs: tuple[str, str], notions: tuple[str, ...] = ()) -> Any:
    return read([("outcome", "2"), *pairs], COLUMNS, notions, ())


def test_every_option_has_its_place() -> None:
    """Whatever the table has can be asked on the page, but for what needs another file, machine or language."""
    named = {setting.option.key for setting in settings()} | set(column_parts()) | {*AUDITED, "favourable", "notion"}
    named |= {"kinds", "query"}
    left_out = {"data", "progress", "engine", "memory_limit", "threads", "attributes_from", "on", "attributes"}
    assert set(AUDIT_OPTIONS) - named == left_out & set(AUDIT_OPTIONS)


def test_defaults_are_left_out() -> None:
    """A form as it stands asks for nothing but what is audited."""
    pairs = [(setting.name, setting.default) for setting in settings() if setting.option.form != "flag"]
    assert answers(*pairs).options == {"outcome": "y"}
    assert answers(*pairs).problems == {}


def test_columns_by_their_places() -> None:
    """Columns are named by place, and whatever is none of them is nothing."""
    found = answers(
        ("part-0", "given"), ("part-3", "given"), ("part-1", "exclude"), ("part-9", "exclude"), ("part-x", "given")
    )
    assert found.options == {"outcome": "y", "given": ["age", "sex, or not"], "exclude": ["sex"]}


def test_one_column_each() -> None:
    """Two columns for what takes one is a problem of the second."""
    found = answers(("part-0", "cluster"), ("part-1", "cluster"))
    assert found.options["cluster"] == "age"
    assert "'age'" in found.problems["part-1"]


def test_several_outcomes() -> None:
    """Further outcomes are audited with the first, each with its favourable value."""
    found = answers(("part-1", "further"), ("favourable", "1"), ("favourable-1", "F"))
    assert found.options == {"outcome": ["y", "sex"], "favourable": {"y": "1", "sex": "F"}}


def test_predictions() -> None:
    """Predictions come with a truth, which is another column."""
    found = read([("about", "prediction"), ("prediction", "1"), ("truth", "1")], COLUMNS, (), ())
    assert set(found.problems) == {"truth"}
    found = read([("about", "prediction"), ("prediction", "1")], COLUMNS, (), ())
    assert set(found.problems) == {"truth"}


def test_notions() -> None:
    """Only notions that fit are asked; none is a problem; the usual one is nothing to say."""
    fitting = ("statistical parity", "equalized odds")
    assert "notion" in answers(notions=fitting).problems
    assert "notion" not in answers(("notion", "statistical parity"), notions=fitting).options
    assert answers(("notion", "equalized odds"), notions=fitting).options["notion"] == "equalized odds"
    assert "notion" in answers(("notion", "false alarms"), notions=fitting).problems


def test_kinds() -> None:
    """A kind is said where it was chosen; words in an order need that order."""
    seen = ald.look(people()).columns
    names = [column.name for column in seen]
    found = read(
        [("outcome", "6"), ("kind-0", "nominal"), ("kind-1", "ordinal"), ("order-1", "M < F")], names, (), seen
    )
    assert found.options["kinds"] == {"age": "nominal", "sex": ["M", "F"]}
    assert "kind-1" in read([("outcome", "6"), ("kind-1", "ordinal")], names, (), seen).problems
    assert read([("kind-1", "nonsense"), ("outcome", "6")], names, (), seen).options == {"outcome": "y"}


@pytest.mark.parametrize(("text", "value"), [("5", 5), (" 7 ", 7), ("", None), ("25", None)])
def test_numbers(text: str, value: int | None) -> None:
    """Numbers are read as numbers; nothing, and the default, say nothing."""
    assert answers(("set-trees", text)).options.get("trees") == value


def test_the_first_form_is_what_the_look_says() -> None:
    """It asks for what the look suggests: the columns, the favourable value and the notion."""
    for columns in (people(), decisions(), ald.datasets.load_berkeley()):
        look = ald.look(columns)
        names = [column.name for column in look.columns]
        found = read(first_answers(look), names, look.notions, look.columns).options
        expected = {"outcome": look.outcome, "prediction": look.prediction, "truth": look.truth}
        assert {key: found.get(key) for key in expected} == expected
        assert asked_of_look(first_answers(look), names).get("favourable") == look.favourable


def test_fields_of_messages() -> None:
    """A message stands at the setting or column that it names; one that names nothing at the whole form."""
    options = {"outcome": "y", "given_bins": 3, "threshold": 0.1}
    assert field_of("given_bins says how numbers among given=... are cut", options, COLUMNS) == "set-given_bins"
    assert field_of("column 'age' cannot be numeric", options, COLUMNS) == "part-0"
    assert field_of("outcome 'y' has one value", options, COLUMNS) == "outcome"
    assert field_of("the disk is full", options, COLUMNS) == ""
