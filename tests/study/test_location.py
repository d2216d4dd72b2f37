"""The location rate: what counts as located, and that it is reached with a wide margin."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from ald.groups.criterion import Criterion, Interval, Levels
from ald.study import location
from ald.study.location import LOCATED, Outcome, Task, main, measure, run


def level(name: str, *levels: str) -> Levels:
    return Levels(name, "nominal", levels)


def age(lower: float | None, upper: float | None) -> Interval:
    return Interval("age", "numeric", lower, upper)


def located(dataset: int, *criteria: list[Levels | Interval], width: float = 24.0) -> bool:
    return LOCATED[dataset]([Criterion(conditions) for conditions in criteria], width)


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ([age(42, 66)], True),
        ([age(45.5, 62.5)], True),
        ([age(45.7, 66)], False),
        ([age(42, 69.7)], False),
        ([age(42, None)], False),
        ([age(None, 66)], False),
        ([age(42, 66), level("race", "r1")], True),
        ([age(42, 66), level("gender", "g1")], False),
        ([level("race", "r1")], False),
    ],
)
def test_the_band_needs_both_ends(conditions: list[Levels | Interval], expected: bool) -> None:
    """Data set 1 is located by an age interval with both ends within 3.6 years, with or without race, else nothing."""
    assert located(1, conditions) == expected
    assert located(1, [level("race", "r3")], conditions) == expected


def test_the_band_has_its_width() -> None:
    """The true ends follow from the width of the band."""
    assert located(1, [age(48, 60)], width=12)
    assert not located(1, [age(48, 60)], width=24)


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ([level("race", "r1"), level("gender", "g2")], True),
        ([level("race", "r1")], False),
        ([level("race", "r1", "r2"), level("gender", "g2")], False),
        ([level("race", "r1"), level("gender", "g2"), age(20, 80)], False),
    ],
)
def test_the_intersection_is_one_crossing(conditions: list[Levels | Interval], expected: bool) -> None:
    """Data set 2 is located by exactly one race and one gender, and nothing else."""
    assert located(2, conditions) == expected


def test_crossings_of_two_and_three() -> None:
    """Data sets 3 and 4 are located by one level of each of their two or three attributes."""
    two, three = [level("a", "a1"), level("b", "b1")], [level("a", "a1"), level("b", "b0"), level("c", "c1")]
    assert located(3, two)
    assert not located(3, three)
    assert located(4, three)
    assert not located(4, two)


def test_both_findings_are_needed() -> None:
    """Data set 5 is located by women of the age band and region 3, as two groups."""
    women, region = [level("sex", "f"), age(31, 48)], [level("region", "3")]
    assert located(5, women, region)
    assert located(5, region, [level("job", "a")], women)
    assert located(5, women, [level("region", "1", "2", "4")])
    assert not located(5, women)
    assert not located(5, region)
    assert not located(5, [level("sex", "m"), age(31, 48)], region)
    assert not located(5, [*women, *region])


def test_nothing_listed_is_not_located() -> None:
    """An empty list locates nothing."""
    assert not any(located(dataset) for dataset in LOCATED)


@pytest.mark.parametrize(
    ("second", "strict"), [([level("race", "r1")], True), ([age(20, 30)], False)], ids=["relevant", "irrelevant"]
)
def test_strict_forbids_irrelevant_attributes(
    monkeypatch: pytest.MonkeyPatch, second: list[Levels | Interval], strict: bool
) -> None:
    """A located disparity is strictly so if no listed group names an attribute that does not matter."""

    class Found:
        def __init__(self, criterion: Criterion) -> None:
            self.criterion = criterion

    class Listed:
        groups = (Found(Criterion([level("race", "r1"), level("gender", "g2")])), Found(Criterion(second)))

    monkeypatch.setattr(location, "audit", lambda *args, **options: Listed)
    assert run(Task(dataset=2), 0) == Outcome(located=True, strict=strict, listed=2)


@pytest.mark.parametrize(
    ("task", "least"),
    [
        (Task(dataset=1, rho=0.2), 8),
        (Task(dataset=2, rho=0.2), 9),
        (Task(dataset=2, rho=0.2, irrelevant=8), 8),
        (Task(dataset=3, rho=0.3), 8),
        (Task(dataset=4, rho=0.2), 8),
        (Task(dataset=5), 6),
    ],
    ids=["band", "intersection", "intersection among noise", "opposite errors", "parity", "two findings"],
)
def test_location_rate(task: Task, least: int) -> None:
    """Most of ten data sets have their disparity located, strictly."""
    outcomes = measure(task, 10, jobs=1)
    assert len(outcomes) == 10
    assert sum(outcome.strict for outcome in outcomes) >= least
    assert all(outcome.located or not outcome.strict for outcome in outcomes)
    assert all(outcome.listed <= 3 for outcome in outcomes)


def test_seeds_are_consecutive() -> None:
    """Runs are those of consecutive seeds from the first one on, each the same in every experiment."""
    task = Task(dataset=4, rho=0.2, search="paper")
    outcomes = measure(task, 6, first_seed=5, jobs=1)
    assert outcomes[2:] == measure(task, 4, first_seed=7, jobs=1)
    assert outcomes[0] == run(task, 5)


def test_command() -> None:
    """The command prints both rates, as text or as JSON."""
    options = ["--dataset", "4", "--runs", "3", "--jobs", "1", "--rho", "0.3"]
    text = CliRunner().invoke(main, options)
    assert text.exit_code == 0
    assert [line.split(":")[0] for line in text.output.splitlines()] == ["any", "strict"]
    entry = json.loads(CliRunner().invoke(main, [*options, "--json"]).output)
    assert entry["runs"] == 3
    assert 0 <= entry["strict"] <= entry["any"] <= 1


def test_everyone_finds_more() -> None:
    """Without halves a disparity that few people show is located."""
    task = Task(dataset=2, rho=0.05, split="none")
    assert run(task, 1).located
