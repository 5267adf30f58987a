"""Where a frame can keep a value while other tasks run; one construct for each place.

Each reads something that depends on the schedule, keeps it in one place only, lets the others run,
and then does something visible with it. An explorer that does not see that place takes two states
for one, cuts the second off, and loses outcomes.

In a template, ``$x`` and ``$y`` are shared ints, ``$k`` is a constant from 0 to 2, ``$n`` is a
number that no other construct of the program has, and ``$pause`` lets the others run.
"""

from __future__ import annotations

LOCALS = {
    "local": """
        v$n = $x
        $pause
        $x = v$n + 1
    """,
    "unbound local": """
        if $x:
            v$n = 5
        else:
            w$n = 5
        $pause
        try:
            $x = v$n
        except UnboundLocalError:
            $x = w$n + 1
    """,
    "deleted local": """
        v$n = 3
        w$n = 3
        if $x % 2:
            del v$n
        else:
            del w$n
        $pause
        try:
            $x = v$n + 1
        except UnboundLocalError:
            $x = w$n
    """,
    "cell": """
        v$n = $x
        def read$n():
            return v$n + 1
        $pause
        $x = read$n()
    """,
    "list of the task": """
        v$n = [0]
        v$n.append($x)
        $pause
        $x = v$n.pop() + 1
    """,
    "alias": """
        v$n = [0]
        w$n = v$n if $x else [0]
        $pause
        v$n.append(1)
        $x = len(w$n)
    """,
    "swapped aliases": """
        v$n, w$n = [0], [0]
        u$n = v$n if $x % 2 else w$n
        $pause
        u$n.append(1)
        $x = len(v$n)
    """,
    "loop counter": """
        for i$n in range(1, 3):
            $x += i$n
            $pause
    """,
    "position in the code": """
        if $x:
            $pause
            $x += 2
        else:
            $pause
            $x += 1
    """,
    "position in a line": """
        await later(0) if $x else await later(0); log.append($k)
    """,
    "depth of a recursion": """
        async def deep$n(depth):
            if depth:
                return 1 + await deep$n(depth - 1)
            $pause
            return 0
        $x = await deep$n($x % 3) + 1
    """,
}

STACK = {
    "left operand": """
        $x = $x + await later(1)
    """,
    "right operand of a call": """
        $x = max($y, await later($k), 1) + 1
    """,
    "tuple in the making": """
        log.append(($x, await later($k)))
    """,
    "comprehension in the making": """
        $x = sum([$x + await later(i) for i in (1, 2)]) % 7
    """,
    "what a loop iterates over": """
        for i$n in (1, 2) if $x else (2, 1):
            $y = i$n
            $pause
    """,
    "value on its way through finally": """
        async def give$n():
            try:
                return $x
            finally:
                $pause
        $x = await give$n() + 1
    """,
    "exception being handled": """
        try:
            raise Oops($x)
        except Oops:
            $pause
            $x = sys.exception().args[0] + 1
    """,
    "async context manager": """
        async with holding($x) as v$n:
            $pause
        $x = v$n + 1
    """,
}

SUSPENDED = {
    "generator": """
        v$n = upwards($x)
        next(v$n)
        $pause
        $x = next(v$n)
    """,
    "generator not started": """
        v$n = upwards($x)
        $pause
        $x = next(v$n) + 1
    """,
    "generator expression": """
        v$n = (i + 1 for i in range($x, 99))
        next(v$n)
        $pause
        $x = next(v$n)
    """,
    "generator that delegates": """
        v$n = delegating($x)
        next(v$n)
        $pause
        $x = next(v$n)
    """,
    "generator that was sent to": """
        v$n = summing()
        next(v$n)
        v$n.send($x)
        $pause
        $x = v$n.send(1)
    """,
    "coroutine not started": """
        v$n = later($x + 1)
        try:
            $pause
            $x = await v$n
        finally:
            v$n.close()
    """,
    "async generator": """
        async with contextlib.aclosing(several($x)) as v$n:
            await anext(v$n)
            $pause
            $x = await anext(v$n)
    """,
    "async comprehension": """
        log.append([i async for i in several($x)])
    """,
    "exit stack": """
        with contextlib.ExitStack() as v$n:
            v$n.callback(log.append, $x)
            $pause
    """,
}

#: What makes all places tell: when these are over, nothing else remembers what was read.
FORGETTING = {
    "blink": """
        $x = $k + 1
        $pause
        $x = 0
    """,
    "forget": "$x = $k",
    "pause": "$pause",
    "perhaps": """
        if $x:
            $body
    """,
}
