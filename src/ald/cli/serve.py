"""`ald serve`: audits as a page in the browser."""

from __future__ import annotations

from typing import Any

import click

from ald.cli.terminal import tell


@click.command()
@click.argument("file", type=click.Path(), required=False)
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=8737, show_default=True, help="Port; 0 takes a free one."
)
@click.option("--no-open", is_flag=True, help="Do not open the browser.")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Address to serve at. Any but this machine's own demands a token, which is in the address shown.",
)
@click.option("--token", is_flag=True, help="Demand a token on this machine too, where others use it as well.")
@click.option(
    "--memory-limit",
    metavar="SIZE",
    help="Memory that each audit may take, such as 4GB.  [default: three quarters of the machine's]",
)
@click.option("--upload-limit", metavar="SIZE", help="Largest file that may be sent.  [default: 2GB]")
def serve(file: str | None, no_open: bool, token: bool, **options: Any) -> None:
    """Open audits as a page in the browser: look at data, ask, and read the report. Nothing leaves the machine.

    \b
    ald serve
    ald serve decisions.csv
    ald serve --no-open --port 8080
    """
    from ald.web.serving import serve as run

    try:
        run(file, open_browser=not no_open, demand_token=token, say=click.echo, **options)
    except KeyboardInterrupt:
        tell("Stopped. Nothing was kept.")
