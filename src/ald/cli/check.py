"""`ald check`: the gate for CI."""

from __future__ import annotations

import os

import click

from ald.cli.options import format_option
from ald.cli.terminal import show_progress
from ald.errors import SettingError, nearest


@click.command()
@click.argument("names", nargs=-1)
@click.option("--policy", type=click.Path(), help="The file with the checks.  [default: ald.toml, pyproject.toml]")
@format_option(("text", "json", "junit", "github", "markdown"))
@click.option(
    "-o",
    "--output",
    multiple=True,
    type=click.Path(),
    help="Also write the verdicts; format by ending: .xml (JUnit), .md, .json, .txt. May be repeated.",
)
def check(names: tuple[str, ...], policy: str | None, format_: str, output: tuple[str, ...]) -> int:
    """Run the checks of a policy, or those called NAMES, on their data.

    Exit codes: 0 all pass, 1 one fails, 3 one has not enough evidence, 2 errors.

    \b
    ald check
    ald check approvals --policy audits/ald.toml --format github --output checks.xml
    """
    from ald.gate.rendering import ENDINGS, FORMATS, exit_code
    from ald.gate.running import run_checks
    from ald.groups.criterion import visible
    from ald.report.whole import check_replaceable, write_whole

    for path in output:
        ending = os.path.splitext(path)[1].casefold()
        if ending not in ENDINGS:
            raise SettingError(f"cannot tell the format of {path!r} by its ending. {nearest(ending, ENDINGS)}")
        check_replaceable(path)
    with show_progress() as progress:
        verdicts = run_checks(policy, names, progress)
    for path in output:
        content = FORMATS[ENDINGS[os.path.splitext(path)[1].casefold()]](verdicts)
        write_whole(path, content.encode())
        click.echo(f"Wrote {visible(path)}", err=True)
    click.echo(FORMATS[format_](verdicts), nl=False)
    return exit_code(verdicts)
