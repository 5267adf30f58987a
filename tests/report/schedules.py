"""Counterexamples to draw: as the explorer and the checker tell them, and as no reader wants them."""

from structsync.report import Blocked, Counterexample, Sentence, Step

DEADLOCK = Counterexample(
    spec="test_semaphore",
    refuted="deadlock",
    kind="deadlock",
    start={"sem": "value=1, waiters=[]"},
    steps=(
        Step("run", (), {"sem": "value=1, waiters=[]"}, "main", parked="exits", woke=("worker#0",)),
        Step(
            "run",
            (),
            {"sem": "value=0, waiters=[]"},
            "worker#0",
            parked="worker:194  await checkpoint()",
            woke=("worker#0",),
        ),
        Step(
            "run",
            (),
            {"sem": "value=0, waiters=[worker#1]"},
            "worker#1",
            parked="wait:61  await self.event.wait()",
        ),
        Step(
            "cancel",
            (),
            {"sem": "value=0, waiters=[worker#1]"},
            "worker#1",
            note="its entry in the queue is still there",
            woke=("worker#1",),
            deviation=True,
            injected=True,
        ),
        Step(
            "run",
            (),
            {"sem": "value=0, waiters=[]"},
            "worker#0",
            note="the permit goes to worker#1, which is cancelled",
            parked="exits",
            deviation=True,
        ),
        Step("run", (), {"sem": "value=1, waiters=[]"}, "worker#1", parked="exits", deviation=True),
        Step(
            "clock",
            (),
            {"sem": "value=1, waiters=[]"},
            woke=("worker#2",),
            injected=True,
            deviation=True,
        ),
        Step(
            "run",
            (),
            {"sem": "value=1, waiters=[worker#2]"},
            "worker#2",
            parked="wait:61  await self.event.wait()",
        ),
    ),
    detail="1 task waits forever, and no task is left to wake it",
    blocked=(
        Blocked(
            "worker#2",
            ("queue.py:61 in wait", "queue.py:127 in acquire", "main.py:189 in worker"),
            "waits for <Semaphore 'sem': 1 free, held by no task>",
            source="await self.event.wait()",
            waits_for=("worker#0", "main"),
        ),
        Blocked(
            "main",
            ("main.py:200 in main",),
            "waits for the tasks of its nursery",
            waits_for=("worker#2",),
        ),
    ),
    story=(
        Sentence("plain FIFO order, but for 4 steps:"),
        Sentence("worker#1 is cancelled at queue.py:61 in wait, before worker#0 runs", 4),
        Sentence("so worker#1 exits; sem was value=0, is value=1", 6),
        Sentence("the next deadline passes before worker#2 runs", 7),
        Sentence("and 2 more deviations"),
    ),
    reasons=(
        Sentence(
            "worker#2 waits for <Semaphore 'sem': 1 free, held by no task> (queue.py:61 in wait)"
        ),
    ),
    token="x1:2c1,3r0,4r1",
    replay="pytest 'tests/test_semaphore.py::test_semaphore' --explore-replay 'x1:2c1,3r0,4r1'",
    summary="4 deviations from plain FIFO order in 8 steps; found at execution 27; "
    "replayed in trio.run: same",
    covered="not exhaustive: ended at the first failure: 663 states, 27 executions, order=any",
    actors=("main", "worker#0", "worker#1", "worker#2"),
)

STARVATION = Counterexample(
    spec="test_readers_and_a_writer",
    refuted="starvation",
    kind="starvation",
    start={"lock": "0 readers"},
    steps=(
        Step("run", (), {"lock": "1 reader"}, "reader#0", parked="read:12  await checkpoint()"),
        Step("run", (), {"lock": "1 reader"}, "writer", parked="write:40  await self._idle.wait()"),
        Step("run", (), {"lock": "2 readers"}, "reader#1", parked="read:12  await checkpoint()"),
        Step("run", (), {"lock": "1 reader"}, "reader#0", parked="read:15  await checkpoint()"),
        Step("run", (), {"lock": "2 readers"}, "reader#0", parked="read:12  await checkpoint()"),
        Step("run", (), {"lock": "1 reader"}, "reader#1", parked="read:15  await checkpoint()"),
    ),
    detail="writer asks and is never served, although the steps are fair",
    cycle_start=2,
    token="x1:",
    replay="pytest -k readers_and_a_writer --explore-replay 'x1:'",
)

SPEC = Counterexample(
    spec="semaphore.SemaphoreSpec",
    refuted="nothing_grantable_waits",
    kind="invariant",
    start={"value": "1", "line": "()", "holders": "{}"},
    steps=(
        Step("acquire", (("who", "a"),), {"value": "0", "line": "()", "holders": "{a}"}, actor="a"),
        Step(
            "acquire", (("who", "b"),), {"value": "0", "line": "(b)", "holders": "{a}"}, actor="b"
        ),
        Step(
            "release",
            (("who", "a"),),
            {"value": "1", "line": "(b)", "holders": "{}"},
            actor="a",
            note="no task is granted",
        ),
        Step("tick", (), {"value": "1", "line": "(b)", "holders": "{}"}),
    ),
    claim="Every request that fits and waits is granted.",
    detail="b waits although 1 permit is free",
)

NASTY = (
    "<script>alert(1)</script>",
    """quote " and ' and `""",
    "[bold red]rich[/]",
    "{{ jinja }}",
    "&lt;b&gt;",
    "</title></style><img src=x onerror=alert(2)>",
    "n" * 200,
    "worker#0/child#0",
    "\u202ebackwards",
    "日本語の仕事",
)


def crowd(tasks: int, steps: int, names: tuple[str, ...] = ()) -> Counterexample:
    """Return a long schedule of many tasks; each wakes the next two, some are cancelled."""
    every = (*names, *(f"worker#{n}" for n in range(tasks - len(names))))
    told = []
    for n in range(steps):
        woke = every[(n * 5 + 1) % tasks], every[(n * 7 + 3) % tasks]
        cancelled = n % 11 == 10
        told.append(
            Step(
                "cancel" if cancelled else "run",
                (),
                {"sem": f"value={n % 3}", "queue": f"{n // 4} items", every[0]: f"{n // 9}"},
                actor=every[(n * 5) % tasks],
                note=every[n % tasks] if n % 13 == 12 else "",
                deviation=n % 4 == 3,
                parked="" if cancelled else f"wait_for:{40 + n}  await queue.get()  # {every[0]}",
                woke=woke if n % 2 else (),
                injected=cancelled,
            )
        )
    return Counterexample(
        spec=every[0],
        refuted="deadlock",
        kind="deadlock",
        start={"sem": "value=0", "queue": "0 items", every[0]: "0"},
        steps=tuple(told),
        detail=f"{tasks} tasks wait forever, the first is {every[0]}",
        blocked=tuple(
            Blocked(one, ("wait:61", "acquire:127", one), f"waits for <Event {one!r}>")
            for one in every[::2]
        ),
        token="x1:" + ",".join(f"{n}r{n % 3}" for n in range(steps)),
        replay=f"pytest '{every[0]}' --explore-replay '{','.join(map(str, range(steps)))}'",
        summary=f"many deviations in {steps} steps",
        covered="exhaustive: 1 state",
        actors=every,
    )


HOSTILE = crowd(12, 60, NASTY)
CROWD = crowd(12, 40)

IDLE = Counterexample(
    spec="test_that_idles",
    refuted="error",
    kind="error",
    start={},
    steps=(
        Step("run", (), {"lock": "free"}, "main", parked="main:3", woke=("a", "b")),
        Step("run", (), {"lock": "held by a"}, "a", parked="a:5  await checkpoint()"),
        *(Step("run", (), {"lock": "held by a"}, "ab"[n % 2], parked=f"a:{n}") for n in range(4)),
        Step("run", (), {"lock": "held by a"}, "b", parked="b:9", deviation=True),
        *(Step("run", (), {"lock": "held by a"}, "b", parked=f"b:{n}") for n in range(2)),
        Step("run", (), {"lock": "held by a"}, "a", parked="exits"),
        *(Step("run", (), {"lock": "held by a"}, f"c#{n}", parked=f"c:{n}") for n in range(5)),
        Step("run", (), {"lock": "held by a"}, "b", parked="b:12"),
    ),
    detail="ValueError: wrong",
    token="x1:",
    replay="structsync explore idle.py --replay x1:",
)
EVERY = {
    "deadlock": DEADLOCK,
    "starvation": STARVATION,
    "spec": SPEC,
    "hostile": HOSTILE,
    "crowd": CROWD,
    "idle": IDLE,
}
