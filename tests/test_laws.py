"""Laws: how an audit changes when its data is told otherwise. Few examples here, more in `make torture`."""

from __future__ import annotations

import itertools
import json
import os
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import ald
from ald.report.code import to_sql
from ald.results.audit import Audit
from tests import second_opinion as plain

EXAMPLES = int(os.environ.get("ALD_LAWS", "5"))
law = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
seeds = st.integers(0, 10**6)


def table(seed: int) -> pd.DataFrame:
    """People with levels, numbers, missing values and odd names, an outcome, and halves that are given."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(200, 700))
    frame = pd.DataFrame(
        {
            "job": rng.choice(["clerk", "nurse", "o'neil", 'say "x"', "a, b"], n).astype(object),
            "age": rng.integers(18, 80, n).astype(float),
            "sex": rng.choice(["f", "m"], n).astype(object),
            "the score": np.round(rng.normal(size=n), 2),
        }
    )
    frame.loc[rng.random(n) < 0.03, "job"] = None
    frame.loc[rng.random(n) < 0.03, "age"] = np.nan
    high = (frame.job == "clerk") & (frame.age > rng.integers(30, 60))
    frame["y"] = (rng.random(n) < np.where(high, 0.7, 0.35)).astype(int)
    frame["half"] = 1 + np.arange(n) % 2
    return frame


def audited(frame: Any, **options: Any) -> Audit:
    chosen: dict[str, Any] = {"outcome": "y", "favourable": 1, "split": "half", "search": ald.Search(trees=3)}
    return ald.audit(frame, **{**chosen, "min_group_size": 1, "groups": 5, **options})


NAMED = ("age > 40", "job = clerk and sex = f")


def numbers(audit: Audit) -> list[tuple[Any, ...]]:
    """What does not hang on draws, which come from the content of rows: named groups and levels, without words."""
    found = [(one.size, one.psi, one.log10_p_adjusted, one.interval) for one in audit.named_groups]
    gaps = [(gap.size, gap.psi, gap.log10_p_adjusted) for gap in audit.gaps.rows if gap.psi is not None]
    return [*found, *sorted(gaps)]


def strongest(frame: pd.DataFrame, **options: Any) -> tuple[Any, ...]:
    """The first group and its statistic, searched among all people."""
    found = audited(frame.drop(columns="half"), split="none", search="default", groups=1, **options)
    groups = [one for one in found.candidates if one.shuffled is not None and one.shuffled.claim != "combination"]
    first = max(groups, key=lambda one: one.statistic or 0.0)
    return first.size, first.statistic, None if first.psi is None else abs(first.psi)


@law
@given(seeds)
@pytest.mark.parametrize("split", ["random", "half"])
def test_the_order_of_rows_does_not_matter(split: str, seed: int) -> None:
    """Permuted rows give the same document, for halves that are drawn, too."""
    frame = table(seed)
    mixed = frame.sample(frac=1.0, random_state=seed)
    options = {"split": split} if split == "half" else {"split": split, "exclude": "half"}
    assert audited(frame, **options).to_json() == audited(mixed, **options).to_json()


@law
@given(seeds)
def test_the_order_of_columns_matters_for_ties_only(seed: int) -> None:
    """With permuted columns the tested statistics of the same groups are the same."""
    frame = table(seed)
    other = frame[list(reversed(frame.columns))]
    first, second = audited(frame, search="leaves"), audited(other, search="leaves")
    known = {str(one.criterion): one for one in first.candidates}
    for one in second.candidates:
        if str(one.criterion) in known:
            same = known[str(one.criterion)]
            assert (one.size, one.psi, one.log10_p) == (same.size, same.psi, same.log10_p)
    assert {str(gap.criterion): gap.psi for gap in first.gaps.rows} == {
        str(gap.criterion): gap.psi for gap in second.gaps.rows
    }


@law
@given(seeds)
def test_names_do_not_matter(seed: int) -> None:
    """Renamed columns and levels, in the same order of names, give the same numbers."""
    frame = table(seed)
    other = frame.rename(columns={name: f"z {name}" for name in ("age", "job", "sex", "the score")})
    words = {word: f"L{i} {word}" for i, word in enumerate(sorted(frame.job.dropna().unique()))}
    other["z job"] = other["z job"].map(words)
    renamed = ('"z age" > 40', f'"z job" = "{words["clerk"]}" and "z sex" = f')
    assert numbers(audited(frame, named_groups=NAMED)) == numbers(audited(other, named_groups=renamed))
    assert strongest(frame) == strongest(other)


@law
@given(seeds)
def test_rows_may_be_counts(seed: int) -> None:
    """People as repeated rows, and as counts of different rows, give the same document."""
    frame = table(seed)[["job", "sex", "y", "half"]]
    counted = frame.groupby(list(frame.columns), dropna=False).size().reset_index(name="n")
    one, other = audited(frame).to_dict(), audited(counted, weights="n").to_dict()
    for told in (one, other):
        told["data"].pop("warnings")  # of copies of rows, which counts are not
    assert json.dumps(one) == json.dumps(other)


@law
@given(seeds)
def test_the_other_outcome_turns_the_sign(seed: int) -> None:
    """With the other value as the favourable one psi has the other sign, and p-values and the first group stay.

    Of named groups and levels, and of the group that is the strongest of all people.
    """
    frame = table(seed)
    first, second = (audited(frame, favourable=value, named_groups=NAMED) for value in (1, 0))
    ours, theirs = (numbers(found) for found in (first, second))
    turned = [*((size, -psi, p) for size, psi, p, _ in theirs[:2]), *sorted((n, -psi, p) for n, psi, p in theirs[2:])]
    # p is written as a logarithm, which of 1 has digits of its own.
    for told, same in zip([row[:3] for row in ours], turned, strict=True):
        assert told == pytest.approx(same, rel=1e-12, abs=1e-12)
    assert strongest(frame) == pytest.approx(strongest(frame, favourable=0), rel=1e-12)


@law
@given(seeds)
def test_units_of_numbers_do_not_matter(seed: int) -> None:
    """A monotone transform of a number moves the bounds and nothing else."""
    frame = table(seed)
    other = frame.assign(age=frame.age**3 / 100 - 7)
    named = (f"age > {40**3 / 100 - 7}", NAMED[1])
    assert numbers(audited(frame, named_groups=NAMED)) == numbers(audited(other, named_groups=named))
    assert strongest(frame) == strongest(other)


@law
@given(seeds)
def test_every_number_is_counted(seed: int) -> None:
    """Sizes and counts of every finding are those of a loop over the people."""
    frame = table(seed)
    kept = frame[frame.half == 2]
    people: list[plain.Person] = [
        {key: None if value is None or value != value else value for key, value in row.items()}
        for row in kept.to_dict("records")
    ]
    for one in audited(frame, search="leaves").candidates:
        inside = [person for person in people if plain.is_member(person, one.criterion.to_list())]
        assert (one.size, one.counts_inside["positive"]) == (len(inside), sum(person["y"] for person in inside))
        assert one.size + sum(one.counts_outside.values()) == len(people)


@law
@given(seeds)
def test_masks_pandas_and_sql_choose_the_same_rows(seed: int) -> None:
    """The criterion's mask, the pandas filter and the WHERE clause of a report have the same members."""
    frame = table(seed)
    audit = audited(frame)
    shown = {card.criterion: card for card in audit.report().cards}
    for one in audit.candidates:
        mask = one.criterion.mask(frame)
        clause = to_sql(one.criterion)
        assert clause is not None
        assert duckdb.sql(f"SELECT count(*) FROM frame {clause}").fetchall() == [(int(mask.sum()),)]
    for card in shown.values():
        assert len(eval(card.pandas, {"df": frame})) == int(card.finding.criterion.mask(frame).sum())


@settings(law, max_examples=max(1, EXAMPLES // 5))
@given(seeds)
def test_partitions_do_not_matter(seed: int) -> None:
    """Rows in any partitions of Dask, in any order, give the document of the same rows in memory."""
    dask = pytest.importorskip("dask")
    dd = pytest.importorskip("dask.dataframe")
    frame, rng = table(seed), np.random.default_rng(seed)
    mixed = frame.sample(frac=1.0, random_state=seed)
    cuts = np.sort(rng.integers(0, len(frame) + 1, rng.integers(0, 7)))
    parts = [mixed.iloc[a:b] for a, b in itertools.pairwise([0, *cuts.tolist(), len(frame)])]
    there = dd.from_map(lambda i: parts[i], range(len(parts)), meta=mixed.iloc[:0])
    with dask.config.set(scheduler="synchronous"):
        assert audited(there).to_json() == audited(frame).to_json()


@law
@given(seed=seeds)
def test_row_groups_do_not_matter(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    """Rows in any row groups of a Parquet file, which DuckDB reads side by side, give the same document."""
    frame, path = table(seed), tmp_path_factory.mktemp("parts") / "a.parquet"
    frame.to_parquet(path, index=False, row_group_size=1 + seed % 300)
    read, held = (audited(data).to_dict() for data in (path, frame))
    assert json.dumps(read) == json.dumps(held)


@law
@given(seeds)
def test_what_is_read_again_is_the_same(seed: int) -> None:
    """A document and what it says when it is read are the same, and so are its reports."""
    audit = audited(table(seed))
    again = Audit.from_json(audit.to_json())
    assert again == audit
    assert again.report(date="2026-11-30").document == audit.report(date="2026-11-30").document
