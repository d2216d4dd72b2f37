"""A second opinion on tests, correction and ranking: plain loops and textbook formulas, and nothing of the package.

People are dictionaries, groups lists of conditions as the document has them, and p-values floating-point numbers: data
here is small enough that none underflows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import nan, sqrt
from typing import Any

from scipy import optimize, stats

Person = dict[str, Any]
# A rate: who counts for it, and who of these is a hit.
Rate = tuple[Callable[[Person], bool], Callable[[Person], bool]]

RATES: dict[str, list[Rate]] = {
    "statistical parity": [(lambda p: True, lambda p: bool(p["y"]))],
    "equalized odds": [
        (lambda p: not p["t"], lambda p: bool(p["y"])),
        (lambda p: bool(p["t"]), lambda p: not p["y"]),
    ],
    "predictive equality": [(lambda p: not p["t"], lambda p: bool(p["y"]))],
    "own": [(lambda p: True, lambda p: bool(p["y"])), (lambda p: bool(p["t"]), lambda p: not p["y"])],
}
# Which sign is good for people: who is falsely taken for a positive gets what is good, and a false negative misses it.
BETTER = {"statistical parity": [1], "equalized odds": [1, -1], "predictive equality": [1], "own": [1, -1]}


@dataclass
class Opinion:
    """What one group's test says; NaN is undefined."""

    size: int
    psi: float
    p: float
    interval: tuple[float, float] = (nan, nan)


def is_member(person: Person, conditions: Sequence[dict[str, Any]]) -> bool:
    """Whether a person satisfies all conditions, as docs/schema.md says what they mean."""
    return all(_holds(person[one["attribute"]], one) for one in conditions)


def _holds(value: Any, condition: dict[str, Any]) -> bool:
    if "levels" in condition:
        inside = value in condition["levels"]
        return (not inside and value is not None) if condition.get("negated") else inside
    if value is None or value != value:
        return False
    low, high, closed = condition["lower"], condition["upper"], condition.get("closed", "right")
    if low is not None and not (value >= low if closed in ("left", "both") else value > low):
        return False
    return high is None or (value <= high if closed in ("right", "both") else value < high)


def assess(
    people: Sequence[Person],
    conditions: Sequence[dict[str, Any]],
    notion: str,
    *,
    given: str | None = None,
    reference: Sequence[dict[str, Any]] | str = "rest",
    direction: int = 0,
    threshold: float = 0.0,
) -> Opinion:
    """The test of one group: independent people, chi2 without a continuity correction, exact where few are expected."""
    inside = [person for person in people if is_member(person, conditions)]
    others = [person for person in people if not is_member(person, conditions)]
    if not isinstance(reference, str):
        others = [person for person in others if is_member(person, reference)]
    differences, ps = [], []
    for (counts, hits), better in zip(RATES[notion], BETTER[notion], strict=True):
        tables = _tables(inside, others, counts, hits, given)
        shown = _tables(inside, people if reference == "all" else others, counts, hits, given)
        differences.append(_mean_difference(shown, tables))
        ps.append(_p(tables, direction * better, threshold, stratified=given is not None))
    several = len(differences) > 1
    psi = sum(map(abs, differences)) / len(differences) if several else differences[0]
    return Opinion(size=len(inside), psi=psi, p=_combine(ps, differences, notion, direction))


def _tables(
    inside: Sequence[Person],
    others: Sequence[Person],
    counts: Callable[[Person], bool],
    hits: Callable[[Person], bool],
    given: str | None,
) -> list[tuple[int, int, int, int]]:
    """Per stratum hits and base inside, and hits and base outside."""
    strata = sorted({person[given] for person in (*inside, *others)}) if given else [None]
    out = []
    for stratum in strata:
        sides = [[p for p in side if counts(p) and (given is None or p[given] == stratum)] for side in (inside, others)]
        (a, n), (b, m) = ((sum(map(hits, side)), len(side)) for side in sides)
        out.append((a, n, b, m))
    return out


def _mean_difference(shown: list[tuple[int, int, int, int]], compared: list[tuple[int, int, int, int]]) -> float:
    """The difference of rates, weighted over strata as Mantel and Haenszel do."""
    total = weights = 0.0
    for (a, n, b, m), (_, n_in, _, n_out) in zip(shown, compared, strict=True):
        if n_in and n_out:
            weight = n_in * n_out / (n_in + n_out)
            total, weights = total + weight * (a / n - b / m), weights + weight
    return total / weights if weights else nan


def _p(tables: list[tuple[int, int, int, int]], side: int, threshold: float, *, stratified: bool) -> float:
    """The p-value of one rate: Pearson's chi2, Cochran-Mantel-Haenszel's, or the score test at the threshold."""
    if threshold:
        return _beyond(tables, threshold)
    # Strata that say nothing are left out: an empty side, or one outcome only.
    telling = [(a, n, b, m) for a, n, b, m in tables if n and m and 0 < a + b < n + m]
    if telling and _least_expected(telling) < 20:
        return _exact(telling, side)
    if not stratified:
        ((a, n, b, m),) = tables
        hits, misses = a + b, n + m - a - b
        if 0 in (n, m, hits, misses):
            return nan
        root = sqrt((n + m) / (n * m * hits * misses)) * (a * (m - b) - b * (n - a))
    else:
        excess = variance = 0.0
        for a, n, b, m in tables:
            total, hits = n + m, a + b
            if total > 1 and n and m:
                excess += a - n * hits / total
                variance += n * m * hits * (total - hits) / (total**2 * (total - 1))
        if variance <= 1e-12:
            return nan
        root = excess / sqrt(variance)
    return float(2 * stats.norm.sf(abs(root)) if side == 0 else stats.norm.sf(side * root))


def _least_expected(tables: list[tuple[int, int, int, int]]) -> float:
    """The smallest of the four counts that one expects without any difference, of all strata together."""
    a, n, b, m = (sum(table[i] for table in tables) for i in range(4))
    return min(n, m) * min(a + b, n + m - a - b) / (n + m)


def _exact(tables: list[tuple[int, int, int, int]], side: int) -> float:
    """p of the hits inside, given all margins: how likely so many are, or as unlikely ones, if nothing differs."""
    chances = [1.0]
    for a, n, b, m in tables:
        own = [float(stats.hypergeom.pmf(k, n + m, a + b, n)) for k in range(n + 1)]
        chances = [
            sum(chances[j] * own[k - j] for j in range(len(chances)) if 0 <= k - j < len(own))
            for k in range(len(chances) + n)
        ]
    seen = sum(a for a, *_ in tables)
    if side:
        return sum(chance for k, chance in enumerate(chances) if (k - seen) * side >= 0)
    return min(1.0, sum(chance for chance in chances if chance <= chances[seen] * (1 + 1e-7)))


def _beyond(tables: list[tuple[int, int, int, int]], threshold: float) -> float:
    """p of a difference no larger than the threshold, with the most likely rates at that boundary."""
    ((a, n, b, m),) = tables
    if not n or not m or a + b in (0, n + m):
        return nan
    difference = a / n - b / m
    at = threshold if difference >= 0 else -threshold

    def unlikely(rate: float) -> float:
        out = rate - at
        return -float(stats.binom.logpmf(a, n, rate) + stats.binom.logpmf(b, m, out))

    low, high = max(at, 0.0), min(1.0 + at, 1.0)
    rate = float(optimize.minimize_scalar(unlikely, bounds=(low, high), method="bounded", options={"xatol": 1e-12}).x)
    error = sqrt(rate * (1 - rate) / n + (rate - at) * (1 - rate + at) / m)
    tails = [(abs(difference) - threshold) / error, (abs(difference) + threshold) / error]
    return float(min(sum(stats.norm.sf(z) for z in tails), 1.0))


def _combine(ps: list[float], differences: list[float], notion: str, direction: int) -> float:
    """One p-value of several rates: Fisher's where nobody counts for two, else the smallest times their number."""
    if len(ps) == 1:
        return ps[0]
    if any(p != p for p in ps):
        return nan
    if direction and not any(d * direction * side > 0 for d, side in zip(differences, BETTER[notion], strict=True)):
        return 1.0
    if notion == "equalized odds":
        return float(stats.combine_pvalues(ps, method="fisher").pvalue)
    return min(1.0, len(ps) * min(ps))


def assess_robustly(
    people: Sequence[Person],
    conditions: Sequence[dict[str, Any]],
    *,
    cluster: str | None = None,
    weight: str | None = None,
    given: str | None = None,
    level: float = 0.05,
) -> Opinion:
    """The test of one group's rate where rows belong to clusters or weigh differently: loops over rows and pairs.

    The difference is that of a weighted regression with an effect of every stratum; p is the larger one of the normal
    test with a common correlation within clusters, and of Student's with the sandwich of cluster sums.
    """
    rows = [(i, p, is_member(p, conditions)) for i, p in enumerate(people)]
    mean_weight = sum(p[weight] for p in people) / len(people) if weight else 1.0
    strata: dict[Any, list[tuple[int, Person, bool]]] = {}
    for row in rows:
        strata.setdefault(row[1][given] if given else None, []).append(row)
    parts: dict[Any, list[tuple[float, float, float, float]]] = {}
    excess = scale = 0.0
    for members in strata.values():
        w = {i: p[weight] / mean_weight if weight else 1.0 for i, p, _ in members}
        total, own = sum(w.values()), sum(w[i] for i, _, inside in members if inside)
        share, mean = own / total, sum(w[i] * p["y"] for i, p, _ in members) / total
        units = len({p[cluster] for _, p, _ in members} if cluster else members)
        for i, p, inside in members:
            centred = inside - share
            excess, scale = excess + w[i] * centred * (p["y"] - mean), scale + w[i] * centred**2
            lever = w[i] * centred * sqrt(units / (units - 1)) if units > 1 else w[i] * centred
            unit = p[cluster] if cluster else i
            parts.setdefault(unit, []).append((lever, p["y"] - mean, centred, mean * (1 - mean)))
    if scale == 0:
        return Opinion(size=sum(inside for *_, inside in rows), psi=nan, p=nan)
    sums = [(sum(v * e for v, e, *_ in one), sum(v * c for v, _, c, _ in one)) for one in parts.values()]
    sandwich = [sum(a * a for a, _ in sums), sum(a * b for a, b in sums), sum(b * b for _, b in sums)]
    alone = [sum(v * v * spread for v, _, _, spread in one) for one in parts.values()]
    steady = sum(alone) + _correlation(parts) * max(_together(parts), 0.0)
    df = max(sum(alone) ** 2 / sum(v * v for v in alone) - 1, 1.0)
    difference = excess / scale

    def p_of(d: float) -> float:
        sandwiched = max(sandwich[0] - 2 * d * sandwich[1] + d * d * sandwich[2], 1e-300)
        z, t = (abs(difference - d) * scale / sqrt(max(variance, 1e-300)) for variance in (steady, sandwiched))
        return float(max(2 * stats.norm.sf(z), 2 * stats.t.sf(t, df)))

    ends = []
    for side in (-1.0, 1.0):
        accepted = [d for d in (difference + side * step / 100 for step in range(201)) if p_of(d) > level]
        last, limit = max(accepted, key=lambda d: side * d), side
        ends.append(limit if side * last >= 1 else optimize.brentq(lambda d: p_of(d) - level, last, last + side / 100))
    low, high = ends
    size = sum(inside for *_, inside in rows)
    return Opinion(size=size, psi=difference, p=p_of(0.0), interval=(max(low, -1.0), min(high, 1.0)))


def _correlation(parts: dict[Any, list[tuple[float, float, float, float]]]) -> float:
    """That of the outcomes of two rows of one cluster, over all pairs; no less than 0."""
    products = pairs = 0.0
    for one in parts.values():
        known = [error / sqrt(spread) for _, error, _, spread in one if spread > 0]
        products += sum(a * b for i, a in enumerate(known) for b in known[:i])
        pairs += len(known) * (len(known) - 1) / 2
    return min(max(products / pairs, 0.0), 1.0) if pairs else 0.0


def _together(parts: dict[Any, list[tuple[float, float, float, float]]]) -> float:
    """What pairs of rows of one cluster would add to the variance if they were alike."""
    total = 0.0
    for one in parts.values():
        levers = [lever * sqrt(spread) for lever, _, _, spread in one]
        total += 2 * sum(a * b for i, a in enumerate(levers) for b in levers[:i])
    return total


def correct(ps: Sequence[float], method: str) -> list[float]:
    """p-values corrected for their number, undefined ones apart: by their definitions, for each by itself."""
    known = sorted(p for p in ps if p == p)
    m = len(known)
    if method == "none":
        return list(ps)
    if method == "bonferroni":
        return [min(1.0, p * m) if p == p else nan for p in ps]
    harmonic = sum(1 / k for k in range(1, m + 1)) if method == "by" else 1.0
    scaled = [harmonic * m * p / (k + 1) for k, p in enumerate(known)]
    # Of equal p-values the largest rank counts.
    return [min(1.0, *(s for s, q in zip(scaled, known, strict=True) if q >= p)) if p == p else nan for p in ps]
