"""The single-machine twin of an audit on a cluster: halves, samples and the pool of the search are drawn by hash."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np

from ald._core.arrays import IntArray
from ald.data import coded, hashing
from ald.data.coded import AuditData
from ald.groups.tree import Forest
from ald.remote import distributed
from ald.remote.counting import pooled
from ald.search import proposing
from ald.search.forest.packed import PackedSplitter


@contextmanager
def hashed_sampling(seed: int = 0) -> Iterator[None]:
    """Audits in memory draw as those on a cluster do, for one outcome or for predictions and truth."""

    def halves(
        data: AuditData, rng: np.random.Generator, share: float = 0.5, threads: int = 1
    ) -> tuple[AuditData, AuditData]:
        return hashing.halves(data, seed, share)

    def sample(data: AuditData, share: float, rng: np.random.Generator) -> IntArray:
        tree = rng.bit_generator.seed_seq.spawn_key[-1]  # type: ignore[attr-defined]
        return hashing.sample(data, share, seed, hashing.TREE, tree)

    def drawn(
        data: AuditData, share: float, rngs: Sequence[np.random.Generator], threads: int = 1, rows: object = None
    ) -> PackedSplitter:
        return PackedSplitter.of(data, [data.sample(share, rng) for rng in rngs], threads)

    explore = proposing.explore_from

    def explored(forest: Forest, d1: AuditData, *rest: Any) -> Any:
        return explore(forest, pooled(d1, min(1.0, distributed.POOL / d1.total), seed), *rest)

    with (
        mock.patch.object(AuditData, "halves", halves),
        mock.patch.object(AuditData, "sample", sample),
        mock.patch.object(PackedSplitter, "drawn", drawn),
        mock.patch.object(proposing, "explore_from", explored),
        mock.patch.object(coded, "_merging_pays", return_value=True),
    ):
        yield
