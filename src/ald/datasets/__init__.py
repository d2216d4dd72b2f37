"""Embedded, synthetic and public data sets."""

from ald.datasets.adult import ADULT, load_adult
from ald.datasets.berkeley import load_berkeley
from ald.datasets.compas import COMPAS, load_compas
from ald.datasets.german import GERMAN_CREDIT, load_german_credit
from ald.datasets.synthetic import make_synthetic

PUBLIC = (ADULT, COMPAS, GERMAN_CREDIT)

__all__ = ["PUBLIC", "load_adult", "load_berkeley", "load_compas", "load_german_credit", "make_synthetic"]
