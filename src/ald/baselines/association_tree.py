"""FairTest's guided tree: contexts in which an attribute named beforehand goes with the outcome.

Source: F. Tramer, V. Atlidakis, R. Geambasu, D. Hsu, J.-P. Hubaux, M. Humbert, A. Juels and H. Lin, "FairTest:
discovering unwarranted associations in data-driven applications", IEEE EuroS&P 2017. A tree over the other attributes
whose splits have the largest mean association in their children: a child per level of an unordered attribute, or two
at one of ten cut points of an ordered one. The association is the normalised mutual information of the named attribute
and the outcome. Depth at most 5, contexts of at least 100 people; where no child beats its parent the split with the
largest mean is still taken, as the authors' software does.

It confirms and refines what is suspected; it does not locate. FairTest compares within a context; our report compares
with everyone else, so a context is reported as the group of the named attribute's level that stands out most in it. A
notion with several rates takes the sum of their associations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ald._core.arrays import BoolArray, FloatArray, IntArray
from ald.baselines.interface import Ranked, Search
from ald.data.coded import AuditData
from ald.groups.tree import CodedCondition, CodedCriterion
from ald.notions import RateCounter

DEPTH = 5
LEAF = 100
BINS = 10


@dataclass(frozen=True, kw_only=True)
class Context:
    """People with these levels or values of other attributes, and the association of the named attribute in it."""

    conditions: CodedCriterion
    rows: IntArray
    association: float


def search(request: Search) -> Ranked:
    """Contexts by their association, each as the named attribute's level that stands out most in it."""
    data, given = request.data, request.given_attribute()
    contexts = guided_tree(data, request.rates, given)
    contexts.sort(key=lambda context: (-context.association, context.conditions))
    found: dict[CodedCriterion, float] = {}
    for context in contexts:
        level = _outstanding(data, request.rates, given, context.rows)
        if level is not None:
            criterion = tuple(sorted((*context.conditions, _condition(data, given, level))))
            found.setdefault(criterion, context.association)
    return Ranked(criteria=tuple(found), score=tuple(found.values()))


def normalised_mutual_information(table: FloatArray) -> float:
    """The mutual information of a contingency table over the smaller of its two entropies (FairTest's NMI).

    >>> normalised_mutual_information(np.array([[5.0, 0.0], [0.0, 5.0]]))
    1.0
    """
    total = table.sum()
    rows, columns = (table.sum(axis=axis) for axis in (1, 0))
    entropies = [_entropy(margin) for margin in (rows, columns)]
    joint = _entropy(table.ravel())
    least = min(entropies)
    return float((sum(entropies) - joint) / least) if total > 0 and least > 1e-12 else 0.0


def _entropy(counts: FloatArray) -> float:
    share = counts[counts > 0] / max(counts.sum(), 1.0)
    return float(-(share * np.log(share)).sum())


def association(data: AuditData, rates: RateCounter, given: int, rows: IntArray) -> float:
    """The association of the named attribute with the outcome among these rows."""
    hit, base = _by_level(data, rates, given, rows)
    return sum(
        normalised_mutual_information(np.stack([h, b - h], axis=1).astype(float))
        for h, b in zip(hit, base, strict=True)
    )


def _by_level(data: AuditData, rates: RateCounter, given: int, rows: IntArray) -> tuple[IntArray, IntArray]:
    size = data.attributes[given].size
    keys = data.codes[given][rows].astype(np.int64) * data.n_cells + data.cells[rows]
    counts = np.bincount(keys, weights=data.counts[rows], minlength=(size + 1) * data.n_cells)
    table = counts.reshape(size + 1, data.n_cells)[:size].astype(np.int64)
    return rates.hit(table), rates.base(table)


def _outstanding(data: AuditData, rates: RateCounter, given: int, rows: IntArray) -> int | None:
    """The level with the largest share times difference of its rate from that of the context."""
    hit, base = _by_level(data, rates, given, rows)
    totals = np.maximum(base.sum(axis=1, keepdims=True), 1)
    excess = np.abs(hit - base * hit.sum(axis=1, keepdims=True) / totals).sum(axis=0)
    return int(np.argmax(excess)) if excess.max() > 0 else None


def guided_tree(data: AuditData, rates: RateCounter, given: int) -> list[Context]:
    """All nodes of the tree, the root first."""
    cuts = {a: _cuts(data, a) for a, attribute in enumerate(data.attributes) if not attribute.is_nominal}
    others = [a for a in range(len(data.attributes)) if a != given]
    rows = np.arange(len(data.cells))
    root = Context(conditions=(), rows=rows, association=association(data, rates, given, rows))
    out, waiting = [root], [(root, others, 0)]
    while waiting:
        node, attributes, depth = waiting.pop(0)
        if depth == DEPTH:
            continue
        options = [(a, split) for a in attributes for split in _splits(data, rates, given, node, a, cuts)]
        best = _best(options, node.association)
        if best is None:
            continue
        a, children = best
        useful = {b for b, _ in options}
        left = [b for b in attributes if b in useful and (b != a or not data.attributes[a].is_nominal)]
        out += children
        waiting += [(child, left, depth + 1) for child in children]
    return out


def _best(options: list[tuple[int, list[Context]]], parent: float) -> tuple[int, list[Context]] | None:
    """The split with the largest mean association; one with a child above the parent goes before all others."""

    def worth(option: tuple[int, list[Context]]) -> tuple[bool, float]:
        values = [child.association for child in option[1]]
        return max(values) > parent, float(np.mean(values))

    scored = [(worth(option), option) for option in options]
    scored = [entry for entry in scored if entry[0][1] > 0]
    return max(scored, key=lambda entry: entry[0])[1] if scored else None


def _cuts(data: AuditData, a: int) -> list[int]:
    """Codes after which an ordered attribute may be cut: about ten bins of equal numbers of people."""
    size = data.attributes[a].size
    people = np.bincount(data.codes[a], weights=data.counts, minlength=size + 1)[:size]
    if size <= BINS:
        return list(range(size - 1))
    targets = people.sum() * np.arange(1, BINS + 1) / (BINS + 1)
    return sorted({int(cut) for cut in np.searchsorted(np.cumsum(people), targets) if cut < size - 1})


def _splits(
    data: AuditData, rates: RateCounter, given: int, node: Context, a: int, cuts: dict[int, list[int]]
) -> list[list[Context]]:
    code = data.codes[a][node.rows]
    if data.attributes[a].is_nominal:
        masks = [(CodedCondition(a, 0, 0, (int(level),)), code == level) for level in np.unique(code)]
        children = _children(data, rates, given, node, masks)
        return [children] if len(children) > 1 else []
    size = data.attributes[a].size
    old = next((c for c in node.conditions if c.attribute == a), CodedCondition(a, 0, size))
    out = []
    for cut in cuts[a]:
        if old.low <= cut < old.high - 1:
            below = code <= cut
            masks = [(old._replace(high=cut + 1), below), (old._replace(low=cut + 1), ~below & (code < size))]
            children = _children(data, rates, given, node, masks)
            if len(children) == 2:
                out.append(children)
    return out


def _children(
    data: AuditData, rates: RateCounter, given: int, node: Context, masks: list[tuple[CodedCondition, BoolArray]]
) -> list[Context]:
    """The children with enough people; FairTest leaves the others out."""
    out = []
    for condition, mask in masks:
        rows = node.rows[mask]
        if data.counts[rows].sum() >= LEAF:
            kept = (c for c in node.conditions if c.attribute != condition.attribute)
            conditions = tuple(sorted((*kept, condition)))
            out.append(Context(conditions=conditions, rows=rows, association=association(data, rates, given, rows)))
    return out


def _condition(data: AuditData, a: int, code: int) -> CodedCondition:
    return CodedCondition(a, 0, 0, (code,)) if data.attributes[a].values is None else CodedCondition(a, code, code + 1)
