"""What users call: an audit, or one that also counts what a law asks for."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, Literal

from ald._core.shortage import shortage_in_words
from ald._core.spelling import either_spelling
from ald.data.columns import as_word
from ald.data.inputs.arrays import place_arrays
from ald.data.inputs.fingerprint import Seen, note_file
from ald.data.inputs.joining import match_rows
from ald.data.inputs.memory import parse_size
from ald.data.inputs.reading import Reading
from ald.data.inputs.sources import load
from ald.data.roles import Roles
from ald.data.table import Table
from ald.errors import SettingError, nearest
from ald.groups.criterion import Criterion
from ald.notions import Notion
from ald.options.config import AuditConfig
from ald.options.objects import Given, Search, Source, SurveyWeights, options_of
from ald.options.table import AUDIT_OPTIONS, READING, SPLITS, several
from ald.pipeline import Progress, run
from ald.profiles import count_profile
from ald.questions import joint_cells
from ald.results.audit import Audit

# What is audited: columns, or values.
ROLES = ("outcome", "prediction", "truth", "score")


@either_spelling
def audit(
    data: Any = None,
    *,
    outcome: Any = None,
    favourable: Any = None,
    prediction: Any = None,
    truth: Any = None,
    score: Any = None,
    notion: str | Notion | Sequence[str | Notion] = "statistical parity",
    attributes: str | Sequence[str] | None = None,
    exclude: str | Sequence[str] = (),
    given: str | Sequence[str] | Given = (),
    reference: str | Criterion = "rest",
    direction: Literal["disadvantaged", "both", "advantaged"] = "both",
    threshold: float = 0.0,
    named_groups: str | Criterion | Sequence[str | Criterion] = (),
    weights: str | SurveyWeights | None = None,
    cluster: str | None = None,
    split: Any = "auto",
    search: Literal["default", "leaves", "paper", "none"] | str | Search = "default",
    groups: int = 3,
    ranking: Literal["confidence", "magnitude"] = "confidence",
    level: float = 0.05,
    adjust: Literal["bh", "by", "bonferroni", "none"] = "bh",
    min_group_size: int = 10,
    seed: int = 0,
    progress: Progress | None = None,
) -> Audit:
    """Locates the groups of people with disparate outcomes.

    data: a path (CSV, TSV, also .gz and .zst, Parquet, JSON lines), a DataFrame of any library that Narwhals knows
        (those of Spark, Dask and databases are counted where they are), a dictionary of arrays, or an `ald.source(...)`
        that says how to read it: a query, an engine, a memory limit, threads, kinds of columns.
    outcome, favourable: the column to audit, and its value that is good for people. With 0/1 and true/false you may
        leave it out: 1 and true are then counted, and reports do not claim that they are good. Several columns are
        audited together, and `favourable` may then be a dictionary. Or:
    prediction, truth: two columns with the same coding. `favourable`, or else 1 or true, is the positive value of both:
        a false positive is someone who was predicted to have it, but does not. Outcome, prediction and truth may be
        values, too, one per row of a DataFrame or dictionary; texts that are all names of columns name columns.
    score: a column of a model's scores. With a truth they are probabilities, and the notion is "calibration" (whether
        they are too high or too low on average), "Brier score", "log loss" or "mean score"; without one, their mean.
    notion: a name from `ald.NOTIONS` or your own `ald.Notion`; several are audited together, with one correction.
    attributes: the columns that may describe groups; by default all others.
    exclude: columns that are left out.
    given: legitimate factors. People are compared only with others who share them. Numbers are cut into classes, and
        groups are not described by these columns; `ald.Given(columns, bins=5, in_criteria=True)` changes both.
    reference: compare groups with the "rest" (everyone else), with "all", or with a group that you name.
    direction: "disadvantaged" or "advantaged" to look only for such groups, with one-sided tests; needs `favourable`.
        With several rates, each is tested in that direction, and at least one must differ in it.
    threshold: the largest acceptable |psi|; a group is listed if its own is significantly larger.
    named_groups: groups in words, such as "sex = F and age > 60": tested on all data, as a family of their own.
    weights: a column with the number of people that a row stands for (whole numbers: a table of counts), or
        `ald.SurveyWeights(column)`: rates and tests then describe the population.
    cluster: a column that identifies the person, where people have several rows. Halves and samples are drawn by
        person, and tests do not treat the rows of one person as independent.
    split: "none" searches and tests everyone, and compares what it finds with what it finds in shuffled outcomes;
        "random" searches one half of the people and tests on the other; "auto" is "none" with up to 200,000 people
        times attributes, and "random" with more, or where another option needs halves;
        `ald.Split(fraction=0.3, repeats=20)` for other random halves, or many; a column with two values that says which
        rows are searched (the lower one) and which ones test; or two data sets, such as (last_year, this_year), instead
        of `data`.
    search: "default"; "leaves" tests every leaf of the forest instead of a few distinct groups; "paper" is the search
        of the 2023 paper, which also tests every leaf; "none" tests only `named_groups`; or the name of another system
        (docs/baselines.md). `ald.Search("paper", trees=25, alpha=0.1)` says how many trees to grow, and how deep.
    groups: how many groups to list at most.
    ranking: "confidence" (smallest p first) or "magnitude" (largest |psi| first).
    level: a group is listed if its corrected p-value is at most this; intervals have confidence 1 - level.
    adjust: the correction for the number of candidates: "bh", "by", "bonferroni" or "none".
    min_group_size: groups, levels, strata and nodes of trees with fewer people in them or outside them are not shown,
        and named groups of fewer are refused; 1 shows all. It is no disclosure control (docs/privacy.md).
    seed: same seed, same result, whatever the number of threads.
    progress: called with the name of the step and how much of it is done; from any thread, one call at a time.

    >>> import ald
    >>> found = ald.audit(ald.datasets.load_berkeley(), outcome="admitted", favourable="yes")
    >>> found.groups[0].criterion
    <Criterion department in {A, B}>
    """
    return audit_with(options_of(locals()))


@either_spelling
def profile(name: str, data: Any = None, *, columns: Mapping[str, str] | None = None, **options: Any) -> Audit:
    """An audit that also counts what a law asks for, on everyone in the data: its `profile` (docs/profiles.md).

    name: "nyc-ll144", "eu-ai-act" or "adverse-impact".
    columns: the columns of the profile's categories, such as {"sex": "gender", "race": "ethnicity"}.
    All other options are those of `ald.audit`.

    >>> import ald
    >>> audit = ald.profile("nyc-ll144", ald.datasets.load_berkeley(), columns={"sex": "gender"}, outcome="admitted",
    ...                     favourable="yes")
    >>> [category.names for category in audit.profile.table("sex").categories]
    [('female',), ('male',)]
    """
    known = [parameter for parameter in signature(audit).parameters if parameter != "data"]
    for option in options:
        if option not in known:
            raise SettingError(f"ald.profile has no option {option!r}. {nearest(option, ('columns', *known))}")
    return audit_with(options_of({"data": data, **options}), profile=name, columns=columns)


@shortage_in_words()
def audit_with(
    options: Mapping[str, Any], *, profile: str | None = None, columns: Mapping[str, str] | None = None
) -> Audit:
    """The audit that options ask for, by their keys in the table; those that are missing have their defaults.

    profile, columns: what to count for a law besides.
    """
    asked = read_request(options)
    parts, own = asked.parts, asked.config.split == "own"
    counted = None
    if profile is not None:
        cells = joint_cells(asked.config)
        counted = count_profile(parts, asked.roles, cells, profile, columns, asked.memory_limit, asked.source.query,
                                asked.config.min_group_size)  # fmt: skip
    audited = run(
        parts if own else parts[0],
        asked.roles,
        asked.config,
        threads=asked.source.threads,
        progress=options.get("progress"),
        memory_limit=asked.memory_limit,
        query=asked.source.query,
        file=asked.file,
    )
    files = [each for each in map(note_file, parts) if each is not None]
    name = " and ".join(os.path.basename(each.path) for each in files) if len(files) == len(parts) else None
    return replace(audited, profile=counted, input_name=name)


@dataclass(frozen=True, kw_only=True, eq=False)
class Request:
    """What options ask for: one or two data sets as they came from their source, roles of columns, and settings.

    file: the data as it was before anything read it, if it is one file.
    """

    parts: tuple[Any, ...]
    roles: Roles
    config: AuditConfig
    source: Source
    memory_limit: int | None
    file: Seen | None = None


def read_request(options: Mapping[str, Any]) -> Request:
    """What options ask for, by their keys in the table; those that are missing have their defaults."""
    chosen = {key: option.default for key, option in AUDIT_OPTIONS.items()} | dict(options)
    chosen |= {name: _words(chosen[name]) for name in ("reference", "named_groups")}
    for key, value in chosen.items():
        if key not in (*ROLES, "split"):  # these may be values, or data
            AUDIT_OPTIONS[key].check_form(value)
    source, split = _source(chosen)
    parts = source.data if split == "own" else (source.data,)
    limit = parse_size(source.memory_limit)
    file = None if split == "own" else note_file(parts[0])
    if source.engine is not None:
        from ald.remote.engines.opening import open_with

        if chosen["progress"] is not None:
            chosen["progress"]("load", 0.0)
        parts = tuple(open_with(part, source.engine, source.query) for part in parts)
    columns_of = {role: chosen[role] for role in ROLES}
    parts, columns_of = place_arrays(parts, columns_of)
    if source.attributes_from is not None:
        parts = tuple(_with_attributes(part, source, chosen["cluster"]) for part in parts)
    roles = Roles(
        **columns_of,
        favourable=chosen["favourable"],
        attributes=None if chosen["attributes"] is None else several(chosen["attributes"]),
        exclude=tuple(dict.fromkeys(several(chosen["exclude"]))),
        weights=chosen["weights"],
        survey_weights=chosen["survey_weights"],
        kinds=source.kinds,
        given=several(chosen["given"]),
        given_in_criteria=chosen["given_in_criteria"],
        given_bins=chosen["given_bins"],
        cluster=chosen["cluster"],
        split=None if split in (*SPLITS, "own") else split,
        directed=chosen["direction"] != "both",
    )
    settings = {key: chosen[key] for key, option in AUDIT_OPTIONS.items() if option.in_document}
    settings |= columns_of | {
        "favourable": _favourable_words(chosen["favourable"], several(columns_of["outcome"])),
        "given": roles.given,
        "split": split,
    }
    config = AuditConfig(**settings)
    return Request(parts=parts, roles=roles, config=config, source=source, memory_limit=limit, file=file)


def _with_attributes(data: Any, source: Source, cluster: str | None) -> Table:
    """The data with the columns of the second table."""
    assert source.on is not None
    kinds = source.kinds or {}
    reading = Reading(query=source.query)
    table, beside = load(data, None, reading, kinds), load(source.attributes_from, kinds=kinds)
    return match_rows(table, beside, source.on, keep=source.on == cluster)


def _source(options: Mapping[str, Any]) -> tuple[Source, str]:
    """The data with how to read it, and how it is split; "own" if the data is two data sets."""
    data, split = options["data"], options["split"]
    if isinstance(split, str):
        if isinstance(data, Source):
            return data, split
        return Source(data=data, **{name: options[name] for name in READING}), split
    if not isinstance(split, Sequence) or len(split) != 2:
        raise SettingError(
            'split must be "auto", "none", "random", ald.Split(...), the name of a column, or two data sets (for the '
            f"search, for the assessment), not {type(split).__name__}"
        )
    if data is not None:
        raise SettingError("give the data, or two data sets as split=(for the search, for the assessment); not both")
    first, second = (
        half if isinstance(half, Source) else Source(data=half, **{name: options[name] for name in READING})
        for half in split
    )
    for name in READING:
        if getattr(first, name) != getattr(second, name):
            raise SettingError(
                f"two data sets are read in the same way: {name} is {getattr(first, name)!r} for the search and "
                f"{getattr(second, name)!r} for the assessment"
            )
    return replace(first, data=(first.data, second.data)), "own"


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
