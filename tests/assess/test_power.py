"""What an audit could have seen."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import power_proportions_2indep

import ald
from ald.assess.assessment import Terms, assess_counts, assess_masks
from ald.assess.power import Detectable, detectable, known
from ald.notions import NOTIONS
from tests.coded import PARITY as SELECTED
from tests.coded import coded

PARITY, ODDS = NOTIONS["statistical parity"], NOTIONS["equalized odds"]
EXACT = Terms(exact=True)
TESTS = 4


def psi_of(cells: list[int], share: float, terms: Terms = EXACT, **options: object) -> float:
    """The detectable disparity of a group of this share."""
    (entry,) = detectable(np.array(cells), PARITY, terms, TESTS, [share], **options)  # type: ignore[arg-type]
    assert entry.psi is not None
    return entry.psi


@pytest.mark.parametrize("share", [0.05, 0.1, 0.25, 0.5])
def test_power_is_eighty_percent_at_the_detectable_disparity(share: float) -> None:
    """statsmodels' power for a group of that share and that disparity is about 0.8, where counts are large."""
    people = 20_000
    (entry,) = detectable(np.array([people // 2, people // 2]), PARITY, Terms(), 3, [share])
    assert entry.psi is not None
    outside = 0.5 - entry.psi * share
    power = power_proportions_2indep(
        entry.psi, outside, people * share, ratio=(1 - share) / share, alpha=0.05 / 3, return_results=False
    )
    assert power == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize(("people", "rate", "share"), [(4000, 0.02, 0.1), (10_000, 0.01, 0.05), (400, 0.1, 0.1)])
def test_power_with_rare_outcomes(people: int, rate: float, share: float) -> None:
    """In random data with the disparity that an audit states, SciPy's tests find about 80 %: fewer by .05 at most."""
    rng = np.random.default_rng(1)
    order = np.arange(people)
    data = {"x": rng.choice(["a", "b"], people), "z": rng.random(people), "y": order < rate * people, "half": order % 2}
    audit = ald.audit(data, outcome="y", split="half")
    (psi,) = [entry.psi for entry in audit.detectable if entry.share == share]
    assert psi is not None
    n, runs, level = people // 2, 1500, 0.05 / audit.n_tested
    inside = rng.binomial(n, share, runs)
    hits_in, hits_out = rng.binomial(inside, rate + psi * (1 - share)), rng.binomial(n - inside, rate - psi * share)
    found = [
        stats.fisher_exact([[a, size - a], [b, n - size - b]]).pvalue <= level
        for a, b, size in zip(hits_in.tolist(), hits_out.tolist(), inside.tolist(), strict=True)
    ]
    assert np.mean(found) >= 0.75


@pytest.mark.parametrize("cells", [(900, 100, 200, 800), (2500, 25, 500, 1975)])
def test_power_of_several_rates(cells: tuple[int, ...]) -> None:
    """Where both error rates differ by the detectable amount, Fisher's combination of their tests finds about 80 %."""
    (entry,) = detectable(np.array(cells), ODDS, EXACT, TESTS, [0.1])
    assert entry.psi is not None
    rng = np.random.default_rng(2)
    everyone = int(sum(cells))
    inside = rng.binomial(everyone, 0.1, 2000)
    sides = []
    for people, times in ((inside, 0.9), (everyone - inside, -0.1)):
        negative = rng.binomial(people, (cells[0] + cells[1]) / everyone)
        positives = [cells[1] / (cells[0] + cells[1]), cells[2] / (cells[2] + cells[3])]
        fp, fn = (
            rng.binomial(n, p + times * entry.psi)
            for n, p in zip((negative, people - negative), positives, strict=True)
        )
        sides.append(np.stack([negative - fp, fp, fn, people - negative - fn], axis=1))
    found = assess_counts(sides[0], np.zeros(4, np.int64), ODDS, EXACT, outside=sides[1])
    assert np.mean(found.log_p <= np.log(0.05 / TESTS)) == pytest.approx(0.8, abs=0.05)


def test_power_of_clusters() -> None:
    """Where people have ten rows that correlate, the tests for clusters find about 80 %: fewer by .08 at most."""
    people, rows, share, rate = 200, 10, 0.25, 0.3

    def draw(psi: float, rng: np.random.Generator) -> dict[str, np.ndarray]:
        group = rng.random(people) < share
        own = rng.beta(*((4 * p) for p in (rate + psi * (group - share), 1 - rate - psi * (group - share))))
        who = np.repeat(np.arange(people), rows)
        return {"g": group[who], "who": who.astype(str), "y": (rng.random(people * rows) < own[who]).astype(int)}

    rng = np.random.default_rng(3)
    none = coded(draw(0.0, rng), outcome="y", cluster="who")
    psi = psi_of(none.cell_counts().tolist(), share, known=known(none, SELECTED))
    assert psi > 1.3 * psi_of(none.cell_counts().tolist(), share)
    found = []
    for _ in range(300):
        data = coded(draw(psi, rng), outcome="y", cluster="who")
        found.append(assess_masks([data.codes[0] == 1], data, PARITY).log_p[0] <= np.log(0.05 / TESTS))
    assert np.mean(found) >= 0.72


def test_strata_that_explain_the_outcome_help() -> None:
    """Within strata that tell most outcomes, smaller disparities are seen; strata that tell nothing change little."""
    rng = np.random.default_rng(4)
    n = 4000
    s, noise = rng.integers(2, size=n), rng.integers(2, size=n)
    columns = {"g": rng.integers(2, size=n), "s": s, "noise": noise, "y": (rng.random(n) < 0.1 + 0.8 * s).astype(int)}
    plain, explained, unexplained = (
        psi_of(data.cell_counts().tolist(), 0.25, known=known(data, SELECTED))
        for data in (coded(columns, **options) for options in ({}, {"given": ("s",)}, {"given": ("noise",)}))
    )
    assert explained < 0.7 * plain
    assert unexplained == pytest.approx(plain, rel=0.01)


def test_survey_weights_count_up_to_a_factor() -> None:
    """A thousand times the weights is the same survey, also of people with several rows."""
    rng = np.random.default_rng(5)
    n = 600
    columns = {"g": rng.integers(2, size=n), "who": rng.integers(150, size=n).astype(str), "y": rng.integers(2, size=n)}
    weight = rng.gamma(2, 1, n)
    one, thousand = (
        known(coded(columns | {"w": w}, cluster="who", survey_weights="w"), SELECTED)[0]
        for w in (weight, 1000 * weight)
    )
    assert (one.effect, one.units, one.together) == pytest.approx((thousand.effect, thousand.units, thousand.together))
    assert one.effect > 1.3
    assert one.units < 150


def test_terms_of_the_tests() -> None:
    """Another correction, a direction, a threshold, or everyone as reference: the disparity that is seen follows."""
    cells, share = [1600, 400], 0.1
    plain = psi_of(cells, share)
    single, yekutieli = (psi_of(cells, share, replace(EXACT, adjustment=name)) for name in ("none", "by"))
    assert single < plain < yekutieli
    assert psi_of(cells, share, replace(EXACT, adjustment="bonferroni")) == plain
    assert psi_of(cells, share, replace(EXACT, direction=1)) < plain
    assert plain < psi_of(cells, share, replace(EXACT, threshold=0.05)) < plain + 0.06
    assert psi_of(cells, share, replace(EXACT, reference="all")) == pytest.approx(plain * 0.9)


def test_a_small_reference_group_shows_less() -> None:
    """Compared with few people, larger disparities are needed."""
    assert psi_of([1600, 400], 0.1, reference=np.array([160, 40])) > 1.2 * psi_of([1600, 400], 0.1)


def test_one_direction_may_be_impossible() -> None:
    """Of people of whom 2 % get something, no small group can be seen to get it less often."""
    (entry,) = detectable(np.array([980, 20]), PARITY, replace(EXACT, direction=-1), 1, [0.05])
    assert entry == Detectable(share=0.05, psi=None, notion=PARITY.name)


def test_smaller_groups_need_larger_disparities() -> None:
    """The detectable disparity falls with the share of people up to one half."""
    values = [entry.psi for entry in detectable(np.array([500, 500]), PARITY, EXACT, 1)]
    assert all(a is None or (b is not None and a > b) for a, b in pairwise(values))


@pytest.mark.parametrize("cells", [[60, 40], [100, 0]])
def test_impossible_disparities_are_none(cells: list[int]) -> None:
    """Where no disparity that can exist would be found, there is no number."""
    (entry,) = detectable(np.array(cells), PARITY, EXACT, 1, [0.01])
    assert entry.psi is None
