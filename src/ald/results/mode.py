"""How an audit keeps chance apart from what is there: two halves, or everyone against shuffled outcomes."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Mode:
    """name: "halves"; "everyone", who is searched and tested, against shuffled outcomes; "named": nothing was searched.

    reason: why people were split, where that was left open. shuffles: of every round, at most; parts: of so many claims
    and questions the level is shared by; complete: whether rounds ended because one failed, not because the list did.
    """

    name: str
    reason: str | None = None
    shuffles: int | None = None
    parts: int | None = None
    complete: bool | None = None

    @property
    def is_everyone(self) -> bool:
        return self.name == "everyone"

    def to_dict(self) -> dict[str, Any]:
        """As plain data, without what there is not."""
        return {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) is not None}


HALVES, NAMED = Mode(name="halves"), Mode(name="named")
