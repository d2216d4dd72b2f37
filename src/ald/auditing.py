"""What users call: an audit, or the test of groups that they name."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ald._core.spelling import either_spelling
from ald.data.columns import as_word
from ald.data.inputs.fingerprint import seen
from ald.data.inputs.memory import parse_size
from ald.data.roles import Roles
from ald.errors import SettingError
from ald.groups.criterion import Criterion
from ald.notions import Notion
from ald.options import AuditConfig, check_threads, several
from ald.pipeline import Progress, run
from ald.profiles import count_profile
from ald.questions import joint_cells
from ald.results.audit import Audit


@either_spelling
def audit(
    data: Any = None,
    *,
    outcome: str | Sequence[str] | None = None,
    favourable: Any = None,
    prediction: str | None = None,
    truth: str | None = None,
    attributes: Sequence[str] | None = None,
    exclude: str | Sequence[str] = (),
    weights: str | None = None,
    survey_weights: str | None = None,
    kinds: Mapping[str, str | Sequence[str]] | None = None,
    given: str | Sequence[str] = (),
    given_in_criteria: bool = False,
    given_bins: int | None = None,
    cluster: str | None = None,
    split: Any = "random",
    fraction: float = 0.5,
    direction: str = "both",
    reference: str | Criterion = "rest",
    groups_of_interest: str | Criterion | Sequence[str | Criterion] = (),
    notion: str | Notion | Sequence[str | Notion] = "statistical parity",
    ranking: str = "confidence",
    groups: int = 3,
    trees: int = 25,
    alpha: float = 0.1,
    level: float = 0.05,
    adjust: str = "bh",
    preset: str | None = None,
    method: str | None = None,
    explore: bool = True,
    threshold: float = 0.0,
    repeats: int = 1,
    seed: int = 0,
    profile: str | None = None,
    profile_columns: Mapping[str, str] | None = None,
    threads: int | None = None,
    memory_limit: str | int | None = None,
    query: str | None = None,
    engine: str | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Locates the groups of people with disparate outcomes.

    data: a path (CSV, TSV, also .gz and .zst, Parquet, JSON lines), a DataFrame of any library that Narwhals knows
        (those of Spark, Dask and databases are counted where they are), a dictionary of arrays, or the address of a
        PostgreSQL database (with `query`).
    outcome, favourable: the column to audit, and the value of it that is good for people. Of 0/1 and true/false it need
        not be said: then 1 and true are counted, and reports do not claim that they are good. Several columns are
        audited together, and `favourable` may then be a dictionary. Or:
    prediction, truth: two columns with the same coding. `favourable`, or else 1 or true, is the positive value of both:
        a false positive is predicted to be that, and is not.
    attributes: the columns that may describe groups; by default all others.
    exclude: columns that are left out.
    weights: a column that says how many people a row stands for (whole numbers: a table of counts).
    survey_weights: a column of survey weights: rates and tests are then those of the population.
    kinds: overrides per column: "numeric", "nominal", "boolean", "ordinal", or the list of levels, lowest first.
    given: legitimate factors. People are compared with others of the same stratum only; numbers are cut into classes
        (`given_bins`). Groups are not described by these columns unless `given_in_criteria` is true.
    cluster: a column that says whom a row is about, where people have several rows. Halves and samples are drawn by
        person, and tests do not take the rows of a person for independent.
    split: "random"; or a column with two values that says which rows are searched (the lower one) and which ones test;
        or two data sets, such as (last_year, this_year), instead of `data`.
    fraction: the share of people (random halves only) on whom groups are searched.
    direction: "disadvantaged" or "advantaged" to look for such groups only, by one-sided tests; needs `favourable`. Of
        several rates each is tested in that direction, and at least one must differ in it.
    reference: compare groups with the "rest" (everyone else), with "all", or with a group in words.
    groups_of_interest: groups in words, such as "sex = F and age > 60": tested on all data, as a family of their own.
    notion: a name from `ald.NOTIONS` or your own `ald.Notion`; several are audited together, with one correction.
    ranking: "confidence" (smallest p first) or "magnitude" (largest |psi| first).
    groups, trees: how many groups to list, and how many trees to grow.
    alpha: a node splits while its best attribute has p < alpha.
    level: a group is listed if its corrected p-value is at most this; intervals have confidence 1 - level.
    adjust: the correction for the number of candidates: "bh", "by", "bonferroni" or "none".
    preset: "paper" for the search of the 2023 paper; None for ours.
    method: another system's search (`ald.baselines.SYSTEMS`): what it proposes on D1 is tested on D2 all the same.
    explore: False tests every leaf of the forest instead of a list without repetition (so always in the paper's
        search).
    threshold: the largest |psi| that is acceptable; groups are listed if theirs is significantly larger.
    repeats: random halvings; with more than one, findings say how many of them list an equivalent group.
    seed: same seed, same result, whatever the number of threads.
    profile: also count what a law asks for: "nyc-ll144" or "eu-ai-act" (docs/profiles.md).
    profile_columns: the columns of the profile's categories, such as {"sex": "gender", "race": "ethnicity"}.
    memory_limit: memory to use, such as "4GB": larger data is reduced to counts first, or kept on disk.
    query: what to select, if `data` is the address of a database: ald.audit("postgresql://...", query="select ...").
    engine: who reads the file and counts: "spark", the address of a Spark master (spark://host:7077), or "dask".
    progress: called with the name of the step and the share of it that is done; from any thread, one call at a time.

    >>> import ald
    >>> found = ald.audit(ald.datasets.load_berkeley(), outcome="admitted", favourable="yes")
    >>> found.groups[0].criterion
    <Criterion department in {A, B}>
    """
    return _audit(**locals(), search=True)


@either_spelling
def assess(
    data: Any,
    groups: str | Criterion | Sequence[str | Criterion],
    *,
    outcome: str | Sequence[str] | None = None,
    favourable: Any = None,
    prediction: str | None = None,
    truth: str | None = None,
    weights: str | None = None,
    survey_weights: str | None = None,
    kinds: Mapping[str, str | Sequence[str]] | None = None,
    given: str | Sequence[str] = (),
    given_bins: int | None = None,
    cluster: str | None = None,
    direction: str = "both",
    reference: str | Criterion = "rest",
    notion: str | Notion | Sequence[str | Notion] = "statistical parity",
    level: float = 0.05,
    adjust: str = "bh",
    threshold: float = 0.0,
    memory_limit: str | int | None = None,
    query: str | None = None,
    engine: str | None = None,
) -> Audit:
    """Tests groups that you name, on all data, without any search. The options are those of `ald.audit`.

    groups: in words, such as ["sex = F and age > 60"]. The result has them as `named`, in the order given.

    >>> import ald
    >>> asked = ald.assess(ald.datasets.load_berkeley(), "gender = female", outcome="admitted", favourable="yes")
    >>> asked.named[0]
    <Finding gender = female: psi -0.142, 1,835 people, adjusted p = 7.8e-22>
    """
    given_options = locals() | {"groups_of_interest": groups, "search": False}
    del given_options["groups"]
    return _audit(**given_options)


def _audit(
    *,
    data: Any,
    search: bool,
    attributes: Sequence[str] | None = None,
    exclude: str | Sequence[str] = (),
    split: Any = "random",
    profile: str | None = None,
    profile_columns: Mapping[str, str] | None = None,
    threads: int | None = None,
    memory_limit: str | int | None = None,
    query: str | None = None,
    engine: str | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Audit:
    """Roles and settings from the options of `audit` and `assess`."""
    check_threads(threads)
    if isinstance(attributes, str):
        raise SettingError(f"attributes must be a list of column names, such as [{attributes!r}], not a text")
    if not isinstance(split, str):
        data, split = _own_data(data, split), "own"
    if engine is not None:
        from ald.remote.engines.opening import opened

        if progress is not None:
            progress("load", 0.0)
        data = tuple(opened(half, engine, query) for half in data) if split == "own" else opened(data, engine, query)
    outcome, favourable = options.pop("outcome"), options.pop("favourable")
    if outcome is not None and not isinstance(outcome, str):
        outcome = tuple(outcome) if isinstance(outcome, Sequence) else outcome
    given = options.pop("given")
    roles = Roles(
        outcome=outcome,
        favourable=favourable,
        attributes=None if attributes is None else tuple(attributes),
        exclude=tuple(dict.fromkeys(several(exclude))),
        given=several(given),
        split=None if split in ("random", "own") else split,
        weights=options.pop("weights"),
        kinds=options.pop("kinds"),
        directed=options["direction"] != "both",
        **{name: options[name] for name in _ROLES if name in options},
    )
    for name in ("reference", "groups_of_interest"):
        if name in options:
            options[name] = _words(options[name])
    config = AuditConfig(
        outcome=outcome,
        favourable=_favourable_words(favourable, several(outcome)),
        given=roles.given,
        split=split,
        search=search,
        **options,
    )
    limit = parse_size(memory_limit)
    if query is not None and not isinstance(query, str):
        raise SettingError(f"query must be a text such as 'select * from decisions', not {type(query).__name__}")
    parts = data if split == "own" else (data,)
    file = None if split == "own" else seen(data)
    counted = count_profile(parts, roles, joint_cells(config), profile, profile_columns, limit, query)
    audited = run(data, roles, config, threads=threads, progress=progress, memory_limit=limit, query=query, file=file)
    return replace(audited, profile=counted)


_ROLES = ("prediction", "truth", "survey_weights", "given_in_criteria", "given_bins", "cluster")


def _own_data(data: Any, halves: Any) -> tuple[Any, Any]:
    if not isinstance(halves, Sequence) or len(halves) != 2:
        raise SettingError(
            'split must be "random", the name of a column, or two data sets (for the search, for the assessment), not '
            f"{type(halves).__name__}"
        )
    if data is not None:
        raise SettingError("give the data, or two data sets as split=(for the search, for the assessment); not both")
    return halves[0], halves[1]


def _words(value: Any) -> Any:
    """Criteria as text: they are read again with the data's columns at hand."""
    if isinstance(value, Criterion):
        return str(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(_words(one) for one in value)
    return value


def _favourable_words(favourable: Any, outcomes: Sequence[str]) -> str | tuple[str | None, ...] | None:
    if isinstance(favourable, Mapping):
        return tuple(_favourable_words(favourable.get(name), ()) for name in outcomes)  # type: ignore[misc]
    return None if favourable is None else as_word(favourable)


# Until the function has a name of its own: the folder `ald.assess`, imported above, took its place in the package.
sys.modules["ald"].assess = assess  # type: ignore[attr-defined]
