"""Runs independent packages on tables that `benchmarks/others.py` wrote, in their own environment; prints JSON.

Not part of the package: it imports none of it. Every package answers by itself; one that fails says why.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

warnings.filterwarnings("ignore")


def bias_scan(folder: Path) -> Any:
    """aif360's scan: best subset and score per table, direction and penalty."""
    from aif360.detectors.mdss.MDSS import MDSS
    from aif360.detectors.mdss.ScoringFunctions import Bernoulli

    out = {}
    for path in sorted(folder.glob("scan-*.csv")):
        frame = pd.read_csv(path)
        features = frame.drop(columns=["y", "expected"]).astype(str)
        for direction in ("positive", "negative"):
            for penalty in (1e-17, 1.0):
                scanner = MDSS(Bernoulli(direction=direction))
                subset, score = scanner.scan(features, frame["expected"], frame["y"], penalty, 50)
                levels = {name: sorted(map(str, values)) for name, values in subset.items()}
                out[f"{path.stem} {direction} {penalty:g}"] = {"levels": levels, "score": float(score)}
    return out


def chaid(folder: Path) -> Any:
    """The CHAID package: how the root splits, and the p-value. It made nothing of ordered attributes (5.5.1)."""
    from CHAID import Tree

    out = {}
    for path in sorted(folder.glob("chaid-*.csv")):
        frame = pd.read_csv(path)
        kinds = {name: "nominal" for name in frame.columns if name != "y"}
        tree = Tree.from_pandas_df(frame, kinds, "y", alpha_merge=0.05, max_depth=1, min_parent_node_size=20,
                                   min_child_node_size=7)  # fmt: skip
        split = tree.tree_store[0].split
        groups = sorted(sorted(str(value) for value in group) for group in split.split_map)
        out[path.stem] = {"attribute": split.column, "groups": groups, "p": float(split.p)}
    return out


def gerryfair(folder: Path) -> Any:
    """aif360's copy of the authors' auditor: who is in the group with the largest violation."""
    import numpy as np
    from aif360.algorithms.inprocessing.gerryfair.auditor import Auditor

    out = {}
    for path in sorted(folder.glob("linear-*.csv")):
        frame = pd.read_csv(path)
        for definition in ("FP", "FN"):
            x, y, said = frame.drop(columns=["truth", "prediction"]), frame["truth"], frame["prediction"]
            auditor = Auditor.__new__(Auditor)
            auditor.X_prime, auditor.y_input, auditor.fairness_def = x, y.to_numpy(), definition
            auditor.y_inverse = np.abs(1 - auditor.y_input)
            auditor.y = auditor.y_inverse if definition == "FN" else auditor.y_input
            auditor.X_prime_0 = x[auditor.y == 0].reset_index(drop=True)
            predictions = said.to_numpy().astype(float)
            baseline = auditor.get_baseline(auditor.y_input, predictions)
            subset = predictions[auditor.y == 0] if definition == "FP" else 1 - predictions[auditor.y == 0]
            auditor.get_subset = lambda _, auditor=auditor, subset=subset: (auditor.X_prime_0, subset)
            group = auditor.get_group(predictions, baseline)
            members = np.array(group.func.predict(auditor.X_prime_0))
            out[f"{path.stem} {definition}"] = {"members": members.astype(int).tolist()}
    return out


def first_groups(folder: Path) -> dict[str, Any]:
    """divexplorer, pysubgroup and sliceline: the first group of every table."""
    out: dict[str, Any] = {}
    for path in sorted(folder.glob("first-*.csv")):
        frame = pd.read_csv(path)
        for name, finder in (("divexplorer", _divexplorer), ("pysubgroup", _pysubgroup), ("sliceline", _sliceline)):
            try:
                out[f"{path.stem} {name}"] = finder(frame)
            except Exception as error:
                out[f"{path.stem} {name}"] = {"failed": f"{type(error).__name__}: {error}"}
    return out


def _divexplorer(frame: pd.DataFrame) -> Any:
    from divexplorer import DivergenceExplorer

    found = DivergenceExplorer(frame).get_pattern_divergence(min_support=0.02, boolean_outcomes=["y"])
    column = next(name for name in found.columns if "div" in name)
    t_value = next(name for name in found.columns if name.endswith("_t"))
    best = found.assign(size=found[t_value].abs()).sort_values("size", ascending=False).iloc[0]
    return {"items": sorted(map(str, best["itemset"])), "divergence": float(best[column])}


def _pysubgroup(frame: pd.DataFrame) -> Any:
    import pysubgroup

    space = pysubgroup.create_selectors(frame, ignore=["y"])
    task = pysubgroup.SubgroupDiscoveryTask(frame, pysubgroup.BinaryTarget("y", 1), space, result_set_size=1, depth=2,
                                            qf=pysubgroup.ChiSquaredQF())  # fmt: skip
    best = pysubgroup.BeamSearch().execute(task).to_dataframe().iloc[0]
    return {"items": str(best["subgroup"]), "quality": float(best["quality"])}


def _sliceline(frame: pd.DataFrame) -> Any:
    from sliceline.slicefinder import Slicefinder

    finder = Slicefinder(alpha=0.95, k=1, max_l=2, min_sup=100, verbose=False)
    attributes = frame.drop(columns=["y"])
    finder.fit(attributes.to_numpy(), frame["y"].to_numpy())
    return {"items": [f"{name}={value}" for name, value in zip(attributes, finder.top_slices_[0], strict=True)
                      if value is not None]}  # fmt: skip


def main() -> None:
    folder = Path(sys.argv[1])
    parts: dict[str, Callable[[Path], Any]] = {
        "bias_scan": bias_scan, "chaid": chaid, "gerryfair": gerryfair, "first": first_groups,
    }  # fmt: skip
    out = {}
    for name, part in parts.items():
        try:
            out[name] = part(folder)
        except Exception as error:
            out[name] = {"failed": f"{type(error).__name__}: {error}"}
    (folder / "others.json").write_text(json.dumps(out), "utf-8")


if __name__ == "__main__":
    main()
