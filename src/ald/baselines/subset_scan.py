"""Multivariate subset scan ("bias scan").

Source: Z. Zhang and D. B. Neill, "Identifying significant predictive bias in classifiers", FATML 2016
(arXiv:1611.08292); the penalised step within an attribute: S. Speakman, S. Somanchi, E. McFowland and D. B. Neill,
"Penalized fast subset scanning", JCGS 25 (2016).

A group is a set of levels per attribute. Its score is the log-likelihood ratio of "the odds of everyone in it are q
times those expected" against "as expected", at the best q, less a penalty per level named: q above 1 where more
happens than expected, below 1 where less does. Given the other attributes, the best set of levels of one attribute is
exact: at every q a level is worth including or not, and only where that changes another set can be best. Attributes
are optimised in turn, in random order, until nothing changes, from many random starts.

`search` is the adaptation to fairness notions: the overall rate is what is expected of everyone. `against_predictions`
is the original: predicted probabilities are what is expected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from ald._core.arrays import BoolArray, FloatArray, IntArray
from ald.baselines.interface import Ranked, Search
from ald.baselines.rounding import Rounded, rounded_view
from ald.data.coded import AuditData
from ald.data.inputs.sources import load
from ald.data.prepare import prepare
from ald.data.roles import Roles
from ald.errors import ColumnError
from ald.groups.criterion import Criterion
from ald.groups.derived import extend_data
from ald.groups.rules import decode, named_in
from ald.notions import OUTCOME_CELLS

# Score of the log-likelihood ratio that every level named must be worth.
PENALTY = 1.0
RESTARTS = 100
# The logarithm of q is looked for within this bound: beyond it nothing changes in double precision.
_BOUND = 40.0
_BISECTIONS = 32
_NEWTON = 30
# Groups kept, of all those in which some start ended.
_KEPT = 12

Subset = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Observed:
    """Rows with codes of levels per attribute: people, those of them with the outcome, and the log odds expected."""

    codes: IntArray  # [attributes, rows]; the number of levels stands for "missing"
    sizes: tuple[int, ...]
    people: FloatArray
    hits: FloatArray
    log_odds: FloatArray


@dataclass(frozen=True, kw_only=True)
class Scored:
    """A set of levels per attribute (empty: all of them), its direction (1: more than expected) and its score."""

    levels: Subset
    direction: int
    score: float


def search(request: Search, *, penalty: float = PENALTY, restarts: int = RESTARTS) -> Ranked:
    """The groups in which most more or fewer people have the outcome than at the overall rate, rate by rate."""
    view = rounded_view(request.data)
    found: list[Scored] = []
    for rate in range(len(request.rates.rates)):
        observed = observed_rate(view.data, request, rate)
        if observed is not None:
            found += scan(observed, request.rng, penalty=penalty, restarts=restarts)
    found.sort(key=lambda scored: (-scored.score, scored.levels))
    criteria: dict[Any, float] = {}
    for scored in found:
        criterion = view.criterion(scored.levels)
        if criterion:
            criteria.setdefault(criterion, scored.score)
    return Ranked(criteria=tuple(criteria), score=tuple(criteria.values()), derived=view.derive_attributes())


def observed_rate(data: AuditData, request: Search, rate: int) -> Observed | None:
    """The rows that count for a rate, all expected to have the overall rate; None where nothing varies."""
    one = np.eye(data.n_cells, dtype=np.int64)
    base, hit = request.rates.base(one)[rate][data.cells], request.rates.hit(one)[rate][data.cells]
    rows = np.flatnonzero(base)
    codes = np.stack([code[rows].astype(np.int64) for code in data.codes])
    distinct, at = np.unique(codes, axis=1, return_inverse=True)
    people = np.bincount(at, weights=data.counts[rows]).astype(float)
    hits = np.bincount(at, weights=data.counts[rows] * hit[rows]).astype(float)
    overall = hits.sum() / people.sum() if len(rows) else 0.0
    if not 0 < overall < 1:
        return None
    sizes = tuple(attribute.size for attribute in data.attributes)
    log_odds = np.full(len(people), special.logit(overall))
    return Observed(codes=distinct, sizes=sizes, people=people, hits=hits, log_odds=log_odds)


def scan(
    observed: Observed,
    rng: np.random.Generator,
    *,
    penalty: float = PENALTY,
    restarts: int = RESTARTS,
    directions: Sequence[int] = (1, -1),
) -> list[Scored]:
    """The groups in which the starts ended, in both directions, best first."""
    ends: dict[tuple[int, Subset], float] = {}
    for direction in directions:
        # Starts meet again: what is best for one attribute given the others is remembered.
        known: dict[tuple[int, bytes], tuple[BoolArray, float]] = {}
        for start in range(restarts):
            levels, score = _ascend(observed, direction, penalty, rng, known, everything=start == 0)
            ends[direction, levels] = score
    order = sorted(ends, key=lambda key: (-ends[key], key))[:_KEPT]
    return [Scored(levels=levels, direction=direction, score=ends[direction, levels]) for direction, levels in order]


def _ascend(
    observed: Observed,
    direction: int,
    penalty: float,
    rng: np.random.Generator,
    known: dict[tuple[int, bytes], tuple[BoolArray, float]],
    *,
    everything: bool,
) -> tuple[Subset, float]:
    """One start: attributes optimised in turn until none changes."""
    n = len(observed.sizes)
    # Entry [level] says whether a level is in the group; the last one stands for "missing", which only "all" holds.
    allowed = [np.ones(size + 1, dtype=bool) for size in observed.sizes]
    if not everything:
        for a, size in enumerate(observed.sizes):
            if rng.random() < 0.5:
                allowed[a] = np.append(_some(size, rng), False)
    score, unchanged = -np.inf, 0
    while unchanged < n:
        for a in rng.permutation(n).tolist():
            others = [(b, mask) for b, mask in enumerate(allowed) if b != a]
            key = a, b"".join(mask.tobytes() for _, mask in others)
            if key not in known:
                rows = np.logical_and.reduce([mask[observed.codes[b]] for b, mask in others], axis=0)
                known[key] = best_levels(observed, a, np.broadcast_to(rows, observed.people.shape), direction, penalty)
            mask, value = known[key]
            value -= penalty * sum(int(mask.sum()) for _, mask in others if not mask.all())
            if value > score + 1e-9:
                score, allowed[a], unchanged = value, mask, 0
            else:
                unchanged += 1
            if unchanged >= n:
                break
    return tuple(() if mask.all() else tuple(np.flatnonzero(mask).tolist()) for mask in allowed), score


def _some(size: int, rng: np.random.Generator) -> BoolArray:
    chosen = rng.random(size) < 0.5
    chosen[rng.integers(size)] = True
    return chosen


def best_levels(
    observed: Observed, attribute: int, rows: BoolArray, direction: int, penalty: float
) -> tuple[BoolArray, float]:
    """The best levels of one attribute among these rows, exactly, and their score less the penalty for naming them."""
    size = observed.sizes[attribute]
    code = observed.codes[attribute][rows]
    people, hits, log_odds = (column[rows] for column in (observed.people, observed.hits, observed.log_odds))
    terms = _merge(code, people, hits, log_odds, size + 1)
    everyone = np.ones((1, size + 1), dtype=bool)
    best, score = everyone[0], float(_scores(everyone, terms, direction)[0])
    subsets = _candidates(terms, size, direction, penalty)
    if len(subsets):
        values = _scores(subsets, terms, direction) - penalty * subsets.sum(axis=1)
        top = int(np.argmax(values))
        # Naming every level that can be named is no condition.
        if values[top] > score + 1e-12 and subsets[top].sum() < size:
            best, score = subsets[top], float(values[top])
    return best, score


@dataclass(frozen=True, kw_only=True)
class _Terms:
    """Per level its hits, and one entry per level and expectation that occurs."""

    hits: FloatArray
    level: IntArray
    people: FloatArray
    log_odds: FloatArray

    @property
    def is_flat(self) -> bool:
        return bool(len(self.log_odds) and np.ptp(self.log_odds) == 0)

    def totals(self, subsets: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Hits and people of sets of levels."""
        people = np.bincount(self.level, weights=self.people, minlength=len(self.hits)).astype(float)
        return subsets @ self.hits, subsets @ people


def _merge(code: IntArray, people: FloatArray, hits: FloatArray, log_odds: FloatArray, size: int) -> _Terms:
    flat = not len(log_odds) or np.ptp(log_odds) == 0
    distinct, expectation = (
        (log_odds[:1], np.zeros(len(code), np.int64)) if flat else np.unique(log_odds, return_inverse=True)
    )
    width = max(len(distinct), 1)
    key, at = np.unique(code * width + expectation, return_inverse=True)
    return _Terms(
        hits=np.bincount(code, weights=hits, minlength=size).astype(float),
        level=key // width,
        people=np.bincount(at, weights=people, minlength=len(key)).astype(float),
        log_odds=distinct[key % width] if len(key) else distinct[:0],
    )


def _candidates(terms: _Terms, size: int, direction: int, penalty: float) -> BoolArray:
    """Every set of levels that is best at some q: those whose gain exceeds the penalty there."""
    n = len(terms.hits)
    top = _peaks(terms, direction)
    gain = _gains(terms, top) - penalty
    useful = np.flatnonzero((gain > 0) & (np.arange(n) < size))
    if not len(useful):
        return np.zeros((0, n), dtype=bool)
    # The gain is concave in log q: it exceeds the penalty between two roots, one on each side of its peak.
    low = _roots(terms, np.zeros(n) if direction > 0 else np.full(n, -_BOUND), top, penalty)
    high = _roots(terms, np.full(n, _BOUND) if direction > 0 else np.zeros(n), top, penalty)
    ends = np.unique(np.concatenate([low[useful], high[useful]]))
    middles = (ends[1:] + ends[:-1]) / 2 if len(ends) > 1 else ends
    chosen = np.zeros((len(middles), n), dtype=bool)
    chosen[:, useful] = (low[useful] <= middles[:, None]) & (middles[:, None] <= high[useful])
    return np.unique(chosen[chosen.any(axis=1)], axis=0)


def _gains(terms: _Terms, theta: FloatArray) -> FloatArray:
    """Per level the log-likelihood ratio at its own log q."""
    at = theta[terms.level]
    change = terms.people * (np.logaddexp(0.0, at + terms.log_odds) - np.logaddexp(0.0, terms.log_odds))
    return np.asarray(terms.hits * theta - np.bincount(terms.level, weights=change, minlength=len(theta)))


def _peaks(terms: _Terms, direction: int) -> FloatArray:
    """Per level the best log q in this direction."""
    n = len(terms.hits)
    low, high = (np.zeros(n), np.full(n, _BOUND)) if direction > 0 else (np.full(n, -_BOUND), np.zeros(n))
    if terms.is_flat:
        return _flat_peaks(terms.hits, terms.totals(np.eye(n, dtype=bool))[1], terms.log_odds[0], direction)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        expected = np.bincount(
            terms.level, weights=terms.people * special.expit(middle[terms.level] + terms.log_odds), minlength=n
        )
        rising = terms.hits > expected
        low, high = np.where(rising, middle, low), np.where(rising, high, middle)
    return (low + high) / 2


def _flat_peaks(hits: FloatArray, people: FloatArray, log_odds: float, direction: int) -> FloatArray:
    """The best log q where the same is expected of everyone."""
    with np.errstate(divide="ignore", invalid="ignore"):
        best = np.nan_to_num(special.logit(hits / people) - log_odds, posinf=_BOUND, neginf=-_BOUND)
    return np.clip(best, *((0.0, _BOUND) if direction > 0 else (-_BOUND, 0.0)))


def _roots(terms: _Terms, far: FloatArray, peak: FloatArray, penalty: float) -> FloatArray:
    """Per level where the gain falls below the penalty on the way from its peak to the far end."""
    outside, inside = far.copy(), peak.copy()
    for _ in range(_BISECTIONS):
        middle = (outside + inside) / 2
        enough = _gains(terms, middle) > penalty
        inside, outside = np.where(enough, middle, inside), np.where(enough, outside, middle)
    return inside


def _scores(subsets: BoolArray, terms: _Terms, direction: int) -> FloatArray:
    """The log-likelihood ratio of sets of levels, each at its best q in this direction; without the penalty."""
    hits, people = terms.totals(subsets)
    low, high = (0.0, _BOUND) if direction > 0 else (-_BOUND, 0.0)
    if terms.is_flat:
        log_odds = terms.log_odds[0]
        theta = _flat_peaks(hits, people, log_odds, direction)
        return np.asarray(hits * theta - people * (np.logaddexp(0.0, theta + log_odds) - np.logaddexp(0.0, log_odds)))
    weights = subsets[:, terms.level] * terms.people
    lows, highs = np.full(len(subsets), low), np.full(len(subsets), high)
    theta = np.zeros(len(subsets))
    for _ in range(_NEWTON):
        share = special.expit(theta[:, None] + terms.log_odds)
        slope = hits - (weights * share).sum(axis=1)
        curve = (weights * share * (1 - share)).sum(axis=1)
        lows, highs = np.where(slope > 0, theta, lows), np.where(slope > 0, highs, theta)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = theta + slope / curve
        # Newton's step where it stays in the bracket, else bisection.
        theta = np.where((step > lows) & (step < highs), step, (lows + highs) / 2)
    change = np.logaddexp(0.0, theta[:, None] + terms.log_odds) - np.logaddexp(0.0, terms.log_odds)
    return np.asarray(np.maximum(hits * theta - (weights * change).sum(axis=1), 0.0))


@dataclass(frozen=True, kw_only=True)
class MisjudgedGroup:
    """A group whose outcomes the predicted probabilities misjudge: rates observed and expected, odds ratio, score."""

    criterion: Criterion
    size: int
    observed: float
    expected: float
    odds: float
    score: float


def against_predictions(
    data: Any,
    *,
    outcome: str,
    probability: str,
    favourable: Any = None,
    attributes: Sequence[str] | None = None,
    penalty: float = PENALTY,
    restarts: int = RESTARTS,
    seed: int = 0,
) -> tuple[MisjudgedGroup, ...]:
    """The original form: groups in which the outcome is more or less likely than the predicted probabilities say.

    Nothing is tested here: the groups are the most extreme ones found, whether or not chance explains them.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> sex, job = rng.choice(["f", "m"], 4000), rng.choice(["a", "b", "c"], 4000)
    >>> happened = rng.random(4000) < np.where((sex == "f") & (job == "b"), 0.7, 0.4)
    >>> table = {"sex": sex, "job": job, "p": np.full(4000, 0.4), "y": happened.astype(int)}
    >>> print(against_predictions(table, outcome="y", probability="p")[0].criterion)
    job = b and sex = f
    """
    table = load(data)
    column = table[probability]
    if column.values is None or column.missing.any() or column.values[0] <= 0 or column.values[-1] >= 1:
        raise ColumnError(f"probability {probability!r} must hold numbers above 0 and below 1, in every row")
    names = [name for name in attributes or table.names if name not in (outcome, probability)]
    kept = table if column.n_codes > 1 else None
    wanted = (*names, probability) if kept is not None else tuple(names)
    roles = Roles(outcome=outcome, favourable=favourable, attributes=wanted)
    coded = prepare(table, roles, OUTCOME_CELLS).data
    audited = [a for a, attribute in enumerate(coded.attributes) if attribute.name != probability]
    expected = column.values[0] if kept is None else column.values[coded.codes[-1]]
    plain = AuditData(
        attributes=tuple(coded.attributes[a] for a in audited),
        codes=tuple(coded.codes[a] for a in audited),
        cells=coded.cells,
        counts=coded.counts,
        n_cells=coded.n_cells,
    )
    view = rounded_view(plain)
    observed = Observed(
        codes=np.stack([code.astype(np.int64) for code in view.data.codes]),
        sizes=tuple(attribute.size for attribute in view.data.attributes),
        people=plain.counts.astype(float),
        hits=plain.counts * (plain.cells == 1).astype(float),
        log_odds=special.logit(np.broadcast_to(expected, plain.cells.shape)),
    )
    found = scan(observed, np.random.default_rng(seed), penalty=penalty, restarts=restarts)
    return tuple(_describe_misjudged(scored, observed, view, plain) for scored in found if any(scored.levels))


def _describe_misjudged(scored: Scored, observed: Observed, view: Rounded, data: AuditData) -> MisjudgedGroup:
    inside = np.ones(len(observed.people), dtype=bool)
    for levels, code in zip(scored.levels, observed.codes, strict=True):
        if levels:
            inside &= np.isin(code, levels)
    people, hits, log_odds = (x[inside] for x in (observed.people, observed.hits, observed.log_odds))
    terms = _merge(np.zeros(len(people), np.int64), people, hits, log_odds, 1)
    size = float(people.sum())
    whole = extend_data(data, view.derive_attributes())
    return MisjudgedGroup(
        criterion=decode(named_in(view.criterion(scored.levels), whole), whole.attributes),
        size=int(size),
        observed=float(hits.sum() / size),
        expected=float((people * special.expit(log_odds)).sum() / size),
        odds=float(np.exp(_peaks(terms, scored.direction)[0])),
        score=scored.score,
    )
