"""Watches as documents, and as every format shows them."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

import ald
from ald import InputError, Watch
from tests.watching.test_watching import decisions


@pytest.fixture(scope="module")
def watch() -> Watch:
    return ald.watch(decisions(0.3, n=200), by="month", named_groups=["sex = f", "region = n"], outcome="approved")


@pytest.fixture(scope="module")
def periods() -> Watch:
    data = decisions(0.3, n=200)
    data["month"] = (data["month"] >= "2025-09-01").map({False: "before", True: "after"})
    return ald.watch(data, by="month", every="value", named_groups="sex = f", outcome="approved")


def test_documents_keep_watches(watch: Watch, periods: Watch) -> None:
    """A watch that is read back equals the one that was written, and every format of it is the same."""
    for found in (watch, periods):
        again = Watch.from_json(found.to_json())
        assert again == found
        assert again.to_json() == found.to_json()
        assert again.to_json().isascii()
        assert (str(again), again.to_csv(), again.to_html()) == (str(found), found.to_csv(), found.to_html())


def test_keys(watch: Watch) -> None:
    """The document says its kind; gaps have all windows, and looks all but the first."""
    document = json.loads(watch.to_json())
    assert (document["schema"], document["kind"]) == (1, "watch")
    for one in document["watched"]:
        assert [gap["window"] for gap in one["gaps"]] == document["windows"]
        assert len(one["looks"]) == len(document["windows"]) - 1


def test_what_it_says_of_itself(watch: Watch) -> None:
    """Alarms are those that were raised at any look; its words count them."""
    assert [str(one.criterion) for one in watch.alarms] == ["sex = f"]
    assert "1 alarm of 2 watched gaps in 14 windows" in repr(watch)
    assert (watch.level, watch.warnings) == (0.05, watch.data_summary.warnings)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda d: d.pop("looks"), "it has no `looks`"),
        (lambda d: d["watched"][0]["gaps"].pop(), "does not fit the rest: 'sex = f'"),
        (lambda d: d["watched"][0].update(rate="fpr"), "does not fit the rest"),
        (lambda d: d["watched"][0].update(changed=None), "does not fit the rest"),
        (lambda d: d["watched"][0]["gaps"][0].update(interval=[1, 0]), "does not fit the rest"),
        (lambda d: d["watched"][0]["looks"][0].update(after=99), "does not fit the rest"),
        (lambda d: d["watched"][0]["gaps"][0].update(people=-1), "damaged"),
        (lambda d: d["data"]["outcomes"].clear(), "`outcomes` of `data` are not those"),
        (lambda d: d["watched"][0].update(outcome="wage"), "nothing is known of outcome 'wage'"),
        (lambda d: d.update(kind="comparison"), "not the document of a watch: `kind` is 'comparison'"),
        (lambda d: d.pop("kind"), "not the document of a watch"),
        (lambda d: d.update(schema=2), "not a watch of schema 1"),
    ],
)
def test_damaged_documents(watch: Watch, change: Any, problem: str) -> None:
    """A document that no watch could have written is an error that says what is wrong with it."""
    document = copy.deepcopy(watch.to_dict())
    change(document)
    with pytest.raises(InputError, match=problem):
        Watch.from_json(json.dumps(document))
