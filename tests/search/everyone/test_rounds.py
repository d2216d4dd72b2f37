"""Rounds of search and test on all people: p-values, when they stop, and what is named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from ald.data.coded import AuditData
from ald.datasets import make_synthetic
from ald.groups.rules import decode
from ald.notions import ACCURACY, FNR, FPR, SELECTION, RateCounter
from ald.search.everyone.rounds import Chance, Everyone, Taken, allowed_exceedances, chance
from ald.search.everyone.shuffles import LANES
from ald.search.explore.scoring import Aim
from tests.coded import PARITY, coded


def rounds(data: AuditData, rates: RateCounter = PARITY, aim: Aim | None = None, **options: int) -> list[Taken]:
    return list(Everyone(data, rates, aim or Aim(), **options).rounds())


def words(data: AuditData, found: list[Taken]) -> list[str]:
    return [str(decode(taken.criterion, data.attributes)) for taken in found]


def chance_of(observed: float, shuffles: np.ndarray, level: float) -> Chance:
    """The chance of a value, given those of all shuffles."""
    lanes = np.concatenate([[observed], shuffles, np.zeros(LANES)])

    def values(first: int, blocks: int) -> np.ndarray:
        return lanes[first * LANES : (first + blocks) * LANES]

    return chance(values, len(shuffles), level)


def test_p_values() -> None:
    """One more than the shuffles that are as strong, of one more than there are; ties count as strong."""
    shuffles = np.linspace(-5, -1, 999)
    assert chance_of(-6.0, shuffles, 0.05) == Chance(as_strong=0, shuffles=999, stopped=False, critical=shuffles[49])
    assert (chance_of(-6.0, shuffles, 0.05).p, chance_of(-6.0, shuffles, 0.05).bound) == (0.001, True)
    assert chance_of(float(shuffles[3]), shuffles, 0.05).p == 0.005
    assert not chance_of(float(shuffles[3]), shuffles, 0.05).bound


@pytest.mark.parametrize("seed", range(20))
def test_stopping_early_changes_no_decision(seed: int) -> None:
    """Shuffling ends once p is above the level for certain; then p is the share of those that were seen."""
    rng = np.random.default_rng(seed)
    shuffles, level = rng.normal(size=999), 0.05
    observed = float(np.quantile(shuffles, rng.choice([0.03, 0.049, 0.051, 0.3, 0.9])))
    found = chance_of(observed, shuffles, level)
    as_strong = int((shuffles <= observed).sum())
    assert (found.p <= level) == ((1 + as_strong) / 1000 <= level)
    if found.stopped:
        assert found.as_strong == allowed_exceedances(level, 999) == 50
        assert (shuffles[: found.shuffles] <= observed).sum() == 50
        assert shuffles[found.shuffles - 1] <= observed
        assert found.p == 50 / found.shuffles > level
    else:
        assert found.p == (1 + as_strong) / 1000
        assert observed < found.critical == np.sort(shuffles)[49]


def test_too_few_shuffles_for_the_level_find_nothing() -> None:
    """With 9 shuffles no p-value is below 0.1, however strong a group is."""
    found = chance_of(-100.0, np.zeros(9), 0.05)
    assert found.p > 0.05
    assert not rounds(coded(make_synthetic(2, n=500, rho=0.9, seed=1)), shuffles=9)[0].listed


def test_groups_are_taken_until_one_fails() -> None:
    """Two findings that are there are listed in turn, then nothing; later ones within the strata of earlier ones."""
    data = coded(make_synthetic(5, n=8000, seed=1))
    found = rounds(data)
    assert [taken.listed for taken in found] == [True, True, False]
    assert [int(taken.strata.max()) + 1 for taken in found] == [1, 2, 4]
    named = words(data, found)[:2]
    assert any("sex = f" in text and "age" in text for text in named)
    assert any("region = 3" in text for text in named)


@pytest.mark.parametrize("dataset", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_named_is_never_weaker_than_what_was_found(dataset: int, seed: int) -> None:
    """Sharpening begins at the group that had the best value, and ends with one at least as good."""
    data = coded(make_synthetic(dataset, n=1500, rho=0.25, seed=seed, irrelevant=2))
    listed = [taken for taken in rounds(data) if taken.listed]
    assert listed
    for taken in listed:
        assert taken.named_value <= taken.value + 1e-9
        assert taken.value < taken.chance.critical
        attributes = {c.attribute for c in taken.found}
        assert attributes & {c.attribute for c in taken.criterion}


def test_a_single_condition_competes() -> None:
    """The strongest group is taken first, though sharpening another one would say more of a weaker one."""
    rng = np.random.default_rng(0)
    n = 1300
    ticket = rng.choice(["first", "second", "third"], n, p=[0.25, 0.2, 0.55])
    age = rng.uniform(0, 80, n)
    lived = rng.random(n) < np.where(ticket == "first", 0.65, 0.3) + 0.1 * (age < 12)
    data = coded({"class": ticket, "age": age, "y": lived})
    assert words(data, rounds(data))[0] == "class = first"


def test_any_order_and_counting_of_rows_and_any_number_of_threads() -> None:
    """The same people in another order, written out, or with more threads, give the same rounds."""
    columns = make_synthetic(1, n=700, rho=0.3, seed=4)
    columns["age"] = np.round(columns["age"] / 5) * 5
    data = coded(columns)
    order = np.random.default_rng(0).permutation(700)
    rows = np.repeat(np.arange(len(data.cells)), data.counts)
    written = replace(
        data, codes=tuple(code[rows] for code in data.codes), cells=data.cells[rows], counts=np.ones(700, np.int64)
    )
    other = coded({name: column[order] for name, column in columns.items()})
    expected = [(t.criterion, t.value, t.chance.as_strong, t.chance.critical) for t in rounds(data)[:-1]]
    assert expected
    for found in (rounds(written), rounds(other), rounds(data, threads=3)):
        assert [(t.criterion, t.value, t.chance.as_strong, t.chance.critical) for t in found[:-1]] == expected


def test_several_rates_and_rates_that_share_people() -> None:
    """Rates of different people are tested together; otherwise each by itself, and p is that of the best, times two."""
    data = coded(make_synthetic(3, n=3000, rho=0.5, seed=2))
    together = rounds(data, RateCounter([FPR, FNR], 4))[0]
    assert together.rates == (0, 1)
    assert words(data, [together]) == ["a = a1 and b = b1"]
    rng = np.random.default_rng(1)
    group = rng.choice(["x", "y"], 2000)
    truth = rng.integers(0, 2, 2000)
    prediction = np.where(rng.random(2000) < np.where(group == "x", 0.1, 0.4), 1 - truth, truth)
    data = coded({"group": group, "prediction": prediction, "truth": truth})
    found = rounds(data, RateCounter([SELECTION, ACCURACY], 4))[0]
    assert found.rates == (1,)
    assert np.isclose(found.log_p, np.log(2 * found.chance.p))


def test_strata_of_legitimate_factors_explain_what_they_explain() -> None:
    """A group that differs only because of a factor is not listed given that factor."""
    rng = np.random.default_rng(3)
    job = rng.integers(0, 4, 3000)
    sex = np.where(rng.random(3000) < 0.15 + 0.2 * job, "f", "m")
    outcome = rng.random(3000) < 0.2 + 0.15 * job
    data = coded({"sex": sex, "job": job.astype(str), "y": outcome})
    place = [attribute.name for attribute in data.attributes].index("job")
    factor = data.codes[place].astype(np.int64)
    alone = replace(data, attributes=(data.attributes[1 - place],), codes=(data.codes[1 - place],))
    assert rounds(alone)[0].listed
    assert not rounds(alone, aim=Aim(given=factor))[0].listed


def test_p_values_are_uniform_where_nothing_is_there() -> None:
    """Of random outcomes, p-values below any bound are as frequent as the bound, within chance."""
    seen = []
    for seed in range(150):
        data = coded(make_synthetic(2, n=300, rho=0.0, seed=seed))
        seen.append(rounds(data, seed=seed, shuffles=199)[0].chance.p)
    for bound in (0.05, 0.2, 0.5):
        assert stats.binom.sf(sum(p <= bound for p in seen) - 1, len(seen), bound) > 0.001
    assert stats.binom.cdf(sum(p <= 0.5 for p in seen), len(seen), 0.5) > 0.001
