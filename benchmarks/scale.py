"""An audit from coded arrays to ranked findings against LightGBM's random forest, at 10^6 and 10^7 rows, in one run.

Ours is the preset "paper": halves, 25 samples and trees on one half, every leaf tested on the other, ranked. LightGBM
trains 25 trees in random-forest mode with the same bagging, as many attributes per node and as many leaves as our
trees have on average (at least 100), on arrays that it has binned before. It is timed on the half that our trees grow
on, which is the same work, and on all rows; up to 10^6 rows also from a DataFrame, with loading and binning. Two
threads each. Needs lightgbm.

    python benchmarks/scale.py [rows ...]

With "amounts" before the rows the outcome is a number, and LightGBM's objective is L2.
"""

from __future__ import annotations

import itertools
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import lightgbm
import numpy as np
import pandas as pd

import ald
from ald.data.amounts import Unit
from ald.data.coded import Attribute, AuditData
from ald.data.design import Design
from ald.notions import AMOUNT_CELLS, Mean
from ald.options import AuditConfig
from ald.pipeline import assess_groups, grow, rank_groups, seeds_of
from ald.questions import questions
from ald.results.halving import Halving
from ald.rows.local import LocalHalves
from ald.search.forest.rules import SAMPLE_SHARE, GrowthRules

THREADS = 2
SLOPES = (1.5, 1.0, 0.7, 0.5, 0.3)
STEPS = (1.0, 0.7, 0.5, 0.3, 0.2)


def make(n: int, amounts: bool = False) -> AuditData:
    """Five numbers with 255 values and five attributes with eight levels; all of them matter."""
    rng = np.random.default_rng(0)
    numbers = [rng.integers(0, 255, n, dtype=np.uint8) for _ in SLOPES]
    levels = [rng.integers(0, 8, n, dtype=np.uint8) for _ in STEPS]
    logit = np.zeros(n)
    for slope, code in zip(SLOPES, numbers, strict=True):
        logit += slope * (code / 255 - 0.5)
    for step, code in zip(STEPS, levels, strict=True):
        logit += 0.1 * step * (code - 3.5)
    data = AuditData(
        attributes=(
            *(Attribute(name=f"x{k}", kind="numeric", values=np.arange(255.0)) for k in range(len(numbers))),
            *(Attribute(name=f"c{k}", kind="nominal", levels=tuple("abcdefgh")) for k in range(len(levels))),
        ),
        codes=(*numbers, *levels),
        cells=(rng.random(n) < 1 / (1 + np.exp(-logit))).astype(np.uint8),
        counts=np.ones(n, np.int64),
        n_cells=2,
    )
    if not amounts:
        return data
    values = np.round(logit + rng.normal(size=n), 2)
    unit = Unit.of(values)
    design = Design(amounts=unit.integers(values))
    return replace(data, cells=np.zeros(n, np.uint8), n_cells=len(AMOUNT_CELLS), design=design, unit=unit)


def audit(data: AuditData) -> Halving:
    """Everything from halves to ranks."""
    config = AuditConfig(notion="statistical parity", outcome="y", search="paper")  # type: ignore[arg-type]
    if data.unit is not None:
        config = config.of_amounts(Mean("mean", "mean y", per_one=data.unit.per_one, origin=data.unit.origin))
    halves_seed, forest_seed = seeds_of(config, 0)
    halves = LocalHalves.of(data, None, config, halves_seed, THREADS)
    grown = grow(halves, questions(config), config, forest_seed, say_nothing)
    return rank_groups(grown.halves, assess_groups(grown, config, say_nothing), config, say_nothing)


def say_nothing(step: str, share: float) -> None:
    """Nobody asked how far the audit is."""


def settings_of(data: AuditData, leaves: int) -> dict[str, Any]:
    """LightGBM's settings, as near to our forest as they can be."""
    rules = GrowthRules()
    k = len(data.codes)
    return {
        "boosting": "rf",
        "objective": "binary" if data.unit is None else "regression",
        "num_leaves": leaves,
        "bagging_fraction": SAMPLE_SHARE,
        "bagging_freq": 1,
        "feature_fraction_bynode": rules.draw(k) / k,
        "min_data_in_leaf": rules.minbucket,
        "feature_pre_filter": False,
        "num_threads": THREADS,
        "verbose": -1,
    }


def training(data: AuditData, n: int, leaves: int) -> Callable[[], Any]:
    """LightGBM's forest on the first n rows, which are binned before."""
    settings = settings_of(data, leaves)
    table = np.stack([code[:n] for code in data.codes], axis=1)
    nominal = [k for k, attribute in enumerate(data.attributes) if attribute.is_nominal]
    outcome = data.cells if data.unit is None else data.unit.values(data.design.amounts)
    binned = lightgbm.Dataset(table, outcome[:n], categorical_feature=nominal, params=settings).construct()
    return lambda: lightgbm.train(settings, binned, num_boost_round=25)


def from_frame(data: AuditData, leaves: int) -> dict[str, Callable[[], Any]]:
    """An audit of a DataFrame, from loading to the list, and LightGBM's forest on half of its rows with binning."""
    columns = {
        attribute.name: pd.Categorical.from_codes(code, list(attribute.levels)) if attribute.is_nominal else code
        for attribute, code in zip(data.attributes, data.codes, strict=True)
    }
    frame = pd.DataFrame(columns | {"y": data.cells})
    half, settings = frame.iloc[: len(frame) // 2], settings_of(data, leaves)

    def theirs() -> Any:
        binned = lightgbm.Dataset(half.drop(columns="y"), half["y"], params=settings)
        return lightgbm.train(settings, binned, num_boost_round=25)

    def ours() -> Any:
        return ald.audit(ald.source(frame, threads=THREADS), outcome="y", search="paper")

    return {"ours": ours, "half": theirs}


def seconds(function: Callable[[], Any], repeats: int) -> float:
    """The median, after a run that is not counted: each finds the memory as it left it itself."""
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    amounts = sys.argv[1:2] == ["amounts"]
    sizes = [int(float(word)) for word in sys.argv[1 + amounts :]] or [10**6, 10**7]
    ours = {}
    for n in sizes:
        data = make(n, amounts)
        forest = audit(data).forest
        per_tree = int(np.count_nonzero(forest.is_leaf)) / forest.n_trees
        leaves = max(100, round(per_tree))
        repeats = 5
        runs = {"ours": lambda data=data: audit(data), "half": training(data, n // 2, leaves)}  # type: ignore[misc]
        runs["all"] = training(data, n, leaves)
        found = {name: seconds(run, repeats) for name, run in runs.items()}
        ours[n] = found["ours"]
        print(f"{n:,} rows: load {os.getloadavg()[0]:.2f}, medians of {repeats}, {per_tree:.0f} leaves per tree")
        print(f"  ald, coded arrays to ranked findings: {found['ours']:.2f} s")
        for name, words in (("half", "the half that our trees grow on"), ("all", "all rows")):
            ratio = found[name] / found["ours"]
            print(f"  LightGBM on {words}: {found[name]:.2f} s; ald is {ratio:.2f} times as fast", flush=True)
        if n <= 10**6 and not amounts:
            whole = {name: seconds(run, repeats) for name, run in from_frame(data, leaves).items()}
            ratio = whole["half"] / whole["ours"]
            print(f"  ald, DataFrame to list: {whole['ours']:.2f} s; LightGBM on the half with binning: "
                  f"{whole['half']:.2f} s; ald is {ratio:.2f} times as fast", flush=True)  # fmt: skip
    for small, large in itertools.pairwise(sizes):
        print(f"growth from {small:,} to {large:,} rows: {ours[large] / ours[small]:.1f}-fold")


if __name__ == "__main__":
    main()
