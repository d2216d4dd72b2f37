"""What the paper states, judged scenario by scenario by our numbers."""

from __future__ import annotations

import csv
import io

import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from ald.study.judging import paired_p
from ald.study.page import Study, files
from ald.study.statements import Statement, contests, statements
from ald.study.systems import COMPARED
from tests.study.measured import Share, measured


def found(start: str, **shares: Share) -> Statement:
    """The statement that begins so."""
    (entry,) = (entry for entry in statements(measured(**shares)) if entry.statement.startswith(start))
    return entry


def test_verdicts_follow_the_numbers() -> None:
    """Each statement is reproduced or not by its own number."""
    assert {entry.verdict for entry in statements(measured())[:2]} == {"reproduced"}
    for start, system, share in (
        ("The instability tree", "instability_tree_published", 0.3),
        ("The linear auditor", "gerrymandering", 0.1),
        ("Data set 1: ALD", "cart", 0.9),
    ):
        assert found(start).verdict == "reproduced"
        assert found(start, **{system: share}).verdict == "not reproduced"
    assert found("Race").verdict == "reproduced"
    assert found("Ours: no system").verdict == "holds"
    assert found("Ours: no system", ald=0.5, cart=0.9).verdict == "does not hold"
    among = found("Ours: no system", ald=0.5, ald_paper=0.4, subset_scan_published=0.9)
    assert among.verdict == "holds among tested lists"


def test_a_claim_is_judged_on_each_data_set() -> None:
    """Where a rival leads on one data set only, the claim is reproduced on the other."""
    shares = {"random_forest": lambda case: 0.9 if case.dataset == 1 else 0.0}
    assert found("Data set 1: ALD", **shares).verdict == "not reproduced"
    assert found("Data set 2: ALD", **shares).verdict == "reproduced"


def test_chance_in_one_of_many_scenarios_contradicts_nothing() -> None:
    """A difference that one test would call significant, and a test of many scenarios not, is no contradiction."""
    lucky = {"chaid": lambda case: 0.67 if case.rho == 0.3 and case.dataset == 1 else 0.6}
    assert paired_p(0, 7) < 0.05
    told = found("Data set 1: ALD", **lucky)
    assert told.verdict == "not contradicted"
    assert "ALD with CHAID, rho above 0.1 and width above 12 (ahead in 0 of 14)" in told.measured


def test_a_bound_is_judged_with_regard_to_the_number_of_scenarios() -> None:
    """A share beyond its bound contradicts the claim only if it is significantly beyond, allowing for all scenarios."""
    tree = {"instability_tree_published": lambda case: 0.2 if case.rho == 0.4 else 0.05}
    told = found("The instability tree", **tree)
    assert told.verdict == "not contradicted"
    assert "0.05 to 0.20 (data set 1, rho 0.4, width 24)" in told.measured
    assert "above 0.15 in 1 of 18 scenarios, significantly in 0" in told.measured


def test_claims_about_small_scenarios_are_judged_there_only() -> None:
    """CHAID's lead at very small rho or width neither contradicts the other claim nor is looked for elsewhere."""
    ahead = {"chaid": lambda case: 0.9 if case.rho <= 0.1 or (case.dataset == 1 and case.width <= 12) else 0.0}
    assert found("Data set 1: ALD", **ahead).verdict == "reproduced"
    assert found("CHAID beats", **ahead).verdict == "reproduced"
    behind = {"chaid": lambda case: 0.0 if case.rho <= 0.1 or (case.dataset == 1 and case.width <= 12) else 0.9}
    assert found("Data set 1: ALD", **behind).verdict == "not reproduced"
    assert found("CHAID beats", **behind).verdict == "not reproduced"


def test_the_scan_is_close_near_a_rho_only() -> None:
    """The claim about the subset scan fails where the scan is ahead, and holds where it is close near rho 0.3 alone."""
    assert found("The subset scan", subset_scan_published=0.9).verdict == "not reproduced"
    near = {"subset_scan_published": lambda case: 0.6 if abs(case.rho - 0.3) < 0.01 else 0.0}
    assert found("The subset scan", **near).verdict == "reproduced"
    assert found("The subset scan", subset_scan_published=0.58).verdict == "not contradicted"


def test_the_scan_with_our_penalty_is_none_of_the_papers_rivals() -> None:
    """A lead of the scan that has a penalty and many starts does not speak against the paper's claim, but is shown."""
    cases = measured(subset_scan_untested=0.9)
    assert {entry.verdict for entry in statements(cases)[:2]} == {"reproduced"}
    (one,) = (
        entry
        for entry in contests(cases)
        if (entry.first, entry.other, entry.dataset) == ("ald-paper", "subset-scan-untested", 1)
    )
    assert one.higher(-1) == len(one.where(-1)) == 18
    assert COMPARED["subset-scan-published"].run.keywords == {"method": "subset-scan", "penalty": 0.0, "restarts": 10}


def test_exceptions_are_named() -> None:
    """Where ALD is behind, the statement says which system, in which scenario, with both numbers."""
    entry = found("Ours: no system", ald=0.5, cart=0.9)
    assert "ALD with CART in data set 1, rho 0.05, width 24 (0.90 against 0.50)" in entry.measured


def test_comparisons_can_be_checked() -> None:
    """The CSV of comparisons has what p-values are made of; Holm's correction is over the scenarios of a contest."""
    shares: dict[str, Share] = {"random_forest": lambda case: case.rho * 2, "chaid": lambda case: case.width / 100}
    text = files(Study(runs=100, command="ald reproduce all", measured=measured(**shares)))["results/comparisons.csv"]
    rows = list(csv.DictReader(io.StringIO(text)))
    contests_: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in rows:
        n, k = (int(row["only_first"]) + int(row["only_other"]), int(row["only_first"]))
        expected = stats.binomtest(k, n).pvalue if n else 1.0
        assert float(row["p"]) == pytest.approx(expected, rel=1e-3)
        assert int(row["only_first"]) - int(row["only_other"]) == int(row["first_located"]) - int(row["other_located"])
        contests_.setdefault((row["data_set"], row["first"], row["other"], row["scenarios"]), []).append(row)
    assert sum(row["first"] == "ald-paper" for row in rows) == 27 * 10
    for (_, first, other, scenarios), group in contests_.items():
        assert len(group) == int(scenarios)
        if (first, other) not in (("ald-paper", "random-forest"), ("ald", "chaid")):
            continue
        corrected = multipletests([float(row["p"]) for row in group], method="holm")[1]
        assert [float(row["p_holm"]) for row in group] == pytest.approx(corrected, rel=1e-3)
