"""What laws and rules ask to be counted: who was selected, by categories that the user names.

`nyc-ll144` counts what a bias audit under New York City's Local Law 144 tabulates (6 RCNY section 5-301): selection
rates by sex, by race/ethnicity and by both. `eu-ai-act` counts who is in the data, along columns of the user's choice;
`adverse-impact` who was selected, also within jobs or sites. Counts are of everyone, not of a half; nothing here tests
or decides anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import reduce
from itertools import combinations
from typing import Any

import numpy as np

from ald.data.arrangement import row_weights
from ald.data.asked import refuse_amounts
from ald.data.coded import AuditData, weighted_bincount
from ald.data.inputs.reading import reading_of
from ald.data.inputs.sources import load
from ald.data.outcomes import known_outcomes
from ald.data.prepare import prepare
from ald.data.roles import Roles
from ald.data.scores import scores_of
from ald.data.table import Table, stack
from ald.errors import SettingError, nearest, shown
from ald.notions import OUTCOME_CELLS, SELECTION, RateCounter

# The names under which a profile takes columns; None for any.
PROFILES: dict[str, tuple[str, ...] | None] = {"nyc-ll144": ("sex", "race"), "eu-ai-act": None, "adverse-impact": None}
# Those that count nothing without columns; and the role of jobs or sites, within which categories are compared.
NEED_COLUMNS = ("nyc-ll144", "adverse-impact")
WITHIN = "within"


@dataclass(frozen=True, kw_only=True)
class Category:
    """People of one category, or of several at once, and how many of them were selected."""

    names: tuple[str, ...]
    people: int
    selected: int

    @property
    def rate(self) -> float:
        """The selection rate."""
        return self.selected / self.people


@dataclass(frozen=True, kw_only=True)
class CategoryTable:
    """All categories of one column, or of the combinations of several; `unknown`: people without a category.

    hidden: how many categories have too few people in them or outside them to be shown; `unknown` is None where these
    are too few.
    """

    roles: tuple[str, ...]
    categories: tuple[Category, ...]
    unknown: int | None
    hidden: int = 0

    @property
    def people(self) -> int:
        """The people who are in a category."""
        return sum(category.people for category in self.categories)

    def share(self, category: Category) -> float:
        """The category's share of the people who are in a category."""
        return category.people / self.people

    def impact_ratio(self, category: Category, least_share: float = 0.0) -> float | None:
        """Its selection rate divided by that of the most selected category; None if nobody at all was selected.

        Categories with a smaller share than `least_share` are left out, and have no ratio.
        """
        counted = [other for other in self.categories if self.share(other) >= least_share]
        highest = max((other.rate for other in counted), default=0.0)
        return category.rate / highest if highest > 0 and category in counted else None


@dataclass(frozen=True, kw_only=True)
class Profile:
    """What was counted for a law: its name, the column of each role, and a table per role and pair of roles.

    median: of scores, above which someone counts as selected; None where a decision was audited.
    """

    name: str
    columns: dict[str, str]
    tables: tuple[CategoryTable, ...] = ()
    median: float | None = None

    def table(self, *roles: str) -> CategoryTable | None:
        """The table of these roles, if it was counted."""
        return next((table for table in self.tables if table.roles == roles), None)

    def to_dict(self) -> dict[str, Any]:
        """The profile as plain data (the schema's `profile`); `median` only of scores."""
        entry = asdict(self)
        return entry if self.median is not None else {key: value for key, value in entry.items() if key != "median"}

    @classmethod
    def from_dict(cls, entry: dict[str, Any]) -> Profile:
        """The inverse of `to_dict`, also of what JSON makes of it."""
        tables = tuple(
            CategoryTable(
                roles=tuple(table["roles"]),
                categories=tuple(Category(**each | {"names": tuple(each["names"])}) for each in table["categories"]),
                unknown=table["unknown"],
                hidden=table["hidden"],
            )
            for table in entry["tables"]
        )
        profile = cls(name=entry["name"], columns=entry["columns"], tables=tables, median=entry.get("median"))
        check_profile(profile.name, profile.columns)
        return profile


def check_profile(name: str, columns: Mapping[str, str] | None) -> None:
    """Raises if there is no such profile, or if it does not take these columns."""
    if not isinstance(name, str) or name not in PROFILES:
        raise SettingError(f"unknown profile {shown(name)}. {nearest(name if isinstance(name, str) else '', PROFILES)}")
    if columns is None:
        columns = {}
    elif not isinstance(columns, Mapping):
        raise SettingError(f"columns must give names of columns by name, not {shown(columns)}")
    roles = PROFILES[name]
    for role, column in columns.items():
        if not isinstance(role, str) or not isinstance(column, str):
            raise SettingError(f"columns must give names of columns (text) by name, not {shown(role)}: {shown(column)}")
        if roles is not None and role not in roles:
            raise SettingError(f"the profile {name!r} takes no column for {role!r}. {nearest(role, roles)}")
    if name in NEED_COLUMNS and not set(columns) - {WITHIN}:
        named = roles or ("sex",)
        wanted = ", ".join(f"{role!r}: ..." for role in named)
        options = " ".join(f"--column {role}=COLUMN" for role in named)
        raise SettingError(
            f"the profile {name!r} must be told which columns hold its categories: columns={{{wanted}}} "
            f"(command line: {options})"
        )
    if len(set(columns.values())) < len(columns):
        raise SettingError("columns names a column twice")


def count_profile(
    parts: Sequence[Any],
    roles: Roles,
    cell_names: Sequence[str],
    name: str,
    columns: Mapping[str, str] | None,
    memory_limit: int | None = None,
    query: str | None = None,
    least: int = 1,
) -> Profile:
    """What the profile asks to be counted, on everyone in the data sets.

    least: categories with fewer people in them or outside them are not shown.
    """
    check_profile(name, columns)
    columns = {role: columns[role] for role in PROFILES[name] or columns or () if role in columns} if columns else {}
    if not columns:
        return Profile(name=name, columns=columns)
    if len(roles.outcomes) > 1:
        raise SettingError("a profile counts who was selected by one outcome: give one only")
    wanted = replace(
        roles,
        attributes=tuple(columns.values()),
        exclude=(),
        kinds=dict.fromkeys(columns.values(), "nominal"),
        given=(),
        given_in_criteria=False,
        cluster=None,
        split=None,
    )
    reading = reading_of(wanted, {}, memory_limit, query)
    table = reduce(stack, (load(part, wanted.needed, reading, roles.kinds or {}) for part in parts))
    if roles.score is None:
        refuse_amounts(table, roles, "a profile counts who was selected")
    for column in columns.values():
        if table[column].n_codes < 2:
            raise SettingError(
                f"the profile cannot count by the column {column!r}: it has fewer than two different values"
            )
    median = None
    if roles.score is not None:
        if name != "nyc-ll144":
            raise SettingError(
                f"the profile {name!r} counts who was selected, and a score selects nobody: give an outcome, such "
                "as the score with favourable='>= 0.5'"
            )
        median, cell_names = _median(table, roles), OUTCOME_CELLS
        wanted = replace(wanted, outcome=roles.score, score=None, truth=None, favourable=f"> {median!r}")
    prepared = prepare(table, wanted, cell_names)
    for entry in prepared.summary.left_out:  # all people of other values have the weight 0
        raise SettingError(f"the profile cannot count by the column {entry.name!r}: {entry.reason}")
    names = list(columns)
    pairs = _pairs(name, names)
    tables = tuple(
        _count_categories(prepared.data, positions, tuple(names[i] for i in positions), least)
        for positions in (*((i,) for i in range(len(names))), *pairs)
    )
    return Profile(name=name, columns=columns, tables=tables, median=median)


def _median(table: Table, roles: Roles) -> float:
    """The median of everyone's scores: the middle one, or halfway between the two in the middle."""
    assert roles.score is not None
    known, _ = known_outcomes(table, (roles.score,))
    table = table if known is None else table.take(known)
    counts, _, kept = row_weights(table, roles)
    table = table if kept is None else table.take(kept)
    scores, _ = scores_of(table, replace(roles, truth=None))
    people = np.ones(len(scores), np.int64) if counts is None else counts
    order = np.argsort(scores, kind="stable")
    running = np.cumsum(people[order])
    middle = [(int(running[-1]) - 1) // 2, int(running[-1]) // 2]
    low, high = scores[order][np.searchsorted(running, middle, side="right")].tolist()
    return float((low + high) / 2.0)


def _pairs(profile: str, names: Sequence[str]) -> list[tuple[int, ...]]:
    """Which combinations of columns are counted too: all pairs, or each column with that of jobs or sites."""
    if profile == "adverse-impact":
        return [(i, names.index(WITHIN)) for i, name in enumerate(names) if WITHIN in names and name != WITHIN]
    return list(combinations(range(len(names)), 2)) if PROFILES[profile] is not None else []


def _count_categories(data: AuditData, positions: Sequence[int], roles: tuple[str, ...], least: int) -> CategoryTable:
    """The people and the selected of every combination that occurs, in the order of the levels."""
    rates = RateCounter([SELECTION], data.n_cells)
    by_cell = np.zeros((len(data.cells), data.n_cells), dtype=np.int64)
    by_cell[np.arange(len(data.cells)), data.cells] = data.counts
    people, selected = rates.base(by_cell)[0], rates.hit(by_cell)[0]
    known = np.ones(len(people), dtype=bool)
    for i in positions:
        levels = data.attributes[i].levels
        known &= np.array([level is not None for level in levels] + [False])[data.codes[i]]
    keys = np.array([data.codes[i][known] for i in positions])
    distinct, inverse = np.unique(keys, axis=1, return_inverse=True)
    sums = [weighted_bincount(inverse.ravel(), part[known], distinct.shape[1]) for part in (people, selected)]
    categories = tuple(
        Category(
            names=tuple(str(data.attributes[i].levels[code]) for i, code in zip(positions, codes, strict=True)),
            people=int(n),
            selected=int(hits),
        )
        for codes, n, hits in zip(distinct.T.tolist(), *sums, strict=True)
    )
    total, unknown = int(people.sum()), int(people[~known].sum())
    shown = tuple(one for one in categories if one.people >= least and total - one.people >= least)
    if not shown:
        raise SettingError(
            f"the profile cannot show any category of {', '.join(roles)}: none has {least:,} people or more in it and "
            "outside it. Allow smaller ones: min_group_size=1 (command line: --min-group-size 1)"
        )
    return CategoryTable(
        roles=roles,
        categories=shown,
        unknown=None if 0 < unknown < least else unknown,
        hidden=len(categories) - len(shown),
    )
