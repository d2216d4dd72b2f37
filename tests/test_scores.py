"""Audits of scores, whole: what they list, say and keep."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import pytest

import ald
from ald import InputError, SettingError
from tests.data.test_scores import scored


def test_calibration_finds_whom_scores_are_wrong_for(tmp_path: Any) -> None:
    """The group for whom scores are too high is listed, and every format says by how much."""
    audit = ald.audit(scored(4000), score="p", truth="y")
    first = audit.groups[0]
    assert {condition.attribute for condition in first.criterion} == {"age", "sex"}
    assert first.rates_inside["calibration"] == pytest.approx(-0.2, abs=0.06)
    assert audit.report().headline.startswith("Scores are ")
    assert "points too high for people with age" in audit.report().headline
    for ending in ("html", "md", "txt", "pdf", "xlsx", "csv", "json"):
        audit.save(tmp_path / f"audit.{ending}")
    text = (tmp_path / "audit.html").read_text(encoding="utf-8")
    assert "How well the score tells the truth" in text
    assert "Area under the ROC curve" in text


def test_optimistic_where_it_is_good() -> None:
    """Where the positive value is said to be good for people, scores are too optimistic or too pessimistic."""
    audit = ald.audit(scored(4000), score="p", truth="y", favourable="1")
    assert "points too optimistic about people with" in audit.report().headline
    worse = ald.audit(scored(4000), score="p", truth="y", favourable="1", direction="disadvantaged")
    assert all((found.psi or 0) > 0 for found in worse.groups)


@pytest.mark.parametrize(
    "options",
    [
        {"given": "city"},
        {"cluster": "person"},
        {"weights": ald.SurveyWeights("w")},
        {"reference": "sex = m"},
        {"threshold": 0.02},
        {"split": ald.Split(repeats=2)},
        {"notion": "Brier score"},
        {"notion": "log loss"},
        {"named_groups": "sex = f"},
    ],
    ids=str,
)
def test_designs(options: dict[str, Any]) -> None:
    """Whoever is compared with whom: the audit is made, told and kept."""
    rng = np.random.default_rng(1)
    data = scored(4000) | {
        "city": rng.choice(list("abc"), 4000),
        "person": rng.integers(0, 2000, 4000),
        "w": rng.uniform(0.5, 2.0, 4000).round(2),
    }
    used = {"person", "w"} - {options.get("cluster", ""), "w" if "weights" in options else ""}
    audit = ald.audit(data, score="p", truth="y", exclude=sorted(used), **options)
    assert ald.Audit.from_json(audit.to_json()).to_json() == audit.to_json()
    assert "Score: p" in str(audit)


def test_values_of_a_score() -> None:
    """A score may be values, one per row."""
    data = scored()
    score = data.pop("p")
    by_values = ald.audit(data, score=score, truth="y", search="none", named_groups="sex = f").named_groups[0]
    by_name = ald.audit(scored(), score="p", truth="y", search="none", named_groups="sex = f").named_groups[0]
    assert by_values.psi == by_name.psi


def test_scoring_rates_of_new_york() -> None:
    """The scoring rate is the share of a category above the median of the whole sample."""
    data = scored()
    audit = ald.profile("nyc-ll144", data, columns={"sex": "sex"}, score="p", exclude="y")
    assert audit.profile is not None
    assert audit.profile.median == pytest.approx(np.median(data["p"]))
    table = audit.profile.table("sex")
    assert table is not None
    for category in table.categories:
        side = data["sex"] == category.names[0]
        assert category.people == side.sum()
        assert category.selected == (data["p"][side] > np.median(data["p"])).sum()
        rates = {sex: (data["p"][data["sex"] == sex] > np.median(data["p"])).mean() for sex in set(data["sex"])}
        assert table.impact_ratio(category) == pytest.approx(rates[category.names[0]] / max(rates.values()))
    assert "scoring rate" in str(audit.report().sections)
    assert ald.Audit.from_json(audit.to_json()).profile == audit.profile
    with pytest.raises(SettingError, match="a score selects nobody"):
        ald.profile("adverse-impact", data, columns={"sex": "sex"}, score="p", exclude="y")


def test_the_command(tmp_path: Any) -> None:
    """The command has the score too."""
    import pandas as pd
    from click.testing import CliRunner

    from ald.cli.main import cli

    path = tmp_path / "scores.csv"
    pd.DataFrame(scored(4000)).to_csv(path, index=False)
    result = CliRunner().invoke(cli, ["audit", str(path), "--score", "p", "--truth", "y"])
    assert result.exit_code == 0
    assert "points too high for people" in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("notions", 0, "rates", 0, "per_one"), 0.0),
        (("notions", 0, "rates", 0, "decimals"), -1),
        (("notions", 0, "rates", 0, "is_share"), 1),
        (("config", "score"), 5),
        (("config", "classes"), [1.5]),
        (("data", "outcomes", 0, "negative"), "x"),
        (("data", "cells", "people"), -1),
        (("groups", 0, "counts_inside", "squares_low"), -5),
        (("groups", 0, "size"), 1),
        (("forest", "counts", 0), [1, 2]),
        (("details", "spreads", 0, "inside"), [3.0, 2.0, 1.0, 4.0, 5.0]),
        (("details", "spreads"), [{"inside": []}]),
        (("details", "reliabilities", 0, "bands", 0, "inside"), {"people": -1}),
        (("details", "reliabilities", 0, "auc_inside", "value"), 1.5),
    ],
    ids=str,
)
def test_damaged_documents(place: tuple[Any, ...], value: Any) -> None:
    """What cannot be is refused by who reads a document, wherever it stands."""
    document = json.loads(calibrated())
    at = document
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = value
    with pytest.raises(InputError, match="damaged"):
        ald.Audit.from_json(json.dumps(document))


@cache
def calibrated() -> str:
    """The document of an audit of calibration."""
    return ald.audit(scored(2000), score="p", truth="y", search=ald.Search(trees=3)).to_json()
