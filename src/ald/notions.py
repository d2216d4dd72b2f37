"""Fairness notions as data: a rate is hits over a base of confusion cells, a notion is a list of rates.

Nothing else in the package asks which notion it serves. A new notion is one declaration:

>>> from ald import Notion, Rate
>>> Notion("false omission rate", (Rate("for", "false omission rate", hits="fn", base="fn tn"),)).needs_truth
True
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import combinations
from typing import Any, Protocol

import numpy as np

from ald._core.arrays import FloatArray, IntArray
from ald._core.exact import cross_product, cross_product_of_sums, scatter
from ald.errors import SettingError, nearest, shown

# Position = 2 * truth + prediction. Without a truth column only the prediction's bit remains.
CELLS = ("tn", "fp", "fn", "tp")
OUTCOME_CELLS = ("negative", "positive")
# Of an outcome that is a number: people, their sum, and the two words of the sum of squares, in the unit of the mean.
AMOUNT_CELLS = ("people", "sum", "squares_high", "squares_low")
# Decimals of a mean that are written at most.
MOST_DECIMALS = 12


@dataclass(frozen=True)
class Rate:
    """A rate over confusion cells: `hits` out of `base`, each a text of cell names ("fp tn") or "all".

    `better`: whether a "higher" or a "lower" rate is to the advantage of the people concerned, where the positive value
    is the favourable one.
    """

    key: str
    name: str
    hits: str
    base: str = "all"
    better: str = "higher"

    def __post_init__(self) -> None:
        if self.better not in ("higher", "lower"):
            raise SettingError(f"rate {self.key!r}: better must be 'higher' or 'lower', not {self.better!r}")
        hits, base = _cells(self.hits, self), _cells(self.base, self)
        if not hits or not hits < base:
            raise SettingError(
                f"rate {self.key!r}: its hits ({self.hits!r}) must be some, but not all, of the cells of its "
                f"base ({self.base!r})"
            )

    @property
    def hit_cells(self) -> frozenset[int]:
        return _cells(self.hits, self)

    @property
    def base_cells(self) -> frozenset[int]:
        return _cells(self.base, self)

    @property
    def needs_truth(self) -> bool:
        """Whether cells with the same prediction and different truth are treated differently."""
        return any(
            (cell in part) != (cell + 2 in part) for part in (self.hit_cells, self.base_cells) for cell in (0, 1)
        )

    @property
    def asks_whether_right(self) -> bool:
        """Whether it counts predictions that are right, or wrong, of everyone: that needs no one class."""
        return len(self.base_cells) == len(CELLS) and self.hit_cells in ({0, 3}, {1, 2})

    @property
    def has_ratio(self) -> bool:
        """Whether the rate inside divided by the one outside says something."""
        return True

    @property
    def limit(self) -> float:
        """No difference is larger than this."""
        return 1.0

    def value(self, hits: Any, base: Any) -> FloatArray:
        """The rate; NaN of nobody."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(hits / base, dtype=float)


# Means of a score that are of the truth, too: of yes or no, or of a number that was predicted.
_OF_CHANCE = ("calibration", "brier", "log_loss")
_OF_NUMBER = ("residual", "absolute_error", "squared_error")


@dataclass(frozen=True)
class Mean(Rate):
    """The mean of an amount: a sum over people, of integers (amount * per_one - origin, rounded).

    unit: what is written behind amounts, such as EUR. decimals: how many say something. is_share: whether amounts
    are shares, and written in percent. is_signed: whether some are below 0, so that ratios of means say nothing.
    Where it is a mean of a score, `ald.data.scores` knows by its key what of.
    """

    hits: str = "sum"
    base: str = "people"
    per_one: float = 1.0
    origin: int = 0
    unit: str = ""
    decimals: int = 0
    is_share: bool = False
    is_signed: bool = False

    def __post_init__(self) -> None:
        if self.better not in ("higher", "lower"):
            raise SettingError(f"mean {self.key!r}: better must be 'higher' or 'lower', not {self.better!r}")

    @property
    def hit_cells(self) -> frozenset[int]:
        return frozenset({AMOUNT_CELLS.index("sum")})

    @property
    def base_cells(self) -> frozenset[int]:
        return frozenset({AMOUNT_CELLS.index("people")})

    @property
    def needs_truth(self) -> bool:
        return self.key in _OF_CHANCE or self.of_number

    @property
    def of_number(self) -> bool:
        """Whether what is true is a number, which was predicted."""
        return self.key in _OF_NUMBER

    @property
    def of_score(self) -> bool:
        """Whether this is a mean of something that a score says."""
        return self.key == "score" or self.needs_truth

    @property
    def has_ratio(self) -> bool:
        """Whether one mean divided by another says something: not where amounts are above and below 0."""
        return not self.is_signed

    @property
    def limit(self) -> float:
        return float("inf")

    def value(self, hits: Any, base: Any) -> FloatArray:
        """The mean amount; NaN of nobody."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((np.asarray(hits, float) / base + self.origin) / self.per_one, dtype=float)


def rate_from(entry: Mapping[str, Any]) -> Rate:
    """The rate, or the mean, of these fields."""
    return Mean(**entry) if "per_one" in entry else Rate(**entry)


def _cells(text: str, rate: Rate) -> frozenset[int]:
    names = CELLS if text == "all" else text.replace(",", " ").split()
    unknown = [name for name in names if name not in CELLS]
    if unknown:
        raise SettingError(f"rate {rate.key!r} names the unknown cell {unknown[0]!r}. {nearest(unknown[0], CELLS)}")
    return frozenset(CELLS.index(name) for name in names)


@dataclass(frozen=True)
class Notion:
    """A fairness notion: psi is the difference of its rate, or the mean absolute difference of several."""

    name: str
    rates: tuple[Rate, ...]
    description: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rates", tuple(self.rates))
        if not self.rates:
            raise SettingError(f"notion {self.name!r} has no rates: it needs at least one")
        keys = [rate.key for rate in self.rates]
        if len(set(keys)) < len(keys):
            raise SettingError(f"notion {self.name!r} uses a rate key twice: {', '.join(keys)}")

    @property
    def needs_truth(self) -> bool:
        return any(rate.needs_truth for rate in self.rates)

    @property
    def disjoint(self) -> bool:
        """Whether no row is in the base of two rates: only then are the rates' tests independent."""
        return all(not a.base_cells & b.base_cells for a, b in combinations(self.rates, 2))

    def psi(self, differences: FloatArray) -> FloatArray:
        """The disparity from the rates' signed differences (first axis: rates)."""
        if len(self.rates) == 1:
            return np.asarray(differences[0])
        return np.asarray(np.mean(np.abs(differences), axis=0))


class Measure(Protocol):
    """What groups are compared by, from sums over their people (last axis of counts): a mean per rate (first axis).

    A rate is the mean of something that is 0 or 1, hits over its base; an amount has a mean as well. disjoint: whether
    nobody counts in two means. signs: whether a higher mean is to people's advantage.
    """

    disjoint: bool
    signs: FloatArray

    def __len__(self) -> int:
        """How many means."""

    def people(self, counts: IntArray) -> IntArray:
        """Everyone, whatever they count for."""

    def hit(self, counts: IntArray) -> IntArray:
        """What the means are sums of."""

    def base(self, counts: IntArray) -> IntArray:
        """The people of the means."""

    def squares(self, counts: IntArray) -> IntArray | None:
        """The sums of squares, two words each (first axis); None where they are the hits."""

    def cross(self, hit: IntArray, base: IntArray, hits: IntArray, bases: IntArray) -> FloatArray:
        """hit * bases - base * hits: zero exactly where the part has the mean of the whole."""

    def margin(self, hits: IntArray, bases: IntArray, squares: IntArray | None) -> FloatArray:
        """bases^2 times the variance; zero exactly where nothing varies."""


class RateCounter:
    """Turns counts per confusion cell into hits and bases of some rates. Immutable.

    `n_cells` is 4 with a truth column and 2 without one, where cells that differ in truth only are one.
    """

    def __init__(self, rates: Sequence[Rate], n_cells: int) -> None:
        self.rates = tuple(rates)
        self._is_mean = any(isinstance(rate, Mean) for rate in rates)
        self._hits = [tuple(sorted(c for c in rate.hit_cells if c < n_cells)) for rate in rates]
        self._bases = [tuple(sorted(c for c in rate.base_cells if c < n_cells)) for rate in rates]
        # +1 where a higher rate is to people's advantage, -1 where a lower one is, if positive is favourable.
        self.signs = np.array([1.0 if rate.better == "higher" else -1.0 for rate in rates])
        used = [cell for base in self._bases for cell in base]
        self.disjoint = len(set(used)) == len(used)

    def __len__(self) -> int:
        return len(self.rates)

    def people(self, counts: IntArray) -> IntArray:
        """Everyone, whatever they count for."""
        return np.asarray(counts[..., 0] if self._is_mean else counts.sum(axis=-1))

    def values(self, counts: IntArray) -> FloatArray:
        """The rates themselves; NaN of nobody."""
        columns = zip(self.rates, self.hit(counts), self.base(counts), strict=True)
        return np.stack([rate.value(hits, base) for rate, hits, base in columns])

    def squares(self, counts: IntArray) -> None:
        """Hits are their own squares."""

    def cross(self, hit: IntArray, base: IntArray, hits: IntArray, bases: IntArray) -> FloatArray:
        """hit * bases - base * hits."""
        return cross_product(hit, base, hits, bases)

    def margin(self, hits: IntArray, bases: IntArray, squares: IntArray | None = None) -> FloatArray:
        """bases^2 times the variance of hits."""
        return np.asarray(hits.astype(float) * (bases - hits))

    def masks(self) -> tuple[IntArray, IntArray]:
        """The cells of the hits and of the base of every rate, as bits."""
        hits, bases = (np.array([sum(1 << c for c in cells) for cells in side]) for side in (self._hits, self._bases))
        return hits, bases

    def hit(self, counts: IntArray) -> IntArray:
        """Hits per rate (first axis) from counts whose last axis is the cell."""
        return _sums(counts, self._hits)

    def base(self, counts: IntArray) -> IntArray:
        """Base sizes per rate (first axis) from counts whose last axis is the cell."""
        return _sums(counts, self._bases)


class MeanCounter:
    """The mean of an amount, from people, sum, and the two words of the sum of squares (last axis of counts)."""

    disjoint = True

    def __init__(self, sign: float = 1.0) -> None:
        self.signs = np.array([sign])

    def __len__(self) -> int:
        return 1

    def people(self, counts: IntArray) -> IntArray:
        """Everyone: each has an amount."""
        return np.asarray(counts[..., 0])

    def hit(self, counts: IntArray) -> IntArray:
        """The sum of the amounts."""
        return np.asarray(counts[None, ..., 1])

    def base(self, counts: IntArray) -> IntArray:
        """The people, as the one mean has them."""
        return np.asarray(counts[None, ..., 0])

    def squares(self, counts: IntArray) -> IntArray:
        """The sum of squares."""
        return np.stack([counts[None, ..., 2], counts[None, ..., 3]])

    def cross(self, hit: IntArray, base: IntArray, hits: IntArray, bases: IntArray) -> FloatArray:
        """hit * bases - base * hits."""
        return cross_product_of_sums(hit, base, hits, bases)

    def margin(self, hits: IntArray, bases: IntArray, squares: IntArray | None) -> FloatArray:
        """bases^2 times the variance of amounts."""
        assert squares is not None
        return scatter(bases, hits, squares[0], squares[1])


def _sums(counts: IntArray, cells: list[tuple[int, ...]]) -> IntArray:
    """Sums over some cells per rate: integer matrix products are slower than adding a few columns."""
    out = np.empty((len(cells), *counts.shape[:-1]), dtype=np.int64)
    for rate, (first, *others) in enumerate(cells):
        out[rate] = counts[..., first]
        for cell in others:
            out[rate] += counts[..., cell]
    return out


SELECTION = Rate("selection", "selection rate", hits="tp fp")
FPR = Rate("fpr", "false positive rate", hits="fp", base="fp tn")
FNR = Rate("fnr", "false negative rate", hits="fn", base="fn tp", better="lower")
TPR = Rate("tpr", "true positive rate", hits="tp", base="tp fn")
# Where those selected turn out better than others, more was asked of them (the outcome test of Becker 1957).
PRECISION = Rate("precision", "precision", hits="tp", base="tp fp", better="lower")
# Likewise where those not selected do: more of them should have been.
OMISSION = Rate("for", "false omission rate", hits="fn", base="fn tn", better="lower")
ACCURACY = Rate("accuracy", "accuracy", hits="tp tn")
ERROR = Rate("error", "error rate", hits="fp fn", better="lower")

NOTIONS = {
    notion.name: notion
    for notion in (
        Notion("statistical parity", (SELECTION,), "equal shares of positive outcomes"),
        Notion("equalized odds", (FPR, FNR), "equal false positive and false negative rates"),
        Notion("equal opportunity", (TPR,), "equal true positive rates"),
        Notion("predictive equality", (FPR,), "equal false positive rates"),
        Notion("false negative rate", (FNR,), "equal false negative rates"),
        Notion("predictive parity", (PRECISION,), "equal precision of positive predictions"),
        Notion("sufficiency", (PRECISION, OMISSION), "equal precision and equal false omission rates"),
        Notion("accuracy", (ACCURACY,), "equal shares of correct predictions"),
    )
}


# What is asked of a score: means of something per row, which `ald.data.scores` computes.
SCORE_NOTIONS = {
    notion.name: notion
    for notion in (
        Notion("mean score", (Mean("score", "mean score", is_share=True),), "equal mean scores"),
        Notion(
            "calibration",
            (Mean("calibration", "mean of truth minus score", better="lower", is_share=True),),
            "scores that are as right on average: the mean of truth minus score is equal",
        ),
        Notion("Brier score", (Mean("brier", "Brier score", better="lower"),), "equal mean squared errors of scores"),
        Notion("log loss", (Mean("log_loss", "log loss", better="lower"),), "equal mean log losses of scores"),
        Notion(
            "residual",
            (Mean("residual", "mean residual", better="lower"),),
            "predicted numbers that are as right on average: the mean of truth minus prediction is equal",
        ),
        Notion(
            "absolute error",
            (Mean("absolute_error", "mean absolute error", better="lower"),),
            "equal mean absolute errors of predicted numbers",
        ),
        Notion(
            "squared error",
            (Mean("squared_error", "mean squared error", better="lower"),),
            "equal mean squared errors of predicted numbers",
        ),
    )
}

# Other names of the same questions.
ALIASES = {
    "demographic parity": "statistical parity",
    "independence": "statistical parity",
    "disparate impact": "statistical parity",
    "adverse impact": "statistical parity",
    "group fairness": "statistical parity",
    "equal selection rates": "statistical parity",
    "separation": "equalized odds",
    "equalised odds": "equalized odds",
    "disparate mistreatment": "equalized odds",
    "conditional procedure accuracy equality": "equalized odds",
    "equality of opportunity": "equal opportunity",
    "true positive rate": "equal opportunity",
    "true positive rate parity": "equal opportunity",
    "false positive rate": "predictive equality",
    "false positive rate parity": "predictive equality",
    "false positive error rate balance": "predictive equality",
    "false negative rate parity": "false negative rate",
    "false negative error rate balance": "false negative rate",
    "precision": "predictive parity",
    "precision parity": "predictive parity",
    "positive predictive value": "predictive parity",
    "outcome test": "predictive parity",
    "conditional use accuracy equality": "sufficiency",
    "accuracy parity": "accuracy",
    "accuracy equality": "accuracy",
    "overall accuracy equality": "accuracy",
}

# Words at least so alike are one word, spelt wrong.
_ALIKE = 0.7


def get_notion(notion: str | Notion) -> Notion:
    """The notion of that name, or of another name in use (case, hyphens and underscores do not matter), or itself.

    >>> get_notion("Demographic Parity").name
    'statistical parity'
    """
    if isinstance(notion, Notion):
        return notion
    if not isinstance(notion, str):
        raise SettingError(f"a notion is a name or an ald.Notion, not {shown(notion)}. {nearest('', NOTIONS)}")
    name = " ".join(notion.replace("_", " ").replace("-", " ").casefold().split())
    name = ALIASES.get(name, name)
    by_fold = {known.casefold(): found for known, found in SCORE_NOTIONS.items()}
    if name in by_fold:
        return by_fold[name]
    if name not in NOTIONS:
        meant = _meant(name)
        hint = f"Did you mean {meant!r}? " if meant else ""
        raise SettingError(f"unknown notion {shown(notion)}. {hint}{nearest('', NOTIONS)}")
    return NOTIONS[name]


def _meant(name: str) -> str | None:
    """The name that is this one but for its spelling: every word must be alike, lest another question is offered."""
    words = name.split()

    def likeness(known: str) -> float:
        other = known.split()
        if len(words) != len(other):
            return 0.0
        pairs = list(zip(words, other, strict=True))
        # Syllables in front make another word: treatment and mistreatment.
        if any(a[0] != b[0] for a, b in pairs):
            return 0.0
        return min((SequenceMatcher(None, a, b).ratio() for a, b in pairs), default=0.0)

    best = max((*NOTIONS, *ALIASES), key=likeness)
    return best if likeness(best) >= _ALIKE else None
