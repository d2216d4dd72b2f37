"""Findings as sensitive features of Fairlearn."""

from __future__ import annotations

import doctest
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import ald
from tests.tables import public_data

metrics = pytest.importorskip("fairlearn.metrics", reason="make test-integrations installs Fairlearn")
postprocessing = pytest.importorskip("fairlearn.postprocessing")


PAGE = Path(__file__).parents[2] / "docs" / "mitigation.md"


def applicants(n: int = 6000) -> pd.DataFrame:
    rng = np.random.default_rng(6)
    data = pd.DataFrame({"score": rng.normal(size=n), "sex": rng.choice(["f", "m"], n), "age": rng.integers(20, 70, n)})
    data["truth"] = (data["score"] + rng.normal(size=n) > 0).astype(int)
    data["predicted"] = (data["score"] - 0.8 * ((data["sex"] == "f") & (data["age"] > 45)) > 0).astype(int)
    return data


def located() -> tuple[pd.DataFrame, ald.Finding]:
    data = applicants()
    audit = ald.audit(
        data, prediction="predicted", truth="truth", notion="equal opportunity", attributes=["sex", "age"]
    )
    return data, audit.groups[0]


def test_metric_frame_has_the_rates_of_the_finding() -> None:
    """A MetricFrame by the located group gives the same rates as a test of that group on all rows."""
    data, group = located()
    frame = metrics.MetricFrame(
        metrics=metrics.true_positive_rate,
        y_true=data["truth"],
        y_pred=data["predicted"],
        sensitive_features=group.as_sensitive_feature(data),
    )
    named = ald.audit(data, prediction="predicted", truth="truth", notion="equal opportunity", search="none",
                      named_groups=str(group.criterion)).named_groups[0]  # fmt: skip
    assert frame.by_group[str(group.criterion)] == pytest.approx(named.rates_inside["tpr"])
    assert frame.by_group["everyone else"] == pytest.approx(named.rates_outside["tpr"])


def test_threshold_optimizer_evens_out_the_located_group() -> None:
    """Thresholds by the located group bring the gap in true positive rates down on fresh rows."""
    data, group = located()

    # A model that has learnt the decisions as they were made, the disparity included.
    data["older women"] = ((data["sex"] == "f") & (data["age"] > 45)).astype(int)
    columns = ["score", "older women"]
    fitted, fresh = data.iloc[:3000], data.iloc[3000:]
    optimizer = postprocessing.ThresholdOptimizer(
        estimator=LogisticRegression().fit(fitted[columns], fitted["predicted"]),
        constraints="true_positive_rate_parity",
        prefit=True,
        predict_method="predict_proba",
    )
    optimizer.fit(fitted[columns], fitted["truth"], sensitive_features=group.as_sensitive_feature(fitted))
    evened = optimizer.predict(fresh[columns], sensitive_features=group.as_sensitive_feature(fresh), random_state=0)

    def gap(predicted: np.ndarray) -> float:
        asked = {"prediction": "p", "truth": "truth", "notion": "equal opportunity", "search": "none"}
        table = fresh.assign(p=predicted)
        return abs(ald.audit(table, named_groups=str(group.criterion), **asked).named_groups[0].psi or 0.0)

    assert gap(fresh["predicted"].to_numpy()) > 0.2
    assert gap(evened) < 0.1


def test_the_page_of_mitigation_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Locating, mitigating with Fairlearn and auditing again on fresh rows of Adult give what the page says."""
    monkeypatch.setenv("ALD_DATA", str(public_data("adult.csv").parent))
    text = "\n".join(line for line in PAGE.read_text("utf-8").splitlines() if not line.startswith("```"))
    test = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    report: list[str] = []
    result = doctest.DocTestRunner().run(test, out=report.append)
    assert result.attempted > 25
    assert result.failed == 0, "".join(report)
