"""What tasks do to each other by cancelling, spawning and failing; templates as in ``frames``.

``$body`` is replaced by further constructs.
"""

from __future__ import annotations

SCOPES = {
    "own scope": """
        with trio.CancelScope() as s$n:
            opened.append(s$n)
            try:
                $body
            finally:
                opened.remove(s$n)
        log.append(s$n.cancelled_caught)
    """,
    "cancel what is open": "[scope.cancel() for scope in opened[:$k]]",
    "cancelled from the start": """
        with trio.CancelScope() as s$n:
            if $x:
                s$n.cancel()
            $pause
            $x += 2
    """,
    "shield": """
        with trio.CancelScope(shield=True):
            $body
    """,
    "shield later": """
        with trio.CancelScope() as s$n:
            s$n.shield = bool($x)
            $pause
            $x += 1
    """,
    "move on": """
        with trio.move_on_after($k) as s$n:
            $body
        $x += 1 if s$n.cancelled_caught else 2
    """,
    "move the deadline": """
        with trio.move_on_after(1) as s$n:
            s$n.deadline += $x
            await trio.sleep(2)
            $x += 3
    """,
    "see the cancellation": """
        try:
            $body
        except trio.Cancelled:
            $x += 2
            raise
    """,
    "at last": """
        try:
            $body
        finally:
            $x += 3
    """,
    "if cancelled": """
        await trio.lowlevel.checkpoint_if_cancelled()
        $x += 1
    """,
    "sleep": """
        await trio.sleep($k)
        $x += 1
    """,
    "what time is it": "log.append(trio.current_time() - started)",
    "how long have I": "log.append(trio.current_effective_deadline() < math.inf)",
    "am I cancelled": "log.append(trio.current_effective_deadline() == -math.inf)",
}

NURSERIES = {
    "child": """
        async def child$n():
            $nonlocal
            $body
        async with trio.open_nursery() as n$n:
            n$n.start_soon(child$n)
        $x += 1
    """,
    "child beside its parent": """
        async def child$n():
            $nonlocal
            $body
        async with trio.open_nursery() as n$n:
            n$n.start_soon(child$n)
            $pause
            $x += 2
    """,
    "child of the main nursery": """
        async def child$n():
            $nonlocal
            $body
        nursery.start_soon(child$n)
    """,
    "child with an argument": """
        async def child$n(v):
            $nonlocal
            $pause
            $x = v + 1
        nursery.start_soon(child$n, $x)
    """,
    "child with a context": """
        async def child$n():
            $nonlocal
            $pause
            $x = setting.get() + 1
        setting.set($x)
        nursery.start_soon(child$n)
        setting.set(0)
    """,
    "child that says when it has started": """
        async def child$n(*, task_status):
            $nonlocal
            $pause
            task_status.started($x)
            $body
        $x = await nursery.start(child$n) + 1
    """,
    "nursery that cancels itself": """
        async def child$n():
            $nonlocal
            $body
        async with trio.open_nursery() as n$n:
            n$n.start_soon(child$n)
            $pause
            n$n.cancel_scope.cancel()
        $x += 1
    """,
    "nursery that goes round": """
        async def child$n():
            $nonlocal
            $pause
            $x += 1
        async with trio.open_nursery() as n$n:
            nurseries.append(n$n)
            $pause
            for one in nurseries:
                one.start_soon(child$n)
            nurseries.remove(n$n)
    """,
    "how many children": "$x = len(nursery.child_tasks)",
    "end of the main nursery": "nursery.cancel_scope.cancel()",
    "error": """
        if $x > $k:
            raise Oops($x)
    """,
    "error that is caught": """
        try:
            $body
            raise Oops($x)
        except Oops as error:
            $x = error.args[0] + 1
    """,
}
