"""From columns of numbers to findings: all candidates of an audit, written out when someone asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ald._core.arrays import BoolArray, FloatArray, IntArray
from ald.assess.assessment import Intervals, others
from ald.assess.together import Combination
from ald.data.coded import Attribute, AuditData
from ald.data.strata import Strata
from ald.groups.membership import member_mask, membership_strata
from ald.groups.rules import decode
from ald.notions import Notion, RateCounter
from ald.options import AuditConfig
from ald.results import finer
from ald.results.claims import listed_as_combination, write_together
from ald.results.finding import Also, Finding, Finer, StratumResult, finding
from ald.results.halving import Answer, Halving, overlaps
from ald.results.privacy import rows_of_people, too_few
from ald.statistics.basics import round_reported

# Strata shown per finding: those with the largest weights.
STRATA_SHOWN = 100


@dataclass(frozen=True, kw_only=True, eq=False)
class Results(Sequence[Finding]):
    """All candidates, kept as columns; a finding is written out when it is asked for.

    searched: of significant candidates, how many members D1 has.
    """

    config: AuditConfig
    attributes: tuple[Attribute, ...]
    split: Halving
    stability: dict[int, float]
    searched: dict[int, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.split.order)

    def __getitem__(self, i: Any) -> Any:
        return self.findings([i])[0]

    @cached_property
    def _also(self) -> list[dict[int, Any]]:
        return [
            overlaps(answer.proposed, answer.d2) if answer.overlaps is None else answer.overlaps
            for answer in self.split.answers
        ]

    @cached_property
    def _selected_level(self) -> float:
        """That of the intervals of significant groups: level * significant / tested claims, where few are tested.

        So their intervals miss the truth in a share of at most `level`, selected as they are (Benjamini and Yekutieli
        2005), and hold no difference just where their test does not reject.
        """
        n, level = self.split.rejected(self.config.level), self.config.level
        selects = (self.config.explores or self.config.system is not None) and self.config.adjust != "none"
        return level * n / self.split.n_tests if selects and n else level

    def findings(self, which: Sequence[int]) -> tuple[Finding, ...]:
        """These candidates as findings."""
        selected = set(self.split.significant.tolist())
        places = {i: self.split.place(i) for i in which}
        out: dict[int, Finding] = {}
        for number, answer in enumerate(self.split.answers):
            for chosen, level in (
                ([i for i in which if places[i][0] == number and i in selected], self._selected_level),
                ([i for i in which if places[i][0] == number and i not in selected], self.config.level),
            ):
                own = [places[i][1] for i in chosen]
                plain = answer.assessment.intervals(self.config.level, own)
                adjusted = plain if level == self.config.level else answer.assessment.intervals(level, own)
                for place, i in enumerate(chosen):
                    out[i] = self._finding(i, level, adjusted, plain, place)
        return tuple(out[i] for i in which)

    def _finding(self, i: int, level: float, intervals: Intervals, unadjusted: Intervals, place: int) -> Finding:
        number, own = self.split.place(i)
        answer = self.split.answers[number]
        criteria = answer.proposed.criteria
        also = tuple(
            Also(criterion=decode(other, self.attributes), size=size, overlap=overlap)
            for other, size, overlap in self._also[number].get(own, ())
            if not too_few(size, answer.d2.total - size, self._least)
        )
        trees_before = sum(before.forest.n_trees for before in self.split.answers[:number])
        before = criteria[:own] if self.config.explores else ()
        details = self._details(answer, own) if i in self._listed else {}
        found = finding(
            decode(criteria[own], self.attributes),
            answer.assessment,
            own,
            answer.question.cell_names,
            level=level,
            intervals=intervals,
            unadjusted=unadjusted,
            place=place,
            tree=answer.proposed.tree[own] + trees_before,
            node=answer.proposed.node[own],
            outcome=answer.question.outcome if len(self.config.asked_outcomes) > 1 else None,
            also=also,
            stability=self.stability.get(i),
            size_elsewhere=self.searched.get(i),
            given_groups=tuple(
                decode(criterion, self.attributes)
                for at, criterion in enumerate(before)
                if self.split.small is None or not self.split.small[i - own + at]
            ),
            finer=self._finer.get(i, ()),
            **details,
        )
        tested = answer.together[own] if answer.together else None
        names = tuple(self.attributes[condition.attribute].name for condition in criteria[own])
        return found if tested is None else self._with_claim(found, i, tested, names)

    def _with_claim(self, found: Finding, i: int, tested: Combination, names: tuple[str, ...]) -> Finding:
        """The finding with what was found of the combination of its attributes; its own p-values if only that holds."""
        claims = self.split.together
        together = write_together(
            names,
            statistic=tested.statistic,
            df=tested.df,
            log_p=float(claims.log_p[i]),
            log_p_adjusted=float(claims.log_p_adjusted[i]),
            listed=bool(claims.holds(self.config.level)[i]),
            bound=tested.as_strong == 0,
            as_strong=tested.as_strong,
            drawn=tested.drawn,
        )
        return replace(found, together=together, **(listed_as_combination(together) if self.split.alone[i] else {}))

    @cached_property
    def _least(self) -> int:
        """So many rows are enough people to be shown."""
        return rows_of_people(self.config.min_group_size, self.split.d2)

    @cached_property
    def _listed(self) -> frozenset[int]:
        return frozenset(self.split.chosen.tolist())

    @cached_property
    def _finer(self) -> dict[int, tuple[Finer, ...]]:
        return finer.of_listed(self.split, self.config)

    def _details(self, answer: Answer, own: int) -> dict[str, Any]:
        if answer.d2.design.clusters is None and self.split.strata is None:
            return {}
        masks = [member_mask(criterion, answer.d2) for criterion in answer.proposed.criteria[: own + 1]]
        before = membership_strata(masks[:-1]) if self.config.explores and own else None
        return design_details(masks[-1], answer.d2, answer.question.notion, self.config, self.split.strata, before)

    @cached_property
    def significant(self) -> tuple[int, ...]:
        """The places of all significant candidates in ranked order; the first of them are listed."""
        place = np.zeros(len(self.split.groups.log_p), np.int64)
        place[self.split.order] = np.arange(len(self.split.order))
        return tuple(place[self.split.significant].tolist())

    def at(self, places: Sequence[int]) -> tuple[Finding, ...]:
        """The candidates at these places of the ranked order as findings."""
        return self.findings(self.split.order[list(places)].tolist())

    def list_findings(self) -> tuple[Finding, ...]:
        """The listed findings."""
        return self.findings(self.split.chosen.tolist())

    def rank_findings(self) -> tuple[Finding, ...]:
        """All candidates as findings in ranked order."""
        return self.findings(self.split.order.tolist())


def design_details(
    member: BoolArray,
    data: AuditData,
    notion: Notion,
    config: AuditConfig,
    strata: Strata | None,
    before: IntArray | None = None,
) -> dict[str, Any]:
    """What a finding says of its people and its strata. `before`: strata of groups that it was compared within."""
    out: dict[str, Any] = {}
    if data.design.clusters is not None:
        out["people"] = len(np.unique(data.design.clusters[member]))
    if strata is not None:
        outside = others(member, data, config.reference_kind)
        rates = RateCounter(notion.rates, data.n_cells)
        with_all = config.reference_kind == "all"
        least = rows_of_people(config.min_group_size, data)
        out["strata"], out["strata_hidden"] = _strata(
            member, outside, data, rates, notion, strata, before, with_all=with_all, least=least
        )
    return out


def _strata(
    member: BoolArray,
    outside: BoolArray,
    data: AuditData,
    rates: RateCounter,
    notion: Notion,
    strata: Strata,
    before: IntArray | None,
    *,
    with_all: bool,
    least: int,
) -> tuple[tuple[StratumResult, ...], int]:
    """The group in every stratum, those of the largest weight, in the strata's order; and how many are too small.

    Within a stratum, people are compared with those who are alike in the groups `before` this one.
    """
    assert data.design.strata is not None
    people = data.counts.astype(float) * (1.0 if data.design.weights is None else data.design.weights)
    n_before = 1 if before is None else int(before.max()) + 1
    numbers = data.design.strata * n_before + (0 if before is None else before)
    tables, sizes = [], []
    for side in (member, outside):
        if data.design.amounts is None:
            at = numbers[side] * data.n_cells + data.cells[side]
            n = len(strata) * n_before * data.n_cells
            tables.append(np.bincount(at, people[side], minlength=n).reshape(-1, data.n_cells))
        else:
            added = (people[side], people[side] * data.design.amounts[side])
            n = len(strata) * n_before
            tables.append(np.stack([np.bincount(numbers[side], w, minlength=n) for w in added], axis=-1))
        sizes.append(np.bincount(data.design.strata[side], data.counts[side], minlength=len(strata)).astype(np.int64))
    hits, bases = ([f(table, rates) for table in tables] for f in (_hits, _bases))
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.nan_to_num(bases[0] * bases[1] / (bases[0] + bases[1]))
        if with_all:
            hits, bases = ([side[0], side[0] + side[1]] for side in (hits, bases))
        rate_in, rate_out = (
            _mean(_values(notion, hit, base), weight, n_before) for hit, base in zip(hits, bases, strict=True)
        )
        weight = weight.reshape(len(weight), -1, n_before).sum(axis=-1)
        weight = (weight / np.maximum(weight.sum(axis=1, keepdims=True), 1e-300)).mean(axis=0)
    shares = weight / max(float(weight.sum()), 1e-300)
    small = too_few(sizes[0], sizes[1], least)
    order = np.argsort(-shares, kind="stable")
    largest = order[~small[order]][:STRATA_SHOWN]
    shown = np.sort(largest[(sizes[0] + sizes[1])[largest] > 0])

    def by_rate(values: Any) -> dict[str, float | None]:
        return {rate.key: round_reported(float(value)) for rate, value in zip(notion.rates, values, strict=True)}

    found = tuple(
        StratumResult(
            criterion=strata.criterion(s),
            size=int(sizes[0][s]),
            size_outside=int(sizes[1][s]),
            rates_inside=by_rate(rate_in[:, s]),
            rates_outside=by_rate(rate_out[:, s]),
            parts=by_rate(rate_in[:, s] - rate_out[:, s]),
            weight=float(round_reported(shares[s]) or 0.0),
        )
        for s in shown.tolist()
    )
    return found, int(small.sum())


def _mean(rates: FloatArray, weight: FloatArray, n: int) -> FloatArray:
    """Rates [rates, strata * n] as means over the n parts of every stratum; as they are where there is one part."""
    if n == 1:
        return rates
    parts, weights = (values.reshape(len(values), -1, n) for values in (np.nan_to_num(rates), weight))
    return np.asarray((parts * weights).sum(axis=-1) / weights.sum(axis=-1))


def _values(notion: Notion, hits: FloatArray, bases: FloatArray) -> FloatArray:
    return np.stack([rate.value(hit, base) for rate, hit, base in zip(notion.rates, hits, bases, strict=True)])


def _hits(table: Any, rates: RateCounter) -> Any:
    return _sum_people(table, rates, "hit_cells")


def _bases(table: Any, rates: RateCounter) -> Any:
    return _sum_people(table, rates, "base_cells")


def _sum_people(table: Any, rates: RateCounter, cells: str) -> Any:
    """Weighted people per rate and stratum in some of the confusion cells."""
    chosen = [sorted(cell for cell in getattr(rate, cells) if cell < table.shape[1]) for rate in rates.rates]
    return np.stack([table[:, columns].sum(axis=1) for columns in chosen])
