"""The command `ald look`."""

from __future__ import annotations

import json
from typing import Any

import click


@click.command()
@click.argument("file", type=click.Path())
@click.option("--outcome", help="Column to audit.  [default: guessed]")
@click.option("--favourable", "--favorable", help="Its value that is good for people.  [default: guessed]")
@click.option("--prediction", help="Column of predictions; with --truth, instead of --outcome.")
@click.option("--truth", help="Column of what was true.")
@click.option("--query", help="What to select, where FILE is the address of a database: postgresql://...")
@click.option("--memory-limit", metavar="SIZE", help="Memory to use, such as 4GB.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True,
              help="What to print.")  # fmt: skip
def look(file: str, format_: str, **options: Any) -> None:
    """Look at FILE before an audit: its columns, what they may be, what an audit could see, and the next command.

    \b
    ald look decisions.csv
    ald look decisions.csv --outcome approved --favourable yes
    """
    from ald.looking import look as run

    seen = run(file, **options)
    click.echo(json.dumps(seen.to_dict(), indent=2, ensure_ascii=False) if format_ == "json" else str(seen))
