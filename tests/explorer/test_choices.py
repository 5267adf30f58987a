"""A schedule is data: it survives being written as a token, and nothing else passes for one."""

from __future__ import annotations

import re
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from structsync.testing import ReplayError
from structsync.testing._execution.schedule import Choice, Schedule

WORDS = st.from_regex(r"[a-z_][\w-]{0,7}", fullmatch=True)
PARTS = st.builds("{}#{}".format, WORDS, st.integers(0, 12))
TASKS = st.just("main") | st.lists(PARTS, min_size=1, max_size=3).map("/".join)
SCOPES = st.builds("{}~{}".format, TASKS, st.integers(0, 12))
CHOICES = (
    st.builds(Choice, st.sampled_from(["run", "cancel"]), TASKS)
    | st.builds(Choice, st.just("scope"), SCOPES)
    | st.just(Choice("clock", ""))
)
SCHEDULES = st.builds(
    lambda order, pairs: Schedule.of(order, [a for a, _ in pairs], [b for _, b in pairs]),
    st.sampled_from(["any", "trio"]),
    st.lists(st.tuples(CHOICES, CHOICES), max_size=12),
)

SOME = Schedule.of(
    "any",
    [Choice("run", "main"), Choice("cancel", "worker#1"), Choice("scope", "main~0")],
    [Choice("run", "main"), Choice("run", "worker#0"), Choice("run", "worker#0")],
)


@pytest.mark.slow
@given(SCHEDULES)
def test_a_schedule_comes_back_from_its_token(schedule: Schedule) -> None:
    assert Schedule.parse(schedule.token) == schedule


@pytest.mark.slow
@given(SCHEDULES)
def test_a_token_is_one_word_for_a_shell(schedule: Schedule) -> None:
    # "#" and "~" mean something to a shell at the start of a word only, and there stands "x".
    assert shlex.split(f"echo {schedule.token}") == ["echo", schedule.token]
    assert not set(schedule.token) & set(" \t\n'\"\\$`!&|;<>()[]{}*?")


@pytest.mark.light
def test_a_token_holds_the_deviations_alone() -> None:
    assert re.fullmatch(r"x1a:1cworker#1,2smain~0:3\.[0-9a-f]{4}", SOME.token)


def test_the_checksum_covers_the_steps_between_deviations() -> None:
    changed = Schedule.of(
        "any",
        [Choice("run", "other"), Choice("cancel", "worker#1"), Choice("scope", "main~0")],
        [Choice("run", "other"), Choice("run", "worker#0"), Choice("run", "worker#0")],
    )
    assert changed.deviations == SOME.deviations
    assert changed.checksum != SOME.checksum


@pytest.mark.parametrize(
    "token",
    [
        "",
        "x",
        "x2a:1cworker#1:3.0000",  # of a version to come
        "x1b:1cworker#1:3.0000",  # of no order
        "x1a:1cworker#1:3",  # cut off
        "x1a:1cworker#1:3.000",
        "x1a:1cworker#1:3.0000 ",
        "explore(..., replay='x1a:1cworker#1:3.0000')",
    ],
)
def test_what_is_no_token_is_refused_with_an_example_of_one(token: str) -> None:
    with pytest.raises(ReplayError, match="is no schedule token; one looks like 'x1a:") as caught:
        Schedule.parse(token)
    assert repr(token) in str(caught.value)


def test_the_example_in_the_message_is_a_token_itself() -> None:
    with pytest.raises(ReplayError) as caught:
        Schedule.parse("?")
    found = re.search(r"'(x1a:\S+)'", str(caught.value))
    assert found is not None
    assert Schedule.parse(found[1]).deviations[0] == (2, Choice("cancel", "worker#1"))


@pytest.mark.parametrize("steps", ["cworker#1", "1qworker#1", "1", "1cworker#1,x", "1c a"])
def test_a_token_with_a_damaged_step_is_refused(steps: str) -> None:
    with pytest.raises(ReplayError, match="damaged: copy the whole word"):
        Schedule.parse(f"x1a:{steps}:3.0000")


@pytest.mark.parametrize(
    ("choice", "text"),
    [
        (Choice("run", "worker#0"), "run worker#0"),
        (Choice("cancel", "worker#0"), "cancel worker#0"),
        (Choice("scope", "main~0"), "scope main~0"),
        (Choice("clock", ""), "clock"),
    ],
)
def test_a_choice_reads_as_what_happens(choice: Choice, text: str) -> None:
    assert str(choice) == text
