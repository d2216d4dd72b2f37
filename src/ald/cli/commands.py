"""Commands of `ald` beside the audit: data sets, the study, and the comparison of two models."""

from __future__ import annotations

import re

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


PARTS = ("all", "fig-tree", "fig-location", "fig-variants", "fig-data", "table-adult", "table-compas")


@click.command()
@click.argument("what", type=click.Choice(PARTS))
@click.option("--runs", type=click.IntRange(1), default=100, show_default=True, help="Random data sets per cell.")
@click.option("--jobs", type=click.IntRange(1), help="Processes.  [default: all cores]")
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


@click.command()
@click.argument("file", type=click.Path())
@click.option("--prediction", "predictions", multiple=True, help="Column of a model's predictions; twice, the model in "
              "use first.")  # fmt: skip
@click.option("--truth", required=True, help="Column of what was true.")
@click.option("--favourable", "--favorable", help="The positive value (not needed for 0/1 and true/false).")
@click.option("--attributes", help="Columns that may describe groups, separated by commas.  [default: others]")
@click.option("--weights", help="Column that says how many people a row stands for.")
@click.option("--notion", default="equalized odds", show_default=True, help="Fairness notion.")
@click.option("--groups", type=int, default=3, show_default=True, help="How many groups to list.")
@click.option("--alpha", type=float, default=0.1, show_default=True, help="Nodes split while p is below this.")
@click.option("--level", type=float, default=0.05, show_default=True, help="Corrected p up to which a group is listed.")
@click.option("--adjust", default="bh", show_default=True, help="Correction: bh, by, bonferroni or none.")
@click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same result.")
@click.option("--format", "format_", type=click.Choice(["text", "json", "markdown"]), default="text", show_default=True,
              help="What to print.")  # fmt: skip
@click.option("-o", "--output", multiple=True, type=click.Path(),
              help="Also write the report; format by ending: .json, .md, .txt. May be repeated.")  # fmt: skip
def compare(
    file: str,
    predictions: tuple[str, ...],
    attributes: str | None,
    format_: str,
    output: tuple[str, ...],
    **options: str | float | int | None,
) -> None:
    """Compare two models on the people of FILE: which groups gain or lose when the first is replaced?

    \b
    ald compare scores.csv --prediction in_use --prediction candidate --truth repaid
    """
    import os

    from ald.comparison.comparing import compare as run
    from ald.errors import SettingError
    from ald.report.files import check_target, format_of
    from ald.report.whole import write_whole

    formats = {"json": "json", "md": "markdown", "markdown": "markdown", "txt": "text"}
    for path in output:
        check_target(path)
        if format_of(path) not in formats:
            raise SettingError(f"a comparison is written as .json, .md or .txt, not as {path!r}")
        if os.path.exists(path) and os.path.exists(file) and os.path.samefile(path, file):
            raise SettingError(f"the report {path!r} would overwrite the data")
    names = None if attributes is None else split_names(attributes)
    found = run(file, predictions=predictions, attributes=names, **options)  # type: ignore[arg-type]
    renderers = {"text": lambda: f"{found}\n", "json": found.to_json, "markdown": found.to_markdown}
    for path in output:
        write_whole(path, renderers[formats[format_of(path)]]().encode())
        click.echo(f"Wrote {path}", err=True)
    click.echo(renderers[format_](), nl=False)


def split_names(text: str) -> list[str]:
    """Names separated by commas; a name with a comma or quote inside stands in double quotes, as in CSV."""
    fields = re.findall(r'\s*(?:"((?:[^"]|"")*)"|([^,]*?))\s*(?:,|$)', text)
    return [quoted.replace('""', '"') or plain for quoted, plain in fields if quoted or plain]


ALL = (data, reproduce, compare)
