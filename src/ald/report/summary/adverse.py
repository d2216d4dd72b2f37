"""Adverse impact: how often categories are selected beside the most selected one, overall and within jobs or sites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log, sqrt

import numpy as np

from ald.notions import SELECTION, RateCounter
from ald.options import AuditConfig
from ald.profiles import WITHIN, Category, CategoryTable, Profile
from ald.report.model import Entry, Grid, Heading, Section
from ald.report.summary.table import number, word
from ald.report.words import count, p_value, percent, plain
from ald.statistics.basics import chi2_log_sf
from ald.statistics.exact import exact_log_p
from ald.statistics.homogeneity import breslow_day, common_odds_ratio
from ald.statistics.stratified import cmh_statistics

# The four-fifths rule of thumb.
FOUR_FIFTHS = 0.8


@dataclass(frozen=True, kw_only=True)
class Impact:
    """A category beside the most selected one. None is undefined.

    deviations: the difference of the rates in standard deviations of what chance gives, if both are selected alike.
    shortfall: how many more would be selected at the rate of both together. to_four_fifths: how many more selected
    people would bring the ratio up to four fifths.
    """

    ratio: float | None
    difference: float
    deviations: float | None
    log10_p: float | None
    shortfall: float
    to_four_fifths: int


def impact(category: Category, reference: Category) -> Impact:
    """How a category fares beside another one.

    >>> found = impact(Category(names=("f",), people=80, selected=24), Category(names=("m",), people=100, selected=60))
    >>> found.ratio, round(found.deviations, 2), round(found.shortfall, 1), found.to_four_fifths
    (0.5, -4.01, 13.3, 15)
    """
    a, n, b, m = category.selected, category.people, reference.selected, reference.people
    pooled = (a + b) / (n + m)
    error = sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
    difference = a / n - b / m
    return Impact(
        ratio=(a / n) / (b / m) if b else None,
        difference=difference,
        deviations=difference / error if error > 0 else None,
        log10_p=exact_log_p([(a, n, a + b, n + m)]) / log(10) if error > 0 else None,
        shortfall=n * pooled - a,
        to_four_fifths=max(ceil(FOUR_FIFTHS * b * n / m - a - 1e-9), 0),
    )


@dataclass(frozen=True, kw_only=True)
class Within:
    """The same within jobs or sites, together. strata: those that say something. same: log10 p of one odds ratio."""

    strata: int
    odds_ratio: float | None
    log10_p: float | None
    same: float | None
    shortfall: float


def impact_within(pairs: Sequence[tuple[Category, Category]]) -> Within:
    """A category beside another one, in every job or site."""
    a, n, b, m = (
        np.array([getattr(pair[side], key) for pair in pairs], float)
        for side in (0, 1)
        for key in ("selected", "people")
    )
    inside, totals = (np.stack([base - hits, hits], axis=1).astype(np.int64) for base, hits in ((n, a), (n + m, a + b)))
    statistic = float(cmh_statistics(inside, totals, RateCounter([SELECTION], 2))[0])
    ratio = common_odds_ratio(a, n, b, m)
    _, df, log_same = breslow_day(a, n, b, m)
    return Within(
        strata=df + 1,
        odds_ratio=ratio if np.isfinite(ratio) else None,
        log10_p=float(chi2_log_sf(np.array(statistic), np.array(1))) / log(10) if np.isfinite(statistic) else None,
        same=log_same / log(10) if np.isfinite(log_same) else None,
        shortfall=float((n * (a + b) / (n + m) - a).sum()),
    )


def say_hidden_categories(table: CategoryTable, config: AuditConfig) -> tuple[str, ...]:
    """How many categories are not shown, because they are too small."""
    if not table.hidden:
        return ()
    return (
        f"{count(table.hidden, 'category', 'categories')} with fewer than {config.min_group_size:,} people in "
        f"{'it' if table.hidden == 1 else 'them'} or outside {'is' if table.hidden == 1 else 'are'} not shown: "
        "min_group_size=1 shows all.",
    )


def adverse_impact(profile: Profile, selected: str, config: AuditConfig) -> tuple[Section, ...]:
    """The sections of the profile; `selected` says in words who was."""
    within = profile.columns.get(WITHIN)
    intro = (
        "Not legal advice. These statistics are in use where selection rates of categories are compared; which of them "
        "a court or an authority looks at, and what it concludes, is not for a report to say.",
        f"Selected are those with {selected}. Every category is compared with the most selected one of its table. The "
        "four-fifths rule of thumb looks at the impact ratio: below 0.8 is taken as a sign of adverse impact. Standard "
        "deviations and Fisher's exact p-value say how far chance explains a difference; two or three standard "
        "deviations are a common yardstick. Small ratios of few people may be chance, and large samples make small "
        "differences significant: the shortfall says how many people it is about. p-values are for one category at a "
        "time.",
        "Shortfall: how many more people of the category would be selected at the rate of both categories together. "
        "To 4/5: how many more selected people would bring the impact ratio up to 0.8.",
    )
    sections = [Section(key="adverse-impact", title="Adverse impact", paragraphs=intro)]
    for role, column in profile.columns.items():
        table = profile.table(role)
        if role == WITHIN or table is None:
            continue
        sections.append(_overall(role, column, table, config))
        joint = profile.table(role, WITHIN)
        if within is not None and joint is not None:
            sections.append(_stratify(role, within, table, joint, config))
    return tuple(sections)


def _reference(table: CategoryTable) -> Category:
    """The most selected category; of several the one with the most people."""
    return max(table.categories, key=lambda category: (category.rate, category.people))


def _heads(words: Sequence[str], numbers: Sequence[str]) -> tuple[Heading, ...]:
    return tuple(Heading(key=head, header=head, is_number=head in numbers) for head in (*words, *numbers))


def _overall(role: str, column: str, table: CategoryTable, config: AuditConfig) -> Section:
    reference = _reference(table)
    rows = []
    for category in table.categories:
        row = [
            word(category.names[0]),
            number(category.people, f"{category.people:,}"),
            number(category.selected, f"{category.selected:,}"),
            number(category.rate, percent(category.rate)),
        ]
        if category is reference:
            row += [word("most selected"), *[word("")] * 4]
        else:
            found = impact(category, reference)
            row += [
                number(found.ratio, plain(found.ratio)),
                number(found.deviations, plain(found.deviations, 2)),
                number(found.log10_p, "undefined" if found.log10_p is None else p_value(found.log10_p)),
                number(found.shortfall, f"{found.shortfall:,.1f}"),
                number(found.to_four_fifths, f"{found.to_four_fifths:,}"),
            ]
        rows.append(tuple(row))
    heads = ("people", "selected", "rate", "impact ratio", "standard deviations", "Fisher's p", "shortfall", "to 4/5")
    shown = Grid(caption=f"Selection rates by {column}", columns=_heads((column,), heads), rows=tuple(rows))
    below = [c.names[0] for c in table.categories if _below(c, reference)]
    texts = (
        f"Impact ratio below 0.8: {', '.join(below)}." if below else "No category has an impact ratio below 0.8.",
        *([f"{_unknown(table, config)} people are in no category."] if table.unknown != 0 else []),
        *say_hidden_categories(table, config),
    )
    return Section(key=f"adverse-impact-{role}", title=f"Adverse impact by {column}", paragraphs=texts, table=shown)


def _unknown(table: CategoryTable, config: AuditConfig) -> str:
    return f"Fewer than {config.min_group_size:,}" if table.unknown is None else f"{table.unknown:,}"


def _below(category: Category, reference: Category) -> bool:
    ratio = impact(category, reference).ratio
    return ratio is not None and ratio < FOUR_FIFTHS


def _stratify(role: str, within: str, table: CategoryTable, joint: CategoryTable, config: AuditConfig) -> Section:
    reference = _reference(table)
    by_stratum: dict[str, dict[str, Category]] = {}
    for category in joint.categories:
        by_stratum.setdefault(category.names[1], {})[category.names[0]] = category
    rows = []
    for category in table.categories:
        if category is reference:
            continue
        own, other = category.names[0], reference.names[0]
        pairs = [(found[own], found[other]) for found in by_stratum.values() if own in found and other in found]
        rows.append(_within_row(own, pairs))
    heads = ("strata", "odds ratio", "Mantel-Haenszel p", "Breslow-Day p", "shortfall")
    shown = Grid(
        caption=f"Compared with {reference.names[0]} within {within}",
        columns=_heads(("category",), heads),
        rows=tuple(rows),
    )
    texts = (
        f"People are compared within each value of {within}. The odds ratio is that of Mantel and Haenszel, below 1 "
        "where the category is selected less often; its p-value is that of the Cochran-Mantel-Haenszel test. A small "
        "Breslow-Day p-value (with Tarone's correction) says that strata differ in their odds ratios, so that one "
        "number does not describe them.",
        *([f"{said} They do not count here."] if (said := "".join(say_hidden_categories(joint, config))) else []),
    )
    return Section(
        key=f"adverse-impact-{role}-{WITHIN}", title=f"Within {within}: {table.roles[0]}", paragraphs=texts, table=shown
    )


def _within_row(name: str, pairs: Sequence[tuple[Category, Category]]) -> tuple[Entry, ...]:
    if not pairs:
        return (word(name), *[word("undefined")] * 5)
    found = impact_within(pairs)
    return (
        word(name),
        number(found.strata, f"{found.strata:,}"),
        number(found.odds_ratio, plain(found.odds_ratio, 2)),
        number(found.log10_p, "undefined" if found.log10_p is None else p_value(found.log10_p)),
        number(found.same, "undefined" if found.same is None else p_value(found.same)),
        number(found.shortfall, f"{found.shortfall:,.1f}"),
    )
