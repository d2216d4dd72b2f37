"""Figures of the study."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from ald.study.figures import Counted, Point, count_chart, line_chart


def test_figures_escape_words() -> None:
    """Titles and labels are text, whatever they hold."""
    svg = line_chart("a < b & c", "x", "y", {"<script>": [Point(x=0, y=0.5, error=0.1), Point(x=1, y=1.0)]})
    ElementTree.fromstring(svg)
    assert "<script>" not in svg
    bars = {"a & b": Counted(favourable=3, unfavourable=4)}
    ElementTree.fromstring(count_chart("t", "x", bars, {"<i>": [0.5]}))
