"""Colours: readable everywhere, and ordered for every eye."""

from __future__ import annotations

import re

import pytest

from ald.report.palette import DARK, LIGHT, STEPS, Scale, resolve_colours
from ald.report.svg import style_sheet

PALETTES = pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])


def luminance(colour: str) -> float:
    """The relative luminance of WCAG 2."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    light, dark = sorted([luminance(a), luminance(b)], reverse=True)
    return (light + 0.05) / (dark + 0.05)


@PALETTES
def test_text_contrast(colours: dict[str, str]) -> None:
    """Every text has a contrast of at least 4.5 with every ground that it stands on."""
    for ground in ("page", "surface", "sunken", "band"):
        for ink in ("ink", "muted", "accent"):
            assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
    assert contrast(colours["warn-ink"], colours["warn"]) >= 4.5
    for step in range(STEPS):
        assert contrast(colours[f"on-s{step}"], colours[f"s{step}"]) >= 4.5, step


@PALETTES
def test_mark_contrast(colours: dict[str, str]) -> None:
    """Marks of pictures, and what frames boxes, have a contrast of at least 3 with their ground."""
    for mark in ("above", "below", "accent", "strong-rule"):
        assert contrast(colours[mark], colours["surface"]) >= 3, mark


@PALETTES
def test_the_scale_is_ordered_by_lightness(colours: dict[str, str]) -> None:
    """Lightness alone gives the order of the steps, so that it can be seen with any colour vision."""
    steps = [luminance(colours[f"s{step}"]) for step in range(STEPS)]
    assert steps == sorted(steps, reverse=colours is LIGHT)


def test_both_palettes_have_the_same_names() -> None:
    """Whatever has a colour has one in the light and one in the dark; the pictures use no other."""
    assert list(LIGHT) == list(DARK)
    assert set(re.findall(r"var\(--([\w-]+)\)", style_sheet())) <= set(LIGHT)
    assert "var(" not in resolve_colours(style_sheet(), LIGHT)


@pytest.mark.parametrize("largest", [0.0, 0.004, 0.07, 0.31, 0.49, 0.5, 1.0])
def test_scale(largest: float) -> None:
    """The scale reaches from 0 to at least the largest value, in whole hundredths; every value has its step."""
    scale = Scale(largest)
    assert scale.top >= largest
    assert scale.top * 100 / STEPS == pytest.approx(round(scale.top * 100 / STEPS))
    assert scale.step(largest) <= STEPS - 1
    for step in range(STEPS):
        low, high = scale.bounds(step)
        assert scale.step((low + high) / 2) == step
