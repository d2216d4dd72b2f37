"""What the package promises."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import ald

PUBLIC = {
    "NOTIONS", "AldError", "Audit", "AuditConfig", "ColumnError", "Comparison", "Criterion", "CriterionError",
    "Finding", "Given", "InputError", "Interval", "Levels", "Look", "Notion", "Rate", "Search", "SettingError",
    "Source", "Split", "SurveyWeights", "Watch", "__version__", "audit", "audit_model", "compare", "datasets",
    "log_audit", "look", "profile", "source", "verify", "watch",
}  # fmt: skip


def test_public_names() -> None:
    """The public names are these; a new one is a decision."""
    assert set(ald.__all__) == PUBLIC
    assert dir(ald) == sorted(PUBLIC)


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_public_names_can_be_used(name: str) -> None:
    """Every public name leads to something, with words about it where it is a function or class."""
    value = getattr(ald, name)
    if inspect.isclass(value) or inspect.isfunction(value):
        assert inspect.getdoc(value)
    else:
        assert value


def test_unknown_names() -> None:
    """Any other name is an AttributeError, as of any module."""
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        ald.nothing  # noqa: B018


def test_importing_is_light() -> None:
    """Importing the package imports neither NumPy nor any DataFrame library."""
    code = "import sys, ald; print([m for m in ('numpy', 'scipy', 'pandas', 'duckdb', 'narwhals') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
