"""The form of an audit, from the table of options: what it asks, and what its answers are as options.

Columns are named by their place, never by their name: a name is text of the data, and may be anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ald.errors import SettingError
from ald.groups.criterion import quote, visible
from ald.notions import NOTIONS, SCORE_NOTIONS
from ald.options.table import AUDIT_OPTIONS, DIRECTIONS, SEARCHES, SPLITS, Option, several
from ald.results.look import ColumnLook, Look

Pairs = Sequence[tuple[str, str]]

# What is audited is asked first; these columns are chosen there. By what it is, the columns that it takes.
AUDITED = ("outcome", "prediction", "score", "truth")
ABOUT = {"outcome": ("outcome",), "prediction": ("prediction", "truth"), "score": ("score", "truth")}
# Options with fields of their own: what is audited and how the file is read. The others need another file or machine.
_OWN = (*AUDITED, "favourable", "notion", "kinds", "query", "attributes", "exclude", "split")
_ELSEWHERE = ("engine", "memory_limit", "threads", "attributes_from", "on")

KINDS = ("numeric", "nominal", "boolean", "ordinal", "date", "datetime")

# What a column may be besides one that describes people; options that take columns and are not named here come too.
_PART_WORDS = {
    "": "describes people",
    "further": "a further outcome",
    "given": "a legitimate factor",
    "exclude": "is left out",
    "weights": "says how many people a row is",
    "survey_weights": "is a survey weight",
    "cluster": "says whose row it is",
    "split": "says which half a row is in",
}
_LABELS = {
    "given_bins": "Classes of numeric factors",
    "given_in_criteria": "Factors may describe groups, too",
    "reference": "Compared with",
    "direction": "Direction",
    "threshold": "Largest acceptable gap, from 0 to 1",
    "named_groups": "Groups of your own, one per line",
    "fraction": "Share of people searched",
    "repeats": "Random splits",
    "trees": "Trees",
    "alpha": "Nodes split while p is below",
    "groups": "Groups to list at most",
    "ranking": "Order of the list",
    "level": "Level",
    "min_group_size": "Smallest group shown",
    "adjust": "Correction for the number of tests",
    "split": "Who searches and who tests",
}
# Sentences of the help that only make sense on a command line.
_FOR_COMMANDS = (" May be repeated.", "May be repeated.", "; `ald notions` lists them", " Needs --favourable.")


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A setting with a field of its own: its option, what it is called, the choices, and the help."""

    option: Option
    label: str
    choices: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of its field."""
        return f"set-{self.option.key}"

    @property
    def help(self) -> str:
        """The help of the table, for who does not use the command line."""
        text = self.option.help.partition("  [default:")[0]
        for words in _FOR_COMMANDS:
            text = text.replace(words, "")
        return text

    @property
    def default(self) -> str:
        """What the field holds where nothing was said."""
        value = self.option.default
        return "" if value is None or value == () else f"{value:g}" if isinstance(value, float) else str(value)


def settings() -> tuple[Setting, ...]:
    """All settings with fields of their own, in the order of the table."""
    return tuple(
        Setting(option=option, label=_LABELS.get(key, label_of(key)), choices=_choices(option))
        for key, option in AUDIT_OPTIONS.items()
        if option.form not in ("object", "name", "names", "pairs")
        if key not in (*_OWN, *_ELSEWHERE) or key == "split"
    )


def _choices(option: Option) -> tuple[str, ...]:
    known = {"split": SPLITS, "search": SEARCHES, "direction": tuple(DIRECTIONS)}
    return option.choices or known.get(option.key, ())


def label_of(key: str) -> str:
    """A key as words.

    >>> label_of("survey_weights")
    'Survey weights'
    """
    return key.replace("_", " ").capitalize()


def column_parts() -> dict[str, str]:
    """What a column may be, in words: of every option that takes columns."""
    taken = [key for key, option in AUDIT_OPTIONS.items() if option.form in ("name", "names")]
    keys = ["", "further", *(key for key in taken if key not in (*AUDITED, "attributes", *_ELSEWHERE)), "split"]
    return {key: _PART_WORDS.get(key, label_of(key).lower()) for key in keys}


@dataclass
class Answers:
    """A form that was filled in: the options that it asks for, without those at their defaults, and what is wrong.

    problems: by the name of the field that they concern; those of the whole form by "".
    """

    options: dict[str, Any] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)


def first_answers(look: Look) -> list[tuple[str, str]]:
    """The form as the look suggests to fill it in."""
    place = {column.name: str(i) for i, column in enumerate(look.columns)}
    pairs = [("about", "prediction" if look.prediction else "outcome")]
    pairs += [(part, place[name]) for part in ("outcome", "prediction", "truth") if (name := getattr(look, part))]
    if look.favourable is not None:
        pairs.append(("favourable", look.favourable))
    pairs += [("notion", suggested_notion(look.notions))] if look.notions else []
    told = {part.column: part.part for part in look.parts}
    pairs += [(f"part-{place[name]}", "exclude") for name, part in told.items() if part == "gives the outcome away"]
    return pairs


def suggested_notion(fitting: Sequence[str]) -> str:
    """The notion to begin with: that of an outcome, or of predictions with their truth."""
    return "equalized odds" if "equalized odds" in fitting else fitting[0]


def asked_of_look(pairs: Pairs, columns: Sequence[str]) -> dict[str, Any]:
    """What a look is asked: what will be audited, the kinds of columns, and the query."""
    options = read(pairs, columns, (), ()).options
    known = ("kinds", "query") if "score" in options else ("prediction", "truth", "kinds", "query")
    found: dict[str, Any] = {key: options[key] for key in known if key in options}
    outcome = several(options.get("outcome"))[:1]
    if outcome:
        found["outcome"] = outcome[0]
    favourable = options.get("favourable")
    if isinstance(favourable, Mapping):
        favourable = favourable.get(found.get("outcome"))
    if favourable is not None and ("outcome" in found or "prediction" in found):
        found["favourable"] = favourable
    return found


def read(pairs: Pairs, columns: Sequence[str], notions: Sequence[str], shown: Sequence[ColumnLook]) -> Answers:
    """The answers as options. columns: the names by their places. notions: those that fit; none are asked if empty."""
    answers = Answers()
    said: dict[str, list[str]] = {}
    for name, value in pairs:
        said.setdefault(name, []).append(value)
    _read_audited(said, columns, answers)
    _read_favourable(said, columns, answers)
    of_scores = said.get("score-notion", [""])[-1]
    if "score" in answers.options:
        notions = ()
        answers.options |= {"notion": of_scores} if of_scores in SCORE_NOTIONS else {}
    wanted = [name for name in said.get("notion", ()) if name in NOTIONS and name in notions]
    if wanted and tuple(wanted) != (AUDIT_OPTIONS["notion"].default,):
        answers.options["notion"] = wanted[0] if len(wanted) == 1 else wanted
    if notions and not wanted:
        answers.problems["notion"] = "Choose at least one."
    _read_parts(said, columns, answers)
    _read_kinds(said, columns, shown, answers)
    query = "".join(said.get("query", ())).strip()
    if query:
        answers.options["query"] = query
    for setting in settings():
        _read_setting(setting, said, answers)
    return answers


def _at(place: str, columns: Sequence[str]) -> str | None:
    """The column at a place that a form names; None for anything else."""
    return columns[int(place)] if place.isascii() and place.isdigit() and int(place) < len(columns) else None


def _read_audited(said: Mapping[str, Sequence[str]], columns: Sequence[str], answers: Answers) -> None:
    about = said.get("about", ["outcome"])[-1]
    asked = ABOUT.get(about, ABOUT["outcome"])
    for key in asked:
        name = _at(said.get(key, [""])[-1], columns)
        if name is not None:
            answers.options[key] = name
        elif not (about == "score" and key == "truth"):  # without it the question is how high scores are
            answers.problems[key] = "Choose a column."
    if len(asked) == 2 and len({answers.options.get(key) for key in asked}) == 1 and not answers.problems:
        answers.problems["truth"] = f"The {asked[0]} and the truth are two columns."
    if about == "outcome" and "outcome" in answers.options:
        further = [_at(name.removeprefix("part-"), columns) for name, value in said.items() if value[-1] == "further"]
        names = [name for name in further if name is not None and name != answers.options["outcome"]]
        if names:
            answers.options["outcome"] = [answers.options["outcome"], *names]


def _read_favourable(said: Mapping[str, Sequence[str]], columns: Sequence[str], answers: Answers) -> None:
    value = said.get("favourable", [""])[-1]
    outcome = answers.options.get("outcome")
    if isinstance(outcome, list):
        of_further = {
            name: said.get(f"favourable-{columns.index(name)}", [""])[-1] for name in outcome[1:] if name in columns
        }
        values = {name: one for name, one in ({outcome[0]: value} | of_further).items() if one}
        if values:
            answers.options["favourable"] = values
    elif value:
        answers.options["favourable"] = value


def _read_parts(said: Mapping[str, Sequence[str]], columns: Sequence[str], answers: Answers) -> None:
    """What columns are besides those that are audited."""
    parts, taken = column_parts(), _audited(answers.options)
    for name, values in said.items():
        column, part = _at(name.removeprefix("part-"), columns), values[-1]
        if not name.startswith("part-") or column is None or column in taken or part in ("", "further"):
            continue
        if part not in parts:
            answers.problems[name] = "Choose one of the list."
        elif part != "split" and AUDIT_OPTIONS[part].form == "names":
            answers.options.setdefault(part, []).append(column)
        elif part in answers.options:
            first = visible(str(answers.options[part]))
            answers.problems[name] = f"Only one column {parts[part]}, and {first!r} does already."
        else:
            answers.options[part] = column


def _audited(options: Mapping[str, Any]) -> set[str]:
    outcome = options.get("outcome", [])
    names = [outcome] if isinstance(outcome, str) else outcome
    return {*names, *(options[key] for key in AUDITED[1:] if key in options)}


def _read_kinds(
    said: Mapping[str, Sequence[str]], columns: Sequence[str], shown: Sequence[ColumnLook], answers: Answers
) -> None:
    kinds: dict[str, Any] = {}
    now = {column.name: column.kind for column in shown}
    for name, values in said.items():
        column, kind = _at(name.removeprefix("kind-"), columns), values[-1]
        if not name.startswith("kind-") or column is None or kind not in KINDS:
            continue
        order = "".join(said.get(name.replace("kind-", "order-"), ())).strip()
        if kind == "ordinal" and order:
            kinds[column] = [level.strip() for level in order.split("<")]
        elif kind == "ordinal" and now.get(column) not in (None, "numeric", "ordinal"):
            answers.problems[name] = "Give the order of its values, lowest first: low < middle < high."
        else:
            kinds[column] = kind
    if kinds:
        answers.options["kinds"] = kinds


def _read_setting(setting: Setting, said: Mapping[str, Sequence[str]], answers: Answers) -> None:
    """A setting's value, where it is not the default; its problem, where it is none."""
    option, texts = setting.option, said.get(setting.name)
    if texts is None or option.key in answers.options:  # a column says who is in which half
        return
    text = texts[-1].strip()
    try:
        value = _value(option, text)
        if value in (None, [], option.default):
            return
        option.check(value)
        if setting.choices and option.form == "text" and value not in setting.choices:
            raise SettingError(f"{setting.label} is one of {', '.join(setting.choices)}")
    except SettingError as error:
        message = str(error).removeprefix(f"{option.key} ")
        answers.problems[setting.name] = visible(message[:1].upper() + message[1:])
        return
    answers.options[option.key] = value


def _value(option: Option, text: str) -> Any:
    """A text of a field as a value of the option; None where nothing is said."""
    if option.form == "flag":
        return text == "yes"
    if text == "":
        return None
    if option.form == "texts":
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return lines[0] if len(lines) == 1 else lines
    if option.form in ("whole", "number"):
        try:
            return int(text) if option.form == "whole" else float(text)
        except ValueError:
            raise SettingError(f"must be a number, not {text[:40]!r}") from None
    return text


# How a value of an attribute is compared in a group of one's own: in words, and in the language of criteria.
RELATIONS = {
    "=": "is",
    "!=": "is not",
    "in": "is one of",
    ">": "is above",
    ">=": "is at least",
    "<": "is below",
    "<=": "is at most",
    "missing": "is missing",
    "given": "is not missing",
}
# Conditions that the menus offer.
CONDITIONS = 3


def group_of(pairs: Pairs, columns: Sequence[str]) -> str:
    """A group of one's own, in the language of criteria, from the menus that compose it.

    >>> group_of([("column-0", "1"), ("relation-0", "in"), ("value-0", "a b, c")], ["age", "race"])
    'race in {"a b", c}'
    """
    said = dict(pairs)
    conditions = []
    for i in range(CONDITIONS):
        name = _at(said.get(f"column-{i}", ""), columns)
        relation, value = said.get(f"relation-{i}", ""), said.get(f"value-{i}", "").strip()
        if name is None:
            continue
        if relation in ("missing", "given"):
            conditions.append(f"{quote(name)} is {'' if relation == 'missing' else 'not '}missing")
        elif relation not in RELATIONS:
            raise SettingError(f"say how {name!r} is compared")
        elif not value:
            raise SettingError(f"say which value of {name!r} the group has")
        elif relation == "in":
            values = [quote(one.strip()) for one in value.split(",") if one.strip()]
            conditions.append(f"{quote(name)} in {{{', '.join(values)}}}")
        else:
            conditions.append(f"{quote(name)} {relation} {quote(value)}")
    if not conditions:
        raise SettingError("choose an attribute that describes the group")
    return " and ".join(conditions)


def options_of_group(options: Mapping[str, Any], group: str) -> dict[str, Any]:
    """The options of the same question about one group alone."""
    kept = {key: value for key, value in options.items() if AUDIT_OPTIONS[key].part != "search"}
    return kept | {"named_groups": group, "search": "none"}


def field_of(message: str, options: Mapping[str, Any], columns: Sequence[str]) -> str:
    """The field that a message of an audit concerns; empty if it is about the whole form."""
    for setting in settings():
        words = (f"{setting.option.key}=", f"{setting.option.key} ", setting.option.flag, f"'{setting.option.key}'")
        if setting.option.key in options and any(word in message for word in words):
            return setting.name
    quoted = re.findall(r"'([^']+)'", message)
    for setting in settings():
        said = " ".join(map(str, several(options.get(setting.option.key))))
        if setting.option.form in ("text", "texts") and any(word in said for word in quoted if word not in columns):
            return setting.name
    for key in AUDITED:
        if isinstance(options.get(key), str) and repr(options[key]) in message:
            return key
    if "favourable" in message:
        return "favourable"
    if "notion" in message:
        return "notion"
    named: Iterable[int] = (i for i, name in enumerate(columns) if repr(name) in message)
    return next((f"part-{i}" for i in named), "")
