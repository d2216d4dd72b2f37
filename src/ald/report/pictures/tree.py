"""A search tree: every node with its people and psi, coloured by |psi|, and the path of a group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ald.report.markup import Content, Markup, element, number
from ald.report.palette import STEPS, Scale
from ald.report.svg import Picture, fit_text, picture, rect, standalone, text
from ald.report.tree_layout import tidy
from ald.report.trees import Tree, TreeNode
from ald.report.units import Points, Units, units_of, units_of_notion

# Levels below the root that are drawn; the path of the group is drawn to its end.
LEVELS = 3

# Pixels: from node to node, a box, from level to level, the legend above and the details below.
_STEP, _BOX, _BOX_HEIGHT, _LEVEL, _LEGEND = 125.0, 104.0, 42.0, 106.0, 52.0
_TIP_LINE, _TIP_LINES, _TIP_WIDTH = 16.0, 4, 600.0
_KEY = 34.0


def shown_nodes(tree: Tree, path: Sequence[int], levels: int | None = LEVELS) -> list[int]:
    """The nodes that are drawn: the first levels, the path, and the siblings of its nodes. None: all."""
    on_path = set(path)
    return [
        i
        for i, node in enumerate(tree.nodes)
        if levels is None or node.depth <= levels or i in on_path or node.parent in on_path
    ]


def plot_tree(tree: Tree, node: int, levels: int | None) -> Picture:
    """The tree as a picture of its own."""
    return Picture(standalone(draw_tree(tree, node, levels=levels)))


def draw_tree(tree: Tree, node: int, *, levels: int | None = LEVELS) -> Markup:
    """The tree down to some levels, with the path to a node; who points at a node reads its details below."""
    path = tree.path(node)
    shown = shown_nodes(tree, path, levels)
    position = {i: k for k, i in enumerate(shown)}
    children = [[position[child] for child in tree.nodes[i].children if child in position] for i in shown]
    places = tidy(children)
    width = max(max(places) + 1, 5) * _STEP
    left = (width - max(places) * _STEP) / 2
    spots = [
        _Spot(x=left + place * _STEP, y=_LEGEND + tree.nodes[i].depth * _LEVEL)
        for i, place in zip(shown, places, strict=True)
    ]
    height = max(spot.y for spot in spots) + _BOX_HEIGHT + 36 + _TIP_LINE * _TIP_LINES
    units = units_of_notion(tree.notion)
    scale = Scale(max((abs(tree.nodes[i].psi or 0.0) for i in shown), default=0.0), units.per_one)
    edges = [_edge(spots[k], spots[child], shown[child] in path) for k, below in enumerate(children) for child in below]
    nodes = []
    for k, i in enumerate(shown):
        each = tree.nodes[i]
        classes = f"node s{scale.step(each.psi)}{' on' if i in path else ''}{' target' if each.id == node else ''}"
        is_cut = bool(each.children) and not children[k]
        words = details(tree, each)
        nodes.append(
            element(
                "g",
                _box(each, spots[k], is_cut, units),
                _tip(words, min(max(spots[k].x - 150, 0.0), width - _TIP_WIDTH), height),
                class_=classes,
                tabindex=0,
                role="img",
                aria_label=". ".join(words),
            )
        )
    hint = "Point at a node, or go to it with the tab key, for its numbers."
    title = f"Search tree {tree.number + 1} and the path to node {node}"
    below = text(0, height - _TIP_LINE * _TIP_LINES + 8, hint, class_="soft hint")
    content = (_legend(scale, units), below, edges, nodes)
    return picture(width, height, title, _description(tree, path, len(shown)), *content, role="group")


@dataclass(frozen=True, kw_only=True)
class _Spot:
    """The middle of a box's upper side."""

    x: float
    y: float


def _edge(upper: _Spot, lower: _Spot, on: bool) -> Markup:
    start, end = upper.y + _BOX_HEIGHT + 21, lower.y - 18
    bend = number((start + end) / 2)
    x1, x2 = number(upper.x), number(lower.x)
    d = f"M{x1} {number(start)}C{x1} {bend} {x2} {bend} {x2} {number(end)}"
    return element("path", d=d, class_="edge on" if on else "edge")


def _box(node: TreeNode, spot: _Spot, is_cut: bool, units: Units) -> list[Content]:
    """The box with psi, people and share; above it the values that lead to it, below it what it splits by."""
    x, y = spot.x, spot.y
    parts: list[Content] = [
        rect(x - _BOX / 2, y, _BOX, _BOX_HEIGHT, rx=5, class_="box"),
        text(x, y + 18, shown_psi(node, units), class_="in strong", text_anchor="middle"),
        text(x, y + 34, f"{node.n:,} · {node.share:.0%}", class_="in small", text_anchor="middle"),
    ]
    if node.branch:
        parts.append(text(x, y - 6, fit_text(node.short_branch, _STEP - 6, 11), class_="soft", text_anchor="middle"))
    if node.attribute:
        more = f" (+{node.below:,})" if is_cut else ""
        name = fit_text(node.attribute, _STEP - 8 - 7.5 * len(more), 13.5)
        parts.append(text(x, y + _BOX_HEIGHT + 15, [name, more], class_="strong", text_anchor="middle"))
    return parts


def _tip(words: Sequence[str], x: float, height: float) -> Markup:
    """The details of a node, at the foot of the picture; the style sheet shows those of one node at a time."""
    top = height - _TIP_LINE * _TIP_LINES
    rows = [
        text(x, top + 8 + k * _TIP_LINE, fit_text(row, _TIP_WIDTH), class_=None if k else "strong")
        for k, row in enumerate(words)
    ]
    return element("g", rect(0, top - 8, 4000, height - top + 8, class_="cover"), rows, class_="tip")


def shown_psi(node: TreeNode, units: Units) -> str:
    """The gap; the root holds everyone and has nothing to compare with."""
    if node.psi is None:
        return "everyone" if node.parent < 0 else "undefined"
    return units.signed(node.psi) if len(node.rates) == 1 else units.unsigned(node.psi)


def details(tree: Tree, node: TreeNode) -> list[str]:
    """What is known of a node, in at most four lines."""
    is_root = node.parent < 0
    branch = "everyone" if is_root else f"{tree.nodes[node.parent].attribute} {node.branch}"
    rows = [f"Node {node.id}: {branch}"]
    units = units_of_notion(tree.notion)
    gap = f", gap {shown_psi(node, units)}{' points' if isinstance(units, Points) else ''}"
    rows.append(f"{node.n:,} people ({node.share:.1%}){'' if is_root else gap}")
    rows.append(
        "; ".join(
            f"{rate.name} {units_of(rate).level(inside)}"
            + ("" if is_root else f" against {units_of(rate).level(outside)}")
            for rate, inside, outside in zip(tree.notion.rates, node.rates, node.rates_outside, strict=True)
        )
    )
    if node.attribute:
        rows.append(f"splits by {node.attribute}" + (f", {node.below:,} nodes below" if node.below > 2 else ""))
    return rows


def _legend(scale: Scale, units: Units) -> list[Content]:
    parts: list[Content] = [text(0, 13, "Gap", class_="strong")]
    parts += [rect(40 + step * _KEY, 3, _KEY, 12, class_=f"key s{step}") for step in range(STEPS)]
    for step in (0, 3, STEPS):
        label = units.short(scale.top * step / STEPS)
        parts.append(text(40 + step * _KEY, 28, label, class_="soft", text_anchor="middle" if step else "start"))
    unit = units.gaps_in.removeprefix("in ")
    told = f"{unit}, of either sign; thick line: the way to the group; box: gap, people, share"
    parts.append(text(40 + STEPS * _KEY + 26, 13, told, class_="soft"))
    return parts


def _description(tree: Tree, path: Sequence[int], shown: int) -> str:
    steps = [f"{tree.nodes[tree.nodes[i].parent].attribute} {tree.nodes[i].branch}" for i in path[1:]]
    return f"{shown} of {len(tree.nodes)} nodes. Path to the group: {'; '.join(steps) or 'the root'}."
