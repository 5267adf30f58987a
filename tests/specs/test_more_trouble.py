"""Searches with larger bounds than those of the specifications that ship."""

import pytest

from structsync.checking import Verdict, check, start
from structsync.specs.calls import SeveralHostsSpec


class WithTwoMessagesThatGoWrong(SeveralHostsSpec):
    trouble: int = start(lambda: 2)


@pytest.mark.nightly
def test_calls_to_several_hosts_hold_when_two_messages_go_wrong() -> None:
    result = check(WithTwoMessagesThatGoWrong)
    assert [one for one in result.properties if one.verdict is not Verdict.CONFIRMED] == []
    assert result.states > 30_000
