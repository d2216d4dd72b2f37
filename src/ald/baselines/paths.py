"""Trees that show criteria: a path per criterion."""

from __future__ import annotations

from collections.abc import Sequence

from ald._core.arrays import IntArray
from ald.data.coded import AuditData
from ald.groups.building import ForestBuilder
from ald.groups.membership import count_members
from ald.groups.tree import CodedCondition, CodedCriterion, Forest


def paths(criteria: Sequence[CodedCriterion], data: AuditData) -> tuple[Forest, list[int]]:
    """A tree per criterion, one condition after the other, and where its members end."""
    builder = ForestBuilder()
    ends = [_path(builder, tree, criterion, data) for tree, criterion in enumerate(criteria)]
    return builder.forest(data.n_cells), ends


def _path(builder: ForestBuilder, tree: int, criterion: CodedCriterion, data: AuditData) -> int:
    steps = [step for condition in criterion for step in _steps(condition, data)]
    inside = count_members([tuple(steps[:i]) for i in range(len(steps) + 1)], data)
    at = builder.node(tree, -1, inside[0].tolist())
    waiting: list[tuple[int, IntArray]] = []  # right siblings of members, to be added when their left side is whole
    for step, before, members in zip(steps, inside, inside[1:], strict=False):
        above = not step.levels and step.low > 0
        builder.split(at, step.attribute, (step.low if above else step.high) - 1 if not step.levels else -1)
        if step.levels:
            builder.sides[at] = (step.levels, _other_levels(step, data))
        if above:
            builder.node(tree, at, (before - members).tolist())
        else:
            waiting.append((at, before - members))
        at = builder.node(tree, at, members.tolist())
    for parent, counts in reversed(waiting):
        builder.node(tree, parent, counts.tolist())
    return at


def _steps(condition: CodedCondition, data: AuditData) -> list[CodedCondition]:
    """A condition as splits: levels in one, an interval in one or two."""
    if condition.levels:
        return [condition]
    size = data.attributes[condition.attribute].size
    steps = []
    if condition.low > 0:
        steps.append(condition._replace(high=size))
    if condition.high < size:
        steps.append(condition._replace(low=0))
    return steps


def _other_levels(step: CodedCondition, data: AuditData) -> tuple[int, ...]:
    return tuple(code for code in range(data.attributes[step.attribute].size) if code not in step.levels)
