"""A session keeps what it has read of a log from the last comparison but one on, and knows where that begins."""

from __future__ import annotations

from structsync._core.shared.history import History, Mark

FIRST, STAMP = 3, 7


def what_was_read_before_the_last_comparison_but_one_is_forgotten(
    first: int, second: int, third: int, compares: int
) -> None:
    assert 0 <= first <= 2
    assert 0 <= second <= 2
    assert 0 <= third <= 1
    assert 0 <= compares <= 2
    base = Mark(FIRST, STAMP, b"base")
    history = History(["session"], base)
    read: list[tuple[int, bytes]] = []
    marks = [base]
    for number, many in enumerate((first, second, third)):
        for _ in range(many):
            read.append((STAMP + 2 + len(read), b"entry"))
            history.entries.append(read[-1])
        if number < compares:
            stamp = read[-1][0] if read else STAMP
            marks.append(Mark(FIRST + len(read), stamp, (b"one", b"two")[number]))
            history.compared((b"one", b"two")[number])
    assert history.mark == (marks[-1] if compares else None)
    assert history.base == (marks[1] if compares == 2 else base)
    assert history.position == FIRST + len(read)
    assert history.stamp == (read[-1][0] if read else STAMP)
    assert history.entries == read[history.base.position - FIRST :]


def where_nothing_was_read_the_log_begins(is_read: bool) -> None:
    assert is_read in (False, True)
    history = History([], Mark())
    if is_read:
        history.entries.append((1, b"entry"))
    assert (history.position, history.stamp) == ((1, 1) if is_read else (0, 0))
    assert history.base.state is None
    assert not history.sessions


def what_another_session_tells_continues_what_was_read_from_the_last_entry_on(
    read: int, start: int, many: int, is_lost: bool
) -> None:
    assert 0 <= read <= 2
    assert FIRST - 2 <= start <= FIRST + 3
    assert 0 <= many <= 3
    assert is_lost in (False, True)
    history = History(["session"], Mark(FIRST, STAMP, b"base"))
    history.entries += [(STAMP + 1, b"entry"), (STAMP + 2, b"entry")][:read]
    # No stamp comes twice, also where a log has been lost and its positions begin anew.
    before = STAMP - FIRST + 1 + (100 if is_lost else 0)
    told = [(before + position, b"told") for position in range(start, start + many)]
    fresh = history.continued_by(start, told)
    follows = [one for one in told if one[0] > history.stamp]
    is_last_among = history.stamp in [stamp for stamp, _ in told]
    assert [*fresh] == (follows if is_last_among else [])
