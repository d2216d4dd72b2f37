"""Colours by what they stand for, light and dark, and the scale of |psi|.

One hue for sizes, whose lightness alone carries the order, and blue against orange for directions: both can be told
apart with any colour vision. Every text keeps a contrast of 4.5 with what it stands on (tests/report/test_palette.py).
"""

from __future__ import annotations

from math import ceil

LIGHT = {
    "page": "#f7f7f5",
    "surface": "#ffffff",
    "sunken": "#f1f3f5",
    "ink": "#17212b",
    "muted": "#55626f",
    "rule": "#dce1e6",
    "strong-rule": "#8995a1",
    "accent": "#1b5c9e",
    "above": "#1b5c9e",
    "below": "#b34a0c",
    "band": "#e3edf7",
    "warn": "#fdf3e1",
    "warn-ink": "#6b4300",
    "s0": "#f0f4f8",
    "s1": "#d8e5f1",
    "s2": "#b5d0e8",
    "s3": "#86b3da",
    "s4": "#5596ca",
    "s5": "#2a6aa8",
    "s6": "#12447c",
    "on-s0": "#17212b",
    "on-s1": "#17212b",
    "on-s2": "#17212b",
    "on-s3": "#17212b",
    "on-s4": "#0c141b",
    "on-s5": "#ffffff",
    "on-s6": "#ffffff",
}
DARK = {
    "page": "#0f1419",
    "surface": "#171e26",
    "sunken": "#1f2832",
    "ink": "#e7ebef",
    "muted": "#a5b1bd",
    "rule": "#2d3844",
    "strong-rule": "#7b8896",
    "accent": "#82baf0",
    "above": "#82baf0",
    "below": "#f0a36d",
    "band": "#1d2f42",
    "warn": "#33260e",
    "warn-ink": "#f3d39b",
    "s0": "#202a34",
    "s1": "#1e3850",
    "s2": "#1f4a6e",
    "s3": "#2a6290",
    "s4": "#5b97c6",
    "s5": "#8dbce0",
    "s6": "#c9e2f4",
    "on-s0": "#e7ebef",
    "on-s1": "#f2f5f7",
    "on-s2": "#f6f8fa",
    "on-s3": "#ffffff",
    "on-s4": "#0a1015",
    "on-s5": "#0a1015",
    "on-s6": "#0a1015",
}
STEPS = 7


def variables(colours: dict[str, str]) -> str:
    """The colours as custom properties of a style sheet."""
    return "".join(f"--{name}:{colour};" for name, colour in colours.items())


def resolve_colours(style: str, colours: dict[str, str]) -> str:
    """The style sheet with the colours themselves, for who does not know custom properties."""
    for name, colour in colours.items():
        style = style.replace(f"var(--{name})", colour)
    return style


class Scale:
    """The steps of |psi| from 0 to a round number that is not exceeded.

    >>> scale = Scale(0.31)
    >>> scale.top, scale.step(0.0), scale.step(-0.31), scale.step(None)
    (0.35, 0, 6, 0)
    """

    def __init__(self, largest: float, per_one: float = 100.0) -> None:
        """per_one: how many of what a number is rounded to are 1."""
        self.top = STEPS * ceil(max(largest, 1.0 / per_one) * per_one / STEPS - 1e-9) / per_one

    def step(self, psi: float | None) -> int:
        """The step of a disparity, from 0 to 6."""
        return 0 if psi is None else min(int(abs(psi) / self.top * STEPS), STEPS - 1)

    def bounds(self, step: int) -> tuple[float, float]:
        """From where to where a step reaches."""
        return self.top * step / STEPS, self.top * (step + 1) / STEPS
