"""Two models compared: the groups whose gap changes, with numbers that agree with a direct count."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.linear_model import LogisticRegression

import ald
from ald import comparing
from ald.baselines.instability_tree import paired_response
from ald.cli import cli
from ald.comparing import exact_log_p
from ald.data.prepare import Roles
from ald.datasets import load_adult
from ald.search.tree import CodedCondition
from tests.tables import public_data, write_csv

Columns = dict[str, Any]


def models(n: int = 6000, seed: int = 0, effect: float = 0.3) -> Columns:
    """The second model has more false positives among women than the first."""
    rng = np.random.default_rng(seed)
    sex, age, truth = rng.choice(["f", "m"], n), rng.integers(18, 80, n), rng.integers(2, size=n)
    old, new = (np.where(rng.random(n) < 0.2, 1 - truth, truth) for _ in range(2))
    new = np.where((sex == "f") & (truth == 0) & (rng.random(n) < effect), 1, new)
    return {"sex": sex, "age": age, "y": truth, "old": old, "new": new}


def compared(columns: Any, **options: Any) -> ald.Comparison:
    return ald.compare(columns, predictions=["old", "new"], truth="y", **options)


def counted(inside: np.ndarray, columns: Columns, model: str, truth: int) -> float:
    """The rate of errors inside minus outside, among people with this truth, counted directly."""
    wrong, base = columns[model] != columns["y"], columns["y"] == truth
    return float(wrong[inside & base].mean() - wrong[~inside & base].mean())


def test_the_group_that_loses_is_found() -> None:
    """The group whose false positive rate rises is listed; the change is that of the gaps."""
    found = compared(models(), notion="predictive equality")
    group = found.groups[0]
    assert {condition.attribute for condition in group.criterion} == {"sex"}
    (rate,) = group.rates
    assert rate.change == pytest.approx(rate.gap_second - rate.gap_first)
    assert abs(rate.change) == pytest.approx(0.24, abs=0.06)
    assert group.interval is not None
    assert group.interval[0] < rate.change < group.interval[1]
    assert group.p_adjusted < 0.001


def test_the_tested_half_is_a_sample() -> None:
    """The numbers on the half that was tested are those of all people up to sampling error."""
    columns = models(8000, 1)
    found = compared(columns)
    group = found.groups[0]
    assert group.test == "chi2"
    assert group.size == pytest.approx(found.data_summary.rows_assess * group.share)
    inside = group.criterion.mask(columns)
    for rate, truth in zip(group.rates, (0, 1), strict=True):
        assert rate.gap_first == pytest.approx(counted(inside, columns, "old", truth), abs=0.05)
        assert rate.gap_second == pytest.approx(counted(inside, columns, "new", truth), abs=0.05)
    assert group.change == pytest.approx(np.mean([abs(rate.change) for rate in group.rates]))


def test_exact_counts_with_weights() -> None:
    """Where every row stands for an even number of equal people the halves are known in expectation; sizes add up."""
    columns = models(500, 2) | {"n": np.full(500, 40)}
    found = compared(columns, weights="n", attributes=["sex"], notion="predictive equality")
    assert found.data_summary.rows == 20_000
    assert found.data_summary.rows_search + found.data_summary.rows_assess == 20_000
    assert [attribute.name for attribute in found.data_summary.attributes] == ["sex"]


def test_no_change_no_list() -> None:
    """Two models that differ at random give an empty list in about 95 % of data sets."""
    listed = sum(bool(compared(models(1500, seed, 0.0), alpha=1.0).groups) for seed in range(60))
    assert listed <= 9


def test_small_groups_are_tested_exactly() -> None:
    """Where few predictions changed, p-values are exact, and not too small under the null."""
    n = 400
    p_values = []
    for seed in range(80):
        rng = np.random.default_rng(seed)
        truth, group = rng.integers(2, size=n), rng.choice(["a", "b"], n, p=[0.1, 0.9])
        old = np.where(rng.random(n) < 0.1, 1 - truth, truth)
        new = np.where(rng.random(n) < 0.03, 1 - old, old)
        found = compared({"group": group, "y": truth, "old": old, "new": new}, notion="accuracy", alpha=1.0)
        p_values += [np.exp(tested.log_p) for tested in found.tested if tested.test == "exact"]
    assert len(p_values) > 30
    assert np.mean(np.array(p_values) <= 0.05) <= 0.12


def test_exact_p_is_that_of_permutations() -> None:
    """The exact p-value is the share of random draws of the group that are as extreme, on both sides."""
    rng = np.random.default_rng(4)
    for counts, size, observed in (((3, 90, 9), 20, 5), ((6, 40, 6), 15, -3), ((0, 30, 12), 10, 0)):
        drawn = rng.multivariate_hypergeometric(counts, size, size=200_000)
        expected = size * (counts[2] - counts[0]) / sum(counts)
        share = float((np.abs(drawn[:, 2] - drawn[:, 0] - expected) >= abs(observed - expected) - 1e-9).mean())
        assert np.exp(exact_log_p(size, observed, np.array(counts))) == pytest.approx(share, abs=0.004)


def test_every_number_is_a_direct_count() -> None:
    """If all people are the tested ones, sizes, rates, gaps and changes are exactly those that one counts."""
    columns = models(3000, 5)
    roles = Roles(prediction="old", truth="y")
    people, _ = comparing._paired(columns, roles, "new")
    notion = ald.NOTIONS["equalized odds"]
    criteria = [(CodedCondition(0, 0, 0, (0,)),), (CodedCondition(1, 5, 30),)]
    found = comparing._assessed(criteria, people, notion, paired_response(notion.rates), 0.05, "bh", 3)
    assert len(found) == 2
    for group in found:
        inside = group.criterion.mask(columns)
        assert group.size == inside.sum()
        for rate, truth in zip(group.rates, (0, 1), strict=True):
            assert rate.gap_first == pytest.approx(counted(inside, columns, "old", truth))
            assert rate.gap_second == pytest.approx(counted(inside, columns, "new", truth))


def test_renderings_say_the_same() -> None:
    """Text, Markdown and JSON name the group, the change and the limitation; same comparison, same bytes."""
    columns = models()
    found = compared(columns, notion="predictive equality")
    assert compared(columns, notion="predictive equality").to_json() == found.to_json()
    document = json.loads(found.to_json())
    words = document["groups"][0]["criterion"]
    change = f"{found.groups[0].rates[0].change:+.3f}"
    for text in (str(found), found.to_markdown()):
        assert words in text
        assert change in text
        assert "associations" in text
    assert document["groups"][0]["rates"][0]["change"] == pytest.approx(found.groups[0].change)


def test_hostile_names_do_not_act() -> None:
    """Control characters and bars of names and levels are escaped in what is printed."""
    columns = models()
    columns["se\x1bx|"] = np.where(columns.pop("sex") == "f", "\u202efe|male", "m")
    found = compared(columns, notion="predictive equality")
    assert found.groups
    for text in (str(found), found.to_markdown()):
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "\\|" in found.to_markdown()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"predictions": ["old"]}, "two different columns"),
        ({"predictions": ["old", "old"]}, "two different columns"),
        ({"predictions": "old"}, "two different columns"),
        ({"predictions": ["old", "y"]}, "cannot be both"),
        ({"predictions": ["old", "nwe"]}, "Did you mean 'new'"),
        ({"predictions": ["old", "new"], "notion": "predictive parity"}, "not over the same people"),
        ({"predictions": ["old", "new"], "level": 2}, "level must be"),
        ({"predictions": ["old", "age"]}, "must have two"),
    ],
)
def test_wrong_settings(options: Any, message: str) -> None:
    """What cannot be compared is an error that says why."""
    with pytest.raises(ald.AldError, match=message):
        ald.compare(models(500), truth="y", **options)


def test_command(tmp_path: Any) -> None:
    """`ald compare` prints what the function finds, as text, JSON or Markdown."""
    columns = models()
    path = write_csv(tmp_path / "scores.csv", columns)
    options = ["compare", str(path), "--prediction", "old", "--prediction", "new", "--truth", "y"]
    options += ["--notion", "predictive equality"]
    expected = compared(columns, notion="predictive equality")
    for format_, text in (
        ("text", f"{expected}\n"),
        ("json", expected.to_json()),
        ("markdown", expected.to_markdown()),
    ):
        result = CliRunner().invoke(cli, [*options, "--format", format_])
        assert result.exit_code == 0, result.output
        assert result.output == text
    written = CliRunner().invoke(
        cli, [*options, "-o", str(tmp_path / "change.md"), "-o", str(tmp_path / "change.json")]
    )
    assert written.exit_code == 0
    assert (tmp_path / "change.md").read_text("utf-8") == expected.to_markdown()
    assert (tmp_path / "change.json").read_text("utf-8") == expected.to_json()
    for refused in ("change.csv", "change.png", "scores.csv"):
        result = CliRunner().invoke(cli, [*options, "-o", str(tmp_path / refused)])
        assert isinstance(result.exception, ald.SettingError)
    narrow = CliRunner().invoke(cli, [*options, "--attributes", "age"])
    assert "sex" not in narrow.output


def test_models_of_adult_with_and_without_sex() -> None:
    """Of two models of Adult, with and without sex and relationship, a group whose gap changed is named and counted."""
    folder = public_data("adult.csv").parent
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALD_DATA", str(folder))
        frame = pd.DataFrame(load_adult())
    frame["y"] = (frame["income"] == ">50K").astype(int)
    numbers = ["age", "education_num", "hours_per_week"]
    rng = np.random.default_rng(0)
    train = rng.random(len(frame)) < 0.5
    for name, words in (("with", ["sex", "relationship"]), ("without", [])):
        x = pd.concat(
            [frame[numbers] / 50.0, pd.get_dummies(frame[words]).astype(float) if words else frame[[]]], axis=1
        )
        model = LogisticRegression(max_iter=1000).fit(x[train], frame["y"][train])
        frame[name] = model.predict(x)
    rest = frame[~train]
    attributes = ["age", "sex", "race", "relationship"]
    found = ald.compare(
        rest, predictions=["with", "without"], truth="y", attributes=attributes, notion="equal opportunity"
    )
    assert found.groups
    group = found.groups[0]
    assert {"sex", "relationship"} & {condition.attribute for condition in group.criterion}
    inside, positive = group.criterion.mask(rest), (rest["y"] == 1).to_numpy()
    gaps = [
        rest[name].to_numpy()[inside & positive].mean() - rest[name].to_numpy()[~inside & positive].mean()
        for name in ("with", "without")
    ]
    (rate,) = group.rates
    # All held-out people against the half of them that was tested.
    assert rate.gap_first == pytest.approx(gaps[0], abs=0.05)
    assert rate.change == pytest.approx(gaps[1] - gaps[0], abs=0.06)
    assert abs(rate.change) > 0.1


def test_changes_in_no_direction_are_no_finding() -> None:
    """A group in which the second model changes many predictions, as often up as down, has no changed gap."""
    listed = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n = 6000
        old = rng.integers(2, size=n)
        group = rng.random(n) < 0.05
        new = np.where(group, rng.permutation(old), old)
        columns = {"g": np.where(group, "in", "out"), "old": old, "new": new, "y": rng.integers(2, size=n)}
        found = ald.compare(columns, predictions=("old", "new"), truth="y", notion="statistical parity", seed=seed)
        listed += bool(found.groups)
    assert listed <= 3


def test_many_changes_in_one_direction() -> None:
    """log p stays finite where more people changed than the exact test usually looks at."""
    assert (
        -1e5 < exact_log_p(1000, 401, np.array([0, 99_599, 401])) < exact_log_p(1000, 390, np.array([0, 99_599, 401]))
    )
