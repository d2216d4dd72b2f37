"""From data that stays where it is, and the roles of its columns, to coded rows that stay there too.

Everything that an audit decides from the columns follows from how often each of their values occurs: kinds, columns
that are left out, the favourable value, warnings. What needs several columns of a row at once is not possible here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from ald._core.arrays import AnyArray, IntArray
from ald.data.arrangement import own_halves
from ald.data.asked import refuse_amounts
from ald.data.coded import attribute_of
from ald.data.outcomes import against_note, confusion_cells, outcome_summaries
from ald.data.prepare import DataSummary, choose_columns, column_warnings, summarise, with_kinds
from ald.data.roles import Roles
from ald.data.table import Table, table_from
from ald.data.words import read_words
from ald.errors import InputError
from ald.remote.engines.blocks import KeyLayout
from ald.remote.engines.protocols import DROPPED, Blocks, ColumnCoder, RowCoder

if TYPE_CHECKING:
    from ald.remote.lazy import RemoteTable


@dataclass(frozen=True, kw_only=True, eq=False)
class PreparedRemote:
    """Coded rows on a cluster, what their bytes mean, and their summary, in which the cells are not yet counted."""

    blocks: Blocks
    layout: KeyLayout
    summary: DataSummary


def prepare_remote(remote: RemoteTable, roles: Roles, cell_names: Sequence[str], minimum_rows: int) -> PreparedRemote:
    """The rows as codes, where they are. The roles must be possible there: outcomes, attributes, a split."""
    if remote.rows < minimum_rows:
        raise InputError(f"{remote.source} has {remote.rows:,} rows, too few to audit: a tree needs {minimum_rows:,}")
    kept = remote.keep()
    marginals = dict(zip(remote.names, kept.marginals(), strict=True))
    columns = {
        name: read_words(remote.column(name, marginal), (roles.kinds or {}).get(name), marginal[1])
        for name, marginal in marginals.items()
    }
    # Its columns differ in length: each has every value once.
    table = Table(columns=columns, n_rows=remote.rows, source=remote.source, left_out=dict(remote.left_out))
    table = with_kinds(table, roles.kinds, roles.taken)
    refuse_amounts(table, roles, "amounts are added up in memory only, while this data stays where it is")
    found, left_out, hints = choose_columns(table, roles, lambda name: marginals[name][1], remote.rows)
    coded = [attribute_of(column) for column in found]
    layout = KeyLayout(
        attributes=tuple(attribute for attribute, _ in coded),
        n_cells=len(cell_names),
        has_halves=roles.split is not None,
    )

    def coder(name: str, numbers: AnyArray) -> ColumnCoder:
        return ColumnCoder(
            position=remote.names.index(name), values=marginals[name][0], numbers=numbers.astype(np.int64)
        )

    row_coder = RowCoder(
        layout=layout,
        columns=tuple(coder(column.name, codes) for column, (_, codes) in zip(found, coded, strict=True)),
        cells=tuple(coder(name, part) for name, part in _cell_parts(table, roles).items()),
        half=None if roles.split is None else coder(roles.split, _halves(table, roles, marginals[roles.split][1])),
    )
    summary = DataSummary(
        rows=remote.rows,
        outcomes=outcome_summaries(table, roles),
        cells=dict.fromkeys(cell_names, 0),
        attributes=tuple(summarise(column, marginals[column.name][1]) for column in found),
        left_out=tuple(left_out),
        warnings=(
            *remote.notes,
            *against_note(table, roles),
            *hints,
            *column_warnings(found, [table[name] for name in roles.outcome_columns], lambda name: marginals[name][1]),
        ),
    )
    return PreparedRemote(blocks=kept.encode(row_coder, remote.distinct), layout=layout, summary=summary)


def _cell_parts(table: Table, roles: Roles) -> dict[str, IntArray]:
    """Per outcome column what its values add to the confusion cell; rows in which one is missing are dropped."""
    names = list(dict.fromkeys(roles.outcome_columns))
    # All combinations of their values: the cell of each is the sum of what its values add to the first one's cell.
    own = [np.flatnonzero(~table[name].missing) for name in names]
    combined = np.array(list(product(*own))).T
    every = [table[name].take(rows) for name, rows in zip(names, combined, strict=True)]
    cells, _ = confusion_cells(table_from(every, table.source), roles, ordered_rows=False)
    grid = cells.astype(np.int64).reshape(tuple(map(len, own)))
    parts = {}
    for axis, name in enumerate(names):
        others = tuple(0 if i != axis else slice(None) for i in range(len(names)))
        first = int(grid[(0,) * len(names)])
        parts[name] = np.full(len(table[name].codes), DROPPED)
        parts[name][own[axis]] = np.asarray(grid[others]) - (first if axis else 0)
    return parts


def _halves(table: Table, roles: Roles, counts: IntArray) -> IntArray:
    assert roles.split is not None
    column = table[roles.split]
    alone = Table(columns={column.name: column}, n_rows=len(column.codes), source=table.source, counts=counts)
    half = own_halves(alone, roles, None, None)
    assert half is not None
    return half
