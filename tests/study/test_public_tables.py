"""The paper's tables and tree of public data, counted again."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest
from scipy import stats

from ald.datasets import load_compas
from ald.study.page import Study, files
from ald.study.public_tables import adult_table, compas_table, compas_tree
from tests.tables import public_data


@pytest.fixture
def public_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    folders = {name: public_data(name).parent for name in ("adult.csv", "compas.csv")}
    monkeypatch.setenv("ALD_DATA", str(folders["adult.csv"]))
    monkeypatch.setattr("ald.study.public_tables.HALVINGS", 3)


@pytest.mark.usefixtures("public_folder")
def test_adult_table() -> None:
    """The paper's groups have psi 0.353, 0.350 and 0.351 with correct labels, and about the published ones without."""
    table = adult_table()
    correct, mislabelled = (rows for _, rows in table.counted)
    assert [round(row.psi, 3) for row in correct] == [0.353, 0.350, 0.351]
    assert [row.people for row in correct] == [19_458, 19_644, 19_718]
    for row, published in zip(mislabelled, table.paper, strict=True):
        assert row.psi == pytest.approx(published.psi, abs=0.004)
        assert row.share == pytest.approx(published.share, abs=0.003)
    assert all(row.p and row.people for _, rows in (*table.counted, *table.listed) for row in rows)
    assert all(rows for _, rows in table.listed)
    # Five attributes and honest halves: the search lists other descriptions of much the same people.
    assert [(one.halvings, one.exactly) for one in table.searches[:1]] == [(3, 0)]
    assert all(one.exactly <= one.nearly <= one.halvings for one in table.searches)


@pytest.mark.usefixtures("public_folder")
def test_compas_table() -> None:
    """On all rows the paper's groups have psi 0.232, 0.230, 0.149 and 0.239, and p of Pearson's and Fisher's tests."""
    table = compas_table()
    ((_, rows),) = table.counted
    assert [round(row.psi, 3) for row in rows] == [0.232, 0.230, 0.149, 0.239]
    assert len(table.notes) == 3
    assert "3 of 3" in table.notes[-1]
    columns = load_compas()
    other = columns["race"] == "Other"
    log_p = []
    for wrong, truth in ((1, 0), (0, 1)):
        base = columns["reoffended"] == truth
        is_wrong = columns["predicted_high_risk"] == wrong
        counts = [[(side & base & is_wrong).sum(), (side & base & ~is_wrong).sum()] for side in (other, ~other)]
        log_p.append(stats.chi2_contingency(counts, correction=False).pvalue)
    assert float(rows[3].p) == pytest.approx(stats.combine_pvalues(log_p).pvalue, rel=0.05)


@pytest.mark.usefixtures("public_folder")
def test_the_tree() -> None:
    """The figure of the tree shows everyone, and the first group on COMPAS with psi."""
    svg = compas_tree()
    ElementTree.fromstring(svg)
    assert "everyone" in svg
    assert "African-American" in svg
    study = Study(runs=1, command="ald reproduce fig-tree --runs 1", pictures={"fig-tree": svg})
    written = files(study)
    assert written["results/fig-tree.svg"] == svg
    assert "![fig-tree](results/fig-tree.svg)" in written["results.md"]
