"""The command line and the Python code of an audit say what its options say."""

from __future__ import annotations

import shlex
from typing import Any

import pytest
from click.testing import CliRunner

import ald
from ald.auditing import audit_with
from ald.cli.main import cli
from ald.options.recipes import command_line, in_list, python_code
from tests.tables import people, write_csv

OPTIONS: list[dict[str, Any]] = [
    {"outcome": "y"},
    {"outcome": "y", "favourable": "1", "exclude": ["age", "score"], "seed": 3},
    {"outcome": "y", "given": ["age"], "given_bins": 3, "given_in_criteria": True, "threshold": 0.05},
    {"outcome": ["y", "member"], "favourable": {"y": "1", "member": "True"}, "split": "random"},
    {"outcome": "y", "fraction": 0.4, "trees": 7, "alpha": 0.05, "search": "paper"},
    {"outcome": "y", "named_groups": ("sex = F", "age > 60"), "search": "none"},
    {"outcome": "y", "kinds": {"age": "nominal", "sex": ["M", "F"]}, "attributes": ["age", "sex"]},
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: " ".join(options))
def test_all_three_are_one_audit(options: dict[str, Any], tmp_path: Any) -> None:
    """The options, the command line and the Python code give the same document."""
    path = str(write_csv(tmp_path / "people.csv", people(700)))
    expected = audit_with(options | {"data": path}).to_json()
    words = shlex.split(command_line(path, options))
    assert CliRunner().invoke(cli, [*words[1:], "--format", "json"]).output == expected
    assert eval(python_code(repr(path), options), {"ald": ald}).to_json() == expected


def test_names_in_lists() -> None:
    """A name that holds a comma, a quote or spaces at its ends is quoted in lists of columns."""
    assert [in_list(name) for name in ("a", "a b", "a,b", 'a"b', " a")] == ["a", "a b", '"a,b"', '"a""b"', '" a"']


def test_weights_and_their_counts() -> None:
    """Survey weights and counts are one object in Python."""
    code = python_code("data", {"weights": "n", "survey_weights": "w"})
    assert code == "ald.audit(data, weights=ald.SurveyWeights('w', counts='n'))"
