"""Data that is too large to be read as it stands: DuckDB counts equal rows, or its codes go to files on disk.

Columns of numbers with very many different values are cut into fine quantile bins first. A bin is known by its largest
value, so that whatever is said about bounds is true of the data itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, prod
from pathlib import Path

import numpy as np

from ald._core.arrays import FloatArray, IntArray
from ald.data.columns import Column, from_numbers, precision_note
from ald.data.identifiers import (
    IDENTIFIER_SHARE,
    Occurrences,
    judge_repeats,
    may_repeat,
    numbers_reason,
    words_reason,
)
from ald.data.inputs.bins import MOST_BINS, cut_note, free_bins, named_bounds
from ald.data.inputs.reading import Reading
from ald.data.inputs.relation import MISSING, ROWS, Relation, as_text, column, columns_of, literal, measure, would_merge
from ald.data.inputs.store import Coder, count_distinct, store_columns
from ald.data.notes import Note
from ald.data.table import Table, table_from
from ald.data.words import ADORNMENT, LONGEST, SIGNS, WRITTEN, are_one_measure, read_words, written_note
from ald.errors import InputError, shorten

# Rows from which the cut points are taken: all, if they are not more.
_SAMPLE = 1 << 24
# First rows by which to tell whether many rows are alike.
_LOOK = 1 << 20


@dataclass(frozen=True, kw_only=True)
class _Shape:
    """What is known of a column before it is read: about how many different values, how many rows have one."""

    distinct: int
    known: int
    infinite: int


def reduce_relation(relation: Relation, reading: Reading, folder: Path) -> Table:
    """The data as a table of counted rows, or where hardly any rows are alike of codes that stay on disk.

    The connection must have a workspace in this folder, and the relation is read several times.
    """
    relation = relation.only(reading.needed)
    if not relation.columns:
        return Table(columns={}, n_rows=relation.count(), source=relation.source)
    return _Reduction(relation, reading, folder).table()


class _Reduction:
    """One reduction: what is known of the columns, and what is made of them."""

    def __init__(self, relation: Relation, reading: Reading, folder: Path) -> None:
        self.reading, self.folder = reading, folder
        self.relation = self._as_days(relation)
        self.rows = relation.count()
        if self.rows == 0:
            raise InputError(f"{relation.source} has no rows")
        self.shapes: dict[str, _Shape] = {}
        self.notes: dict[str, tuple[str, ...]] = {}
        self.hints: list[str] = []
        self.most_distinct = min(self.rows // 2, reading.most_distinct)

    def table(self) -> Table:
        """The reduced data."""
        if self._looks_alike():
            table = self._counted_by_value()
            if table is not None and not any(self._has_many(each) for each in table.columns.values()):
                return table
            self.relation.connection.execute("DROP TABLE t")
        self.shapes = self._look()
        self._read_numbers_in_words()
        left_out = self._identifiers()
        self.relation = self.relation.only([name for name in self.relation.columns if name not in left_out])
        binned = [name for name in self.relation.columns if self._is_binned(name)]
        possible = prod(shape.distinct + 1 for name, shape in self.shapes.items() if name not in left_out)
        table = None if binned or possible > self.most_distinct else self._counted_by_value()
        if table is None:
            columns = self._store_columns(binned)
            merged = count_distinct(columns, self.most_distinct)
            if merged is None:
                table = table_from(columns, self.relation.source)
            else:
                table = replace(table_from(merged[0], self.relation.source), counts=merged[1])
        return replace(table, left_out=left_out, binned=frozenset(binned), notes=tuple(self.hints))

    def _looks_alike(self) -> bool:
        """Whether the first rows suggest that there are few different ones."""
        look = f"SELECT {self.relation.selection()} FROM {self.relation.sql} LIMIT {_LOOK}"
        distinct = self.relation.row(f"SELECT count(*) FROM (SELECT DISTINCT * FROM ({look}))")[0]
        return bool(2 * distinct <= min(_LOOK, self.rows))

    def _has_many(self, each: Column) -> bool:
        """Whether a column of numbers has so many values that it is cut into bins."""
        return each.values is not None and each.n_codes > MOST_BINS and each.name not in self.reading.exact

    def _as_days(self, relation: Relation) -> Relation:
        """The relation with times as dates, where the user says so: a bin that ends within a day has no date."""
        columns = dict(relation.columns)
        for name, (sql, kind) in columns.items():
            if self.reading.kinds.get(name) == "date" and kind.startswith("TIMESTAMP"):
                days = f"CAST(floor(epoch_us({sql}) / 86400000000) AS INTEGER)"
                columns[name] = f"CASE WHEN isinf({sql}) THEN 'infinity' ELSE DATE '1970-01-01' + {days} END", "DATE"
        return replace(relation, columns=columns)

    def _look(self) -> dict[str, _Shape]:
        """One pass over the data: about how many different values each column has."""
        parts = []
        for sql, kind in self.relation.columns.values():
            infinite = f"count_if(isinf({sql}))" if kind.startswith(("FLOAT", "DOUBLE", "DATE", "TIMESTAMP")) else "0"
            parts += [f"approx_count_distinct({sql})", f"count({sql})", infinite]
        found = self.relation.row(f"SELECT {', '.join(parts)} FROM {self.relation.sql}")
        return {
            name: _Shape(distinct=found[3 * i], known=found[3 * i + 1], infinite=found[3 * i + 2])
            for i, name in enumerate(self.relation.columns)
        }

    def _read_numbers_in_words(self) -> None:
        """Columns of very many words that are numbers but for words such as "NA", or as people write numbers, become
        numbers, with a note."""
        for name, (sql, kind) in dict(self.relation.columns).items():
            if kind != "VARCHAR" or name in self.reading.exact or self.shapes[name].distinct <= MOST_BINS:
                continue
            number, absent = f"TRY_CAST(trim({sql}) AS DOUBLE)", f"lower(trim({sql})) IN ({MISSING})"
            strange = f"count_if(NOT {absent} AND ({number} IS NULL OR contains({sql}, '_')))"
            asked = f"count_if({absent}), count_if(isinf({number})), count_if(isfinite({number})), {strange}"
            gone, infinite, finite, odd = self.relation.row(f"SELECT {asked} FROM {self.relation.sql}")
            if (gone or infinite) and finite and not odd:
                self._take_as_number(name, number, infinite)
                if gone:
                    self.notes[name] = (_absent_note(name, gone),)
            elif odd:
                self._read_written(name, sql, absent)

    def _read_written(self, name: str, sql: str, absent: str) -> None:
        """A column becomes one of numbers, if all its words are numbers as people write them."""
        bare = f"regexp_replace({sql}, {literal(ADORNMENT)}, '', 'g')"
        strange = f"NOT regexp_full_match(trim({sql}), {literal(WRITTEN)}) OR length({bare}) > {LONGEST}"
        signs = f"regexp_replace({sql}, {literal(f'[^{SIGNS}]')}, '', 'g')"
        asked = f"count_if({strange}), list(DISTINCT {signs}), min({sql}) FILTER (trim({sql}) != {bare})"
        odd, found, example = self.relation.row(f"SELECT {asked} FROM {self.relation.sql} WHERE NOT {absent}")
        if not odd and are_one_measure(set(found)):
            self._take_as_number(name, f"TRY_CAST({bare} AS DOUBLE)", 0)
            self.notes[name] = (written_note(name, example),)

    def _take_as_number(self, name: str, number: str, infinite: int) -> None:
        columns = self.relation.columns | {name: (number, "DOUBLE")}
        self.relation = replace(self.relation, columns=columns)
        self.shapes[name] = replace(self.shapes[name], infinite=infinite)

    def _identifiers(self) -> dict[str, str]:
        """Columns that identify people rather than describe them, unless the user wants them."""
        if self.reading.needed is not None:
            return {}
        out = {}
        for name, (sql, kind) in self.relation.columns.items():
            shape = self.shapes[name]
            if name in self.reading.exact or name in self.reading.kinds or name in self.reading.named:
                continue
            is_number = measure(sql, kind) is not None
            if shape.distinct <= MOST_BINS or (is_number and "INT" not in kind):
                continue
            if not is_number and shape.distinct > IDENTIFIER_SHARE * shape.known:
                out[name] = words_reason(shape.distinct, shape.known, about=True)
            elif is_number and shape.known == self.rows and shape.distinct > IDENTIFIER_SHARE * self.rows:
                distinct = self.relation.row(f"SELECT count(DISTINCT {sql}) FROM {self.relation.sql}")[0]
                if distinct == self.rows:
                    out[name] = numbers_reason(self.rows)
            if name not in out and may_repeat(shape.distinct, shape.known):
                reason, hint = judge_repeats(name, self._occurrences(sql), is_number=is_number)
                out |= {name: reason} if reason else {}
                self.hints += [hint] if hint and not self.reading.cluster else []
        return out

    def _occurrences(self, sql: str) -> Occurrences:
        """How often the values of a column occur."""
        sizes = f"SELECT count(*) AS n FROM {self.relation.sql} WHERE {sql} IS NOT NULL GROUP BY {sql}"
        found = self.relation.connection.execute(f"SELECT n, count(*) FROM ({sizes}) GROUP BY n").fetchall()
        rows, values = (np.array(column, dtype=np.int64) for column in zip(*found, strict=True))
        return Occurrences(rows=rows, values=values)

    def _is_binned(self, name: str) -> bool:
        is_number = measure(*self.relation.columns[name]) is not None
        return is_number and name not in self.reading.exact and self.shapes[name].distinct > MOST_BINS

    def _counted_by_value(self) -> Table | None:
        """The distinct rows with their numbers, all values as they are; None if they are too many."""
        relation = self.relation
        grouped = f"SELECT {relation.selection()}, count(*) AS n FROM {relation.sql} GROUP BY ALL"
        relation.connection.execute(f"CREATE OR REPLACE TEMP TABLE t AS {grouped}")
        distinct = relation.as_table("t")
        if distinct.count() > self.most_distinct:
            return None
        counts = np.ma.getdata(relation.fetch("SELECT n FROM t")).astype(np.int64)
        columns = [self._read(each, counts) for each in columns_of(distinct, counts)]
        return replace(table_from(columns, relation.source), counts=counts)

    def _read(self, each: Column, counts: IntArray) -> Column:
        """A column of counted values with its words read, and what was said of it before."""
        return self._with_notes(read_words(each, self.reading.kinds.get(each.name), counts))

    def _with_notes(self, each: Column) -> Column:
        return replace(each, notes=(*self.notes.get(each.name, ()), *each.notes))

    def _store_columns(self, binned: Sequence[str]) -> list[Column]:
        """The columns with their codes in files."""
        if self.relation.sql != ROWS:
            self.relation = self.relation.keep()
        coders = [
            self._bin_people(name) if name in binned else self._exact(i, name)
            for i, name in enumerate(self.relation.columns)
        ]
        return store_columns(coders, self.relation, self.rows, self.folder)

    def _exact(self, i: int, name: str) -> Coder:
        """How to code a column by its distinct values."""
        sql, kind = self.relation.columns[name]
        if kind.endswith("BIGINT") and would_merge(self.relation, sql):
            sql, kind = f"CAST({sql} AS VARCHAR)", "VARCHAR"
            self.notes[name] = (precision_note(name),)
        number = measure(sql, kind)
        value = number[0] if number is not None else sql if kind == "BOOLEAN" else as_text(sql, kind)
        self.relation.connection.execute(
            f"CREATE TEMP TABLE d{i} AS SELECT {value} AS v, count(*) AS n FROM {self.relation.sql} "
            f"WHERE {sql} IS NOT NULL GROUP BY 1 ORDER BY 1"
        )
        counts = np.ma.getdata(self.relation.fetch(f"SELECT n FROM d{i}")).astype(np.int64)
        # The distinct values are a column themselves: what it becomes tells what the whole column becomes.
        if number is not None:
            values = np.ma.getdata(self.relation.fetch(f"SELECT v FROM d{i}")).astype(np.float64)
            edges = np.unique(values[np.isfinite(values)])
            shown = from_numbers(name, edges, number[1])
            shown = replace(shown, n_infinite=self.shapes[name].infinite)
            return Coder(column=self._with_notes(shown), expression=value, edges=edges)
        few = replace(self.relation, sql=f"d{i}", columns={name: ("v", "BOOLEAN" if kind == "BOOLEAN" else "VARCHAR")})
        shown = self._read(column(few, name, counts), counts)
        if kind == "BOOLEAN":
            translate = np.full(2, shown.n_codes)
            translate[np.ma.getdata(self.relation.fetch(f"SELECT CAST(v AS TINYINT) FROM d{i}"))] = shown.codes
            return Coder(column=shown, expression=f"CAST({sql} AS TINYINT)", translate=translate)
        if not len(counts):
            return Coder(column=shown, expression="CAST(NULL AS TINYINT)", translate=np.zeros(1, np.int64))
        self.relation.connection.execute(f"CREATE TEMP TYPE e{i} AS ENUM (SELECT v FROM d{i} ORDER BY v)")
        return Coder(
            column=shown, expression=f"enum_code(CAST({value} AS e{i}))", translate=shown.codes.astype(np.int64)
        )

    def _bin_people(self, name: str) -> Coder:
        """How to code a column by quantile bins."""
        number = measure(*self.relation.columns[name])
        assert number is not None
        expression, kind = number
        edges = self._edges(name, expression, kind)
        shown = from_numbers(name, edges, kind)
        if shown.kind != kind and not self._all_midnights(expression):
            shown = replace(shown, kind=kind, values=edges)
        shape = self.shapes[name]
        note = cut_note(name, shape.distinct, len(edges))
        shown = replace(shown, n_infinite=shape.infinite, notes=(note,), binned=True)
        return Coder(column=self._with_notes(shown), expression=expression, edges=edges)

    def _edges(self, name: str, expression: str, kind: str) -> FloatArray:
        """The largest values of the bins, all of them values of the data."""
        bounds = named_bounds(self.reading.named.get(name, ()), kind)
        share = ceil(self.rows / _SAMPLE)
        # The same rows every time, and not in step with anything in the data.
        chosen = f"((rowid % 4294967296)::UBIGINT * 2654435761) % 4294967296 < {2**32 // share}"
        values = self.relation.fetch(
            f"SELECT {expression} FROM {self.relation.sql} WHERE {chosen} AND {expression} IS NOT NULL"
        )
        sample = np.ma.getdata(values).astype(np.float64)
        sample = np.sort(sample[np.isfinite(sample)])
        bins = free_bins(bounds)
        edges = sample[np.ceil(len(sample) * np.arange(1, bins + 1) / bins).astype(np.int64) - 1]
        # The last bin ends with the largest value; those that groups in words name have a bin of their own.
        asked = [f"max(x) FILTER (x {sign} {bound!r})" for bound in bounds for sign in ("<", "<=")]
        finite = f"(SELECT CAST({expression} AS DOUBLE) AS x FROM {self.relation.sql})"
        extra = self.relation.row(f"SELECT {', '.join(['max(x)', *asked])} FROM {finite} WHERE isfinite(x)")
        return np.unique(np.concatenate([edges, [value for value in extra if value is not None]]))

    def _all_midnights(self, expression: str) -> bool:
        off = f"isfinite({expression}) AND {expression} % 86400000000 != 0"
        return not self.relation.row(f"SELECT count(*) FROM {self.relation.sql} WHERE {off}")[0]


def _absent_note(name: str, gone: int) -> Note:
    return Note.of(
        lambda people: f"{people(gone)} values of column {shorten(name)!r} were read as missing, all others are numbers"
    )
