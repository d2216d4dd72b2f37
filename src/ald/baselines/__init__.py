"""The systems that ALD is compared with, each with the same interface: coded data in, ranked criteria out.

`ald audit --search NAME` searches with one of them on D1 and tests what it proposes on D2, as any other search. Those
that need an attribute named beforehand take it after a colon: `association-tree:sex`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from ald.errors import SettingError, nearest

if TYPE_CHECKING:
    from ald.baselines.interface import Ranked, Search


@dataclass(frozen=True, kw_only=True)
class System:
    """A system: where its search lives, and whether an attribute must be named beforehand."""

    name: str
    module: str
    function: str = "search"
    needs_attribute: bool = False

    @property
    def search(self) -> Callable[[Search], Ranked]:
        return cast("Callable[[Search], Ranked]", getattr(importlib.import_module(self.module), self.function))


SYSTEMS = {
    system.name: system
    for system in (
        System(name="subset-scan", module="ald.baselines.subset_scan"),
        System(name="instability-tree", module="ald.baselines.instability_tree"),
        System(name="gerrymandering", module="ald.baselines.gerrymandering"),
        System(name="ctree", module="ald.baselines.ctree"),
        System(name="chaid", module="ald.baselines.chaid"),
        System(name="cart", module="ald.baselines.cart", function="search_cart"),
        System(name="random-forest", module="ald.baselines.cart", function="search_random_forest"),
        System(name="association-tree", module="ald.baselines.association_tree", needs_attribute=True),
        System(name="fliptest", module="ald.baselines.fliptest", needs_attribute=True),
    )
}


def get_system(method: str) -> tuple[System, str | None]:
    """The system that a search names, and the attribute named beforehand, after a colon.

    >>> get_system("association-tree:sex")[1]
    'sex'
    """
    name, colon, attribute = str(method).partition(":")
    if name not in SYSTEMS:
        raise SettingError(f"unknown search {name!r}. {nearest(name, SYSTEMS)}")
    system = SYSTEMS[name]
    if system.needs_attribute and not attribute:
        raise SettingError(f"search {name!r} needs the attribute to look at, named beforehand: such as {name}:sex")
    if colon and not system.needs_attribute:
        raise SettingError(f"search {name!r} looks at all attributes; {method!r} names one")
    return system, attribute or None
