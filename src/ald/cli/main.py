"""The command `ald`: parse, call, print. Heavy imports happen inside commands, so that --help is instant."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import signal
import sys
import tomllib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ald._core.spelling import british
from ald._core.version import __version__
from ald.cli import commands
from ald.cli.look import look
from ald.errors import AldError, CriterionError, InputError, SettingError, nearest

if TYPE_CHECKING:
    from ald.results.audit import Audit

Command = TypeVar("Command", bound=Callable[..., Any])
FORMATS = ("table", "json", "csv", "markdown")

# The whole table needs a terminal of this width.
_TABLE_WIDTH = 120

# Options that a config file may set too, by the same names.
_CONFIG_KEYS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("prediction", "truth", "weights", "survey_weights", "cluster", "split"), (str,)),
    **dict.fromkeys(("direction", "reference", "ranking", "adjust", "preset", "method", "profile"), (str,)),
    **dict.fromkeys(("memory_limit", "query", "engine"), (str,)),
    **dict.fromkeys(("groups", "trees", "repeats", "seed", "threads", "given_bins"), (int,)),
    **dict.fromkeys(("alpha", "level", "threshold", "fraction"), (int, float)),
    **dict.fromkeys(("outcome", "notion", "given", "exclude", "groups_of_interest"), (str, list)),
    "favourable": (bool, int, float, dict, str),
    "attributes": (list,),
    **dict.fromkeys(("explore", "given_in_criteria"), (bool,)),
    "kinds": (dict,),
    "profile_columns": (dict,),
}


# Those of `ald test`.
_TEST_KEYS = {
    *("outcome", "favourable", "prediction", "truth", "weights", "survey_weights", "kinds", "given", "given_bins"),
    *("cluster", "direction", "reference", "notion", "level", "adjust", "threshold", "memory_limit", "query"),
    "engine",
}


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="ald", message="%(prog)s %(version)s")
def cli() -> None:
    """ALD: which groups of people get disparate outcomes, how large is the disparity, and how sure are we?"""


def main() -> None:
    """The entry point: errors are sentences on stderr with exit code 2, never tracebacks."""
    for stream in (sys.stdout, sys.stderr):  # a level's name may hold what the terminal's encoding does not
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    received: list[int] = []
    try:
        with _interrupted_by_signals(received):
            status = _ended(received)
    except click.ClickException as error:
        error.show()
        status = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted; no file is half written.", err=True)
        status = 128 + (received[0] if received else signal.SIGINT)
    except AldError as error:
        from ald.groups.criterion import visible

        # An error in a criterion shows the place on lines of its own, in which nothing is left to be made visible.
        lines = str(error).split("\n") if isinstance(error, CriterionError) else [str(error)]
        click.echo("Error: " + "\n".join(visible(line) for line in lines), err=True)
        status = 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    except OSError as error:
        from ald.groups.criterion import visible

        click.echo(f"Error: {visible(str(error))}", err=True)
        status = 2
    sys.exit(status if isinstance(status, int) else 0)


def _ended(received: list[int]) -> Any:
    """Runs the command. Whatever fails after a signal has ended its processes, failed by that."""
    try:
        return cli(standalone_mode=False)
    except Exception:
        if received:
            raise KeyboardInterrupt from None
        raise


@contextlib.contextmanager
def _interrupted_by_signals(received: list[int]) -> Iterator[None]:
    """Ctrl-C, SIGTERM and SIGHUP end our processes and remove temporary files; `received` gets their number."""

    def interrupt(number: int, _: object) -> None:
        # Once: another one shall not interrupt the cleaning up. Ctrl-C may, should that take too long.
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_IGN)
        received.append(number)
        if "ald._core.threads" in sys.modules:
            sys.modules["ald._core.threads"].end_processes()
        raise KeyboardInterrupt

    names = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows: no SIGHUP
    before = {number: signal.getsignal(number) for name in names if (number := getattr(signal, name, None))}
    # What is ignored stays so: nohup has SIGHUP ignored.
    taken = {number: what for number, what in before.items() if what in (signal.SIG_DFL, signal.default_int_handler)}
    for number in taken:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, what in taken.items():
            signal.signal(number, what)


def _options(command: Command, options: list[Callable[[Command], Command]]) -> Command:
    return functools.reduce(lambda wrapped, option: option(wrapped), reversed(options), command)


def _data_options(command: Command) -> Command:
    """The options that say what is compared with what; their names are those of `ald.audit`."""
    return _options(command, [
        click.option("--outcome", multiple=True, help="Column to audit. May be repeated."),
        click.option("--favourable", "--favorable", multiple=True, metavar="VALUE",
                     help="Its value that is good for people (of 0/1 and true/false needed with --direction only); of "
                     "several outcomes OUTCOME=VALUE, repeated."),
        click.option("--prediction", help="Column of predictions; with --truth, instead of --outcome. Their favourable "
                     "value, or else 1 or true, is the positive one."),
        click.option("--truth", help="Column of what was true."),
        click.option("--weights", help="Column that says how many people a row stands for."),
        click.option("--survey-weights", help="Column of survey weights: rates and tests are of the population."),
        click.option("--kind", "kinds", multiple=True, metavar="COLUMN=KIND",
                     help="Kind of a column: numeric, nominal, boolean, ordinal, date, datetime, or its levels in "
                     "order: 'size=S<M<L'."),
        click.option("--given", multiple=True, metavar="COLUMNS",
                     help="Legitimate factors, separated by commas: people are compared within strata. May be "
                     "repeated."),
        click.option("--given-bins", type=int, help="Classes that numbers among them are cut into."),
        click.option("--cluster", help="Column that says whom a row is about, where people have several rows."),
        click.option("--direction",
                     help="disadvantaged or advantaged: only groups that fare worse, or better, by one-sided tests; of "
                     "several rates in at least one. Needs --favourable.  [default: both]"),
        click.option("--reference", help="Compare with the rest, with all, or with a group in words.  [default: rest]"),
        click.option("--notion", multiple=True,
                     help="Fairness notion; `ald notions` lists them. May be repeated.  [default: statistical parity]"),
        click.option("--level", type=float, help="Corrected p up to which a group is listed.  [default: 0.05]"),
        click.option("--adjust", help="Correction: bh, by, bonferroni or none.  [default: bh]"),
        click.option("--threshold", type=float, help="Largest |psi| that is acceptable.  [default: 0]"),
        click.option("--query", help="What to select, where FILE is the address of a database: postgresql://..."),
        click.option("--memory-limit", metavar="SIZE",
                     help="Memory to use, such as 4GB: larger data is reduced to counts first, or kept on disk."),
        click.option("--engine", help="Who reads FILE and counts: spark, the address of a Spark master, or dask."),
    ])  # fmt: skip


def _output_options(command: Command) -> Command:
    return _options(command, [
        click.option("--config", type=click.Path(), help="TOML file with these options; the command line wins."),
        click.option("--format", "format_", type=click.Choice(FORMATS), default="table", show_default=True,
                     help="What to print."),
        click.option("-o", "--output", multiple=True, type=click.Path(),
                     help="Also write a report; format by ending: .html, .pdf, .xlsx, .md, .csv, .json, .txt. "
                     "May be repeated."),
    ])  # fmt: skip


def _search_options(command: Command) -> Command:
    """The options of the search."""
    return _options(command, [
        click.option("--attributes", multiple=True, metavar="COLUMNS",
                     help="Columns that may describe groups, separated by commas. May be repeated.  [default: others]"),
        click.option("--exclude", multiple=True, metavar="COLUMNS",
                     help="Columns to leave out, separated by commas. May be repeated."),
        click.option("--given-in-criteria", is_flag=True, default=None, help="Legitimate factors may describe groups."),
        click.option("--group-of-interest", "groups_of_interest", multiple=True, metavar="WORDS",
                     help="Group to test too, on all data: 'sex = F and age > 60'. May be repeated."),
        click.option("--split", help="Column with two values: rows of the lower one are searched, the others test."),
        click.option("--assess-on", type=click.Path(), metavar="FILE2",
                     help="Search on FILE, and test what is found on this file."),
        click.option("--fraction", type=float, help="Share of people on whom groups are searched.  [default: 0.5]"),
        click.option("--ranking", help="confidence (smallest p first) or magnitude.  [default: confidence]"),
        click.option("--groups", type=int, help="How many groups to list.  [default: 3]"),
        click.option("--trees", type=int, help="How many trees to grow.  [default: 25]"),
        click.option("--alpha", type=float, help="Nodes split while p is below this.  [default: 0.1]"),
        click.option("--preset", help="paper: the search of the 2023 paper."),
        click.option("--method", help="Search as another system does: subset-scan, cart, ...; see docs/baselines.md."),
        click.option("--explore/--no-explore", default=None,
                     help="List distinct groups found by exploring, or all leaves of the forest.  [default: explore]"),
        click.option("--repeats", type=int, help="Random halvings, for the stability of findings.  [default: 1]"),
        click.option("--seed", type=int, help="Same seed, same result.  [default: 0]"),
        click.option("--profile", help="Also count what a law asks for: nyc-ll144 or eu-ai-act."),
        click.option("--profile-column", "profile_columns", multiple=True, metavar="ROLE=COLUMN",
                     help="Column of the profile's categories: sex=COLUMN, race=COLUMN. May be repeated."),
        click.option("--threads", type=int, help="Threads to use; does not change the result.  [default: all cores]"),
    ])  # fmt: skip


@cli.command()
@click.argument("file", type=click.Path())
@_data_options
@_search_options
@_output_options
def audit(
    file: str, assess_on: str | None, config: str | None, format_: str, output: tuple[str, ...], **options: Any
) -> None:
    """Audit FILE (CSV, TSV, Parquet, JSON lines; also .gz and .zst; a database) and print the groups found.

    \b
    ald audit decisions.csv --outcome approved
    ald audit postgresql://ann@db.example/loans --query "select * from decisions" --outcome approved
    ald audit decisions.parquet --engine spark --outcome approved
    ald audit scores.parquet --prediction high_risk --truth reoffended --notion "equalized odds"
    """
    settings = _read_config(config) | _given(options)
    if assess_on is not None:
        if "split" in settings:
            raise SettingError("give either --split or --assess-on: both say who tests what was found")
        settings["split"] = (file, assess_on)
    _check_targets(output, [file, *([] if assess_on is None else [assess_on])])
    _show(_run("audit", settings if assess_on is not None else settings | {"data": file}), format_, output)


@cli.command()
@click.argument("file", type=click.Path())
@click.option("--group", "groups", multiple=True, metavar="WORDS", help="Group to test. May be repeated.")
@_data_options
@_output_options
def test(
    file: str, groups: tuple[str, ...], config: str | None, format_: str, output: tuple[str, ...], **options: Any
) -> None:
    """Test groups that you name on all of FILE, without any search.

    \b
    ald test decisions.csv --outcome approved --group "sex = F and age > 60" --group "region = north"
    """
    settings = _read_config(config) | _given(options)
    named = settings.pop("groups_of_interest", ())
    chosen = groups or ((named,) if isinstance(named, str) else tuple(named))
    if not chosen:
        raise SettingError('name at least one group: --group "sex = F and age > 60"')
    unknown = sorted(set(settings) - _TEST_KEYS)
    if unknown:
        raise SettingError(f"`ald test` searches nothing and takes no option {unknown[0]!r}")
    _check_targets(output, [file])
    _show(_run("assess", settings | {"data": file, "groups": chosen}), format_, output)


def _check_targets(output: tuple[str, ...], data: list[str]) -> None:
    """Raises where a report cannot be written, or would overwrite the data."""
    from ald.report.files import check_targets

    check_targets(output)
    for path in output:
        for file in data:
            _keep_input(path, file, "data")


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
    """Audit the embedded data set, graduate admissions at Berkeley in 1973: plainly, and given the department.

    Reports, and formats other than the table, are of the audit given the department.
    """
    from ald.datasets import load_berkeley

    _check_targets(output, [])
    click.echo(
        "Graduate admissions at Berkeley, 1973: 4,526 applicants, six departments. Who was admitted?",
        err=True,
    )
    settings = {"data": load_berkeley(), "outcome": "admitted", "favourable": "yes", "seed": seed}
    if format_ == "table":
        _print_table(_run("audit", settings), brief=True)
        click.echo("Departments differ, which nobody doubted. Are women treated differently given the department?\n")
    given = {"given": "department", "groups_of_interest": "gender = female"}
    _show(_run("audit", settings | given), format_, output)


@cli.command()
@click.argument("document", type=click.Path())
@click.option(
    "-o",
    "--output",
    multiple=True,
    required=True,
    type=click.Path(),
    help="Where to write; format by ending: .html, .pdf, .xlsx, .md, .csv, .json, .txt. May be repeated.",
)
@click.option(
    "--data", type=click.Path(), help="The file that was audited: the report then gives its SHA-256 as it is now."
)
def report(document: str, output: tuple[str, ...], data: str | None) -> None:
    """Write reports of an earlier audit from its JSON DOCUMENT.

    \b
    ald audit decisions.csv --outcome approved --output audit.json
    ald report audit.json --output audit.html --data decisions.csv
    """
    from dataclasses import replace

    from ald.data.inputs.fingerprint import sha256
    from ald.groups.criterion import visible
    from ald.report.files import check_targets, write_report
    from ald.results.audit import Audit

    check_targets(output)
    for path in output:
        _keep_input(path, document, "document")
    for source in (document, data):
        if source is not None and not os.path.isfile(source):
            raise InputError(f"there is no file {source!r}")
    with open(document, "rb") as file:
        result = Audit.from_json(file.read())
    result = replace(result, input_sha256=None if data is None else sha256(data))
    for path in output:
        write_report(result, path)
        click.echo(f"Wrote {visible(path)}", err=True)


@cli.command()
def notions() -> None:
    """List the fairness notions."""
    from rich.table import Table

    from ald.notions import ALIASES, NOTIONS

    table = Table("notion", "rates compared", "asks for", "needs")
    for notion in NOTIONS.values():
        rates = ", ".join(f"{rate.name} ({rate.key})" for rate in notion.rates)
        also = ", ".join(alias for alias, name in ALIASES.items() if name == notion.name)
        table.add_row(
            notion.name, also, rates, notion.description, "prediction, truth" if notion.needs_truth else "outcome"
        )
    _console().print(table)
    for name in NOTIONS:
        also = ", ".join(alias for alias, own in ALIASES.items() if own == name)
        _console().print(f"{name} is also called {also}.")


@cli.command()
def version() -> None:
    """Print the version."""
    click.echo(f"ald {__version__}")


def _keep_input(path: str, source: str, what: str) -> None:
    """Raises if a report would take the place of what it is made from."""
    if os.path.exists(path) and os.path.exists(source) and os.path.samefile(path, source):
        raise SettingError(f"the report {path!r} would overwrite the {what}")


for command in (*commands.ALL, look):
    cli.add_command(command)


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """The options that were given, in the form that `ald.audit` takes."""
    given = {name: value for name, value in options.items() if value is not None and value != ()}
    for name in ("attributes", "exclude", "given"):
        if name in given:
            given[name] = [column for text in given[name] for column in commands.split_names(text)]
    if "favourable" in given:
        given["favourable"] = _favourable(given["favourable"], given.get("outcome", ()))
    for name in ("outcome", "notion"):
        if name in given and len(given[name]) == 1:
            given[name] = given[name][0]
    if "kinds" in given:
        given["kinds"] = dict(_parse_kind(text) for text in given["kinds"])
    if "profile_columns" in given:
        given["profile_columns"] = dict(_parse_role(text) for text in given["profile_columns"])
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
        raise SettingError(f"--profile-column {text!r} is not of the form ROLE=COLUMN, such as sex=gender")
    return role, column


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
    settings = british(settings)
    for key, value in settings.items():
        if key not in _CONFIG_KEYS:
            raise SettingError(f"the config file {path!r} has an unknown option {key!r}. {nearest(key, _CONFIG_KEYS)}")
        accepted = _CONFIG_KEYS[key]
        if not isinstance(value, accepted):
            raise SettingError(
                f"option {key!r} of the config file {path!r} must be of type {accepted[-1].__name__}, not {value!r}"
            )
    return settings


def _run(name: str, settings: dict[str, Any]) -> Audit:
    """The result of `ald.audit` or `ald.assess`."""
    with _progress() as progress:
        import ald

        return ald.audit(progress=progress, **settings) if name == "audit" else ald.assess(**settings)


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[str, float], None] | None]:
    """A bar on stderr if that is a terminal; otherwise nothing."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    # Nobody knows how long loading takes: until it is done the bar moves to and fro, and the clock runs.
    steps = {"search": (0.0, 0.9), "repeat": (0.0, 0.9), "assess": (0.9, 0.06), "rank": (0.96, 0.04)}
    shown = TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeElapsedColumn()
    with Progress(*shown, console=_console(stderr=True), transient=True) as bar:
        task = bar.add_task("load", total=None)

        def update(step: str, share: float) -> None:
            if step in steps:
                start, width = steps[step]
                bar.update(task, description=step, total=1.0, completed=start + width * share)

        yield update


def _console(*, stderr: bool = False) -> Any:
    from rich.console import Console

    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


def _show(result: Audit, format_: str, output: tuple[str, ...]) -> None:
    from ald.groups.criterion import visible
    from ald.report.files import write_report

    for path in output:
        write_report(result, path)
        click.echo(f"Wrote {visible(path)}", err=True)
    if format_ == "table":
        _print_table(result)
    else:
        text = {"json": result.to_json, "csv": result.to_csv, "markdown": result.to_markdown}[format_]()
        click.echo(text, nl=False)


def _print_table(result: Audit, *, brief: bool = False) -> None:
    """Prints the listed groups and, unless it should be brief, what was done."""
    from rich import box
    from rich.table import Table

    from ald.groups.criterion import visible
    from ald.report.law import profile_sections
    from ald.report.sentences import headline
    from ald.report.summary import LIMITATION, facts
    from ald.report.summary import result as result_of
    from ald.report.table import printed
    from ald.report.text import section_text

    console = _console()
    console.print(visible(headline(result)), style="bold")
    console.print(visible(result_of(result)))
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
            rest = ", ".join(
                f"{cell.header} {cell.text(finding)}" for cell in cells if not cell.is_main and cell.text(finding)
            )
            console.print(visible(f"Group {i}: {rest}."))
    for fact in [] if brief else facts(result):
        console.print(visible(fact), style="yellow" if fact.startswith("Warning") else "dim")
    for section in profile_sections(result):
        console.print(f"\n{section_text(section)}", soft_wrap=True)
    if not brief:
        console.print(LIMITATION, style="dim italic")
