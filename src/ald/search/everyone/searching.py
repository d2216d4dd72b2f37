"""Everyone searched for one question: columns that give the outcome away, groups, and combinations of attributes.

Groups and combinations are two claims, and share the level. So do several questions: every one goes on by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ald.data.coded import AuditData
from ald.groups.tree import CodedCriterion
from ald.notions import RateCounter
from ald.search.everyone.beyond import Combinations, Together
from ald.search.everyone.rounds import Everyone, Taken
from ald.search.explore.scoring import Aim
from ald.search.giveaways import giveaways, without


@dataclass(frozen=True, kw_only=True, eq=False)
class Searched:
    """What was found among everyone.

    data: everyone, without the attributes that give the outcome away; `giveaways` are conditions on these, by their
    numbers among all attributes. groups, together: round by round; the last one of each may be one that is not listed.
    parts: of so many the level is shared; shuffles: of every round, at most.
    """

    data: AuditData
    giveaways: tuple[CodedCriterion, ...]
    groups: tuple[Taken, ...]
    together: tuple[Together, ...]
    parts: int
    shuffles: int
    search: Everyone

    @property
    def complete(self) -> bool:
        """Whether both claims were followed until a round failed."""
        return all(not rounds or not rounds[-1].listed for rounds in (self.groups, self.together))


def search_everyone(
    data: AuditData,
    rates: RateCounter,
    *,
    given: frozenset[str] = frozenset(),
    direction: int = 0,
    level: float = 0.05,
    questions: int = 1,
    groups: int = 3,
    seed: int = 0,
    threads: int = 1,
    tell: Callable[[float], None] = lambda share: None,
) -> Searched:
    """Groups and combinations until a round fails, or so many are listed. `given`: names of legitimate factors.

    questions: how many share the level.
    """
    away = giveaways(data, rates, direction, threads=threads)
    kept = without(data, away)
    factors = frozenset(i for i, attribute in enumerate(kept.attributes) if attribute.name in given)
    aim = Aim(given=kept.design.strata, direction=direction, factors=factors)
    search = Everyone(kept, rates, aim, seed=seed, level=level, threads=threads)
    parts = questions * (2 if search.described[0].batches else 1)
    search = search.at_level(level / parts)
    found: list[Taken] = []
    done = 0.0

    def say(rounds: float) -> None:
        # A round may be shuffled twice: nobody is told that less is done than before.
        nonlocal done
        done = max(done, rounds / (2 * groups + 1))
        tell(done)

    search.tell = lambda share: say(len(found) + share)
    for taken in search.rounds():
        found.append(taken)
        if sum(one.listed for one in found) == groups:
            break
    together: list[Together] = []
    combinations = Combinations(
        kept, rates, aim, seed=seed, draws=search.shuffles, level=search.level, threads=threads,
        described=search.described,
    )  # fmt: skip
    combinations.tell = lambda share: say(groups + len(together) + share)
    for combined in combinations.rounds():
        together.append(combined)
        if sum(one.listed for one in together) == groups:
            break
    return Searched(
        data=kept,
        giveaways=away,
        groups=tuple(one for one in found if one.criterion),
        together=tuple(together),
        parts=parts,
        shuffles=search.shuffles,
        search=search,
    )
