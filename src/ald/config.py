"""What an audit was asked to do, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ald.baselines import get_system
from ald.errors import SettingError, nearest
from ald.notions import Notion, get_notion
from ald.ranking import RANKINGS
from ald.statistics import ADJUSTMENTS

PRESETS = ("paper",)


@dataclass(frozen=True, kw_only=True)
class AuditConfig:
    """The settings of an audit that decide its result. Number of threads and the like are not among them."""

    notion: Notion
    outcome: str | None = None
    favourable: str | None = None
    prediction: str | None = None
    truth: str | None = None
    ranking: str = "confidence"
    groups: int = 3
    trees: int = 25
    alpha: float = 0.1
    level: float = 0.05
    adjust: str = "bh"
    preset: str | None = None
    method: str | None = None
    explore: bool = True
    threshold: float = 0.0
    repeats: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "notion", get_notion(self.notion))
        _choice("ranking", self.ranking, RANKINGS)
        _choice("adjust", self.adjust, ADJUSTMENTS)
        if self.preset is not None:
            _choice("preset", self.preset, PRESETS)
        if self.method is not None:
            get_system(self.method)
            if self.preset is not None:
                raise SettingError("give either preset or method: each of them says how to search")
        _whole("groups", self.groups, 1)
        _whole("trees", self.trees, 1)
        _whole("seed", self.seed, 0)
        _whole("repeats", self.repeats, 1)
        if (
            isinstance(self.threshold, bool)
            or not isinstance(self.threshold, (int, float))
            or not 0 <= self.threshold < 1
        ):
            raise SettingError(f"threshold must be from 0 on and below 1, not {self.threshold!r}")
        _share("alpha", self.alpha)
        _share("level", self.level)
        if self.notion.needs_truth and self.outcome is not None:
            raise SettingError(
                f"the notion {self.notion.name!r} compares predictions with the truth: give prediction=... and "
                "truth=... instead of outcome=..., or use the notion 'statistical parity'"
            )

        if not isinstance(self.explore, bool):
            raise SettingError(f"explore must be true or false, not {self.explore!r}")

    @property
    def explores(self) -> bool:
        """Whether the list is one without repetition, found by exploring; the paper's search never is."""
        return self.explore and self.preset is None and self.method is None


def check_threads(threads: int | None) -> None:
    """Raises if this is not a number of threads."""
    if threads is not None:
        _whole("threads", threads, 1)


def _choice(name: str, value: Any, choices: Any) -> None:
    if value not in choices:
        raise SettingError(f"unknown {name} {value!r}. {nearest(str(value), choices)}")


def _whole(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise SettingError(f"{name} must be a whole number from {least} on, not {value!r}")


def _share(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 1:
        raise SettingError(f"{name} must be above 0 and at most 1, not {value!r}")
