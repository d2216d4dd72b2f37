"""The audit as a document."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ald
from ald import Audit, InputError
from tests.flat import audit_flat
from tests.tables import decisions, hostile, people

FINDING_KEYS = {
    "criterion", "conditions", "size", "share", "psi", "parts", "interval", "statistic", "df", "p_value", "log10_p",
    "p_adjusted", "log10_p_adjusted",
}  # fmt: skip


REQUIRED = FINDING_KEYS | {
    "rates_inside", "rates_outside", "ratios", "part_intervals", "counts_inside", "counts_outside", "tree", "node",
    "test", "interval_level", "interval_unadjusted", "also", "stability", "notion", "outcome", "people", "psi_crude",
    "strata",
}  # fmt: skip


def an_audit() -> Audit:
    columns = people()
    columns["sex"] = [None if i % 11 == 0 else value for i, value in enumerate(columns["sex"])]
    columns["person"] = [f"p{i // 2}" for i in range(600)]
    named = ["sex = F", "30 <= age < 40"]
    return ald.audit(
        columns, outcome="y", search=ald.Search(trees=3), given="member", cluster="person", named_groups=named
    )


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    result: dict[str, Any] = json.loads(an_audit().to_json())
    return result


@pytest.mark.parametrize(
    "audit",
    [
        pytest.param(an_audit(), id="outcome"),
        pytest.param(
            ald.audit(
                decisions(), prediction="predicted", truth="true", notion="equalized odds", search=ald.Search(trees=3)
            ),
            id="odds",
        ),
        pytest.param(
            ald.audit(people(64), outcome="y", search=ald.Search("paper", trees=1, alpha=1e-9)), id="nothing found"
        ),
        pytest.param(
            ald.audit(hostile(["a\nb", "%"], ["<b>", "\x1b[31m", ""]), outcome="y", search=ald.Search(trees=2)),
            id="hostile",
        ),
    ],
)
def test_documents_keep_audits(audit: Audit) -> None:
    """An audit that is read back equals the one that was written, and writes the same bytes."""
    again = Audit.from_json(audit.to_json())
    assert again == audit
    assert again.to_json() == audit.to_json()
    assert again.to_json().isascii()
    assert (str(again), again.to_csv(), again.to_markdown()) == (str(audit), audit.to_csv(), audit.to_markdown())
    assert Audit.from_json(audit.to_json().encode()) == audit


def test_keys_of_findings(document: dict[str, Any]) -> None:
    """Every group and candidate has all keys of the schema."""
    assert document["groups"]
    for entry in document["groups"] + document["candidates"]:
        assert set(entry) >= FINDING_KEYS
        assert entry["conditions"]
        for condition in entry["conditions"]:
            interval = condition["kind"] in ("numeric", "date", "datetime")
            values = {"lower", "upper"} if interval else {"levels"}
            assert set(condition) - {"closed", "negated", "of"} == {"attribute", "kind"} | values
            assert any(condition[key] not in (None, []) for key in values)


def test_conditions_that_people_name(document: dict[str, Any]) -> None:
    """Excluded levels and bounds of all kinds are read from a document and written again."""
    changed = copy.deepcopy(document)
    criterion = ald.Criterion.parse("sex != F and 30 <= age < 40 and score in {1, 2.5, missing}", people())
    changed["candidates"][0] |= {"criterion": str(criterion), "conditions": criterion.to_list()}
    again = Audit.from_json(json.dumps(changed))
    assert again.candidates[0].criterion == criterion
    assert json.loads(again.to_json())["candidates"][0] == changed["candidates"][0]


def test_top_level(document: dict[str, Any]) -> None:
    """The document names its schema, the version, and what was asked, found and grown."""
    assert {"schema", "version", "notions", "config", "data", "p_any", "detectable"} <= set(document)
    assert {"groups", "named_groups", "candidates", "forest"} <= set(document)
    assert document["schema"] == 1
    assert document["version"] == ald.__version__


def test_findings_are_consistent(document: dict[str, Any]) -> None:
    """Sizes, shares, rates, intervals and p-values of an entry agree with one another."""
    assert document["candidates"]
    for entry in document["candidates"]:
        inside = sum(entry["counts_inside"].values())
        total = inside + sum(entry["counts_outside"].values())
        assert (entry["size"], total) == (inside, document["data"]["rows_assess"])
        assert entry["share"] == pytest.approx(inside / total)
        if entry["psi"] is not None:
            low, high = entry["interval"]
            assert low <= entry["psi"] <= high
            assert entry["log10_p"] <= entry["log10_p_adjusted"] <= 0


def test_one_line_per_group() -> None:
    """Groups, gaps and candidates stand on lines of their own, for people and for diffs."""
    audit = an_audit()
    lines = audit.to_json().splitlines()
    rows = len(audit.groups) + len(audit.named_groups) + len(audit.gaps) + audit.n_candidates
    assert sum(line.startswith('  {"criterion"') for line in lines) == rows


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", "1", '"text"', "{}", '{"schema": 2}', '{"schema": 1}', b"\xff", "[" * 100_000, None,
     '{"schema": 1, "notion": {}, "config": {}, "data": {}, "groups": [], "candidates": [], "forest": {}}'],
)  # fmt: skip
def test_other_documents(text: Any) -> None:
    """Anything else is an InputError."""
    with pytest.raises(InputError, match=r"not a JSON document|not an audit of schema 1|damaged or incomplete"):
        Audit.from_json(text)


def paths(value: Any, prefix: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """All places of a document, those of long lists cut short."""
    entries = (
        list(value.items())
        if isinstance(value, dict)
        else list(enumerate(value))[:3]
        if isinstance(value, list)
        else []
    )
    return [place for key, entry in entries for place in [(*prefix, key), *paths(entry, (*prefix, key))]]


def known_paths(document: dict[str, Any]) -> list[tuple[Any, ...]]:
    """All places that every version of the schema has."""
    return [
        place for place in paths(document)
        if len(place) < 3 or place[0] not in ("groups", "named_groups", "candidates") or place[2] in REQUIRED
    ]  # fmt: skip


def put(document: dict[str, Any], place: tuple[Any, ...], value: Any) -> None:
    for key in place[:-1]:
        document = document[key]
    document[place[-1]] = value


def remove(document: dict[str, Any], place: tuple[Any, ...]) -> None:
    for key in place[:-1]:
        document = document[key]
    del document[place[-1]]


def test_missing_entries(document: dict[str, Any]) -> None:
    """Without any of its named entries a document is damaged, and says so."""
    optional = {("version",), ("mode", "reason"), ("data", "rows_search"), ("data", "rows_assess"),
                ("notions", 0, "rates", 0, "base")}  # fmt: skip
    open_names = {"cells", "sides", "parts", "rates_inside", "rates_outside", "ratios", "part_intervals",
                  "counts_inside", "counts_outside"}  # fmt: skip
    places = [
        place for place in known_paths(document)
        if isinstance(place[-1], str) and place not in optional and not (len(place) > 1 and place[-2] in open_names)
        and place[0] != "config" and place[-1] not in ("undefined", "criterion", "closed", "of")
    ]  # fmt: skip
    assert len(places) > 50
    for place in places:
        damaged = copy.deepcopy(document)
        remove(damaged, place)
        with pytest.raises(InputError, match=r"damaged|schema"):
            raise AssertionError(f"{place} is not missed: {Audit.from_json(json.dumps(damaged))!r}")


@settings(max_examples=300)
@given(data=st.data())
def test_damaged_entries(document: dict[str, Any], data: st.DataObject) -> None:
    """A document with anything anywhere is either refused as damaged, or can be read, shown and written."""
    place = data.draw(st.sampled_from(known_paths(document)))
    value = data.draw(
        st.sampled_from(
            [None, -1, 1.5, 10**30, "x", "\x1b[31m", True, [], {}, [[]], [None], {"x": 1}, float("nan"), float("inf")]
        )
    )
    damaged = copy.deepcopy(document)
    put(damaged, place, value)
    try:
        audit = Audit.from_json(json.dumps(damaged))
    except InputError:
        return
    assert audit.to_json()
    assert "\x1b" not in str(audit) + audit.to_markdown() + audit.to_csv()


@settings(max_examples=25)
@given(st.text(max_size=15), st.text(max_size=15))
def test_any_names_and_levels(name: str, level: str) -> None:
    """Whatever names and levels hold, the document is ASCII, and comes back as the same words and numbers."""
    columns = hostile([name], [level, f"{level}x", "third"], 240)
    audit = audit_flat(columns, outcome="y", trees=1, attributes=[name], kinds={name: "nominal"})
    assert audit.groups
    text = audit.to_json()
    assert text.isascii()
    (condition,) = json.loads(text)["groups"][0]["conditions"]
    assert condition["attribute"] == name
    assert set(condition["levels"]) <= {level, f"{level}x", "third"}
    assert Audit.from_json(text).groups == audit.groups
