"""The command line and the Python code of an audit, from its options."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from ald.options.objects import class_of
from ald.options.table import AUDIT_OPTIONS, READING, Option, several


def command_line(source: str, options: Mapping[str, Any], *, command: str = "audit") -> str:
    """The command that gives the same audit, to be pasted into a shell.

    >>> command_line("a b.csv", {"outcome": "hired", "exclude": ["name, first"], "given_in_criteria": True})
    'ald audit \\'a b.csv\\' --outcome hired --exclude \\'"name, first"\\' --given-in-criteria'
    """
    words = ["ald", command, source]
    for key, value in options.items():
        words += _words_of(AUDIT_OPTIONS[key], value)
    return shlex.join(words)


def _words_of(option: Option, value: Any) -> list[str]:
    """An option on the command line: nothing where a flag is not set, a pair of words for every value of several."""
    if option.form == "flag":
        return [option.flag] if value else []
    if isinstance(value, Mapping):
        texts = [f"{name}={one if isinstance(one, str) else '<'.join(one)}" for name, one in value.items()]
    elif option.form == "names":
        texts = [in_list(name) for name in several(value)]
    else:
        texts = [str(one) for one in several(value)]
    return [word for text in texts for word in (option.flag, text)]


def in_list(name: str) -> str:
    """A name as lists of columns take it: with a comma or quote inside it stands in quotes, as in CSV."""
    return '"' + name.replace('"', '""') + '"' if re.search(r'[,"]|^\s|\s$', name) else name


def python_code(source: str, options: Mapping[str, Any], *, function: str = "audit") -> str:
    """The call that gives the same audit. source: what stands for the data, such as a quoted path.

    >>> python_code("'a.csv'", {"outcome": "hired", "given": ["job"], "given_bins": 4, "threads": 1})
    "ald.audit(ald.source('a.csv', threads=1), outcome='hired', given=ald.Given(['job'], bins=4))"
    """
    reading = [f"{key}={options[key]!r}" for key in READING if key in options]
    first = f"ald.source({', '.join([source, *reading])})" if reading else source
    parameters: dict[str, str] = {}
    for key in options:
        name = AUDIT_OPTIONS[key].parameter
        if name != "data" and name not in parameters:
            parameters[name] = _argument(name, options)
    return f"ald.{function}({', '.join([first, *(f'{name}={text}' for name, text in parameters.items())])})"


def _argument(parameter: str, options: Mapping[str, Any]) -> str:
    """The value of a parameter: a plain one, or the object that carries several options."""
    kept = [option for option in AUDIT_OPTIONS.values() if option.parameter == parameter and option.key in options]
    if all(option.is_parameter for option in kept):
        return repr(options[parameter])
    positional = [option for option in kept if option.attribute in ("columns", "name", "column")]
    rest = [option for option in kept if option not in positional and option.attribute]
    words = [repr(_plain(options[option.key])) for option in positional]
    words += [f"{option.attribute}={options[option.key]!r}" for option in rest]
    return f"ald.{class_of(parameter)}({', '.join(words)})"


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
