"""What a session keeps of a log: no more than another session may still need."""

from structsync._core.shared.history import History, Mark


def entries(first: int, last: int) -> list[tuple[int, bytes]]:
    return [(10 * number, b"%d" % number) for number in range(first, last + 1)]


def test_a_history_ends_with_its_last_entry() -> None:
    history = History(["s"], Mark(3, 30, b"state"))
    assert (history.position, history.stamp) == (3, 30)
    history.entries += entries(4, 5)
    assert (history.position, history.stamp) == (5, 50)


def test_a_history_of_nothing_begins_at_the_start_of_the_log() -> None:
    history = History([], Mark())
    assert (history.position, history.stamp, history.base.state) == (0, 0, None)


def test_what_came_before_a_comparison_is_kept_until_the_next_one() -> None:
    history = History(["s"], Mark())
    history.entries += entries(1, 4)
    history.compared(b"first")
    history.entries += entries(5, 6)
    assert (history.base, history.position) == (Mark(), 6)
    history.compared(b"second")
    assert history.base == Mark(4, 40, b"first")
    assert history.mark == Mark(6, 60, b"second")
    assert history.entries == entries(5, 6)
    assert history.position == 6


def test_what_continues_begins_behind_the_last_entry_that_was_read() -> None:
    history = History(["s"], Mark(3, 30, b"state"))
    history.entries += entries(4, 5)
    assert history.since(2) is None
    assert history.since(4) == entries(5, 5)
    assert history.continued_by(3, entries(4, 7)) == entries(6, 7)
    assert history.continued_by(2, entries(3, 6)) == entries(6, 6)
    for start, said in [
        (5, entries(6, 7)),  # what was read last is not among them
        (3, entries(4, 5)),
        (6, entries(7, 8)),
        (4, [(49, b"5"), (60, b"6")]),  # they are of another log
    ]:
        assert not history.continued_by(start, said)
