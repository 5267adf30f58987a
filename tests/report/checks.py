"""What is demanded of a page; each check returns what is wrong, so that a planted fault can be seen."""

import struct
from collections.abc import Callable

from structsync.report import Counterexample

from .browser import Page

# 4.5 is what WCAG demands of text that people have to read (level AA).
CONTRAST = 4.5

# For each text that is seen: its colour against whatever is painted under the middle of it.
READ_CONTRASTS = """(() => {
  const parse = (text) => (text.match(/[\\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
  const opaque = (text) => text !== "none" && (parse(text)[3] ?? 1) === 1;
  const light = (text) => {
    const [r, g, b] = parse(text).map((one) => {
      const part = one / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paint = (one) => one.matches("rect, path") ? getComputedStyle(one).fill
    : one.matches("svg *") ? "none" : getComputedStyle(one).backgroundColor;
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode, parent = text.parentElement;
    if (!text.data.trim() || parent.closest("title, script, .unseen")) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    const [box] = range.getClientRects();
    if (!box) continue;
    const x = box.x + box.width / 2, y = box.y + box.height / 2;
    const under = document.elementsFromPoint(x, y);
    if (!under.includes(parent)) continue;
    const style = getComputedStyle(parent);
    const ink = parent.matches("svg *") ? style.fill : style.color;
    const ground = under.map(paint).find(opaque);
    const [dark, bright] = [light(ink), light(ground)].sort((a, b) => a - b);
    found.push([text.data.trim(), (bright + 0.05) / (dark + 0.05), ink, ground]);
  }
  return found;
})()"""

READ_SELECTION = """(() => {
  const rows = [...document.querySelectorAll("[aria-current]")];
  const panels = [...document.querySelectorAll("aside section")].filter((one) => !one.hidden);
  const box = document.querySelector("g.step.current").getBoundingClientRect();
  const frame = document.querySelector(".beside > .scroll").getBoundingClientRect();
  const head = document.querySelector(".heads").getBoundingClientRect();
  const gutter = document.querySelector(".gutter").getBoundingClientRect();
  return {
    rows: rows.map((one) => [one.getAttribute("aria-current"), one.querySelector("th").innerText]),
    panels: panels.map((one) => one.querySelector("h3").innerText),
    state: panels.map((one) => [...one.querySelectorAll("dd")].map((dd) => dd.firstChild.data.trim())),
    boxes: [...document.querySelectorAll("g.step.current")].map((one) => Number(one.dataset.step)),
    seen: box.top >= Math.max(0, head.bottom) && box.left >= gutter.right
      && box.bottom <= Math.min(innerHeight, frame.bottom)
      && box.right <= Math.min(innerWidth, frame.right),
  };
})()"""

READ_OVERFLOW = """[document.documentElement, document.querySelector(".beside > .scroll")].map(
  (one) => [one.tagName, one.scrollWidth, one.clientWidth])"""


def complaints(page: Page, shown: Counterexample) -> list[str]:
    """Return what the console says, and what the page fetches or asks."""
    del shown
    said = [
        *page.events("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"),
        *page.events("Page.javascriptDialogOpening"),
    ]
    asked = [one["request"]["url"] for one in page.events("Network.requestWillBeSent")]
    return [*map(str, said), *(f"fetches {one}" for one in asked[1:])]


def stepping(page: Page, shown: Counterexample) -> list[str]:
    """Go through the steps by key; return where the page does not follow."""
    page.resize(1280, 420)  # a few steps only are seen at once
    last = len(shown.steps)
    opens = shown.opens_at + 1
    walk = [
        (None, opens),
        ("Home", 1),
        ("ArrowUp", 1),
        *(("ArrowDown", n) for n in range(2, last + 1)),
    ]
    walk += [("j", last), ("k", last - 1), ("ArrowUp", last - 2), ("j", last - 1)]
    walk += [("Home", 1), ("k", 1), ("End", last), ("Home", 1)]
    walk += [
        ("ArrowUp", 1)
    ]  # at the end: where it moves no step the browser scrolls, in its own time
    wrong = []
    before = opens
    for key, number in walk:
        if key is not None:
            page.press(key)
        found = page.value(READ_SELECTION)
        step = shown.steps[number - 1]
        name = step.turn if shown.is_schedule else step.call
        expected = {
            "panels": [f"Step {number} of {last}: {name}"],
            "state": [[*step.state.values()]],
            "boxes": [number],
            # Without a move the page stays where its reader has it.
            "seen": found["seen"] if number == before else True,
        }
        before = number
        wrong += [
            f"{key} to {number}: {what} is {found[what]}"
            for what, value in expected.items()
            if found[what] != value
        ]
        rows = [(kind, text.split()[-1]) for kind, text in found["rows"]]
        if rows != [("step", str(number))]:
            wrong.append(f"{key} to {number}: aria-current is at {rows}")
    return wrong


def opening(page: Page, shown: Counterexample) -> list[str]:
    """Load the page where little of it is seen; return whether it is not at the step that decides."""
    page.resize(1280, 600)
    page.open_again()
    found = page.value(READ_SELECTION)
    boxes, wanted = found["boxes"], shown.opens_at + 1
    wrong = [] if boxes == [wanted] else [f"opens at {boxes}, not at {wanted}"]
    return wrong if found["seen"] else [*wrong, f"step {wanted} is out of sight"]


READ_WAITS = """[...document.querySelectorAll("g.waits")].map((one) => {
  const box = (element) => element.getBoundingClientRect();
  const boxes = [...document.querySelectorAll("svg .blocked, svg .ended")];
  const named = (rect) => rect.parentElement.querySelector("title").textContent.split("\\n")[0];
  const at = (x, y) => boxes.filter((rect) => {
    const {left, right, bottom} = box(rect);
    return left <= x && x <= right && Math.abs(y - bottom) < 3;
  }).map(named);
  const origin = box(document.querySelector("svg.drawing"));
  const points = (path) => [...path.getAttribute("d").matchAll(/M([\\d.]+),([\\d.]+)/g)]
    .map((found) => at(Number(found[1]) + origin.x, Number(found[2]) + origin.y));
  const [line, tips] = one.querySelectorAll("path");
  return [points(line)[0][0], points(tips).map((found) => found[0])];
})"""


def waits(page: Page, shown: Counterexample) -> list[str]:
    """Return the tasks from which no line leads to exactly those that they wait for."""
    drawn = dict(page.value(READ_WAITS))
    known = {one.task: [*one.waits_for] for one in shown.blocked if one.waits_for}
    return [
        f"from {name} lines lead to {drawn.get(name)}, not to {known.get(name)}"
        for name in {*drawn, *known}
        if drawn.get(name) != known.get(name)
    ]


def paleness(page: Page, shown: Counterexample) -> list[str]:
    """Return the texts that are hard to read, with any step selected, in light and in dark."""
    page.resize(1280, 3000)  # everything is seen at once
    wrong = []
    grounds = set()
    for scheme in ("light", "dark"):
        page.scheme(scheme)
        page.press("Home")
        for number in range(1, len(shown.steps) + 1):
            found = page.value(READ_CONTRASTS)
            assert len(found) > 30, "this would be green by emptiness"
            wrong += [
                f"{scheme}, step {number}: {text!r} {ink} on {ground} has {ratio:.2f}"
                for text, ratio, ink, ground in found
                if ratio < CONTRAST
            ]
            grounds.add((scheme, found[0][3]))
            page.press("ArrowDown")
    return wrong if len({ground for _, ground in grounds}) == 2 else [*wrong, "one scheme only"]


def overflow(page: Page, shown: Counterexample) -> list[str]:
    """Return what is wider than its room."""
    del shown
    found = page.value(READ_OVERFLOW)
    return [f"{tag}: {width} in {room}" for tag, width, room in found if width > room]


def copying(page: Page, shown: Counterexample) -> list[str]:
    """Click both buttons; return what is not on the clipboard afterwards."""
    wrong = []
    page.allow_clipboard()
    for name, text in (("command", shown.replay), ("token", shown.token)):
        page.value("navigator.clipboard.writeText('nothing')")
        page.click(f"button[data-copies={name}]")
        copied = page.value("navigator.clipboard.readText()")
        if copied != text:
            wrong.append(f"{name}: {copied!r} is copied, not {text!r}")
        if (selected := page.value("getSelection().toString()")) != text:
            wrong.append(f"{name}: {selected!r} is selected, not {text!r}")
        if (
            said := page.value(f"document.querySelector('[data-copies={name}]').innerText")
        ) != "Copied":
            wrong.append(f"{name}: the button says {said!r}")
    return wrong


def blankness(page: Page, shown: Counterexample) -> list[str]:
    """Take a screenshot; return whether nothing is on it."""
    del shown
    picture = page.screenshot()
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", picture[16:24])
    wrong = [] if (width, height) == (1280, 800) else [f"{width} x {height} pixels"]
    return wrong if len(picture) > 20_000 else [*wrong, f"{len(picture)} bytes of picture"]


Check = Callable[[Page, Counterexample], list[str]]
EVERY: tuple[Check, ...] = (
    complaints,
    stepping,
    opening,
    waits,
    paleness,
    overflow,
    copying,
    blankness,
)
