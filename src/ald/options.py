"""What an audit was asked to do, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ald.baselines import get_system
from ald.errors import SettingError, nearest
from ald.notions import Notion, get_notion
from ald.statistics.basics import ADJUSTMENTS

RANKINGS = ("confidence", "magnitude")
PRESETS = ("paper",)
DIRECTIONS = {"disadvantaged": -1, "both": 0, "advantaged": 1}


@dataclass(frozen=True, kw_only=True)
class AuditConfig:
    """The settings of an audit that decide its result. Number of threads and the like are not among them.

    Several notions or outcomes are tuples; `favourable` is one value for all outcomes, or a tuple of one each, in which
    None was not said. `reference` and `groups_of_interest` are groups in words. `split` is
    "random", the name of a column, or "own" where two data sets were given.
    """

    notion: Notion | tuple[Notion, ...]
    outcome: str | tuple[str, ...] | None = None
    favourable: str | tuple[str | None, ...] | None = None
    prediction: str | None = None
    truth: str | None = None
    given: tuple[str, ...] = ()
    given_in_criteria: bool = False
    given_bins: int | None = None
    cluster: str | None = None
    survey_weights: str | None = None
    split: str = "random"
    fraction: float = 0.5
    direction: str = "both"
    reference: str = "rest"
    groups_of_interest: tuple[str, ...] = ()
    search: bool = True
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
        notions = tuple(get_notion(notion) for notion in several(self.notion))
        if not notions:
            raise SettingError("name at least one notion")
        if len({notion.name for notion in notions}) < len(notions):
            raise SettingError(f"a notion is named twice: {', '.join(notion.name for notion in notions)}")
        outcomes = several(self.outcome)
        self._set("notion", notions[0] if len(notions) == 1 else notions)
        self._set("outcome", None if not outcomes else outcomes[0] if len(outcomes) == 1 else outcomes)
        if isinstance(self.favourable, tuple):
            if not outcomes or len(self.favourable) != len(outcomes):
                raise SettingError("favourable by name is for outcomes; of a prediction and its truth it is one value")
            self._set("favourable", self.favourable[0] if len(outcomes) == 1 else self.favourable)
        self._set("given", several(self.given))
        self._set("groups_of_interest", several(self.groups_of_interest))
        _choice("ranking", self.ranking, RANKINGS)
        _choice("adjust", self.adjust, ADJUSTMENTS)
        _choice("direction", self.direction, tuple(DIRECTIONS))
        if not isinstance(self.reference, str):
            raise SettingError(
                f'reference must be "rest", "all" or a group in words, such as "sex = F", not {self.reference!r}'
            )
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
        if self.given_bins is not None:
            _whole("given_bins", self.given_bins, 2)
        if (
            isinstance(self.threshold, bool)
            or not isinstance(self.threshold, (int, float))
            or not 0 <= self.threshold < 1
        ):
            raise SettingError(f"threshold must be from 0 on and below 1, not {self.threshold!r}")
        _share("alpha", self.alpha)
        _share("level", self.level)
        _share("fraction", self.fraction)
        for name in ("explore", "given_in_criteria", "search"):
            if not isinstance(getattr(self, name), bool):
                raise SettingError(f"{name} must be true or false, not {getattr(self, name)!r}")
        self._check_together()

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _check_together(self) -> None:
        """Raises where settings do not go together."""
        for notion in self.notions:
            if notion.needs_truth and self.outcomes:
                raise SettingError(
                    f"the notion {notion.name!r} compares predictions with the truth: give prediction=... and "
                    "truth=... instead of outcome=..., or use the notion 'statistical parity'"
                )
            if self.threshold > 0 and self.direction != "both" and len(notion.rates) > 1:
                raise SettingError(
                    f"a threshold together with a direction needs a notion of one rate; {notion.name!r} has "
                    f"{len(notion.rates)}"
                )
        if self.threshold > 0 and self.reference == "all":
            raise SettingError(
                "a threshold is for differences from everyone else or from a reference group, not from all"
            )
        if self.given_bins is not None and not self.given:
            raise SettingError("given_bins says how numbers among given=... are cut, but nothing is given")
        if self.given_in_criteria and not self.given:
            raise SettingError("given_in_criteria says that given=... may describe groups, but nothing is given")
        if self.fraction == 1:
            raise SettingError("fraction must be below 1: what the search does not see tests what it finds")
        if self.split != "random" and self.repeats > 1:
            raise SettingError("repeats are random halvings; with a split of your own there is one only")
        if self.split != "random" and self.fraction != 0.5:
            raise SettingError("fraction is for random halves; a split of your own says itself who is in which")
        if self.method is not None and len(self.notions) * max(len(self.outcomes), 1) > 1:
            raise SettingError("another system's search answers one question: give one notion and one outcome")
        if not self.search and not self.groups_of_interest:
            raise SettingError('name at least one group to test, such as "sex = F and age > 60"')

    @property
    def notions(self) -> tuple[Notion, ...]:
        return self.notion if isinstance(self.notion, tuple) else (self.notion,)

    @property
    def outcomes(self) -> tuple[str, ...]:
        return () if self.outcome is None else self.outcome if isinstance(self.outcome, tuple) else (self.outcome,)

    @property
    def outcome_columns(self) -> tuple[str, ...]:
        """The outcomes, or the prediction and the truth."""
        return self.outcomes or tuple(name for name in (self.prediction, self.truth) if name is not None)

    def favourable_of(self, outcome: str | None = None) -> str | None:
        """The favourable value of an outcome, or of predictions and truth; None if nobody said it."""
        if isinstance(self.favourable, tuple):
            return self.favourable[self.outcomes.index(outcome or self.outcomes[0])]
        return self.favourable

    @property
    def sign(self) -> int:
        """The direction as a number: -1 disadvantaged, 0 both, 1 advantaged."""
        return DIRECTIONS[self.direction]

    @property
    def reference_kind(self) -> str:
        """Compared with whom: "rest", "all", or "group" for a group in words."""
        return self.reference if self.reference in ("rest", "all") else "group"

    @property
    def explores(self) -> bool:
        """Whether the list is one without repetition, found by exploring; the paper's search never is."""
        return self.explore and self.preset is None and self.method is None


def several(value: Any) -> tuple[Any, ...]:
    """One value or a sequence of them as a tuple; None is nothing."""
    if value is None:
        return ()
    return tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else (value,)


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
