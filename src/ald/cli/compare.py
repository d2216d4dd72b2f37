"""`ald compare`: two models on the same people."""

from __future__ import annotations

from typing import Any

import click

from ald.cli.files import check_kept
from ald.cli.options import format_option, parse_options, table_options
from ald.errors import SettingError
from ald.options.table import READING


@click.command()
@click.argument("file", type=click.Path())
@table_options("compare", required=("predictions", "truth"))
@format_option(("text", "json", "markdown"))
@click.option("-o", "--output", multiple=True, type=click.Path(),
              help="Also write the report; its ending is the format: .json, .md, .txt. May be repeated.")  # fmt: skip
def compare(file: str, format_: str, output: tuple[str, ...], **options: Any) -> None:
    """Compare two models on the people of FILE: which groups gain or lose when the first is replaced?

    \b
    ald compare scores.csv --prediction in_use --prediction candidate --truth repaid
    """
    from ald.comparison.comparing import compare as run
    from ald.options.objects import Source
    from ald.report.files import check_target, format_of
    from ald.report.whole import write_whole

    endings = {"json": "json", "md": "markdown", "markdown": "markdown", "txt": "text"}
    for path in output:
        check_target(path)
        if format_of(path) not in endings:
            raise SettingError(f"a comparison is written as .json, .md or .txt, not as {path!r}")
        check_kept(path, file, "data")
    settings = parse_options("compare", options)
    reading = {key: settings.pop(key) for key in READING if key in settings}
    found = run(Source(data=file, **reading), **settings)
    renderers = {"text": lambda: f"{found}\n", "json": found.to_json, "markdown": found.to_markdown}
    for path in output:
        write_whole(path, renderers[endings[format_of(path)]]().encode())
        click.echo(f"Wrote {path}", err=True)
    click.echo(renderers[format_](), nl=False)
