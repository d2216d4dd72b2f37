"""A look at data before it is audited: what is in it, what its columns may be, and what to do next."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np

from ald._core.arrays import IntArray
from ald._core.shortage import shortage_in_words
from ald._core.spelling import either_spelling
from ald.assess.assessment import assessment_terms
from ald.assess.power import Detectable, detectable, detectable_means
from ald.data.asked import amount_asked
from ald.data.coded import AuditData, weighted_bincount
from ald.data.columns import Column, as_word
from ald.data.guesses import Guess, audited_columns, favourable_value, is_protected, is_split, weights_kind
from ald.data.inputs.addresses import is_address, mask_secrets
from ald.data.inputs.memory import parse_size
from ald.data.inputs.reading import Reading
from ald.data.inputs.sources import load_or_leave
from ald.data.notes import tell_notes
from ald.data.outcomes import counted_value, some
from ald.data.prepare import LeftOut, judge_column, prepare, with_kinds
from ald.data.roles import Roles
from ald.data.table import Table
from ald.errors import InputError, SettingError, shorten, shown
from ald.groups.criterion import format_bound
from ald.notions import AMOUNT_CELLS, CELLS, NOTIONS, OUTCOME_CELLS, Mean, Notion, RateCounter
from ald.options.config import AuditConfig, mean_notion
from ald.options.objects import Source
from ald.options.table import READING, of_command
from ald.results.look import ColumnLook, LevelCount, Look, Part
from ald.results.privacy import too_few
from ald.search.explore.representatives import PER_LISTED
from ald.search.giveaways import giveaways

# Pieces of a histogram, and levels that are shown.
PIECES, LEVELS = 16, 5


@either_spelling
@shortage_in_words()
def look(
    data: Any,
    *,
    outcome: str | None = None,
    favourable: Any = None,
    prediction: str | None = None,
    truth: str | None = None,
    min_group_size: int = 10,
) -> Look:
    """What is in the data, what its columns may be, what an audit could see in it, and the next command.

    data: as for `ald.audit`, an `ald.source(...)` too.
    outcome, favourable, prediction, truth: what the audit will be about; guessed by names and values if not given.
    min_group_size: values of fewer people are not shown, and no smaller counts.

    >>> import ald
    >>> seen = ald.look(ald.datasets.load_berkeley())
    >>> seen.outcome, seen.favourable, seen.column("gender").kind
    ('admitted', 'yes', 'nominal')
    """
    options = of_command("look")
    asked = {"outcome": outcome, "favourable": favourable, "prediction": prediction, "truth": truth}
    for key, value in asked.items():
        if isinstance(value, str) or key == "favourable":
            options[key].check_form(value)
        elif value is not None:
            raise SettingError(f"{key} must be the name of a column (text), not {shown(value)}")
    options["min_group_size"].check(min_group_size)
    source = data if isinstance(data, Source) else Source(data=data)
    table = load_source(source)
    if table.rows == 0:
        raise InputError(f"{table.source} has no rows")
    guess = _read_options(table, favourable, outcome=outcome, prediction=prediction, truth=truth) or audited_columns(
        table
    )
    left_out, hints = _left_out(table, guess)
    mean = None if guess is None else amount_asked(table, _roles(guess))
    warnings, prepared = _prepare(table, guess, mean)
    telling = [] if guess is None or prepared is None or mean is not None else _telling(prepared, guess)
    parts = tuple(_parts(table, guess, hints, telling, mean))
    chosen = _options(table, guess, telling, mean)
    by_column = {part.column: part.part for part in parts}
    return Look(
        source=table.source,
        rows=table.rows,
        columns=tuple(
            _without_few(_column(column, table.counts, by_column), table.rows, min_group_size)
            for column in table.columns.values()
        ),
        parts=parts,
        left_out=left_out,
        warnings=tell_notes(warnings, min_group_size),
        min_group_size=min_group_size,
        notions=() if guess is None or mean is not None else _fitting(guess),
        mean=mean,
        favourable=None if guess is None else guess.favourable,
        **({} if guess is None else guess.parts),
        detectable=() if guess is None or prepared is None else _detectable(prepared, guess, mean),
        command=_command(source, chosen),
        python=_python(source, chosen),
    )


_TELLS = "gives the outcome away"


def load_source(source: Source) -> Table:
    """All columns, if they fit."""
    data = source.data
    if source.engine is not None:
        from ald.remote.engines.opening import open_with

        data = open_with(data, source.engine, source.query)
    kinds = source.kinds or {}
    reading = Reading(kinds=kinds, memory_limit=parse_size(source.memory_limit), query=source.query)
    found = load_or_leave(data, None, reading)
    if not isinstance(found, Table):
        raise InputError(
            "this data has more different rows than fit into memory, so it cannot be looked at as a whole: look at a "
            "sample of it, such as data.sample(fraction=0.01), or give more memory_limit"
        )
    return with_kinds(found, kinds)


def _read_options(table: Table, favourable: Any, **columns: str | None) -> Guess | None:
    """What the user says that the audit is about; None if nothing was said."""
    if not any(columns.values()):
        if favourable is not None:
            raise SettingError("favourable is a value of the outcome: say which column that is (outcome=...)")
        return None
    guess = Guess(favourable=None, reason="as you say", **columns)
    _roles(guess)  # raises if they do not go together
    for name in guess.parts.values():
        table[name]  # raises if there is no such column
    return replace(
        guess, favourable=favourable_value(_first(table, guess)) if favourable is None else as_word(favourable)
    )


def _column(column: Column, counts: IntArray | None, parts: dict[str, str]) -> ColumnLook:
    """What is shown of a column."""
    people = np.ones(len(column.codes), np.int64) if counts is None else counts
    sizes = weighted_bincount(column.codes, people, column.n_codes + 1)
    rows, missing = int(sizes.sum()), int(sizes[-1])
    shown = ColumnLook(
        name=column.name,
        kind=column.kind,
        distinct=column.n_codes,
        missing=missing,
        missing_share=missing / rows,
        part=parts.get(column.name, ""),
    )
    if column.values is None or column.n_codes <= LEVELS:
        words = column.words()
        order = sorted(range(column.n_codes), key=lambda i: (-int(sizes[i]), i))[:LEVELS]
        return replace(shown, levels=tuple(LevelCount(level=words[i], rows=int(sizes[i])) for i in order))
    low, high = float(column.values[0]), float(column.values[-1])
    # Halves: the width of the widest range overflows.
    place = (column.values / 2 - low / 2) / max(high / 2 - low / 2, 5e-324)
    at = np.minimum((place * PIECES).astype(np.int64), PIECES - 1)
    histogram = weighted_bincount(at, sizes[:-1], PIECES)
    return replace(
        shown,
        low=_short(low, column.kind),
        high=_short(high, column.kind),
        histogram=tuple(int(n) for n in histogram),
    )


def _without_few(column: ColumnLook, rows: int, least: int) -> ColumnLook:
    """The column without numbers of rows that are too small to be told."""
    missing = column.missing
    if missing is not None and too_few(missing, rows - missing, least):
        column = replace(column, missing=None, missing_share=None)
    return replace(
        column,
        levels=tuple(one for one in column.levels if not too_few(one.rows, rows - one.rows, least)),
        histogram=tuple(None if n is None or too_few(n, rows - n, least) else n for n in column.histogram),
    )


def _short(value: float, kind: str) -> str:
    """The end of a range, numbers with a few digits only."""
    if kind != "numeric":
        return format_bound(value, kind)
    return f"{value:.0f}" if 1e6 <= abs(value) < 1e15 else f"{value:.6g}"


def _left_out(table: Table, guess: Guess | None) -> tuple[tuple[LeftOut, ...], dict[str, str]]:
    """The columns that an audit would leave out, and what to do with some of them, by column."""
    out = [LeftOut(name=name, reason=reason) for name, reason in table.left_out.items()]
    hints: dict[str, str] = {}
    for name, column in table.columns.items():
        if guess is None or name not in guess.parts.values():
            reason, hint = judge_column(column, table.counts, table.rows)
            out += [LeftOut(name=name, reason=reason)] if reason else []
            hints |= {name: hint} if hint else {}
    return tuple(out), hints


def _parts(
    table: Table, guess: Guess | None, hints: Collection[str], telling: Collection[str], mean: Mean | None
) -> Iterator[Part]:
    """What the columns may be."""
    taken = guess.parts if guess else {}
    for part, name in taken.items():
        assert guess is not None
        which = f"; {_favourable_reason(table[name], guess)}" if part != "truth" else ""
        if mean is not None:
            low, high = (_short(float(end), "numeric") for end in np.asarray(table[name].values)[[0, -1]])
            which = f"; a number from {low} to {high}, compared by its mean"
        yield Part(part=part, column=name, reason=guess.reason + which)
    for name, column in table.columns.items():
        if name in taken.values():
            continue
        weights = weights_kind(column)
        if guess is not None and name in telling:
            yield Part(
                part=_TELLS,
                column=name,
                reason=f"one condition on it tells {guess.result!r} nearly always: a copy of it, or the rule itself?",
            )
        elif name in hints:
            yield Part(part="cluster", column=name, reason="an identifier that repeats: whose row it is?")
        elif weights:
            yield Part(part=weights, column=name, reason="by its name and values: how much a row counts")
        elif is_split(column):
            yield Part(part="split", column=name, reason="it seems to say which half a row belongs to")
        elif is_protected(name):
            yield Part(part="protected", column=name, reason="by its name: an attribute that laws protect")


def _favourable_reason(column: Column, guess: Guess) -> str:
    words = [repr(shorten(word)) for word in column.words() if word != guess.favourable]
    shown = ", ".join(some(words))
    if guess.favourable is not None:
        return f"{guess.favourable!r} counts as good for people, against {shown}"
    return f"say which of its values is good for people: {shown}"


def _telling(prepared: AuditData, guess: Guess) -> list[str]:
    """The columns that give the outcome away, as a search judges them, here on everyone."""
    found = giveaways(prepared, RateCounter(_notion(guess).rates, prepared.n_cells))
    return [prepared.attributes[condition.attribute].name for (condition,) in found]


def _prepare(table: Table, guess: Guess | None, mean: Mean | None) -> tuple[tuple[str, ...], AuditData | None]:
    """What an audit would say of the data, and the data as it would see it; None if it would refuse."""
    if guess is None:
        return (
            "no column has two values, and no number is named like an outcome: say which column it is, or make a "
            "yes/no column",
        ), None
    try:
        prepared = prepare(
            table,
            _roles(guess if mean is not None else replace(guess, favourable=_counting_value(table, guess))),
            AMOUNT_CELLS if mean is not None else OUTCOME_CELLS if guess.outcome else CELLS,
            look_at_order=True,
            mean=mean,
        )
    except InputError as error:
        return (f"an audit would refuse this: {error}",), None
    return prepared.summary.warnings, prepared.data


def _counting_value(table: Table, guess: Guess) -> str:
    """The value that counts; where the user has to say which one does, any: as many people are told apart."""
    first = _first(table, guess)
    return guess.favourable or counted_value(first) or next(iter(first.words()), "")


def _first(table: Table, guess: Guess) -> Column:
    """The outcome, or the prediction."""
    return table[next(iter(guess.parts.values()))]


def _roles(guess: Guess) -> Roles:
    return Roles(
        outcome=guess.outcome,
        prediction=guess.prediction,
        truth=guess.truth,
        favourable=guess.favourable,
    )


def _fitting(guess: Guess) -> tuple[str, ...]:
    """The notions that the columns can answer."""
    return tuple(name for name, notion in NOTIONS.items() if not (guess.outcome and notion.needs_truth))


def _notion(guess: Guess) -> Notion:
    """The notion of the next step."""
    return NOTIONS["statistical parity" if guess.outcome else "equalized odds"]


def _detectable(prepared: AuditData, guess: Guess, mean: Mean | None) -> tuple[Detectable, ...]:
    """What an audit with the default settings could see on the half that it keeps for the tests."""
    notion = _notion(guess) if mean is None else mean_notion(mean)
    config = AuditConfig(notion=notion, **guess.parts)  # type: ignore[arg-type]
    tests, terms = ceil(PER_LISTED * config.groups), assessment_terms(config)
    if mean is not None:
        return detectable_means(prepared, notion, terms, tests, kept=1.0 - config.fraction)
    assessed = (prepared.cell_counts() * (1.0 - config.fraction)).astype(np.int64)
    return detectable(assessed, notion, terms, tests)


def _options(table: Table, guess: Guess | None, telling: Sequence[str], mean: Mean | None) -> dict[str, Any]:
    """The options of the next step, by their names in Python."""
    if guess is None:
        return {"outcome": "COLUMN"}
    options: dict[str, Any] = dict(guess.parts)
    if guess.favourable is not None:
        options["favourable"] = guess.favourable
    elif mean is None and counted_value(_first(table, guess)) is None:
        options["favourable"] = "VALUE"
    options |= {} if guess.outcome else {"notion": _notion(guess).name}
    return options | ({"exclude": list(telling)} if telling else {})


def _command(source: Source, options: dict[str, Any]) -> str:
    """The next step on the command line."""
    if not isinstance(source.data, (str, os.PathLike)):
        return ""
    words = ["ald", "audit", _name_source(source.data)]
    for name in ("query", "engine", "memory_limit"):
        value = getattr(source, name)
        words += [] if value is None else [f"--{name.replace('_', '-')}", str(value)]
    for name, kind in (source.kinds or {}).items():
        words += ["--kind", f"{name}={kind if isinstance(kind, str) else '<'.join(kind)}"]
    for name, value in options.items():
        for one in value if isinstance(value, list) else [value]:
            words += [f"--{name}", _as_csv(one) if name == "exclude" else one]
    return shlex.join(words)


def _as_csv(name: str) -> str:
    """A name as lists of columns take it."""
    return '"' + name.replace('"', '""') + '"' if re.search(r'[,"]|^\s|\s$', name) else name


def _python(source: Source, options: dict[str, Any]) -> str:
    """The next step in Python."""
    first = repr(_name_source(source.data)) if isinstance(source.data, (str, os.PathLike)) else "data"
    reading = [f"{name}={getattr(source, name)!r}" for name in READING if getattr(source, name) is not None]
    if reading:
        first = f"ald.source({', '.join([first, *reading])})"
    return f"ald.audit({', '.join([first, *(f'{name}={value!r}' for name, value in options.items())])})"


def _name_source(data: str | os.PathLike[str]) -> str:
    """The file, or the address of a database without its password."""
    text = os.fspath(data)
    return mask_secrets(text) if is_address(text) else text
