"""Audits whose rows stay where they are: the same forest and the same findings as one machine with the same samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest import mock

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import ald
from ald import InputError, SettingError
from ald.data.inputs.reading import Reading
from ald.remote import distributed
from ald.search import pool
from tests.engine_data import decisions
from tests.flat import audit_flat


def everything(audit: ald.Audit) -> dict[str, Any]:
    """All that an audit says, but for its warnings: data that stays where it is has one more."""
    found = audit.to_dict()
    del found["data"]["warnings"]
    return found


@pytest.fixture
def little_memory() -> Iterator[None]:
    """Memory for a hundred rows of counts."""
    with mock.patch.object(Reading, "most_distinct", 100):
        yield


@pytest.mark.parametrize(
    "options",
    [
        {"outcome": "hired", "split": "random"},
        {"outcome": "hired", "search": "paper", "trees": 5},
        {"outcome": "hired", "search": "leaves", "trees": 5, "seed": 3, "fraction": 0.3},
        {"prediction": "hired", "truth": "able", "notion": ["equalized odds", "predictive parity"], "trees": 5},
        {"outcome": "hired", "favourable": 1, "split": "remote", "direction": "advantaged", "reference": "all"},
        {
            "outcome": "hired",
            "ranking": "magnitude",
            "groups": 6,
            "threshold": 0.02,
            "attributes": ["age", "sex", "size", "score"],
        },
    ],
)
@pytest.mark.usefixtures("little_memory")
def test_the_same_as_one_machine(options: dict[str, Any]) -> None:
    """Forest, candidates, findings and details equal those of one machine."""
    frame = decisions()
    options = options | {"kinds": {"size": ["S", "M", "L"]}}
    expected = audit_flat(frame, **options)
    found = audit_flat(dd.from_pandas(frame, npartitions=3), **options)
    assert everything(found) == everything(expected)
    assert expected.groups
    assert "counted where they are" in found.warnings[-1]


@pytest.mark.usefixtures("little_memory")
def test_combinations() -> None:
    """That attributes matter together is tested from counts that come back, with the same numbers as in memory."""
    frame = pd.DataFrame(ald.datasets.make_synthetic(2, n=3000, rho=0.2, seed=1))
    expected, found = (
        ald.audit(data, outcome="y", split="random") for data in (frame, dd.from_pandas(frame, npartitions=3))
    )
    assert everything(found) == everything(expected)
    assert any(one.together is not None and one.together.listed for one in found.candidates)
    assert "counted where they are" in found.warnings[-1]


@pytest.mark.parametrize(
    "options",
    [
        {"outcome": "hired"},
        {"outcome": "hired", "search": "leaves"},
        {"outcome": ["hired", "able"], "favourable": 1, "direction": "disadvantaged"},
        {"outcome": "hired", "attributes": ["points"]},
        {"outcome": "hired", "search": "paper"},
    ],
)
@pytest.mark.usefixtures("little_memory")
def test_columns_that_give_the_outcome_away(options: dict[str, Any]) -> None:
    """They are judged on counts of D1 and tested on all of D2, as on one machine; no tree and no group has them."""
    frame = decisions()
    rng = np.random.default_rng(0)
    told = frame["hired"].astype(bool) ^ (rng.random(len(frame)) < 0.01)
    frame.insert(0, "points", (told + rng.random(len(frame))).round(2))
    expected = audit_flat(frame, trees=5, **options)
    found = audit_flat(dd.from_pandas(frame, npartitions=3), trees=5, **options)
    assert "counted where they are" in " ".join(found.warnings)
    assert found.giveaways == expected.giveaways
    assert len(found.giveaways) == (0 if options.get("search") == "paper" else 1)
    assert bool(found.groups) is bool(expected.groups)
    if found.giveaways:
        (outcome,) = {one.outcome for one in found.giveaways}
        assert all("points" not in str(one.criterion) for one in found.candidates if one.outcome == outcome)
        assert outcome is not None or 0 not in found.forest.attribute


@pytest.mark.usefixtures("little_memory")
def test_nothing_tested_has_its_reason() -> None:
    """Where no group could be tested, a warning says why, as on one machine."""
    frame = decisions(2000).assign(hired=0)
    frame.loc[7, "hired"] = 1
    expected = ald.audit(frame, outcome="hired", search=ald.Search(trees=5))
    found = ald.audit(dd.from_pandas(frame, npartitions=3), outcome="hired", search=ald.Search(trees=5))
    assert everything(found) == everything(expected)
    assert found.warnings[-1] == expected.warnings[-1]
    assert expected.warnings[-1].startswith("no group could be tested: in the half that was ")


@pytest.mark.usefixtures("little_memory")
def test_partitions_do_not_matter() -> None:
    """However rows are parted and ordered, the result is the same."""
    frame = decisions()
    mixed = frame.sample(frac=1.0, random_state=1).reset_index(drop=True)
    first, second = (
        ald.audit(dd.from_pandas(data, npartitions=n), outcome="hired", search=ald.Search(trees=5)).to_json()
        for data, n in ((frame, 1), (mixed, 7))
    )
    assert first == second


@pytest.mark.usefixtures("little_memory")
def test_equal_rows_are_different_people() -> None:
    """Rows that occur several times are drawn one by one."""
    frame = decisions(3000)[["age", "sex", "size", "hired"]]
    expected = ald.audit(frame, outcome="hired", search=ald.Search(trees=5))
    assert everything(
        ald.audit(dd.from_pandas(frame, npartitions=2), outcome="hired", search=ald.Search(trees=5))
    ) == everything(expected)


@pytest.mark.usefixtures("little_memory")
def test_several_outcomes() -> None:
    """Several outcomes are audited together, each with samples of its own."""
    frame = decisions()
    found = ald.audit(dd.from_pandas(frame, npartitions=2), outcome=["hired", "able"], search=ald.Search(trees=5))
    assert len(found.forest) == 10
    assert {group.outcome for group in found.groups} <= {"hired", "able"}
    assert sum(found.data_summary.cells.values()) == len(frame)
    one = found.groups[0]
    member = one.criterion.mask(frame)
    assert found.data_summary.rows_assess < len(frame)
    assert one.size <= int(member.sum())
    assert found.details.curves


@pytest.mark.usefixtures("little_memory")
def test_a_pool_of_d1_chooses_the_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where D1 is larger than the pool, groups are chosen with a part of it, the same as on one machine."""
    monkeypatch.setattr(pool, "MOST_ROWS", 1000)
    frame = decisions()
    expected = ald.audit(frame, outcome="hired", search=ald.Search(trees=5))
    found = ald.audit(dd.from_pandas(frame, npartitions=3), outcome="hired", search=ald.Search(trees=5))
    assert everything(found) == everything(expected)
    for audit in (found, expected):
        assert any("chosen with about 1,000 of its people" in warning for warning in audit.warnings)


@pytest.mark.usefixtures("little_memory")
def test_categories() -> None:
    """Columns of categories, ordered ones too, are audited as what they stand for, whatever numbers they have."""
    frame = decisions().assign(
        sex=lambda data: data["sex"].astype("category"),
        size=lambda data: pd.Categorical(data["size"], ["S", "M", "L", "XL"], ordered=True),
    )
    options: dict[str, Any] = {"outcome": "hired", "trees": 5, "kinds": {"size": ["S", "M", "L"]}}
    expected = audit_flat(frame, **options)
    found = audit_flat(dd.from_pandas(frame, npartitions=3), **options)
    assert everything(found) == everything(expected)


@pytest.mark.usefixtures("little_memory")
def test_more_groups_than_a_key_has_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is in which of many groups is counted for some of them at a time, with the same result."""
    options: dict[str, Any] = {"outcome": "hired", "ranking": "magnitude", "groups": 12, "trees": 5}
    rng = np.random.default_rng(0)
    area = rng.integers(0, 12, 12000)
    chance = np.linspace(0.1, 0.9, 12)[area]
    frame = pd.DataFrame({"area": [f"area {a}" for a in area], "x": rng.integers(0, 90, 12000),
                          "hired": (rng.random(12000) < chance).astype(int)})  # fmt: skip
    expected = audit_flat(frame, **options)
    assert len(expected.candidates) > 6
    for bits in (62, 4, 1):
        monkeypatch.setattr(distributed, "_KEY_BITS", bits)
        assert everything(audit_flat(dd.from_pandas(frame, npartitions=3), **options)) == everything(expected)


@pytest.mark.usefixtures("little_memory")
def test_bins_on_the_cluster() -> None:
    """Numbers in bins are audited level by level too."""
    frame = decisions().assign(income=np.random.default_rng(0).lognormal(10, 1, 6000))
    found = ald.audit(dd.from_pandas(frame, npartitions=3), outcome="hired", search=ald.Search(trees=5))
    assert any("income" in warning and "quantile bins" in warning for warning in found.warnings)
    assert "income" in {attribute.name for attribute in found.data_summary.attributes}


@pytest.mark.parametrize(
    "options",
    [
        {"given": "size"},
        {"weights": "able"},
        {"cluster": "age"},
        {"survey_weights": "age"},
        {"reference": "sex = f"},
        {"named_groups": "sex = f"},
        {"search": "cart"},
        {"repeats": 2},
    ],
)
@pytest.mark.usefixtures("little_memory")
def test_what_is_not_possible(options: dict[str, Any]) -> None:
    """What needs all rows in one place is refused by its name, with what helps."""
    with pytest.raises(SettingError, match=f"{next(iter(options))} is not supported .* memory_limit"):
        audit_flat(dd.from_pandas(decisions(), npartitions=2), outcome="hired", **options)


@pytest.mark.usefixtures("little_memory")
def test_errors_in_words() -> None:
    """Outcomes that are none and halves that are too small are found without all rows."""
    frame = decisions()
    with pytest.raises(SettingError, match="amounts are added up in memory only"):
        ald.audit(dd.from_pandas(frame, npartitions=2), outcome="age")
    frame["half"] = np.where(np.arange(len(frame)) < 4, "search", "assess")
    with pytest.raises(InputError, match="the half for the search has 4 rows"):
        ald.audit(dd.from_pandas(frame, npartitions=2), outcome="hired", split="half")
    with pytest.raises(InputError, match="of which 100 fit into memory"):
        ald.audit(
            dd.from_pandas(frame, npartitions=2),
            search="none",
            named_groups="sex = f and score > 0 and age > 30",
            outcome="hired",
        )
    # Only what is asked about is counted, and that fits.
    asked = ald.audit(dd.from_pandas(frame, npartitions=2), search="none", named_groups="sex = f", outcome="hired")
    assert asked.to_json() == ald.audit(frame, search="none", named_groups="sex = f", outcome="hired").to_json()


@pytest.mark.parametrize(
    "options",
    [
        {"outcome": "hired", "favourable": "yes"},
        {"prediction": "hired", "truth": "able", "favourable": "yes", "notion": "sufficiency"},
    ],
)
@pytest.mark.usefixtures("little_memory")
def test_missing_outcomes_where_the_rows_are(options: dict[str, Any]) -> None:
    """Rows without an outcome are left out there and counted, and several values count against the favourable one."""
    frame = decisions().astype({"hired": object, "able": object})
    for name, every in (("hired", 7), ("able", 11)):
        frame[name] = np.where(frame[name] == 1, "yes", np.where(np.arange(len(frame)) % 3 == 0, "no", "withdrawn"))
        frame.loc[::every, name] = None
        frame.loc[1::every, name] = "N/A"
    if "outcome" in options:
        frame = frame.drop(columns="able")
    audited = [name for name in ("hired", "able") if name in frame]
    known = frame[audited].replace("N/A", None).notna().all(axis=1)
    options = options | {"attributes": ["age", "sex", "size"], "trees": 5}
    expected = audit_flat(frame[known].reset_index(drop=True), **options)
    found = audit_flat(dd.from_pandas(frame, npartitions=3), **options)
    assert found.data_summary.rows == known.sum()
    assert found.data_summary.cells == expected.data_summary.cells
    assert [finding.to_dict() for finding in found.groups] == [finding.to_dict() for finding in expected.groups]
    assert any(f"{(~known).sum():,} of 6,000 rows have no value of" in warning for warning in found.warnings)
    assert any("'hired' has 3 values. Favourable: 'yes', against 'no', 'withdrawn'" in w for w in found.warnings)
