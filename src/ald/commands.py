"""Commands of `ald` beside the audit: data sets, the study, and the comparison of two models."""

from __future__ import annotations

import click


@click.command()
def data() -> None:
    """List the data sets that come with ALD, with licence and source."""
    from ald.datasets import PUBLIC

    click.echo("berkeley: graduate admissions at Berkeley in 1973; embedded. ald.datasets.load_berkeley()")
    click.echo("synthetic 1 to 5: random data with known disparities. ald.datasets.make_synthetic(1)")
    for entry in PUBLIC:
        click.echo(f"{entry.name}: {entry.title}, {entry.rows:,} people. ald.datasets.load_{entry.name}()")
        click.echo(f"  licence: {entry.licence}\n  source: {entry.source}")
        for file in entry.files:
            click.echo(f"  file: {file.name}, SHA-256 {file.sha256}")
    click.echo("Public data is read from the folder that ALD_DATA names, or fetched and kept in a cache.")


ALL = (data,)
