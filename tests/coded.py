"""Coded data and histograms for tests of the search and the assessment."""

from __future__ import annotations

from typing import Any

import numpy as np

from ald.data.coded import AuditData
from ald.data.inputs.sources import load
from ald.data.prepare import Roles, prepare
from ald.groups.membership import Members
from ald.groups.rules import decode
from ald.groups.tree import Forest
from ald.notions import CELLS, OUTCOME_CELLS, SELECTION, RateCounter
from ald.search.explore.representatives import Representative, representatives
from ald.search.forest.counting import Histograms
from ald.search.forest.rules import GrowthRules
from ald.search.forest.sampling import grow_forest

PARITY = RateCounter([SELECTION], 2)


def histograms(*tables: Any) -> Histograms:
    """One segment per table of counts [values, cells]; values without people do not occur, as a counter gives it."""
    kept = [np.asarray(table, dtype=np.int64) for table in tables]
    present = [np.flatnonzero(table.sum(axis=1)) for table in kept]
    return Histograms(
        offsets=np.concatenate([[0], np.cumsum([len(codes) for codes in present])]).astype(np.int64),
        codes=np.concatenate(present),
        counts=np.concatenate([table[codes] for table, codes in zip(kept, present, strict=True)]),
    )


def coded(columns: Any, **options: Any) -> AuditData:
    """The columns as an audit codes them: outcome `y`, or `prediction` and `truth`."""
    roles = {"outcome": "y"} if "y" in columns else {"prediction": "prediction", "truth": "truth"}
    cells = OUTCOME_CELLS if "y" in columns else CELLS
    return prepare(load(columns), Roles(**roles | options), cells).whole


def forest_of(data: AuditData, rates: RateCounter, trees: int = 8, seed: int = 0, **rules: Any) -> Forest:
    """A forest on all of this data."""
    rngs = [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(trees)]
    threads = rules.pop("threads", 1)
    return grow_forest(data, rates, GrowthRules(**rules), rngs, threads=threads)


def representatives_of(data: AuditData, rates: RateCounter = PARITY, groups: int = 3) -> tuple[Representative, ...]:
    """What the search proposes if all of this data is D1."""
    paths = forest_of(data, rates).criteria([attribute.size for attribute in data.attributes])
    return representatives(data, rates, Members(paths, data.attributes), groups)


def proposed_words(data: AuditData, rates: RateCounter = PARITY, groups: int = 3) -> list[str]:
    """The groups that the search proposes, in words."""
    return [str(decode(found.criterion, data.attributes)) for found in representatives_of(data, rates, groups)]
