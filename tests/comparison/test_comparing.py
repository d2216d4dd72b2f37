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
from ald.cli.main import cli
from ald.comparison import comparing
from ald.comparison.instability_tree import paired_response
from ald.data.inputs.sources import load
from ald.data.prepare import Roles
from ald.datasets import load_adult
from ald.groups.tree import CodedCondition
from ald.report.words import format_signed
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
    assert rate.interval[0] < rate.change < rate.interval[1]
    assert group.p_adjusted < 0.001


def test_the_tested_half_is_a_sample() -> None:
    """The numbers on the half that was tested are those of all people up to sampling error."""
    columns = models(8000, 1)
    found = compared(columns)
    group = found.groups[0]
    assert group.size == pytest.approx(found.data_summary.rows_assess * group.share)
    inside = group.criterion.mask(columns)
    for rate, truth in zip(group.rates, (0, 1), strict=True):
        assert rate.gap_first == pytest.approx(counted(inside, columns, "old", truth), abs=0.05)
        assert rate.gap_second == pytest.approx(counted(inside, columns, "new", truth), abs=0.05)
    assert group.change == pytest.approx(np.mean([abs(rate.change) for rate in group.rates]))


def test_significant_groups_beyond_the_list_are_said() -> None:
    """Where more groups are significant than are listed, every rendering says how many, and how to list them."""
    rng = np.random.default_rng(7)
    columns = models(12_000, 7, 0.0)
    columns["region"] = rng.choice(list("uvwx"), 12_000)
    rise = np.select([columns["region"] == level for level in "uvw"], [0.15, 0.3, 0.5], 0.0)
    columns["new"] = np.where((columns["y"] == 0) & (rng.random(12_000) < rise), 1, columns["new"])
    whole, first = (compared(columns, attributes="region", groups=groups) for groups in (9, 1))
    n = len(whole.groups)
    assert n > 2
    assert (whole.n_significant, first.n_significant, len(first.groups)) == (n, n, 1)
    assert json.loads(first.to_json())["significant"] == n
    said = f"{n - 1} groups more are significant, but the list ends after 1: groups={n} (--groups {n}) lists all."
    for text in (str(first), first.to_markdown()):
        assert said in " ".join(text.split())
    assert "the list ends" not in str(whole) + whole.to_markdown()


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


def test_p_values_of_small_groups() -> None:
    """Where few predictions changed, p-values are not too small under the null."""
    n = 400
    p_values = []
    for seed in range(80):
        rng = np.random.default_rng(seed)
        truth, group = rng.integers(2, size=n), rng.choice(["a", "b"], n, p=[0.1, 0.9])
        old = np.where(rng.random(n) < 0.1, 1 - truth, truth)
        new = np.where(rng.random(n) < 0.03, 1 - old, old)
        found = compared({"group": group, "y": truth, "old": old, "new": new}, notion="accuracy", alpha=1.0)
        p_values += [np.exp(tested.log_p) for tested in found.tested]
    assert len(p_values) > 30
    assert np.mean(np.array(p_values) <= 0.05) <= 0.12


def test_every_number_is_a_direct_count() -> None:
    """If all people are the tested ones, sizes, rates, gaps and changes are exactly those that one counts."""
    columns = models(3000, 5)
    roles = Roles(prediction="old", truth="y")
    people, _ = comparing._pair(load(columns), roles, "new")
    notion = ald.NOTIONS["equalized odds"]
    criteria = [(CodedCondition(0, 0, 0, (0,)),), (CodedCondition(1, 5, 30),)]
    found, _ = comparing._assess_groups(criteria, people, notion, paired_response(notion.rates), 0.05, "bh")
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
    change = format_signed(found.groups[0].rates[0].change)
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


def test_missing_values_are_left_out() -> None:
    """People without a prediction of one of the models, or without truth, are left out and counted."""
    columns = models(3000)
    for at, name in enumerate(("y", "old", "new")):
        columns[name] = [None if i % 10 == at else value for i, value in enumerate(columns[name].tolist())]
    known = np.arange(3000) % 10 > 2
    found, expected = compared(columns), compared({name: np.array(v, object)[known] for name, v in columns.items()})
    assert [str(group) for group in found.groups] == [str(group) for group in expected.groups]
    assert "900 of 3,000 rows have no value of 'old' or 'y' or 'new'" in found.data_summary.warnings[0]


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
        ({"predictions": ["old", "age"]}, "predictions 'age' are numbers with more than two values"),
    ],
)
def test_wrong_settings(options: Any, message: str) -> None:
    """What cannot be compared is an error that says why."""
    with pytest.raises(ald.AldError, match=message):
        ald.compare(models(500), truth="y", **options)


def test_command(tmp_path: Any) -> None:
    """`ald compare` prints what the function finds, as JSON or Markdown."""
    columns = models()
    path = write_csv(tmp_path / "scores.csv", columns)
    options = ["compare", str(path), "--prediction", "old", "--prediction", "new", "--truth", "y"]
    options += ["--notion", "predictive equality"]
    expected = compared(str(path), notion="predictive equality")
    for format_, text in (
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
    result = CliRunner().invoke(cli, [*options, "-o", str(tmp_path / "change.png")])
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


def scores(n: int, share: float, moved: tuple[float, float], rng: np.random.Generator) -> Columns:
    """In group a the second model turns as many predictions up and down as these shares; elsewhere none."""
    group, old = np.where(rng.random(n) < share, "a", "b"), rng.integers(2, size=n)
    up, down = moved
    changed = rng.random(n) < np.where(old == 0, 2 * up, 2 * down)
    return {"g": group, "old": old, "new": np.where((group == "a") & changed, 1 - old, old), "y": 1 - old}


def test_intervals_of_small_groups() -> None:
    """Intervals of groups of about 20 people, of whom few change, hold the true change, and none has no width."""
    moved, held, rng = (0.05, 0.0), [], np.random.default_rng(5)
    criteria, notion = [(CodedCondition(0, 0, 0, (0,)),)], ald.NOTIONS["statistical parity"]
    for _ in range(60):
        people, _ = comparing._pair(load(scores(400, 0.05, moved, rng)), Roles(prediction="old", truth="y"), "new")
        found, _ = comparing._assess_groups(criteria, people, notion, paired_response(notion.rates), 0.05, "bh")
        for group in found:
            low, high = group.rates[0].interval
            held.append(low <= moved[0] - moved[1] <= high)
            assert high - low > 0.1
    assert len(held) == 60
    assert np.mean(held) >= 0.9


def test_intervals_and_p_values_agree() -> None:
    """With one rate, an interval holds 0 exactly where the group's own p is above what the interval allows."""
    rng, seen = np.random.default_rng(6), set()
    for seed in range(20):
        columns = models(800, seed, 0.4) | {"region": rng.choice(list("uvwx"), 800)}
        del columns["age"]
        found = compared(columns, notion="predictive equality", alpha=1.0)
        for group in found.tested:
            low, high = group.rates[0].interval
            assert (low <= 0 <= high) == (np.exp(group.log_p) > 1 - found.confidence)
            seen.add(low <= 0 <= high)
        assert all(group.rates[0].interval[0] > 0 or group.rates[0].interval[1] < 0 for group in found.groups)
    assert seen == {True, False}


@pytest.mark.parametrize("notion", ["predictive equality", "equalized odds"])
def test_a_group_and_its_complement_are_one_finding(notion: str) -> None:
    """A tree with two leaves has one finding: the side in which predictions changed, and no mirror image of it."""
    for seed, level in ((0, "f"), (1, "m")):
        columns = models(seed=seed)
        columns["sex"] = np.where(columns["sex"] == "f", level, {"f": "m", "m": "f"}[level])
        found = compared(columns, notion=notion, attributes=["sex"])
        assert [str(group.criterion) for group in found.tested] == [f"sex = {level}"]


def test_complements_among_people_without_a_value() -> None:
    """People with a missing number are in neither of two halves, which are one finding all the same."""
    columns = models(6000, 3)
    older = np.where(columns["sex"] == "f", 60.0, 30.0)
    columns["age"] = np.where(np.random.default_rng(0).random(6000) < 0.05, np.nan, older)
    del columns["sex"]
    found = compared(columns, notion="predictive equality")
    assert [str(group.criterion) for group in found.tested] == ["age = 60"]


def test_leaves_of_those_who_do_not_count() -> None:
    """Two leaves that hold everyone who counts for the rate are one finding, whatever other leaves there are."""
    columns = models(6000, 4)
    people, _ = comparing._pair(load(columns), Roles(prediction="old", truth="y"), "new")
    response = paired_response(ald.NOTIONS["predictive equality"].rates)
    at = [attribute.name for attribute in people.attributes].index("sex")
    women, men = (CodedCondition(at, 0, 0, (0,)),), (CodedCondition(at, 0, 0, (1,)),)
    nobody = (CodedCondition(at, 0, 0, (0,)), CodedCondition(at, 0, 0, (1,)))
    assert comparing._one_side([men, nobody, women], people, response) == [nobody, women]


def test_a_rate_that_nobody_changes() -> None:
    """If one of several rates is the same for everyone, the others are tested all the same."""
    columns = models(4000, 1)
    columns["new"] = np.where(columns["y"] == 1, columns["old"], columns["new"])
    group = compared(columns).groups[0]
    fpr, fnr = group.rates
    assert {condition.attribute for condition in group.criterion} == {"sex"}
    assert abs(fpr.change) > 0.1
    assert fnr.change == 0
    assert fnr.interval[0] < 0 < fnr.interval[1]
