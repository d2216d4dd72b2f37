"""The command `ald`: parse, call, print. Heavy imports happen inside commands, so that --help is instant."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import sys
import tomllib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ald import commands
from ald.errors import AldError, InputError, SettingError, nearest
from ald.version import __version__

if TYPE_CHECKING:
    from ald.auditing import Audit

Command = TypeVar("Command", bound=Callable[..., Any])
FORMATS = ("table", "json", "csv", "markdown")

# The whole table needs a terminal of this width.
_TABLE_WIDTH = 120

# Options that a config file may set too, by the same names.
_CONFIG_KEYS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(
        ("outcome", "prediction", "truth", "weights", "notion", "ranking", "adjust", "preset", "method"), (str,)
    ),
    **dict.fromkeys(("groups", "trees", "repeats", "seed", "threads"), (int,)),
    **dict.fromkeys(("alpha", "level", "threshold"), (int, float)),
    "favourable": (bool, int, float, str),
    "attributes": (list,),
    "explore": (bool,),
    "kinds": (dict,),
}


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
def cli() -> None:
    """ALD: which groups of people get disparate outcomes, how large is the disparity, and how sure are we?"""


def main() -> None:
    """The entry point: errors are sentences on stderr with exit code 2, never tracebacks."""
    for stream in (sys.stdout, sys.stderr):  # a level's name may hold what the terminal's encoding does not
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        status = cli(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        status = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted; no file is half written.", err=True)
        status = 130
    except AldError as error:
        from ald.criterion import visible

        click.echo(f"Error: {visible(str(error))}", err=True)
        status = 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    except OSError as error:
        from ald.criterion import visible

        click.echo(f"Error: {visible(str(error))}", err=True)
        status = 2
    sys.exit(status if isinstance(status, int) else 0)


def _audit_options(command: Command) -> Command:
    """The options that every audit takes; their names are those of `ald.audit`."""
    options = [
        click.option("--outcome", help="Column to audit."),
        click.option("--favourable", help="Its favourable value (not needed for 0/1 and true/false)."),
        click.option("--prediction", help="Column of predictions; with --truth, instead of --outcome."),
        click.option("--truth", help="Column of what was true."),
        click.option("--attributes", help="Columns that may describe groups, separated by commas.  [default: others]"),
        click.option("--weights", help="Column that says how many people a row stands for."),
        click.option("--kind", "kinds", multiple=True, metavar="COLUMN=KIND",
                     help="Kind of a column: numeric, nominal, boolean, ordinal, date, datetime, or its levels in "
                     "order: 'size=S<M<L'."),
        click.option("--notion", help="Fairness notion; `ald notions` lists them.  [default: statistical parity]"),
        click.option("--ranking", help="confidence (smallest p first) or magnitude.  [default: confidence]"),
        click.option("--groups", type=int, help="How many groups to list.  [default: 3]"),
        click.option("--trees", type=int, help="How many trees to grow.  [default: 25]"),
        click.option("--alpha", type=float, help="Nodes split while p is below this.  [default: 0.1]"),
        click.option("--level", type=float, help="Corrected p up to which a group is listed.  [default: 0.05]"),
        click.option("--adjust", help="Correction: bh, by, bonferroni or none.  [default: bh]"),
        click.option("--preset", help="paper: the search of the 2023 paper."),
        click.option("--method", help="Search as another system does: subset-scan, cart, ...; see docs/baselines.md."),
        click.option("--explore/--no-explore", default=None,
                     help="List distinct groups found by exploring, or all leaves of the forest.  [default: explore]"),
        click.option("--threshold", type=float, help="Largest |psi| that is acceptable.  [default: 0]"),
        click.option("--repeats", type=int, help="Random halvings, for the stability of findings.  [default: 1]"),
        click.option("--seed", type=int, help="Same seed, same result.  [default: 0]"),
        click.option("--threads", type=int, help="Threads to use; does not change the result.  [default: all cores]"),
        click.option("--config", type=click.Path(), help="TOML file with these options; the command line wins."),
        click.option("--format", "format_", type=click.Choice(FORMATS), default="table", show_default=True,
                     help="What to print."),
        click.option("-o", "--output", multiple=True, type=click.Path(),
                     help="Also write a report; format by ending: .json, .csv, .md, .txt. May be repeated."),
    ]  # fmt: skip
    return functools.reduce(lambda wrapped, option: option(wrapped), reversed(options), command)


@cli.command()
@click.argument("file", type=click.Path())
@_audit_options
def audit(file: str, config: str | None, format_: str, output: tuple[str, ...], **options: Any) -> None:
    """Audit FILE (CSV, TSV, Parquet, JSON lines; also .gz and .zst) and print the groups found.

    \b
    ald audit decisions.csv --outcome approved
    ald audit scores.parquet --prediction high_risk --truth reoffended --notion "equalized odds"
    """
    from ald.report.files import check_target

    settings = _read_config(config) | _given(options)
    for path in output:
        check_target(path)
        if os.path.exists(path) and os.path.exists(file) and os.path.samefile(path, file):
            raise SettingError(f"the report {path!r} would overwrite the data")
    _show(_run(file, settings), format_, output)


@cli.command()
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="What to print.",
)
@click.option("-o", "--output", multiple=True, type=click.Path(), help="Also write a report; format by ending.")
@click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same result.")
def demo(format_: str, output: tuple[str, ...], seed: int) -> None:
    """Audit the embedded data set: graduate admissions at Berkeley in 1973."""
    from ald.datasets import load_berkeley
    from ald.report.files import check_target

    for path in output:
        check_target(path)
    click.echo(
        "Graduate admissions at Berkeley, 1973: 4,526 applicants, six departments. Who was admitted?",
        err=True,
    )
    _show(_run(load_berkeley(), {"outcome": "admitted", "favourable": "yes", "seed": seed}), format_, output)


@cli.command()
def notions() -> None:
    """List the fairness notions."""
    from rich.table import Table

    from ald.notions import NOTIONS

    table = Table("notion", "rates compared", "asks for", "needs")
    for notion in NOTIONS.values():
        rates = ", ".join(f"{rate.name} ({rate.key})" for rate in notion.rates)
        table.add_row(notion.name, rates, notion.description, "prediction, truth" if notion.needs_truth else "outcome")
    _console().print(table)


@cli.command()
def version() -> None:
    """Print the version."""
    click.echo(f"ald {__version__}")


for command in commands.ALL:
    cli.add_command(command)


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """The options that were given, in the form that `ald.audit` takes."""
    given = {name: value for name, value in options.items() if value is not None and value != ()}
    if "attributes" in given:
        given["attributes"] = commands.split_names(given["attributes"])
    if "kinds" in given:
        given["kinds"] = dict(_parse_kind(text) for text in given["kinds"])
    return given


def _parse_kind(text: str) -> tuple[str, str | list[str]]:
    name, sign, kind = text.rpartition("=")
    if not sign or not name or not kind:
        raise SettingError(f"--kind {text!r} is not of the form COLUMN=KIND, such as zip=nominal or 'size=S<M<L'")
    return name, [level.strip() for level in kind.split("<")] if "<" in kind else kind


def _read_config(path: str | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        with open(path, "rb") as file:
            settings = tomllib.load(file)
    except FileNotFoundError:
        raise InputError(f"there is no config file {path!r}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"the config file {path!r} is not valid TOML: {error}") from None
    for key, value in settings.items():
        if key not in _CONFIG_KEYS:
            raise SettingError(f"the config file {path!r} has an unknown option {key!r}. {nearest(key, _CONFIG_KEYS)}")
        accepted = _CONFIG_KEYS[key]
        if not isinstance(value, accepted):
            raise SettingError(
                f"option {key!r} of the config file {path!r} must be of type {accepted[-1].__name__}, not {value!r}"
            )
    return settings


def _run(data: Any, settings: dict[str, Any]) -> Audit:
    with _progress() as progress:
        import ald

        return ald.audit(data, progress=progress, **settings)


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[str, float], None] | None]:
    """A bar on stderr if that is a terminal; otherwise nothing."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import Progress

    steps = {"load": 0.0, "search": 0.3, "repeat": 0.3, "assess": 0.9, "rank": 0.97}
    with Progress(console=_console(stderr=True), transient=True) as bar:
        task = bar.add_task("load", total=1.0)

        def update(step: str, share: float) -> None:
            bar.update(
                task, description=step, completed=steps[step] + share * (0.6 if step in ("search", "repeat") else 0.03)
            )

        yield update


def _console(*, stderr: bool = False) -> Any:
    from rich.console import Console

    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


def _show(result: Audit, format_: str, output: tuple[str, ...]) -> None:
    from ald.criterion import visible
    from ald.report.files import write_report

    for path in output:
        write_report(result, path)
        click.echo(f"Wrote {visible(path)}", err=True)
    if format_ == "table":
        _print_table(result)
    else:
        text = {"json": result.to_json, "csv": result.to_csv, "markdown": result.to_markdown}[format_]()
        click.echo(text, nl=False)


def _print_table(result: Audit) -> None:
    from rich import box
    from rich.table import Table

    from ald.criterion import visible
    from ald.report.summary import LIMITATION, facts, headline, printed

    console = _console()
    console.print(visible(headline(result)), style="bold")
    cells = printed(result)
    # A number is never cut: where the whole table does not fit, the main columns do, and the rest goes below it.
    narrow = console.width < _TABLE_WIDTH
    shown = [cell for cell in cells if cell.is_main] if narrow else cells
    if result.groups:
        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 1, 0), pad_edge=False)
        for cell in shown:
            width = max(len(cell.header), *(len(cell.text(finding)) for finding in result.groups))
            table.add_column(visible(cell.header), justify="right" if cell.is_number else "left", overflow="fold",
                             no_wrap=cell.is_number and narrow, min_width=width if cell.is_short else 12)  # fmt: skip
        for finding in result.groups:
            table.add_row(*(visible(cell.text(finding)) for cell in shown))
        console.print(table)
    if narrow:
        for i, finding in enumerate(result.groups, 1):
            rest = ", ".join(f"{cell.header} {cell.text(finding)}" for cell in cells if not cell.is_main)
            console.print(visible(f"Group {i}: {rest}."))
    for fact in facts(result):
        console.print(visible(fact), style="yellow" if fact.startswith("Warning") else "dim")
    console.print(LIMITATION, style="dim italic")
