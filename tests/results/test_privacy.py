"""What has too few people is nowhere, in no format; and hiding it changes no test."""

from __future__ import annotations

import os
import shutil
from typing import Any

import numpy as np
import pytest

import ald
from ald.assess.assessment import assess
from ald.data.coded import AuditData
from ald.groups.tree import CodedCondition
from ald.notions import NOTIONS
from ald.options import AuditConfig
from ald.results.privacy import count_people, is_too_small, rows_of_people, small_groups, too_few
from tests.results.small_groups import DESIGNS, LEAST, random_audit, violations
from tests.tables import people

FORMATS = ("text", "markdown", "csv", "html", "json", "notebook", "excel")
# How many random tables; a thousand in a run of its own.
TABLES = int(os.environ.get("ALD_SMALL_GROUPS", "17"))


@pytest.mark.parametrize(
    ("inside", "outside", "few"),
    [(0, 100, False), (1, 99, True), (9, 9, True), (10, 90, False), (95, 5, True), (100, 0, False)],
)
def test_too_few_is_some_but_fewer(inside: int, outside: int, few: bool) -> None:
    """Nobody is not too few: there is nobody to expose."""
    assert too_few(inside, outside, 10) == few
    assert not too_few(inside, outside, 1)


@pytest.mark.parametrize("seed", range(TABLES))
def test_no_format_has_a_number_of_few_people(seed: int) -> None:
    """Random tables with small groups, on every design: no size below the limit in it or outside it, in any format."""
    try:
        audit, columns = random_audit(seed)
    except ald.SettingError as refused:
        # No stratum of a profile may have enough people: then there is nothing to show, and it says so.
        assert "none has 10 people or more in it and outside it" in str(refused)  # noqa: PT017
        assert "profile" in DESIGNS[seed % len(DESIGNS)]
        return
    formats = (*FORMATS, "pdf") if seed % 50 == 0 and shutil.which("pdftotext") else FORMATS
    assert violations(audit, columns, formats) == []


def test_the_search_for_small_numbers_finds_them() -> None:
    """Without the limit the same tables have what the test looks for: it can fail."""
    found = set()
    for seed in range(len(DESIGNS)):
        rng_audit, columns = random_audit(seed)
        options = {"outcome": "y", "favourable": 1, "seed": seed, "split": "random", "min_group_size": 1}
        audit = ald.audit({k: v for k, v in columns.items() if k not in ("person", "weight")}, **options)
        assert rng_audit.config.min_group_size == LEAST
        found |= {line.split(":")[0].split(".")[0] for line in violations(audit, columns, FORMATS)}
        if {"json", "html", "text"} <= found:
            return
    raise AssertionError(found)


@pytest.mark.parametrize("design", [{"split": "random"}, {"split": "none"}, {"search": "leaves"}])
def test_hiding_changes_no_number(design: dict[str, Any]) -> None:
    """What is shown with a limit has the numbers that it has without one."""
    columns = people(700)
    rng = np.random.default_rng(3)
    columns["group"] = rng.choice(["a", "b", "c", "d", "e"], 700, p=[0.5, 0.3, 0.18, 0.01, 0.01]).tolist()
    limited, free = (ald.audit(columns, outcome="y", **design, min_group_size=least) for least in (40, 1))
    assert limited.n_tested == free.n_tested
    assert limited.p_any == free.p_any
    known = {(str(one.criterion)): one for one in free.candidates}
    for one in limited.candidates:
        other = known[str(one.criterion)]
        assert (one.psi, one.log10_p_adjusted, one.size) == (other.psi, other.log10_p_adjusted, other.size)
    gaps = {str(gap.criterion): gap for gap in free.gaps.rows}
    assert all(gap == gaps[str(gap.criterion)] for gap in limited.gaps.rows)
    assert limited.gaps.compared == free.gaps.compared
    assert len(limited.gaps.rows) + limited.gaps.hidden == len(free.gaps.rows)
    assert len(limited.candidates) + limited.hidden.groups == len(free.candidates)


def test_reports_say_how_much_is_left_out() -> None:
    """Facts and limits count what is hidden, and say that it is no disclosure control."""
    audit = ald.audit(people(700), outcome="y", min_group_size=200, search="leaves")
    assert audit.hidden.groups > 0
    text = str(audit)
    assert "Nothing is shown of fewer than 200 people, inside a group or outside it" in " ".join(text.split())
    assert f"{audit.hidden.groups:,} tested group" in " ".join(text.split())
    assert "no disclosure control" in " ".join(text.split())
    assert "min_group_size" not in str(ald.audit(people(700), outcome="y", min_group_size=1, split="random"))


def test_another_group_takes_the_place_of_a_hidden_one() -> None:
    """The list has as many groups as were asked for, where there are more significant ones that are large enough."""
    columns = ald.datasets.load_berkeley()
    free = ald.audit(columns, outcome="admitted", favourable="yes", search="leaves", min_group_size=1)
    least = min(free.groups, key=lambda one: one.size).size + 1
    limited = ald.audit(columns, outcome="admitted", favourable="yes", search="leaves", min_group_size=least)
    assert len(limited.groups) == len(free.groups)
    assert all(one.size >= least for one in limited.groups)
    assert limited.hidden.significant > 0


@pytest.mark.parametrize(
    "options",
    [
        {"named_groups": "rare = 1", "search": "none"},
        {"named_groups": "rare = 0", "search": "none"},
        {"reference": "rare = 1", "split": "random"},
    ],
)
def test_named_groups_of_few_are_refused(options: dict[str, Any]) -> None:
    """A group of few people in it or outside it is refused without saying how many they are; 1 allows it."""
    columns = people(400) | {"rare": [1] * 7 + [0] * 393}
    with pytest.raises(ald.InputError, match="fewer than 10 people in it, outside it or to be") as found:
        ald.audit(columns, outcome="y", **options)
    assert "7" not in str(found.value)
    ald.audit(columns, outcome="y", min_group_size=1, **options)


def test_people_count_and_not_their_rows() -> None:
    """With clusters a group of many rows of few people is too small."""
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(200), 10)
    columns = {"y": rng.integers(0, 2, 2000), "person": person, "rare": (person < 5).astype(int)}
    with pytest.raises(ald.InputError, match="has fewer than 10 people"):
        ald.audit(columns, outcome="y", cluster="person", search="none", named_groups="rare = 1")
    gaps = ald.audit(columns, outcome="y", cluster="person", split="random").gaps
    assert (gaps.rows, gaps.hidden) == ((), 1)


def test_a_look_and_a_comparison_hide_few_people() -> None:
    """Values of few rows are not among those of a look, and small groups not in a comparison."""
    columns = people(600) | {"job": ["clerk"] * 594 + ["mayor"] * 6, "gap": [None] * 3 + [1.0, 2.0, 3.0] * 199}
    seen = ald.look(columns, outcome="y")
    assert seen.column("job").levels == ()
    assert seen.column("gap").missing is None
    assert "mayor" not in str(seen) + seen._repr_html_()
    assert "Values of fewer than 10 rows" in str(seen)
    free = ald.look(columns, outcome="y", min_group_size=1)
    assert [one.rows for one in free.column("job").levels] == [594, 6]
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 1500)
    old = np.where(rng.random(1500) < 0.2, 1 - truth, truth)
    sex = rng.choice(["f", "m"], 1500)
    new = np.where((sex == "f") & (rng.random(1500) < 0.4), 1, old)
    both = {"sex": sex, "y": truth, "old": old, "new": new}
    found = ald.compare(both, predictions=["old", "new"], truth="y")
    assert found.groups
    none = ald.compare(both, predictions=["old", "new"], truth="y", min_group_size=700)
    assert (none.groups, none.tested, none.hidden) == ((), (), len(found.tested))
    assert "are not shown" in str(none)


def test_groups_of_coded_data() -> None:
    """The sizes are those of people in the group, of all others, and of clusters where there are any."""
    criteria = [(CodedCondition(0, 0, 0, (code,)),) for code in range(3)]
    data = coded([30, 5, 65])
    found = assess(criteria, data, NOTIONS["statistical parity"])
    config = AuditConfig(outcome="y", notion="statistical parity")
    assert small_groups(found, criteria, data, config).tolist() == [False, True, False]
    member = data.codes[0] == 1
    assert (count_people(member, data), is_too_small(member, data, config)) == (5, True)
    assert rows_of_people(10, data) == 10


def coded(sizes: list[int]) -> AuditData:
    """People of three levels with both outcomes."""
    from ald.data.coded import Attribute

    codes = np.repeat(np.arange(len(sizes)), 2)
    counts = np.array([part for n in sizes for part in (n // 2, n - n // 2)])
    return AuditData(
        attributes=(Attribute(name="a", kind="nominal", levels=tuple("abc"[: len(sizes)])),),
        codes=(codes.astype(np.uint8),),
        cells=np.tile(np.array([0, 1], np.uint8), len(sizes)),
        counts=counts,
        n_cells=2,
    )
