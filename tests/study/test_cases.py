"""Cases of the study: computed once, kept on disk, the same with any number of processes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ald.study import cases
from ald.study.cases import Case, Rate, measure, rate, read, write
from ald.study.systems import Compared, Result

CASE = Case(dataset=2, rho=0.2, width=24.0, system="fake")


class Fake:
    """A system that counts its runs and locates with odd seeds."""

    def __init__(self) -> None:
        self.seeds: list[int] = []
        self.fails_at: int | None = None

    def __call__(self, task: Any, seed: int) -> Result:
        if seed == self.fails_at:
            raise KeyboardInterrupt
        self.seeds.append(seed)
        return Result(located=seed % 2 == 1, strict=False, listed=seed, race=False)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    system = Fake()
    monkeypatch.setitem(cases.COMPARED, "fake", Compared(key="fake", label="fake", run=system))
    return system


def test_finished_runs_are_kept(fake: Fake, tmp_path: Path) -> None:
    """A second study computes nothing again, and a longer one only what is missing."""
    first = measure([CASE], 15, tmp_path, jobs=1)
    assert fake.seeds == list(range(15))
    assert measure([CASE], 15, tmp_path, jobs=1) == first
    assert fake.seeds == list(range(15))
    longer = measure([CASE], 22, tmp_path, jobs=1)
    assert fake.seeds == list(range(22))
    assert longer[CASE][:15] == first[CASE]
    assert len(measure([CASE], 5, tmp_path, jobs=1)[CASE]) == 5


def test_an_interruption_loses_little(fake: Fake, tmp_path: Path) -> None:
    """What was finished before an interruption is on disk, whole, and the study goes on from there."""
    fake.fails_at = 25
    with pytest.raises(KeyboardInterrupt):
        measure([CASE], 30, tmp_path, jobs=1)
    assert len(read(CASE, tmp_path)) == 20
    fake.fails_at = None
    fake.seeds.clear()
    assert len(measure([CASE], 30, tmp_path, jobs=1)[CASE]) == 30
    assert fake.seeds == list(range(20, 30))


@pytest.mark.parametrize(
    "damage",
    [
        lambda entry: "not json",
        lambda entry: json.dumps(entry | {"code": "other"}),
        lambda entry: json.dumps(entry | {"case": {"dataset": 1}}),
        lambda entry: json.dumps(entry | {"runs": [{"located": True}]}),
    ],
    ids=["damaged", "other code", "other case", "other results"],
)
def test_what_does_not_fit_is_computed_again(damage: Any, fake: Fake, tmp_path: Path) -> None:
    """A file that is damaged, or of other code or another case, counts as missing."""
    measure([CASE], 3, tmp_path, jobs=1)
    path = tmp_path / f"{CASE.name}.json"
    path.write_text(damage(json.loads(path.read_text("utf-8"))), "utf-8")
    assert read(CASE, tmp_path) == []


def test_progress_says_what_is_left(fake: Fake, tmp_path: Path) -> None:
    """Progress ends at everything done with no time left, and counts only what has to be computed."""
    write(CASE, tmp_path, [Result(located=True, strict=True, listed=1, race=False)] * 10)
    told: list[tuple[str, float, float | None]] = []
    measure([CASE], 30, tmp_path, jobs=1, progress=lambda *args: told.append(args))
    assert [share for _, share, _ in told] == [0.5, 1.0]
    assert told[-1][2] == 0.0
    assert told[0][0] == CASE.name


def test_processes_do_not_matter(tmp_path: Path) -> None:
    """The outcomes are those of seeds 0, 1, 2, ... with any number of processes."""
    wanted = [Case(dataset=2, rho=0.3, width=24.0, system=name) for name in ("ctree", "gerrymandering")]
    alone = measure(wanted, 12, tmp_path / "one", jobs=1)
    assert measure(wanted, 12, tmp_path / "two", jobs=2) == alone


def test_rate_of_results() -> None:
    """A rate is the share of runs, with its standard error."""
    results = [Result(located=i < 3, strict=False, listed=i, race=True) for i in range(4)]
    assert rate(results, "located") == Rate(hits=3, runs=4)
    assert rate(results, "listed").share == 0.75
    assert rate(results, "located").error == pytest.approx((0.75 * 0.25 / 4) ** 0.5)
    assert str(rate(results, "race")) == "1.00"
    assert rate(results, "race").error == 0
