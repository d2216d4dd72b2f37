"""`ald look`: what is in a file, before an audit."""

from __future__ import annotations

import json
from typing import Any

import click

from ald.cli.files import from_stdin
from ald.cli.options import format_option, parse_options, table_options
from ald.options.table import READING


@click.command()
@click.argument("file", type=click.Path())
@table_options("look")
@format_option(("text", "json"))
def look(file: str, format_: str, **options: Any) -> None:
    """Look at FILE before an audit: its columns, what they may be, what an audit could see, and the next command.

    \b
    ald look decisions.csv
    ald look decisions.csv --outcome approved --favourable yes
    """
    from ald.looking import look as run
    from ald.options.objects import Source

    settings = parse_options("look", options)
    reading = {key: settings.pop(key) for key in READING if key in settings}
    with from_stdin(file) as data:
        seen = run(Source(data=data, **reading), **settings)
    click.echo(json.dumps(seen.to_dict(), indent=2, ensure_ascii=False) if format_ == "json" else str(seen))
