"""The one table of options, and everything that must agree with it."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

import click
import pytest

import ald
from ald.auditing import audit
from ald.cli.main import cli
from ald.comparison.comparing import compare
from ald.errors import SettingError
from ald.options.objects import Given, Search, Source, Split, SurveyWeights
from ald.options.table import AUDIT_OPTIONS, OPTIONS, READING, SEARCHES, Option, of_command
from ald.statistics.basics import ADJUSTMENTS
from tests.tables import people

OBJECTS = {"search": Search, "split": Split, "given": Given, "weights": SurveyWeights, "data": Source}
OF_OBJECTS = [option for option in OPTIONS if option.attribute]


def literals(function: Callable[..., Any], name: str) -> set[str]:
    """The values that a parameter's annotation names."""
    hint = get_type_hints(function)[name]
    kinds = [hint] if get_origin(hint) is Literal else [kind for kind in get_args(hint) if get_origin(kind) is Literal]
    return {value for kind in kinds for value in get_args(kind)}


def test_the_signature_of_audit() -> None:
    """`ald.audit` has the parameters of the table, in its order, with its defaults, and not many."""
    parameters = inspect.signature(audit).parameters
    assert list(parameters) == [option.key for option in AUDIT_OPTIONS.values() if option.is_parameter]
    assert {name: one.default for name, one in parameters.items()} == {
        name: AUDIT_OPTIONS[name].default for name in parameters
    }
    assert len(parameters) <= 25


@pytest.mark.parametrize("option", [option for option in AUDIT_OPTIONS.values() if option.choices], ids=lambda o: o.key)
def test_choices(option: Option) -> None:
    """A parameter with choices has them in its annotation, and the help names them."""
    assert literals(audit, option.key) == set(option.choices)
    assert all(choice in option.help or choice == option.default for choice in option.choices)


def test_choices_of_the_search() -> None:
    """The searches of our own are in the annotation and in the help; other systems are names."""
    assert literals(audit, "search") == set(SEARCHES)
    assert all(search in AUDIT_OPTIONS["search"].help for search in SEARCHES)


def test_corrections_are_those_that_exist() -> None:
    """The table's corrections are those of the tests."""
    assert set(AUDIT_OPTIONS["adjust"].choices) == set(ADJUSTMENTS)
    assert literals(compare, "adjust") == set(ADJUSTMENTS)


def test_the_docstring_of_audit() -> None:
    """The docstring explains every parameter, in order."""
    said = re.findall(r"^    ((?:\w+, )*\w+): ", inspect.getsource(audit), re.MULTILINE)
    explained = [name for names in said for name in names.split(", ")]
    assert explained[-len(inspect.signature(audit).parameters) :] == list(inspect.signature(audit).parameters)


@pytest.mark.parametrize("option", OF_OBJECTS, ids=lambda o: o.key)
def test_options_in_objects(option: Option) -> None:
    """An option that an object carries is a field of it, with the same default; its parameter takes the object."""
    field = {field.name: field for field in fields(OBJECTS[option.parameter])}[option.attribute]
    assert field.default in (option.default, MISSING)


@pytest.mark.parametrize("parameter", OBJECTS)
def test_objects_have_nothing_else(parameter: str) -> None:
    """Every field of an object is an option of the table, but for the data of a source."""
    named = {option.attribute for option in OF_OBJECTS if option.parameter == parameter}
    assert {field.name for field in fields(OBJECTS[parameter])} - {"data"} == named


def test_the_signature_of_source() -> None:
    """`ald.source` takes what the table says of reading."""
    assert list(inspect.signature(ald.source).parameters) == ["data", *READING]


def test_the_signature_of_compare() -> None:
    """`ald.compare` has the table's options for it, with their defaults; those of reading are its source's."""
    options = {key: option for key, option in of_command("compare").items() if key not in READING}
    parameters = inspect.signature(compare).parameters
    assert set(parameters) == {"data", *options}
    for key, option in options.items():
        assert parameters[key].default in (option.default, inspect.Parameter.empty)


def test_the_signature_of_watch() -> None:
    """`ald.watch` has what only it has in its signature; its other options are those of an audit."""
    own = {key: option for key, option in of_command("watch").items() if option.commands == ("watch",)}
    parameters = inspect.signature(ald.watch).parameters
    assert set(parameters) == {"data", *own, "options"}
    for key, option in own.items():
        assert parameters[key].default in (option.default, inspect.Parameter.empty)
    assert literals(ald.watch, "every") == set(own["every"].choices)
    assert set(of_command("watch")) - set(own) <= set(AUDIT_OPTIONS)


def test_settings() -> None:
    """The checked settings are the options that decide the result, with their defaults, in their order.

    Beside them stand the classes, which the data says.
    """
    decisive = {key: option for key, option in AUDIT_OPTIONS.items() if option.in_document}
    found = {field.name: field for field in fields(ald.AuditConfig) if field.name != "classes"}
    assert list(found) == list(decisive)
    assert {key: field.default for key, field in found.items() if key != "notion"} == {
        key: option.default for key, option in decisive.items() if key != "notion"
    }


def test_documents() -> None:
    """The document has the settings under the keys of the table; a score only where one is audited."""
    config = json.loads(ald.audit(people(), outcome="y", search=Search(trees=2)).to_json())["config"]
    assert list(config) == [
        key for key, option in AUDIT_OPTIONS.items() if option.in_document and key not in ("notion", "score")
    ]


@pytest.mark.parametrize("command", ["audit", "profile", "watch", "compare"])
def test_the_command_line(command: Any) -> None:
    """A command has every option of the table that says so, by its flag, and the keys are its names."""
    params = {param.name: param for param in cli.commands[command].params if isinstance(param, click.Option)}
    for key, option in of_command(command).items():
        assert option.flag in params[key].opts
    besides = {"config", "format_", "output", "assess_on", "title", "notes", "date"}
    assert set(params) - besides == set(of_command(command))


def test_names_are_unique() -> None:
    """No command has a key twice, so that none hides another."""
    for command in ("audit", "profile", "watch", "compare"):
        keys = [option.key for option in OPTIONS if command in option.commands]
        assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("direction", "down", "unknown direction 'down'. Available: 'disadvantaged', 'both', 'advantaged'."),
        ("ranking", "magnitud", "Did you mean 'magnitude'"),
        ("trees", 0, "trees must be a whole number from 1 on, not 0"),
        ("trees", True, "trees must be a whole number from 1 on, not True"),
        ("trees", None, "trees must be a whole number from 1 on, not None"),
        ("seed", -1, "seed must be a whole number from 0 on, not -1"),
        ("given_in_criteria", 1, "given_in_criteria must be true or false, not 1"),
        ("fraction", 1, "fraction must be above 0 and below 1, not 1"),
        ("threshold", -0.1, "threshold must be from 0 on and finite, not -0.1"),
        ("alpha", 1.1, "alpha must be above 0 and at most 1, not 1.1"),
        ("level", float("nan"), "level must be above 0 and at most 1, not nan"),
        ("level", "0.05", "level must be above 0 and at most 1, not '0.05'"),
    ],
)
def test_values_that_are_refused(key: str, value: Any, problem: str) -> None:
    """A value outside of choices or bounds is refused with what was expected."""
    with pytest.raises(SettingError, match=re.escape(problem)):
        AUDIT_OPTIONS[key].check(value)


@pytest.mark.parametrize(
    ("key", "values"), [("threshold", (0, 0.99)), ("alpha", (1, 1e-9)), ("fraction", (0.01, 0.99))]
)
def test_ends_of_bounds(key: str, values: tuple[float, ...]) -> None:
    """Each end of a number's bounds belongs to them as the table says."""
    for value in values:
        AUDIT_OPTIONS[key].check(value)
