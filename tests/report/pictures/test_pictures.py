"""Pictures show the numbers of the model."""

from __future__ import annotations

import re
from itertools import combinations
from xml.etree import ElementTree

import pytest

import ald
from ald import Audit
from ald.errors import InputError
from ald.groups.wording import readable
from ald.notions import Mean
from ald.report.markup import Markup
from ald.report.model import Chart, Charts, Spot, Stretch
from ald.report.pictures.charts import draw_charts
from ald.report.pictures.curve import draw_curve
from ald.report.pictures.groups import draw_groups
from ald.report.pictures.spread import draw_spread
from ald.report.pictures.tree import LEVELS, draw_tree, shown_nodes
from ald.report.svg import standalone
from ald.report.words import format_signed
from ald.results.spreads import Spread
from tests.tables import decisions, people

NAME = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def audit() -> Audit:
    return ald.audit(people(4000), outcome="y", search=ald.Search(trees=6))


@pytest.fixture(scope="module")
def odds() -> Audit:
    return ald.audit(
        decisions(3000), prediction="predicted", truth="true", notion="equalized odds", search=ald.Search(trees=5)
    )


def parsed(svg: Markup) -> ElementTree.Element:
    return ElementTree.fromstring(standalone(svg))


def with_class(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [element for element in root.iter() if name in element.attrib.get("class", "").split()]


def texts(root: ElementTree.Element) -> list[str]:
    return ["".join(element.itertext()) for element in root.iter(f"{NAME}text")]


@pytest.mark.parametrize("width", [320.0, 1000.0])
def test_groups(audit: Audit, odds: Audit, width: float) -> None:
    """Every listed group has a row with its name, in the order of the list, and stays within the picture."""
    for found in (audit, odds):
        report = found.report()
        root = parsed(draw_groups(report.cards, width))
        rows = with_class(root, "row")
        assert len(rows) == len(report.cards)
        for row, card in zip(rows, report.cards, strict=True):
            assert texts(row)[0].startswith(f"{card.rank}. ")
            assert (row.attrib["data-c"], row.attrib["data-m"]) == (str(card.rank_confidence), str(card.rank_magnitude))
        for circle in root.iter(f"{NAME}circle"):
            assert 0 <= float(circle.attrib["cx"]) <= width


def test_dot_area_is_the_number_of_people(audit: Audit) -> None:
    """The areas of two dots are to one another as their people are."""
    report = audit.report()
    root = parsed(draw_groups(report.cards, 1000))
    radii = [float(dot.attrib["r"]) for dot in with_class(root, "halo")]
    sizes = [card.finding.size for card in report.cards]
    assert len(sizes) > 1
    for (r, n), (q, m) in combinations(zip(radii, sizes, strict=True), 2):
        assert (r / q) ** 2 == pytest.approx(n / m, rel=0.1)


def test_psi_is_where_the_axis_says(audit: Audit) -> None:
    """The dot of a group lies between the ticks, in points, on both sides of its psi."""
    report = audit.report()
    root = parsed(draw_groups(report.cards, 1000))
    ticks = {
        float(text.text): float(text.attrib["x"])
        for text in root.iter(f"{NAME}text")
        if text.text and re.fullmatch(r"0|[+-]\d+(\.\d)?", text.text) and text.attrib.get("text-anchor") == "middle"
    }
    (a, xa), *_, (b, xb) = sorted(ticks.items())
    assert report.cards
    for dot, card in zip(with_class(root, "halo"), report.cards, strict=True):
        value = a + (float(dot.attrib["cx"]) - xa) / (xb - xa) * (b - a)
        assert value == pytest.approx(100 * (card.finding.psi or 0.0), abs=1.0)


@pytest.mark.parametrize("width", [320.0, 480.0])
def test_curves(audit: Audit, odds: Audit, width: float) -> None:
    """Every curve draws, names what it shows, and marks the cut points of the group."""
    kinds = set()
    for found in (audit, odds):
        for card in found.report().cards:
            for view in card.curves:
                kinds.add(view.is_ordered)
                root = parsed(draw_curve(view, width))
                assert view.rate.name in root.attrib["aria-label"]
                assert len(with_class(root, "cut")) == len(view.cuts)
                strokes = [path.attrib["d"].count("M") for path in with_class(root, "those-mark")]
                points = [point for point in view.series[-1].points if point.rate is not None]
                assert strokes == [len(points)]
                assert with_class(root, "band") or not any(point.inside for point in points)
    assert kinds == {True, False}


def test_trees_are_cut(audit: Audit) -> None:
    """Three levels are drawn, and the path to its end with the siblings on it; the rest is counted."""
    assert audit.report().cards
    for card in audit.report().cards:
        path = card.tree.path(card.node)
        shown = shown_nodes(card.tree, path)
        root = parsed(draw_tree(card.tree, card.node))
        nodes = with_class(root, "node")
        assert len(nodes) == len(shown)
        depths = {card.tree.nodes[i].depth for i in shown if i not in path and card.tree.nodes[i].parent not in path}
        assert max(depths, default=0) <= LEVELS
        assert set(path) <= set(shown)
        assert len(with_class(root, "on")) == 2 * len(path) - 1  # its nodes, and the edges between them
        (target,) = with_class(root, "target")
        assert target.attrib["aria-label"].startswith(f"Node {card.node}:")
        below = sum(int(n.replace(",", "")) for n in re.findall(r"\(\+([\d,]+)\)", " ".join(texts(root))))
        assert len(shown) + below == len(card.tree.nodes)


def test_nodes_of_trees(audit: Audit) -> None:
    """A node shows psi, people and share; inner ones their attribute in bold; edges the values; focus the details."""
    card = audit.report().cards[0]
    root = parsed(draw_tree(card.tree, card.node, levels=None))
    nodes = with_class(root, "node")
    assert len(nodes) == len(card.tree.nodes)
    for element, node in zip(nodes, card.tree.nodes, strict=True):
        shown = texts(element)
        assert shown[1] == f"{node.n:,} · {node.share:.0%}"
        assert shown[0] == ("everyone" if node.psi is None else format_signed(node.psi))
        assert element.attrib["tabindex"] == "0"
        assert f"{node.n:,} people" in element.attrib["aria-label"]
        if node.attribute:
            bold = ["".join(text.itertext()) for text in with_class(element, "strong")]
            assert node.attribute in bold
    assert len(with_class(root, "edge")) == len(card.tree.nodes) - 1
    assert len(with_class(root, "key")) == 7


def test_boxes_do_not_overlap(audit: Audit) -> None:
    """No two boxes of a whole tree overlap."""
    card = max(audit.report().cards, key=lambda card: len(card.tree.nodes))
    root = parsed(draw_tree(card.tree, card.node, levels=None))
    boxes = [[float(box.attrib[key]) for key in ("x", "y", "width", "height")] for box in with_class(root, "box")]
    for (x, y, w, h), (u, v, *_) in combinations(boxes, 2):
        assert abs(x - u) >= w or abs(y - v) >= h


def test_finding_plot_tree(audit: Audit) -> None:
    """A finding of an audit draws its tree, cut or whole; one that stands alone says why it cannot."""
    finding = audit.groups[0]
    cut, whole = str(finding.plot_tree()), str(finding.plot_tree(levels=None))
    assert len(cut) <= len(whole)
    assert str(audit.candidates[0].plot_tree()).startswith("<svg")
    assert str(Audit.from_json(audit.to_json()).groups[0].plot_tree()) == cut
    alone = ald.Finding.from_dict(finding.to_dict())
    with pytest.raises(ald.SettingError, match="stands alone"):
        alone.plot_tree()


def test_any_one_picture_stands_alone(audit: Audit, odds: Audit) -> None:
    """A finding draws itself, its rates along an attribute, and all groups together; what is not there is said."""
    for found in (audit, odds):
        first = found.groups[0]
        alone = ElementTree.fromstring(first.plot().svg)
        assert len(with_class(alone, "halo")) == 1
        assert str(readable(first.criterion)) in alone.attrib["aria-label"]
        assert len(with_class(ElementTree.fromstring(found.plot().svg), "halo")) == len(found.groups)
        condition, rate = first.criterion.conditions[-1], found.notion.rates[-1]
        along = ElementTree.fromstring(first.plot_along(condition.attribute, rate.key).svg)
        assert f"{rate.name} along {condition.attribute}" in along.attrib["aria-label"]
        with pytest.raises(InputError, match="the group has no 'nothing' to draw"):
            first.plot_along("nothing")
    named = ald.audit(people(), outcome="y", search="none", named_groups="sex = F").named_groups[0]
    assert len(with_class(ElementTree.fromstring(named.plot().svg), "halo")) == 1
    with pytest.raises(InputError, match="only for listed groups"):
        named.plot_along()


def small_charts(*, is_joined: bool = False, n: int = 4) -> Charts:
    """Charts of a gap that falls from -10 to -30 points at the third of six spots."""
    values = [-0.1, -0.1, -0.3, -0.3, None, -0.3]
    spots = tuple(
        Spot(label=f"2026-0{i}", value=value, low=None if value is None else value - 0.05,
             high=None if value is None else value + 0.05)
        for i, value in enumerate(values, 1)
    )  # fmt: skip
    means = (Stretch(first=0, last=1, value=-0.1), Stretch(first=2, last=5, value=-0.3))
    chart = Chart(title="<b> & sex = f", note="changed", spots=spots, stretches=means, cut=2, marked=3)
    return Charts(title="Gaps", legend="How to read them", charts=(chart,) * n, is_joined=is_joined)


@pytest.mark.parametrize("width", [320.0, 627.0, 1002.0])
def test_small_charts_stay_within_the_picture(width: float) -> None:
    """Every chart is drawn once, in columns that fit, and nothing lies outside; names of the data are inert."""
    root = parsed(draw_charts(small_charts(), width))
    drawn = with_class(root, "chart")
    assert len(drawn) == 4
    places = [tuple(map(float, re.findall(r"[\d.]+", one.attrib["transform"]))) for one in drawn]
    assert len(set(places)) == 4
    right = {x for x, _ in places}
    for x, y in places:
        assert x <= width - 250 or len(right) == 1
        assert y < float(root.attrib["height"])
    assert "<b> & sex = f" in texts(root)


def test_small_charts_show_gaps_where_the_axis_says() -> None:
    """Strokes and means lie at their gaps; the change stands before its spot, the ring is at the marked one."""
    root = parsed(draw_charts(small_charts(n=1), 320))
    ticks = {
        float(text.text or 0): float(text.attrib["y"]) - 4
        for text in root.iter(f"{NAME}text")
        if text.attrib.get("text-anchor") == "end" and re.fullmatch(r"0|[+-]\d+", text.text or "")
    }
    (a, ya), *_, (b, yb) = sorted(ticks.items())

    def gap(y: float) -> float:
        return a + (y - ya) / (yb - ya) * (b - a)

    strokes = re.findall(r"M([\d.]+) ([\d.]+)H([\d.]+)", with_class(root, "those-mark")[0].attrib["d"])
    assert [gap(float(y)) for _, y, _ in strokes] == pytest.approx([-10, -10, -30, -30, -30])
    assert [gap(float(line.attrib["y1"])) for line in with_class(root, "mean")] == pytest.approx([-10, -30])
    (cut,), (ring,) = with_class(root, "cut"), with_class(root, "edge")
    assert float(strokes[1][2]) < float(cut.attrib["x1"]) < float(strokes[2][0])
    assert float(strokes[3][0]) < float(ring.attrib["cx"]) < float(strokes[3][2])
    assert len(re.findall("V", with_class(root, "all")[0].attrib["d"])) == 5


def test_joined_charts_have_numbers_at_their_dots() -> None:
    """Where a line joins the spots, each has a dot with its gap in points."""
    root = parsed(draw_charts(small_charts(is_joined=True, n=1), 320))
    assert texts(root).count("-30.0") == 3
    assert len(list(root.iter(f"{NAME}circle"))) == 5
    assert len(with_class(root, "those")) == 1


def test_small_charts_describe_themselves() -> None:
    """Who does not see the picture hears the first and last gap of every chart, and what to see in it."""
    label = parsed(draw_charts(small_charts(n=1), 320)).attrib["aria-label"]
    assert "gap -10.0 points at 2026-01, -30.0 points at 2026-06. changed." in label
    nothing = Charts(title="Gaps", legend="", charts=(Chart(title="a", note="", spots=(Spot(label="x", value=None),)),))
    assert "no gap is known" in draw_charts(nothing, 320)


@pytest.mark.parametrize("width", [320.0, 1000.0])
def test_spreads(width: float) -> None:
    """Quantiles inside and outside lie in their order on one axis, and the description says them in their unit."""
    rate = Mean("mean", "mean wage", unit="EUR")
    spread = Spread(inside=(10.0, 20.0, 25.0, 40.0, 90.0), outside=(15.0, 30.0, 40.0, 60.0, 100.0))
    root = parsed(draw_spread(spread, rate, width))
    assert {"inside", "outside", "0", "100"} <= set(texts(root))
    bars = [element.attrib["d"] for name in ("those-mark", "all-mark") for element in with_class(root, name)]
    ends = [[float(number) for number in re.findall(r"[MHV]([\d.]+)", bar)] for bar in bars]
    assert len(ends) == 4
    assert ends[0][0] < ends[1][0] < ends[0][1]
    assert "the middle one has 25 EUR" in root.attrib["aria-label"]
    assert parsed(draw_spread(Spread(inside=(), outside=spread.outside), rate, width)) is not None
