"""``python -m structsync``: the command, where its script is not on PATH."""

from .cli import main

main(prog_name="python -m structsync")
