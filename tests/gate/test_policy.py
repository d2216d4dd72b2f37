"""The policy: what a check may say, and where it is found."""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from ald.errors import InputError, SettingError
from ald.gate.policy import Accepted, make_check, read_policy

POLICY = """
[checks.approvals]
data = "decisions.csv"
outcome = "approved"
favourable = "yes"
limit = 0.05
share = 0.1

[[checks.approvals.accept]]
group = "department = A"
reason = "women were favoured there, on purpose"
until = 2027-01-31
"""


def write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text, "utf-8")
    return str(folder / name)


def test_a_policy_has_named_checks(tmp_path: Path) -> None:
    """A check has data (a path beside the policy), a limit, a share, options, and accepted groups."""
    (check,) = read_policy(write(tmp_path, "ald.toml", POLICY)).values()
    assert (check.name, check.limit, check.share, check.level) == ("approvals", 0.05, 0.1, 0.05)
    assert check.data == str(tmp_path / "decisions.csv")
    assert check.options == {"outcome": "approved", "favourable": "yes"}
    assert check.accept == (
        Accepted(group="department = A", reason="women were favoured there, on purpose", until=date(2027, 1, 31)),
    )


def test_a_policy_may_be_part_of_pyproject(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a name ald.toml is read, or else pyproject.toml's [tool.ald], in the current folder."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="there is no policy here"):
        read_policy()
    write(tmp_path, "pyproject.toml", '[tool.ald.checks.a]\ndata = "a.csv"\noutcome = "y"\nlimit = 0.1\n')
    assert list(read_policy()) == ["a"]
    write(tmp_path, "ald.toml", POLICY)
    assert list(read_policy()) == ["approvals"]


def test_an_acceptance_ends() -> None:
    """The last day still counts."""
    accepted = Accepted(group="a = b", reason="known", until=date(2026, 12, 31))
    assert accepted.holds(date(2026, 12, 31))
    assert not accepted.holds(date(2027, 1, 1))


@pytest.mark.parametrize("address", ["postgresql://ann@db.example/loans", "/data/decisions.csv"])
def test_addresses_and_whole_paths_stay_as_they_are(address: str, tmp_path: Path) -> None:
    """Only a relative path begins at the policy's folder."""
    check = make_check("a", {"data": address, "outcome": "y", "limit": 0.1}, tmp_path)
    assert check.data == address


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({}, "does not say its data"),
        ({"data": "a.csv"}, "does not say its limit: limit = 0.05 accepts 5 points"),
        ({"data": "a.csv", "limit": 5}, "limit of .* must be a number between 0 and 1, not 5"),
        ({"data": "a.csv", "limit": True}, "limit of .* must be a number between 0 and 1"),
        ({"data": "a.csv", "limit": 0.1, "share": 0}, "share of .* must be a number between 0 and 1"),
        ({"data": "a.csv", "limit": 0.1, "outcom": "y"}, "unknown option 'outcom'. Did you mean 'outcome'"),
        ({"data": "a.csv", "limit": 0.1, "seed": "one"}, "option 'seed' .* must be of type int, not 'one'"),
        ({"data": "a.csv", "limit": 0.1, "threshold": 0.1}, "the limit of a check says how large"),
        ({"data": "a.csv", "limit": 0.1, "search": "none"}, "a check looks for groups itself"),
        ({"data": "a.csv", "limit": 0.1, "cluster": "id"}, "not simulated for clusters"),
        ({"data": "a.csv", "limit": 0.1, "accept": {"group": "a"}}, "must be a list of tables"),
        ({"data": "a.csv", "limit": 0.1, "accept": [{"group": "a = b"}]}, "has a group, a reason and until"),
        (
            {"data": "a.csv", "limit": 0.1, "accept": [{"group": "a = b", "reason": "r", "until": "soon"}]},
            "until as a date such as 2027-01-31",
        ),
        (
            {"data": "a.csv", "limit": 0.1, "accept": [{"group": "a = b", "reason": " ", "until": "2027-01-31"}]},
            "needs group and reason as text",
        ),
        ("a.csv", "must be a table of settings"),
    ],
)
def test_what_is_no_check(entry: Any, message: str) -> None:
    """What is missing, unknown or of another kind is named, with what is expected."""
    with pytest.raises(SettingError, match=message):
        make_check("a", entry)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("checks = [", "is not valid TOML"),
        ("[checks]\n", "has no checks"),
        ("[check.a]\n", "unknown key 'check'. Did you mean 'checks'"),
    ],
)
def test_files_that_are_no_policy(text: str, message: str, tmp_path: Path) -> None:
    """A broken file, one without checks and one with other keys are refused by name."""
    with pytest.raises((InputError, SettingError), match=message):
        read_policy(write(tmp_path, "ald.toml", text))
    with pytest.raises(InputError, match="there is no policy"):
        read_policy(os.fspath(tmp_path / "none.toml"))
