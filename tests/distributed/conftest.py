"""Engines to test with, and how to wait until another session has done something."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from structsync.distributed import Session, open_session

Open: TypeAlias = Callable[..., AbstractAsyncContextManager[Session]]

ENGINES = ["memory", "sqlite"] if sys.platform == "linux" else ["memory"]


def url_of(engine: str, folder: Path) -> str:
    return {"memory": "memory://", "sqlite": f"sqlite://{folder}/locks.db"}[engine]


@pytest.fixture(params=ENGINES)
def opens(request: Any, tmp_path: Path) -> Open:
    """Return a function that opens sessions of one engine."""
    url = url_of(request.param, tmp_path)

    def opens(**options: Any) -> AbstractAsyncContextManager[Session]:
        return open_session(url, namespace="test", **options)

    return opens
