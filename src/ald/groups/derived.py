"""Attributes that a search makes of others: whole numbers instead of numbers, or the side of a plane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ald._core.arrays import AnyArray
from ald.data.coded import Attribute, AuditData
from ald.data.columns import compact


@dataclass(frozen=True, kw_only=True)
class Derived:
    """An attribute and how its codes follow from coded data, any part of the data that the search saw a part of."""

    attribute: Attribute
    codes: Callable[[AuditData], AnyArray]


def extend_data(data: AuditData, derived: Sequence[Derived]) -> AuditData:
    """The data with these attributes after its own."""
    if not derived:
        return data
    return replace(
        data,
        attributes=(*data.attributes, *(new.attribute for new in derived)),
        codes=(*data.codes, *(compact(new.codes(data), new.attribute.size) for new in derived)),
    )
