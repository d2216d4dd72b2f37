"""`ald report`: reports of an earlier audit."""

from __future__ import annotations

import os
from typing import Any

import click

from ald.cli.files import LONGEST_DOCUMENT, check_kept, read_side_file
from ald.cli.options import identity_options
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
    help="File to write; its ending is the format: .html, .pdf, .xlsx, .md, .csv, .json, .txt. May be repeated.",
)
@click.option(
    "--data", type=click.Path(), help="The file that was audited. The report then shows its SHA-256 as it is now."
)
@identity_options
def report(document: str, output: tuple[str, ...], data: str | None, **identity: Any) -> None:
    """Write reports of an earlier audit, comparison or watch from its JSON DOCUMENT.

    \b
    ald audit decisions.csv --outcome approved --output audit.json
    ald report audit.json --output audit.html --data decisions.csv
    """
    from dataclasses import replace

    from ald.data.inputs.fingerprint import sha256
    from ald.groups.criterion import visible
    from ald.report.files import check_targets, write_report
    from ald.report.identity import identify
    from ald.results.opening import open_document

    check_targets(output)
    for path in output:
        check_kept(path, document, "document")
    for source in (document, data):
        if source is not None and not os.path.isfile(source):
            raise InputError(f"there is no file {source!r}")
    result = open_document(read_side_file(document, "document", LONGEST_DOCUMENT))
    told = identify(identity["title"] or result.TITLE, identity["notes"], identity["date"])
    if data is not None:
        result = replace(result, input_name=os.path.basename(data), input_sha256=sha256(data))
    for path in output:
        write_report(result, path, told)
        tell(f"Wrote {visible(path)}")
