"""A crawler on real sockets: a pool of workers, a buffer of pages to be fetched, and a limit on the rate.

What a page links to goes into the buffer, once. When nothing is in the buffer and no worker has a page, nothing
more can come, and the buffer is complete: that ends the loop. A page that is not there is noted, like any other.

Prints::

    7 pages by 3 workers, each once, never more than 3 at a time
    not there: /old
    the rate was kept: True
"""

import math
import re
from collections import Counter
from collections.abc import Awaitable, Callable

import trio

from structsync import Buffer, RateLimiter, open_pool
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
        self, fetch: Callable[[str], Awaitable[list[str]]], workers: int, limiter: RateLimiter
    ) -> None:
        self.fetch, self.workers, self.limiter = fetch, workers, limiter
        self.todo = Buffer[str](math.inf, name="pages to fetch")
        self.seen: set[str] = set()
        self.missing: list[str] = []
        self.unfinished = 0

    def add(self, page: str) -> None:
        if page not in self.seen:
            self.seen.add(page)
            self.unfinished += 1
            self.todo.put_nowait(page)

    async def crawl(self, first: str) -> None:
        self.add(first)
        async with open_pool(self.workers) as pool:
            async for page in self.todo:
                await pool.submit(self.visit, page)

    async def visit(self, page: str) -> None:
        try:
            await self.limiter.acquire()
            for link in await self.fetch(page):
                self.add(link)
        except OSError:
            self.missing.append(page)
        finally:
            self.unfinished -= 1
            if not self.unfinished:
                self.todo.complete()


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
    async with trio.open_nursery() as nursery:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, server.answer, [listener])
        port = listener.socket.getsockname()[1]
        crawler = Crawler(lambda page: fetch_from(port, page), 3, rate)
        with trio.fail_after(30):
            await crawler.crawl("/")
        nursery.cancel_scope.cancel()
    if set(server.asked.values()) == {1} and server.most <= crawler.workers:
        count = f"{len(server.asked)} pages by {crawler.workers} workers"
        print(f"{count}, each once, never more than {crawler.workers} at a time")
    print("not there:", *crawler.missing)
    print("the rate was kept:", server.times[-1] - server.times[0] > 0.04)


@explore(exhaustive=True, search="states")
async def test_the_crawl_ends_and_has_fetched_each_page_once(x: ExploredRun) -> None:
    site = {"/": ["/", "/gone"]}
    fetched: list[str] = []

    async def fetch(page: str) -> list[str]:
        with x.exclusive("fetching", limit=2):
            await trio.lowlevel.checkpoint()
        fetched.append(page)
        if page not in site:
            raise OSError
        return site[page]

    async with trio.open_nursery() as nursery:
        crawler = Crawler(fetch, 2, RateLimiter(1, burst=2))
        nursery.start_soon(crawler.crawl, "/")
    assert sorted(fetched) == ["/", "/gone"]
    assert crawler.missing == ["/gone"]


if __name__ == "__main__":
    trio.run(main)
