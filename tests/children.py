"""Interpreters that tests start, with structsync as it is imported here."""

from __future__ import annotations

import os
from importlib.metadata import entry_points
from pathlib import Path

import structsync

PLUGIN = "structsync.testing._pytest.plugin"


def environment(*plugins: str, autoload: bool = False) -> dict[str, str]:
    """Return the environment of such an interpreter, with a terminal of one width.

    Args:
      plugins: modules of pytest's, besides ours and pytest-trio.
      autoload: pytest imports every plugin that is installed, as a user's does. It takes half a
          second more.
    """
    ours = {
        "COLUMNS": "120",
        "PYTHONPATH": str(Path(structsync.__file__).parents[1]),
        "PYTEST_ADDOPTS": "",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTEST_PLUGINS": ",".join([PLUGIN, "pytest_trio.plugin", *plugins]),
    }
    if autoload:
        installed = entry_points(group="pytest11", name="structsync")
        ours |= {
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "",
            "PYTEST_PLUGINS": "" if installed else PLUGIN,
        }
    return {name: value for name, value in {**os.environ, **ours}.items() if value}
