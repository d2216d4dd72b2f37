"""Columns that give the outcome away: which conditions count, which do not, and what the search does without them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from ald.data.coded import as_counts
from ald.groups.rules import candidates, decode
from ald.notions import NOTIONS, RateCounter
from ald.search.adapting import design_effect
from ald.search.giveaways import ERRORS, LEFT, PER_LEVEL, errors_of_guessing, giveaways, judge_tables, renumber, without
from tests.coded import PARITY, coded, forest_of


def conditions(columns: Any, rates: RateCounter = PARITY, sign: int = 0, **options: Any) -> list[str]:
    """The conditions that give the outcome away if all of this data is D1, in words."""
    data = coded(columns, **options)
    found = giveaways(as_counts(data), rates, sign, design_effect(data, rates))
    return [str(decode(criterion, data.attributes)) for criterion in found]


def outcomes(rate: float, n: int = 1000, seed: int = 0) -> Any:
    """A column of 0 and 1 with this share of ones, in random order."""
    return np.random.default_rng(seed).permutation(np.arange(n) < round(rate * n)).astype(int)


@pytest.mark.parametrize("rate", [0.05, 0.3, 0.5, 0.95])
def test_a_copy_gives_the_outcome_away(rate: float) -> None:
    """Words, numbers and booleans that say what the outcome says are found, whatever its rate."""
    y = outcomes(rate)
    noise = np.random.default_rng(1).normal(size=1000)
    columns = {"noise": noise, "word": np.where(y > 0, "yes", "no"), "number": y * 100 + noise, "flag": y > 0, "y": y}
    assert {text.split()[0] for text in conditions(columns)} == {"word", "number", "flag"}


@pytest.mark.parametrize("rate", [0.005, 0.05, 0.5])
def test_the_base_rate_gives_nothing_away(rate: float) -> None:
    """That nearly everyone has the same outcome on both sides says nothing, however many are told rightly by it."""
    y = outcomes(rate, 2000)
    rng = np.random.default_rng(1)
    assert conditions({"a": rng.choice(list("pq"), 2000), "b": rng.normal(size=2000), "y": y}) == []


def test_a_group_without_the_outcome_is_not_the_outcome() -> None:
    """A rate of 0 in a group and of .3 among everyone else leaves the outcome of everyone else open."""
    rng = np.random.default_rng(0)
    member = rng.random(2000) < 0.5
    assert conditions({"a": member, "y": np.where(member, 0, rng.random(2000) < 0.3).astype(int)}) == []


@pytest.mark.parametrize(("wrong", "told"), [(LEFT, True), (LEFT + 0.01, False)])
def test_a_condition_leaves_at_most_a_share_of_the_errors(wrong: float, told: bool) -> None:
    """The rule is about how many errors are left of those that are made by giving everyone the usual outcome."""
    y = (np.arange(1000) < 400).astype(int)
    a = np.where(np.arange(1000) < 400 * wrong, 1 - y, y)
    assert bool(conditions({"a": a > 0, "y": y})) is told


@pytest.mark.parametrize(("errors", "told"), [(ERRORS, True), (ERRORS - 1, False)])
def test_few_outcomes_say_nothing(errors: int, told: bool) -> None:
    """With fewer people of the rarer outcome, chance may leave none wrong."""
    y = (np.arange(1000) < errors).astype(int)
    assert bool(conditions({"a": y > 0, "y": y})) is told


def test_levels_of_few_people_do_not_tell_their_own_outcomes() -> None:
    """A level of one person always tells this person's outcome: levels with few people are taken together."""
    y = outcomes(0.5)
    rare = [f"level {i // (PER_LEVEL - 1)}" for i in np.argsort(np.argsort(y, kind="stable"))]
    assert conditions({"a": rare, "y": y}, attributes=("a",)) == []
    enough = [f"level {i // PER_LEVEL}" for i in np.argsort(np.argsort(y, kind="stable"))]
    assert len(conditions({"a": enough, "y": y}, attributes=("a",))) == 1


def test_a_reason_in_words_that_only_the_rejected_have_gives_the_outcome_away() -> None:
    """Many rare levels can tell the outcome together, as long as they all tell the same."""
    y = outcomes(0.2)
    reasons = np.where(y > 0, [f"reason {i}" for i in range(1000)], "none")
    assert conditions({"a": reasons, "y": y}, attributes=("a",)) == ["a = none"]


def test_numbers_are_told_by_an_interval_after_values_that_occur() -> None:
    """The cut is after a value of D1, and an interval has two ends only where both are needed."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 10, 1000)
    assert conditions({"x": x, "y": (x < 4).astype(int)}) == ["x <= 3"]
    assert conditions({"x": x, "y": (x == 4).astype(int)}) == ["x = 4"]
    assert conditions({"x": x, "y": (x % 2).astype(int)}) == []


def test_missing_numbers_are_outside() -> None:
    """People without a number satisfy no condition on it; that it is there at all may tell the outcome."""
    y = outcomes(0.3)
    x = np.where(y > 0, np.arange(1000.0), np.nan)
    assert conditions({"x": x, "y": y}) == ["x is not missing"]
    assert conditions({"x": x, "y": 1 - y}) == ["x is not missing"]
    assert conditions({"x": x, "y": y}, sign=-1) == []


def test_ordered_levels_are_a_run() -> None:
    """Ordered levels are told by neighbours, which the condition names one by one."""
    size = np.random.default_rng(0).choice(["s", "m", "l", "xl"], 1000)
    kinds = {"size": ["s", "m", "l", "xl"]}
    found = conditions({"size": size, "y": np.isin(size, ["m", "l"]).astype(int)}, kinds=kinds)
    assert found == ["size in {m, l}"]
    assert conditions({"size": size, "y": np.isin(size, ["s", "l"]).astype(int)}, kinds=kinds) == []


def test_the_smaller_of_two_sides_is_the_group() -> None:
    """Of two sides that tell the same, the one with fewer people is named, and with a direction the one asked for."""
    y = outcomes(0.8)
    columns = {"a": np.where(y > 0, "p", "q"), "y": y}
    assert conditions(columns) == ["a = q"]
    assert conditions(columns, sign=-1) == ["a = q"]
    assert conditions(columns, sign=1) == ["a = p"]


def test_each_rate_is_judged_on_its_own_people() -> None:
    """A column that tells who of the truly negative is selected gives the false positives away, and parity nothing."""
    rng = np.random.default_rng(0)
    truth, prediction = rng.integers(0, 2, (2, 2000))
    a = np.where(truth == 0, prediction, rng.integers(0, 2, 2000)) > 0
    columns = {"a": a, "truth": truth, "prediction": prediction}
    named = {name: RateCounter(notion.rates, 4) for name, notion in NOTIONS.items()}
    for name in ("predictive equality", "equalized odds"):
        assert len(conditions(columns, named[name])) == 1
    for name in ("statistical parity", "equal opportunity", "accuracy"):
        assert conditions(columns, named[name]) == []


def test_what_strata_tell_is_not_the_columns_doing() -> None:
    """Given a legitimate factor, a column counts for what it tells beyond it."""
    rng = np.random.default_rng(0)
    factor = rng.integers(0, 2, 2000)
    y = np.where(rng.random(2000) < 0.05, 1 - factor, factor)
    columns = {"a": np.where(factor > 0, "p", "q"), "factor": factor, "y": y}
    assert len(conditions(columns, attributes=("a",))) == 1
    assert conditions(columns, attributes=("a",), given=("factor",), given_in_criteria=True) == []
    within = coded(columns | {"b": y > 0}, attributes=("b",))
    assert errors_of_guessing(within, PARITY).tolist() == [min(y.sum(), 2000 - y.sum())]


def test_rows_of_one_person_count_once() -> None:
    """Of ten people with a hundred rows each, a column can tell the outcomes by chance; of a thousand it cannot."""
    person = np.repeat(np.arange(10), 100)
    y = person % 2
    columns = {"a": person < 100, "b": y > 0, "person": person, "y": y}
    assert conditions(columns, attributes=("b",)) != []
    assert conditions(columns, attributes=("b",), cluster="person") == []


def test_the_clearest_come_first_and_the_order_of_rows_does_not_matter() -> None:
    """Conditions are ordered by how few errors they leave, one per column."""
    y = outcomes(0.4)
    rng = np.random.default_rng(2)
    columns = {
        "fair": np.where(rng.random(1000) < 0.05, 1 - y, y) > 0,
        "exact": y > 0,
        "noise": rng.normal(size=1000),
        "y": y,
    }
    found = conditions(columns)
    assert [text.split()[0] for text in found] == ["exact", "fair"]
    order = rng.permutation(1000)
    assert conditions({name: np.asarray(values)[order] for name, values in columns.items()}) == found


def test_counts_are_enough() -> None:
    """The judgement follows from the people per value, so that it can be made where rows are not."""
    y = outcomes(0.4)
    data = coded({"a": y > 0, "b": np.arange(1000) % 7, "y": y})
    tables = []
    for attribute, codes in zip(data.attributes, data.codes, strict=True):
        table = np.zeros((attribute.size + 1, 2), np.int64)
        np.add.at(table, (codes, data.cells), data.counts)
        tables.append(table)
    assert judge_tables(data.attributes, tables, PARITY, errors_of_guessing(data, PARITY)) == giveaways(data, PARITY)


def names(criteria: Sequence[Any], data: Any) -> list[str]:
    """Criteria in words."""
    return [str(decode(criterion, data.attributes)) for criterion in criteria]


def test_what_is_found_without_a_column_has_the_numbers_of_the_whole_data() -> None:
    """A forest without some attributes says the same in the numbers of all attributes."""
    rng = np.random.default_rng(0)
    y = outcomes(0.4)
    columns = {"first": y > 0, "a": rng.choice(list("pqr"), 1000), "b": rng.normal(size=1000) + y, "y": y}
    data = coded(columns)
    away = giveaways(data, PARITY)
    fewer = without(data, away)
    assert [attribute.name for attribute in fewer.attributes] == ["a", "b"]
    forest = forest_of(fewer, PARITY)
    found = candidates(forest, fewer)
    whole_forest, whole = renumber(forest, found, data, away)
    assert names(whole.criteria, data) == names(found.criteria, fewer)
    assert whole.giveaways == away
    assert (whole_forest.attribute[forest.attribute >= 0] == forest.attribute[forest.attribute >= 0] + 1).all()
    assert (whole_forest.is_leaf == forest.is_leaf).all()
