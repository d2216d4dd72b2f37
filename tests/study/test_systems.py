"""The compared systems on synthetic data: what counts as located."""

from __future__ import annotations

import pytest

from ald.groups.criterion import Criterion, Levels
from ald.study.location import LOCATED, Task, judge_groups
from ald.study.systems import COMPARED


@pytest.mark.parametrize(("key", "dataset"), [(key, 1 + (i % 2)) for i, key in enumerate(COMPARED)])
def test_every_system_runs(key: str, dataset: int) -> None:
    """Every system lists at most three groups, the same with the same seed; strict implies located."""
    task = Task(dataset=dataset, rho=0.4)
    result = COMPARED[key].run(task, 3)
    assert result.listed <= 3
    assert result.located or not result.strict
    assert COMPARED[key].run(task, 3) == result


def test_strong_disparities_are_located_by_ald() -> None:
    """ALD locates strong disparities of both data sets."""
    assert all(COMPARED["ald"].run(Task(dataset=dataset, rho=0.4), 0).located for dataset in (1, 2))


def test_the_linear_auditor_locates_nothing() -> None:
    """Half-spaces are neither a band nor a crossing of a hidden intersection."""
    runs = [COMPARED["gerrymandering"].run(Task(dataset=d, rho=0.4), seed) for d in (1, 2) for seed in range(3)]
    assert not any(run.located for run in runs)


@pytest.mark.parametrize(
    ("years", "expected"),
    [(range(43, 66), True), ([43, 50, 65], True), (range(18, 66), False), (range(43, 75), False)],
)
def test_ages_one_by_one(years: range, expected: bool) -> None:
    """Ages named one by one count as the interval from the lowest to the highest."""
    condition = Levels("age (rounded)", "ordinal", tuple(str(year) for year in years))
    assert LOCATED[1]([Criterion([condition])], 24.0) == expected
    assert judge_groups(Task(dataset=1), [Criterion([condition])]).strict == expected
