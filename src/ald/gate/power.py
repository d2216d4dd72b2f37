"""Whether an audit of this data would find a disparity at the limit: simulated, not assumed.

In every run hits are dealt out anew among the people of each rate's base, so that nobody differs; then one group of
about the smallest share that matters gets a disparity as large as the limit. The group is described by one attribute
or two, drawn at random. It is found if the audit lists a group that is the same finding. Amounts are dealt out anew
among all people, and everyone in the group has less by the limit; classes likewise, and one of them is rarer there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ald._core.arrays import BoolArray, IntArray
from ald.auditing import Request
from ald.data.asked import with_positions
from ald.data.columns import Column, from_numbers, is_interval_kind
from ald.data.outcomes import favourable_rows, is_amount, known_outcomes
from ald.data.scores import amounts_of_score
from ald.data.table import Table
from ald.notions import CELLS, RateCounter
from ald.options.config import get_default_notion
from ald.pipeline import run
from ald.questions import questions
from ald.results.audit import Audit
from ald.search.explore.representatives import SAME

RUNS = 100
POWER = 0.8
# Groups to draw from, and how far their share may be from the one asked for.
_DRAWN = 200
_NEAR = 1.5


@dataclass(frozen=True, kw_only=True)
class Power:
    """In how many of so many runs the planted disparity was found. Runs end once the answer is certain."""

    found: int
    runs: int

    @property
    def enough(self) -> bool:
        return self.found >= POWER * RUNS


def simulate_power(
    table: Table, asked: Request, limit: float, share: float, tell: Callable[[float], None] = lambda share: None
) -> Power:
    """How often a disparity of `limit` in a group of `share` of these people would have been found."""
    known, _ = known_outcomes(table, asked.roles.outcome_columns)
    table, asked = _as_amounts(_expand(table if known is None else table.take(known)), asked)
    rng = np.random.default_rng([asked.config.seed, 77])
    found = missed = 0
    needed = int(np.ceil(POWER * RUNS))
    while found < needed and missed <= RUNS - needed:
        tell((found + missed) / RUNS)
        if _one_run(table, asked, limit, share, rng):
            found += 1
        else:
            missed += 1
    return Power(found=found, runs=found + missed)


def _expand(table: Table) -> Table:
    """A row per person: outcomes are dealt out to people."""
    if table.counts is None:
        return table
    return replace(table.take(np.repeat(np.arange(table.n_rows), table.counts)), counts=None)


def _as_amounts(table: Table, asked: Request) -> tuple[Table, Request]:
    """The same question about an amount, or about what is asked of a score, row by row, as one column of numbers."""
    roles, config = asked.roles, asked.config
    if config.mean is None:
        return table, asked
    name = roles.score or roles.outcomes[0]
    columns = {other: column for other, column in table.columns.items() if other != roles.truth}
    if roles.score is not None:
        columns[name] = from_numbers(name, amounts_of_score(table, roles, config.mean))
    else:
        columns = dict(with_positions(table, roles).columns)
    kinds = {other: kind for other, kind in (roles.kinds or {}).items() if other in columns and other != name}
    roles = replace(roles, outcome=name, score=None, truth=None, favourable=None, kinds=kinds)
    config = replace(config, outcome=name, score=None, truth=None, favourable=None, notion=get_default_notion())
    return replace(table, columns=columns), replace(asked, roles=roles, config=config)


def _one_run(table: Table, asked: Request, limit: float, share: float, rng: np.random.Generator) -> bool:
    names = [name for name in table.names if name not in asked.roles.taken and name not in asked.roles.given]
    group = _draw_group([table[name] for name in names if table[name].n_codes > 1], share, rng)
    simulated = _without_disparity(table, asked, group, limit, rng)
    config = replace(asked.config, seed=int(rng.integers(2**31)))
    audit = run(simulated, asked.roles, config, threads=asked.source.threads)
    return any(_same(finding_mask, group) for finding_mask in _masks(audit, table))


def _masks(audit: Audit, table: Table) -> list[BoolArray]:
    found = []
    for finding in (*audit.groups, *audit.further()):
        member = np.ones(table.n_rows, bool)
        for condition in finding.criterion:
            member &= table[condition.attribute].matches(condition)
        found.append(member)
    return found


def _same(a: BoolArray, b: BoolArray) -> bool:
    if a.all() or b.all() or not a.any() or not b.any():
        return False
    return abs(float(np.corrcoef(a, b)[0, 1])) >= SAME


def _draw_group(columns: list[Column], share: float, rng: np.random.Generator) -> BoolArray:
    """A random group of about this share of the people, by one attribute or two."""
    best: tuple[float, BoolArray] | None = None
    for _ in range(_DRAWN):
        chosen = rng.permutation(len(columns))[: int(rng.integers(1, min(2, len(columns)) + 1))]
        member = np.ones(len(columns[0].codes), bool)
        for j in chosen.tolist():
            member &= _draw_condition(columns[j], share ** (1 / len(chosen)), rng)
        found = max(float(member.mean()), 1e-9)
        off = abs(np.log(found / share))
        if best is None or off < best[0]:
            best = (off, member)
        if off <= np.log(_NEAR):
            return member
    assert best is not None
    return best[1]


def _draw_condition(column: Column, share: float, rng: np.random.Generator) -> BoolArray:
    """People with some levels, or within an interval, that hold about this share of all."""
    people = np.bincount(column.codes, minlength=column.n_codes + 1)
    n = len(column.codes)
    if is_interval_kind(column.kind) or column.kind == "ordinal":
        order, start = np.arange(column.n_codes), int(rng.integers(column.n_codes))
        order = order[start:]
    else:
        order = rng.permutation(column.n_codes)
    taken = int(np.searchsorted(np.cumsum(people[order]), share * n)) + 1
    return np.isin(column.codes, order[:taken])


def _without_disparity(table: Table, asked: Request, group: BoolArray, limit: float, rng: np.random.Generator) -> Table:
    """The table with outcomes dealt out anew, and a disparity of `limit` in the group."""
    roles, config = asked.roles, asked.config
    if config.classes:
        return replace(table, columns={**table.columns, **_dealt_classes(table, asked, group, limit, rng)})
    if config.outcomes and is_amount(table[config.outcomes[0]], roles.favourable_of(config.outcomes[0])):
        column = table[config.outcomes[0]]
        assert column.values is not None
        amounts = rng.permutation(column.values[column.codes])
        amounts[group] -= limit
        return replace(table, columns={**table.columns, column.name: from_numbers(column.name, amounts)})
    if config.outcomes:
        columns = {}
        for name in config.outcomes:
            now = favourable_rows(table[name], roles.favourable_of(name), "outcome")
            dealt = _dealt(now, np.ones(len(now), bool), group, limit, rng)
            columns[name] = _recode(table[name], now, dealt)
        return replace(table, columns={**table.columns, **columns})
    assert roles.prediction is not None
    assert roles.truth is not None
    predicted = favourable_rows(table[roles.prediction], roles.favourable, "prediction")
    true = favourable_rows(table[roles.truth], roles.favourable, "truth")
    cells = 2 * true.astype(np.int64) + predicted
    for question in questions(config):
        counter = RateCounter(question.notion.rates, len(CELLS))
        for r in range(len(question.notion.rates)):
            cells = _dealt_cells(cells, _sets(counter, r), group, limit, rng)
    columns = {
        roles.prediction: _recode(table[roles.prediction], predicted, (cells & 1).astype(bool)),
        roles.truth: _recode(table[roles.truth], true, (cells >> 1).astype(bool)),
    }
    return replace(table, columns={**table.columns, **columns})


def _dealt_classes(
    table: Table, asked: Request, group: BoolArray, limit: float, rng: np.random.Generator
) -> dict[str, Column]:
    """Classes dealt out anew; in the group the most frequent is rarer by `limit`, or fewer predictions are right."""
    names = asked.config.outcome_columns
    order = rng.permutation(table.n_rows)
    dealt = {name: replace(table[name], codes=table[name].codes[order]) for name in names}
    column, words = dealt[names[0]], np.array(dealt[names[0]].words())
    said = words[column.codes]
    if asked.config.outcomes:
        counts = np.bincount(column.codes, minlength=len(words))
        hit = column.codes == counts.argmax()
    else:
        hit = said == np.array(dealt[names[1]].words())[dealt[names[1]].codes]
    leaves = np.flatnonzero(hit & group & (rng.random(len(hit)) < limit / max(float(hit.mean()), limit)))
    codes = column.codes.copy()
    # Any other class, as likely as people have it.
    drawn = rng.permutation(column.codes)[: len(leaves)]
    again = drawn == codes[leaves]
    drawn[again] = (drawn[again] + rng.integers(1, len(words), int(again.sum()))) % len(words)
    codes[leaves] = drawn
    return {**dealt, names[0]: replace(column, codes=codes)}


def _sets(counter: RateCounter, r: int) -> tuple[BoolArray, BoolArray]:
    """Which confusion cells are the base of a rate, and which of them are its hits."""
    one = np.eye(len(CELLS), dtype=np.int64)
    return counter.base(one)[r] > 0, counter.hit(one)[r] > 0


def _dealt_cells(
    cells: IntArray, sets: tuple[BoolArray, BoolArray], group: BoolArray, limit: float, rng: np.random.Generator
) -> IntArray:
    """Hits of one rate dealt out among the people of its base: another prediction, or where that leaves the base
    another truth, makes a hit of a miss."""
    base, hits = sets
    partner = np.arange(len(base))
    for cell in np.flatnonzero(base).tolist():
        other = cell ^ 1 if base[cell ^ 1] and hits[cell ^ 1] != hits[cell] else cell ^ 2
        partner[cell] = other
    in_base = base[cells]
    now = hits[cells]
    dealt = _dealt(now, in_base, group, limit, rng)
    return np.where(in_base & (dealt != now), partner[cells], cells)


def _dealt(now: BoolArray, in_base: BoolArray, group: BoolArray, limit: float, rng: np.random.Generator) -> BoolArray:
    """Hits at random among the people of the base; in the group less often by `limit`, or more often if rare."""
    out = now.copy()
    rate = float(now[in_base].mean()) if in_base.any() else 0.0
    out[in_base] = rng.permutation(now[in_base])
    planted = rate - limit if rate >= limit else rate + limit
    inside = in_base & group
    out[inside] = rng.random(int(inside.sum())) < min(planted, 1.0)
    return out


def _recode(column: Column, now: BoolArray, wanted: BoolArray) -> Column:
    """The column with other values for those who change: the first value of the other kind."""
    codes = column.codes.copy()
    for kind in (True, False):
        source = np.flatnonzero(now == kind)
        if len(source):
            codes[(wanted == kind) & (now != kind)] = column.codes[source[0]]
    return replace(column, codes=codes)
