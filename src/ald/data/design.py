"""What a row of an audit is besides its attributes: its stratum, its cluster, its weight, its half."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np

from ald._core.arrays import AnyArray, BoolArray, CodeArray, FloatArray, IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Design:
    """Arrays with one entry per row, or None where the audit has no such thing.

    factors: codes of legitimate factors, until they are cut. strata: number of the stratum that they make; finer: the
    same with one of the factors cut twice as fine, for each that can be. amounts: the outcome of every one of the row's
    people, where it is a number (`ald.data.amounts` says of what). scores, truths: of which amounts are made, where a
    score is audited. clusters: number of the cluster (such as a
    person with several rows). weights: survey weight of each of the row's people. half: 0 for the search, 1 for the
    assessment. reference: whether the row belongs to the group that others are compared with. named: the same, for
    every named group.
    """

    amounts: IntArray | None = None
    scores: FloatArray | None = None
    truths: BoolArray | None = None
    strata: IntArray | None = None
    clusters: IntArray | None = None
    weights: FloatArray | None = None
    half: IntArray | None = None
    reference: BoolArray | None = None
    named: tuple[BoolArray, ...] = ()
    factors: tuple[CodeArray, ...] = ()
    finer: tuple[IntArray, ...] = ()

    @property
    def samples_people(self) -> bool:
        """Whether rows are independent people who count alike: then tests follow from counts."""
        return self.clusters is None and self.weights is None

    @property
    def is_plain(self) -> bool:
        """Whether rows have their attributes and nothing else."""
        return next(self.arrays(), None) is None

    def arrays(self) -> Iterator[AnyArray]:
        """All arrays that are there, in a fixed order."""
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, tuple):
                yield from value
            elif value is not None:
                yield value

    def take(self, rows: AnyArray) -> Design:
        """The design of some of the rows."""

        def of(value: AnyArray | tuple[AnyArray, ...] | None) -> AnyArray | tuple[AnyArray, ...] | None:
            return (
                tuple(part[rows] for part in value)
                if isinstance(value, tuple)
                else None
                if value is None
                else value[rows]
            )

        return Design(**{field.name: of(getattr(self, field.name)) for field in fields(self)})  # type: ignore[arg-type]

    def parts(self) -> list[tuple[IntArray, int]]:
        """Every array as numbers from 0 on, with their bound: what makes rows with equal attributes different."""
        out = []
        for values in self.arrays():
            distinct, numbers = np.unique(values, return_inverse=True)
            out.append((numbers, len(distinct)))
        return out


NO_DESIGN = Design()
