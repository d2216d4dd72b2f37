"""The result of an audit: findings, what was audited, and how to show them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ald.assess.power import Detectable
from ald.data.prepare import DataSummary
from ald.errors import InputError, nearest
from ald.groups.criterion import visible
from ald.groups.tree import Forest
from ald.notions import Notion
from ald.options import AuditConfig
from ald.profiles import Profile
from ald.results.candidates import Results
from ald.results.details import Details
from ald.results.finding import Finding
from ald.results.gaps import Gap, Gaps
from ald.results.ledger import Ledger
from ald.results.mode import Mode
from ald.results.privacy import NOTHING_HIDDEN, Hidden
from ald.results.reported import Reported

if TYPE_CHECKING:
    from ald.report.identity import Identity
    from ald.report.model import Report
    from ald.report.svg import Picture


@dataclass(frozen=True, kw_only=True, eq=False)
class Audit(Reported):
    """The result of an audit.

    giveaways: columns that give the outcome away, without which was searched: a condition on each of them.
    groups: the listed findings, best first: groups with a significant disparity. May be empty.
    named_groups: those that the user named, in the order given, whatever was found of them.
    candidates: every group that was tested, in ranked order.
    significant: the places of all significant groups among the candidates, the listed ones first.
    hidden: how much of this is not shown, because fewer than `min_group_size` people are in it or outside it.
    config, data_summary: what was asked, and what was audited (with columns left out and warnings).
    gaps: every attribute's own gap, each level against the rest, on all data; a family of its own.
    mode: whether people were split, or everyone was searched and tested.
    forest: the search trees, if any grew.
    detectable: what the audit could have seen, by share of people.
    p_any: one p-value for "is there any disparity at all", over all halvings.
    details: listed groups without one of their conditions, and rates along the attributes that they use.
    input_name, input_sha256: the name and the fingerprint of the file that was audited; None for other data, and of an
    audit read from JSON.
    profile: what a law asks to be counted, of `ald.profile`; otherwise None.
    ledger: all questions that were asked of the same data, where they were counted (`ald serve`); otherwise None.
    """

    config: AuditConfig
    mode: Mode
    data_summary: DataSummary
    giveaways: tuple[Finding, ...]
    groups: tuple[Finding, ...]
    named_groups: tuple[Finding, ...]
    forest: Forest
    p_any: float
    significant: tuple[int, ...]
    hidden: Hidden = NOTHING_HIDDEN
    input_name: str | None = None
    input_sha256: str | None = None
    profile: Profile | None = None
    ledger: Ledger | None = None
    _candidates: Results | tuple[Finding, ...] = field(repr=False)
    # Or how to count them, when somebody asks.
    _details: Details | Callable[[], Details] = field(repr=False)
    _gaps: Gaps | Callable[[], Gaps] = field(repr=False)
    _detectable: tuple[Detectable, ...] | Callable[[], tuple[Detectable, ...]] = field(repr=False)

    def __post_init__(self) -> None:
        for group in (*self.giveaways, *self.groups, *self.named_groups):
            group.attach(self)

    @cached_property
    def details(self) -> Details:
        return self._details() if callable(self._details) else self._details

    @cached_property
    def gaps(self) -> Gaps:
        return self._gaps() if callable(self._gaps) else self._gaps

    @cached_property
    def detectable(self) -> tuple[Detectable, ...]:
        return self._detectable() if callable(self._detectable) else self._detectable

    @cached_property
    def candidates(self) -> tuple[Finding, ...]:
        found = self._candidates.rank_findings() if isinstance(self._candidates, Results) else self._candidates
        return tuple(finding.attach(self) for finding in found)

    def first_candidates(self, n: int) -> tuple[Finding, ...]:
        """The first candidates in ranked order, without writing out all others."""
        if not isinstance(self._candidates, Results) or "candidates" in self.__dict__:
            return self.candidates[:n]
        first = self._candidates.at(range(min(n, len(self._candidates))))
        return tuple(finding.attach(self) for finding in first)

    @property
    def n_further(self) -> int:
        """How many groups are significant too, and not listed because there are more than `groups`."""
        return len(self.significant) - len(self.groups)

    def further(self, most: int | None = None) -> tuple[Finding, ...]:
        """The significant groups that are not listed, best first; of many no more than `most`."""
        places = self.significant[len(self.groups) :][:most]
        if not isinstance(self._candidates, Results) or "candidates" in self.__dict__:
            return tuple(self.candidates[place] for place in places)
        return tuple(finding.attach(self) for finding in self._candidates.at(places))

    @property
    def n_candidates(self) -> int:
        """How many groups the search proposed, without hidden ones."""
        return len(self._candidates)

    @property
    def n_tested(self) -> int:
        """How many groups could be tested, hidden ones included."""
        if isinstance(self._candidates, Results):
            return self._candidates.split.tested
        return self.hidden.tested + sum(finding.p_adjusted is not None for finding in self._candidates)

    @property
    def notion(self) -> Notion:
        """The notion, or the first of several."""
        return self.config.notions[0]

    def notion_of(self, finding: Finding | Gap) -> Notion:
        """The notion that a finding or gap was assessed for."""
        return next(notion for notion in self.config.notions if notion.name == finding.notion)

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.data_summary.warnings

    def __repr__(self) -> str:
        n = len(self.groups)
        of = f"{len(self.significant):,} significant and " if self.n_further else ""
        return (
            f"<Audit for {visible(self.notion.name)}: {n} group{'' if n == 1 else 's'} listed of {of}"
            f"{self.n_tested:,} tested on {self.data_summary.rows_assess:,} people. print(audit) shows them, "
            "audit.save('audit.html') writes the report; see .groups, .to_frame(), .to_json()>"
        )

    def summarise(self, identity: Identity) -> Report:
        from ald.report.summary.report import summarise

        return summarise(self, identity)

    def plot(self, finding: Finding | None = None) -> Picture:
        """A finding as a picture: its gap with the interval, and its rates; without one, all listed groups."""
        from ald.report.pictures.groups import plot_groups
        from ald.report.summary.findings import alone

        if finding is None and not self.groups:
            raise InputError("this audit lists no group, so that there is nothing to draw")
        return plot_groups(self.report().cards if finding is None else [alone(finding, self)])

    def plot_along(self, finding: Finding, attribute: str | None = None, rate: str | None = None) -> Picture:
        """The rates of everyone along an attribute of a listed group as a picture; by default the first of each."""
        from ald.report.pictures.curve import plot_curve

        cards = [card for card in self.report().cards if card.finding == finding]
        if not cards:
            raise InputError("only for listed groups people were counted along their attributes")
        views = cards[0].curves
        for asked, named in (
            (attribute, dict.fromkeys(view.attribute for view in views)),
            (rate, dict.fromkeys(view.rate.key for view in views)),
        ):
            if asked is not None and asked not in named:
                raise InputError(f"the group has no {asked!r} to draw. {nearest(asked, list(named))}")
        kept = [view for view in views if attribute in (None, view.attribute) and rate in (None, view.rate.key)]
        return plot_curve(kept[0])

    def plot_tree(self, finding: Finding, levels: int | None = 3) -> Picture:
        """The search tree of a finding as a picture (SVG), down to some levels; None for all."""
        from ald.report.pictures.tree import plot_tree
        from ald.report.summary.findings import search_tree

        if finding.tree is None or finding.node is None:
            how = "was named, not searched for" if finding.shuffled is None else "was searched among everyone"
            raise InputError(f"this group {how}: no tree proposed it")
        return plot_tree(search_tree(finding, self), finding.node, levels)

    def finding_html(self, finding: Finding) -> str:
        """A finding as notebooks show it."""
        from ald.report.notebook import finding_html
        from ald.report.summary.findings import summarise_finding

        return finding_html(summarise_finding(finding, self))

    def to_dict(self) -> dict[str, Any]:
        """The whole audit as plain data in the documented schema (docs/schema.md)."""
        from ald.results.document import audit_to_dict

        return audit_to_dict(self)

    def to_reduced_dict(self, most: int) -> dict[str, Any]:
        """The audit as plain data that fits on a page: so many candidates and gaps, and the trees of listed groups."""
        from ald.results.document import reduced_to_dict

        return reduced_to_dict(self, most)

    @classmethod
    def from_json(cls, text: str | bytes) -> Audit:
        """The audit that `to_json` wrote."""
        from ald.results.document import audit_from_json

        return audit_from_json(text)
