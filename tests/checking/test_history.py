"""What is wrong only after many steps without a restore is found by walks."""

from collections.abc import Hashable
from typing import Any

import pytest

from structsync.checking import (
    Fault,
    Result,
    Spec,
    Verdict,
    action,
    check,
    check_fault,
    invariant,
    refines,
    start,
    step,
    terminal,
)
from structsync.checking import _history as history

from .wheel import Wheel


class Shelf:
    """Books by their number, and how many there are; a restore counts them anew."""

    def __init__(self) -> None:
        self.books: list[int] = []
        self.count = 0

    def snapshot(self) -> Hashable:
        return tuple(self.books)

    def restore(self, snapshot: Any) -> None:
        self.books[:] = snapshot
        self.count = len(self.books)

    def put(self, book: int) -> None:
        self.books.append(book)
        self.count += 1

    def take(self) -> int:
        self.count -= 1
        return self.books.pop()

    @property
    def is_full(self) -> bool:
        return self.count >= 3


class Miscounting(Shelf):
    """Forgets to count down, from the second time on."""

    def take(self) -> int:
        return self.books.pop()


class ShelfSpec(Spec):
    """Who puts and takes, one step after the other."""

    abstract = True
    core: Shelf = start(Shelf)
    put: tuple[int, ...] = start(tuple)  # by the last step; then forgotten

    def canonical(self, snapshot: Any) -> Any:
        return snapshot._replace(put=())

    @action(book=(1, 2))
    def put_in(self, book: int) -> None:
        if not self.core.is_full:
            self.core.put(book)
            self.put += (book,)

    @action(when=lambda spec: spec.core.books)
    def take_out(self) -> None:
        self.core.take()

    @invariant
    def it_has_room_for_three(self) -> bool:
        return len(self.core.books) <= 3

    @step
    def one_at_a_time(self, before: Any) -> bool:
        return len(self.put) <= 1


class MiscountingSpec(ShelfSpec):
    core: Shelf = start(Miscounting)


def of_history(result: Result) -> tuple[Verdict, str]:
    found = result["no_hidden_history"]
    return found.verdict, found.detail


def test_what_forgets_nothing_is_confirmed() -> None:
    result = check(ShelfSpec)
    assert result.verdict is Verdict.CONFIRMED
    assert of_history(result)[1] == "2,000 steps at random"


def test_an_index_that_drifts_is_found_by_the_shortest_way() -> None:
    result = check(MiscountingSpec)
    assert [one.name for one in result.properties if one.verdict is Verdict.REFUTED] == [
        "no_hidden_history"
    ]
    found = result["no_hidden_history"].counterexample
    assert found is not None
    assert "once it was restored, the last step leads to" in found.detail
    assert [one.action for one in found.steps].count("put_in") == 4
    assert len(found.steps) <= 7
    assert found.claim == "What was never restored does the same as what was."


def test_a_move_that_only_what_remembers_allows_is_found() -> None:
    class Unasked(MiscountingSpec):
        @action(book=(1, 2), when=lambda spec, book: not spec.core.is_full)
        def put_in(self, book: int) -> None:
            self.core.put(book)

    verdict, detail = of_history(check(Unasked))
    assert verdict is Verdict.REFUTED
    assert "was possible instead of" in detail


def test_a_step_property_is_asked_of_what_remembers() -> None:
    class Counted(MiscountingSpec):
        @action(book=(1, 2))
        def put_in(self, book: int) -> None:
            if len(self.core.books) < 3:
                self.core.put(book)

        @step
        def it_counts(self, before: Any) -> bool:
            return self.core.count == len(self.core.books) or before.core.books == self.core.books

        @action(when=lambda spec: spec.core.books)
        def take_out(self) -> None:
            self.core.take()
            self.core.count = min(self.core.count, len(self.core.books) + 1)

    class Kept(Counted):
        @step
        def it_counts(self, before: Any) -> bool:
            put = len(self.core.books) > len(before.core.books)
            return not put or self.core.count == len(self.core.books)

    verdict, detail = of_history(check(Kept))
    assert verdict is Verdict.REFUTED
    assert detail == "it_counts is not true of the last step"


def test_a_step_that_is_none_of_what_is_refined_is_found() -> None:
    class Many(Spec):
        count: int = start(int)

        @action(to=range(5))
        def change(self, to: int) -> None:
            self.count = to

        @invariant
        def few(self) -> bool:
            return self.count < 5

    class Refining(ShelfSpec):
        core: Shelf = start(Miscounting)

        @refines(Many)
        def it_has_some(self) -> dict[str, object]:
            return {"count": self.core.count}

        @action(book=(1, 2))
        def put_in(self, book: int) -> None:
            if len(self.core.books) < 3:
                self.core.put(book)

    result = check(Refining)
    assert result["it_has_some"].verdict is Verdict.CONFIRMED
    assert of_history(result) == (Verdict.REFUTED, "it_has_some is not true of the last step")


def test_the_outcome_of_a_step_that_raises_is_compared() -> None:
    class Raising(Shelf):
        def put(self, book: int) -> None:
            if self.count > len(self.books) + 2:
                raise ValueError("too many")
            super().put(book)

        def take(self) -> int:
            self.count += 1
            return super().take()

    class RaisingSpec(ShelfSpec):
        core: Shelf = start(Raising)

        @action(book=(1, 2))
        def put_in(self, book: int) -> None:
            if len(self.core.books) < 3:
                self.core.put(book)

    verdict, detail = of_history(check(RaisingSpec))
    assert verdict is Verdict.REFUTED
    assert "raised ValueError: too many; once it was restored" in detail


def test_what_raises_always_is_told_by_the_search() -> None:
    class Broken(ShelfSpec):
        @action(when=lambda spec: len(spec.core.books) == 2)
        def fall(self) -> None:
            raise OSError("down")

    result = check(Broken)
    assert result["no_action_fails"].verdict is Verdict.REFUTED
    assert of_history(result)[0] is Verdict.CONFIRMED


def test_a_question_that_raises_ends_a_walk() -> None:
    class Asking(ShelfSpec):
        @action(when=lambda spec: 2 // (2 - len(spec.core.books)) > 5)
        def wonder(self) -> None: ...

        @action(book=(1, 2))
        def put_in(self, book: int) -> None:
            self.core.put(book)

    result = check(Asking)
    assert result["no_action_fails"].verdict is Verdict.REFUTED
    assert of_history(result)[0] is Verdict.CONFIRMED


def test_where_no_step_is_possible_there_is_no_walk() -> None:
    class Stuck(ShelfSpec):
        @action(book=(1, 2), when=lambda spec, book: False)
        def put_in(self, book: int) -> None: ...

        @terminal
        def empty(self) -> bool:
            return not self.core.books

    assert of_history(check(Stuck))[1] == "0 steps at random"


def test_a_refuted_step_property_is_not_refuted_again() -> None:
    class Two(ShelfSpec):
        @step
        def one_at_a_time(self, before: Any) -> bool:
            return not self.put

    result = check(Two)
    assert result["one_at_a_time"].verdict is Verdict.REFUTED
    assert of_history(result)[0] is Verdict.CONFIRMED


def test_objects_that_belong_to_one_core_are_not_carried_to_another() -> None:
    class Ticket:
        pass

    class Office(Shelf):
        def __init__(self) -> None:
            super().__init__()
            self.ticket = Ticket()

        def snapshot(self) -> Hashable:
            return (super().snapshot(), self.ticket if self.books else None)

        def restore(self, snapshot: Any) -> None:
            super().restore(snapshot[0])
            self.ticket = snapshot[1] or self.ticket

    class OfficeSpec(ShelfSpec):
        core: Shelf = start(Office)

    assert check(OfficeSpec).verdict is Verdict.CONFIRMED


def test_a_specification_may_need_a_restore_before_each_step() -> None:
    class Excused(MiscountingSpec):
        restored_before_each_step = "its count is wrong"

    result = check(Excused)
    assert result.verdict is Verdict.CONFIRMED
    assert "no_hidden_history" not in [one.name for one in result.properties]


def test_without_anything_to_restore_there_is_no_history() -> None:
    class Plain(Spec):
        n: int = start(int)

        @action
        def turn(self) -> None:
            self.n = (self.n + 1) % 5

        @invariant
        def in_range(self) -> bool:
            return self.n < 5

    assert "no_hidden_history" not in [one.name for one in check(Plain).properties]


def test_a_search_that_is_cut_off_has_no_walk() -> None:
    result = check(ShelfSpec, max_states=3)
    assert "no_hidden_history" not in [one.name for one in result.properties]


def test_a_walk_that_takes_too_long_is_not_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "STEPS", 10**9)
    monkeypatch.setattr(history.History.__init__, "__defaults__", (10**9,))
    verdict, detail = of_history(check(ShelfSpec, seconds=0.3))
    assert verdict is Verdict.UNFINISHED
    assert detail == "ended by the bound of 0.3 seconds"


def test_a_planted_fault_is_found_by_a_walk() -> None:
    found = check_fault(Fault(ShelfSpec, "core", Miscounting, "no_hidden_history", 10))
    assert found.caught
    assert check_fault(Fault(ShelfSpec, "core", Shelf, "no_hidden_history", 10)).detail == (
        "a check that cannot fail: no_hidden_history is not refuted within 10 steps"
    )


def test_it_is_judged_alone_if_it_is_asked_for_alone() -> None:
    result = check(MiscountingSpec, only=["no_hidden_history"])
    assert [one.name for one in result.properties] == ["no_hidden_history"]
    assert result.verdict is Verdict.REFUTED


def test_it_is_not_confirmed_if_it_is_asked_for_alone_and_nothing_walks() -> None:
    def asked(spec: type[Spec], max_states: int | None = None) -> tuple[Verdict, str]:
        (found,) = check(spec, only=["no_hidden_history"], max_states=max_states).properties
        return found.verdict, found.detail

    class Restored(MiscountingSpec):
        restored_before_each_step = "it counts what is not restored"

    nothing = "no field has a snapshot(), so none remembers anything"
    assert asked(Wheel) == (Verdict.VACUOUS, nothing)
    assert asked(Restored) == (Verdict.VACUOUS, "it counts what is not restored")
    assert asked(Wheel, max_states=0) == (Verdict.UNFINISHED, "ended by the bound of 0 states")


def test_the_walks_of_a_planted_fault_remember_what_was_not_searched() -> None:
    """What is put is known by a field of the specification, without which nothing could be taken."""

    class KnownSpec(ShelfSpec):
        known: int = start(int)

        @action(book=(1, 2))
        def put_in(self, book: int) -> None:
            if len(self.core.books) < 3:
                self.core.put(book)
                self.known += 1

        @action(when=lambda spec: spec.known)
        def take_out(self) -> None:
            self.known -= 1
            self.core.take()

        @action(book=(1, 2), when=lambda spec, book: not spec.core.is_full)
        def put_if_there_is_room(self, book: int) -> None:
            self.put_in(book)

    assert check_fault(Fault(KnownSpec, "core", Miscounting, "no_hidden_history", 10)).caught
