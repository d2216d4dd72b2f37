"""`ald watch`: groups along time."""

from __future__ import annotations

import contextlib
from typing import Any

import click

from ald.cli.files import LONGEST_DOCUMENT, check_kept, check_outputs, from_stdin, read_side_file
from ald.cli.options import output_options, parse_options, read_config, table_options
from ald.cli.terminal import show
from ald.errors import SettingError


@click.command()
@click.argument("file", nargs=-1, required=True, type=click.Path())
@table_options("watch")
@output_options
def watch(
    file: tuple[str, ...],
    config: str | None,
    format_: str,
    output: tuple[str, ...],
    title: str | None,
    notes: str | None,
    date: str | None,
    **options: Any,
) -> None:
    """Watch groups of people along the time in FILE: has the gap of any of them changed?

    \b
    ald watch decisions.csv --by decided_on --every month --outcome approved
    """
    from ald.report.identity import identify
    from ald.results.audit import Audit
    from ald.results.watch import Watch
    from ald.watching.watching import watch_with

    identity = identify(title or Watch.TITLE, notes, date)
    settings = read_config(config, "watch") | parse_options("watch", options)
    if "by" not in settings:
        raise SettingError("name the column of dates: --by COLUMN")
    first = settings.pop("first", None)
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(from_stdin(one)) for one in file]
        check_outputs(output, files)
        if first is not None:
            for path in output:
                check_kept(path, first, "document")
            settings["first"] = Audit.from_json(read_side_file(first, "document", LONGEST_DOCUMENT))
        own = {key: settings.pop(key) for key in ("by", "every", "first", "looks") if key in settings}
        settings["data"] = files[0] if len(files) == 1 else files
        show(watch_with(settings, **own), format_, output, identity)
