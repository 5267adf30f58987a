"""How tasks wait for each other and wake each other; templates as in ``frames``."""

from __future__ import annotations

PAUSES = (
    "await checkpoint()",
    "await checkpoint()",  # the plain one is drawn most often
    "await trio.lowlevel.cancel_shielded_checkpoint()",
    "await trio.sleep(1)",
    "await later(0)",
)

TRIO = {
    "set an event": "event.set()",
    "wait for an event": """
        await event.wait()
        $x += 1
    """,
    "ask an event": "$x = int(event.is_set()) + 1",
    "hold a lock": """
        async with lock:
            v$n = $x
            $pause
            $x = v$n + 1
    """,
    "try a lock": """
        try:
            lock.acquire_nowait()
        except trio.WouldBlock:
            $x += 2
        else:
            $pause
            lock.release()
    """,
    "never give a lock back": "await lock.acquire()",
    "hold a permit": """
        async with semaphore:
            $x += 1
            $pause
    """,
    "take a permit": "await semaphore.acquire()",
    "give a permit": "semaphore.release()",
    "try a permit": """
        try:
            semaphore.acquire_nowait()
        except trio.WouldBlock:
            $x = 4
    """,
    "borrow a token": """
        async with limiter:
            $x += 1
            $pause
    """,
    "change the tokens": "limiter.total_tokens = $k + 1",
    "wait on a condition": """
        async with condition:
            if not $x:
                await condition.wait()
            $x += 1
    """,
    "notify a condition": """
        async with condition:
            $x += 1
            condition.notify()
    """,
    "send": """
        await sender.send($x)
        $y += 1
    """,
    "receive": "$x = await receiver.receive() + 1",
    "try to send": """
        try:
            sender.send_nowait($k)
        except (trio.WouldBlock, trio.ClosedResourceError):
            $x = 5
    """,
    "try to receive": """
        try:
            $x = receiver.receive_nowait()
        except (trio.WouldBlock, trio.EndOfChannel):
            $x = 6
    """,
    "close a channel": "sender.close()",
    "iterate over a channel": """
        async for v$n in receiver:
            $x += v$n
    """,
    "park": """
        await lot.park()
        $x += 1
    """,
    "unpark": "lot.unpark()",
    "how many are parked": "log.append(len(lot))",
    "unpark all": "$x = len(lot.unpark_all())",
}

STRUCTSYNC = {
    "hold structsync permits": """
        async with permits.permits($k % 2 + 1):
            $x += 1
            $pause
    """,
    "take structsync permits": "await permits.acquire($k % 2 + 1)",
    "give structsync permits": "permits.release()",
    "try structsync permits": """
        try:
            permits.acquire_nowait($k % 2 + 1)
        except trio.WouldBlock:
            $x = 4
    """,
    "request structsync permits": """
        with permits.request($k % 2 + 1) as r$n:
            $pause
            log.append(r$n.status)
    """,
    "hold a structsync lock": """
        async with mutex:
            v$n = $x
            $pause
            $x = v$n + 1
    """,
    "wait on a structsync condition": """
        async with notified:
            if not $x:
                await notified.wait()
            $x += 1
    """,
    "notify a structsync condition": """
        async with notified:
            $x += 1
            notified.notify()
    """,
    "wait in a queue": """
        await queue.wait()
        $x += 1
    """,
    "wake a queue": "queue.wake()",
    "block": """
        await parker.block()
        $x += 1
    """,
    "unblock": "parker.unblock()",
}
