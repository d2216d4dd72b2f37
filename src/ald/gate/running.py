"""Runs checks: those of a policy, or one of data at hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ald.errors import SettingError, nearest
from ald.gate.policy import FILES, Check, make_check, read_policy
from ald.gate.verdict import Verdict, judge
from ald.report.identity import today


def run_checks(
    policy: str | None, names: Sequence[str] = (), progress: Callable[[str, float], None] | None = None
) -> list[Verdict]:
    """The verdicts of a policy's checks, or of some of them."""
    checks = read_policy(policy)
    return [judge(named(checks, name), today=today(), progress=progress) for name in names or checks]


def named(checks: Mapping[str, Check], name: str) -> Check:
    """The check of that name."""
    if name not in checks:
        raise SettingError(f"the policy has no check {name!r}. {nearest(name, checks)}")
    return checks[name]


def judge_data(data: Any, name: str | None, settings: Mapping[str, Any], folder: Path) -> Verdict:
    """The verdict of data at hand: by a check of the policy in a folder, by settings, or by both."""
    if name is None:
        return judge(make_check("data", {**settings, "data": data}), today=today())
    place = next((str(folder / file) for file in FILES if (folder / file).is_file()), None)
    check = named(read_policy(place), name)
    own = {"limit": check.limit, "share": check.share, **check.options, **settings, "data": data}
    made = make_check(name, own)
    return judge(made if "accept" in settings else replace(made, accept=check.accept), today=today())
