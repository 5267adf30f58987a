"""Engines to test with, and how to wait until another session has done something."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pytest

from structsync.distributed import Session, open_session
from tests.distributed.servers import ENDS, LASTS, Server, server

Open: TypeAlias = Callable[..., AbstractAsyncContextManager[Session]]

ENGINES = ["memory", "sqlite", "redis"] if sys.platform == "linux" else ["memory"]

_numbers = itertools.count()


#: How many workers compute at a time, where others wait: as many as CI has cores.
COMPUTING = 2


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Have some workers wait while others compute, and begin with what takes long: else all wait for that at the end."""
    workers: int = getattr(config, "workerinput", {}).get("workercount", 1)
    if workers > COMPUTING:
        items[:] = dealt(items, workers)


def dealt(items: list[pytest.Item], workers: int) -> list[pytest.Item]:
    """Return them in an order of which ``--dist worksteal`` gives each worker a piece, and then what others have left."""
    waiting = workers - COMPUTING
    waits = [item for item in items if item.get_closest_marker("waits")]
    long = [item for item in items if item.get_closest_marker("long")]
    firsts = [waits[n::waiting] for n in range(waiting)]
    firsts += [long[n::COMPUTING] for n in range(COMPUTING)]
    others = iter([item for item in items if item not in {*waits, *long}])
    order: list[pytest.Item] = []
    for n, first in enumerate(firsts):
        ends = len(order) + (len(items) - len(order)) // (workers - n)
        order += first
        order += islice(others, max(0, ends - len(order)))
    return [*order, *others]


@pytest.fixture(scope="session")
def redis() -> Iterator[Server]:
    """A server for all tests that do it no harm; each has a namespace of its own."""
    with server() as one:
        yield one


@pytest.fixture
def asks_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where messages are lost, ask again soon, and not only when a third of a lease is over that lasts."""
    if importlib.util.find_spec("hiredis") is not None:
        from structsync.distributed.redis.engine import RedisEngine

        monkeypatch.setattr(RedisEngine, "recheck", 1.0)


@pytest.fixture
def victim() -> Iterator[Server]:
    """A server that a test may stop, kill and start again."""
    with server() as one:
        one.is_no_news("test")
        yield one


@pytest.fixture
def namespace(redis: Server) -> str:
    """Return a namespace of that server that was never used."""
    one = f"test {next(_numbers)}"
    redis.is_no_news(one)
    return one


class Place(NamedTuple):
    """Where sessions meet, and what with."""

    url: str
    namespace: str
    ttl: float | None

    def opens(self, **more: Any) -> AbstractAsyncContextManager[Session]:
        return open_session(self.url, **{"namespace": self.namespace, "ttl": self.ttl, **more})

    @property
    def arguments(self) -> list[str]:
        """The same for a process of ``child.py``."""
        return [self.url, self.namespace, str(self.ttl or 0)]

    @property
    def where_leases_end(self) -> Place:
        """The same, where a test waits for the end of a lease, if there are any."""
        return self._replace(ttl=self.ttl and ENDS)


@pytest.fixture(params=ENGINES)
def place(request: Any, tmp_path: Path) -> Place:
    """Return a place in which nothing has been done, on each engine."""
    if request.param == "redis":
        url = request.getfixturevalue("redis").url
        return Place(url, request.getfixturevalue("namespace"), LASTS)
    urls = {"memory": "memory://", "sqlite": f"sqlite://{tmp_path}/locks.db"}
    return Place(urls[request.param], "test", None)


@pytest.fixture
def opens(place: Place) -> Open:
    """Return a function that opens sessions of one engine."""
    return place.opens
