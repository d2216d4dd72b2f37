"""`ald report`: reports of an earlier audit."""

from __future__ import annotations

import os

import click

from ald.cli.files import LONGEST_DOCUMENT, check_kept, read_side_file
from ald.cli.terminal import tell
from ald.errors import InputError


@click.command()
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
        check_kept(path, document, "document")
    for source in (document, data):
        if source is not None and not os.path.isfile(source):
            raise InputError(f"there is no file {source!r}")
    result = Audit.from_json(read_side_file(document, "document", LONGEST_DOCUMENT))
    result = replace(result, input_sha256=None if data is None else sha256(data))
    for path in output:
        write_report(result, path)
        tell(f"Wrote {visible(path)}")
