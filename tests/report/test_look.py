"""Looks as text and in notebooks."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import ald
from ald.report.look import histogram, look_html, look_text
from tests.tables import decisions


def test_histograms() -> None:
    """Heights are in proportion to the largest; what is there is seen, and what is not is empty."""
    assert histogram((0, 1, 500, 1000)) == " ▁▄█"
    assert histogram((0, 0)) == "  "


def test_text_fits_a_terminal() -> None:
    """No line but those to be copied is wider than 80 columns, whatever the names."""
    numbers = np.random.default_rng(0).normal(size=800)
    data = decisions() | {
        "x" * 200: ["y" * 300, "n" * 300] * 400,
        "z" * 30: (numbers * 1e300).tolist(),
        "t" * 30: (np.datetime64("2020-01-01T01:02:03.5") + np.arange(800)).tolist(),
        "w" * 30: [f"{'w' * 20}{i % 7}" for i in range(800)],
    }
    lines = look_text(ald.look(data)).split("\n")
    at = lines.index("Next")
    assert max(map(len, lines[:at])) <= 80
    assert len(lines[at:]) == 2


def test_text_says_it_all() -> None:
    """Every part of a look has its title."""
    text = str(ald.look(decisions() | {"constant": [1] * 800, "sex": ["F", "M"] * 400}))
    for title in ("800 rows, 6 columns", "What the columns may be", "An audit leaves out", "Notions that fit",
                  "What an audit could see (with 80 % power)", "Next"):  # fmt: skip
        assert title in text.split("\n")
    assert "Guessed from names and values: check them." in text


def test_hostile_names_stay_text() -> None:
    """Names and values of the data are escaped in notebooks, and unseen characters are shown in text."""
    data = {"<script>alert(1)</script>": ["<b>", "\u202e"] * 50, "y": [0, 1] * 50, "x": list(range(100))}
    seen = ald.look(data)
    html = look_html(seen)
    assert "<script" not in html
    assert "<b>" not in html
    assert "&lt;script&gt;" in html
    assert "\u202e" not in html + look_text(seen)
    assert seen._repr_html_() == html


def test_the_page_shows_what_is_printed() -> None:
    """The documentation shows a look as it is printed."""
    page = (Path(__file__).parents[2] / "docs" / "look.md").read_text("utf-8")
    assert f"```text\n{ald.look(ald.datasets.load_berkeley())}\n```" in page
