"""ALD with CART, and with a random forest of CART trees, as Step 1; both by scikit-learn.

Sources: L. Breiman, J. Friedman, R. Olshen and C. Stone, "Classification and regression trees" (1984); L. Breiman,
"Random forests", Machine Learning 45 (2001). Depth at most 8, leaves of at least 100 people, 25 trees in the forest.
scikit-learn knows numbers only: unordered attributes take part by one indicator per level. A notion with several rates
takes part by one indicator, whether a person is a hit of any of them (for equalized odds: an error), as in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ald._core.arrays import AnyArray, IntArray
from ald.baselines.interface import Ranked, Search, ranked_leaves
from ald.data.coded import AuditData, weighted_bincount
from ald.errors import SettingError
from ald.groups.building import ForestBuilder
from ald.groups.tree import Forest

DEPTH = 8
LEAF = 100
TREES = 25
# A row per person is what scikit-learn counts leaves by.
_MOST_PEOPLE = 20_000_000


def search_cart(request: Search) -> Ranked:
    """The leaves of one CART tree."""
    from_sklearn = _sklearn("tree").DecisionTreeClassifier
    model = from_sklearn(max_depth=DEPTH, min_samples_leaf=LEAF, random_state=_state(request))
    return _search(request, model)


def search_random_forest(request: Search) -> Ranked:
    """The distinct leaves of a random forest."""
    from_sklearn = _sklearn("ensemble").RandomForestClassifier
    model = from_sklearn(
        n_estimators=TREES, max_depth=DEPTH, min_samples_leaf=LEAF, random_state=_state(request), n_jobs=1
    )
    return _search(request, model)


def _sklearn(name: str) -> Any:
    try:
        from sklearn import ensemble, tree
    except ModuleNotFoundError:
        raise SettingError("this method needs scikit-learn: pip install 'ald-audit[baselines]'") from None
    return {"tree": tree, "ensemble": ensemble}[name]


def _state(request: Search) -> int:
    return int(request.rng.integers(2**31))


def _search(request: Search, model: Any) -> Ranked:
    data = request.data
    if data.total > _MOST_PEOPLE:
        raise SettingError(f"scikit-learn needs a row per person, and {data.total:,} are too many; use another method")
    one = np.eye(data.n_cells, dtype=np.int64)
    base, hit = (part(one).max(axis=0)[data.cells] > 0 for part in (request.rates.base, request.rates.hit))
    rows = np.repeat(np.arange(len(data.cells)), np.where(base, data.counts, 0))
    columns = feature_columns(data)
    x = features(data, columns)
    model.fit(x[rows], hit[rows])
    trees = [estimator.tree_ for estimator in getattr(model, "estimators_", [model])]
    return ranked_leaves(as_forest(trees, x, columns, data), data, request.rates)


def feature_columns(data: AuditData) -> list[tuple[int, int]]:
    """The features: (attribute, level) for an indicator, (attribute, -1) for the codes of an ordered attribute."""
    return [
        (a, level)
        for a, attribute in enumerate(data.attributes)
        for level in (range(attribute.size) if attribute.is_nominal else [-1])
    ]


def features(data: AuditData, columns: Sequence[tuple[int, int]]) -> AnyArray:
    """A row per row of the data; a missing ordered value is NaN."""
    out = np.empty((len(data.cells), len(columns)), dtype=np.float32)
    for k, (a, level) in enumerate(columns):
        code = data.codes[a]
        out[:, k] = code == level if level >= 0 else np.where(code == data.attributes[a].size, np.nan, code)
    return out


def as_forest(trees: Sequence[Any], x: AnyArray, columns: Sequence[tuple[int, int]], data: AuditData) -> Forest:
    """scikit-learn's trees as ours. Its nodes are in preorder, left before right."""
    builder = ForestBuilder()
    for number, tree in enumerate(trees):
        counts = _node_counts(tree, x, data)
        _copy(builder, number, tree, counts, columns, data)
    return builder.forest(data.n_cells)


def _node_counts(tree: Any, x: AnyArray, data: AuditData) -> IntArray:
    """People of the data per node and cell."""
    leaf = tree.apply(x)
    keys = leaf.astype(np.int64) * data.n_cells + data.cells
    counts = weighted_bincount(keys, data.counts, tree.node_count * data.n_cells).reshape(tree.node_count, -1)
    for node in range(tree.node_count - 1, -1, -1):
        if tree.children_left[node] >= 0:
            counts[node] = counts[tree.children_left[node]] + counts[tree.children_right[node]]
    return counts


def _copy(
    builder: ForestBuilder,
    number: int,
    tree: Any,
    counts: IntArray,
    columns: Sequence[tuple[int, int]],
    data: AuditData,
) -> None:
    """Copies a tree. The levels that a node still has are followed, so that its sides part exactly those."""
    present = [
        tuple(np.flatnonzero(np.bincount(code, minlength=attribute.size)[: attribute.size]).tolist())
        for attribute, code in zip(data.attributes, data.codes, strict=True)
    ]
    at: dict[int, int] = {}
    left_levels: dict[int, list[tuple[int, ...]]] = {0: present}
    parents = {int(child): node for node in range(tree.node_count) for child in
               (tree.children_left[node], tree.children_right[node]) if child >= 0}  # fmt: skip
    for node in range(tree.node_count):
        at[node] = builder.node(number, at[parents[node]] if node else -1, counts[node].tolist())
        if tree.children_left[node] < 0:
            continue
        a, level = columns[tree.feature[node]]
        left, right = (list(left_levels[node]) for _ in range(2))
        if level >= 0:  # the indicator is 0 on the left
            left[a], right[a] = tuple(code for code in left[a] if code != level), (level,)
            builder.split(at[node], a)
            builder.sides[at[node]] = (left[a], right[a])
        else:
            builder.split(at[node], a, int(np.floor(tree.threshold[node])))
        left_levels[int(tree.children_left[node])], left_levels[int(tree.children_right[node])] = left, right
