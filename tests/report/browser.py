"""A real Chromium without a window, driven by its DevTools protocol over a pair of pipes.

A library would bring a second program (chromedriver) and seven packages; the dozen calls that a
page of one file needs are a message with a number and its answer.
"""

import base64
import fcntl
import itertools
import json
import os
import select
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",  # root has none, and every page here is our own
    "--disable-gpu",
    "--disable-dev-shm-usage",  # containers have little of it
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-smooth-scrolling",  # what is in sight is asked at once
    "--no-first-run",
    "--no-default-browser-check",
)
# Not how long anything takes, but when a browser that hangs is given up.
PATIENCE = 60
SPECIAL = {"ArrowDown": 40, "ArrowUp": 38, "Home": 36, "End": 35, "Tab": 9}


def executable() -> str:
    """Return the path of Chromium; skip the test if there is none, where a skip is accepted."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        message = "no Chromium found; on Debian: apt-get install chromium"
        if os.environ.get("CI") == "true":
            pytest.fail(f"{message} (no skip accepted where CI=true)", pytrace=False)
        pytest.skip(message)
    return found


class Page:
    """One tab, 1280 pixels wide, with everything that it has reported so far."""

    def __init__(self, browser: "Browser") -> None:
        self._browser = browser
        self._target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        attached = browser.call("Target.attachToTarget", targetId=self._target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(1280, 800)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol for this tab."""
        return self._browser.call(method, self._session, **parameters)

    def close(self) -> None:
        """Close the tab."""
        self._browser.call("Target.closeTarget", targetId=self._target)

    def resize(self, width: int, height: int) -> None:
        """Give the page so much room, and wait until it has it: a busy machine is late with that."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.value(
            f"new Promise((done) => {{ const look = () => innerWidth === {width} && innerHeight === {height}"
            " ? done(true) : setTimeout(look, 10); look(); })"
        )

    def open(self, file: Path) -> None:
        """Load a file and wait until it is there."""
        del self._browser.events[:]
        self.call("Page.navigate", url=file.as_uri())
        self._browser.wait_for("Page.loadEventFired", self._session)

    def open_again(self) -> None:
        """Load the same file as if for the first time: a reload would keep what was scrolled."""
        del self._browser.events[:]
        self.call("Page.navigate", url=self.value("location.href.split('?')[0]") + "?again")
        self._browser.wait_for("Page.loadEventFired", self._session)

    def scheme(self, name: str) -> None:
        """Prefer "light" or "dark"."""
        preferred = {"name": "prefers-color-scheme", "value": name}
        self.call("Emulation.setEmulatedMedia", features=[preferred])

    def press(self, *keys: str, control: bool = False) -> None:
        """Press and release each key, as a keyboard does."""
        for key in keys:
            code = SPECIAL.get(key, ord(key[0].upper()))
            text = {} if control or key in SPECIAL else {"text": key}
            named = {"key": key, "windowsVirtualKeyCode": code, "modifiers": 2 if control else 0}
            self.call("Input.dispatchKeyEvent", type="keyDown", **named, **text)
            self.call("Input.dispatchKeyEvent", type="keyUp", **named)

    def click(self, selector: str) -> None:
        """Click the middle of the first element that the selector finds, as a mouse does."""
        x, y = self.value(
            f"(() => {{ const one = document.querySelector({json.dumps(selector)});"
            "one.scrollIntoView({block: 'center'}); const at = one.getBoundingClientRect();"
            "return [at.x + at.width / 2, at.y + at.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def value(self, expression: str) -> Any:
        """Return what a JavaScript expression is in the page, promises awaited."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def allow_clipboard(self) -> None:
        """Let the page read what is on the clipboard, too."""
        self._browser.call(
            "Browser.grantPermissions",
            permissions=["clipboardReadWrite", "clipboardSanitizedWrite"],
        )
        self.call("Page.bringToFront")

    def screenshot(self) -> bytes:
        """Return what is to be seen, as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot")["data"])

    def events(self, *methods: str) -> list[dict[str, Any]]:
        """Return what the tab reported since it was opened."""
        return [
            one["params"]
            for one in self._browser.events
            if one.get("sessionId") == self._session and one.get("method") in methods
        ]


class Browser:
    """The two pipes to the process."""

    def __init__(self, into: int, out: int) -> None:
        self._into, self._out = into, out
        self.events: list[dict[str, Any]] = []
        self._numbers = itertools.count(1)
        self._rest = b""
        self._poll = select.poll()
        self._poll.register(out, select.POLLIN)

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Send a message and return the answer; what else arrives is kept as an event."""
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._into, json.dumps(message).encode() + b"\0")
        for answer in self._messages():
            if answer.get("id") != number:
                self.events.append(answer)
                continue
            assert "error" not in answer, f"{method}: {answer['error']}"
            result: dict[str, Any] = answer["result"]
            return result
        raise AssertionError(f"Chromium went away during {method}")

    def wait_for(self, method: str, session: str) -> None:
        """Return when a tab has reported an event since the list of events was emptied."""
        messages = itertools.chain(list(self.events), self._kept())
        if not any((m.get("method"), m.get("sessionId")) == (method, session) for m in messages):
            raise AssertionError(f"Chromium went away before {method}")

    def _kept(self) -> Iterator[dict[str, Any]]:
        for message in self._messages():
            self.events.append(message)
            yield message

    def _messages(self) -> Iterator[dict[str, Any]]:
        while True:
            while b"\0" not in self._rest:
                assert self._poll.poll(PATIENCE * 1000), (
                    f"Chromium says nothing for {PATIENCE} seconds"
                )
                arrived = os.read(self._out, 1 << 20)
                if not arrived:
                    return
                self._rest += arrived
            message, _, self._rest = self._rest.partition(b"\0")
            yield json.loads(message)


@contextmanager
def launched(profile: Path) -> Iterator[Browser]:
    """Start Chromium with an empty profile, and end it."""
    commands, into = os.pipe()
    out, answers = os.pipe()
    # Chromium reads at 3 and writes at 4. Copies high above first: none may land on another.
    theirs = [fcntl.fcntl(one, fcntl.F_DUPFD_CLOEXEC, 64) for one in (commands, answers)]
    log = os.path.join(profile, "log")
    process = os.posix_spawn(
        executable(),
        ["chromium", *FLAGS, f"--user-data-dir={profile}"],
        os.environ,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 1, log, os.O_WRONLY | os.O_CREAT, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
            (os.POSIX_SPAWN_DUP2, theirs[0], 3),
            (os.POSIX_SPAWN_DUP2, theirs[1], 4),
        ],
        setpgroup=0,
    )
    for one in (commands, answers, *theirs):
        os.close(one)
    browser = Browser(into, out)
    try:
        yield browser
        browser.call("Browser.close")
    finally:
        # Its profile is thrown away, so nothing is lost if it is still busy.
        with suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(into)
        os.close(out)
