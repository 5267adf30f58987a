"""Many small queries become a few large ones: keys that are requested at about the same time are loaded together.

The keys go into a buffer; all that come within 10 ms are in the same batch, of three at most. Each task has its
own answer, or the error of its batch.

Prints::

    4 keys in 2 batches: [1, 2, 3] [4]
    answers: 10 20 30 40
    the service is down
"""

from collections.abc import Awaitable, Callable, Mapping

import trio
from trio.testing import MockClock

from structsync import Buffer, Latch
from structsync.testing import ExploredRun, explore

Load = Callable[[list[int]], Awaitable[Mapping[int, int]]]


class Question:
    """A key, and the answer when it is there."""

    def __init__(self, key: int) -> None:
        self.key = key
        self.answered = Latch(1)
        self.answer: int | Exception = LookupError(f"{key} was not answered")


class Loader:
    """Loads keys in batches; its :meth:`serve` runs in a task of its own."""

    def __init__(self, load: Load, most: int, window: float) -> None:
        self.load, self.most, self.window = load, most, window
        self.questions = Buffer[Question](most)

    async def get(self, key: int) -> int:
        question = Question(key)
        await self.questions.put(question)
        await question.answered.wait()
        if isinstance(question.answer, Exception):
            raise question.answer
        return question.answer

    async def serve(self) -> None:
        while True:
            batch = await self.questions.get_batch(self.most, max_wait=self.window)
            try:
                found = await self.load([question.key for question in batch])
                for question in batch:
                    question.answer = found[question.key]
            except OSError as error:
                for question in batch:
                    question.answer = error
            for question in batch:
                question.answered.count_down()


async def main() -> None:
    batches: list[list[int]] = []
    answers: list[int] = []

    async def load(keys: list[int]) -> Mapping[int, int]:
        batches.append(sorted(keys))
        await trio.sleep(1)
        if 5 in keys:
            raise OSError("the service is down")
        return {key: 10 * key for key in keys}

    async def ask(key: int) -> None:
        answers.append(await loader.get(key))

    loader = Loader(load, 3, 0.01)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(loader.serve)
        async with trio.open_nursery() as callers:
            for key in (1, 2, 3, 4):
                callers.start_soon(ask, key)
                await trio.lowlevel.checkpoint()
        print(f"4 keys in {len(batches)} batches:", *batches)
        print("answers:", *sorted(answers))
        try:
            await loader.get(5)
        except OSError as error:
            print(error)
        nursery.cancel_scope.cancel()


@explore(exhaustive=True, search="states")
async def test_each_caller_has_the_answer_or_the_error_of_the_batch(x: ExploredRun) -> None:
    loads = 0

    async def load(keys: list[int]) -> Mapping[int, int]:
        nonlocal loads
        loads += 1
        await trio.lowlevel.checkpoint()
        if loads == 1:
            raise OSError
        return {key: 10 * key for key in keys}

    async def ask(key: int) -> None:
        with trio.CancelScope():
            try:
                assert await loader.get(key) == 10 * key
            except OSError:
                pass

    async def serve() -> None:
        with x.not_cancelled():
            await loader.serve()

    loader = Loader(load, 2, 1)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve)
        async with trio.open_nursery() as callers:
            callers.start_soon(ask, 1)
            callers.start_soon(ask, 2)
        nursery.cancel_scope.cancel()


if __name__ == "__main__":
    trio.run(main, clock=MockClock(autojump_threshold=0))
