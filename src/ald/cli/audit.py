"""The commands that audit: `ald audit`, `ald profile` and `ald demo`."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import click

from ald.cli.files import check_outputs, from_stdin
from ald.cli.options import (
    FORMATS,
    format_option,
    identity_options,
    output_options,
    parse_options,
    read_config,
    table_options,
)
from ald.cli.terminal import show, show_progress
from ald.errors import SettingError

if TYPE_CHECKING:
    from ald.options.table import Command
    from ald.results.audit import Audit

_assess_on = click.option("--assess-on", type=click.Path(), metavar="FILE2",
                          help="Search on FILE, and test the groups found on this file.")  # fmt: skip


@click.command()
@click.argument("file", type=click.Path(), nargs=-1, required=True)
@table_options("audit")
@_assess_on
@output_options
def audit(file: tuple[str, ...], **options: Any) -> None:
    """Audit FILE and print the groups found: CSV, TSV, Parquet, JSON lines (also .gz, .zst), Excel, SQLite; a database.

    Several files of one shape, or a folder of them, are audited together; "-" is standard input.

    \b
    ald audit decisions.csv --outcome approved
    ald audit postgresql://ann@db.example/loans --query "select * from decisions" --outcome approved
    ald audit decisions.parquet --engine spark --outcome approved
    ald audit scores.parquet --prediction high_risk --truth reoffended --notion "equalized odds"
    ald audit decisions.csv --outcome approved --search none --named-group "sex = F and age > 60"
    """
    _audit("audit", file, **options)


@click.command()
@click.argument("name")
@click.argument("file", type=click.Path(), nargs=-1, required=True)
@table_options("profile")
@_assess_on
@output_options
def profile(name: str, file: tuple[str, ...], **options: Any) -> None:
    """Audit FILE, and count what a law asks for: NAME is nyc-ll144, eu-ai-act or adverse-impact.

    \b
    ald profile nyc-ll144 decisions.csv --outcome hired --column sex=gender --column race=ethnicity
    """
    _audit("profile", file, profile=name, **options)


def _audit(
    command: Command,
    file: tuple[str, ...],
    *,
    assess_on: str | None,
    config: str | None,
    format_: str,
    output: tuple[str, ...],
    title: str | None,
    notes: str | None,
    date: str | None,
    profile: str | None = None,
    **options: Any,
) -> None:
    from ald.report.identity import identify

    identity = identify(title, notes, date)
    settings = read_config(config, command) | parse_options(command, options)
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(from_stdin(one)) for one in file]
        data = files[0] if len(files) == 1 else files
        if assess_on is None:
            settings["data"] = data
        elif "split" in settings:
            raise SettingError("give either --split or --assess-on: both say who tests what was found")
        else:
            settings["split"] = (data, assess_on)
        check_outputs(output, [*files, *([] if assess_on is None else [assess_on])])
        columns = settings.pop("columns", None)
        show(_run(settings, profile=profile, columns=columns), format_, output, identity)


@click.command()
@format_option(FORMATS)
@click.option("-o", "--output", multiple=True, type=click.Path(), help="Also write a report; its ending is the format.")
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Seed of all random numbers: same seed, same result."
)
@identity_options
def demo(format_: str, output: tuple[str, ...], seed: int, **identity: Any) -> None:
    """Audit the embedded data set, graduate admissions at Berkeley in 1973: as it is, and given the department.

    Reports, and formats other than the table, are of the audit given the department.
    """
    from ald.datasets import load_berkeley
    from ald.report.identity import identify
    from ald.report.terminal import print_named, print_report

    check_outputs(output, [])
    told = identify(**identity)
    settings = {"data": load_berkeley(), "outcome": "admitted", "favourable": "yes", "seed": seed}
    given = _run(settings | {"given": "department", "named_groups": "gender = female"})
    if format_ == "table":
        click.echo("Graduate admissions at Berkeley, 1973: 4,526 applicants, six departments. Who was admitted?\n")
        print_report(_run(settings).report(), brief=True)
        click.echo("\nDepartments differ. Are women treated differently when compared within their department?\n")
        print_named(given.report())
    show(given, None if format_ == "table" else format_, output, told)


def _run(settings: dict[str, Any], **profile: Any) -> Audit:
    """The audit, with a bar while it runs."""
    with show_progress() as progress:
        from ald.auditing import audit_with

        return audit_with(settings | {"progress": progress}, **profile)
