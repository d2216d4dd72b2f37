"""A search tree: every node with its people and psi, coloured by |psi|, and the path of a group."""

from __future__ import annotations

from collections.abc import Sequence

from ald.report.markup import Content, Markup, element
from ald.report.palette import STEPS, Scale
from ald.report.svg import fitted, picture, rect, text
from ald.report.tree_layout import tidy
from ald.report.trees import Tree, TreeNode
from ald.report.words import percent, signed

# Levels below the root that are drawn; the path of the group is drawn to its end.
LEVELS = 3

_STEP, _BOX, _LEVEL, _LEGEND = 110.0, 96.0, 104.0, 46.0
_BOX_HEIGHT = 42.0
_TIP_LINES = 4


def shown_nodes(tree: Tree, path: Sequence[int], levels: int | None = LEVELS) -> list[int]:
    """The nodes that are drawn: the first levels, the path, and the siblings of its nodes. None: all."""
    on_path = set(path)
    return [
        i
        for i, node in enumerate(tree.nodes)
        if levels is None or node.depth <= levels or i in on_path or node.parent in on_path
    ]


def draw_tree(tree: Tree, node: int, *, levels: int | None = LEVELS) -> Markup:
    """The tree down to some levels, with the path to a node; people who point at a node read its details."""
    path = tree.path(node)
    shown = shown_nodes(tree, path, levels)
    position = {i: k for k, i in enumerate(shown)}
    children = [[position[c] for c in tree.nodes[i].children if c in position] for i in shown]
    places = tidy(children)
    scale = Scale(max((abs(tree.nodes[i].psi or 0.0) for i in shown), default=0.0))
    xs = [place * _STEP + _STEP / 2 for place in places]
    width = max(max(xs) + _STEP / 2, 5 * _STEP)
    left = (width - max(xs) - _STEP / 2) / 2
    xs = [x + left for x in xs]
    ys = [_LEGEND + tree.nodes[i].depth * _LEVEL for i in shown]
    height = max(ys) + _BOX_HEIGHT + 28 + 16 * _TIP_LINES
    edges, nodes = [], []
    for k, below in enumerate(children):
        for child in below:
            edges.append(_edge(xs[k], ys[k], xs[child], ys[child], shown[child] in path))
    for k, i in enumerate(shown):
        nodes.append(_node(tree, i, xs[k], ys[k], height, scale, i in path, tree.nodes[i].id == node,
                           bool(tree.nodes[i].children) and not children[k]))  # fmt: skip
    title = f"Search tree {tree.number + 1} and the path to node {node}"
    return picture(
        width, height, title, _description(tree, path, len(shown)), _legend(scale), edges, nodes, role="group"
    )


def _edge(x1: float, y1: float, x2: float, y2: float, on: bool) -> Markup:
    start, end = y1 + _BOX_HEIGHT + 20, y2 - 18
    bend = (start + end) / 2
    d = f"M{x1:.0f} {start:.0f}C{x1:.0f} {bend:.0f} {x2:.0f} {bend:.0f} {x2:.0f} {end:.0f}"
    return element("path", d=d, class_="edge on" if on else "edge")


def _node(
    tree: Tree, i: int, x: float, y: float, height: float, scale: Scale, on: bool, target: bool, cut: bool
) -> Markup:
    node = tree.nodes[i]
    classes = f"node s{scale.step(node.psi)}" + (" on" if on else "") + (" target" if target else "")
    words = details(tree, node)
    parts: list[Content] = [
        rect(x - _BOX / 2, y, _BOX, _BOX_HEIGHT, rx=5, class_="box"),
        text(x, y + 18, "–" if node.psi is None else signed(node.psi), class_="in strong", text_anchor="middle"),
        text(x, y + 34, f"{node.n:,} · {node.share:.0%}", class_="in", text_anchor="middle", font_size=11),
    ]
    if node.branch:
        parts.append(text(x, y - 6, fitted(node.branch, _STEP, 11), class_="soft", text_anchor="middle"))
    if node.attribute:
        below = f" (+{node.below:,})" if cut else ""
        name = fitted(node.attribute, _STEP - 7 * len(below), 12)
        parts.append(text(x, y + _BOX_HEIGHT + 15, [name, below], class_="strong", text_anchor="middle"))
    tip = element("g", [text(0, height - 16 * (_TIP_LINES - k) + 8, fitted(row, 5 * _STEP, 12), class_="strong" if not k
                             else None) for k, row in enumerate(words)], class_="tip")  # fmt: skip
    label = ". ".join(words)
    return element("g", element("title", label), parts, tip, class_=classes, tabindex=0, role="img", aria_label=label)


def details(tree: Tree, node: TreeNode) -> list[str]:
    """What is known of a node, in at most four lines."""
    rows = [f"Node {node.id}" + (f": {tree.nodes[node.parent].attribute} {node.branch}" if node.branch else ": all")]
    rows.append(f"{node.n:,} people of the tree's sample ({node.share:.1%}), psi {signed(node.psi)}")
    rows.append(
        "; ".join(
            f"{rate.name} {percent(inside)} against {percent(outside)}"
            for rate, inside, outside in zip(tree.notion.rates, node.rates, node.rates_outside, strict=True)
        )
    )
    if node.attribute:
        rows.append(f"splits by {node.attribute}" + (f", {node.below:,} nodes below" if node.below > 2 else ""))
    return rows


def _legend(scale: Scale) -> list[Content]:
    parts: list[Content] = [text(0, 12, "|psi|", class_="strong")]
    for step in range(STEPS):
        parts.append(rect(40 + step * 34, 2, 34, 12, class_=f"key s{step}"))
    for step in (0, STEPS // 2, STEPS - 1):
        at = scale.top if step == STEPS - 1 else scale.bounds(step)[0]
        x = 40 + (STEPS if step == STEPS - 1 else step) * 34
        label = "0" if at == 0 else f"{at:.2f}"
        parts.append(text(x, 27, label, class_="soft", text_anchor="start" if not step else "middle"))
    parts.append(text(40 + STEPS * 34 + 26, 12, "thick: the path to the group; in a box: psi, people, share",
                      class_="soft"))  # fmt: skip
    return parts


def _description(tree: Tree, path: Sequence[int], shown: int) -> str:
    steps = [f"{tree.nodes[tree.nodes[i].parent].attribute} {tree.nodes[i].branch}" for i in path[1:]]
    way = "; ".join(steps) or "the root"
    return f"{shown} of {len(tree.nodes)} nodes. Path to the group: {way}."
