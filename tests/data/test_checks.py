"""Warnings about the input: given where they should be, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

import ald
from ald.data.checks import constant_block, similar_levels, similar_words, suspicious_truth
from ald.data.columns import from_objects
from ald.data.notes import Note
from tests.tables import decisions, people


@pytest.mark.parametrize(
    "words",
    [
        (">50K", ">50K."),
        ("Male", "male"),
        ("New York", "new-york"),
        ("a b", " a  b "),
        ("U.S.", "US"),
        ("18-24", "18 - 24"),
        ("ﬁne", "fine"),
        ("(x)", "x"),
    ],
)
def test_spelling_that_carries_no_meaning(words: tuple[str, str]) -> None:
    """Words that differ only by case, space or punctuation belong together."""
    assert similar_words(words) == [words]


@pytest.mark.parametrize(
    "words",
    [
        ("<=50K", ">50K"),
        ("-1", "1"),
        ("A-", "A"),
        ("A+", "A-"),
        ("1.5", "15"),
        ("1-2", "12"),
        ("a & b", "a b"),
        ("", "."),
        ("<18", ">18"),
        ("x", "y"),
    ],
)
def test_spelling_that_carries_meaning(words: tuple[str, str]) -> None:
    """Signs, comparison signs, and what stands between digits tell words apart."""
    assert similar_words(words) == []


def test_similar_levels_are_named() -> None:
    """The warning names the column and the levels."""
    (warning,) = similar_levels([from_objects("sex", ["M", "m", "F"])], lambda name: None)
    assert "levels of 'sex' differ only by case, space or punctuation: 'M', 'm'" in warning


def test_similar_levels_of_few_people_are_not_named() -> None:
    """Who wants to count no few people is told of such a level without its name."""
    (warning,) = similar_levels([from_objects("sex", ["M"] * 12 + ["m", "F"])], lambda name: None)
    assert isinstance(warning, Note)
    assert "punctuation: 'M', one of fewer than 10 people." in warning.at_least(10)
    (both,) = similar_levels([from_objects("sex", ["M"] * 3 + ["m", "F"])], lambda name: None)
    assert isinstance(both, Note)
    assert "punctuation: 2 of fewer than 10 people each." in both.at_least(10)


def test_similar_levels_are_warned_of_in_an_audit() -> None:
    """An audit's warnings hold those of its levels."""
    columns = people()
    columns["sex"] = [sex if i % 3 else sex.lower() for i, sex in enumerate(columns["sex"])]
    warnings = ald.audit(columns, outcome="y", search=ald.Search(trees=2)).warnings
    assert [warning for warning in warnings if "'sex'" in warning] == list(warnings)
    assert len(warnings) == 2


def test_an_outcome_spelt_in_two_ways() -> None:
    """An outcome with more than two values because of its spelling is an error that says so."""
    columns = people() | {"y": [">50K" if i % 2 else ">50K." if i % 4 else "<=50K" for i in range(600)]}
    with pytest.raises(ald.ColumnError, match=r"'>50K' and '>50K\.' differ only in spelling"):
        ald.audit(columns, outcome="y", favourable=">50K")


def random_outcome(n: int, rate: float, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random(n) < rate


@pytest.mark.parametrize("value", [False, True])
@pytest.mark.parametrize("start", [0, 10_000, 17_000])
def test_a_block_of_one_outcome(start: int, value: bool) -> None:
    """A long block of one outcome in data of random order is found, wherever it is."""
    outcome = random_outcome(20_000, 0.3)
    outcome[start : start + 3000] = value
    (warning,) = constant_block("y", outcome)
    assert f"(rate exactly {int(value)})" in warning
    assert "'y'" in warning


@pytest.mark.parametrize("rate", [0.001, 0.01, 0.1, 0.5, 0.9, 0.999])
def test_no_block_in_random_data(rate: float) -> None:
    """Random data has no suspicious block at any rate."""
    assert [constant_block("y", random_outcome(20_000, rate, seed)) for seed in range(20)] == [[]] * 20


def test_no_block_in_sorted_data() -> None:
    """Data sorted by outcome, alone or within a few groups, is not suspicious."""
    outcome = np.sort(random_outcome(20_000, 0.3))
    assert constant_block("y", outcome) == []
    assert constant_block("y", np.concatenate([outcome, outcome, outcome])) == []


@pytest.mark.parametrize("outcome", [np.zeros(0, bool), np.ones(5000, bool), random_outcome(100, 0.5)])
def test_no_block_in_small_or_constant_data(outcome: np.ndarray) -> None:
    """Nothing is said of data without two outcomes or of little data."""
    assert constant_block("y", outcome) == []


def test_a_block_is_warned_of_by_a_look() -> None:
    """Who looks at the data is told which rows the block has; an audit does not look at their order."""
    columns = people(6000)
    columns["y"][2000:4000] = [0] * 2000
    assert (
        sum("all have the same 'y' (rate exactly 0)" in warning for warning in ald.look(columns, outcome="y").warnings)
        == 1
    )
    assert ald.audit(columns, outcome="y", search=ald.Search(trees=2), attributes=["age", "sex"]).warnings == ()


def test_truth_that_equals_the_prediction() -> None:
    """A truth that never disagrees with the prediction is warned of."""
    columns = decisions()
    columns["copy"] = columns["predicted"]
    with pytest.raises(ald.AldError) as caught:
        ald.audit(columns, prediction="predicted", truth="nothing")
    assert "'nothing'" in str(caught.value)
    warnings = ald.audit(columns, prediction="predicted", truth="copy", search=ald.Search(trees=2)).warnings
    assert any("they never disagree" in warning for warning in warnings)


def test_truth_that_is_the_opposite() -> None:
    """A truth that never agrees with the prediction is warned of."""
    columns = decisions()
    columns["opposite"] = [1 - value for value in columns["predicted"]]
    warnings = ald.audit(columns, prediction="predicted", truth="opposite", search=ald.Search(trees=2)).warnings
    assert any("is the opposite of the prediction" in warning for warning in warnings)


def test_truth_that_is_a_correctness_flag() -> None:
    """A truth that says whether the prediction was right is recognised by the column that holds the real truth."""
    columns = decisions()
    columns["correct"] = [int(a == b) for a, b in zip(columns["predicted"], columns["true"], strict=True)]
    (warning,) = ald.audit(columns, prediction="predicted", truth="correct", search=ald.Search(trees=2)).warnings
    assert "Use truth='true' instead?" in warning


def test_an_ordinary_truth() -> None:
    """Nothing is said of an ordinary prediction and truth."""
    assert ald.audit(decisions(), prediction="predicted", truth="true", search=ald.Search(trees=2)).warnings == ()
    agree = np.array([True, False])
    assert suspicious_truth(agree, np.array([True, True]), ("p", "t"), [("o", np.array([False, True]))]) == []


def test_infinite_values_are_warned_of() -> None:
    """Infinite values count as missing, and a warning says how many."""
    columns = people()
    columns["score"][:3] = [float("inf"), float("-inf"), float("nan")]
    audit = ald.audit(columns, outcome="y", min_group_size=1, search=ald.Search(trees=2))
    assert audit.warnings == ("2 infinite values of 'score' count as missing",)
    assert {entry.name: entry.missing for entry in audit.data_summary.attributes}["score"] == 3
