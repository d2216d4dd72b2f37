"""`ald verify`: whether a report is true of its data."""

from __future__ import annotations

from typing import Any

import click

from ald.cli.options import parse_options, table_options


@click.command()
@click.argument("report", type=click.Path())
@click.argument("file", type=click.Path(), nargs=-1, required=True)
@click.option(
    "--assess-on", type=click.Path(), metavar="FILE2", help="The file on which groups were tested, if it was another."
)
@table_options("verify")
def verify(report: str, file: tuple[str, ...], assess_on: str | None, **options: Any) -> int:
    """Do the audit of REPORT again on FILE, and say whether every number is the same.

    REPORT is an HTML report or the JSON document of an audit. Exit code 0: all is the same; 1: something is not.

    \b
    ald verify audit.html decisions.csv
    """
    from ald.verifying import verify as run

    data: Any = file[0] if len(file) == 1 else list(file)
    found = run(report, data if assess_on is None else (data, assess_on), **parse_options("verify", options))
    click.echo(str(found))
    return 0 if found.is_same else 1
