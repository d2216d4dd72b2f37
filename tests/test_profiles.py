"""What laws ask to be counted: the counts are those of a plain loop over all rows."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ald
from ald import Audit, ColumnError, InputError, SettingError
from ald.profiles import Category, CategoryTable, Profile, check_profile
from tests.flat import audit_flat
from tests.tables import decisions, people

COLUMNS = {"sex": "gender", "race": "origin"}


def applicants(n: int = 500, seed: int = 0) -> dict[str, list[Any]]:
    """Applicants with a sex and an origin, some of them unknown, and whether they were hired."""
    rng = np.random.default_rng(seed)
    gender = rng.choice(["F", "M", None], n, p=[0.45, 0.5, 0.05])
    origin = rng.choice(["A", "B", "C", None], n, p=[0.6, 0.29, 0.01, 0.1])
    hired = rng.random(n) < 0.2 + 0.3 * (gender == "M")
    return {"gender": gender.tolist(), "origin": origin.tolist(), "x": rng.normal(size=n).tolist(),
            "hired": hired.astype(int).tolist()}  # fmt: skip


def by_hand(rows: list[tuple[Any, ...]], selected: list[int], weights: list[int]) -> tuple[dict[Any, Any], int]:
    """People and selected per category, and the people without one, counted one by one."""
    people, chosen, unknown = Counter[Any](), Counter[Any](), 0
    for names, hit, weight in zip(rows, selected, weights, strict=True):
        if None in names:
            unknown += weight
        elif weight:
            people[names] += weight
            chosen[names] += hit * weight
    return {names: (people[names], chosen[names]) for names in people}, unknown


def counted(table: CategoryTable) -> tuple[dict[Any, Any], int | None]:
    return {category.names: (category.people, category.selected) for category in table.categories}, table.unknown


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.booleans())
def test_counts_are_those_of_a_loop(seed: int, weighted: bool) -> None:
    """Every table counts all rows, with their weights: not a half, and not those of unknown category."""
    columns = applicants(200, seed)
    weights = np.random.default_rng(seed).integers(0, 4, 200).tolist() if weighted else [1] * 200
    audit = ald.profile(
        "nyc-ll144",
        columns | {"w": weights},
        outcome="hired",
        weights="w",
        search=ald.Search(trees=1),
        attributes=["x"],
        columns=COLUMNS,
        min_group_size=1,
    )
    assert audit.profile is not None
    assert [table.roles for table in audit.profile.tables] == [("sex",), ("race",), ("sex", "race")]
    for table in audit.profile.tables:
        rows = list(zip(*(columns[COLUMNS[role]] for role in table.roles), strict=True))
        assert counted(table) == by_hand(rows, columns["hired"], weights)
        assert table.unknown is not None
        assert table.people + table.unknown == sum(weights) == audit.data_summary.rows


def test_predictions_are_what_is_selected() -> None:
    """With prediction and truth, those predicted to be positive are the selected."""
    columns = decisions()
    audit = ald.profile(
        "nyc-ll144",
        columns,
        prediction="predicted",
        truth="true",
        notion="equalized odds",
        search=ald.Search(trees=1),
        columns={"race": "group"},
    )
    assert audit.profile is not None
    (table,) = audit.profile.tables
    assert counted(table) == by_hand([(name,) for name in columns["group"]], columns["predicted"], [1] * 800)


def test_impact_ratios() -> None:
    """The impact ratio is the selection rate over that of the most selected category (worked out by hand)."""
    table = CategoryTable(
        roles=("sex",),
        categories=(
            Category(names=("Male",), people=1390, selected=667),
            Category(names=("Female",), people=1181, selected=555),
        ),
        unknown=0,
    )
    male, female = table.categories
    assert (round(male.rate, 2), round(female.rate, 2)) == (0.48, 0.47)
    assert table.impact_ratio(male) == 1.0
    assert table.impact_ratio(female) == pytest.approx(0.979, abs=0.0005)


def test_impact_ratios_without_small_categories() -> None:
    """A category below the least share has no ratio and is nobody's reference; one right at it counts."""
    sizes = {"big": (960, 480), "exactly 2%": (20, 4), "small and most selected": (19, 19), "one": (1, 0)}
    table = CategoryTable(
        roles=("race",),
        categories=tuple(Category(names=(name,), people=n, selected=k) for name, (n, k) in sizes.items()),
        unknown=7,
    )
    assert table.people == 1000
    assert [table.impact_ratio(each) for each in table.categories] == pytest.approx([0.5, 0.2, 1.0, 0.0])
    without = [table.impact_ratio(each, 0.02) for each in table.categories]
    assert without == [pytest.approx(1.0), pytest.approx(0.4), None, None]


def test_nobody_selected() -> None:
    """Where nobody of known category was selected, impact ratios are undefined."""
    table = CategoryTable(roles=("sex",), categories=(Category(names=("F",), people=3, selected=0),), unknown=0)
    assert table.impact_ratio(table.categories[0]) is None


def test_profiles_change_nothing_else() -> None:
    """Findings and candidates are the same with and without a profile, in any order of its columns."""
    columns = applicants()
    options: dict[str, Any] = {"outcome": "hired", "trees": 3, "attributes": ["x", "gender"]}
    plain = audit_flat(columns, **options)
    first = audit_flat(columns, **options, profile="nyc-ll144", columns=COLUMNS)
    again = audit_flat(
        pd.DataFrame(columns)[::-1], **options, profile="nyc-ll144", columns=dict(reversed(COLUMNS.items()))
    )
    assert plain.profile is None
    assert (plain.groups, plain.candidates) == (first.groups, first.candidates)
    assert first.to_json() == again.to_json()


def test_numbers_as_categories() -> None:
    """A column of codes is counted by its values, in their order."""
    columns = applicants()
    columns["gender"] = [{"F": 2, "M": 10, None: None}[value] for value in columns["gender"]]
    audit = ald.profile("nyc-ll144", columns, outcome="hired", search=ald.Search(trees=1), columns={"sex": "gender"})
    assert audit.profile is not None
    assert [category.names for category in audit.profile.tables[0].categories] == [("10",), ("2",)]


def test_any_roles_for_europe() -> None:
    """The profile of the EU AI Act takes columns under any names, or none, and no pairs."""
    columns = people()
    audit = ald.profile(
        "eu-ai-act", columns, outcome="y", search=ald.Search(trees=1), columns={"gender": "sex", "members": "member"}
    )
    assert audit.profile is not None
    assert [table.roles for table in audit.profile.tables] == [("gender",), ("members",)]
    bare = ald.profile("eu-ai-act", columns, outcome="y", search=ald.Search(trees=1))
    assert bare.profile == Profile(name="eu-ai-act", columns={})


@pytest.mark.parametrize(
    ("profile", "columns", "problem"),
    [
        ("nyc-144", COLUMNS, "unknown profile 'nyc-144'. Did you mean 'nyc-ll144'"),
        ("nyc-ll144", None, r"must be told which columns .*--column sex=COLUMN --column race=COLUMN"),
        ("nyc-ll144", {"gender": "gender"}, "takes no column for 'gender'"),
        ("nyc-ll144", {"sex": "gender", "race": "gender"}, "names a column twice"),
        ("nyc-ll144", {"sex": 3}, "must give names of columns"),
    ],
)
def test_wrong_settings(profile: str, columns: Any, problem: str) -> None:
    """Each is an error that says what is expected."""
    with pytest.raises(SettingError, match=problem):
        check_profile(profile, columns)


def test_wrong_columns() -> None:
    """A column that is not there, says nothing, or is the outcome is an error before the search."""
    columns = applicants() | {"one": ["x"] * 500}

    def attempt(column: str) -> None:
        def searching(step: str, share: float) -> None:
            pytest.fail("the search began")

        ald.profile("nyc-ll144", columns, outcome="hired", columns={"sex": column}, progress=searching)

    with pytest.raises(ColumnError, match=r"there is no column 'gendr'.* Did you mean 'gender'"):
        attempt("gendr")
    with pytest.raises(SettingError, match="the profile cannot count by the column 'one': it has fewer than two"):
        attempt("one")
    weights = [int(value == "M") for value in columns["gender"]]
    with pytest.raises(SettingError, match="the profile cannot count by the column 'gender': constant"):
        ald.profile("nyc-ll144", columns | {"w": weights}, outcome="hired", weights="w", columns=COLUMNS)
    with pytest.raises(SettingError, match="'hired' cannot be both an attribute and the outcome"):
        attempt("hired")


def test_documents() -> None:
    """Profiles come back from JSON, and counts that cannot be right are refused."""
    audit = ald.profile("nyc-ll144", applicants(), outcome="hired", search=ald.Search(trees=1), columns=COLUMNS)
    assert Audit.from_json(audit.to_json()).profile == audit.profile
    changes: list[tuple[list[Any], Any]] = [
        (["tables", 0, "categories", 0, "people"], 0),
        (["tables", 0, "categories", 0, "selected"], 10**6),
        (["tables", 0, "categories", 0, "names"], ["a", "b"]),
        (["tables", 0, "unknown"], -1),
        (["tables", 0, "roles"], ["other"]),
        (["tables", 0, "roles"], 3),
        (["name"], "nothing"),
    ]
    for path, value in changes:
        document = json.loads(audit.to_json())
        place = document["profile"]
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        with pytest.raises(InputError, match="damaged"):
            Audit.from_json(json.dumps(document))
