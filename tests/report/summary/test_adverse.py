"""Adverse impact: every number against SciPy, statsmodels or a plain count."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import StratifiedTable
from statsmodels.stats.proportion import proportions_ztest

import ald
from ald.errors import SettingError
from ald.profiles import Category
from ald.report.summary.adverse import impact, impact_within


def category(people: int, selected: int, name: str = "a") -> Category:
    return Category(names=(name,), people=people, selected=selected)


@pytest.mark.parametrize("seed", range(10))
def test_numbers_of_two_categories(seed: int) -> None:
    """Ratio, standard deviations, Fisher's p and the shortfall are those of SciPy, statsmodels and plain arithmetic."""
    rng = np.random.default_rng(seed)
    n, m = (int(value) for value in rng.integers(20, 300, 2))
    a, b = int(rng.integers(1, n)), int(rng.integers(1, m))
    found = impact(category(n, a), category(m, b))
    assert found.ratio == pytest.approx((a / n) / (b / m))
    assert found.deviations == pytest.approx(proportions_ztest([a, b], [n, m])[0])
    fisher = stats.fisher_exact([[a, n - a], [b, m - b]])[1]
    assert found.log10_p == pytest.approx(log(fisher) / log(10), abs=1e-9)
    assert found.shortfall == pytest.approx(n * (a + b) / (n + m) - a)
    more = found.to_four_fifths
    assert (a + more) / n >= 0.8 * b / m - 1e-12
    assert more == 0 or (a + more - 1) / n < 0.8 * b / m


def test_numbers_within_strata() -> None:
    """Odds ratio, both tests and the shortfall within strata are those of statsmodels."""
    rng = np.random.default_rng(3)
    pairs, tables = [], []
    for _ in range(5):
        n, m = (int(value) for value in rng.integers(30, 90, 2))
        a, b = int(rng.integers(5, n - 5)), int(rng.integers(5, m - 5))
        pairs.append((category(n, a), category(m, b)))
        tables.append(np.array([[a, n - a], [b, m - b]]))
    found, expected = impact_within(pairs), StratifiedTable(tables)
    assert found.odds_ratio == pytest.approx(expected.oddsratio_pooled)
    assert found.log10_p == pytest.approx(np.log10(expected.test_null_odds(correction=False).pvalue))
    assert found.same == pytest.approx(np.log10(expected.test_equal_odds(adjust=True).pvalue))
    assert found.strata == 5
    assert found.shortfall == pytest.approx(sum(impact(own, other).shortfall for own, other in pairs))


def test_what_is_undefined() -> None:
    """Where nobody or everybody is selected there is no test, and nothing is claimed."""
    nobody = impact(category(10, 0), category(20, 0))
    assert (nobody.ratio, nobody.deviations, nobody.log10_p) == (None, None, None)
    everybody = impact(category(10, 10), category(20, 20))
    assert (everybody.ratio, everybody.deviations) == (1.0, None)


def berkeley(**columns: str) -> ald.Audit:
    options: dict[str, Any] = {"outcome": "admitted", "favourable": "yes"}
    return ald.profile("adverse-impact", ald.datasets.load_berkeley(), columns=columns, **options)


def test_berkeley() -> None:
    """Women were admitted less often overall, and not within departments, which differ: Simpson's paradox."""
    report = berkeley(sex="gender", within="department").report()
    overall, within = (next(s for s in report.profile if s.key == key)
                       for key in ("adverse-impact-sex", "adverse-impact-sex-within"))  # fmt: skip
    assert overall.table is not None
    assert within.table is not None
    women = overall.table.rows[0]
    assert [entry.text for entry in women[:4]] == ["female", "1,835", "557", "30.4%"]
    assert women[4].value == pytest.approx((557 / 1835) / (1198 / 2691))
    row = within.table.rows[0]
    assert row[0].text == "female"
    data = pd.DataFrame(ald.datasets.load_berkeley())
    assert row[2].value == pytest.approx(1.105, abs=0.01)
    assert row[4].value == pytest.approx(np.log10(0.0021), abs=0.1)
    assert set(data["department"]) == set("ABCDEF")


def test_a_profile_within_needs_categories() -> None:
    """Jobs or sites alone are nothing to compare."""
    with pytest.raises(SettingError, match="must be told which columns hold its categories"):
        berkeley(within="department")


def test_every_format_has_the_sections() -> None:
    """HTML, Markdown and text show the tables; the document holds the counts and gives the same report again."""
    audit = berkeley(sex="gender", within="department")
    for text in (audit.to_html(), audit.to_markdown(), str(audit)):
        assert "Adverse impact by gender" in text
        assert "Mantel-Haenszel" in text
    again = ald.Audit.from_json(audit.to_json())
    assert again.to_markdown() == audit.to_markdown()
