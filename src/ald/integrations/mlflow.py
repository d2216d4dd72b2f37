"""Audits in MLflow: numbers as metrics, the report and the document as artifacts of the active run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ald.errors import SettingError

if TYPE_CHECKING:
    from ald.results.audit import Audit


def log_audit(audit: Audit, name: str = "audit") -> None:
    """Logs an audit to MLflow's active run.

    Metrics begin with `name` and are those of `metrics_of`; the artifacts are `name`.html and `name`.json.

    >>> import ald
    >>> audit = ald.audit(ald.datasets.load_berkeley(), outcome="admitted", favourable="yes")
    >>> metrics_of(audit, "audit")["audit.groups_listed"]
    3.0
    """
    mlflow = _mlflow()
    if mlflow.active_run() is None:
        raise SettingError("there is no active run to log to: with mlflow.start_run(): ald.log_audit(audit)")
    mlflow.log_metrics(metrics_of(audit, name))
    mlflow.log_text(audit.to_html(), f"{name}.html")
    mlflow.log_text(audit.to_json(), f"{name}.json")


def metrics_of(audit: Audit, name: str) -> dict[str, float]:
    """The numbers of an audit that are worth a curve: what is undefined is left out."""
    found: dict[str, float | None] = {
        "people": float(audit.data_summary.rows),
        "groups_tested": float(audit.n_tested),
        "groups_significant": float(len(audit.significant)),
        "groups_listed": float(len(audit.groups)),
        "p_any": audit.p_any,
        "largest_disparity": max((abs(group.psi) for group in audit.groups if group.psi is not None), default=None),
    }
    for rank, group in enumerate(audit.groups, 1):
        found |= {
            f"group_{rank}.disparity": group.psi,
            f"group_{rank}.low": group.interval[0],
            f"group_{rank}.high": group.interval[1],
            f"group_{rank}.p_adjusted": group.p_adjusted,
            f"group_{rank}.share": group.share,
        }
    for number, group in enumerate(audit.named_groups, 1):
        found |= {f"named_{number}.disparity": group.psi, f"named_{number}.p_adjusted": group.p_adjusted}
    return {f"{name}.{key}": value for key, value in found.items() if value is not None}


def _mlflow() -> Any:
    try:
        import mlflow
    except ModuleNotFoundError:
        raise SettingError("logging to MLflow needs the package: pip install mlflow-skinny") from None
    return mlflow
