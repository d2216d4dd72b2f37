"""Two models on the same people: which groups gain or lose when the first is replaced by the second.

The search is the instability tree of A. Chouldechova and M. G'Sell, "Fairer and more accurate, but for whom?" (FATML
2017), on one random half of the people; its leaves are tested on the other half. Everyone's response is how the second
model's contribution to a rate differs from the first's, so both models' errors on the same person do not count twice.
Test and interval are of one number: the mean response of a group less that of everyone else, the change of its gap.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ald._core.arrays import FloatArray, IntArray
from ald._core.shortage import shortage_in_words
from ald._core.spelling import either_spelling
from ald.comparison.conditional_tree import CellResponse
from ald.comparison.instability_tree import paired_response, where_difference_changes
from ald.comparison.means import assess_means, interval_of, log_p_of, pair_means, search_means
from ald.data.asked import with_cuts
from ald.data.coded import AuditData, merge
from ald.data.columns import as_word, from_levels
from ald.data.inputs.fingerprint import note_file
from ald.data.inputs.memory import parse_size
from ald.data.inputs.reading import reading_of
from ald.data.inputs.sources import load
from ald.data.notes import tell_notes
from ald.data.outcomes import favourable_rows, is_amount, known_outcomes
from ald.data.prepare import DataSummary, prepare
from ald.data.roles import Roles
from ald.data.table import Table
from ald.errors import SettingError, shown
from ald.groups.membership import count_members
from ald.groups.rules import candidates, decode
from ald.groups.tree import CodedCriterion
from ald.notions import CELLS, Mean, Notion, RateCounter, get_notion
from ald.options.config import AuditConfig
from ald.options.objects import Source
from ald.options.table import of_command, several
from ald.results.comparison import ChangedGroup, Comparison, RateChange
from ald.results.privacy import too_few
from ald.statistics.basics import adjust as adjust_p
from ald.statistics.basics import combine_bonferroni, combine_fisher, round_reported
from ald.statistics.paired import Pairs, Sample

_DOMINATED = (
    "one person in a hundred holds more than half of what changes: means say little, and the rank test decides which "
    "groups are listed."
)


@either_spelling
@shortage_in_words()
def compare(
    data: Any,
    *,
    predictions: Sequence[str],
    truth: str,
    favourable: Any = None,
    notion: str | Notion = "equalized odds",
    attributes: str | Sequence[str] | None = None,
    weights: str | None = None,
    alpha: float = 0.1,
    groups: int = 3,
    level: float = 0.05,
    adjust: Literal["bh", "by", "bonferroni", "none"] = "bh",
    min_group_size: int = 10,
    seed: int = 0,
) -> Comparison:
    """Which groups gain or lose when the first of two models is replaced by the second.

    predictions: the columns of the first and the second model's predictions, coded as the truth. With a notion of
        scores, such as "calibration", they are probabilities; with "residual", "absolute error" or "squared error"
        predictions of a number, which is the truth. alpha: a node splits
    while p is below it. All other settings are those of `ald.audit`; `data` may be an `ald.source(...)` too.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> sex, truth = rng.choice(["f", "m"], 4000), rng.integers(2, size=4000)
    >>> old = np.where(rng.random(4000) < 0.2, 1 - truth, truth)
    >>> new = np.where((sex == "f") & (rng.random(4000) < 0.3), 1, old)
    >>> found = compare({"sex": sex, "y": truth, "old": old, "new": new}, predictions=["old", "new"], truth="y")
    >>> print(found.groups[0].criterion)
    sex = f
    """
    names = several(predictions)
    if not all(isinstance(name, str) for name in names) or len(names) != 2 or names[0] == names[1]:
        raise SettingError(f"predictions must name two different columns, the first model's and the second's, not "
                           f"{shown(predictions)}")  # fmt: skip
    first, second = names
    options = of_command("compare")
    for key, value in {"truth": truth, "favourable": favourable, "attributes": attributes, "weights": weights}.items():
        options[key].check_form(value)
    notion = get_notion(notion)
    settings = _Settings(
        source=data if isinstance(data, Source) else Source(data=data),
        first=first,
        second=second,
        truth=truth,
        favourable=favourable,
        attributes=None if attributes is None else several(attributes),
        weights=weights,
        alpha=alpha,
        level=level,
        adjust=adjust,
        seed=seed,
    )
    asked: dict[str, Any] = {"groups": groups, "alpha": alpha, "level": level, "adjust": adjust, "seed": seed,
                             "min_group_size": min_group_size, "truth": truth,
                             "favourable": None if favourable is None else as_word(favourable)}  # fmt: skip
    mean = notion.rates[0]
    if isinstance(mean, Mean):
        if not mean.of_score:
            raise SettingError(f"the notion {notion.name!r} says nothing of two models")
        compared = _compare_means(settings, AuditConfig(notion=notion, score=first, **asked), mean)
    else:
        compared = _compare_rates(settings, AuditConfig(notion=notion, prediction=first, **asked), notion)
    file = note_file(settings.source.data)
    n_tested, people = len(compared.tested), compared.summary.rows_assess
    tested = [group for group in compared.tested if not too_few(group.size, people - group.size, min_group_size)]
    significant = [group for group in tested if group.log_p_adjusted <= np.log(level)]
    return Comparison(
        config=compared.config,
        second=second,
        confidence=_rounded(compared.confidence),
        data_summary=replace(compared.summary, warnings=tell_notes(compared.summary.warnings, min_group_size)),
        overall=compared.overall,
        groups=tuple(significant[:groups]),
        tested=tuple(tested),
        n_significant=len(significant),
        input_name=None if file is None else os.path.basename(file.path),
        input_sha256=None if file is None else file.sha256(),
        hidden=n_tested - len(tested),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Settings:
    """What is compared, and how."""

    source: Source
    first: str
    second: str
    truth: str
    favourable: Any
    attributes: tuple[str, ...] | None
    weights: str | None
    alpha: float
    level: float
    adjust: Literal["bh", "by", "bonferroni", "none"]
    seed: int


@dataclass(frozen=True, kw_only=True, eq=False)
class _Compared:
    """What a comparison found, before anything is hidden. confidence: of its intervals."""

    config: AuditConfig
    summary: DataSummary
    overall: dict[str, tuple[float, float]]
    tested: list[ChangedGroup]
    confidence: float


def _compare_rates(settings: _Settings, config: AuditConfig, notion: Notion) -> _Compared:
    response = paired_response(notion.rates)
    roles = Roles(prediction=settings.first, truth=settings.truth, favourable=settings.favourable,
                  weights=settings.weights, kinds=settings.source.kinds, attributes=settings.attributes)  # fmt: skip
    paired, summary = _pair(_load(settings, roles), roles, settings.second)
    d1, d2 = paired.halves(np.random.default_rng(settings.seed))
    forest = where_difference_changes(d1, notion.rates, alpha=settings.alpha)
    criteria = _one_side(candidates(forest, d1).criteria, d1, response)
    tested, confidence = _assess_groups(criteria, d2, notion, response, settings.level, settings.adjust)
    everyone = d2.cell_counts()
    return _Compared(
        config=config,
        summary=replace(summary, rows_search=d1.total, rows_assess=d2.total),
        overall={rate.key: _both(everyone, rate_at, notion) for rate_at, rate in enumerate(notion.rates)},
        tested=tested,
        confidence=confidence,
    )


def _compare_means(settings: _Settings, config: AuditConfig, mean: Mean) -> _Compared:
    roles = Roles(score=settings.first, truth=settings.truth, favourable=settings.favourable,
                  weights=settings.weights, kinds=settings.source.kinds, attributes=settings.attributes)  # fmt: skip
    paired, summary, mean = pair_means(_load(settings, roles), roles, settings.second, mean)
    d1, d2 = paired.halves(np.random.default_rng(settings.seed))
    criteria = search_means(d1, settings.alpha)
    found = assess_means(criteria, d2)
    log_p = np.array([log_p_of(contrast) for _, contrast in found])
    adjusted, order, wide = _corrected(log_p, settings.adjust, settings.level)
    everyone, tested = d2.means(np.ones(len(d2.data.cells), bool)), []
    for i in order:
        mask, contrast = found[i]
        (first_in, second_in), (first_out, second_out) = (
            [_rounded(value) for value in d2.means(side)] for side in (mask, ~mask)
        )
        low, high = interval_of(contrast, wide)
        size = d2.data.people(mask)
        tested.append(
            ChangedGroup(
                criterion=decode(criteria[i], d2.data.attributes),
                size=size,
                share=_rounded(size / d2.data.total),
                change=_rounded(float(contrast.difference[0])),
                rates=(
                    RateChange(
                        rate=mean.key,
                        first_inside=first_in,
                        first_outside=first_out,
                        second_inside=second_in,
                        second_outside=second_out,
                        interval=(_rounded(low), _rounded(high)),
                    ),
                ),
                statistic=_rounded(float(contrast.statistic[0])),
                log_p=_rounded_log(log_p[i]),
                log_p_adjusted=_rounded_log(adjusted[i]),
            )
        )
    if any(contrast.dominated for _, contrast in found):
        summary = replace(summary, warnings=(*summary.warnings, _DOMINATED))
    return _Compared(
        config=replace(config, notion=replace(config.notions[0], rates=(mean,))),
        summary=replace(summary, rows_search=d1.data.total, rows_assess=d2.data.total),
        overall={mean.key: everyone},
        tested=tested,
        confidence=1 - wide,
    )


def _corrected(
    log_p: FloatArray, adjust: Literal["bh", "by", "bonferroni", "none"], level: float
) -> tuple[FloatArray, list[int], float]:
    """Corrected p-values, the order by p (undefined ones are left out), and the level of intervals.

    The intervals of significant groups allow for their having been picked from those tested.
    """
    adjusted = adjust_p(log_p, adjust)
    order = [int(i) for i in np.argsort(log_p, kind="stable") if not np.isnan(log_p[i])]
    n_significant = sum(adjusted[i] <= np.log(level) for i in order)
    return adjusted, order, level * max(n_significant, 1) / max(len(order), 1)


def _load(settings: _Settings, roles: Roles) -> Table:
    """The people of whom both models and the truth are known."""
    source, second = settings.source, settings.second
    if second in (roles.truth, roles.weights, *(roles.attributes or ())):
        raise SettingError(f"column {second!r} cannot be both a prediction and something else")
    needed = None if roles.needed is None else (*roles.needed, second)
    reading = reading_of(roles, {}, parse_size(source.memory_limit), source.query, source.threads or 1)
    reading = replace(reading, needed=needed, exact=reading.exact | {second})
    data = source.data
    if source.engine is not None:
        from ald.remote.engines.opening import open_with

        data = open_with(data, source.engine, source.query)
    table = load(data, needed, reading)
    known, left_out = known_outcomes(table, (*roles.outcome_columns, second))
    return table if known is None else replace(table.take(known), notes=tuple(left_out))


def _pair(table: Table, roles: Roles, second: str) -> tuple[AuditData, DataSummary]:
    """Coded people whose cell says 4 * truth + 2 * first prediction + second prediction."""
    for name in (str(roles.prediction), second):
        table = with_cuts(table, replace(roles, prediction=name))
        if roles.favourable is None and is_amount(table[name], None):
            raise SettingError(
                f"predictions {name!r} are numbers with more than two values. Where they are probabilities, compare "
                "them by notion='calibration', 'Brier score', 'log loss' or 'mean score' (command line: --notion); "
                "where they predict a number, by 'residual', 'absolute error' or 'squared error'; or cut them in two, "
                "as in favourable='>= 0.5'."
            )
    predicted = favourable_rows(table[second], roles.favourable, "prediction")
    plain = from_levels(second, predicted.astype(np.int64), ("false", "true"), kind="boolean")
    wanted = None if roles.attributes is None else (*roles.attributes, second)
    table = replace(table, columns={**table.columns, second: plain})
    prepared = prepare(table, replace(roles, attributes=wanted), CELLS)
    names = [attribute.name for attribute in prepared.data.attributes]
    at = names.index(second)
    kept = [a for a in range(len(names)) if a != at]
    if not kept:
        raise SettingError("no attribute is left that could describe a group")
    coded = prepared.data
    paired = merge(
        AuditData(
            attributes=tuple(coded.attributes[a] for a in kept),
            codes=tuple(coded.codes[a] for a in kept),
            cells=(2 * coded.cells + coded.codes[at]).astype(np.uint8),
            counts=coded.counts,
            n_cells=8,
        )
    )
    summary = prepared.summary
    return paired, replace(summary, attributes=tuple(a for a in summary.attributes if a.name != second))


def _both(counts: IntArray, rate: int, notion: Notion) -> tuple[float, float]:
    """A rate of the first and of the second model from counts per paired cell."""
    out = []
    for bit in (1, 0):
        single = np.zeros(4, dtype=np.int64)
        for cell in range(8):
            single[2 * (cell >> 2) + ((cell >> bit) & 1)] += counts[cell]
        rates = RateCounter(notion.rates, 4)
        hit, base = int(rates.hit(single)[rate]), int(rates.base(single)[rate])
        out.append(hit / base if base else float("nan"))
    return out[0], out[1]


def _one_side(criteria: Sequence[CodedCriterion], data: AuditData, response: CellResponse) -> list[CodedCriterion]:
    """The criteria without complements: a group and everyone else differ by one change, which is one finding.

    The two leaves of a tree are such, and so are leaves that hold everyone who counts for the rates. The side stays in
    which predictions changed more. `data` is what the tree grew on.
    """
    inside, everyone = count_members(criteria, data), data.cell_counts()
    counts = response.base.any(axis=0)
    samples = _samples(inside, response)
    moved = np.nan_to_num(np.abs(samples.mean)).sum(axis=1)
    kept: list[int] = []
    for i in np.argsort(-moved, kind="stable").tolist():
        whole = ((inside[i] + inside[j] == everyone)[counts].all() for j in kept)
        if not any(whole) and not (kept and len(criteria) == 2):
            kept.append(i)
    return [criteria[i] for i in sorted(kept)]


def _assess_groups(
    criteria: Sequence[CodedCriterion],
    data: AuditData,
    notion: Notion,
    response: CellResponse,
    level: float,
    adjust: Literal["bh", "by", "bonferroni", "none"],
) -> tuple[list[ChangedGroup], float]:
    """The groups as tested on this data, smallest p first (undefined ones are left out), and their confidence."""
    inside = count_members(criteria, data)
    everyone = data.cell_counts()
    pairs = Pairs(inside=_samples(inside, response), outside=_samples(everyone - inside, response))
    per_rate = pairs.log_p.T
    disjoint = RateCounter(notion.rates, 4).disjoint
    log_p = combine_fisher(per_rate)[1] if disjoint and len(per_rate) > 1 else combine_bonferroni(per_rate)
    adjusted, order, wide = _corrected(log_p, adjust, level)
    low, high = pairs.interval(wide / len(notion.rates))
    out = []
    for i in order:
        changes = tuple(
            _rate_change(inside[i], everyone - inside[i], r, notion, (_rounded(low[i, r]), _rounded(high[i, r])))
            for r in range(len(notion.rates))
        )
        values = np.array([change.change for change in changes])
        out.append(
            ChangedGroup(
                criterion=decode(criteria[i], data.attributes),
                size=int(inside[i].sum()),
                share=_rounded(inside[i].sum() / everyone.sum()),
                change=_rounded(notion.psi(values[:, None])[0]),
                rates=changes,
                statistic=_rounded(pairs.statistic[i].max()),
                log_p=_rounded_log(log_p[i]),
                log_p_adjusted=_rounded_log(adjusted[i]),
            )
        )
    return out, 1 - wide


def _samples(counts: IntArray, response: CellResponse) -> Sample:
    """Counts per group and paired cell as responses per group and rate."""
    people, total, squares = (value.astype(np.int64) for value in response.sums(counts.astype(float)))
    return Sample(up=(squares + total) // 2, down=(squares - total) // 2, people=people)


def _rate_change(
    inside: IntArray, outside: IntArray, rate: int, notion: Notion, interval: tuple[float, float]
) -> RateChange:
    (first_in, second_in), (first_out, second_out) = (
        [_rounded(value) for value in _both(counts, rate, notion)] for counts in (inside, outside)
    )
    return RateChange(
        rate=notion.rates[rate].key,
        first_inside=first_in,
        first_outside=first_out,
        second_inside=second_in,
        second_outside=second_out,
        interval=interval,
    )


def _rounded(value: float) -> float:
    """The number as documents have it, so that what is read back is what was found."""
    found = round_reported(value)
    return float("nan") if found is None else found


def _rounded_log(log_p: float) -> float:
    """The same of a natural logarithm, of which documents have the decimal one."""
    return _rounded(log_p / np.log(10)) * float(np.log(10))
