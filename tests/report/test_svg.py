"""Parts of pictures."""

from __future__ import annotations

import struct
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ald.errors import SettingError
from ald.report.markup import element
from ald.report.svg import Axis, Picture, fit_text, path, picture, round_ticks, standalone


@given(st.floats(-1, 1), st.floats(1e-6, 2), st.integers(3, 8))
def test_round_ticks_cover_the_range(low: float, span: float, most: int) -> None:
    """Ticks are evenly spaced, cover the range, and are few."""
    ticks = round_ticks(low, low + span, most)
    assert ticks[0] <= low + 1e-9
    assert ticks[-1] >= low + span - 1e-9
    assert len(ticks) <= most + 3
    steps = [b - a for a, b in pairwise(ticks)]
    assert max(steps) == pytest.approx(min(steps))


def test_axis() -> None:
    """An axis maps its ends to its pixels, backwards too, and its ticks lie on it."""
    axis = Axis(low=0.0, high=0.5, start=100.0, end=0.0)
    assert (axis(0.0), axis(0.5), axis(0.25)) == (100.0, 0.0, 50.0)
    assert axis.ticks(5) == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]
    assert Axis(low=0.3, high=0.3, start=0.0, end=10.0)(0.3) == 0.0


def test_fitted() -> None:
    """Text is cut in its middle where there is no room, and never to nothing."""
    assert fit_text("short", 200) == "short"
    assert len(fit_text("x" * 5000, 200)) < 40
    assert fit_text("abcdef", 0) == "a…f"


def test_pictures_have_words() -> None:
    """A picture has a title and a description, and as a file of its own it is XML with its colours inside."""
    svg = picture(10, 20, "A <title>", "What & why", element("circle", r=1.0))
    shown = standalone(svg)
    root = ElementTree.fromstring(shown)
    name = "{http://www.w3.org/2000/svg}"
    assert root.find(f"{name}title").text == "A <title>"  # type: ignore[union-attr]
    assert root.find(f"{name}desc").text == "What & why"  # type: ignore[union-attr]
    assert (root.attrib["viewBox"], root.attrib["role"]) == ("0 0 10 20", "img")
    assert "var(" not in shown


def test_no_strokes_no_path() -> None:
    """A path of nothing is nothing."""
    assert path([]) is None


def test_picture_objects(tmp_path: Path) -> None:
    """A picture is its text, notebooks find it, and it can be saved."""
    shown = Picture("<svg></svg>")
    assert (str(shown), shown._repr_svg_()) == ("<svg></svg>", "<svg></svg>")
    assert "save" in repr(shown)
    shown.save(tmp_path / "x.svg")
    assert (tmp_path / "x.svg").read_text() == "<svg></svg>"
    with pytest.raises(SettingError, match=r"Known: \.svg, \.png"):
        shown.save(tmp_path / "x.jpg")


def test_a_picture_as_png(tmp_path: Path) -> None:
    """Two pixels for each of the picture's own, and the same bytes for the same picture."""
    pytest.importorskip("typst")
    svg = standalone(picture(120, 40, "A", "b", element("circle", cx=20.0, cy=20.0, r=10.0, class_="above")))
    shown = Picture(svg)
    shown.save(tmp_path / "x.png")
    content = (tmp_path / "x.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    assert struct.unpack(">II", content[16:24]) == (240, 80)
    assert shown.to_png() == content
