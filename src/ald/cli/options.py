"""The options of a command, from the one table; and their values, from the command line and from config files."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Callable, Collection
from typing import Any, TypeVar

import click

from ald._core.spelling import british
from ald.cli.files import LONGEST_CONFIG, read_side_file
from ald.errors import InputError, SettingError, nearest, shown
from ald.options.table import Command, Option, Part, of_command

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
FORMATS = ("table", "json", "csv", "markdown")

# In this order the help shows them.
_PARTS: tuple[Part, ...] = ("question", "data", "design", "search", "result", "run")


def table_options(command: Command, required: Collection[str] = ()) -> Callable[[Decorated], Decorated]:
    """The options of the table that a command has."""
    options = sorted(of_command(command).values(), key=lambda option: _PARTS.index(option.part))
    return _decorator([_click_option(option, required=option.key in required) for option in options])


def output_options(function: Decorated) -> Decorated:
    """Where settings come from, what is printed, and what is written, with which title."""
    return identity_options(_decorator([
        click.option("--config", type=click.Path(), help="TOML file with these options; the command line wins."),
        format_option(FORMATS),
        click.option("-o", "--output", multiple=True, type=click.Path(),
                     help="Also write a report; its ending is the format: .html, .pdf, .xlsx, .md, .csv, .json, .txt. "
                     "May be repeated."),
    ])(function))  # fmt: skip


def identity_options(function: Decorated) -> Decorated:
    """Which report this is: no options of the audit."""
    return _decorator([
        click.option("--title", metavar="TEXT", help="Title of the reports."),
        click.option("--notes", metavar="TEXT", help="The auditor's own notes in the reports."),
        click.option("--date", metavar="DAY", help="Day of the reports, such as 2026-11-30.  [default: that of "
                     "SOURCE_DATE_EPOCH, or today]"),
    ])(function)  # fmt: skip


def format_option(formats: Collection[str]) -> Callable[[Decorated], Decorated]:
    """What is printed: the first of these, or another one."""
    return click.option("--format", "format_", type=click.Choice([*formats]), default=next(iter(formats)),
                        show_default=True, help="Format of what is printed.")  # fmt: skip


def _decorator(options: list[Callable[[Any], Any]]) -> Callable[[Decorated], Decorated]:
    return lambda function: functools.reduce(lambda wrapped, option: option(wrapped), reversed(options), function)


def _click_option(option: Option, *, required: bool) -> Callable[[Any], Any]:
    several = option.form in ("texts", "names", "pairs", "value")
    is_said = isinstance(option.default, (str, int, float)) and not isinstance(option.default, bool)
    shown = f"{option.default:g}" if isinstance(option.default, float) else option.default
    default = f"  [default: {shown}]" if is_said else ""
    # A flag that was not given leaves what the config file says.
    flag: dict[str, Any] = {"is_flag": True, "default": None} if option.form == "flag" else {}
    flags = (option.flag, "--favorable") if option.key == "favourable" else (option.flag,)
    return click.option(
        *flags,
        option.key,
        multiple=several,
        type={"whole": int, "number": float, "flag": bool}.get(option.form, str),
        metavar=option.metavar or ("COLUMNS" if option.form == "names" else None),
        required=required,
        help=option.help + default,
        **flag,
    )


def parse_options(command: Command, options: dict[str, Any]) -> dict[str, Any]:
    """The options that were given on the command line, as `ald.audit` takes their values."""
    given = {key: value for key, value in options.items() if value is not None and value != ()}
    forms = {key: of_command(command)[key].form for key in given}
    for key, form in forms.items():
        if form == "names":
            given[key] = [column for text in given[key] for column in split_names(text)]
        elif form == "texts" and len(given[key]) == 1:
            given[key] = given[key][0]
    if "favourable" in given:
        given["favourable"] = _favourable(given["favourable"], options.get("outcome", ()))
    if "kinds" in given:
        given["kinds"] = dict(_parse_kind(text) for text in given["kinds"])
    if "columns" in given:
        given["columns"] = dict(_parse_role(text) for text in given["columns"])
    return given


def _favourable(values: tuple[str, ...], outcomes: tuple[str, ...]) -> str | dict[str, str]:
    """One favourable value, or one for each of several outcomes."""
    pairs = [value.partition("=") for value in values]
    if len(outcomes) > 1 and all(sign and name in outcomes for name, sign, _ in pairs):
        return {name: value for name, _, value in pairs}
    if len(values) > 1:
        raise SettingError(
            "--favourable is given more than once: give it once, or of several outcomes as OUTCOME=VALUE, such as "
            "--favourable approved=yes"
        )
    return values[0]


def _parse_kind(text: str) -> tuple[str, str | list[str]]:
    name, sign, kind = text.rpartition("=")
    if not sign or not name or not kind:
        raise SettingError(f"--kind {text!r} is not of the form COLUMN=KIND, such as zip=nominal or 'size=S<M<L'")
    return name, [level.strip() for level in kind.split("<")] if "<" in kind else kind


def _parse_role(text: str) -> tuple[str, str]:
    role, sign, column = text.partition("=")
    if not sign or not role or not column:
        raise SettingError(f"--column {text!r} is not of the form ROLE=COLUMN, such as sex=gender")
    return role, column


def split_names(text: str) -> list[str]:
    """Names separated by commas; a name with a comma or quote inside stands in double quotes, as in CSV."""
    fields = re.findall(r'\s*(?:"((?:[^"]|"")*)"|([^,]*?))\s*(?:,|$)', text)
    return [quoted.replace('""', '"') or plain for quoted, plain in fields if quoted or plain]


def read_config(path: str | None, command: Command) -> dict[str, Any]:
    """The options that a config file gives."""
    if path is None:
        return {}
    try:
        settings = tomllib.loads(read_side_file(path, "config file", LONGEST_CONFIG).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"the config file {path!r} is not valid TOML: {error}") from None
    options, settings = of_command(command), british(settings)
    for key, value in settings.items():
        if key not in options:
            raise SettingError(f"the config file {path!r} has an unknown option {key!r}. {nearest(key, options)}")
        if not isinstance(value, options[key].types):
            expected = " or ".join(kind.__name__ for kind in options[key].types)
            raise SettingError(
                f"option {key!r} of the config file {path!r} must be of type {expected}, not {shown(value)}"
            )
    return settings
