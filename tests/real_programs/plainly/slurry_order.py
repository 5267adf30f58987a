"""slurry: items overtake each other at a tap. trio runs the tasks of a batch in any order, so it is tried often."""

from collections.abc import AsyncIterator

import trio
from slurry import Pipeline

TIMES = 100


async def numbers() -> AsyncIterator[int]:
    for number in (1, 2):
        yield number


async def main() -> list[int]:
    found: list[int] = []
    async with Pipeline.create(numbers()) as pipeline, pipeline.tap() as tap:
        async for item in tap:
            found.append(item)  # noqa: PERF401 - each counts at once
    return found


others = [found for _ in range(TIMES) if (found := trio.run(main)) != [1, 2]]
if others:
    raise SystemExit(f"shown: in {len(others)} of {TIMES} runs 1, 2 came out as {others[0]}")
