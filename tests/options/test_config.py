"""The checked settings of an audit."""

from __future__ import annotations

from typing import Any

import pytest

from ald.errors import SettingError
from ald.options import AuditConfig
from ald.options.config import several


def config(**options: Any) -> AuditConfig:
    return AuditConfig(**{"notion": "statistical parity", "outcome": "y"} | options)


@pytest.mark.parametrize(
    ("search", "searches", "explores", "system"),
    [
        ("default", True, True, None),
        ("leaves", True, False, None),
        ("paper", True, False, None),
        ("none", False, False, None),
        ("subset-scan", True, False, "subset-scan"),
        ("fliptest:sex", True, False, "fliptest:sex"),
    ],
)
def test_what_a_search_means(search: str, searches: bool, explores: bool, system: str | None) -> None:
    """One word says whether anything is searched, whether by exploring, and by which other system."""
    made = config(search=search, named_groups="sex = F")
    assert (made.searches, made.explores, made.system) == (searches, explores, system)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"search": "paperr"}, "unknown search 'paperr'. Did you mean 'paper'"),
        ({"search": "subset"}, "Did you mean 'subset-scan'"),
        ({"search": None}, "search must be a text, not None"),
        ({"search": "none"}, "name at least one group"),
        ({"search": "none", "named_groups": "sex = F", "trees": 3}, "the option 'trees' has no effect"),
        ({"search": "none", "named_groups": "sex = F", "split": "half"}, "the option 'split' has no effect"),
        ({"search": "cart", "outcome": ["y", "z"]}, "answers one question"),
        ({"given_bins": 3}, "no factor is given"),
        ({"given_in_criteria": True}, "no factor is given"),
        ({"split": "half", "repeats": 2}, "repeats are random splits"),
        ({"reference": 3}, "a group in words"),
    ],
)
def test_settings_that_are_refused(options: dict[str, Any], problem: str) -> None:
    """What makes no sense, by itself or together, is refused."""
    with pytest.raises(SettingError, match=problem):
        config(**options)


def test_one_or_several() -> None:
    """One value, several or none are a tuple."""
    assert [several(value) for value in (None, "a", ["a", "b"], 3)] == [(), ("a",), ("a", "b"), (3,)]


def test_our_searches_load_no_other_system() -> None:
    """The other systems are loaded only when one of them is asked for."""
    import subprocess
    import sys

    code = """
import sys, ald
ald.audit(ald.datasets.load_berkeley(), outcome="admitted", favourable="yes")
print([name for name in sys.modules if name.startswith("ald.baselines")])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
