"""A crawler on real sockets: a pool of workers, a rate limit, and a buffer of pages for the indexer.

A page is a job, and submits a job for each link that has not been seen. The pool ends when all of them have ended. A
worker waits for the indexer while the buffer is full. A page that is not there is noted, and stops no other.

Prints::

    7 pages, each asked for once, never more than 3 at a time
    not there: /old
    the index has 11 links; to /c from /a, /b
    the rate was kept: True
"""

import math
import re
from collections import Counter
from collections.abc import Awaitable, Callable

import trio

from structsync import Buffer, RateLimiter, TaskPool, open_pool
from structsync.testing import ExploredRun, explore

SITE = {
    "/": ["/a", "/b", "/old"],
    "/a": ["/b", "/c"],
    "/b": ["/", "/c", "/d"],
    "/c": ["/e"],
    "/d": ["/e", "/a"],
    "/e": [],
}


class Crawler:
    """Fetches every page that can be reached from the first one."""

    def __init__(
        self, fetch: Callable[[str], Awaitable[list[str]]], limiter: RateLimiter, room: int
    ) -> None:
        self.fetch, self.limiter = fetch, limiter
        self.pages = Buffer[tuple[str, list[str]]](room, name="pages to index")
        self.seen: set[str] = set()
        self.missing: list[str] = []

    async def crawl(self, first: str, workers: int) -> None:
        """Visit all pages; the block of the pool ends when no job is left, and none can come."""
        async with open_pool(workers, max_queued=math.inf) as pool:
            self.add(first, pool)
        self.pages.complete()

    def add(self, page: str, pool: TaskPool) -> None:
        if page not in self.seen:
            self.seen.add(page)
            pool.submit_nowait(self.visit, page, pool)

    async def visit(self, page: str, pool: TaskPool) -> None:
        await self.limiter.acquire()
        try:
            links = await self.fetch(page)
        except OSError:
            self.missing.append(page)
            return
        for link in links:
            self.add(link, pool)
        await self.pages.put((page, links))

    async def index(self) -> dict[str, list[str]]:
        """Return which pages link to each."""
        linked: dict[str, list[str]] = {}
        async for page, links in self.pages:
            await trio.lowlevel.checkpoint()
            for link in links:
                linked.setdefault(link, []).append(page)
        return linked


class Server:
    """A site on a socket, that counts what it is asked for."""

    def __init__(self) -> None:
        self.asked = Counter[str]()
        self.times: list[float] = []
        self.now = self.most = 0

    async def answer(self, stream: trio.SocketStream) -> None:
        self.now += 1
        self.most = max(self.most, self.now)
        async with stream:
            request = (await stream.receive_some()).decode()
            page = request.split()[1]
            self.asked[page] += 1
            self.times.append(trio.current_time())
            links = SITE.get(page)
            status = "404 Not Found" if links is None else "200 OK"
            body = "".join(f'<a href="{link}">' for link in links or [])
            await stream.send_all(f"HTTP/1.0 {status}\r\n\r\n{body}".encode())
        self.now -= 1


async def fetch_from(port: int, page: str) -> list[str]:
    """Return the links of a page."""
    async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
        await stream.send_all(f"GET {page} HTTP/1.0\r\n\r\n".encode())
        text = b"".join([chunk async for chunk in stream]).decode()
    if " 200 " not in text.partition("\r\n")[0]:
        raise OSError(f"{page} is not there")
    return re.findall('href="(.*?)"', text)


async def main() -> None:
    server, rate = Server(), RateLimiter(1, 0.01, burst=2, name="pages")
    indexed: dict[str, list[str]] = {}
    async with trio.open_nursery() as nursery:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, server.answer, [listener])
        port: int = listener.socket.getsockname()[1]
        crawler = Crawler(lambda page: fetch_from(port, page), rate, room=2)
        with trio.fail_after(30):
            async with trio.open_nursery() as both:
                both.start_soon(crawler.crawl, "/", 3)
                indexed |= await crawler.index()
        nursery.cancel_scope.cancel()
    if set(server.asked.values()) == {1} and server.most <= 3:
        print(f"{len(server.asked)} pages, each asked for once, never more than 3 at a time")
    print("not there:", *crawler.missing)
    links = sum(map(len, indexed.values()))
    print(f"the index has {links} links; to /c from {', '.join(sorted(indexed['/c']))}")
    print("the rate was kept:", server.times[-1] - server.times[0] > 0.03)


@explore(exhaustive=True, search="states")
async def test_the_crawl_ends_and_each_page_is_fetched_and_indexed_once(x: ExploredRun) -> None:
    site = {"/": ["/gone", "/", "/gone"]}
    fetched: list[str] = []

    async def fetch(page: str) -> list[str]:
        with x.exclusive("fetching", limit=2):
            await trio.lowlevel.checkpoint()
        fetched.append(page)
        if page not in site:
            raise OSError
        return site[page]

    crawler = Crawler(fetch, RateLimiter(1, burst=2), room=1)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(crawler.crawl, "/", 2)
        indexed = await crawler.index()
    assert sorted(fetched) == ["/", "/gone"]
    assert crawler.missing == ["/gone"]
    assert indexed == {"/gone": ["/", "/"], "/": ["/"]}


if __name__ == "__main__":
    trio.run(main)
