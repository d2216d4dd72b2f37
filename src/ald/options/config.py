"""What an audit was asked to do, checked."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from ald.errors import SettingError, nearest, shown
from ald.options.table import AUDIT_OPTIONS, DIRECTIONS, SEARCHES, SPLITS, several

if TYPE_CHECKING:
    from ald.notions import Mean, Notion


@dataclass(frozen=True, kw_only=True)
class AuditConfig:
    """The settings of an audit that decide its result. Number of threads and the like are not among them.

    Several notions or outcomes are tuples; `favourable` is one value for all outcomes, or a tuple of one each, in which
    None was not said. `reference` and `named_groups` are groups in words. `split` is "random", "none" where everyone is
    searched and tested, "auto" where settings and data decide, the name of a column, or "own" where two data sets were
    given.
    `search` is one of `SEARCHES`, or the name of another system. `classes` are those of an outcome, or of a prediction
    and the truth, that has more than two values: they are audited one by one. The data says what they are.
    """

    outcome: str | tuple[str, ...] | None = None
    favourable: str | tuple[str | None, ...] | None = None
    prediction: str | None = None
    truth: str | None = None
    score: str | None = None
    notion: Notion | tuple[Notion, ...]
    given: tuple[str, ...] = ()
    given_bins: int | None = None
    given_in_criteria: bool = False
    reference: str = "rest"
    direction: str = "both"
    threshold: float = 0.0
    named_groups: tuple[str, ...] = ()
    survey_weights: str | None = None
    cluster: str | None = None
    split: str = "auto"
    fraction: float = 0.5
    repeats: int = 1
    search: str = "default"
    trees: int = 25
    alpha: float = 0.1
    groups: int = 3
    ranking: str = "confidence"
    level: float = 0.05
    adjust: str = "bh"
    min_group_size: int = 10
    seed: int = 0
    classes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        from ald.notions import get_notion  # with NumPy, which the help of the command does without

        notions = self._of_score(tuple(get_notion(notion) for notion in several(self.notion)))
        if not notions:
            raise SettingError("name at least one notion")
        if len({notion.name for notion in notions}) < len(notions):
            raise SettingError(f"a notion is named twice: {', '.join(notion.name for notion in notions)}")
        outcomes = several(self.outcome)
        self._set("notion", notions[0] if len(notions) == 1 else notions)
        self._set("outcome", None if not outcomes else outcomes[0] if len(outcomes) == 1 else outcomes)
        if isinstance(self.favourable, tuple):
            if not outcomes or len(self.favourable) != len(outcomes):
                raise SettingError(
                    "favourable takes names of columns only for outcomes; for a prediction and truth, give one value"
                )
            self._set("favourable", self.favourable[0] if len(outcomes) == 1 else self.favourable)
        self._set("given", several(self.given))
        self._set("named_groups", several(self.named_groups))
        if not isinstance(self.reference, str):
            raise SettingError(
                f'reference must be "rest", "all" or a group in words, such as "sex = F", not {shown(self.reference)}'
            )
        for field in fields(self):
            if field.name not in AUDIT_OPTIONS:
                continue
            value, option = getattr(self, field.name), AUDIT_OPTIONS[field.name]
            if value is not None or option.default is not None:
                option.check(value)
        if self.search not in SEARCHES:
            _check_system(self.search)
        self._check_together()

    def _of_score(self, notions: tuple[Notion, ...]) -> tuple[Notion, ...]:
        """The notions, of a score those that go with it: by default calibration, without a truth the mean score."""
        from ald.notions import SCORE_NOTIONS, Mean

        of_score = [notion for notion in notions if isinstance(notion.rates[0], Mean) and notion.rates[0].of_score]
        if self.score is None:
            if of_score:
                raise SettingError(
                    f"the notion {of_score[0].name!r} is about scores: name their column (score=..., command line: "
                    "--score)"
                )
            return notions
        if notions == (get_default_notion(),):
            return (SCORE_NOTIONS["mean score" if self.truth is None else "calibration"],)
        if len(notions) != 1 or not of_score:
            raise SettingError(
                "a score is audited by one notion: "
                f"{', '.join(map(repr, SCORE_NOTIONS))}. For rates, give a prediction instead, such as the score cut "
                "in two: prediction=..., favourable='>= 0.5'"
            )
        if of_score[0].needs_truth and self.truth is None:
            raise SettingError(f"the notion {of_score[0].name!r} compares scores with the truth: give truth=..., too")
        return notions

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
                "a threshold works with differences from everyone else or from a reference group, not from all"
            )
        if self.given_bins is not None and not self.given:
            raise SettingError("given_bins says how numbers among given=... are cut, but no factor is given")
        if self.given_in_criteria and not self.given:
            raise SettingError("given_in_criteria says that given=... may describe groups, but no factor is given")
        if self.split == "none":
            self._check_everyone()
        if self.has_own_split and self.repeats > 1:
            raise SettingError("repeats are random splits, and a split of your own is only one")
        if self.has_own_split and self.fraction != 0.5:
            raise SettingError("fraction is for random halves; your own split already says who is in which half")
        if self.system is not None and len(self.notions) * max(len(self.outcomes), 1) > 1:
            raise SettingError(
                "another system's search answers one question at a time: give one notion and one outcome"
            )
        if not self.searches:
            self._check_nothing_searched()

    def _check_everyone(self) -> None:
        """Raises where something was asked for that needs two halves."""
        if self.searches and self.why_halves:
            raise SettingError(
                f"split='none' searches and tests everyone, but {self.why_halves}, which needs two halves: leave split "
                "out, or say split='random'"
            )

    def _check_nothing_searched(self) -> None:
        """Raises where named groups are missing, or the search that there is none of is described."""
        if not self.named_groups:
            raise SettingError(
                "search='none' tests the named groups only: name at least one group, such as "
                'named_groups="sex = F and age > 60"'
            )
        for key, option in AUDIT_OPTIONS.items():
            if option.part == "search" and key not in ("search", "seed") and getattr(self, key) != option.default:
                raise SettingError(
                    f"search='none' searches nothing, so that the option {key!r} has no effect: leave it out"
                )

    @property
    def notions(self) -> tuple[Notion, ...]:
        return self.notion if isinstance(self.notion, tuple) else (self.notion,)

    @property
    def outcomes(self) -> tuple[str, ...]:
        return () if self.outcome is None else self.outcome if isinstance(self.outcome, tuple) else (self.outcome,)

    @property
    def asked_outcomes(self) -> tuple[str, ...]:
        """What is audited one by one: classes, or outcomes."""
        return self.classes or self.outcomes

    @property
    def outcome_columns(self) -> tuple[str, ...]:
        """The outcomes, or the prediction or score and the truth."""
        return self.outcomes or tuple(name for name in (self.prediction, self.score, self.truth) if name is not None)

    def favourable_of(self, outcome: str | None = None) -> str | None:
        """The favourable value of an outcome, or of predictions and truth; None if nobody said it."""
        if isinstance(self.favourable, tuple):
            return self.favourable[self.outcomes.index(outcome or self.outcomes[0])]
        return self.favourable

    @property
    def mean(self) -> Mean | None:
        """What is asked of an outcome that is a number; None of yes and no."""
        from ald.notions import Mean

        rate = self.notions[0].rates[0]
        return rate if isinstance(rate, Mean) else None

    def of_amounts(self, mean: Mean | None) -> AuditConfig:
        """The settings, once it is known whether the outcome is a number; what does not go with that is refused."""
        if mean is None:
            if self.threshold >= 1:
                raise SettingError(f"threshold must be from 0 on and below 1, not {shown(self.threshold)}")
            return self
        if self.score is None and self.notions != (get_default_notion(),):
            raise SettingError(
                f"outcome {self.outcomes[0]!r} is a number: its mean is compared, and no notion "
                f"({self.notions[0].name!r}) is chosen for it. Leave the notion out, or say where the number is "
                "favourable, such as favourable='>= NUMBER'."
            )
        name = f"{'outcome' if self.score is None else 'score'} {self.outcome_columns[0]!r}"
        if self.system is not None:
            raise SettingError(
                f"{name} is a number with more than two values, and search={self.search!r} looks at yes and "
                "no only. Leave the search out to audit how much it is, or say where it is favourable, such as "
                "favourable='>= NUMBER'."
            )
        if self.split == "none":
            raise SettingError(
                f"{name} is a number, and split='none' shuffles yes and no only: amounts are searched in one "
                "half and tested in the other. Leave the split out, or say where the number is favourable, such as "
                "favourable='>= NUMBER'."
            )
        return replace(
            self, notion=mean_notion(mean) if self.score is None else replace(self.notions[0], rates=(mean,))
        )

    @property
    def sign(self) -> int:
        """The direction as a number: -1 disadvantaged, 0 both, 1 advantaged."""
        return DIRECTIONS[self.direction]

    @property
    def has_own_split(self) -> bool:
        """Whether the data says who is searched and who tests."""
        return self.split not in SPLITS

    @property
    def draws_halves(self) -> bool:
        """Whether people are split at random, whatever the data is."""
        return self.searches and (self.split == "random" or (self.split == "auto" and bool(self.why_halves)))

    @property
    def why_halves(self) -> str:
        """What of the settings people must be split for, in words; empty if there is nothing."""
        asked = {
            "the outcome is a number": self.mean is not None,
            "cluster is given": self.cluster is not None,
            "survey_weights are given": self.survey_weights is not None,
            "a threshold is given": self.threshold > 0,
            "a reference is given": self.reference != "rest",
            "fraction says how large the halves are": self.fraction != 0.5,
            "repeats are halvings": self.repeats > 1,
            "ranking is 'magnitude'": self.ranking != "confidence",
            f"search is {self.search!r}": self.search != "default",
            "trees say how the forest grows": self.trees != AUDIT_OPTIONS["trees"].default,
            "alpha says how the forest grows": self.alpha != AUDIT_OPTIONS["alpha"].default,
        }
        return next((why for why, so in asked.items() if so), "")

    @property
    def reference_kind(self) -> str:
        """Compared with whom: "rest", "all", or "group" for a group in words."""
        return self.reference if self.reference in ("rest", "all") else "group"

    @property
    def searches(self) -> bool:
        """Whether groups are searched at all, and not only the named ones tested."""
        return self.search != "none"

    @property
    def explores(self) -> bool:
        """Whether the list is one without repetition, found by exploring."""
        return self.search == "default"

    @property
    def combines(self) -> bool:
        """Whether it is tested that attributes matter together: of independent people, against no difference at all."""
        plain = self.cluster is None and self.survey_weights is None and self.threshold == 0 and self.mean is None
        return self.explores and plain and self.reference_kind != "group"

    @property
    def system(self) -> str | None:
        """The other system that searches, if one does."""
        return None if self.search in SEARCHES else self.search


def mean_notion(mean: Mean) -> Notion:
    """What is asked of a number: that its mean is the same."""
    from ald.notions import Notion

    return Notion("equal means", (mean,), "equal mean outcomes")


def get_default_notion() -> Notion:
    """The notion of an audit that names none."""
    from ald.notions import get_notion

    return get_notion(AUDIT_OPTIONS["notion"].default)


def _check_system(name: str) -> None:
    """Raises if no other system has this name. They stand beside the product, and load when asked for."""
    systems = importlib.import_module("ald.baselines")
    if name.partition(":")[0] not in systems.SYSTEMS:
        raise SettingError(f"unknown search {shown(name)}. {nearest(name, (*SEARCHES, *systems.SYSTEMS))}")
    systems.get_system(name)
