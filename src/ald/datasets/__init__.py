"""Embedded and synthetic data sets."""

from ald.datasets.berkeley import load_berkeley
from ald.datasets.synthetic import make_synthetic

__all__ = ["load_berkeley", "make_synthetic"]
