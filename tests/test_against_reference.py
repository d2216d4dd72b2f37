"""The engine against values computed by the reference software (R's partykit and the paper's own package).

The cases are those of the manifest in the folder that ALD_GOLDEN names, or of our own two: yes/no outcomes, and
numbers. Tolerances are the specification's: 1e-8 relative on statistics and log p, 1e-6 on log(1 - p), or what a case
says; 1e-6 on chi2 of counts so large that the reference rounds.
Where the reference let rounding decide between exactly tied splits, any of the tied ones is right. Trees whose
missing values the reference routed at random are compared node by node, with the rows that it lists.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.special import chdtr

from ald._core.exact import moments, scatter
from ald.assess.assessment import Assessment, Terms, assess, assess_counts
from ald.data.coded import AuditData
from ald.data.design import NO_DESIGN
from ald.groups.rules import candidates, decode
from ald.groups.tree import CodedCriterion, Forest, Node
from ald.notions import ERROR, NOTIONS, SELECTION, MeanCounter, Measure, RateCounter
from ald.ranking import rank
from ald.search.forest.association import Association, associate
from ald.search.forest.choice import LevelTests, select_by_log_p
from ald.search.forest.counting import Histograms, MemoryCounter
from ald.search.forest.growth import grow
from ald.search.forest.histograms import HistogramSplitter
from ald.search.forest.rules import GrowthRules
from ald.search.forest.splitting import best_splits
from ald.statistics.basics import adjust, chi2_2x2, chi2_log_sf, combine_fisher, log1m_exp
from tests import golden_data as golden
from tests.golden_data import number, walk

CASES = [entry["json"] for entry in golden.cases()]
FORESTS = [entry["json"] for entry in golden.cases() if entry["forest"]]
NUMERIC = [name for name in CASES if golden.is_numeric(golden.document(name))]
OUTCOME, AMOUNT = RateCounter([SELECTION], 2), MeanCounter()
REL = 1e-8
REL_UPPER = 1e-6
TOLERANCE = {"statistic": REL, "log_p": REL, "log_one_minus_p": REL_UPPER}
TINY = math.sqrt(2.2250738585072014e-308)

# The reference does not centre numbers and has an absolute tolerance: of these cases two columns are compared.
CONDITIONED = ("small", "centred")


def compared_attributes(case: dict[str, Any]) -> list[str]:
    names = [entry["name"] for entry in case["attributes"]]
    if "conditioning" not in case["tags"]:
        return names
    return [] if golden.is_numeric(case) else [name for name in names if name in CONDITIONED]


class Sample:
    """Rows of a case with their multiplicity, and the engine's own view of them."""

    def __init__(self, data: AuditData, weights: np.ndarray) -> None:
        self.data, self.weights, self.rates = data, weights, measure_of(data)
        self.names = [attribute.name for attribute in data.attributes]
        self.nominal = np.array([attribute.is_nominal for attribute in data.attributes])
        self.scores = _scores(data, weights)

    def histogram(self, attribute: int) -> Histograms:
        """The observed values of an attribute, as the counter gives them."""
        counted = MemoryCounter(self.data, [self.weights]).histograms(np.array([0]), np.array([attribute]))
        return counted.keep(counted.codes < self.data.attributes[attribute].size)

    def test(self, attribute: int) -> tuple[float, int, float]:
        histogram = self.histogram(attribute)
        result = associate(histogram, self.nominal[[attribute]], self.scores[attribute][histogram.codes], self.rates)
        return float(result.statistic[0]), int(result.df[0]), float(result.log_p[0])

    def split(self, attribute: int, min_bucket: int) -> tuple[float, list[int], list[int]] | None:
        """The best split: statistic, codes on the left, codes on the right."""
        histogram = self.histogram(attribute)
        splits = best_splits(histogram, self.nominal[[attribute]], self.rates, np.array([min_bucket]))
        if not splits.found[0]:
            return None
        left = splits.goes_left
        return float(splits.statistic[0]), histogram.codes[left].tolist(), histogram.codes[~left].tolist()


def measure_of(data: AuditData) -> Measure:
    """What a case's response is compared by."""
    return OUTCOME if data.design.amounts is None else AMOUNT


def _scores(data: AuditData, weights: np.ndarray) -> tuple[np.ndarray, ...]:
    return data.with_counts(weights).scores()


@cache
def sample(name: str) -> Sample:
    return Sample(*golden.case_data(golden.document(name)))


def check_test(
    ours: tuple[float, int, float], reference: dict[str, Any], tolerance: dict[str, float] = TOLERANCE
) -> None:
    statistic, df, log_p = ours
    assert (df > 0) == reference["testable"]
    if not reference["testable"]:
        return
    assert df == reference["df"]
    assert statistic == pytest.approx(number(reference["statistic"]), rel=tolerance["statistic"], abs=1e-12)
    assert log_p == pytest.approx(number(reference["log_p"]), rel=tolerance["log_p"], abs=1e-12)
    upper = number(reference["log_one_minus_p"])
    ours_upper = float(log1m_exp(np.array(log_p)))
    if upper < -30 or statistic == 0:  # T = E up to rounding: p is 1
        assert ours_upper < -17
    elif log_p > -1e-3:  # p near 1 carries no digits of 1 - p: take the lower tail itself
        assert math.log(chdtr(df, statistic)) == pytest.approx(upper, rel=tolerance["log_one_minus_p"])
    else:
        assert ours_upper == pytest.approx(upper, rel=tolerance["log_one_minus_p"])


def check_split(
    sample: Sample,
    attribute: int,
    ours: tuple[float, list[int], list[int]] | None,
    reference: dict[str, Any] | None,
    tolerance: dict[str, float] = TOLERANCE,
) -> None:
    if reference is None:
        assert ours is None
        return
    assert ours is not None
    statistic, left, _right = ours
    assert statistic == pytest.approx(number(reference["statistic"]), rel=tolerance["statistic"])
    meta = sample.data.attributes[attribute]
    if reference["kind"] == "subset":
        found: Any = sorted(meta.levels[code] for code in left)
    elif reference["kind"] == "ordered_cut":
        found = meta.levels[max(left)]
    else:
        assert meta.values is not None
        found = float(meta.values[max(left)])
    alternatives = [reference, *(reference.get("tied_alternatives") or [])]
    assert found in [split_value(alternative) for alternative in alternatives]
    if not reference["near_tie"]:
        total = sample.histogram(attribute)
        n_left = int(sample.rates.people(total.counts[np.isin(total.codes, left)]).sum())
        assert (n_left, int(sample.rates.people(total.counts).sum()) - n_left) == (
            reference["n_left"],
            reference["n_right"],
        )


def split_value(split: dict[str, Any]) -> Any:
    """What identifies a split in a fixture: its cut point, its last level on the left, or its levels on the left."""
    if "threshold" in split:
        return number(split["threshold"])
    return split["threshold_level"] if "threshold_level" in split else sorted(split["left_levels"])


@pytest.mark.parametrize("name", CASES)
def test_root_statistics(name: str) -> None:
    """Linear statistic, moments, statistic, df, log p and best split of every attribute at the root agree."""
    case = golden.document(name)
    root, tolerance = sample(name), case.get("tolerance") or TOLERANCE
    for attribute in compared_attributes(case):
        reference = case["root_tests"][attribute]
        j = root.names.index(attribute)
        histogram = root.histogram(j)
        assert int(root.rates.people(histogram.counts).sum()) == reference["n_used"]
        check_moments(case, histogram, root.nominal[j], root.scores[j], root.data.attributes[j].levels, reference)
        check_test(root.test(j), reference, tolerance)
        if reference["testable"]:
            check_split(root, j, root.split(j, case["root_min_bucket"]), reference["best_split"], tolerance)


@pytest.mark.parametrize("name", NUMERIC)
@pytest.mark.parametrize("key", ["centred", "scaled"])
def test_responses_of_any_size(name: str, key: str) -> None:
    """Our tests and splits are those of the response without its offset, and in units of its own size."""
    case = golden.document(name)
    root = sample(name)
    for attribute, reference in case["root_tests"].items():
        if key not in reference:
            continue
        of, j = reference[key], root.names.index(attribute)
        check_test(root.test(j), {"testable": True, "df": reference["df"]} | of)
        if of.get("best_split"):
            check_split(root, j, root.split(j, case["root_min_bucket"]), of["best_split"])
        elif of.get("best_split_statistic") is not None:
            found = root.split(j, case["root_min_bucket"])
            assert found is not None
            assert found[0] == pytest.approx(number(of["best_split_statistic"]), rel=REL)


@pytest.mark.parametrize("name", [name for name in NUMERIC if golden.document(name).get("two_values")])
def test_numbers_with_two_values(name: str) -> None:
    """A number that is 0 or 1 has the tests and splits of the yes/no outcome, to the last bit."""
    case = golden.document(name)
    root = sample(name)
    low, high = case["two_values"]
    cells = (golden.responses(case) == high).astype(np.uint8)
    yes_no = Sample(replace(root.data, cells=cells, n_cells=2, design=NO_DESIGN), root.weights)
    assert (low, high) == (0, 1)
    for j in range(len(root.names)):
        assert root.test(j) == yes_no.test(j)
        assert root.split(j, case["root_min_bucket"]) == yes_no.split(j, case["root_min_bucket"])


def check_moments(
    case: dict[str, Any],
    histogram: Histograms,
    nominal: bool,
    scores: np.ndarray,
    levels: tuple[Any, ...],
    reference: dict[str, Any],
) -> None:
    """T, E[T] and Cov[T] from our histogram by its definition, against the reference's."""
    if "linear_statistic" not in reference:
        return
    if golden.is_numeric(case):
        check_moments_of_numbers(case, histogram, nominal, scores, levels, reference)
        return
    n_x, y = histogram.counts.sum(axis=1).astype(float), histogram.counts[:, 1].astype(float)
    n, m = n_x.sum(), y.sum() / max(n_x.sum(), 1)
    if nominal:
        present = np.isin(np.arange(len(levels)), histogram.codes)
        g = np.zeros((len(histogram.codes), len(levels)))
        g[np.arange(len(histogram.codes)), histogram.codes] = 1
        if len(reference["linear_statistic"]) < len(levels):  # levels that occur nowhere are dropped
            g = g[:, present]
    else:
        g = scores[histogram.codes][:, None]
    total = n_x @ g
    factor = m * (1 - m) / (n - 1) if n > 1 else 0.0
    covariance = factor * (n * (g.T * n_x) @ g - np.outer(total, total))
    scale = max(1.0, float(np.abs(total).max(initial=0.0)))
    assert np.allclose(y @ g, np.array(reference["linear_statistic"], float), rtol=REL, atol=REL * scale)
    assert np.allclose(m * total, np.array(reference["expectation"], float), rtol=REL, atol=REL * scale)
    assert np.allclose(covariance, np.array(reference["covariance"], float), rtol=1e-6, atol=REL * scale)


def check_moments_of_numbers(
    case: dict[str, Any],
    histogram: Histograms,
    nominal: bool,
    scores: np.ndarray,
    levels: tuple[Any, ...],
    reference: dict[str, Any],
) -> None:
    """The same of a response that is a number: relative to the sizes of what is added up."""
    unit = golden.unit_of(case)
    people, sums, high, low = histogram.counts.T
    y = (sums + people * unit.origin) / unit.per_one
    n = int(people.sum())
    variance = float(scatter(*(np.array([x.sum()]) for x in (people, sums, high, low)))[0]) / max(n, 1) ** 2
    variance /= unit.per_one**2
    if nominal:
        g = np.zeros((len(histogram.codes), len(levels)))
        g[np.arange(len(histogram.codes)), histogram.codes] = 1
        if len(reference["linear_statistic"]) < len(levels):  # levels that occur nowhere are dropped
            g = g[:, np.isin(np.arange(len(levels)), histogram.codes)]
    else:
        g = scores[histogram.codes][:, None]
    total = people @ g
    covariance = variance / max(n - 1, 1) * (n * (g.T * people) @ g - np.outer(total, total)) * (n > 1)
    size = float((np.abs(g) * np.abs(y)[:, None]).sum())
    theirs = np.array(reference["covariance"], float)
    assert np.allclose(y @ g, np.array(reference["linear_statistic"], float), rtol=0, atol=REL * size)
    assert np.allclose(y.sum() / n * total, np.array(reference["expectation"], float), rtol=0, atol=REL * size)
    assert np.allclose(covariance, theirs, rtol=0, atol=REL * float(np.abs(theirs).max(initial=0.0)) + 1e-12)


def reference_select(mincriterion: float, bonferroni: bool, columns: int) -> Any:
    """The reference's attribute order with its tie rule, which the golden trees were grown with."""
    theta = -math.inf if mincriterion == 0 else math.log(mincriterion)

    def select(tests: LevelTests, tries: int) -> np.ndarray:
        order = np.full((len(tests.per_node) - 1, tries), -1)
        for node, (start, end) in enumerate(zip(tests.per_node[:-1], tests.per_node[1:], strict=True)):
            requests = [r for r in range(start, end) if tests.association.df[r] > 0]
            criterion = {r: float(log1m_exp(tests.association.log_p[r])) for r in requests}
            if bonferroni:
                criterion = {r: len(requests) * value for r, value in criterion.items()}
            best = max(criterion.values(), default=-math.inf)
            tied = [r for r in requests if criterion[r] == best or abs(criterion[r] - best) < TINY]
            if len(tied) > 1:
                total = sum(int(tests.attributes[r]) + 2 for r in tied)
                statistics = np.array([tests.association.statistic[r] for r in tied])
                ranks = [(np.sum(statistics < s) + (np.sum(statistics == s) + 1) / 2) for s in statistics]
                for r, place in zip(tied, ranks, strict=True):
                    criterion[r] += place / (1000 * total)
            ranked = sorted(requests, key=lambda r: (criterion[r], r), reverse=True)
            chosen = [r for r in ranked if math.isfinite(criterion[r]) and criterion[r] > theta][:tries]
            order[node, : len(chosen)] = chosen
        return order

    return select


def rules_of(settings: dict[str, Any], n_attributes: int) -> GrowthRules:
    alpha = 1 - settings["mincriterion"]
    return GrowthRules(
        alpha=alpha if alpha > 0 else 1e-300,
        minsplit=settings["minsplit"],
        minbucket=settings["minbucket"],
        minprob=settings["minprob"],
        tries=settings["splittry"],
        attributes_per_node=n_attributes,
        bonferroni=settings["testtype"] == "Bonferroni",
    )


def grow_as_reference(data: AuditData, weights: list[np.ndarray], settings: dict[str, Any], rates: Measure) -> Forest:
    n_attributes = len(data.attributes)
    select = reference_select(settings["mincriterion"], settings["testtype"] == "Bonferroni", n_attributes)
    splitter = HistogramSplitter(MemoryCounter(data, weights), select=select)
    used = np.minimum(np.sum(weights, axis=0), 1) if len(weights) == 1 else np.ones(len(data.cells), np.int64)
    rngs = [np.random.default_rng(0)] * len(weights)
    return grow(
        splitter,
        data.attributes,
        _scores(data, used),
        rates,
        rules_of(settings, n_attributes),
        rngs,
    )


def check_same_tree(nodes: list[Node], reference: dict[str, Any], data: AuditData) -> None:
    """Every node has the same place, people, and split."""
    expected = walk(reference)
    assert len(nodes) == len(expected)
    for node, theirs in zip(nodes, expected, strict=True):
        people = int(measure_of(data).people(np.array(node.counts)))
        assert (node.id, people, node.is_leaf) == (theirs["id"], theirs["n"], theirs.get("split") is None)
        if node.is_leaf:
            continue
        split, meta = theirs["split"], data.attributes[node.attribute]
        assert meta.name == split["attribute"]
        if split["kind"] == "subset":
            assert [meta.levels[code] for code in node.left_levels] == split["left_levels"]
            assert [meta.levels[code] for code in node.right_levels] == split["right_levels"]
        elif split["kind"] == "ordered_cut":
            assert meta.levels[node.cut] == split["threshold_level"]
        else:
            assert meta.values is not None
            assert meta.values[node.cut] == number(split["threshold"])


def routes_at_random(case: dict[str, Any], settings: dict[str, Any]) -> bool:
    return not settings.get("majority", False) and any(entry.get("n_missing") for entry in case["attributes"])


TREES = [(name, i) for name in CASES for i in range(len(golden.document(name)["trees"]))]


@pytest.mark.parametrize(("name", "i"), TREES)
def test_every_tree(name: str, i: int) -> None:
    """A tree grown with the reference's tie rule is the reference's tree, node by node."""
    case = golden.document(name)
    tree, data = case["trees"][i], sample(name)
    if tree["exactly_comparable"] and not routes_at_random(case, tree["settings"]):
        forest = grow_as_reference(data.data, [data.weights], tree["settings"], data.rates)
        check_same_tree(forest.nodes(0), tree["root"], data.data)
    check_nodes(case, data, tree["root"], tree["settings"], data.weights)


@pytest.mark.parametrize("name", FORESTS)
def test_every_forest(name: str) -> None:
    """All trees of a forest with given subsamples or weights are the reference's, grown together."""
    case = golden.document(name)
    forest, data = case["forest"], sample(name)
    weights = golden.weights(forest["weights"])
    assert forest["mtry"] == len(case["attributes"])
    grown = grow_as_reference(data.data, list(weights.T), forest["settings"], data.rates)
    for tree, reference in enumerate(forest["trees"]):
        if reference["exactly_comparable"]:
            check_same_tree(grown.nodes(tree), reference["root"], data.data)
        check_nodes(case, data, reference["root"], forest["settings"], weights[:, tree])


def check_nodes(
    case: dict[str, Any], data: Sample, root: dict[str, Any], settings: dict[str, Any], weights: np.ndarray
) -> None:
    """Walks the reference's own tree and recomputes every node from the rows that its splits send there."""
    compared, tolerance = compared_attributes(case), case.get("tolerance") or TOLERANCE
    if golden.is_numeric(case) and not compared:
        return
    pending = [(root, weights)]
    while pending:
        node, rows = pending.pop()
        here = Sample(data.data, rows)
        here.scores = data.scores
        check_response(case, data.data, rows, node)
        rules = rules_of(settings, len(here.names))
        assert int(rules.min_bucket(np.array([node["n"]]))[0]) == node["min_bucket"]
        if node["n"] < rules.minsplit:
            assert node["stop_reason"] == "minsplit"
            continue
        results = {name: here.test(here.names.index(name)) for name in compared}
        for name, result in results.items():
            check_test(result, node["tests"][name], tolerance)
        if compared == here.names:
            check_choice(here, node, results, rules)
        if node.get("split"):
            attribute = here.names.index(node["split"]["attribute"])
            check_split(here, attribute, here.split(attribute, node["min_bucket"]), node["split"], tolerance)
            pending += zip(node["kids"], children(here, attribute, node["split"]), strict=True)


def check_response(case: dict[str, Any], data: AuditData, rows: np.ndarray, node: dict[str, Any]) -> None:
    """A node has the reference's people, and what their responses add up to."""
    assert int(rows.sum()) == node["n"]
    if data.design.amounts is None:
        assert int(rows[data.cells == 1].sum()) == node["n_pos"]
        return
    unit, total = golden.unit_of(case), moments(data.design.amounts).T @ rows
    people, first, high, low = (total[i : i + 1] for i in range(4))
    assert (first[0] + node["n"] * unit.origin) / unit.per_one == pytest.approx(node["sum_y"], rel=REL, abs=1e-9)
    assert unit.mean(first, people)[0] == pytest.approx(node["mean_y"], rel=REL, abs=1e-12)
    variance = scatter(people, first, high, low)[0] / float(node["n"]) ** 2 / unit.per_one**2
    assert variance == pytest.approx(number(node["var_y"]), rel=case["tolerance"]["statistic"], abs=1e-12)


def check_choice(
    here: Sample, node: dict[str, Any], results: dict[str, tuple[float, int, float]], rules: GrowthRules
) -> None:
    """The reference's order of attributes follows from our statistics, and so does our own choice by log p."""
    n_tests = sum(df > 0 for _, df, _ in results.values())
    assert n_tests == node["n_tests"]
    if n_tests == 0:
        assert node["stop_reason"] == "nothing_testable"
        return
    statistic, df, log_p = (np.array(column) for column in zip(*(results[name] for name in here.names), strict=True))
    tests = LevelTests(
        nodes=np.zeros(len(here.names), np.int64),
        attributes=np.arange(len(here.names)),
        per_node=np.array([0, len(here.names)]),
        association=Association(statistic=statistic, df=df, log_p=log_p),
        significant=df > 0,
    )
    ours = [here.names[i] for i in select_by_log_p(tests, 1)[0] if i >= 0]
    if not node["attribute_near_tie"]:
        assert ours == [node["best_by_log_p"]]
    select = reference_select(1 - rules.alpha if rules.alpha < 1 else 0, rules.bonferroni, len(here.names))
    ranked = [here.names[i] for i in select(tests, rules.tries)[0] if i >= 0]
    if here.data.design.amounts is None:
        assert ranked == node["ranked_by_reference"]
    else:  # rounding decides in the reference between attributes that mirror each other
        for one, theirs in zip(ranked, node["ranked_by_reference"], strict=True):
            assert one == theirs or results[one][2] == pytest.approx(results[theirs][2], rel=REL)
    if not node.get("split"):
        admissible = [name for name in ranked if here.split(here.names.index(name), node["min_bucket"]) is not None]
        assert not admissible
        assert node["stop_reason"] == ("no_admissible_split" if ranked else "criterion")


def children(here: Sample, attribute: int, split: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """The rows that the reference's split sends left and right."""
    meta, codes = here.data.attributes[attribute], here.data.codes[attribute]
    observed = codes < meta.size
    if split["kind"] == "subset":
        left = np.isin(codes, [meta.levels.index(level) for level in split["left_levels"]])
    elif split["kind"] == "ordered_cut":
        left = observed & (codes <= meta.levels.index(split["threshold_level"]))
    else:
        assert meta.values is not None
        left = observed & (np.append(meta.values, np.nan)[codes] <= number(split["threshold"]))
    if split.get("n_missing"):
        if "missing_to" in split:
            left = left | (~observed & (split["missing_to"] == "left"))
        else:
            left = left.copy()
            left[split["missing_rows_left"]] = True
    return here.weights * left, here.weights * ~left


STATS = golden.document("stats.json") if golden.has("stats.json") else {"chi2_2x2": []}
needs_stats = pytest.mark.skipif(not STATS["chi2_2x2"], reason="the set has no tables of statistics")


@pytest.mark.parametrize("tag", sorted({entry["tag"] for entry in STATS["chi2_2x2"]}))
def test_chi2_of_2x2_tables(tag: str) -> None:
    """The chi2 statistic and its log p agree for every table; a zero margin is undefined."""
    rel = 1e-6 if tag in ("enormous", "large") else REL
    for entry in STATS["chi2_2x2"]:
        if entry["tag"] != tag:
            continue
        counts = [np.array([int(entry[key])]) for key in ("in_pos", "in_neg", "out_pos", "out_neg")]
        statistic = chi2_2x2(*counts)
        if tag == "all_zero":  # the reference raises an error, which we call undefined
            assert np.isnan(statistic[0])
            continue
        assert statistic[0] == pytest.approx(number(entry["statistic"]), rel=rel, abs=1e-12, nan_ok=True)
        assert chi2_log_sf(statistic, np.array([1]))[0] == pytest.approx(
            number(entry["log_p"]), rel=rel, abs=1e-7, nan_ok=True
        )


@needs_stats
def test_fisher_combination() -> None:
    """Fisher's method agrees, from p-values and from log p-values that no double could hold as p."""
    for entry in STATS["fisher_two"]:
        p = np.array([[number(entry["p1"])], [number(entry["p2"])]])
        with np.errstate(divide="ignore"):
            statistic, log_p = combine_fisher(np.log(p))
        assert statistic[0] == pytest.approx(number(entry["statistic"]), rel=REL, abs=1e-12, nan_ok=True)
        assert log_p[0] == pytest.approx(number(entry["log_p"]), rel=REL, abs=1e-12, nan_ok=True)
    for entry in STATS["fisher_two_log_inputs"]:
        log_ps = np.array([[number(entry["log_p1"])], [number(entry["log_p2"])]])
        statistic, log_p = combine_fisher(log_ps)
        assert statistic[0] == pytest.approx(number(entry["statistic"]), rel=REL)
        assert log_p[0] == pytest.approx(number(entry["log_p"]), rel=REL)


@needs_stats
def test_adjustment_tables() -> None:
    """Benjamini-Hochberg and Bonferroni agree, with undefined p-values left out of the count."""
    for entry in STATS["p_adjust"]:
        with np.errstate(divide="ignore"):
            log_p = np.log([number(value) for value in entry["p"]])
        for key, method in (("BH", "bh"), ("bonferroni", "bonferroni")):
            expected = [number(value) for value in entry[key]]
            assert np.exp(adjust(log_p, method)) == pytest.approx(expected, rel=REL, abs=0, nan_ok=True)


def end_to_end(name: str) -> tuple[dict[str, Any], AuditData, AuditData, Forest, RateCounter]:
    """An audit with given halves and subsamples: the forest on D1 in the reference's way."""
    case = golden.document(name)
    table = golden.rows(case["data"])
    if case["notion"] == "statistical parity":
        response = next(key for key in table[0] if key not in {entry["name"] for entry in case["attributes"]})
        cells, n_cells, rates = np.array([int(row[response]) for row in table]), 2, OUTCOME
    else:
        cells = np.array([2 * int(row["truth"]) + int(row["pred"]) for row in table])
        n_cells, rates = 4, RateCounter([ERROR], 4)
    whole = golden.coded(case["attributes"], table, cells, n_cells)
    d1 = whole_part(whole, case["d1_rows"])
    d2 = whole_part(whole, case["d2_rows"])
    weights = golden.weights(case["weights"])
    forest = grow_as_reference(d1, list(weights.T), case["settings"], rates)
    return case, d1, d2, forest, rates


def whole_part(data: AuditData, rows: list[int]) -> AuditData:
    counts = np.zeros(len(data.cells), np.int64)
    counts[rows] = 1
    return data.with_counts(counts)


def rule_text(criterion: CodedCriterion, data: AuditData) -> set[str]:
    """The parts of a criterion as the reference writes them, in no particular order."""
    parts = set()
    for condition in decode(criterion, data.attributes).to_list():
        name = condition["attribute"]
        if "levels" in condition:
            parts.add(f"{name} in {{{', '.join(condition['levels'])}}}")
        else:
            parts |= {f"{name} > {condition['lower']}"} if condition["lower"] is not None else set()
            parts |= {f"{name} <= {condition['upper']}"} if condition["upper"] is not None else set()
    return parts


def reference_parts(rule: str) -> set[str]:
    return {re.sub(r"\s+", " ", part).strip() for part in rule.split(";") if part.strip()}


AUDITS = golden.audit_files("parity") + golden.audit_files("odds")


@pytest.mark.parametrize("name", AUDITS)
def test_end_to_end_trees(name: str) -> None:
    """The forest on the given half and subsamples is the reference's."""
    case, d1, _, forest, _ = end_to_end(name)
    for tree, reference in enumerate(case["trees"]):
        assert reference["exactly_comparable"]
        check_same_tree(forest.nodes(tree), reference["root"], d1)


@pytest.mark.parametrize("name", AUDITS)
def test_end_to_end_leaves(name: str) -> None:
    """Every leaf has the reference's criterion, and on D2 its counts, disparities and tests."""
    case, d1, d2, forest, _ = end_to_end(name)
    notion = NOTIONS[case["notion"]]
    proposed = candidates(forest, d1)
    result = assess(proposed.criteria, d2, notion)
    by_parts = {frozenset(rule_text(criterion, d1)): i for i, criterion in enumerate(proposed.criteria)}
    reached = set()
    for leaf in case["leaves"]:
        i = by_parts[frozenset(reference_parts(leaf["rule_clean"]))]
        reached.add(i)
        assert (int(result.inside[i].sum()), int(result.outside[i].sum())) == (leaf["n_in"], leaf["n_out"])
        check_leaf(leaf, result, i)
    assert reached | {i for i in range(len(proposed)) if result.size[i] == 0} == set(range(len(proposed)))


def check_leaf(leaf: dict[str, Any], result: Assessment, i: int) -> None:
    def same(ours: float, key: str, rel: float = REL) -> None:
        assert ours == pytest.approx(number(leaf[key]), rel=rel, abs=1e-12, nan_ok=True), key

    same(result.psi[i], "psi")
    same(math.exp(result.log_p[i]), "p")
    if "pos_in" in leaf:
        assert (result.hits_in[0, i], result.hits_out[0, i]) == (leaf["pos_in"], leaf["pos_out"])
        same(result.statistic[i], "chi2")
        return
    for side, counts in (("inside", result.inside[i]), ("outside", result.outside[i])):
        assert counts.tolist() == [leaf[side][key] for key in ("tn", "fp", "fn", "tp")]
    same(result.differences[0, i], "psi_fpr")
    same(result.differences[1, i], "psi_fnr")
    for r, key in enumerate(("chi2_fpr", "chi2_fnr")):
        hits, misses = result.hits_in[r], result.base_in[r] - result.hits_in[r]
        out_hits, out_misses = result.hits_out[r], result.base_out[r] - result.hits_out[r]
        same(chi2_2x2(hits, misses, out_hits, out_misses)[i], key)


@pytest.mark.parametrize("name", AUDITS)
@pytest.mark.parametrize("table", ["confidence_BH", "confidence_bonferroni", "magnitude_BH"])
def test_end_to_end_rankings(name: str, table: str) -> None:
    """Adjusted p-values agree for every group; the order is the reference's wherever it has a reason.

    Section 10: the reference keeps textual repeats apart and ranks magnitude by signed psi; groups are matched by what
    they say, and the order is checked on its own key.
    """
    case, d1, d2, forest, _ = end_to_end(name)
    ranking, adjustment = table.split("_")
    proposed = candidates(forest, d1)
    result = assess(proposed.criteria, d2, NOTIONS[case["notion"]], Terms(adjustment=adjustment.casefold()))
    by_parts = {frozenset(rule_text(criterion, d1)): i for i, criterion in enumerate(proposed.criteria)}
    rows = [(by_parts[frozenset(reference_parts(row["rule_clean"]))], row) for row in case["ranked"][table]]
    kept_apart = len(rows) - len({i for i, _ in rows})
    expected = adjust(result.log_p[[i for i, _ in rows]], adjustment.casefold())
    for (i, row), log_p in zip(rows, expected, strict=True):
        assert result.psi[i] == pytest.approx(number(row["psi"]), rel=REL, nan_ok=True)
        assert math.exp(log_p) == pytest.approx(number(row["p_adjusted"]), rel=REL, nan_ok=True)
        if kept_apart == 0:
            assert math.exp(result.log_p_adjusted[i]) == pytest.approx(number(row["p_adjusted"]), rel=REL, nan_ok=True)
    order = rank(result, proposed.criteria, d2.attributes, ranking).tolist()
    ranked = [i for i in order if i in {i for i, _ in rows}]
    key = result.log_p if ranking == "confidence" else -np.abs(result.psi)
    assert np.all(np.diff(np.nan_to_num(key[ranked], nan=1e300)) >= 0)
    assert np.isnan(result.log_p[ranked]).tolist() == sorted(np.isnan(result.log_p[ranked]).tolist())
    # The reference's order by confidence: never a larger p before a smaller one of ours.
    theirs = [number(row["p_adjusted"]) for _, row in rows]
    if ranking == "confidence":
        defined = [p for p in theirs if not math.isnan(p)]
        assert defined == sorted(defined)
        assert theirs[: len(defined)] == defined


@pytest.mark.skipif(not golden.has("compas_table2.json"), reason="the set has no published table")
def test_published_compas_table() -> None:
    """All published sizes and differences of the COMPAS table follow digit for digit from the counts by race."""
    table = golden.document("compas_table2.json")
    notion = NOTIONS["equalized odds"]
    for part, key in (("half", None), ("all", "all_data")):
        by_race = {race: np.array([cells[c] for c in ("tn", "fp", "fn", "tp")]) for race, cells in table[part].items()}
        everyone = np.sum(list(by_race.values()), axis=0)
        for group in table["groups"]:
            inside = np.sum([by_race[race] for race in group["races"]], axis=0)[None]
            result = assess_counts(inside, everyone, notion)
            expected = group if key is None else group[key]
            fpr, fnr = result.differences[:, 0]
            assert int(result.size[0]) == expected["n"]
            assert (fpr, fnr, result.psi[0]) == pytest.approx(
                (expected["psi_fpr"], expected["psi_fnr"], expected["psi_eo"]), rel=1e-12
            )
            if key is None:
                published = group["published"]
                ours = {"n": int(result.size[0]), "psi_eo": round(float(result.psi[0]), 3)}
                ours |= {"psi_fpr": round(float(fpr), 3), "psi_fnr": round(float(fnr), 3)}
                assert ours == published


def test_no_case_is_left_out() -> None:
    """The manifests' cases, and the other files they name, are all read by this module."""
    assert len(CASES) == len(set(CASES)) == len(golden.cases())
    read = {"stats.json", "compas_table2.json", *AUDITS}
    read |= {golden.document(name)[key] for name in AUDITS for key in ("data", "weights")}
    read |= {golden.document(name)["forest"]["weights"] for name in FORESTS}
    assert set(golden.other_files()) <= read
