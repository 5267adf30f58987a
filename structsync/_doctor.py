"""The command `structsync doctor`: whether an engine keeps what sessions promise."""

from __future__ import annotations

import sys
from functools import partial

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

#: As for other commands: something does not hold; something could not be found out; the command is wrong.
WRONG, UNKNOWN, USAGE = 1, 2, 64

STYLES = {"holds": "green", "note": "yellow", "unknown": "yellow", "does not hold": "bold red"}


@click.command()
@click.argument("url", envvar="STRUCTSYNC_URL")
@click.option(
    "--namespace", default="default", help="The namespace that the programs use.", show_default=True
)
@click.option("--ttl", type=float, help="The ttl that they use; by default that of open_session.")
def doctor(url: str, namespace: str, ttl: float | None) -> None:
    """Check whether sessions at URL would keep their promises.

    URL is redis://..., rediss://..., unix://... or sqlite:///path, as in open_session. If it has a
    password, set STRUCTSYNC_URL instead, because other users can see the arguments of a command. It
    takes a lock in the namespace, makes the file if there is none, and changes nothing else.

    The exit code is 0 if everything holds, 1 if something does not, 2 if something is unknown, 64 if
    the URL is wrong.
    """
    import trio

    try:
        verdicts = trio.run(partial(_examine, url, namespace, ttl))
    except ValueError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(USAGE)
    if "does not hold" in verdicts:
        sys.exit(WRONG)
    if "unknown" in verdicts:
        sys.exit(UNKNOWN)


async def _examine(url: str, namespace: str, ttl: float | None) -> list[str]:
    from .distributed.examination import examine

    table = Table(box=None, show_header=False, pad_edge=False)
    verdicts: list[str] = []
    async for what, verdict, text in examine(url, namespace, ttl):
        verdicts.append(verdict)
        table.add_row(what, Text(verdict, STYLES[verdict]), Text(text))
    Console().print(table)
    return verdicts
