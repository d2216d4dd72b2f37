"""From columns of numbers to findings: all candidates of an audit, written out when someone asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ald.arrays import BoolArray
from ald.config import AuditConfig
from ald.data.coded import Attribute, AuditData
from ald.data.strata import Strata
from ald.evaluation import Assessment, others
from ald.findings import Also, Finding, StratumResult, finding
from ald.notions import Notion, RateCounter
from ald.search.membership import member_mask
from ald.search.rules import decode
from ald.statistics import rounded
from ald.steps import Answer, Split, overlaps

# Strata shown per finding: those with the largest weights.
STRATA_SHOWN = 100


@dataclass(frozen=True, kw_only=True, eq=False)
class Results(Sequence[Finding]):
    """All candidates, kept as columns; a finding is written out when it is asked for."""

    config: AuditConfig
    attributes: tuple[Attribute, ...]
    split: Split
    stability: dict[int, float]
    strata: Strata | None

    def __len__(self) -> int:
        return len(self.split.scores.log_p)

    def __getitem__(self, i: Any) -> Any:
        return self._finding(i, self.config.level, None)

    @cached_property
    def _places(self) -> list[tuple[int, int]]:
        return self.split.places

    @cached_property
    def _also(self) -> list[dict[int, Any]]:
        return [
            overlaps(answer.proposed, answer.d2) if answer.overlaps is None else answer.overlaps
            for answer in self.split.answers
        ]

    def _finding(self, i: int, level: float, selected: Assessment | None) -> Finding:
        number, own = self._places[i]
        answer = self.split.answers[number]
        also = tuple(
            Also(criterion=decode(other, self.attributes), size=size, overlap=overlap)
            for other, size, overlap in self._also[number].get(own, ())
        )
        trees_before = sum(before.forest.n_trees for before in self.split.answers[:number])
        details = self._details(answer, own) if selected is not None else {}
        return finding(
            decode(answer.proposed.criteria[own], self.attributes),
            selected or answer.assessment,
            own,
            answer.question.cell_names,
            tree=answer.proposed.tree[own] + trees_before,
            node=answer.proposed.node[own],
            level=level,
            outcome=answer.question.outcome if len(self.config.outcomes) > 1 else None,
            unadjusted=answer.assessment,
            also=also,
            stability=self.stability.get(i),
            **details,
        )

    def _details(self, answer: Answer, own: int) -> dict[str, Any]:
        member = member_mask(answer.proposed.criteria[own], answer.d2)
        return design_details(member, answer.d2, answer.question.notion, self.config, self.strata)

    def listed(self) -> tuple[Finding, ...]:
        """The listed findings. Those found by exploring have selective intervals, at level * listed / tested."""
        chosen, level = self.split.chosen.tolist(), self.config.level
        if (self.config.explores or self.config.method is not None) and chosen:
            level = level * len(chosen) / self.split.tested
        adjusted = [answer.assessment.at_level(level) for answer in self.split.answers]
        return tuple(self._finding(i, level, adjusted[self._places[i][0]]) for i in chosen)

    def ranked(self) -> tuple[Finding, ...]:
        """All candidates as findings in ranked order."""
        return tuple(self[i] for i in self.split.order.tolist())


def design_details(
    member: BoolArray, data: AuditData, notion: Notion, config: AuditConfig, strata: Strata | None
) -> dict[str, Any]:
    """What a finding says of its people, its strata and its psi without them."""
    out: dict[str, Any] = {}
    if data.design.clusters is not None:
        out["people"] = len(np.unique(data.design.clusters[member]))
    if strata is not None:
        outside = others(member, data, config.reference_kind)
        rates = RateCounter(notion.rates, data.n_cells)
        with_all = config.reference_kind == "all"
        out["strata"], out["psi_crude"] = _strata(member, outside, data, rates, notion, strata, with_all=with_all)
    return out


def _strata(
    member: BoolArray,
    outside: BoolArray,
    data: AuditData,
    rates: RateCounter,
    notion: Notion,
    strata: Strata,
    *,
    with_all: bool,
) -> tuple[tuple[StratumResult, ...], float | None]:
    """The group in every stratum, those of the largest weight, in the strata's order; and psi over all people."""
    assert data.design.strata is not None
    people = data.counts.astype(float) * (1.0 if data.design.weights is None else data.design.weights)
    tables, sizes = [], []
    for side in (member, outside):
        at = data.design.strata[side] * data.n_cells + data.cells[side]
        n = len(strata) * data.n_cells
        tables.append(np.bincount(at, people[side], minlength=n).reshape(-1, data.n_cells))
        sizes.append(np.bincount(data.design.strata[side], data.counts[side], minlength=len(strata)).astype(np.int64))
    hits, bases = ([f(table, rates) for table in tables] for f in (_hits, _bases))
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.nan_to_num(bases[0] * bases[1] / (bases[0] + bases[1]))
        if with_all:
            hits, bases = ([side[0], side[0] + side[1]] for side in (hits, bases))
        rate_in, rate_out = (hit / base for hit, base in zip(hits, bases, strict=True))
        weight = (weight / np.maximum(weight.sum(axis=1, keepdims=True), 1e-300)).mean(axis=0)
        crude = [hit.sum(axis=1) / base.sum(axis=1) for hit, base in zip(hits, bases, strict=True)]
    shares = weight / max(float(weight.sum()), 1e-300)
    largest = np.argsort(-shares, kind="stable")[:STRATA_SHOWN]
    shown = np.sort(largest[(sizes[0] + sizes[1])[largest] > 0])

    def by_rate(values: Any) -> dict[str, float | None]:
        return {rate.key: rounded(float(value)) for rate, value in zip(notion.rates, values, strict=True)}

    results = tuple(
        StratumResult(
            criterion=strata.criterion(s),
            size=int(sizes[0][s]),
            size_outside=int(sizes[1][s]),
            rates_inside=by_rate(rate_in[:, s]),
            rates_outside=by_rate(rate_out[:, s]),
            parts=by_rate(rate_in[:, s] - rate_out[:, s]),
            weight=float(rounded(shares[s]) or 0.0),
        )
        for s in shown.tolist()
    )
    return results, rounded(float(notion.psi((crude[0] - crude[1])[:, None])[0]))


def _hits(table: Any, rates: RateCounter) -> Any:
    return _summed(table, rates, "hit_cells")


def _bases(table: Any, rates: RateCounter) -> Any:
    return _summed(table, rates, "base_cells")


def _summed(table: Any, rates: RateCounter, cells: str) -> Any:
    """Weighted people per rate and stratum in some of the confusion cells."""
    chosen = [sorted(cell for cell in getattr(rate, cells) if cell < table.shape[1]) for rate in rates.rates]
    return np.stack([table[:, columns].sum(axis=1) for columns in chosen])
