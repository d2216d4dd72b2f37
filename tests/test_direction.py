"""Who fares worse or better: only where somebody said which value is good for people."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import openpyxl
import pytest

import ald
from ald import NOTIONS, Audit, SettingError
from ald.options import AuditConfig
from ald.report.summary.sentences import magnitude, state
from tests.flat import audit_flat
from tests.report.test_pdf import needs_pdftotext, text_of
from tests.tables import decisions, people, public_data

# What claims that some value, rate or group is good or bad.
CLAIMS = re.compile(r"\b(favourable|unfavourable|better|worse|\w*advantage\w*|favou?rs|good outcome)\b", re.IGNORECASE)
# Where it is denied that anybody said so.
DENIED = "Whether a positive value is good for people was not said."


def plain(page: str) -> str:
    return html.unescape(re.sub("<style>.*?</style>|<script.*?</script>|<[^>]*>", " ", page, flags=re.DOTALL))


def labels(page: str) -> str:
    """Descriptions of pictures and other labels, which nobody sees."""
    return " ".join(re.findall(r'(?:aria-label|title|alt)="([^"]*)"', page))


FORMATS: dict[str, Callable[[Audit], str]] = {
    "text": str,
    "markdown": Audit.to_markdown,
    "html": lambda audit: f"{plain(audit.to_html())} {labels(audit.to_html())}",
    "notebook": lambda audit: f"{plain(audit._repr_html_())} {plain(audit.groups[0]._repr_html_() or '')}",
    "csv": Audit.to_csv,
    "excel": lambda audit: " ".join(
        str(cell.value)
        for sheet in openpyxl.load_workbook(io.BytesIO(audit.to_excel()))
        for row in sheet.iter_rows()
        for cell in row
    ),
}


@cache
def unsaid(kind: str) -> Audit:
    """Audits in which nobody said what is good for people."""
    options: dict[str, Any] = {"trees": 3, "profile": "eu-ai-act"}
    if kind == "outcome":
        return audit_flat(people(2000), outcome="y", **options)
    if kind == "outcomes":
        return audit_flat(people(2000), outcome=["y", "member"], **options)
    names = ["predictive parity", "equalized odds", "statistical parity", "accuracy"]
    return audit_flat(decisions(3000), prediction="predicted", truth="true", notion=names, groups=8, **options)


@pytest.mark.parametrize("kind", ["outcome", "outcomes", "predictions"])
@pytest.mark.parametrize("name", FORMATS)
def test_nothing_is_called_good_or_bad(kind: str, name: str) -> None:
    """Where nobody said what is favourable, no report claims that anything is good or bad, for 0/1 as for words."""
    audit = unsaid(kind)
    assert audit.groups
    shown = " ".join(FORMATS[name](audit).split())
    assert CLAIMS.findall(shown.replace("\\", "")) == []
    assert (DENIED in shown) == (name not in ("notebook", "csv"))


@needs_pdftotext
@pytest.mark.parametrize("kind", ["outcome", "predictions"])
def test_no_document_calls_anything_good_or_bad(kind: str) -> None:
    """Nor does the PDF document."""
    # Without the spaces between words.
    assert re.findall("favour|better|worse|advantage", text_of(unsaid(kind).to_pdf()), re.IGNORECASE) == []


def test_what_is_said_to_be_favourable_is_called_so() -> None:
    """The value that counts is named; it is called favourable only if somebody said that."""
    columns = people(2000)
    audits = [audit_flat(columns, outcome="y", trees=3, **options) for options in ({}, {"favourable": 1})]
    for audit in audits:
        assert state(audit.groups[0], audit).startswith("People with age at most 44 had y = 1 in 36.8% of cases")
    assert DENIED in " ".join(str(audits[0]).split())
    assert DENIED not in " ".join(str(audits[1]).split())
    several = ald.audit(
        columns, outcome=["y", "member"], favourable={"member": True}, search=ald.Search(trees=3), groups=8
    )
    assert several.config.favourable == (None, "True")
    assert "Outcomes: y, positive value: 1; member, favourable value: True. Whether a positive" in " ".join(
        str(several).split()
    )


@pytest.mark.parametrize("direction", ["disadvantaged", "advantaged"])
@pytest.mark.parametrize(
    ("data", "roles", "choices"),
    [
        (
            people(400), {"outcome": "y"},
            r"outcome 'y' is good for people\. It has '0', '1'\. Say favourable='0' or favourable='1' \(command line: "
            r"--favourable '0' or --favourable '1'\)",
        ),
        (people(400), {"outcome": "member"}, "outcome 'member' .* favourable='False' or favourable='True'"),
        (
            people(400), {"outcome": ["y", "member"], "favourable": {"y": 0}},
            r"outcome 'member' .* favourable=\{'member': 'False', \.\.\.\} or .*--favourable 'member=True'",
        ),
        (decisions(400), {"prediction": "predicted", "truth": "true"}, "prediction 'predicted' .* favourable='0' or"),
        (
            people(400) | {"y": ["no", "yes"] * 200}, {"outcome": "y"},
            "which value of outcome 'y' is the favourable one.* favourable='no' or favourable='yes'",
        ),
    ],
)  # fmt: skip
def test_a_direction_needs_to_know_what_is_good(data: Any, roles: dict[str, Any], choices: str, direction: str) -> None:
    """A direction without `favourable` is refused, with the values that the data has as choices."""
    for ask in (
        lambda **options: audit_flat(data, trees=1, **options),
        lambda **options: audit_flat(data, search="none", named_groups=next(iter(data)) + " != missing", **options),
    ):
        with pytest.raises(ald.AldError, match=choices):
            ask(direction=direction, **roles)


def test_a_direction_with_data_elsewhere_needs_it_too() -> None:
    """Data that stays with an engine is treated no differently."""
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    from ald.data.inputs.reading import Reading

    frame = dd.from_pandas(pd.DataFrame(people(3000)), npartitions=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Reading, "most_distinct", 100)
        with pytest.raises(SettingError, match=r"favourable='0' or favourable='1'"):
            ald.audit(frame, outcome="y", direction="advantaged", search=ald.Search(trees=2))


def scored(n: int = 6000) -> dict[str, Any]:
    """A score like that of COMPAS: to be called risky is bad, and group a is wrongly called so more often.

    Of group c errors are rarer in both ways.
    """
    rng = np.random.default_rng(4)
    group = rng.choice(["a", "b", "c"], n)
    truth = rng.random(n) < 0.45
    wrongly_risky = np.select([group == "a", group == "b"], [0.45, 0.25], 0.1)
    wrongly_safe = np.select([group == "a", group == "b"], [0.25, 0.45], 0.1)
    risky = np.where(truth, rng.random(n) >= wrongly_safe, rng.random(n) < wrongly_risky)
    words = np.array(["safe", "risky"])
    return {"group": group, "score": words[risky.astype(int)], "offended": words[truth.astype(int)]}


SCORED: dict[str, Any] = {"prediction": "score", "truth": "offended", "trees": 5}


@pytest.mark.parametrize("notion", ["equalized odds", "statistical parity", "equal opportunity", "false negative rate"])
def test_who_is_wrongly_called_risky_is_disadvantaged(notion: str) -> None:
    """With favourable="safe", those wrongly called risky are disadvantaged, b less so if at all."""
    worse, better = (
        [str(found.criterion) for found in audit_flat(scored(), favourable="safe", direction=direction, notion=notion,
                                                     **SCORED).groups]
        for direction in ("disadvantaged", "advantaged")
    )  # fmt: skip
    assert "group = a" in worse
    assert "group = a" not in better
    assert worse[0] != "group = b"


def test_errors_are_those_of_the_favourable_value() -> None:
    """Positive is favourable: calling the other value favourable swaps the error rates, and nothing else."""
    columns = scored()
    safe, risky = (
        ald.audit(
            columns,
            search="none",
            named_groups="group = a",
            favourable=value,
            prediction="score",
            truth="offended",
            notion="equalized odds",
        )
        for value in ("safe", "risky")
    )
    (of_safe,), (of_risky,) = safe.named_groups, risky.named_groups
    assert of_safe.parts["fpr"] == of_risky.parts["fnr"]
    assert of_safe.parts["fnr"] == of_risky.parts["fpr"] > 0.1
    assert (of_safe.psi, of_safe.p_value) == (pytest.approx(of_risky.psi), pytest.approx(of_risky.p_value))
    told = " ".join(str(safe).split())
    assert "favourable value: safe. A false positive has score = safe and offended = risky, a false negative score = " \
        "risky and offended = safe." in told  # fmt: skip


@pytest.mark.parametrize("notion", NOTIONS)
def test_signs_of_notions(notion: str) -> None:
    """A group with all that its people may wish for is advantaged by every rate's sign, and by none disadvantaged."""
    # Positive is favourable. Of the favoured group all who deserve it and many who do not are called positive.
    counts = {"favoured": {"tn": 40, "fp": 60, "fn": 5, "tp": 95}, "rest": {"tn": 80, "fp": 20, "fn": 60, "tp": 40}}
    rates = {
        side: {
            "selection": (c["tp"] + c["fp"]) / 200, "fpr": c["fp"] / 100, "fnr": c["fn"] / 100, "tpr": c["tp"] / 100,
            "precision": c["tp"] / (c["tp"] + c["fp"]), "for": c["fn"] / (c["fn"] + c["tn"]),
            "accuracy": (c["tp"] + c["tn"]) / 200,
        }
        for side, c in counts.items()
    }  # fmt: skip
    for rate in NOTIONS[notion].rates:
        difference = rates["favoured"][rate.key] - rates["rest"][rate.key]
        assert (difference > 0) == (rate.better == "higher")


def test_of_several_rates_one_at_least_must_be_worse() -> None:
    """Group c errs less both ways; a has one rate better and one worse: reports say which is which."""
    audit = audit_flat(scored(), favourable="risky", direction="disadvantaged", notion="equalized odds", **SCORED)
    for found in (*audit.groups, *audit.further()):
        assert found.parts["fpr"] < 0 or found.parts["fnr"] > 0
    mixed = ald.audit(
        scored(),
        search="none",
        named_groups=["group = c", "group = a"],
        favourable="risky",
        direction="disadvantaged",
        notion="equalized odds",
        prediction="score",
        truth="offended",
        reference="group = b",
    )
    both, favoured = mixed.named_groups
    assert both.parts["fpr"] < 0 > both.parts["fnr"]
    # One worse rate and one better: significant, and said.
    assert both.p_adjusted < 0.001
    told = magnitude(both, mixed)
    assert "The false positive rate is worse for them and the false negative rate is worse for the others." in told
    assert favoured.parts["fpr"] > 0 > favoured.parts["fnr"]
    assert favoured.p_value == 1.0


def test_what_a_direction_means_is_said() -> None:
    """Reports of a direction say what is good for people, which rates are worse then, and how several are combined."""
    text = " ".join(
        str(
            audit_flat(scored(), favourable="safe", direction="disadvantaged", notion="equalized odds", **SCORED)
        ).split()
    )
    assert (
        "Only groups that are disadvantaged count: tests are one-sided. Good for people is score = safe, so that a "
        "lower false positive rate and a higher false negative rate are worse. Of several rates each is tested for "
        "being worse, and the tests are combined: a group may fare better by one rate, but not by every one."
    ) in text
    text = " ".join(
        str(
            ald.audit(people(900), outcome="y", favourable=0, direction="advantaged", search=ald.Search(trees=2))
        ).split()
    )
    assert "Good for people is y = 0, so that a higher selection rate is better." in text
    assert "Of several rates" not in text


def test_compas() -> None:
    """COMPAS without `favourable` is refused a direction; with low risk as favourable, African-Americans are listed."""
    options: dict[str, Any] = {
        "prediction": "predicted_high_risk", "truth": "reoffended", "attributes": ["race"], "notion": "equalized odds",
        "direction": "disadvantaged",
    }  # fmt: skip
    data = public_data("compas.csv")
    with pytest.raises(SettingError, match="favourable='0' or favourable='1'"):
        audit_flat(data, **options)
    for seed in range(3):
        groups = audit_flat(data, favourable=0, seed=seed, **options).groups
        (race,) = groups[0].criterion
        assert isinstance(race, ald.Levels)
        assert set(race.levels) in ({"African-American"}, {"African-American", "Native American"})
        assert all(found.parts["fpr"] < 0 or found.parts["fnr"] > 0 for found in groups)


def test_settings_of_favourable_values() -> None:
    """A value for each of several outcomes; of a prediction and its truth there is one."""
    config = AuditConfig(notion="statistical parity", outcome=("x", "y"), favourable=(None, "1"))
    assert (config.favourable_of("x"), config.favourable_of("y")) == (None, "1")
    assert AuditConfig(notion="statistical parity", outcome="x", favourable=("1",)).favourable == "1"
    assert AuditConfig(notion="statistical parity", outcome=("x", "y"), favourable="1").favourable_of("y") == "1"
    with pytest.raises(SettingError, match="for a prediction and truth, give one value"):
        ald.audit(decisions(), prediction="predicted", truth="true", favourable={"predicted": 1})
