"""The linear-threshold auditor of fairness gerrymandering.

Source: M. Kearns, S. Neel, A. Roth and Z. S. Wu, "Preventing fairness gerrymandering: auditing and learning for
subgroup fairness", ICML 2018 (arXiv:1711.05144), section 4 and its heuristic oracle. Among the people who count for a
rate (everyone for statistical parity, actual negatives for false positives, actual positives for false negatives) the
violation of a group is its share times the difference of its rate from the overall rate. Finding the group with the
largest violation is a cost-sensitive classification problem, solved as the authors do: costs of inclusion are
regressed linearly on the attributes, and the group is everyone whose predicted cost is negative; once for a higher and
once for a lower rate.

Such a group is a half-space, not a conjunction of conditions: it is reported as a derived attribute that spells out the
inequality. Unordered attributes take part by one indicator per level, numbers by their value and ordered levels by
their rank, in standard deviations; a missing value counts as the mean.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ald._core.arrays import FloatArray, IntArray
from ald.baselines.interface import Ranked, Search
from ald.data.coded import Attribute, AuditData
from ald.groups.derived import Derived
from ald.groups.tree import CodedCondition

_NAMED = 4  # terms of the inequality that its name spells out


@dataclass(frozen=True, kw_only=True)
class LinearGroup:
    """A group {weights . x > threshold} of features x, its violation (share times difference) and its direction."""

    weights: FloatArray
    threshold: float
    violation: float
    direction: int


@dataclass(frozen=True, kw_only=True)
class Features:
    """How codes become features: per attribute a table [codes, features], the last code standing for missing."""

    tables: tuple[FloatArray, ...]
    names: tuple[str, ...]

    def of(self, data: AuditData) -> FloatArray:
        """A row of features per row of the data."""
        return np.hstack([table[code] for table, code in zip(self.tables, data.codes, strict=False)])


def features(data: AuditData) -> Features:
    """Features of these attributes, numbers scaled by what this data holds."""
    tables, names = [], []
    for attribute, code, score in zip(data.attributes, data.codes, data.scores(), strict=True):
        if attribute.is_nominal:
            tables.append(np.vstack([np.eye(attribute.size), np.zeros((1, attribute.size))]))
            names += [f"[{attribute.name} {_is(level)}]" for level in attribute.levels]
            continue
        known = code < attribute.size
        x, weight = np.append(score, np.nan)[code[known]], data.counts[known]
        mean = float(np.average(x, weights=weight)) if known.any() else 0.0
        spread = float(np.sqrt(np.average((x - mean) ** 2, weights=weight))) if known.any() else 0.0
        tables.append(np.append((score - mean) / (spread or 1.0), 0.0)[:, None])
        names.append(f"({attribute.name} - {mean:.4g}) / {spread or 1.0:.4g}")
    return Features(tables=tuple(tables), names=tuple(names))


def _is(level: str | None) -> str:
    return "is missing" if level is None else f"= {level}"


def audit_rate(x: FloatArray, people: IntArray, hits: IntArray) -> list[LinearGroup]:
    """The groups with the largest violation, above and below the overall rate; `people`, `hits`: per row those who
    count for the rate, and those of them who are hits."""
    total = people.sum()
    overall = hits.sum() / total
    # The cost of including a person: negative if that adds to the violation in this direction.
    residual = (hits - people * overall) / np.maximum(people, 1)
    root = np.sqrt(people / total)
    design = np.hstack([np.ones((len(x), 1)), x])
    beta, *_ = np.linalg.lstsq(design * root[:, None], residual * root, rcond=None)
    out = []
    for direction in (1, -1):
        weights, threshold = direction * beta[1:], float(-direction * beta[0])
        inside = x @ weights > threshold
        n, h = people[inside].sum(), hits[inside].sum()
        violation = abs(h - n * overall) / total if n else 0.0
        out.append(LinearGroup(weights=weights, threshold=threshold, violation=float(violation), direction=direction))
    return sorted(out, key=lambda group: -group.violation)


def search(request: Search) -> Ranked:
    """The half-spaces found for every rate, largest violation first."""
    data, rates = request.data, request.rates
    how = features(data)
    x = how.of(data)
    one = np.eye(data.n_cells, dtype=np.int64)
    groups: list[LinearGroup] = []
    for r in range(len(rates.rates)):
        people, hits = (part(one)[r][data.cells] * data.counts for part in (rates.base, rates.hit))
        if 0 < hits.sum() < people.sum():
            groups += [group for group in audit_rate(x, people, hits) if group.violation > 0]
    groups.sort(key=lambda group: -group.violation)
    derived = tuple(
        Derived(
            attribute=Attribute(name=words(group, how), kind="boolean", levels=("false", "true")),
            codes=_Side(how, group),
        )
        for group in groups
    )
    criteria = tuple((CodedCondition(len(data.attributes) + i, 0, 0, (1,)),) for i in range(len(groups)))
    return Ranked(criteria=criteria, score=tuple(group.violation for group in groups), derived=derived)


@dataclass(frozen=True)
class _Side:
    """On which side of a plane people are."""

    how: Features
    group: LinearGroup

    def __call__(self, data: AuditData) -> IntArray:
        return (self.how.of(data) @ self.group.weights > self.group.threshold).astype(np.int64)


def words(group: LinearGroup, how: Features) -> str:
    """The inequality, its largest terms spelled out."""
    scale = float(np.abs(group.weights).max()) or 1.0
    order = np.argsort(-np.abs(group.weights), kind="stable")[:_NAMED].tolist()
    terms = " ".join(f"{group.weights[i] / scale:+.3f} {how.names[i]}" for i in order)
    more = f" + {len(group.weights) - _NAMED} more" if len(group.weights) > _NAMED else ""
    return f"{terms}{more} > {group.threshold / scale:.3f}"
