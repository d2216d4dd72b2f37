"""Tests, correction and ranking against a plain implementation that shares no code with the package."""

from __future__ import annotations

from itertools import pairwise
from math import isclose, isnan, log10
from typing import Any

import numpy as np
import pytest

import ald
from ald.notions import FNR, SELECTION
from ald.results.audit import Audit
from tests import second_opinion as plain

OWN = ald.Notion("own", (SELECTION, FNR))
DESIGNS: list[dict[str, Any]] = [
    {},
    {"notion": "equalized odds"},
    {"notion": "predictive equality"},
    {"notion": OWN},
    {"given": "site"},
    {"given": "site", "notion": "equalized odds"},
    {"reference": "all"},
    {"reference": "site = b"},
    {"reference": "all", "notion": "equalized odds"},
    {"direction": "disadvantaged"},
    {"direction": "advantaged", "notion": "equalized odds"},
    {"direction": "disadvantaged", "given": "site"},
    {"threshold": 0.03},
    {"adjust": "by"},
    {"adjust": "bonferroni"},
    {"adjust": "none", "level": 0.2},
    {"ranking": "magnitude"},
    {"ranking": "magnitude", "notion": "equalized odds", "level": 1.0},
]


def random_people(seed: int) -> list[plain.Person]:
    """People in two given halves, with numbers, levels and missing values, and outcomes that depend on some of them."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(300, 900))
    people: list[plain.Person] = []
    for i in range(n):
        job = rng.choice(["clerk", "nurse", "smith", "judge"], p=[0.4, 0.3, 0.2, 0.1])
        age = int(rng.integers(18, 70))
        truth = int(rng.random() < 0.5)
        wrong = rng.random() < (0.45 if job == "clerk" and age > 40 else 0.2)
        people.append(
            {
                "job": None if rng.random() < 0.03 else str(job),
                "age": float(age),
                "sex": str(rng.choice(["f", "m"])),
                "site": str(rng.choice(["a", "b", "c"])),
                "t": truth,
                "y": truth ^ int(wrong),
                "half": 1 + i % 2,
            }
        )
    return people


def audited(people: list[plain.Person], design: dict[str, Any], **more: Any) -> Audit:
    columns = {name: [person[name] for person in people] for name in people[0]}
    roles: dict[str, Any] = {"outcome": "y", "exclude": "t"}
    if "notion" in design and design["notion"] != "statistical parity":
        roles = {"prediction": "y", "truth": "t"}
    return ald.audit(columns, **{**roles, **more}, favourable=1, split="half", min_group_size=1, **design)


def opinions(people: list[plain.Person], audit: Audit, design: dict[str, Any]) -> list[plain.Opinion]:
    """A second opinion on every candidate, in ranked order."""
    config = audit.config
    kept = [person for person in people if person["half"] == 2]
    reference = design.get("reference", "rest")
    if reference not in ("rest", "all"):
        reference = ald.Criterion.parse(reference).to_list()
    return [
        plain.assess(
            kept,
            one.criterion.to_list(),
            config.notions[0].name,
            given=design.get("given"),
            reference=reference,
            direction=config.sign,
            threshold=config.threshold,
        )
        for one in audit.candidates
    ]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_every_candidate(seed: int, design: dict[str, Any]) -> None:
    """Sizes, psi, p-values, their correction, the order and the list are those of the plain implementation."""
    people = random_people(seed)
    audit = audited(people, design, search="leaves", groups=5)
    told = opinions(people, audit, design)
    assert told
    corrected = plain.correct([one.p for one in told], audit.config.adjust)
    for one, other, p_adjusted in zip(audit.candidates, told, corrected, strict=True):
        assert one.size == other.size
        assert (one.psi is None) == isnan(other.psi)
        assert one.psi is None or isclose(one.psi, other.psi, abs_tol=1e-9)
        assert (one.p_value is None) == isnan(other.p), (one, other)
        if one.p_value is not None and one.log10_p is not None and one.log10_p_adjusted is not None:
            # The most likely rates at a threshold are found by a search, to fewer digits.
            near = 1e-5 if audit.config.threshold else 1e-8
            assert isclose(one.log10_p, log10(other.p), abs_tol=near, rel_tol=near)
            assert isclose(one.log10_p_adjusted, log10(p_adjusted), abs_tol=near, rel_tol=near)
    _check_order(audit, told, corrected)


def _check_order(audit: Audit, told: list[plain.Opinion], corrected: list[float]) -> None:
    """Undefined groups last, others by p-value or by size; listed are the first that are significant."""
    known = [one for one in told if not isnan(one.p)]
    assert [isnan(one.p) for one in told] == sorted(isnan(one.p) for one in told)
    keys = [one.p if audit.config.ranking == "confidence" else -abs(one.psi) for one in known]
    assert all(a <= b or isclose(a, b, rel_tol=1e-6, abs_tol=1e-12) for a, b in pairwise(keys))
    significant = [i for i, p in enumerate(corrected) if p <= audit.config.level]
    assert list(audit.significant) == significant
    assert [str(one.criterion) for one in audit.groups] == [
        str(audit.candidates[i].criterion) for i in significant[: audit.config.groups]
    ]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("method", ["bh", "by", "bonferroni", "none"])
def test_the_correction_by_itself(seed: int, method: str) -> None:
    """Any p-values, equal and undefined ones among them."""
    from ald.statistics.basics import adjust

    rng = np.random.default_rng(seed)
    ps = np.round(rng.random(int(rng.integers(1, 40))) ** 4, 2) + 1e-3
    ps[rng.random(len(ps)) < 0.1] = np.nan
    found = np.exp(adjust(np.log(ps), method))
    assert found.tolist() == pytest.approx(plain.correct(ps.tolist(), method), rel=1e-9, nan_ok=True)


def test_repeats_are_audits_of_their_own() -> None:
    """The first halving is the audit without repeats: same groups, same numbers."""
    people = random_people(5)
    columns = {name: [person[name] for person in people] for name in people[0] if name not in ("t", "half")}
    options: dict[str, Any] = {"outcome": "y", "favourable": 1, "search": "leaves", "seed": 3, "min_group_size": 1}
    one = ald.audit(columns, split="random", **options)
    three = ald.audit(columns, split=ald.Split(repeats=3), **options)
    assert [(str(a.criterion), a.log10_p_adjusted) for a in one.candidates] == [
        (str(a.criterion), a.log10_p_adjusted) for a in three.candidates
    ]


@pytest.mark.parametrize(("seed", "given"), [(0, None), (1, "site")])
@pytest.mark.parametrize(
    "design",
    [
        {"cluster": "person"},
        {"weights": ald.SurveyWeights("weight")},
        {"cluster": "person", "weights": ald.SurveyWeights("weight")},
    ],
    ids=str,
)
def test_clusters_and_surveys(design: dict[str, Any], seed: int, given: str | None) -> None:
    """Sizes, psi, p-values, correction and intervals of every candidate are those of loops over rows and pairs."""
    rng = np.random.default_rng(seed)
    people = random_people(seed + 7)
    for i, person in enumerate(people):
        person["person"], person["weight"] = (i - i % 4) // 2 + i % 2, float(rng.uniform(0.5, 3))
    cluster, weight = design.get("cluster"), "weight" if "weights" in design else None
    beside = [name for name in ("person", "weight") if name not in (cluster, weight)]
    audit = audited(people, {**design, "given": given}, exclude=("t", *beside), search="leaves")
    kept = [person for person in people if person["half"] == 2]
    told = [
        plain.assess_robustly(kept, one.criterion.to_list(), cluster=cluster, weight=weight, given=given)
        for one in audit.candidates
    ]
    assert told
    corrected = plain.correct([one.p for one in told], audit.config.adjust)
    for one, other, p_adjusted in zip(audit.candidates, told, corrected, strict=True):
        assert one.size == other.size
        assert one.psi == pytest.approx(other.psi, rel=1e-9, nan_ok=True)
        assert one.p_value == pytest.approx(other.p, rel=1e-7)
        assert one.log10_p_adjusted == pytest.approx(log10(p_adjusted), rel=1e-7, abs=1e-9)
        assert one.interval == pytest.approx(other.interval, abs=1e-7)
    _check_order(audit, told, corrected)
