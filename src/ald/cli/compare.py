"""`ald compare`: two models on the same people."""

from __future__ import annotations

from typing import Any

import click

from ald.cli.files import check_outputs, from_stdin
from ald.cli.options import output_options, parse_options, read_config, table_options
from ald.cli.terminal import show
from ald.errors import SettingError
from ald.options.table import READING


@click.command()
@click.argument("file", type=click.Path())
@table_options("compare")
@output_options
def compare(
    file: str,
    config: str | None,
    format_: str,
    output: tuple[str, ...],
    title: str | None,
    notes: str | None,
    date: str | None,
    **options: Any,
) -> None:
    """Compare two models on the people of FILE: which groups gain or lose when the first is replaced?

    \b
    ald compare scores.csv --prediction in_use --prediction candidate --truth repaid
    """
    from ald.comparison.comparing import compare as run
    from ald.options.objects import Source
    from ald.report.identity import identify
    from ald.results.comparison import Comparison

    identity = identify(title or Comparison.TITLE, notes, date)
    settings = read_config(config, "compare") | parse_options("compare", options)
    for key, flag in (("predictions", "--prediction"), ("truth", "--truth")):
        if key not in settings:
            raise SettingError(f"missing option {flag!r}: two models' predictions and the truth are compared")
    reading = {key: settings.pop(key) for key in READING if key in settings}
    with from_stdin(file) as data:
        check_outputs(output, [data])
        show(run(Source(data=data, **reading), **settings), format_, output, identity)
