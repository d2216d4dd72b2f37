"""Commands that list what ALD has: notions, data sets, its version."""

from __future__ import annotations

import click

from ald._core.version import __version__


@click.command()
def notions() -> None:
    """List the fairness notions."""
    from rich.table import Table

    from ald.notions import ALIASES, NOTIONS, SCORE_NOTIONS
    from ald.report.terminal import open_console

    table = Table("notion", "rates or means compared", "asks for", "needs")
    for notion in NOTIONS.values():
        rates = ", ".join(f"{rate.name} ({rate.key})" for rate in notion.rates)
        table.add_row(notion.name, rates, notion.description, "prediction, truth" if notion.needs_truth else "outcome")
    for notion in SCORE_NOTIONS.values():
        means = ", ".join(mean.name for mean in notion.rates)
        table.add_row(notion.name, means, notion.description, "score, truth" if notion.needs_truth else "score")
    console = open_console()
    console.print(table)
    for name in NOTIONS:
        also = ", ".join(alias for alias, own in ALIASES.items() if own == name)
        if also:
            console.print(f"{name} is also called {also}.")


@click.command()
def data() -> None:
    """List the data sets that ALD can load, with licence and source."""
    from ald.datasets import PUBLIC

    click.echo("berkeley: graduate admissions at Berkeley in 1973; embedded. ald.datasets.load_berkeley()")
    click.echo("synthetic 1 to 5: random data with known disparities. ald.datasets.make_synthetic(1)")
    for entry in PUBLIC:
        click.echo(f"{entry.name}: {entry.title}, {entry.rows:,} people. ald.datasets.load_{entry.name}()")
        click.echo(f"  licence: {entry.licence}\n  source: {entry.source}")
        for file in entry.files:
            click.echo(f"  file: {file.name}, SHA-256 {file.sha256}")
    click.echo("Public data is read from the folder that ALD_DATA names, or fetched and kept in a cache.")


@click.command()
def version() -> None:
    """Print the version."""
    click.echo(f"ald {__version__}")
