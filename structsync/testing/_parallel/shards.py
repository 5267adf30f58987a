"""One search on several machines that know nothing of each other.

Each of them finds out by itself how the search is cut: all prefixes of one length are listed, and to which
shard one belongs is said by a hash of it; where states are merged, by a hash of the state that it leads to,
so that what can be merged is in one shard. A digest of the list stands in the result of each, so that
results which do not belong together are noticed.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from structsync.testing._execution.execution import Execution
from structsync.testing._execution.schedule import Choice
from structsync.testing._result import Partition
from structsync.testing._search.choosers import DepthFirst
from structsync.testing._search.result import SearchResult
from structsync.testing._search.runs import Runs
from structsync.testing._search.search import next_result
from structsync.testing._state.fingerprint import Fingerprinter, Opaque

#: Prefixes are made longer until there are so many for each shard.
FOR_EACH = 8
#: Or until so many executions were made for that.
MOST = 5_000


class _Prefixes(DepthFirst):
    """Goes down every path to a depth, and keeps where it has come."""

    def __init__(self, depth: int, look: Fingerprinter | None) -> None:
        super().__init__(None)
        self._to = depth
        self._look = look
        self.found: list[tuple[tuple[Choice, ...], bytes]] = []

    def choose(self, execution: Execution, options: tuple[Choice, ...]) -> Choice | None:
        if len(execution.choices) < self._to:
            return super().choose(execution, options)
        choices = tuple(execution.choices)
        key = _text(choices)
        if self._look is not None:
            try:
                key = self._look(execution)
            except Opaque:
                self._look = None
        self.found.append((choices, key))
        return None


def _text(choices: Iterable[Choice]) -> bytes:
    return ",".join(map(str, choices)).encode()


def own_part(
    runs: Runs, look: Fingerprinter | None
) -> SearchResult | tuple[list[tuple[Choice, ...]], Partition]:
    """Return the prefixes that this shard is to search below; or a result, if there is one already."""
    assert runs.settings.shard is not None
    number, of = runs.settings.shard
    depth, before = 0, runs.executions
    while True:
        depth += 2
        chooser = _Prefixes(depth, look)
        while (found := next_result(runs, chooser, None)) is None:
            pass
        if found.failed is not None or found.unfinished is not None or not chooser.found:
            return found
        if len(chooser.found) >= FOR_EACH * of or runs.executions - before >= MOST:
            break
    digest = blake2b(digest_size=16)
    own = []
    for choices, key in chooser.found:
        shard = int.from_bytes(blake2b(key, digest_size=8).digest()) % of + 1
        digest.update(_text(choices) + f" {shard}\n".encode())
        if shard == number:
            own.append(choices)
    return own, Partition(number, of, depth, len(chooser.found), digest.hexdigest())
