"""The page in a real browser: what it shows, how keys step through it, and that it needs nothing."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from structsync.report import Blocked, Counterexample, to_html

from .. import children  # noqa: TID252 - the one home of how a child is started
from . import checks
from .browser import Page
from .schedules import CROWD, DEADLOCK, HOSTILE, IDLE, NASTY, SPEC, STARVATION


def opened(page: Page, folder: Path, html: str) -> None:
    file = folder / "counterexample.html"
    file.write_text(html, encoding="utf-8")
    page.open(file)


@pytest.mark.parametrize("check", checks.EVERY, ids=lambda check: check.__name__)
def test_a_schedule_is_shown_as_it_should_be(
    page: Page, tmp_path: Path, check: checks.Check
) -> None:
    opened(page, tmp_path, to_html(DEADLOCK))
    assert check(page, DEADLOCK) == []


@pytest.mark.parametrize("shown", [SPEC, STARVATION], ids=["spec", "starvation"])
def test_other_counterexamples_step_and_read_as_well(
    page: Page, tmp_path: Path, shown: Counterexample
) -> None:
    opened(page, tmp_path, to_html(shown))
    for check in (checks.stepping, checks.paleness, checks.overflow, checks.complaints):
        assert check(page, shown) == []


def test_a_large_schedule_scrolls_inside_its_frame(page: Page, tmp_path: Path) -> None:
    opened(page, tmp_path, to_html(CROWD))
    assert checks.stepping(page, CROWD) == []
    (wide,) = checks.overflow(page, CROWD)
    assert wide.startswith("DIV")


def spoiled(old: str, new: str, shown: Counterexample = DEADLOCK) -> str:
    """Return a page with a planted fault, and without the policy that would stop it."""
    html = re.sub(r"<meta http-equiv[^>]*>", "", to_html(shown))
    assert old in html
    return html.replace(old, new, 1)


# Name, check, what the page has, what is planted, and what the check must say then.
FAULTS = [
    ("an error", checks.complaints, '"use strict";', "console.error('planted');", "planted"),
    ("an exception", checks.complaints, '"use strict";', "planted.fault();", "planted is not"),
    ("a foreign picture", checks.complaints, "</body>", '<img src="http://[::1]:9/x">', "fetches"),
    ("a step left out", checks.stepping, "selected + 1", "selected + 2", "panels is"),
    ("a panel that stays", checks.stepping, "one.hidden = !current", "one.hidden = 0", "panels is"),
    ("the state of before", checks.stepping, "<dd>value=0", "<dd>value=1", "state is"),
    ("a step out of sight", checks.stepping, ".scrollIntoView(", ".getBBox(", "seen is False"),
    ("a step under the head", checks.stepping, "padding: 3rem", "padding: 0", "seen is False"),
    ("a box left behind", checks.stepping, '("current", current)', '("current", true)', "boxes is"),
    ("opened at the top", checks.opening, 'data-opens="7"', 'data-opens="1"', "opens at [1]"),
    ("not brought into sight", checks.opening, "reveal(boxes", "String(boxes", "out of sight"),
    ("a task waits for none", checks.waits, 'class="waits"', 'class="x"', "lead to None"),
    (
        "a line that ends beside",
        checks.waits,
        'class="wait-tip" d="M',
        'class="wait-tip" d="M9',
        "lead to [",
    ),
    ("no current row", checks.stepping, '"aria-current", "step"', '"aria-no", "step"', "aria-"),
    ("pale in light", checks.paleness, "--faint: #5b636c", "--faint: #808890", "light, step"),
    ("pale in dark", checks.paleness, "--faint: #a3acb6", "--faint: #70787f", "dark, step"),
    ("pale in a box", checks.paleness, "--bad-fill: #fbdfdc", "--bad-fill: #d05050", "blocked for"),
    ("pale if selected", checks.paleness, "--selected: #e3e7ee", "--selected: #8899aa", "step 4"),
    ("no dark", checks.paleness, "(prefers-color-scheme: dark)", "print", "one scheme only"),
    ("a wide page", checks.overflow, "20rem; gap", "90rem; gap", "HTML"),
    ("a wide drawing", checks.overflow, 'class="drawing" width="', 'width="1', "DIV"),
    ("nothing copied", checks.copying, "writeText(source.textContent)", "writeText('')", "copied"),
    ("nothing selected", checks.copying, "selectAllChildren(source)", "empty()", "selected"),
    ("nothing said", checks.copying, "button.textContent = ", "button.title = ", "button says"),
    ("an empty page", checks.blankness, "<body ", "<body hidden ", "bytes of picture"),
]


@pytest.mark.parametrize(
    ("check", "old", "new", "said"),
    [pytest.param(*rest, id=name.replace(" ", "-")) for name, *rest in FAULTS],
)
def test_a_planted_fault_is_seen(
    page: Page, tmp_path: Path, check: checks.Check, old: str, new: str, said: str
) -> None:
    opened(page, tmp_path, spoiled(old, new))
    assert said in "\n".join(check(page, DEADLOCK))


def test_a_step_under_the_numbers_is_seen(page: Page, tmp_path: Path) -> None:
    opened(page, tmp_path, spoiled("1rem 1rem 6rem", "1rem 1rem 0", CROWD))
    assert "seen is False" in "\n".join(checks.stepping(page, CROWD))


def test_the_page_lets_nothing_in(page: Page, tmp_path: Path) -> None:
    intruder = '<img src="http://[::1]:9/x"><script>document.title = "changed"</script></body>'
    opened(page, tmp_path, to_html(DEADLOCK).replace("</body>", intruder))
    assert page.value("document.title") == "deadlock - test_semaphore"
    refused = " ".join(checks.complaints(page, DEADLOCK))
    assert refused.count("violates the following Content Security Policy directive") == 2
    assert [one["blockedReason"] for one in page.events("Network.loadingFailed")] == ["csp"]


def test_text_stays_text_whatever_it_is(page: Page, tmp_path: Path) -> None:
    opened(page, tmp_path, to_html(HOSTILE))
    assert checks.complaints(page, HOSTILE) == []
    told = page.value(
        "[...document.querySelectorAll('.steps tbody tr')].map("
        "(row) => [...row.cells].slice(1, 4).map((cell) => cell.firstChild?.data.trim() ?? ''))"
    )
    expected = [[one.turn, one.parked, ", ".join(one.woke)] for one in HOSTILE.steps]
    assert told == [["(start)", "", ""], *expected]
    assert page.value("document.title") == f"deadlock - {NASTY[0]}"
    assert page.value("document.querySelectorAll('script, img, b').length") == 2
    (wide,) = checks.overflow(page, HOSTILE)
    assert wide.startswith("DIV")


def test_without_javascript_the_page_is_complete(page: Page, tmp_path: Path) -> None:
    page.call("Emulation.setScriptExecutionDisabled", value=True)
    opened(page, tmp_path, to_html(DEADLOCK))
    seen = page.value("document.body.innerText")
    for step in DEADLOCK.steps:
        for text in (step.turn, step.parked, *step.woke, step.note, *step.state.values()):
            assert " ".join(text.split()) in seen
    assert DEADLOCK.replay in seen
    assert DEADLOCK.blocked[0].why in seen
    shown_controls = "[...document.querySelectorAll('aside, button')].filter((one) => !one.hidden)"
    assert page.value(f"{shown_controls}.length") == 0


def test_a_browser_that_refuses_the_clipboard_still_copies(page: Page, tmp_path: Path) -> None:
    refusing = spoiled('"use strict";', "navigator.clipboard.writeText = Promise.reject;")
    opened(page, tmp_path, refusing)
    page.allow_clipboard()
    page.click("button[data-copies=token]")
    assert page.value("navigator.clipboard.readText()") == DEADLOCK.token


def test_a_click_selects_and_the_table_can_be_walked(page: Page, tmp_path: Path) -> None:
    opened(page, tmp_path, to_html(DEADLOCK))
    page.click("tr[data-step='4']")
    focus = "document.activeElement.dataset.step"
    page.value("document.querySelector('[aria-current]').focus()")
    assert page.value(focus) == "4"
    page.press("ArrowDown")
    assert page.value(focus) == "5"
    page.click("g.step[data-step='2']")
    assert page.value("document.querySelector('[aria-current]').dataset.step") == "2"


def test_keys_with_a_modifier_stay_with_the_browser(page: Page, tmp_path: Path) -> None:
    opened(page, tmp_path, to_html(DEADLOCK))
    page.press("Home")
    page.press("j", control=True)
    assert page.value("document.querySelector('[aria-current]').dataset.step") == "1"


@pytest.mark.parametrize(
    ("shown", "opens"),
    [
        (DEADLOCK, 7),  # the last star
        (replace(DEADLOCK, steps=DEADLOCK.steps[:3]), 3),  # without one: where it breaks
        (STARVATION, 3),  # where the cycle begins
        (replace(DEADLOCK, steps=()), 1),
        (SPEC, 1),
    ],
)
def test_a_page_opens_at_the_step_that_decides(shown: Counterexample, opens: int) -> None:
    assert f'<body data-opens="{opens}">' in to_html(shown)


def test_a_line_of_the_short_version_leads_to_its_step(page: Page, tmp_path: Path) -> None:
    opened(page, tmp_path, to_html(DEADLOCK))
    links = "[...document.querySelectorAll('.story a')].map((one) => one.innerText)"
    assert page.value(links) == ["step 4", "step 6", "step 7"]
    page.click(".story a")
    assert page.value("document.querySelector('[aria-current]').dataset.step") == "4"
    told = page.value("document.querySelector('header').innerText")
    for one in (*DEADLOCK.story, *DEADLOCK.reasons):
        assert one.text in told


HIDDEN = "[...document.querySelectorAll('tr[data-step]')].filter((r) => r.hidden).map((r) => +r.dataset.step)"


def test_steps_that_show_nothing_are_folded_until_a_reader_wants_them(
    page: Page, tmp_path: Path
) -> None:
    opened(page, tmp_path, to_html(IDLE))
    assert page.value(HIDDEN) == [3, 4, 5, 6, 11, 12, 13, 14, 15]
    page.click("tr[data-folds='3-6'] button")
    assert page.value(HIDDEN) == [11, 12, 13, 14, 15]
    page.click("tr[data-folds='3-6'] button")
    assert page.value(HIDDEN) == [3, 4, 5, 6, 11, 12, 13, 14, 15]
    page.press("Home", "j", "j")
    assert page.value(HIDDEN) == [11, 12, 13, 14, 15]
    assert page.value("document.querySelector('[aria-current]').dataset.step") == "3"
    assert checks.complaints(page, IDLE) == []
    assert checks.paleness(page, IDLE) == []


def test_a_task_that_ended_with_what_others_wait_for_is_drawn_as_ended(
    page: Page, tmp_path: Path
) -> None:
    shown = replace(CROWD, blocked=(Blocked("worker#2", waits_for=("worker#1", "worker#0")),))
    opened(page, tmp_path, to_html(shown))
    assert checks.waits(page, shown) == []
    assert page.value("document.querySelectorAll('svg .ended').length") == 2


def test_the_screenshots_of_light_and_dark_differ(page: Page, tmp_path: Path) -> None:
    opened(page, tmp_path, to_html(DEADLOCK))
    pictures = set()
    for scheme in ("light", "dark"):
        page.scheme(scheme)
        pictures.add(page.screenshot())
    assert len(pictures) == 2


def without_chromium(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run one of these tests where no browser is installed."""
    test = f"{__file__}::test_the_screenshots_of_light_and_dark_differ"
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rs", test],
        env={
            **children.environment("pytest_timeout"),
            "CI": "",
            "PATH": str(folder),
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_a_browser_these_tests_are_skipped(tmp_path: Path) -> None:
    ran = without_chromium(tmp_path)
    assert ran.returncode == 0
    assert "apt-get install chromium" in ran.stdout
    assert "1 skipped" in ran.stdout


def test_without_a_browser_continuous_integration_fails(tmp_path: Path) -> None:
    ran = without_chromium(tmp_path, CI="true")
    assert ran.returncode == 1
    assert "no skip accepted" in ran.stdout
