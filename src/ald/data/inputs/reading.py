"""What an audit tells those who read its data: what must stay exact, and how much memory there is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ald.data.inputs.memory import machine_memory
from ald.data.roles import Roles

# Data with more rows is reduced to counts before it is coded, whatever the memory: results shall not depend on it.
MANY_ROWS = 10_000_000
# Bytes that reading a value as it stands takes at most, for a moment.
_BYTES_PER_VALUE = 48
# Bytes that an audit takes per row of counted data.
_BYTES_PER_DISTINCT = 512


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How to read data that may be too large to be read as it stands.

    needed: the columns to read, or None for all but those excluded, which must be there. exact: columns whose values
    all stay apart. kinds: as the user gave them. named: values that groups in words name, by column: whatever is cut,
    is cut there too. memory_limit: bytes that may be used. query: what to ask a database. many: rows from which data is
    reduced. threads: that may be used. cluster: whether a column says whom rows are about.
    """

    needed: tuple[str, ...] | None = None
    excluded: tuple[str, ...] = ()
    exact: frozenset[str] = frozenset()
    kinds: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    named: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    memory_limit: int | None = None
    query: str | None = None
    many: int = MANY_ROWS
    threads: int = 1
    cluster: bool = False

    @property
    def memory(self) -> int:
        """The bytes that may be used."""
        return self.memory_limit or machine_memory() // 4 * 3

    @property
    def most_distinct(self) -> int:
        """How many rows of counted data fit into the memory."""
        return self.memory // _BYTES_PER_DISTINCT

    def is_large(self, rows: int, columns: int) -> bool:
        """Whether data of this size is reduced before it is read."""
        return rows > self.many or rows * columns * _BYTES_PER_VALUE > self.memory


def reading_of(
    roles: Roles,
    named: Mapping[str, tuple[str, ...]],
    memory_limit: int | None = None,
    query: str | None = None,
    threads: int = 1,
    *,
    search: bool = True,
) -> Reading:
    """How to read the data of an audit: `named` are the values in its groups in words, by column.

    search: False if only these groups are tested; then no other column is needed.
    """
    kinds = dict(roles.kinds or {})
    levels = [name for name, kind in kinds.items() if kind not in ("numeric", "date", "datetime")]
    own = roles.needed if search else (*roles.taken, *roles.given, *kinds)
    needed = None if own is None else tuple(dict.fromkeys((*own, *named)))
    return Reading(
        needed=needed,
        excluded=tuple(name for name in roles.exclude if name not in named),
        exact=frozenset((*roles.taken, *levels)),
        kinds=kinds,
        named=named,
        memory_limit=memory_limit,
        query=query,
        threads=threads,
        cluster=roles.cluster is not None,
    )
