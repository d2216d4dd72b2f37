"""Whether attributes of a group matter together, asked of D2."""

from __future__ import annotations

import html

import numpy as np
import pytest

import ald
from ald.assess.together import Combination, ask, assess_together
from ald.data.coded import AuditData
from ald.data.inputs.sources import load
from ald.data.prepare import prepare
from ald.data.roles import Roles
from ald.groups.tree import CodedCondition, CodedCriterion
from ald.notions import CELLS, NOTIONS, OUTCOME_CELLS, Notion, get_notion
from ald.options import AuditConfig
from ald.results.audit import Audit
from ald.results.claims import SCORE
from ald.rows.local import LocalD2

PARITY = get_notion("statistical parity")


def people(n: int = 2000, together: float = 0.0, seed: int = 0) -> AuditData:
    """Main effects of two attributes and a number, and something that only those with both traits have."""
    rng = np.random.default_rng(seed)
    columns = {"a": rng.choice(["p", "q", "r"], n), "b": rng.choice(["u", "v"], n), "age": rng.integers(18, 80, n)}
    rate = 0.3 + 0.15 * (columns["a"] == "p") + 0.1 * (columns["b"] == "u") + 0.002 * (columns["age"] - 50)
    rate = rate + together * ((columns["a"] == "p") & (columns["b"] == "u"))
    return prepare(load(columns | {"y": (rng.random(n) < rate).astype(int)}), Roles(outcome="y"), OUTCOME_CELLS).data


def level(data: AuditData, name: str, *levels: str) -> CodedCondition:
    at = [attribute.name for attribute in data.attributes].index(name)
    codes = tuple(sorted(data.attributes[at].levels.index(one) for one in levels))
    return CodedCondition(at, 0, 0, codes)


def crossing(data: AuditData) -> CodedCriterion:
    return level(data, "a", "p"), level(data, "b", "u")


def asked(
    data: AuditData, criterion: CodedCriterion, *before: CodedCriterion, notion: Notion = PARITY
) -> Combination | None:
    (found,) = LocalD2(data).jointly([(tuple(sorted(criterion)), before)])
    return None if found is None else assess_together(found, notion)


def test_main_effects_are_no_combination() -> None:
    """Effects of single attributes, and of a number, do not make a combination; one that is there is found."""
    logs = [found.log_p for seed in range(20) if (found := asked(people(seed=seed), crossing(people(seed=seed))))]
    assert len(logs) == 20
    assert sum(log_p <= np.log(0.05) for log_p in logs) <= 4
    data = people(together=0.25)
    found = asked(data, crossing(data))
    assert found is not None
    assert found.log_p < np.log(1e-4)
    assert (found.df, found.drawn) == (1, None)


def test_who_is_asked() -> None:
    """Groups of two and three attributes are tested; single conditions, and what is left of a crossing, are not."""
    data = people(together=0.25)
    age = CodedCondition([one.name for one in data.attributes].index("age"), 10, 40)
    assert asked(data, crossing(data)[:1]) is None
    assert asked(data, (*crossing(data)[:1], age)) is not None
    assert asked(data, (*crossing(data), age)) is not None


def test_groups_before_are_given() -> None:
    """Within the strata of a group that has all of the difference, nothing is left."""
    data = people(4000, together=0.25)
    first = tuple(sorted(crossing(data)))
    wider = (level(data, "a", "p", "q"), level(data, "b", "u"))
    alone, given = asked(data, wider), asked(data, wider, first)
    assert alone is not None
    assert given is not None
    assert alone.log_p < np.log(0.05) < given.log_p


def test_several_rates_are_combined() -> None:
    """Disjoint rates by Fisher's method, others by Bonferroni's."""
    rng = np.random.default_rng(0)
    n = 3000
    columns = {"a": rng.choice(["p", "q"], n), "b": rng.choice(["u", "v"], n), "t": rng.integers(0, 2, n)}
    wrong = rng.random(n) < 0.2 + 0.2 * ((columns["a"] == "p") & (columns["b"] == "u"))
    table = load(columns | {"p": np.where(wrong, 1 - columns["t"], columns["t"])})
    data = prepare(table, Roles(prediction="p", truth="t"), CELLS).data
    odds = asked(data, crossing(data), notion=NOTIONS["equalized odds"])
    assert odds is not None
    assert odds.df == 4
    assert odds.log_p < np.log(1e-3)
    several = Notion("both", (*NOTIONS["equalized odds"].rates[:1], *PARITY.rates), "two rates of the same people")
    both = asked(data, crossing(data), notion=several)
    assert both is not None
    assert both.df == 1


def test_levels_and_bins_are_few() -> None:
    """Numbers have bins that are cut at the group's ends, rare levels go together, and the group is a set of both."""
    data = people()
    age = CodedCondition([one.name for one in data.attributes].index("age"), 11, 37)
    criterion = tuple(sorted((age, level(data, "b", "u"))))
    found = ask(
        criterion, (), data.attributes, lambda k: np.bincount(data.codes[k], minlength=data.attributes[k].size + 1)
    )
    assert found is not None
    (at,) = [i for i, condition in enumerate(criterion) if condition == age]
    _, effects, n = found.columns[at]
    assert n <= 24 + 3
    holds = found.inside[at][effects].astype(bool)
    assert np.flatnonzero(holds).tolist() == list(range(11, 37))


def audit(rho: float = 0.15, **options: object) -> Audit:
    return ald.audit(ald.datasets.make_synthetic(2, n=4000, rho=rho, seed=1), outcome="y", split="random", **options)  # type: ignore[arg-type]


def test_both_claims_share_one_correction() -> None:
    """Findings have the claim and its p-value; all tests of both kinds are corrected together."""
    found = audit()
    told = next(one for one in found.candidates if one.together is not None)
    assert told.together is not None
    assert set(told.together.attributes) == {"race", "gender"}
    assert told.together.listed
    p = [one.p_value for one in found.candidates] + [
        one.together.p_value for one in found.candidates if one.together is not None
    ]
    assert told.together.p_value == min(one or 0.0 for one in p)
    assert told.together.p_adjusted == pytest.approx((told.together.p_value or 0.0) * len(p), rel=1e-6)
    assert found.p_any == pytest.approx(min(one or 0.0 for one in p) * len(p), rel=1e-6)
    said = "race and gender together matter, beyond what each does by itself (p < 0.001); most of all for "
    for text in (str(found), found.to_markdown(), found.to_html()):
        assert said in html.unescape(" ".join(text.replace("\\", "").split()))
    assert "p_together" in found.to_csv().splitlines()[0]
    assert Audit.from_json(found.to_json()) == found


@pytest.mark.parametrize(
    "options", [{"threshold": 0.01}, {"reference": "race = r1"}, {"cluster": "age"}, {"search": "leaves"}]
)
def test_where_it_is_not_tested(options: dict[str, object]) -> None:
    """Only plain groups of the default search have the claim."""
    assert all(one.together is None for one in audit(**options).candidates)
    config = {key: value for key, value in options.items() if key != "cluster"} | {"cluster": options.get("cluster")}
    assert not AuditConfig(outcome="y", notion="statistical parity", **config).combines  # type: ignore[arg-type]


def test_a_combination_by_itself() -> None:
    """Where no group is significant, the combination may be: the finding has its p-value, and the report says so."""
    for seed in range(40):
        data = ald.datasets.make_synthetic(2, n=1500, rho=0.1, seed=seed)
        found = ald.audit(data, outcome="y", split="random", seed=seed)
        alone = [one for one in found.groups if one.is_combination]
        if alone:
            break
    (first, *_) = alone
    assert first.test == SCORE
    assert first.together is not None
    assert first.p_adjusted == first.together.p_adjusted
    assert first.interval[0] is not None
    assert first.interval[1] is not None
    assert first.interval[0] <= 0 <= first.interval[1]
    assert "None of the groups that they form is significant by itself" in " ".join(str(found).split())
    assert Audit.from_json(found.to_json()) == found
