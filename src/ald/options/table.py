"""The one table of options.

The command line, the keys of config files, the settings in reports and in the JSON document, and the checks of choices
and bounds are made from it. The signatures of `ald.audit`, `ald.watch` and `ald.compare` are written out; tests hold
them against the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any, Literal

from ald.errors import SettingError, nearest, shown

# text: one word. name: a column. texts: one or several. names: columns, several of them separated by commas. whole,
# number, flag. pairs: from columns to words. value: whatever a column holds. object: for Python alone.
Form = Literal["text", "name", "texts", "names", "whole", "number", "flag", "pairs", "value", "object"]
Part = Literal["data", "question", "design", "search", "result", "run"]
Command = Literal["audit", "profile", "watch", "compare", "look", "verify"]

AUDITS: tuple[Command, ...] = ("audit", "profile")
# Where groups of an audit are watched.
WATCHED: tuple[Command, ...] = (*AUDITS, "watch")
COUNTED: tuple[Command, ...] = (*WATCHED, "compare")
EVERYWHERE: tuple[Command, ...] = (*COUNTED, "look")
# Where data is read; of an audit that is done again all else is known.
READ: tuple[Command, ...] = (*EVERYWHERE, "verify")

SEARCHES = ("default", "leaves", "paper", "none")
# What a split may be besides the name of a column and two data sets.
SPLITS = ("auto", "none", "random")
DIRECTIONS = {"disadvantaged": -1, "both": 0, "advantaged": 1}

# What a value of each form may be in a config file.
_TYPES: dict[Form, tuple[type, ...]] = {
    "text": (str,),
    "name": (str,),
    "texts": (list, str),
    "names": (list, str),
    "whole": (int,),
    "number": (int, float),
    "flag": (bool,),
    "pairs": (dict,),
    "value": (bool, int, float, dict, str),
}


@dataclass(frozen=True, kw_only=True)
class Option:
    """One option.

    key: its name in config files, in documents and, with dashes, on the command line (unless `flag` is another).
    parameter: the parameter of `ald.audit` that carries it, where that is another: then `attribute` is its name in the
    object that this parameter takes.
    choices: all values there are. open_choices: those that the help names, of more.
    least, most: the smallest and the largest whole number; why: why there is a largest one.
    bounds: of a number, neither of which is reached but by "[" or "]" in `ends`.
    in_document: whether it decides the result, so that the JSON document has it.
    """

    key: str
    form: Form
    part: Part
    help: str = ""
    default: Any = None
    parameter: str = ""
    attribute: str = ""
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int = 2**63 - 1
    why: str = "more has no place in 64 bits"
    bounds: tuple[float, float] = (0.0, 1.0)
    ends: Literal["()", "(]", "[)"] = "()"
    flag: str = ""
    metavar: str | None = None
    commands: tuple[Command, ...] = AUDITS
    in_document: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameter", self.parameter or self.key)
        object.__setattr__(self, "flag", self.flag or f"--{self.key.replace('_', '-')}")

    @property
    def is_parameter(self) -> bool:
        """Whether it is a parameter of `ald.audit` by itself."""
        return self.parameter == self.key

    @property
    def types(self) -> tuple[type, ...]:
        """What a value may be in a config file."""
        return _TYPES[self.form]

    def check_form(self, value: Any) -> None:
        """Raises where a value is nothing that this option could be, whatever the data; None is nothing said."""
        if value is not None:
            self._check_form(value)

    def _check_form(self, value: Any) -> None:
        wrong = ""
        if self.form == "text" and not isinstance(value, str):
            wrong = "must be a text"
        elif self.form == "name" and not isinstance(value, str):
            wrong = "must be the name of a column (text)"
        elif self.form == "names" and not all(isinstance(name, str) for name in several(value)):
            wrong = "must be names of columns (text)"
        elif self.form == "flag" and not isinstance(value, bool):
            wrong = "must be true or false"
        elif self.form == "pairs" and not isinstance(value, Mapping):
            wrong = "must be a dictionary by names of columns"
        elif self.form == "whole" and not self._is_whole(value):
            wrong = f"must be a whole number from {self.least} on"
        elif self.form == "number" and not self._holds(value):
            low, high = (f"{bound:g}" for bound in self.bounds)
            start = f"from {low} on" if self.ends[0] == "[" else f"above {low}"
            end = f"at most {high}" if self.ends[1] == "]" else f"below {high}"
            wrong = f"must be {start} and {end if isfinite(self.bounds[1]) else 'finite'}"
        elif self.key == "progress" and not callable(value):
            wrong = "must be a function of a step and a share"
        elif self.form == "value" and not isinstance(value, Mapping) and not _is_said(value):
            wrong = "must be a value of a column"
        if wrong:
            raise SettingError(f"{self.key} {wrong}, not {shown(value)}")
        if self.form == "whole" and value > self.most:
            raise SettingError(f"{self.key} must be at most {self.most:,} ({self.why}), not {shown(value)}")

    def check(self, value: Any) -> None:
        """Raises where the value is none that this option may have; nothing and several are checked elsewhere."""
        self._check_form(value)
        if self.choices and value not in self.choices:
            raise SettingError(f"unknown {self.key} {shown(value)}. {nearest(value, self.choices)}")

    def _is_whole(self, value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and value >= self.least

    def _holds(self, value: Any) -> bool:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        low, high = self.bounds
        above = value >= low if self.ends[0] == "[" else value > low
        return above and (value <= high if self.ends[1] == "]" else value < high)


def several(value: Any) -> tuple[Any, ...]:
    """One value or a sequence of them as a tuple; None is nothing."""
    if value is None:
        return ()
    return tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else (value,)


def _is_said(value: Any) -> bool:
    """Whether a value has words."""
    try:
        return str(value) is not None
    except Exception:
        return False


# In the order of `ald.audit`; what an object carries stands behind the parameter that takes the object.
OPTIONS = (
    Option(key="data", form="object", part="data", commands=(), in_document=False),
    Option(key="query", form="text", part="data", parameter="data", attribute="query", commands=READ,
           in_document=False, help="SQL query to run where FILE is a SQLite file or the address of a database: "
           "postgresql://... With an Excel file, the name of the sheet."),
    Option(key="engine", form="text", part="run", parameter="data", attribute="engine", commands=READ,
           in_document=False, help="Engine that reads and counts FILE: spark, the address of a Spark master, or dask."),
    Option(key="memory_limit", form="text", part="run", parameter="data", attribute="memory_limit", metavar="SIZE",
           commands=READ, in_document=False,
           help="Memory to use, such as 4GB. Larger data is first reduced to counts, or kept on disk."),
    Option(key="threads", form="whole", part="run", parameter="data", attribute="threads", least=1,
           most=1024, why="no machine has more", commands=(*COUNTED, "verify"), in_document=False,
           help="Number of threads; the result is the same with any number.  [default: all cores]"),
    Option(key="kinds", form="pairs", part="data", parameter="data", attribute="kinds", flag="--kind",
           metavar="COLUMN=KIND", commands=READ, in_document=False,
           help="Kind of a column: numeric, nominal, boolean, ordinal, date or datetime; or its levels in order, as in "
           "'size=S<M<L'."),
    Option(key="attributes_from", form="text", part="data", parameter="data", attribute="attributes_from",
           metavar="FILE", commands=(*WATCHED, "verify"), in_document=False,
           help="File with further attributes, whose rows are matched with those of the data by --on."),
    Option(key="on", form="text", part="data", parameter="data", attribute="on", metavar="COLUMN",
           commands=(*WATCHED, "verify"), in_document=False,
           help="Column that the data and --attributes-from share."),
    Option(key="outcome", form="texts", part="question", commands=(*WATCHED, "look"),
           help="Column to audit. May be repeated."),
    Option(key="favourable", form="value", part="question", metavar="VALUE", commands=EVERYWHERE,
           help="The value that is good for people. With 0/1 and true/false, only --direction needs it. For several "
           "outcomes: OUTCOME=VALUE, repeated."),
    Option(key="prediction", form="name", part="question", commands=(*WATCHED, "look"),
           help="Column of predictions; use it with --truth, instead of --outcome. The favourable value counts as "
           "positive; without one, 1 or true."),
    Option(key="predictions", form="texts", part="question", flag="--prediction", commands=("compare",),
           help="Column with a model's predictions. Give it twice, the model in use first."),
    Option(key="truth", form="name", part="question", commands=EVERYWHERE, help="Column with the true outcomes."),
    Option(key="score", form="name", part="question", commands=WATCHED,
           help="Column with a model's scores, such as probabilities. With --truth the question is whether they are as "
           "right for all, without it whether they are as high."),
    Option(key="notion", form="texts", part="question", default="statistical parity", commands=WATCHED,
           help="Fairness notion; `ald notions` lists them. May be repeated."),
    Option(key="notion", form="text", part="question", default="equalized odds", commands=("compare",),
           help="Fairness notion; `ald notions` lists them."),
    Option(key="attributes", form="names", part="data", commands=COUNTED, in_document=False,
           help="Columns that may describe groups, separated by commas. May be repeated.  [default: others]"),
    Option(key="exclude", form="names", part="data", default=(), commands=WATCHED, in_document=False,
           help="Columns to leave out, separated by commas. May be repeated."),
    Option(key="given", form="names", part="design", default=(), attribute="columns", commands=WATCHED,
           help="Legitimate factors, separated by commas: people are compared with others who share them. May be "
           "repeated."),
    Option(key="given_bins", form="whole", part="design", parameter="given", attribute="bins", least=2,
           most=1000, why="strata need people", commands=WATCHED,
           help="Number of classes that numeric factors are cut into."),
    Option(key="given_in_criteria", form="flag", part="design", default=False, parameter="given",
           attribute="in_criteria", help="Let legitimate factors describe groups, too."),
    Option(key="reference", form="text", part="design", default="rest",
           help="Compare with the rest, with all, or with a group that you name."),
    Option(key="direction", form="text", part="design", default="both", choices=tuple(DIRECTIONS),
           help="disadvantaged or advantaged: find only groups that fare worse, or better, using one-sided tests; with "
           "several rates, in at least one of them. Needs --favourable."),
    Option(key="threshold", form="number", part="design", default=0.0, ends="[)", bounds=(0.0, inf),
           help="Largest acceptable |psi|; of an outcome that is a number, in its unit."),
    Option(key="named_groups", form="texts", part="question", default=(), flag="--named-group", metavar="WORDS",
           commands=WATCHED, help="Group to test as well, on all data: 'sex = F and age > 60'. May be repeated."),
    Option(key="weights", form="name", part="data", attribute="counts", commands=(*COUNTED, "verify"),
           in_document=False, help="Column with the number of people that a row stands for."),
    Option(key="survey_weights", form="name", part="design", parameter="weights", attribute="column",
           help="Column of survey weights: rates and tests then describe the population."),
    Option(key="cluster", form="name", part="design",
           help="Column that identifies the person, where people have several rows."),
    Option(key="split", form="text", part="search", default="auto",
           help="none: search and test everyone, against shuffled outcomes; random: search one half, and test on the "
           "other; auto: none with up to 200,000 people times attributes, else random; or a column with two values: "
           "rows with the lower one are searched, the others are used for the tests."),
    Option(key="fraction", form="number", part="search", default=0.5, parameter="split", attribute="fraction",
           help="Share of the people used for the search."),
    Option(key="repeats", form="whole", part="search", default=1, parameter="split", attribute="repeats", least=1,
           most=10_000, why="each is an audit of its own",
           help="Number of random splits, to see how often a finding returns."),
    Option(key="search", form="text", part="search", default="default", attribute="name",
           help="default; leaves: test every leaf of the forest; paper: as in 2023; none: test the named groups only; "
           "or the name of another system: subset-scan, cart, ... (docs/baselines.md)."),
    Option(key="trees", form="whole", part="search", default=25, parameter="search", attribute="trees", least=1,
           most=100_000, why="groups are as distinct with far fewer",
           help="Number of trees to grow."),
    Option(key="alpha", form="number", part="search", default=0.1, parameter="search", attribute="alpha", ends="(]",
           commands=COUNTED, help="Nodes are split while p is below this."),
    Option(key="groups", form="whole", part="search", default=3, least=1, most=1_000_000,
           why="nobody reads as many", commands=COUNTED,
           help="Number of groups to list at most."),
    Option(key="ranking", form="text", part="search", default="confidence", choices=("confidence", "magnitude"),
           help="confidence (smallest p first) or magnitude."),
    Option(key="level", form="number", part="result", default=0.05, ends="(]", commands=COUNTED,
           help="A group is listed if its corrected p is at most this."),
    Option(key="adjust", form="text", part="result", default="bh", choices=("bh", "by", "bonferroni", "none"),
           commands=COUNTED, help="Correction for the number of tests: bh, by, bonferroni or none."),
    Option(key="min_group_size", form="whole", part="result", default=10, least=1, most=1_000_000,
           why="larger groups expose nobody by their size", commands=EVERYWHERE,
           help="Show nothing of groups and levels with fewer people than this in them or outside them; 1 shows all."),
    Option(key="seed", form="whole", part="search", default=0, commands=COUNTED,
           help="Seed of all random numbers: same seed, same result."),
    Option(key="progress", form="object", part="run", commands=(), in_document=False),
    Option(key="by", form="name", part="question", metavar="COLUMN", commands=("watch",), in_document=False,
           help="Column of dates, along which groups are watched."),
    Option(key="every", form="text", part="question", default="month",
           choices=("day", "week", "month", "quarter", "year", "value"), commands=("watch",), in_document=False,
           help="How long a window is: day, week, month, quarter or year; or value, for one per value of the column, "
           "such as two periods."),
    Option(key="first", form="text", part="question", metavar="AUDIT", commands=("watch",), in_document=False,
           help="JSON document of an earlier audit, whose listed groups are watched.  [default: an audit of the first "
           "window, unless groups are named]"),
    Option(key="looks", form="whole", part="design", least=1, most=10_000, why="nobody looks as often",
           commands=("watch",), in_document=False,
           help="How many looks are planned, all windows to come included: the level is shared out among them.  "
           "[default: 24; for --every value as many as there are]"),
    Option(key="columns", form="pairs", part="question", flag="--column", metavar="ROLE=COLUMN",
           commands=("profile",), in_document=False,
           help="Column for a category of the profile: sex=COLUMN, race=COLUMN. May be repeated."),
)  # fmt: skip

# Those that say how to read the data.
READING = tuple(option.key for option in OPTIONS if option.parameter == "data" and option.attribute)

# Those of an audit by key.
AUDIT_OPTIONS: Mapping[str, Option] = {
    option.key: option for option in OPTIONS if not option.commands or "audit" in option.commands
}


def of_command(command: Command) -> dict[str, Option]:
    """The options of a command by key."""
    return {option.key: option for option in OPTIONS if command in option.commands}
