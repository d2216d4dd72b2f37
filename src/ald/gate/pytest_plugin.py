"""The fixture `ald_check` of pytest: data must pass a check of the policy, or settings given in the call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def ald_check(pytestconfig: pytest.Config) -> Callable[..., Any]:
    """`ald_check(data, check="NAME")` fails the test unless the data passes that check of the project's policy.

    Settings of the call, such as outcome="approved" and limit=0.05, add to those of the check, or stand alone. The
    verdict is returned.
    """

    def run(data: Any, check: str | None = None, **settings: Any) -> Any:
        from ald.gate.rendering import to_text
        from ald.gate.running import judge_data

        verdict = judge_data(data, check, settings, pytestconfig.rootpath)
        if verdict.verdict != "pass":
            pytest.fail(to_text([verdict]), pytrace=False)
        return verdict

    return run
