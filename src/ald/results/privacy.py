"""What is too small to be shown: groups of fewer people than `min_group_size`, and those that leave out fewer.

Nothing here changes a test: groups are hidden after they were tested, and corrections go on counting them. Who knows
other numbers of the same report can often work out what is hidden: this is no disclosure control.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from ald._core.arrays import BoolArray
from ald.assess.assessment import Assessment, others
from ald.data.coded import AuditData, weighted_bincount
from ald.data.notes import tell_notes
from ald.data.prepare import DataSummary
from ald.errors import InputError
from ald.groups.criterion import Criterion
from ald.groups.membership import member_mask
from ald.groups.tree import CodedCriterion
from ald.groups.wording import readable
from ald.notions import RateCounter
from ald.options import AuditConfig
from ald.results.halving import Answer, Halving


@dataclass(frozen=True, kw_only=True)
class Hidden:
    """How many parts of an audit are not shown, because they are too small.

    groups: candidates, of which so many were `tested` and so many are `significant`. giveaways: columns that give the
    outcome away. nodes: of search trees.
    """

    groups: int = 0
    tested: int = 0
    significant: int = 0
    giveaways: int = 0
    nodes: int = 0

    def to_dict(self) -> dict[str, Any]:
        """As plain data (the schema's `hidden`)."""
        return asdict(self)


NOTHING_HIDDEN = Hidden()


def too_few(inside: Any, outside: Any, least: int) -> Any:
    """Whether there are some people, but fewer than `least`, inside or outside: of numbers, or of arrays of them."""
    return ((inside > 0) & (inside < least)) | ((outside > 0) & (outside < least))


def is_too_small(member: BoolArray, data: AuditData, config: AuditConfig) -> bool:
    """Whether a group, all others, or those that it is compared with are too few people."""
    sides = [count_people(side, data) for side in (member, ~member, others(member, data, config.reference_kind))]
    return any(too_few(people, 0, config.min_group_size) for people in sides)


def count_people(rows: BoolArray, data: AuditData) -> int:
    """Of how many people some rows are, also where a person has several."""
    return data.people(rows) if data.design.clusters is None else len(np.unique(data.design.clusters[rows]))


def rows_of_people(people: int, data: AuditData) -> int:
    """How many rows are of at least so many people, whoever they are: a person may have several."""
    if data.design.clusters is None:
        return people
    rows = weighted_bincount(data.design.clusters, data.counts, int(data.design.clusters.max()) + 1)
    return people * int(rows.max()) if people > 1 else people


def small_groups(
    found: Assessment, criteria: Sequence[CodedCriterion], data: AuditData, config: AuditConfig
) -> BoolArray:
    """Which of the groups that were assessed on this data are too small."""
    least = config.min_group_size
    inside, outside = found.counter.people(found.inside), found.counter.people(found.outside)
    small: BoolArray = too_few(inside, outside, least) | too_few(data.total - inside, outside, least)
    if data.design.clusters is not None:
        enough = rows_of_people(least, data)
        for i in np.flatnonzero(~small & (too_few(inside, outside, enough))).tolist():
            small[i] = is_too_small(member_mask(criteria[i], data), data, config)
    return small


def hide_groups(halving: Halving, config: AuditConfig) -> tuple[Halving, Hidden]:
    """The halving without groups and nodes that are too small, in the list and among the candidates; and how many.

    All scores stay: the correction is for every group that was tested.
    """
    small = np.concatenate(
        [small_groups(answer.assessment, answer.proposed.criteria, answer.d2, config) for answer in halving.answers]
    )
    significant = halving.significant[~small[halving.significant]]
    answers = [_cut_forest(answer, halving, config) for answer in halving.answers]
    hidden = Hidden(
        groups=int(small.sum()),
        tested=int((small & ~np.isnan(halving.scores.log_p)).sum()),
        significant=len(halving.significant) - len(significant),
        nodes=halving.forest.n_nodes - sum(answer.forest.n_nodes for answer in answers),
    )
    return replace(
        halving,
        answers=tuple(answers),
        order=halving.order[~small[halving.order]],
        significant=significant,
        chosen=significant[: config.groups],
        small=small,
    ), hidden


def _cut_forest(answer: Answer, halving: Halving, config: AuditConfig) -> Answer:
    """The answer with a forest that ends where a child would be too small; groups go to the nearest node left."""
    forest = answer.forest
    people = RateCounter(answer.question.notion.rates, forest.counts.shape[1]).people(forest.counts)
    roots = np.flatnonzero(forest.parent < 0)
    everyone = people[roots][np.searchsorted(roots, np.arange(len(people)), side="right") - 1]
    small = too_few(people, everyone - people, rows_of_people(config.min_group_size, halving.d1))
    if not small.any():
        return answer
    left, nearest = forest.without(small)
    starts = np.searchsorted(forest.tree, np.array(answer.proposed.tree, dtype=np.int64))
    old = starts + np.array(answer.proposed.node, dtype=np.int64) - 1
    proposed = replace(answer.proposed, node=tuple(left.node[nearest[old]].tolist()))
    return replace(answer, forest=left, proposed=proposed)


def check_named(named: Sequence[tuple[str, Criterion, BoolArray]], data: AuditData, config: AuditConfig) -> None:
    """Raises where a group in words is too small. named: its role, its words and its rows."""
    for role, criterion, member in named:
        of = data if role == "named group" else replace(data, design=replace(data.design, reference=None))
        reference = config if role == "named group" else replace(config, reference="rest")
        if is_too_small(member, of, reference):
            raise InputError(
                f"the {role} {readable(criterion)!r} has fewer than {config.min_group_size:,} people in it, outside it "
                "or to be compared with: nothing is said of so few. Name a larger group, or allow smaller ones: "
                "min_group_size=1 (command line: --min-group-size 1)"
            )


def hide_in_summary(summary: DataSummary, config: AuditConfig) -> DataSummary:
    """The summary without numbers of missing values, and warnings without numbers of people, that are too small."""
    least = config.min_group_size
    attributes = tuple(
        replace(one, missing=None)
        if one.missing is not None and too_few(one.missing, summary.rows - one.missing, least)
        else one
        for one in summary.attributes
    )
    return replace(summary, attributes=attributes, warnings=tell_notes(summary.warnings, least))
