"""What is asked of a score, row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

import ald
from ald import SettingError
from ald.data.scores import PER_ROW
from ald.errors import ColumnError


def scored(n: int = 3000, seed: int = 0) -> dict[str, Any]:
    """Scores are as right as they can be but for women over 40, for whom they are 20 points too high."""
    rng = np.random.default_rng(seed)
    sex, age, chance = rng.choice(["f", "m"], n), rng.integers(18, 70, n), rng.beta(2, 3, n)
    less = 0.2 * ((sex == "f") & (age > 40))
    return {
        "sex": sex,
        "age": age,
        "p": chance.round(4),
        "y": (rng.random(n) < np.clip(chance - less, 0, 1)).astype(int),
    }


@pytest.mark.parametrize(
    ("notion", "theirs"),
    [
        ("mean score", lambda truth, score: score.mean()),
        ("calibration", lambda truth, score: truth.mean() - score.mean()),
        ("Brier score", metrics.brier_score_loss),
        ("log loss", metrics.log_loss),
    ],
)
def test_means_are_those_of_scikit_learn(notion: str, theirs: Any) -> None:
    """A named group has the numbers that scikit-learn computes of its people, and of the others."""
    data = scored()
    audit = ald.audit(data, score="p", truth="y", notion=notion, search="none", named_groups="sex = f")
    one, inside = audit.named_groups[0], data["sex"] == "f"
    assert one.notion == notion
    for found, side in ((one.rates_inside, inside), (one.rates_outside, ~inside)):
        (mean,) = found.values()
        assert mean == pytest.approx(theirs(data["y"][side], data["p"][side]), rel=1e-7, abs=1e-9)


def test_sure_and_wrong() -> None:
    """A score of 0 or 1 that is wrong has a large log loss, and not an infinite one."""
    loss = PER_ROW["log_loss"](np.array([0.0, 1.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0, 0.0]))
    assert loss[:2] == pytest.approx([0.0, 0.0], abs=1e-12)
    assert np.isfinite(loss).all()
    assert loss[2:].min() > 30


def test_the_favourable_value_is_what_the_score_is_the_chance_of() -> None:
    """With another coding of the truth the numbers are the same; the other value turns them round."""
    data = scored()
    asked: dict[str, Any] = {"score": "p", "truth": "y", "search": "none", "named_groups": "sex = f"}
    psi = ald.audit(data, **asked).named_groups[0].psi
    words = data | {"y": np.where(data["y"] == 1, "yes", "no")}
    assert ald.audit(words, favourable="yes", **asked).named_groups[0].psi == psi
    turned = words | {"p": (1 - data["p"]).round(4)}
    assert ald.audit(turned, favourable="no", **asked).named_groups[0].psi == pytest.approx(-(psi or 0.0))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"score": "sex"}, "must be a column of numbers"),
        ({"score": "age", "truth": "y"}, "must be a probability"),
        ({"score": "p", "outcome": "y"}, "leave outcome out"),
        ({"score": "p", "prediction": "y"}, "leave prediction out"),
        ({"score": "p", "notion": "calibration"}, "give truth=..., too"),
        ({"score": "p", "truth": "y", "notion": "equalized odds"}, "audited by one notion"),
        ({"score": "p", "truth": "y", "notion": ["calibration", "Brier score"]}, "audited by one notion"),
        ({"outcome": "y", "notion": "calibration"}, "is about scores"),
        ({"score": "p", "truth": "y", "split": "none"}, "needs two halves"),
        ({"score": "p", "truth": "y", "search": "cart"}, "looks at yes and no only"),
        ({"score": "p", "truth": "y", "direction": "disadvantaged"}, "which value of the truth is good"),
        ({"score": "p", "direction": "disadvantaged"}, "whether a higher score is"),
        ({"score": "p", "favourable": "1"}, "say 'higher' or 'lower'"),
    ],
)
def test_what_cannot_be_asked_of_scores(options: dict[str, Any], said: str) -> None:
    """The error says which option is meant, and what to do."""
    with pytest.raises((SettingError, ColumnError), match=said):
        ald.audit(scored(400), **options)


def test_scores_of_another_range_have_a_mean() -> None:
    """Without a truth a score may be any number; only between 0 and 1 it is written in percent."""
    data = scored() | {"credit": scored()["p"] * 550 + 300}
    credit = ald.audit(data, score="credit", exclude=["p", "y"], search="none", named_groups="sex = f")
    assert "a mean score of 5" in str(credit)
    chance = ald.audit(data, score="p", exclude=["credit", "y"], search="none", named_groups="sex = f")
    assert "points" in str(chance)


@pytest.mark.parametrize("notion", ["residual", "absolute error", "squared error"])
def test_errors_of_predicted_numbers_are_audited_as_amounts(notion: str) -> None:
    """The audit of a prediction and a truth that are numbers has the numbers of one of the errors as an outcome."""
    rng = np.random.default_rng(4)
    data = pd.DataFrame({"sex": rng.choice(["f", "m"], 2000), "age": rng.integers(18, 70, 2000)})
    data["said"] = (3000 + rng.normal(0, 200, 2000)).round(2)
    data["wage (EUR)"] = (data["said"] + rng.normal(0, 300, 2000) - 250 * (data["sex"] == "f")).round(2)
    off = data["wage (EUR)"] - data["said"]
    error = {"residual": off, "absolute error": off.abs(), "squared error": off**2}[notion].round(6)
    asked: dict[str, Any] = {"search": "none", "named_groups": ["sex = f", "age > 40"]}
    found = ald.audit(data, score="said", truth="wage (EUR)", notion=notion, **asked)
    plain = ald.audit(data[["sex", "age"]].assign(error=error), outcome="error", **asked)
    for one, other in zip(found.named_groups, plain.named_groups, strict=True):
        assert one.psi == pytest.approx(other.psi)
        assert one.interval == pytest.approx(other.interval)
        assert one.p_value == pytest.approx(other.p_value)
    text = str(found)
    assert f"mean {notion} of wage" in text
    assert ("EUR" in found.report().headline) == (notion != "squared error")
    assert ald.Audit.from_json(found.to_json()).to_json() == found.to_json()


def test_errors_of_predicted_numbers_have_a_direction() -> None:
    """Predictions that are too low are to people's disadvantage where more is good for them, and the reverse."""
    rng = np.random.default_rng(5)
    data = pd.DataFrame({"sex": rng.choice(["f", "m"], 3000), "age": rng.integers(18, 70, 3000)})
    data["said"] = rng.normal(3000, 200, 3000).round(1)
    data["wage"] = (data["said"] + rng.normal(0, 300, 3000) + 300 * (data["sex"] == "f")).round(1)
    asked: dict[str, Any] = {"score": "said", "truth": "wage", "notion": "residual", "direction": "disadvantaged"}
    for favourable, group in (("higher", "sex = f"), ("lower", "sex = m")):
        found = ald.audit(data, favourable=favourable, **asked)
        assert str(found.groups[0].criterion) == group


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"score": "p", "truth": "y", "notion": "residual"}, "truth 'y' has two values"),
        ({"score": "age", "truth": "q", "notion": "residual", "favourable": "3"}, "'higher' or 'lower', whichever"),
        ({"score": "age", "truth": "sex", "notion": "residual"}, "truth 'sex' has two values"),
        ({"score": "sex", "truth": "q", "notion": "residual"}, "score 'sex' must be a column of numbers"),
        ({"score": "age", "truth": "q"}, "say notion='residual'"),
        ({"score": "age", "truth": "q", "notion": "residual", "direction": "advantaged"}, "whether a higher score is"),
    ],
)
def test_what_cannot_be_asked_of_predicted_numbers(options: dict[str, Any], said: str) -> None:
    """The error says what is missing or wrong."""
    rng = np.random.default_rng(6)
    data = {"sex": rng.choice(["f", "m"], 400), "age": rng.integers(18, 70, 400), "p": rng.random(400)}
    data |= {"y": rng.integers(0, 2, 400), "q": rng.normal(size=400)}
    with pytest.raises((SettingError, ColumnError), match=said):
        ald.audit(data, **options)
