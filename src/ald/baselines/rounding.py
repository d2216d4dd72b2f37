"""Numbers as categories: rounded to whole numbers, for systems that know levels only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ald._core.arrays import IntArray
from ald.data.coded import Attribute, AuditData
from ald.data.columns import compact
from ald.groups.derived import Derived
from ald.groups.tree import CodedCondition, CodedCriterion


@dataclass(frozen=True, kw_only=True)
class Rounded:
    """Data whose attributes all have levels. `of`: per attribute the level of every value; None: it had levels."""

    data: AuditData
    of: tuple[IntArray | None, ...]

    def derive_attributes(self) -> tuple[Derived, ...]:
        """The rounded attributes, as attributes beside those that they were made of."""
        return tuple(
            Derived(attribute=replace(attribute, kind="ordinal"), codes=_Codes(a, np.append(levels, attribute.size)))
            for a, (attribute, levels) in enumerate(zip(self.data.attributes, self.of, strict=True))
            if levels is not None
        )

    def criterion(self, chosen: Sequence[Sequence[int]]) -> CodedCriterion:
        """The group with these levels per attribute; all or none of them is no condition.

        Whole numbers in a row are an interval of the numbers themselves; others are levels of the rounded attribute.
        """
        conditions = []
        made = len(self.of)
        for a, (levels, of) in enumerate(zip(chosen, self.of, strict=True)):
            levels = tuple(sorted(levels))
            if 0 < len(levels) < self.data.attributes[a].size:
                if of is None:
                    conditions.append(CodedCondition(a, 0, 0, levels))
                elif levels[-1] - levels[0] + 1 == len(levels):
                    low, high = np.searchsorted(of, [levels[0], levels[-1] + 1])
                    conditions.append(CodedCondition(a, int(low), int(high)))
                else:
                    conditions.append(CodedCondition(made, 0, 0, levels))
            made += of is not None
        return tuple(sorted(conditions))


@dataclass(frozen=True)
class _Codes:
    """The codes of a rounded attribute from those of its numbers."""

    attribute: int
    levels: IntArray

    def __call__(self, data: AuditData) -> IntArray:
        return np.asarray(self.levels[data.codes[self.attribute]])


def rounded_view(data: AuditData) -> Rounded:
    """The data with every attribute of numbers, dates or times rounded to whole numbers, as ordered levels."""
    attributes, codes = [], []
    of: list[IntArray | None] = []
    for attribute, code in zip(data.attributes, data.codes, strict=True):
        if attribute.values is None:
            attributes.append(attribute)
            codes.append(code)
            of.append(None)
            continue
        whole, level = np.unique(np.rint(attribute.values), return_inverse=True)
        words = tuple(str(int(value)) for value in whole)
        attributes.append(Attribute(name=f"{attribute.name} (rounded)", kind="ordinal", levels=words))
        codes.append(compact(np.append(level, len(whole))[code], len(whole)))
        of.append(level)
    return Rounded(data=replace(data, attributes=tuple(attributes), codes=tuple(codes)), of=tuple(of))
