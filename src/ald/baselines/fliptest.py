"""FlipTest's flip sets by optimal transport, for a binary attribute named beforehand.

Source: E. Black, S. Yeom and M. Fredrikson, "FlipTest: fairness testing via optimal transport", FAT* 2020
(arXiv:1906.09218). The people of one group are matched with those of the other so that matched people are as alike as
possible; the flip set are those whose outcome differs from that of their match. Two things differ from the paper. It
asks the model about the match; here only logged outcomes are known, so a match is a real person and the outcome is that
person's. It approximates the transport by a generative network; here it is exact, on a random sample of each group.

A flip set is a set of people, not a criterion. `search` gives the named attribute's two levels, first the one whose
people more often lack the positive outcome that their match has, which is all that can be said of it in words;
`flip_sets` gives the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ald._core.arrays import IntArray
from ald.baselines.gerrymandering import features
from ald.baselines.interface import Ranked, Search
from ald.data.coded import AuditData
from ald.errors import SettingError
from ald.groups.tree import CodedCondition

# People sampled from each group: the exact transport takes time with the cube of it.
PEOPLE = 1000


@dataclass(frozen=True, kw_only=True)
class FlipSets:
    """People of `group` matched with others. Rows of the data: those who have the outcome while their match has not
    (`advantaged`), and the reverse; `differences`: the features that differ most in each, largest first."""

    group: int
    matched: int
    advantaged: IntArray
    disadvantaged: IntArray
    differences: tuple[tuple[str, float], ...]


def search(request: Search) -> Ranked:
    """The two levels of the named attribute, first the one that lacks positive outcomes of its matches more often."""
    given = request.given_attribute()
    sets = flip_sets(request.data, request, given)
    excess = (len(sets.disadvantaged) - len(sets.advantaged)) / sets.matched
    levels = _levels(request.data, given)
    order = [(level, excess if level == sets.group else -excess) for level in levels]
    order.sort(key=lambda entry: (-entry[1], entry[0]))
    criteria = tuple((_condition(request.data, given, level),) for level, _ in order)
    return Ranked(criteria=criteria, score=tuple(score for _, score in order))


def _condition(data: AuditData, a: int, code: int) -> CodedCondition:
    return CodedCondition(a, 0, 0, (code,)) if data.attributes[a].values is None else CodedCondition(a, code, code + 1)


def _levels(data: AuditData, given: int) -> list[int]:
    present = np.unique(data.codes[given])
    levels = [int(code) for code in present if code < data.attributes[given].size]
    if len(levels) != 2:
        raise SettingError(
            f"FlipTest compares two groups: attribute {data.attributes[given].name!r} has {len(levels)} values here. "
            "Name one with two."
        )
    return levels


def _people(rows: IntArray, counts: IntArray, n: int, rng: np.random.Generator) -> IntArray:
    """The rows of n people drawn without replacement, where every row stands for so many."""
    ends = np.cumsum(counts)
    chosen = rng.choice(int(ends[-1]), n, replace=False, shuffle=False)
    return np.asarray(rows[np.sort(np.searchsorted(ends, chosen, side="right"))])


def flip_sets(data: AuditData, request: Search, given: int, *, people: int = PEOPLE) -> FlipSets:
    """Matches a sample of the first group with one of the second and compares the outcomes (of the first rate)."""
    ot = _pot()
    one = np.eye(data.n_cells, dtype=np.int64)
    base, hit = (part(one)[0][data.cells] > 0 for part in (request.rates.base, request.rates.hit))
    levels = _levels(data, given)
    members = [np.flatnonzero((data.codes[given] == level) & base) for level in levels]
    n = min(people, *(int(data.counts[rows].sum()) for rows in members))
    if n == 0:
        raise SettingError("FlipTest needs people of both groups who count for the rate")
    samples = [_people(rows, data.counts[rows], n, request.rng) for rows in members]
    how = features(data)
    x = np.hstack([t[c] for a, (t, c) in enumerate(zip(how.tables, data.codes, strict=True)) if a != given])
    names = _names_without(data, given)
    cost = ot.dist(x[samples[0]], x[samples[1]], metric="sqeuclidean")
    uniform = np.full(n, 1.0 / n)
    match = samples[1][np.argmax(ot.emd(uniform, uniform, cost, numItermax=10_000_000), axis=1)]
    own, other = hit[samples[0]], hit[match]
    changed = own != other
    differences = (x[samples[0]] - x[match])[changed].mean(axis=0) if changed.any() else np.zeros(x.shape[1])
    order = np.argsort(-np.abs(differences), kind="stable").tolist()
    return FlipSets(
        group=levels[0],
        matched=n,
        advantaged=samples[0][own & ~other],
        disadvantaged=samples[0][~own & other],
        differences=tuple((names[i], float(differences[i])) for i in order),
    )


def _names_without(data: AuditData, given: int) -> list[str]:
    names = []
    for a, attribute in enumerate(data.attributes):
        if a != given and attribute.is_nominal:
            words = ("missing" if level is None else level for level in attribute.levels)
            names += [f"{attribute.name} = {word}" for word in words]
        elif a != given:
            names.append(attribute.name)
    return names


def _pot() -> Any:
    try:
        import ot
    except ModuleNotFoundError:
        raise SettingError("FlipTest needs POT: pip install 'ald-audit[baselines]'") from None
    return ot
