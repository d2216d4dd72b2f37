"""The compared systems on one synthetic data set: what each lists, and whether that locates the disparity.

"tested": the system searches on D1, what it proposes is tested on D2, and at most three significant groups are listed.
"everyone": ALD searches and tests everyone, against shuffled outcomes.
"as published", "untested": the system sees all of the data, nothing is tested, and its first three groups count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from ald._core.arrays import AnyArray, BoolArray
from ald.auditing import audit
from ald.baselines import get_system
from ald.baselines.interface import Ranked, Search
from ald.data.coded import AuditData
from ald.data.inputs.sources import load
from ald.data.prepare import prepare
from ald.data.roles import Roles
from ald.datasets import make_synthetic
from ald.groups.criterion import Criterion
from ald.groups.derived import extend_data
from ald.groups.membership import correlation, member_mask
from ald.groups.rules import decode, named_in
from ald.notions import OUTCOME_CELLS, SELECTION, RateCounter
from ald.options.objects import Source
from ald.study.location import Task, judge_groups

LISTED = 3
# A half-space is no criterion: it locates a group if their memberships correlate at least this much.
SAME_PEOPLE = 0.9

Columns = dict[str, AnyArray]


@dataclass(frozen=True, kw_only=True)
class Result:
    """One run: located (any and strict), how many groups were listed, and whether one of them names race."""

    located: bool
    strict: bool
    listed: int
    race: bool


@dataclass(frozen=True, kw_only=True)
class Compared:
    """A compared system: its name in files, its words in figures, and how it lists groups of a data set."""

    key: str
    label: str
    run: Callable[[Task, int], Result]
    is_tested: bool = True


def _audit(task: Task, seed: int, **options: object) -> Result:
    data = make_synthetic(task.dataset, rho=task.rho, width=task.width, seed=seed)
    result = audit(Source(data=data, threads=1), outcome="y", seed=seed, **options)  # type: ignore[arg-type]
    return _result(task, [finding.criterion for finding in result.groups])


def _result(task: Task, found: list[Criterion]) -> Result:
    outcome = judge_groups(task, found)
    race = any(condition.attribute == "race" for criterion in found for condition in criterion)
    return Result(located=outcome.located, strict=outcome.strict, listed=outcome.listed, race=race)


def _leave_untested(task: Task, seed: int, *, method: str, **options: float) -> Result:
    columns = make_synthetic(task.dataset, rho=task.rho, width=task.width, seed=seed)
    data = prepare(load(columns), Roles(outcome="y"), OUTCOME_CELLS).data
    search: Callable[..., Ranked] = get_system(method)[0].search
    request = Search(data=data, rates=RateCounter([SELECTION], 2), rng=np.random.default_rng(seed))
    ranked = search(request, **options)
    whole = extend_data(data, ranked.derived)
    first = ranked.criteria[:LISTED]
    result = _result(task, [decode(named_in(criterion, whole), whole.attributes) for criterion in first])
    if method != "gerrymandering":
        return result
    masks = [member_mask(criterion, whole) for criterion in first]
    return _half_spaces(task, masks, data)


def _half_spaces(task: Task, masks: list[BoolArray], data: AuditData) -> Result:
    """Half-spaces are judged by their people: those of a true group, or nearly, or of everyone else."""
    true = _true_groups(task, data)
    alike = [max(abs(correlation(mask, group, data)) for group in true) for mask in masks]
    located = any(value >= SAME_PEOPLE for value in alike)
    names = [attribute.name for attribute in data.attributes]
    races = [data.codes[names.index("race")] == level for level in range(data.attributes[names.index("race")].size)]
    race = any(abs(correlation(mask, group, data)) >= SAME_PEOPLE for mask in masks for group in races)
    return Result(located=located, strict=located, listed=len(masks), race=race)


def _true_groups(task: Task, data: AuditData) -> list[BoolArray]:
    names = [attribute.name for attribute in data.attributes]
    if task.dataset == 2:
        race, gender = (data.codes[names.index(name)] for name in ("race", "gender"))
        return [(race == r) & (gender == g) for r, g in product((0, 1), repeat=2)]
    at = names.index("age")
    values = data.attributes[at].values
    assert values is not None
    age = values[data.codes[at]]
    return [(age > 54 - task.width / 2) & (age <= 54 + task.width / 2)]


COMPARED = {
    system.key: system
    for system in (
        Compared(key="ald", label="ALD", run=partial(_audit, split="random")),
        Compared(key="ald-everyone", label="ALD (everyone)", run=partial(_audit, split="none")),
        # The reference lists its first three groups whether significant or not.
        Compared(key="ald-paper", label="ALD (paper's settings, untested list)", run=partial(_audit, search="paper",
                 level=1.0), is_tested=False),
        Compared(key="subset-scan", label="subset scan", run=partial(_audit, search="subset-scan")),
        Compared(key="subset-scan-untested", label="subset scan (our penalty, untested)",
                 run=partial(_leave_untested, method="subset-scan"), is_tested=False),
        # The authors' software has practically no penalty and ten starts unless told otherwise.
        Compared(key="subset-scan-published", label="subset scan (as published)",
                 run=partial(_leave_untested, method="subset-scan", penalty=0.0, restarts=10), is_tested=False),
        Compared(key="instability-tree", label="instability tree", run=partial(_audit, search="instability-tree")),
        Compared(key="instability-tree-published", label="instability tree (as published)",
                 run=partial(_leave_untested, method="instability-tree"), is_tested=False),
        Compared(key="gerrymandering", label="linear auditor (as published)",
                 run=partial(_leave_untested, method="gerrymandering"), is_tested=False),
        Compared(key="ctree", label="ALD with ctree", run=partial(_audit, search="ctree")),
        Compared(key="chaid", label="ALD with CHAID", run=partial(_audit, search="chaid")),
        Compared(key="cart", label="ALD with CART", run=partial(_audit, search="cart")),
        Compared(key="random-forest", label="ALD with a random forest", run=partial(_audit, search="random-forest")),
    )
}  # fmt: skip
