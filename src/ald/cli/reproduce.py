"""`ald reproduce`: the paper's study, run again."""

from __future__ import annotations

import click

PARTS = ("all", "fig-tree", "fig-location", "fig-variants", "fig-data", "table-adult", "table-compas")


@click.command()
@click.argument("what", type=click.Choice(PARTS))
@click.option(
    "--runs", type=click.IntRange(1), default=100, show_default=True, help="Number of random data sets per scenario."
)
@click.option("--jobs", type=click.IntRange(1), help="Number of processes.  [default: all cores]")
@click.option("-o", "--output", type=click.Path(file_okay=False), default="reproduction", show_default=True,
              help="Folder for the results and for finished runs, which are not computed again.")  # fmt: skip
def reproduce(what: str, runs: int, jobs: int | None, output: str) -> None:
    """Run the paper's study again: WHAT is one of its figures and tables, or all.

    May be interrupted: finished runs are kept, and the same command goes on from there.
    """
    from pathlib import Path

    from ald.study.reproduce import reproduce as run

    for path in run(what, runs=runs, output=Path(output), jobs=jobs, progress=_Pace()):
        click.echo(f"Wrote {path}", err=True)


class _Pace:
    """Says now and then on standard error what was done and how long the rest will take."""

    def __init__(self) -> None:
        self._said = -1.0

    def __call__(self, name: str, share: float, seconds: float | None) -> None:
        if share >= 1 or share - self._said >= 0.01:
            self._said = share
            left = "" if seconds is None else f", about {_duration(seconds)} left"
            click.echo(f"{share:6.1%} done{left} ({name})", err=True)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
