"""Two models on the same people: which groups gain or lose when the first is replaced by the second.

The search is the instability tree of A. Chouldechova and M. G'Sell, "Fairer and more accurate, but for whom?" (FATML
2017), on one random half of the people; its leaves are tested on the other half. Everyone's response is how the second
model's contribution to a rate differs from the first's, so both models' errors on the same person do not count twice.
Test and interval are of one number: the mean response of a group less that of everyone else, the change of its gap.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from ald._core.arrays import IntArray
from ald._core.shortage import shortage_in_words
from ald._core.spelling import either_spelling
from ald.comparison.conditional_tree import Response
from ald.comparison.instability_tree import paired_response, where_difference_changes
from ald.data.coded import AuditData, merge
from ald.data.columns import from_levels
from ald.data.inputs.memory import parse_size
from ald.data.inputs.reading import reading_of
from ald.data.inputs.sources import load
from ald.data.outcomes import favourable_rows, known_outcomes
from ald.data.prepare import DataSummary, prepare
from ald.data.roles import Roles
from ald.errors import SettingError, shown
from ald.groups.criterion import Criterion, visible
from ald.groups.membership import count_members
from ald.groups.rules import candidates, decode
from ald.groups.tree import CodedCriterion
from ald.groups.wording import readable
from ald.notions import CELLS, Notion, RateCounter, get_notion
from ald.options.config import AuditConfig
from ald.options.objects import Source
from ald.options.table import of_command, several
from ald.report.summary.sentences import LIMITATION
from ald.statistics.basics import adjust as adjust_p
from ald.statistics.basics import combine_bonferroni, combine_fisher, round_reported
from ald.statistics.paired import Pairs, Sample


@dataclass(frozen=True, kw_only=True)
class RateChange:
    """A rate of both models inside and outside a group; the gap is inside minus outside, the change its difference.

    interval: the changes that the score test does not reject.
    """

    rate: str
    first_inside: float
    first_outside: float
    second_inside: float
    second_outside: float
    interval: tuple[float, float]

    @property
    def gap_first(self) -> float:
        return self.first_inside - self.first_outside

    @property
    def gap_second(self) -> float:
        return self.second_inside - self.second_outside

    @property
    def change(self) -> float:
        return self.gap_second - self.gap_first


@dataclass(frozen=True, kw_only=True)
class ChangedGroup:
    """A group whose gap changed: sizes, rates, the change (mean absolute change of several rates) and how sure it is.

    statistic: of the score test, the largest of several rates; p-values as natural logarithms too.
    """

    criterion: Criterion
    size: int
    share: float
    change: float
    rates: tuple[RateChange, ...]
    statistic: float
    log_p: float
    log_p_adjusted: float

    @property
    def p_adjusted(self) -> float:
        return float(np.exp(self.log_p_adjusted))


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The result: groups whose gap changed significantly, all groups tested, and the models' overall rates.

    confidence: of the intervals, which allows for the significant groups having been picked from those tested.
    n_significant: how many of the tested groups are significant, listed or not.
    """

    first: str
    second: str
    truth: str
    notion: Notion
    level: float
    confidence: float
    data_summary: DataSummary
    overall: Mapping[str, tuple[float, float]]
    groups: tuple[ChangedGroup, ...]
    tested: tuple[ChangedGroup, ...]
    n_significant: int

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain data."""
        return {
            "first": self.first,
            "second": self.second,
            "truth": self.truth,
            "notion": self.notion.name,
            "level": self.level,
            "confidence": round_reported(self.confidence),
            "rows": self.data_summary.rows,
            "rows_search": self.data_summary.rows_search,
            "rows_assess": self.data_summary.rows_assess,
            "warnings": list(self.data_summary.warnings),
            "overall": {key: [round_reported(value) for value in pair] for key, pair in self.overall.items()},
            "significant": self.n_significant,
            "groups": [_plain(group) for group in self.groups],
            "tested": [_plain(group) for group in self.tested],
            "limitation": LIMITATION,
        }

    def to_json(self) -> str:
        """The comparison as JSON. Same comparison, same bytes."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def to_markdown(self) -> str:
        """The comparison as a Markdown report."""
        lines = [f"# {visible(self._headline())}", ""]
        if self.groups:
            lines += ["| group | people | rate | first model's gap | second model's gap | change | interval | adj. p |",
                      "|---|--:|---|--:|--:|--:|--:|--:|"]  # fmt: skip
            for group in self.groups:
                words = visible(readable(group.criterion)).replace("|", "\\|")
                for i, rate in enumerate(group.rates):
                    start = (words, f"{group.size:,} ({group.share:.1%})") if i == 0 else ("", "")
                    end = _p(group.p_adjusted) if i == 0 else ""
                    numbers = (f"{value:+.3f}" for value in (rate.gap_first, rate.gap_second, rate.change))
                    lines.append(f"| {' | '.join((*start, rate.rate, *numbers, _interval(rate), end))} |")
            lines.append("")
        return "\n".join([*lines, *(f"{visible(fact)}\n" for fact in self._facts())])

    def __str__(self) -> str:
        lines = [visible(self._headline()), ""]
        for i, group in enumerate(self.groups, 1):
            lines.append(f"{i}. {visible(readable(group.criterion))}: {group.size:,} people ({group.share:.1%}), "
                         f"adj. p {_p(group.p_adjusted)}")  # fmt: skip
            for rate in group.rates:
                lines.append(
                    f"   {rate.rate}: inside {rate.first_inside:.3f} -> {rate.second_inside:.3f}, outside "
                    f"{rate.first_outside:.3f} -> {rate.second_outside:.3f}; gap {rate.gap_first:+.3f} -> "
                    f"{rate.gap_second:+.3f}, change {rate.change:+.3f} ({_interval(rate)})"
                )
        return "\n".join([*lines, *([""] if self.groups else []), *map(visible, self._facts())])

    def _headline(self) -> str:
        n = len(self.groups)
        what = f"{_count(n)} whose gap changes" if n else "No group with a significant change found"
        return f"{what} when {self.first!r} is replaced by {self.second!r} ({self.notion.name})"

    def _of_intervals(self) -> str:
        how = f"Intervals of the change have confidence {self.confidence:.2%}"
        if self.n_significant < len(self.tested):
            how += f", which allows for {self.n_significant} of {len(self.tested)} tested groups being significant"
        if len(self.notion.rates) == 1:
            return f"{how}. They hold the changes that the score test does not reject."
        return (
            f"{how}, all rates of a group together. Those of single rates can hold 0 where the rates together do not."
        )

    def _further(self) -> str:
        """How many significant groups are not listed, and how to see them; empty if all are listed."""
        more = self.n_significant - len(self.groups)
        if not more:
            return ""
        return (
            f"{_count(more)} more {'is' if more == 1 else 'are'} significant, but the list ends after "
            f"{len(self.groups)}: groups={self.n_significant} (--groups {self.n_significant}) lists all."
        )

    def _facts(self) -> list[str]:
        summary = self.data_summary
        overall = ", ".join(f"{key} {a:.3f} -> {b:.3f}" for key, (a, b) in self.overall.items())
        return [
            f"{summary.rows:,} people: searched in {summary.rows_search:,}, tested on {summary.rows_assess:,}; "
            f"{_count(len(self.tested))} tested. Overall: {overall}.",
            *([self._further()] if self._further() else []),
            *([self._of_intervals()] if self.groups else []),
            *(f"Warning: {warning}" for warning in summary.warnings),
            LIMITATION,
        ]


def _count(groups: int) -> str:
    return f"{groups} group{'' if groups == 1 else 's'}"


def _interval(rate: RateChange) -> str:
    return f"{rate.interval[0]:+.3f} to {rate.interval[1]:+.3f}"


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _plain(group: ChangedGroup) -> dict[str, Any]:
    rates = [
        {name: round_reported(value) if isinstance(value, float) else value for name, value in asdict(rate).items()}
        | {"interval": [round_reported(end) for end in rate.interval]}
        | {name: round_reported(getattr(rate, name)) for name in ("gap_first", "gap_second", "change")}
        for rate in group.rates
    ]
    return {
        "criterion": str(group.criterion),
        "conditions": group.criterion.to_list(),
        "size": group.size,
        "share": round_reported(group.share),
        "change": round_reported(group.change),
        "rates": rates,
        "statistic": round_reported(group.statistic),
        "log10_p": round_reported(group.log_p / np.log(10)),
        "log10_p_adjusted": round_reported(group.log_p_adjusted / np.log(10)),
    }


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
    seed: int = 0,
) -> Comparison:
    """Which groups gain or lose when the first of two models is replaced by the second.

    predictions: the columns of the first and the second model's predictions, coded as the truth. alpha: a node splits
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
    response = paired_response(notion.rates)
    AuditConfig(notion=notion, prediction=first, truth=truth, groups=groups, alpha=alpha, level=level, adjust=adjust,
                seed=seed)  # fmt: skip
    source = data if isinstance(data, Source) else Source(data=data)
    roles = Roles(prediction=first, truth=truth, favourable=favourable, weights=weights, kinds=source.kinds,
                  attributes=None if attributes is None else several(attributes))  # fmt: skip
    paired, summary = _pair(source, roles, second)
    d1, d2 = paired.halves(np.random.default_rng(seed))
    forest = where_difference_changes(d1, notion.rates, alpha=alpha)
    criteria = _one_side(candidates(forest, d1).criteria, d1, response)
    tested, confidence = _assess_groups(criteria, d2, notion, response, level, adjust)
    significant = [group for group in tested if group.log_p_adjusted <= np.log(level)]
    everyone = d2.cell_counts()
    overall = {rate.key: _both(everyone, rate_at, notion) for rate_at, rate in enumerate(notion.rates)}
    return Comparison(
        first=first,
        second=second,
        truth=truth,
        notion=notion,
        level=level,
        confidence=confidence,
        data_summary=replace(summary, rows_search=d1.total, rows_assess=d2.total),
        overall=overall,
        groups=tuple(significant[:groups]),
        tested=tuple(tested),
        n_significant=len(significant),
    )


def _pair(source: Source, roles: Roles, second: str) -> tuple[AuditData, DataSummary]:
    """Coded people whose cell says 4 * truth + 2 * first prediction + second prediction."""
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
    table = table if known is None else replace(table.take(known), notes=tuple(left_out))
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


def _one_side(criteria: Sequence[CodedCriterion], data: AuditData, response: Response) -> list[CodedCriterion]:
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
    criteria: Sequence[CodedCriterion], data: AuditData, notion: Notion, response: Response, level: float, adjust: str
) -> tuple[list[ChangedGroup], float]:
    """The groups as tested on this data, smallest p first (undefined ones are left out), and their confidence."""
    inside = count_members(criteria, data)
    everyone = data.cell_counts()
    pairs = Pairs(inside=_samples(inside, response), outside=_samples(everyone - inside, response))
    per_rate = pairs.log_p.T
    disjoint = RateCounter(notion.rates, 4).disjoint
    log_p = combine_fisher(per_rate)[1] if disjoint and len(per_rate) > 1 else combine_bonferroni(per_rate)
    adjusted = adjust_p(log_p, adjust)
    order = [int(i) for i in np.argsort(log_p, kind="stable") if not np.isnan(log_p[i])]
    n_significant = sum(adjusted[i] <= np.log(level) for i in order)
    # The intervals of significant groups allow for their having been picked from those tested.
    wide = level * max(n_significant, 1) / max(len(order), 1)
    low, high = pairs.interval(wide / len(notion.rates))
    out = []
    for i in order:
        changes = tuple(
            _rate_change(inside[i], everyone - inside[i], r, notion, (float(low[i, r]), float(high[i, r])))
            for r in range(len(notion.rates))
        )
        values = np.array([change.change for change in changes])
        out.append(
            ChangedGroup(
                criterion=decode(criteria[i], data.attributes),
                size=int(inside[i].sum()),
                share=float(inside[i].sum() / everyone.sum()),
                change=float(notion.psi(values[:, None])[0]),
                rates=changes,
                statistic=float(pairs.statistic[i].max()),
                log_p=float(log_p[i]),
                log_p_adjusted=float(adjusted[i]),
            )
        )
    return out, 1 - wide


def _samples(counts: IntArray, response: Response) -> Sample:
    """Counts per group and paired cell as responses per group and rate."""
    people, total, squares = (value.astype(np.int64) for value in response.sums(counts.astype(float)))
    return Sample(up=(squares + total) // 2, down=(squares - total) // 2, people=people)


def _rate_change(
    inside: IntArray, outside: IntArray, rate: int, notion: Notion, interval: tuple[float, float]
) -> RateChange:
    (first_in, second_in), (first_out, second_out) = (_both(counts, rate, notion) for counts in (inside, outside))
    return RateChange(
        rate=notion.rates[rate].key,
        first_inside=first_in,
        first_outside=first_out,
        second_inside=second_in,
        second_outside=second_out,
        interval=interval,
    )
