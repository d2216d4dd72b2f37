"""A finding: one group, its disparity, and how sure we are. Plain values, in words."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from math import exp, isfinite, log
from typing import Any

import numpy as np

from ald._core.arrays import AnyArray
from ald.assess.assessment import Assessment, Intervals
from ald.errors import SettingError
from ald.groups.criterion import Criterion
from ald.groups.wording import readable
from ald.results.claims import DRAWN, SCORE, Shuffled, Together
from ald.statistics.basics import round_reported


@dataclass(frozen=True, kw_only=True)
class Also:
    """A group close to a finding, not tested beside it: its size on D2 and the share of the finding that it holds."""

    criterion: Criterion
    size: int
    overlap: float


@dataclass(frozen=True, kw_only=True)
class StratumResult:
    """A group within one stratum of legitimate factors: people inside and outside, their rates, and their differences.

    `weight` is the share that the stratum has in the group's psi; 0 where one side is empty.
    """

    criterion: Criterion
    size: int
    size_outside: int
    rates_inside: dict[str, float | None]
    rates_outside: dict[str, float | None]
    parts: dict[str, float | None]
    weight: float

    def to_dict(self) -> dict[str, Any]:
        entry = {field.name: getattr(self, field.name) for field in fields(self)}
        return entry | {"criterion": str(self.criterion), "conditions": self.criterion.to_list()}

    @classmethod
    def from_dict(cls, entry: dict[str, Any]) -> StratumResult:
        values = {key: value for key, value in entry.items() if key != "conditions"}
        return cls(**values | {"criterion": Criterion.from_list(entry["conditions"])})


@dataclass(frozen=True, kw_only=True)
class Finer:
    """What is left of a finding where one legitimate factor, a number, is cut into classes twice as fine.

    strata: how many there are then. turned: the largest difference has the other sign. holds: the finding is still
    significant, and of the same sign; if not, the factor's effect within its classes may be all that it shows.
    """

    factor: str
    strata: int
    psi: float | None
    p_adjusted: float | None
    log10_p_adjusted: float | None
    turned: bool
    holds: bool


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One group as assessed on D2, against everyone else there. None is undefined; `undefined` says why.

    `notion` and `outcome` say which question the finding answers. `psi` is the disparity; `parts` its signed
    differences per rate; `ratios` inside / outside (the four-fifths rule looks at that of selection). `interval` holds
    psi with confidence `interval_level`. `statistic` and `df` are those of the chi2 test, or of Fisher's over several;
    `p_adjusted` is corrected for all candidates. `test` names the test that gave the p-value. `stability` is the share
    of random halvings that list an equivalent group. Rates and psi are those of whom was compared with whom: within
    strata of legitimate factors (`strata` has each of them) and of the groups that were tested before this one
    (`given_groups`), and weighted in surveys; `psi_crude` is psi without these strata, `finer` what is left of it in
    finer ones. `psi_by_chance`: how large a psi of several rates is on average in such a group where there is no
    disparity at all.
    `size` counts rows; `people` those that they are about, if a cluster column says so. `size_all` counts the rows of
    all data, both halves together; None for candidates that are not listed.
    `together`: whether the group's attributes matter together. `shuffled`: what there is where everyone is searched and
    tested; D2 is then everyone, and the p-values are those of shuffled outcomes. Of amounts `superiority` is the
    probability that a member has more than someone of those compared with (ties count half), `log10_p_ranks` is that of
    the rank test, and `dominated` says that a few people hold most of what varies, so that the rank test leads.
    """

    criterion: Criterion
    size: int
    share: float
    psi: float | None
    parts: dict[str, float | None]
    rates_inside: dict[str, float | None]
    rates_outside: dict[str, float | None]
    ratios: dict[str, float | None]
    interval: tuple[float | None, float | None]
    part_intervals: dict[str, tuple[float | None, float | None]]
    counts_inside: dict[str, int]
    counts_outside: dict[str, int]
    statistic: float | None
    df: int
    p_value: float | None
    log10_p: float | None
    p_adjusted: float | None
    log10_p_adjusted: float | None
    tree: int | None = None
    node: int | None = None
    notion: str = ""
    outcome: str | None = None
    people: int | None = None
    size_all: int | None = None
    psi_crude: float | None = None
    psi_by_chance: float | None = None
    given_groups: tuple[Criterion, ...] = ()
    strata: tuple[StratumResult, ...] = ()
    finer: tuple[Finer, ...] = ()
    test: str = "chi2"
    interval_level: float = 0.95
    interval_unadjusted: tuple[float | None, float | None] = (None, None)
    also: tuple[Also, ...] = ()
    stability: float | None = None
    undefined: str = ""
    together: Together | None = None
    shuffled: Shuffled | None = None
    superiority: float | None = None
    superiority_interval: tuple[float | None, float | None] = (None, None)
    log10_p_ranks: float | None = None
    dominated: bool = False

    def __repr__(self) -> str:
        psi = "undefined" if self.psi is None else f"{self.psi:+.3f}"
        p = p_text(self.log10_p_adjusted)
        return f"<Finding {readable(self.criterion)}: psi {psi}, {self.size:,} people, adjusted {p}>"

    @property
    def is_combination(self) -> bool:
        """Whether it is listed for the combination of its attributes alone: the group itself is not significant."""
        return self.together is not None and self.test in (DRAWN, SCORE)

    def plot(self) -> Any:
        """The gap with its interval, and the rates inside and outside, as a picture: `.save("x.png")` or `"x.svg"`."""
        return self._at_home("can be drawn").plot(self)

    def plot_along(self, attribute: str | None = None, rate: str | None = None) -> Any:
        """The rates of everyone along an attribute of a listed group as a picture; by default the first of each."""
        return self._at_home("can be drawn").plot_along(self, attribute, rate)

    def plot_tree(self, levels: int | None = 3) -> Any:
        """The search tree with the node that proposed the group, or comes closest to it, as a picture (SVG).

        levels: how many splits deep; None for the whole tree. The way to the group is drawn to its end.
        """
        return self._at_home("know their trees").plot_tree(self, levels)

    def as_sensitive_feature(self, data: Any) -> AnyArray:
        """Per row of the data the group in words, or "everyone else", as Fairlearn takes sensitive features."""
        return np.where(self.criterion.mask(data), str(self.criterion), "everyone else")

    def _repr_html_(self) -> str | None:
        return None if self._home is None else str(self._home.finding_html(self))

    def _at_home(self, what: str) -> Any:
        if self._home is None:
            raise SettingError(f"this finding stands alone; groups and candidates of an audit {what}")
        return self._home

    @property
    def _home(self) -> Any:
        """The audit that this finding belongs to, if any; no part of its value."""
        return self.__dict__.get("_audit")

    def attach(self, audit: Any) -> Finding:
        """The same finding, which now knows its audit."""
        object.__setattr__(self, "_audit", audit)
        return self

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain data: an entry of the schema's `groups` and `candidates`."""
        entry = {field.name: getattr(self, field.name) for field in fields(self)}
        entry["criterion"] = str(self.criterion)
        entry["interval"] = list(self.interval)
        entry["interval_unadjusted"] = list(self.interval_unadjusted)
        entry["superiority_interval"] = list(self.superiority_interval)
        if self.superiority is None and not self.dominated:
            for key in _OF_AMOUNTS:
                del entry[key]
        entry["also"] = [
            {
                "criterion": str(other.criterion),
                "conditions": other.criterion.to_list(),
                "size": other.size,
                "overlap": other.overlap,
            }
            for other in self.also
        ]
        entry["part_intervals"] = {key: list(bounds) for key, bounds in self.part_intervals.items()}
        entry["given_groups"] = [
            {"criterion": str(group), "conditions": group.to_list()} for group in self.given_groups
        ]
        entry["strata"] = [stratum.to_dict() for stratum in self.strata]
        entry["finer"] = [asdict(finer) for finer in self.finer]
        # What there is not in this way of testing is absent.
        for name in ("together", "shuffled"):
            entry[name] = None if entry[name] is None else entry[name].to_dict()
        absent = [name for name in ("together", "shuffled") if entry[name] is None]
        absent += [] if self.shuffled is None else ["tree", "node"]
        for name in absent:
            del entry[name]
        return {"criterion": entry.pop("criterion"), "conditions": self.criterion.to_list(), **entry}

    @classmethod
    def from_dict(cls, entry: dict[str, Any]) -> Finding:
        """The inverse of `to_dict`."""
        values = {key: value for key, value in entry.items() if key != "conditions"}
        values["criterion"] = Criterion.from_list(entry["conditions"])
        values["interval"] = tuple(entry["interval"])
        values["interval_unadjusted"] = tuple(entry["interval_unadjusted"])
        if "superiority_interval" in entry:
            values["superiority_interval"] = tuple(entry["superiority_interval"])
        values["also"] = tuple(
            Also(criterion=Criterion.from_list(other["conditions"]), size=other["size"], overlap=other["overlap"])
            for other in entry["also"]
        )
        values["part_intervals"] = {key: tuple(bounds) for key, bounds in entry["part_intervals"].items()}
        values["given_groups"] = tuple(Criterion.from_list(group["conditions"]) for group in entry["given_groups"])
        values["strata"] = tuple(StratumResult.from_dict(stratum) for stratum in entry["strata"])
        values["finer"] = tuple(Finer(**finer) for finer in entry["finer"])
        values["together"] = Together.from_dict(entry["together"]) if "together" in entry else None
        values["shuffled"] = Shuffled.from_dict(entry["shuffled"]) if "shuffled" in entry else None
        return cls(**values)


# Keys of an entry that only findings about amounts have.
_OF_AMOUNTS = ("superiority", "superiority_interval", "log10_p_ranks", "dominated")


def finding(
    criterion: Criterion,
    assessment: Assessment,
    i: int,
    cell_names: tuple[str, ...],
    *,
    level: float,
    intervals: Intervals,
    unadjusted: Intervals,
    place: int = 0,
    tree: int | None = None,
    node: int | None = None,
    outcome: str | None = None,
    also: tuple[Also, ...] = (),
    stability: float | None = None,
    people: int | None = None,
    size_elsewhere: int | None = None,
    given_groups: tuple[Criterion, ...] = (),
    strata: tuple[StratumResult, ...] = (),
    finer: tuple[Finer, ...] = (),
) -> Finding:
    """Candidate i of an assessment as a finding.

    `intervals` are at `level`, `unadjusted` ones without regard to selection; both have the candidate at `place`.
    `size_elsewhere`: members among the rows that the assessment did not see.
    """
    keys = [rate.key for rate in assessment.notion.rates]
    inside, outside = assessment.rate_in[:, i].tolist(), assessment.rate_out[:, i].tolist()
    lows, highs = intervals.part_low[:, place].tolist(), intervals.part_high[:, place].tolist()
    log_p, log_p_adjusted = float(assessment.log_p[i]), float(assessment.log_p_adjusted[i])
    return Finding(
        criterion=criterion,
        size=int(assessment.size[i]),
        share=float(round_reported(assessment.share[i]) or 0.0),
        psi=round_reported(assessment.psi[i]),
        parts={key: round_reported(a - b) for key, a, b in zip(keys, inside, outside, strict=True)},
        rates_inside={key: round_reported(rate) for key, rate in zip(keys, inside, strict=True)},
        rates_outside={key: round_reported(rate) for key, rate in zip(keys, outside, strict=True)},
        ratios={
            rate.key: round_reported(a / b) if b > 0 and a >= 0 and rate.has_ratio else None
            for rate, a, b in zip(assessment.notion.rates, inside, outside, strict=True)
        },
        interval=(round_reported(intervals.low[place]), round_reported(intervals.high[place])),
        part_intervals={
            key: (round_reported(a), round_reported(b)) for key, a, b in zip(keys, lows, highs, strict=True)
        },
        counts_inside=dict(zip(cell_names, assessment.inside[i].tolist(), strict=True)),
        counts_outside=dict(zip(cell_names, assessment.outside[i].tolist(), strict=True)),
        statistic=round_reported(assessment.statistic[i]),
        df=assessment.df,
        p_value=round_reported(exp(log_p)) if isfinite(log_p) else None,
        log10_p=round_reported(log_p / log(10)),
        p_adjusted=round_reported(exp(log_p_adjusted)) if isfinite(log_p_adjusted) else None,
        log10_p_adjusted=round_reported(log_p_adjusted / log(10)),
        tree=tree,
        node=node,
        notion=assessment.notion.name,
        outcome=outcome,
        people=people,
        size_all=None if size_elsewhere is None else int(assessment.size[i]) + size_elsewhere,
        psi_crude=round_reported(assessment.psi_crude[i]),
        psi_by_chance=round_reported(assessment.psi_by_chance[i]),
        given_groups=given_groups,
        strata=strata,
        finer=finer,
        test=assessment.test[i],
        interval_level=float(round_reported(1.0 - assessment.terms.interval_level(level)) or 0.0),
        interval_unadjusted=(round_reported(unadjusted.low[place]), round_reported(unadjusted.high[place])),
        also=also,
        stability=None if stability is None else round_reported(stability),
        undefined=assessment.reason(i),
        **_ranks(assessment, i, level),
    )


def _ranks(assessment: Assessment, i: int, level: float) -> dict[str, Any]:
    """Who has more, of amounts."""
    found = assessment.contrasts[i]
    if found is None or found.ranks is None or not isfinite(found.ranks.superiority):
        return {} if found is None else {"dominated": found.dominated}
    low, high = found.ranks.interval(assessment.terms.interval_level(level))
    log_p = found.ranks.log_p(int(assessment.terms.direction * assessment.counter.signs[0]))
    return {
        "superiority": round_reported(found.ranks.superiority),
        "superiority_interval": (round_reported(low), round_reported(high)),
        "log10_p_ranks": round_reported(log_p / log(10)),
        "dominated": found.dominated,
    }


def p_text(log10_p: float | None) -> str:
    """A p-value in words: how small it is does not matter once it is very small.

    >>> p_text(-1.5), p_text(-1234.5), p_text(None)
    ('p = 0.032', 'p < 0.001', 'p undefined')
    """
    if log10_p is None:
        return "p undefined"
    return "p < 0.001" if log10_p < -3 else f"p = {10.0 ** min(log10_p, 0.0):.2g}"
