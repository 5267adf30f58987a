"""The command `structsync top`: a view of a program that runs, in a terminal."""

from __future__ import annotations

import os
import select
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import click
from rich.console import Console
from rich.live import Live

from .top_client import Client, NoAnswer
from .top_screen import Screen

#: From which variable the token comes: on a command line every user of the machine would see it.
TOKEN = "STRUCTSYNC_TOKEN"
_ESCAPES = ("\x1b[A", "\x1b[B", "\x1bOA", "\x1bOB")
_NAMES = {
    **dict(zip(_ESCAPES, ("up", "down", "up", "down"), strict=True)),
    "\r": "enter",
    "\n": "enter",
    "\x7f": "esc",
    "\x08": "esc",
    "\x1b": "esc",
    "\x03": "q",
}


class Keys(Protocol):
    """Where keys come from."""

    def read(self, seconds: float) -> str | None:
        """Return the next key; None if there is none in this time."""
        ...


class TerminalKeys:
    """The keys of a terminal."""

    def __init__(self, file: int) -> None:
        self._file = file
        self._text = ""

    def read(self, seconds: float) -> str | None:
        if not self._text:
            if not select.select([self._file], [], [], seconds)[0]:
                return None
            # What a terminal sends for one key comes in one piece; so do keys that are typed fast.
            self._text = os.read(self._file, 64).decode(errors="replace") or "q"
        sent = next((one for one in _ESCAPES if self._text.startswith(one)), self._text[0])
        self._text = self._text[len(sent) :]
        return _NAMES.get(sent, sent)


@contextmanager
def keys_of_terminal(file: int) -> Iterator[Keys]:
    """Read keys as they are pressed, and do not show them, while the block runs."""
    try:
        import termios
        import tty
    except ImportError:  # on Windows
        raise click.UsageError("top cannot read keys here; --once prints the primitives") from None
    before = termios.tcgetattr(file)
    try:
        tty.setcbreak(file)
        yield TerminalKeys(file)
    finally:
        termios.tcsetattr(file, termios.TCSADRAIN, before)


def watch(screen: Screen, console: Console, keys: Keys, every: float) -> None:
    """Show the screen, and do what keys ask for, until one of them ends it."""
    with Live(console=console, screen=True, auto_refresh=False) as live:
        ask_at = time.monotonic()
        while True:
            if time.monotonic() >= ask_at:
                refresh(screen)
                ask_at = time.monotonic() + every
            live.update(screen.render(console.size.height), refresh=True)
            key = keys.read(max(ask_at - time.monotonic(), 0))
            if key is not None and not press(screen, key):
                return


def refresh(screen: Screen) -> None:
    """Ask for what is shown; say so where there is no answer."""
    try:
        screen.refresh()
    except NoAnswer as error:
        screen.problem = str(error)
    except (KeyError, TypeError, ValueError, AttributeError):
        screen.problem = "what answers is not an inspector of this version"


def press(screen: Screen, key: str) -> bool:
    """Do what a key asks for; return whether to go on."""
    try:
        return screen.press(key)
    except NoAnswer as error:
        screen.problem = str(error)
        return True


@click.command(short_help="Watch a running program.")
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    help=f"A port of this machine, instead of PATH; the environment variable {TOKEN} has its token.",
)
@click.option(
    "--every",
    default=1.0,
    show_default=True,
    type=click.FloatRange(min=0.1),
    help="The seconds between two updates.",
)
@click.option("--once", is_flag=True, help="Print the primitives once, for a log, and end.")
def top(path: Path | None, port: int | None, every: float, once: bool) -> None:
    """Watch a program that has opened PATH by structsync.serve_inspector().

    Shows which tasks hold and wait for what, and for how long. Enter shows the holders and waiters of
    one primitive, and the stack of a task; w shows which tasks wait for which; q quits.
    """
    if (path is None) == (port is None):
        raise click.UsageError("give either PATH or --port")
    client = Client(path, port, os.environ.get(TOKEN))
    screen = Screen(client.ask)
    try:
        if once:
            screen.refresh()
            console = Console(width=None if sys.stdout.isatty() else 160)
            console.print(screen.render(10_000))
            return
        screen.refresh()  # a wrong path is an error of the command, not a screen
        if not sys.stdin.isatty() or not sys.stdout.isatty():
            raise click.UsageError("top needs a terminal; --once prints into a file or a pipe")
        with keys_of_terminal(sys.stdin.fileno()) as keys:
            watch(screen, Console(), keys, every)
    except NoAnswer as error:
        raise click.ClickException(str(error)) from None
    finally:
        client.close()
