"""What became of calls to objects that are hosted no more, while callers that may still ask are alive."""

from __future__ import annotations

from structsync.distributed.client import LogClient

from .hosting import Hosting


class Remembered:
    """The hosts of one log that have ended; they cost what is in it no time, however many they are."""

    hosts: dict[str, Hosting]  # by name

    def __init__(self, client: LogClient, all_hosts: dict[str, Hosting]) -> None:
        self._client = client
        self._all_hosts = all_hosts
        self._alive: set[str] = set()
        self.hosts = {}

    def add(self, host: Hosting) -> None:
        """Keep a host until all its callers are gone."""
        if not self.hosts:
            self._client.watchers[self._look] = None
            self._alive = {*self._client.replica.core.sessions}
        self.hosts[host.name] = host
        self._sift(host)

    def remove(self, name: str) -> None:
        """Keep a host no more: all is known of its calls, or the name is hosted again."""
        if self.hosts.pop(name, None) is not None and not self.hosts:
            del self._client.watchers[self._look]

    def _look(self) -> None:
        alive = self._client.replica.core.sessions.keys()
        if alive == self._alive:
            return
        self._alive = {*alive}
        for host in [*self.hosts.values()]:
            self._sift(host)

    def _sift(self, host: Hosting) -> None:
        host.look()
        if not host.table.callers:
            self.remove(host.name)
            self._all_hosts.pop(host.name, None)
