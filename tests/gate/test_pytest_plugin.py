"""The fixture, in a test run of its own."""

from __future__ import annotations

import importlib
import tomllib
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

TESTS = """
import numpy as np
import pandas as pd

def decisions(n, gap):
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], n)
    approved = rng.random(n) < np.where(sex == "f", 0.5 - gap, 0.5)
    return pd.DataFrame({"sex": sex, "approved": approved.astype(int)})

def test_even(ald_check):
    verdict = ald_check(decisions(4000, 0.0), outcome="approved", limit=0.35, share=0.45)
    assert verdict.verdict == "pass"

def test_uneven(ald_check):
    ald_check(decisions(2000, 0.3), check="approvals")

def test_small(ald_check):
    ald_check(decisions(100, 0.0), check="approvals")
"""


def test_pytest_finds_the_plugin() -> None:
    """The package declares the plugin to pytest: who installs it has the fixture."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))["project"]
    assert hasattr(importlib.import_module(project["entry-points"]["pytest11"]["ald"]), "ald_check")


def test_the_fixture_fails_tests_with_the_table(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even data passes; a disparity and too little data fail, and the failure shows the groups."""
    pytester.makepyfile(TESTS)
    pytester.makepyprojecttoml(
        '[tool.ald.checks.approvals]\ndata = "none.csv"\noutcome = "approved"\nlimit = 0.05\n'
        '[tool.pytest.ini_options]\naddopts = "-p no:cacheprovider"\n'
    )
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    result = pytester.runpytest_subprocess("-p", "ald.gate.pytest_plugin")
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["FAIL  approvals", "*sex = f*exceeds the limit*", "NOT ENOUGH EVIDENCE  approvals"])
