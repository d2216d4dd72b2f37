"""Which checks run, and on which day."""

from __future__ import annotations

from pathlib import Path

import pytest

from ald.errors import SettingError
from ald.gate.running import judge_data, run_checks
from tests.gate.people import decisions


def test_all_checks_run_or_those_that_are_named(tmp_path: Path) -> None:
    """Without names every check runs, in the order of the policy; an unknown name is refused with the nearest."""
    decisions(400, 0.4).to_csv(tmp_path / "a.csv", index=False)
    check = 'data = "a.csv"\noutcome = "approved"\nlimit = 0.05\n'
    (tmp_path / "ald.toml").write_text(f"[checks.one]\n{check}[checks.two]\n{check}", "utf-8")
    policy = str(tmp_path / "ald.toml")
    assert [verdict.check.name for verdict in run_checks(policy)] == ["one", "two"]
    assert [verdict.check.name for verdict in run_checks(policy, ["two"])] == ["two"]
    with pytest.raises(SettingError, match=r"no check 'tow'\. Did you mean 'two'"):
        run_checks(policy, ["tow"])


def test_data_at_hand_may_take_a_check_of_the_policy(tmp_path: Path) -> None:
    """Settings of the call win over those of the check, which needs no data then."""
    text = '[checks.a]\ndata = "none.csv"\noutcome = "approved"\nlimit = 0.05\n'
    (tmp_path / "ald.toml").write_text(text, "utf-8")
    data = decisions(2000, 0.3)
    assert judge_data(data, "a", {}, tmp_path).verdict == "fail"
    assert judge_data(data, "a", {"limit": 0.6}, tmp_path).verdict != "fail"
    assert judge_data(data, None, {"outcome": "approved", "limit": 0.05}, tmp_path).verdict == "fail"
