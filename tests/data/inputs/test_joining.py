"""Attributes from a second table."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import ald
from ald.data.inputs.joining import match_rows
from ald.data.inputs.sources import load
from ald.errors import ColumnError, InputError, SettingError

LOG = {"id": [3, 1, 2, 9, None], "approved": [1, 0, 1, 0, 1]}
PEOPLE = {"id": ["1", "2", "3", "4"], "sex": ["f", "m", None, "f"], "age": [31, 42, 53, 64]}


def test_rows_are_matched_by_their_key() -> None:
    """Every row has the values of its key's row, whatever the order and the type of the keys; others have none."""
    table = match_rows(load(LOG), load(PEOPLE), "id")
    assert table.names == ["approved", "sex", "age"]
    sex, age = table["sex"], table["age"]
    assert [(*sex.words(), None)[code] for code in sex.codes] == [None, "f", "m", None, None]
    assert [(*age.words(), None)[code] for code in age.codes] == ["53", "31", "42", None, None]


def test_what_does_not_match_is_counted() -> None:
    """Notes say how many rows have no match, without their keys, and how many of the second table are unused."""
    first, second = match_rows(load(LOG), load(PEOPLE), "id").notes
    assert first.startswith("2 of 5 rows have no match in the dictionary by 'id': they have no value")
    assert second == "1 rows of the dictionary match nobody and are ignored"


def test_the_key_may_stay() -> None:
    """Where the key is a cluster column it stays."""
    assert "id" in match_rows(load(LOG), load(PEOPLE), "id", keep=True).names


def test_what_cannot_be_matched() -> None:
    """Repeated keys, columns of one name, no further column, no match at all and no key are refused."""
    people = load(PEOPLE)
    with pytest.raises(InputError, match=r"has 1 keys of 'id' more than once, so it"):
        match_rows(load(LOG), load({"id": [1, 1, 2], "sex": ["f", "m", "f"]}), "id")
    with pytest.raises(InputError, match="both have a column 'sex'"):
        match_rows(load(LOG | {"sex": ["f"] * 5}), people, "id")
    with pytest.raises(InputError, match="no column besides the key"):
        match_rows(load(LOG), load({"id": [1, 2]}), "id")
    with pytest.raises(InputError, match="are these the same keys"):
        match_rows(load(LOG), load({"id": ["a"], "sex": ["f"]}), "id")
    with pytest.raises(ColumnError, match="no column 'key'"):
        match_rows(load(LOG), people, "key")


def test_an_audit_with_attributes_from_elsewhere(tmp_path: Path) -> None:
    """`attributes_from` and `on` give the audit of the merged table, from files as from frames."""
    log = pd.DataFrame({"id": range(600), "approved": [int(i % 3 == 0) for i in range(600)]})
    people = pd.DataFrame({"id": range(600), "sex": ["f" if i % 3 else "m" for i in range(600)], "age": range(600)})
    merged = log.merge(people, on="id").drop(columns="id")
    expected = ald.audit(merged, outcome="approved", seed=2)
    found = ald.audit(ald.source(log, attributes_from=people.sample(frac=1, random_state=1), on="id"),
                      outcome="approved", seed=2)  # fmt: skip
    assert found.to_json() == expected.to_json()
    log.to_csv(tmp_path / "log.csv", index=False)
    people.to_csv(tmp_path / "people.csv", index=False)
    source = ald.source(tmp_path / "log.csv", attributes_from=tmp_path / "people.csv", on="id")
    again = ald.audit(source, outcome="approved", seed=2)
    assert again.to_dict()["groups"] == expected.to_dict()["groups"]
    assert again.input_sha256 is not None


def test_both_options_go_together() -> None:
    """A second table needs a key, and a key needs a second table."""
    with pytest.raises(SettingError, match="attributes_from and on go together"):
        ald.source(LOG, attributes_from=PEOPLE)
    with pytest.raises(SettingError, match="attributes_from and on go together"):
        ald.source(LOG, on="id")
