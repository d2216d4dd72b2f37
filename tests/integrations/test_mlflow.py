"""Audits in MLflow."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import ald
from ald.errors import SettingError
from ald.integrations.mlflow import metrics_of


def audit() -> ald.Audit:
    options = {"outcome": "admitted", "favourable": "yes", "named_groups": "gender = female"}
    return ald.audit(ald.datasets.load_berkeley(), **options)


def test_metrics_are_numbers_of_the_audit() -> None:
    """What is worth a curve is there by name; nothing that is undefined."""
    found = audit()
    metrics = metrics_of(found, "fair")
    assert metrics["fair.groups_listed"] == len(found.groups)
    assert metrics["fair.group_1.disparity"] == found.groups[0].psi
    assert metrics["fair.named_1.disparity"] == found.named_groups[0].psi
    assert metrics["fair.largest_disparity"] == max(abs(group.psi or 0.0) for group in found.groups)
    assert all(isinstance(value, float) for value in metrics.values())


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to install."""
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(SettingError, match="pip install mlflow-skinny"):
        ald.log_audit(audit())


# MLflow uses what SQLAlchemy is about to drop.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_run_has_metrics_and_artifacts(tmp_path: Path) -> None:
    """The active run of a real store gets the metrics, the page and the document; without a run there is an error."""
    mlflow = pytest.importorskip("mlflow", reason="make test-integrations installs MLflow")
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'runs.db'}")
    mlflow.create_experiment("audits", artifact_location=(tmp_path / "artifacts").as_uri())
    mlflow.set_experiment("audits")
    found = audit()
    with pytest.raises(SettingError, match="no active run"):
        ald.log_audit(found)
    with mlflow.start_run() as run:
        ald.log_audit(found, "fair")
    logged = mlflow.get_run(run.info.run_id).data.metrics
    assert logged == pytest.approx(metrics_of(found, "fair"))
    (page,) = (tmp_path / "artifacts").rglob("fair.html")
    assert page.read_text("utf-8") == found.to_html()
    (document,) = (tmp_path / "artifacts").rglob("fair.json")
    assert json.loads(document.read_text("utf-8")) == found.to_dict()
