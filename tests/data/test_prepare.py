"""From tables to audit data: roles, outcomes, weights, columns left out, and errors in words."""

from __future__ import annotations

import datetime
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ald
from ald import AldError, ColumnError, InputError, SettingError
from ald.data.inputs.sources import load
from ald.data.prepare import Roles, prepare
from ald.notions import OUTCOME_CELLS
from tests.flat import audit_flat
from tests.tables import decisions, people


def refused(problem: str, error: type[AldError], columns: Any = None, **options: Any) -> None:
    """Checks that the audit is refused with this message."""
    with pytest.raises(error, match=problem):
        audit_flat(people() if columns is None else columns, **options)


class TestRoles:
    """Which column plays which part."""

    @pytest.mark.parametrize(
        ("options", "problem"),
        [
            ({}, "name the column to audit"),
            ({"outcome": "y", "truth": "y"}, "give either outcome, or prediction and truth"),
            ({"prediction": "y"}, "prediction was given without truth"),
            ({"truth": "y"}, "truth was given without prediction"),
            ({"outcome": 3}, r"outcome must be the name of a column \(text\), not 3"),
            ({"outcome": "y", "weights": 1.5}, "weights must be the name of a column"),
            ({"outcome": "y", "attributes": [1]}, "attributes must be names of columns"),
            ({"outcome": "y", "kinds": {1: "numeric"}}, "go by names of columns"),
            ({"outcome": "y", "kinds": {"age": 3}}, "the kind of column 'age' must be a word or a list of levels"),
            ({"outcome": "y", "kinds": {"age": "numerical"}}, "unknown kind 'numerical' .* Did you mean 'numeric'"),
            ({"outcome": "y", "attributes": ["age", "y"]}, "'y' cannot be both an attribute and the outcome"),
            ({"outcome": "y", "weights": "age", "attributes": ["age"]}, "'age' cannot be both"),
        ],
    )
    def test_roles_that_make_no_sense(self, options: dict[str, Any], problem: str) -> None:
        """Each is a SettingError that says what to do."""
        refused(problem, SettingError, **options)

    @pytest.mark.parametrize("role", ["outcome", "weights", "attributes", "exclude", "kinds"])
    def test_no_such_column(self, role: str) -> None:
        """A misspelt name is an error that offers the nearest, in any role."""
        options: dict[str, Any] = {"outcome": "y", "attributes": ["sex"]}
        options |= {role: {"agee": "numeric"} if role == "kinds" else ["agee"] if role == "attributes" else "agee"}
        refused("there is no column 'agee' .* Did you mean 'age'", ColumnError, **options)

    def test_kinds_of_columns_that_are_no_attributes(self) -> None:
        """A kind may be given for a column that exists and is not audited."""
        audit = ald.audit(
            ald.source(people(), kinds={"age": "numeric"}), outcome="y", attributes=["sex"], search=ald.Search(trees=2)
        )
        assert [entry.name for entry in audit.data_summary.attributes] == ["sex"]

    def test_repeated_attributes_count_once(self) -> None:
        """An attribute that is named twice is audited once."""
        audit = ald.audit(people(), outcome="y", attributes=["sex", "age", "sex"], search=ald.Search(trees=2))
        assert [entry.name for entry in audit.data_summary.attributes] == ["sex", "age"]

    def test_nothing_left_to_audit(self) -> None:
        """Data with nothing but the outcome is an error."""
        refused("has no column left to audit besides 'y'", InputError, {"y": [0, 1] * 50}, outcome="y")


def outcome_table(values: list[Any]) -> dict[str, Any]:
    """A table of 200 rows whose outcome repeats these values."""
    return {"x": ["a", "b", "c", "d"] * 50, "y": [values[i % len(values)] for i in range(200)]}


class TestExclude:
    """Columns that the user leaves out."""

    def test_excluded_columns_are_not_audited(self) -> None:
        """They are named among the columns left out, and nothing else changes."""
        columns = people()
        found = ald.audit(columns, outcome="y", exclude=["age", "seen", "age"], search=ald.Search(trees=2))
        assert [(entry.name, entry.reason) for entry in found.data_summary.left_out] == [
            ("age", "excluded"),
            ("seen", "excluded"),
        ]
        rest = {name: values for name, values in columns.items() if name not in ("age", "seen")}
        assert found.candidates == ald.audit(rest, outcome="y", search=ald.Search(trees=2)).candidates

    def test_one_name_is_enough(self) -> None:
        """One column is given as a text."""
        found = ald.audit(people(), outcome="y", exclude="age", search=ald.Search(trees=2))
        assert "age" not in [entry.name for entry in found.data_summary.attributes]

    def test_excluded_columns_are_not_read(self) -> None:
        """What cannot be read does no harm once it is excluded."""
        columns = people() | {"odd": np.zeros((600, 2))}
        with pytest.raises(InputError, match="column 'odd' must have one dimension"):
            ald.audit(columns, outcome="y", search=ald.Search(trees=2))
        assert ald.audit(columns, outcome="y", exclude="odd", search=ald.Search(trees=2)).candidates

    def test_groups_in_words_may_use_them(self) -> None:
        """A named group is tested although its column does not take part in the search."""
        found = ald.audit(people(), outcome="y", exclude="age", named_groups="age > 45", search=ald.Search(trees=2))
        assert str(found.named_groups[0].criterion) == "age > 45"
        assert "age" not in [entry.name for entry in found.data_summary.attributes]

    def test_a_kind_of_an_excluded_column_is_of_no_use(self) -> None:
        """A kind may be given for it, and is not looked at."""
        found = ald.audit(
            ald.source(people(), kinds={"age": "nominal"}), outcome="y", exclude="age", search=ald.Search(trees=2)
        )
        assert "age" not in [entry.name for entry in found.data_summary.attributes]

    @pytest.mark.parametrize(
        ("options", "problem"),
        [
            ({"exclude": "y"}, "'y' cannot be both outcome and left out"),
            ({"exclude": "sex", "given": "sex"}, "'sex' cannot be both given and left out"),
            ({"exclude": "sex", "attributes": ["sex", "age"]}, "'sex' cannot be both an attribute and left out"),
            ({"exclude": [3]}, "exclude must be names of columns"),
        ],
    )
    def test_exclusions_that_make_no_sense(self, options: dict[str, Any], problem: str) -> None:
        """A column that has a role cannot be left out."""
        refused(problem, SettingError, outcome="y", **options)

    def test_nothing_left(self) -> None:
        """Excluding every attribute is an error."""
        refused("has no column left to audit besides 'x', 'y'", InputError, {"x": [1, 2] * 40, "y": [0, 1] * 40},
                outcome="y", exclude="x")  # fmt: skip


class TestOutcome:
    """The outcome must have two values, none missing, one of them favourable."""

    @pytest.mark.parametrize(
        ("values", "favourable", "problem"),
        [
            ([1], None, "has the value '1' in every row: there are no differences to locate"),
            (["yes"], "yes", "has the value 'yes' in every row"),
            (["Yes", "yes", "no"], None, r"3 different values .*; it must have two\. Note that .* only in spelling"),
            ([None], None, "no row has a value of 'y': there is no outcome to audit"),
            (
                ["yes", "no"],
                None,
                r"which value of outcome 'y' is the favourable one\? It has 'no', 'yes'\. Say favourable='no' or "
                r"favourable='yes' \(command line: --favourable 'no' or --favourable 'yes'\)\.",
            ),
            (["yes", "no"], "Yes", "never has the favourable value 'Yes'. Did you mean 'yes'"),
            ([0, 1], 2, "never has the favourable value '2'"),
            ([1, 2], None, "which value of outcome 'y' is the favourable one"),
        ],
    )
    def test_bad_outcomes(self, values: list[Any], favourable: Any, problem: str) -> None:
        """Each is a ColumnError that says what was found and what to do."""
        refused(problem, ColumnError, outcome_table(values), outcome="y", favourable=favourable)

    @pytest.mark.parametrize(
        ("values", "favourable"),
        [
            ([0, 1], None),
            ([0.0, 1.0], None),
            ([False, True], None),
            (["false", "true"], None),
            (["FALSE", "TRUE"], None),
            (["0", "1"], None),
            ([False, True], True),
            ([False, True], "true"),
            ([False, True], 1),
            ([False, True], np.True_),
            (["false", "true"], True),
            ([0, 1], True),
            ([0, 1], 1.0),
            ([0, 1], "1"),
            (["a", "b"], "b"),
            ([1, 2], 2),
            ([datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)], "2020-01-02"),
        ],
    )
    def test_favourable_values(self, values: list[Any], favourable: Any) -> None:
        """The second value is the favourable one, by default or by name, in every coding."""
        columns = outcome_table([values[0], values[0], values[1]])
        roles = Roles(outcome="y", favourable=favourable)
        summary = prepare(load(columns), roles, OUTCOME_CELLS).summary
        assert summary.cells == {"negative": 134, "positive": 66}

    @pytest.mark.parametrize("missing", [None, float("nan"), "N/A", ""])
    def test_missing_outcomes_are_left_out(self, missing: Any) -> None:
        """Rows without an outcome are left out, and a warning counts them; the rest is audited as if they were not."""
        columns = outcome_table(["no", "yes", missing])
        rest = {name: [v for i, v in enumerate(values) if i % 3 < 2] for name, values in columns.items()}
        roles = Roles(outcome="y", favourable="yes")
        found, expected = (prepare(load(each), roles, OUTCOME_CELLS).summary for each in (columns, rest))
        first, *others = found.warnings
        assert replace(found, warnings=tuple(others)) == expected
        assert first.startswith("66 of 200 rows have no value of 'y' and were left out")

    def test_rows_left_out_take_weights_and_halves_with_them(self) -> None:
        """Weights, clusters and given halves stay with their rows."""
        columns = outcome_table([0, 1, None, 1]) | {"n": [1, 2, 1000, 4] * 50}
        roles = Roles(outcome="y", weights="n")
        half = np.arange(200) % 2
        found = prepare(load(columns), roles, OUTCOME_CELLS, half=half)
        assert found.summary.cells == {"negative": 50, "positive": 300}
        assert found.data.counts[found.data.design.half == 0].sum() == 50

    def test_the_unfavourable_value_can_be_audited(self) -> None:
        """Naming the other value turns the cells around."""
        for favourable in (False, "false", 0, "0"):
            roles = Roles(outcome="y", favourable=favourable)
            cells = prepare(load(outcome_table([False, False, True])), roles, OUTCOME_CELLS).summary.cells
            assert cells == {"negative": 66, "positive": 134}

    def test_confusion_cells(self) -> None:
        """Prediction and truth together give the four cells."""
        columns = decisions()
        audit = ald.audit(columns, prediction="predicted", truth="true", search=ald.Search(trees=2))
        pairs = list(zip(columns["predicted"], columns["true"], strict=True))
        assert audit.data_summary.cells == {
            "tn": pairs.count((0, 0)),
            "fp": pairs.count((1, 0)),
            "fn": pairs.count((0, 1)),
            "tp": pairs.count((1, 1)),
        }

    def test_different_codings(self) -> None:
        """Prediction and truth in different words are an error that shows both."""
        columns = decisions()
        columns["true"] = ["yes" if value else "no" for value in columns["true"]]
        refused(
            "prediction 'predicted' and truth 'true' are coded differently: '0', '1' against 'no', 'yes'",
            ColumnError,
            columns,
            prediction="predicted",
            truth="true",
        )

    def test_notions_that_need_the_truth(self) -> None:
        """Equalized odds of an outcome alone is an error that says what to give."""
        refused("give prediction=... and truth=...", SettingError, outcome="y", notion="equalized odds")


class TestLeftOut:
    """Columns that cannot describe groups."""

    def test_constant_columns(self) -> None:
        """A column with one value is left out; of an unordered one with missing values two groups remain."""
        columns = people() | {"k": [7] * 600, "w": ["x"] * 600, "none": [None] * 600}
        columns |= {"half": ["x" if i % 2 else None for i in range(600)]}
        audit = ald.audit(columns, outcome="y", search=ald.Search(trees=2))
        assert [(entry.name, entry.reason) for entry in audit.data_summary.left_out] == [
            ("k", "constant (always '7')"),
            ("w", "constant (always 'x')"),
            ("none", "no value at all"),
        ]

    def test_identifiers(self) -> None:
        """Words and whole numbers that never repeat are left out; other numbers are not."""
        columns = people() | {"id": list(range(600)), "name": [f"n{i}" for i in range(600)]}
        columns |= {"real": [i + 0.5 for i in range(600)]}
        audit = ald.audit(columns, outcome="y", search=ald.Search(trees=2))
        assert [(entry.name, entry.reason) for entry in audit.data_summary.left_out] == [
            ("id", "identifier-like (a different whole number in each of 600 rows)"),
            ("name", "identifier-like (600 different values in 600 rows)"),
        ]

    @pytest.mark.parametrize("options", [{"attributes": ["id", "age"]}, {"kinds": {"id": "numeric"}}])
    def test_identifiers_that_are_wanted(self, options: dict[str, Any]) -> None:
        """A column that is named, in attributes or kinds, is audited even if it looks like an identifier."""
        audit = audit_flat(people() | {"id": list(range(600))}, outcome="y", trees=2, **options)
        assert "id" in [entry.name for entry in audit.data_summary.attributes]

    def test_all_attributes_constant(self) -> None:
        """If nothing is left to audit, the error gives every reason."""
        columns = {"a": [1] * 100, "b": ["x"] * 100, "y": [0, 1] * 50}
        refused(r"no attribute is left to audit \('a': constant .*'b': constant", InputError, columns, outcome="y")

    def test_an_order_of_levels_that_do_not_occur(self) -> None:
        """A column whose given order names more levels than occur is constant if one occurs."""
        columns = people() | {"size": ["M"] * 600}
        audit = ald.audit(ald.source(columns, kinds={"size": ["S", "M", "L"]}), outcome="y", search=ald.Search(trees=2))
        assert [entry.name for entry in audit.data_summary.left_out] == ["size"]

    def test_ten_thousand_levels(self) -> None:
        """A column of ten thousand levels can be audited, if it is named: it looks like an identifier."""
        n = 20_000
        columns = {"many": [f"level {i % 10_000}" for i in range(n)], "y": [int(i % 10_000 < 3000) for i in range(n)]}
        audit = ald.audit(columns, outcome="y", attributes=["many"], search=ald.Search(trees=3))
        assert audit.data_summary.attributes[0].distinct == 10_000
        assert audit.groups


class TestWeights:
    """A column that says how many people a row stands for."""

    @pytest.mark.parametrize(
        ("weights", "problem"),
        [
            ([-1, 2], "must be whole numbers from 0 on .* found -1"),
            ([0.5, 1], r"found 0\.5\. Fractional weights are not counts"),
            ([1, float("nan")], "has 300 missing or infinite values"),
            ([1, float("inf")], "has 300 missing or infinite values"),
            ([0, 0], "are all 0: there is nobody to audit"),
            (["a", "b"], "must be whole numbers; the column holds values of kind nominal"),
            ([None, None], "must be whole numbers; the column holds values of kind nominal, but all are missing"),
            ([datetime.date(2020, 1, 1), None], "kind date"),
            ([2**52, 2**52], "more people than can be counted exactly"),
        ],
    )
    def test_bad_weights(self, weights: list[Any], problem: str) -> None:
        """Each is a ColumnError that says what was found."""
        refused(problem, ColumnError, people() | {"w": weights * 300}, outcome="y", weights="w")

    def test_zero_weights_drop_rows(self) -> None:
        """Rows of weight 0 leave no trace: not in counts, levels, outcomes or missing values."""
        columns = people()
        kept = [i for i in range(600) if i % 3]
        weights = [2 if i % 3 else 0 for i in range(600)]
        ghosts = {
            name: [value if i % 3 else ghost for i, value in enumerate(columns[name])]
            for name, ghost in {"age": 999, "sex": "ghost", "score": None, "y": 7}.items()
        }
        with_ghosts = ald.audit(columns | ghosts | {"w": weights}, outcome="y", weights="w", search=ald.Search(trees=5))
        without = {name: [values[i] for i in kept for _ in range(2)] for name, values in columns.items()}
        repeated = ald.audit(without, outcome="y", search=ald.Search(trees=5))
        assert len(repeated.warnings) == 1  # rows that are there twice, where no weight says that they are people
        known = replace(repeated, data_summary=replace(repeated.data_summary, warnings=()))
        assert with_ghosts.to_json() == known.to_json()

    def test_weights_count_people(self) -> None:
        """Sizes, cells and missing values are people, not rows."""
        columns = {"x": ["a", "b", None] * 2, "y": [0, 0, 0, 1, 1, 1], "n": [100, 50, 10, 10, 50, 100]}
        summary = ald.audit(columns, outcome="y", weights="n", search=ald.Search(trees=2)).data_summary
        assert (summary.rows, summary.cells["positive"], summary.attributes[0].missing) == (320, 160, 110)

    def test_billions_of_people(self) -> None:
        """Weights may add up to billions: memory depends on rows, not on people."""
        n = 3 * 10**12
        columns = {"x": ["a", "b"] * 2, "y": [0, 0, 1, 1], "n": [n, 2 * n, 2 * n, n]}
        audit = ald.audit(columns, outcome="y", weights="n", search=ald.Search(trees=3))
        assert audit.data_summary.rows == 6 * n
        assert abs(abs(audit.groups[0].psi or 0) - 1 / 3) < 1e-3


class TestRows:
    """Too few rows."""

    def test_fewer_rows_than_a_tree_needs(self) -> None:
        """63 rows are too few, 64 are enough, and the error says so."""
        frame = pd.DataFrame(people())
        refused(
            "has 63 rows, too few to audit: at least 64 are needed", InputError, frame[:63], outcome="y", split="random"
        )
        assert ald.audit(frame[:64], outcome="y", search=ald.Search(trees=2)).data_summary.rows == 64


class TestMissing:
    """Missing values of attributes."""

    def test_missing_is_a_level_of_unordered_attributes(self) -> None:
        """People without an answer can be a group, in words and in the mask."""
        rng = np.random.default_rng(0)
        answer = rng.choice(["a", "b", None], 900)
        y = (rng.random(900) < np.where([value is None for value in answer], 0.9, 0.1)).astype(int)
        columns = {"answer": answer.tolist(), "y": y.tolist()}
        audit = ald.audit(columns, outcome="y", search=ald.Search(trees=3))
        group = next(finding for finding in audit.groups if str(finding.criterion) == "answer is missing")
        assert group.criterion.mask(columns).tolist() == [value is None for value in answer]

    @pytest.mark.parametrize("kind", ["numeric", "ordinal"])
    def test_missing_satisfies_no_ordered_condition(self, kind: str) -> None:
        """People without a number are in no group of that attribute, in counts as in masks."""
        columns = people()
        columns["age"] = [None if i % 5 == 0 else value for i, value in enumerate(columns["age"])]
        audit = ald.audit(
            ald.source(columns, kinds={"age": kind}), outcome="y", attributes=["age"], search=ald.Search(trees=5)
        )
        gone = np.array([value is None for value in columns["age"]])
        assert audit.candidates
        for finding in audit.candidates:
            assert not (finding.criterion.mask(columns) & gone).any()
            assert finding.size <= audit.data_summary.rows - gone.sum()

    def test_a_level_that_the_search_never_saw(self) -> None:
        """A level that only D2 has is in no group that names levels, and in everyone else's count."""
        for seed in range(40):
            columns = people(200)
            columns["sex"] = ["unique", *columns["sex"][1:]]
            audit = ald.audit(columns, outcome="y", attributes=["sex"], search=ald.Search(trees=3), seed=seed)
            seen = {level for entry in audit.candidates for c in entry.criterion for level in c.levels}  # type: ignore[union-attr]
            if audit.candidates and "unique" not in seen:
                break
        else:
            raise AssertionError("the level was always drawn into D1")
        for finding in audit.candidates:
            assert not finding.criterion.mask(columns)[0]
            assert sum(finding.counts_outside.values()) == audit.data_summary.rows_assess - finding.size


@pytest.mark.parametrize(
    "name", ["with space", 'a "quoted" name', "new\nline", "ünï", "%", "a & b", "", "missing", "in"]
)
def test_hostile_column_names(name: str) -> None:
    """Any text can be a column's name, in every role."""
    columns = people()
    columns[name] = columns.pop("sex")
    columns["y" + name] = columns.pop("y")
    audit = ald.audit(columns, outcome="y" + name, search=ald.Search(trees=3))
    assert name in [entry.name for entry in audit.data_summary.attributes]
    assert ald.Audit.from_json(audit.to_json()) == audit
    assert not re.search("[\n\x1b]", " ".join(str(finding.criterion) for finding in audit.candidates))


@pytest.mark.parametrize("extreme", [[1e308, -1e308], [1e-308, 2e-308], [1e308, 1e-308], [5e-324, 1.7e308]])
def test_extreme_numbers(extreme: list[float]) -> None:
    """Numbers at the ends of the floating-point range split like any others."""
    columns = {"x": extreme * 200, "y": [0, 1] * 150 + [1, 0] * 50}
    audit = ald.audit(columns, outcome="y", search=ald.Search(trees=3))
    (found,) = audit.groups
    assert found.psi is not None
    assert abs(found.psi) > 0.3


def test_numbers_of_rows_are_left_out_of_counted_tables() -> None:
    """Where rows count several people, whole numbers from 1 to the last row number the rows; others are attributes."""
    n = 80
    columns = {"row": np.arange(1, n + 1), "age": np.arange(20, 20 + n), "sex": ["f", "m"] * (n // 2)}
    columns |= {"people": [9] * n, "y": [0, 0, 1, 1] * (n // 4)}
    summary = ald.audit(columns, outcome="y", weights="people").data_summary
    assert [(one.name, one.reason) for one in summary.left_out] == [
        ("row", "identifier-like (a different whole number in each of 80 rows)")
    ]
    kept = ald.audit(columns, outcome="y", weights="people", attributes=["row", "sex"]).data_summary
    assert kept.left_out == ()
