"""The paper's two tables: its groups counted on the public data, and what ALD lists there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np

from ald._core.arrays import AnyArray, FloatArray
from ald.auditing import audit
from ald.datasets import load_adult, load_compas
from ald.groups.criterion import Criterion, Levels
from ald.options import objects
from ald.statistics.basics import chi2_2x2, chi2_log_sf, combine_fisher
from ald.study.systems import SAME_PEOPLE

ADULT_ATTRIBUTES = ("age", "relationship", "sex", "race", "marital_status")
_ADULT_TRAINING_ROWS = 32_561
# Random halvings in which it is counted what is listed.
HALVINGS = 100
# The paper gives no more of its p-values.
_PUBLISHED_P = "< 0.001"


@dataclass(frozen=True, kw_only=True)
class Row:
    """A group: its words, its people and their share, psi with its parts where it has several, and p in words.

    `crude`: psi without regard to the groups before it, where psi is within their strata.
    """

    group: str
    share: float
    psi: float
    people: int | None = None
    parts: tuple[float, ...] = ()
    p: str = ""
    crude: float | None = None
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Search:
    """In how many random halvings one of the paper's groups, or one of nearly its people, is among the first three."""

    setting: str
    halvings: int
    exactly: int
    nearly: int


@dataclass(frozen=True, kw_only=True)
class PublicTable:
    """The paper's rows, the same groups counted by us, what ALD lists with several settings, and how often theirs."""

    title: str
    paper: tuple[Row, ...]
    counted: tuple[tuple[str, tuple[Row, ...]], ...]
    listed: tuple[tuple[str, tuple[Row, ...]], ...]
    searches: tuple[Search, ...] = ()
    notes: tuple[str, ...] = ()


def _levels(**levels: Sequence[str]) -> Criterion:
    return Criterion(Levels(name, "nominal", tuple(words)) for name, words in levels.items())


_RACES = ("Asian-Pac-Islander", "Black", "White")
ADULT_GROUPS = (
    _levels(race=_RACES, relationship=["Husband"]),
    _levels(marital_status=["Married-AF-spouse", "Married-civ-spouse"], race=_RACES, sex=["Male"]),
    _levels(relationship=["Husband", "Wife"], sex=["Male"]),
)
COMPAS_GROUPS = (
    _levels(race=["African-American", "Native American"]),
    _levels(race=["African-American"]),
    _levels(race=["Asian", "Caucasian"]),
    _levels(race=["Other"]),
)


def parity(criterion: Criterion, columns: dict[str, AnyArray], y: AnyArray) -> Row:
    """A group counted directly: its people, its rate minus everyone else's, and p of Pearson's chi2."""
    inside = criterion.mask(columns)
    return Row(
        group=str(criterion),
        people=int(inside.sum()),
        share=float(inside.mean()),
        psi=float(y[inside].mean() - y[~inside].mean()),
        p=_p(_pearson_log_p(y[inside], y[~inside])),
    )


def odds(criterion: Criterion, columns: dict[str, AnyArray], prediction: AnyArray, truth: AnyArray) -> Row:
    """A group counted directly: differences of its false positive and false negative rates, and their mean size."""
    inside = criterion.mask(columns)
    parts, log_p = [], []
    for wrong, base in ((prediction, truth == 0), (1 - prediction, truth == 1)):
        mine, others = wrong[inside & base], wrong[~inside & base]
        parts.append(float(mine.mean() - others.mean()))
        log_p.append(_pearson_log_p(mine, others))
    return Row(
        group=str(criterion),
        people=int(inside.sum()),
        share=float(inside.mean()),
        psi=float(np.mean(np.abs(parts))),
        parts=tuple(parts),
        p=_p(combine_fisher(np.array(log_p))[1]),
    )


def _pearson_log_p(inside: AnyArray, outside: AnyArray) -> FloatArray:
    """log p of Pearson's chi2 of zeros and ones inside and outside a group."""
    table = [count for side in (inside, outside) for count in (int(side.sum()), int((1 - side).sum()))]
    return chi2_log_sf(chi2_2x2(*(np.array([count]) for count in table)), np.array([1]))


def _p(log_p: FloatArray) -> str:
    return _exact(float(log_p[0]) / log(10))


def _exact(log10_p: float | None) -> str:
    """A p-value at any size, to be set beside one that was published.

    >>> _exact(-1234.5), _exact(-1.5)
    ('3.2e-1235', '0.032')
    """
    if log10_p is None:
        return "undefined"
    if log10_p > -4:
        return f"{10.0 ** min(log10_p, 0.0):.2g}"
    exponent = int(log10_p // 1)
    mantissa = f"{10 ** (log10_p - exponent):.1f}"
    return f"1.0e{exponent + 1}" if mantissa == "10.0" else f"{mantissa}e{exponent}"


def _list_rows(data: Any, **options: Any) -> tuple[Row, ...]:
    return tuple(
        Row(
            group=str(finding.criterion),
            people=finding.size,
            share=finding.share,
            psi=float("nan") if finding.psi is None else finding.psi,
            parts=tuple(value for value in finding.parts.values() if value is not None)
            if len(finding.parts) > 1
            else (),
            p=_exact(finding.log10_p_adjusted),
            crude=finding.psi_crude if finding.given_groups else None,
        )
        for finding in audit(data, **options).groups
    )


def _search(setting: str, columns: dict[str, AnyArray], groups: Sequence[Criterion], **options: Any) -> Search:
    """How often the first groups of the paper's search have one of these."""
    masks = [group.mask(columns) for group in groups]
    exactly = nearly = 0
    for seed in range(HALVINGS):
        found = [
            finding.criterion for finding in audit(objects.Source(data=columns, threads=1), seed=seed, **options).groups
        ]
        exactly += any(criterion in groups for criterion in found)
        # Membership of the paper's groups is neither empty nor everyone, and that of listed groups is not either.
        alike = (np.corrcoef(criterion.mask(columns), mask)[0, 1] for criterion in found for mask in masks)
        nearly += any(value >= SAME_PEOPLE for value in alike)
    return Search(setting=setting, halvings=HALVINGS, exactly=exactly, nearly=nearly)


def adult_table() -> PublicTable:
    """Table of Adult: income by age, relationship, sex, race and marital status; statistical parity, confidence."""
    columns = {name: values for name, values in load_adult().items() if name in (*ADULT_ATTRIBUTES, "income")}
    y = (columns["income"] == ">50K").astype(np.int64)
    # In the file behind the published numbers every row of the test file has the outcome 0.
    mislabelled = np.where(np.arange(len(y)) < _ADULT_TRAINING_ROWS, y, 0)
    attributes = {name: columns[name] for name in ADULT_ATTRIBUTES}
    settings: dict[str, Any] = {"outcome": "income", "favourable": ">50K", "attributes": ADULT_ATTRIBUTES}
    wrong = attributes | {"income": np.where(mislabelled == 1, ">50K", "<=50K")}
    return PublicTable(
        title="Adult: statistical parity, ranked by confidence",
        paper=tuple(
            Row(group=str(criterion), share=share, psi=psi, p=_PUBLISHED_P)
            for criterion, share, psi in zip(ADULT_GROUPS, (0.399, 0.403, 0.405), (0.234, 0.233, 0.232), strict=True)
        ),
        counted=(
            ("all rows, correct labels", tuple(parity(group, attributes, y) for group in ADULT_GROUPS)),
            (
                "all rows, test rows mislabelled as in the published numbers",
                tuple(parity(group, attributes, mislabelled) for group in ADULT_GROUPS),
            ),
        ),
        listed=(
            ("ALD with the paper's settings", _list_rows(columns, search="paper", **settings)),
            ("ALD", _list_rows(columns, split="random", **settings)),
            ("ALD, everyone searched and tested", _list_rows(columns, split="none", **settings)),
        ),
        searches=tuple(
            _search(
                f"{labels}, alpha {alpha:g}",
                table,
                ADULT_GROUPS,
                search=objects.Search("paper", alpha=alpha),
                **settings,
            )
            for labels, table in (("correct labels", columns), ("mislabelled test rows", wrong))
            for alpha in (0.1, 1.0)
        ),
    )


_COMPAS_SETTINGS: dict[str, Any] = {
    "prediction": "predicted_high_risk", "truth": "reoffended", "notion": "equalized odds", "attributes": ["race"],
}  # fmt: skip


def _compas() -> dict[str, AnyArray]:
    data = load_compas()
    return {name: data[name] for name in ("race", "predicted_high_risk", "reoffended")}


def compas_tree() -> str:
    """The search tree of the group that the paper's search lists first on COMPAS, as SVG."""
    first = audit(_compas(), search=objects.Search("paper", alpha=1.0), **_COMPAS_SETTINGS).groups[0]
    return str(first.plot_tree(levels=None))


def compas_table() -> PublicTable:
    """Table of COMPAS: race only, equalized odds."""
    columns, settings = _compas(), _COMPAS_SETTINGS
    prediction, truth = columns["predicted_high_risk"], columns["reoffended"]
    published = ((0.514, 0.220, 0.227, -0.214), (0.512, 0.219, 0.227, -0.211), (0.349, 0.139, -0.146, 0.131),
                 (0.054, 0.223, -0.164, 0.282))  # fmt: skip
    notes = ("confidence 1", "confidence 2", "confidence 3", "magnitude 1")
    return PublicTable(
        title="COMPAS: equalized odds by race",
        paper=tuple(
            Row(group=str(criterion), share=share, psi=psi, parts=tuple(parts), p=_PUBLISHED_P, note=note)
            for criterion, (share, psi, *parts), note in zip(COMPAS_GROUPS, published, notes, strict=True)
        ),
        counted=(("all rows", tuple(odds(group, columns, prediction, truth) for group in COMPAS_GROUPS)),),
        listed=(
            ("ALD with the paper's settings, alpha 0.1", _list_rows(columns, search="paper", **settings)),
            (
                "ALD with the paper's settings, alpha 1",
                _list_rows(columns, search=objects.Search("paper", alpha=1.0), **settings),
            ),
            (
                "the same, ranked by magnitude",
                _list_rows(columns, search=objects.Search("paper", alpha=1.0), ranking="magnitude", **settings),
            ),
            ("ALD", _list_rows(columns, split="random", **settings)),
            ("ALD, everyone searched and tested", _list_rows(columns, split="none", **settings)),
            ("ALD, ranked by magnitude", _list_rows(columns, ranking="magnitude", **settings)),
        ),
        notes=tuple(
            f"In {_first_is_african_american(columns, settings | options)} of {HALVINGS} random halvings {words} "
            "lists African-American, alone or with Native American, or everyone else, first."
            for words, options in (
                ("ALD with the paper's settings and alpha 0.1", {"search": "paper"}),
                ("ALD with the paper's settings and alpha 1", {"search": objects.Search("paper", alpha=1.0)}),
                ("ALD", {"split": "random"}),
            )
        ),
    )


def _first_is_african_american(columns: dict[str, AnyArray], settings: dict[str, Any]) -> int:
    """In how many halvings the first group is the paper's."""
    group = {"African-American", "Native American"}
    races = {str(race) for race in columns["race"]}
    accepted = (group, {"African-American"}, races - group, races - {"African-American"})
    found = 0
    for seed in range(HALVINGS):
        groups = audit(objects.Source(data=columns, threads=1), seed=seed, **settings).groups
        if groups:
            (condition,) = groups[0].criterion
            found += set(getattr(condition, "levels", ())) in accepted
    return found
