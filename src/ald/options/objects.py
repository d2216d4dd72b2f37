"""Objects for the parameters of `ald.audit` that take more than one word: later options join these objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from ald.errors import SettingError
from ald.options.table import AUDIT_OPTIONS, OPTIONS


@dataclass(frozen=True)
class Search:
    """How groups are searched.

    name: "default"; "leaves" tests every leaf of the forest instead of a few distinct groups; "paper" is the search of
        the 2023 paper, which also tests every leaf; "none" tests only the named groups; or another system of
        docs/baselines.md, whose groups are tested like any others.
    trees: how many trees to grow.
    alpha: a node splits while its best attribute has p < alpha.
    """

    name: str = "default"
    _: KW_ONLY
    trees: int = 25
    alpha: float = 0.1


@dataclass(frozen=True)
class Split:
    """Random halves. fraction: the share of the people used for the search.

    repeats: the number of random splits; with more than one, findings say in how many of them they were found.
    """

    _: KW_ONLY
    fraction: float = 0.5
    repeats: int = 1


@dataclass(frozen=True)
class Given:
    """Legitimate factors. bins: the number of classes that numbers are cut into; None lets the data decide.

    in_criteria: whether they may describe groups, too.
    """

    columns: str | Sequence[str]
    _: KW_ONLY
    bins: int | None = None
    in_criteria: bool = False


@dataclass(frozen=True)
class SurveyWeights:
    """A column of survey weights; counts: another column with the number of such people that a row stands for."""

    column: str
    _: KW_ONLY
    counts: str | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Source:
    """Data, and how to read it; `ald.source` makes one."""

    data: Any
    query: str | None = None
    engine: str | None = None
    memory_limit: str | int | None = None
    threads: int | None = None
    kinds: Mapping[str, str | Sequence[str]] | None = None
    attributes_from: Any = None
    on: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.data, Source):
            raise SettingError("the data is already a source: say everything about it in one ald.source(...)")
        if self.query is not None and not isinstance(self.query, str):
            raise SettingError(
                f"query must be a text such as 'select * from decisions', not {type(self.query).__name__}"  # noqa: S608
            )
        if (self.attributes_from is None) != (self.on is None):
            raise SettingError("attributes_from and on go together: a second table, and the column that both share")
        for key in ("engine", "threads", "kinds"):
            AUDIT_OPTIONS[key].check_form(getattr(self, key))


def source(
    data: Any,
    *,
    query: str | None = None,
    engine: str | None = None,
    memory_limit: str | int | None = None,
    threads: int | None = None,
    kinds: Mapping[str, str | Sequence[str]] | None = None,
    attributes_from: Any = None,
    on: str | None = None,
) -> Source:
    """Data, and how to read it, for `ald.audit`, `ald.profile`, `ald.compare` and `ald.look`.

    data: whatever `ald.audit` takes.
    query: SQL to run, if `data` is a SQLite file or the address of a database: ald.source("postgresql://...",
        query="select ..."). With an Excel file it is the name of the sheet.
    engine: what reads and counts a file: "spark", the address of a Spark master (spark://host:7077), or "dask".
    memory_limit: memory to use, such as "4GB". Larger data is first reduced to counts, or kept on disk.
    threads: how many to use; the result is the same with any number.
    kinds: the kinds of columns: "numeric", "nominal", "boolean", "ordinal", or a list of levels, lowest first.
    attributes_from, on: a second table with further attributes, and the column by which its rows are matched with those
        of the data; of audits only.

    >>> import ald
    >>> columns = ald.source({"size": ["S", "L", "M"]}, kinds={"size": ["S", "M", "L"]})
    >>> columns.kinds["size"]
    ['S', 'M', 'L']
    """
    return Source(**locals())


_OBJECTS: dict[str, type] = {"search": Search, "split": Split, "given": Given, "weights": SurveyWeights}


def class_of(parameter: str) -> str:
    """The name of the object that a parameter takes where it takes more than one word."""
    return _OBJECTS[parameter].__name__


def options_of(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The options that parameters of `ald.audit` carry: what an object holds becomes several, by key.

    >>> options_of({"search": Search("paper", trees=5), "seed": 1})
    {'search': 'paper', 'trees': 5, 'alpha': 0.1, 'seed': 1}
    """
    found: dict[str, Any] = {}
    for name, value in parameters.items():
        if name in _OBJECTS and isinstance(value, _OBJECTS[name]):
            for option in OPTIONS:
                if option.parameter == name:
                    found[option.key] = getattr(value, option.attribute) if option.attribute else option.default
        else:
            found[name] = value
    return found
