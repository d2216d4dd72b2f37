"""Which column of the data plays which part in an audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ald.errors import SettingError, shown


@dataclass(frozen=True, kw_only=True)
class Roles:
    """Either `outcome` (one column or several), or `prediction` and `truth`, or `score` and perhaps `truth`; everything
    else is optional.

    exclude: columns to leave out. given: legitimate factors, within whose strata people are compared. cluster: who the
    row is about, where people have several rows. survey_weights: how many people of the population a row stands for.
    split: the half of every row.
    directed: groups that fare worse, or better, are asked for, so that `favourable` must say what is good for people.
    """

    outcome: str | tuple[str, ...] | None = None
    favourable: Any = None
    prediction: str | None = None
    truth: str | None = None
    score: str | None = None
    attributes: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    weights: str | None = None
    survey_weights: str | None = None
    kinds: Mapping[str, str | Sequence[str]] | None = None
    given: tuple[str, ...] = ()
    given_in_criteria: bool = False
    given_bins: int | None = None
    cluster: str | None = None
    split: str | None = None
    directed: bool = False

    def __post_init__(self) -> None:
        for role, names in self._named().items():
            for name in names:
                if not isinstance(name, str):
                    raise SettingError(f"{role} must be the name of a column (text), not {shown(name)}")
        for name in (*(self.attributes or ()), *self.exclude, *(self.kinds or {})):
            if not isinstance(name, str):
                raise SettingError(f"attributes, exclude and kinds go by names of columns (text), not {shown(name)}")
        for name, kind in (self.kinds or {}).items():
            if not isinstance(kind, (str, Sequence)):
                raise SettingError(f"the kind of column {name!r} must be a word or a list of levels, not {shown(kind)}")
        if self.outcomes and (self.prediction is not None or self.truth is not None):
            raise SettingError("give either outcome, or prediction and truth; not both")
        if self.score is not None and (self.outcomes or self.prediction is not None):
            other = "outcome" if self.outcomes else "prediction"
            raise SettingError(f"a score is audited by itself, or with the truth: leave {other} out")
        if self.score is None and not self.outcomes and self.prediction is None and self.truth is None:
            raise SettingError("name the column to audit: outcome=..., or prediction=... and truth=...")
        if self.score is None and not self.outcomes and (self.prediction is None or self.truth is None):
            missing, given = ("truth", "prediction") if self.truth is None else ("prediction", "truth")
            raise SettingError(
                f"{given} was given without {missing}. Give both, or outcome=... to audit one column by itself."
            )
        self._check_once()
        if self.kinds is not None:
            kept = {name: kind for name, kind in self.kinds.items() if name not in self.exclude}
            object.__setattr__(self, "kinds", kept)

    def _named(self) -> dict[str, tuple[Any, ...]]:
        """The columns of every role but the attributes."""
        single = ("prediction", "truth", "score", "weights", "survey_weights", "cluster", "split")
        values = {role: getattr(self, role) for role in single}
        named = {role: () if value is None else (value,) for role, value in values.items()}
        return {"outcome": self.outcomes, "given": self.given, **named}

    def _check_once(self) -> None:
        """Raises where one column has two roles."""
        seen: dict[str, str] = {}
        for role, names in self._named().items():
            for name in names:
                # Rows may be weighted and split by a factor that is also given; nothing else may coincide.
                if name in seen and {role, seen[name]} not in ({"given", "split"}, {"prediction", "truth"}):
                    twice = (
                        f"is named twice as {role}" if seen[name] == role else f"cannot be both {seen[name]} and {role}"
                    )
                    raise SettingError(f"column {name!r} {twice}")
                seen[name] = role
        for name in self.exclude:
            if name in seen or name in (self.attributes or ()):
                role = seen.get(name, "an attribute")
                raise SettingError(f"column {name!r} cannot be both {role} and left out (exclude)")

    @property
    def outcomes(self) -> tuple[str, ...]:
        """The columns to audit by themselves."""
        if self.outcome is None:
            return ()
        return self.outcome if isinstance(self.outcome, tuple) else (self.outcome,)

    def favourable_of(self, name: str) -> Any:
        """The favourable value of an outcome, or of predictions and truth, if it was said."""
        return self.favourable.get(name) if isinstance(self.favourable, Mapping) else self.favourable

    def role_of(self, name: str) -> str:
        """What is audited in this column: an outcome, the prediction or the truth."""
        if name == self.score:
            return "score"
        return "outcome" if self.outcomes else "prediction" if name == self.prediction else "truth"

    @property
    def outcome_columns(self) -> tuple[str, ...]:
        return (*self.outcomes, *(name for name in (self.prediction, self.score, self.truth) if name is not None))

    @property
    def taken(self) -> tuple[str, ...]:
        """The columns that cannot be attributes: all with a role of their own but legitimate factors."""
        return tuple(name for role, names in self._named().items() if role != "given" for name in names)

    @property
    def needed(self) -> tuple[str, ...] | None:
        """The columns to read, or None for all."""
        if self.attributes is None:
            return None
        return tuple(dict.fromkeys((*self.taken, *self.given, *self.attributes, *(self.kinds or {}))))
