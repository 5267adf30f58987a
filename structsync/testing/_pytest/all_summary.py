"""What ``--explore-all`` says at the end; by names alone, because reports of pytest carry nothing else."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from .summary_lines import entry, group

#: In the properties of a report: the verdict about a test of a suite; why there is none.
ALL = "explored_all"
NOT_EXPLORED = "explored_not"

#: Where a program has reached for what is refused, which is another place in each test.
_PLACE = re.compile(r" \((\w+\(\) )?(at [^)]*:\d+|in a library's code)\)")
_COLOURS = {"refuted": "red", "not explored": "yellow", "not finished": "yellow"}


def summary(
    noted: Mapping[str, Mapping[str, object]], *, verbose: bool, width: int
) -> Iterator[tuple[str, str]]:
    """Yield lines with their colours: how many there were of each kind, then each test that needs a word.

    A search that did not end needs none, unless pytest is to be verbose: few tests have so few schedules.
    """
    if not noted:
        yield "bold", "none: no async test that pytest-trio runs has run"
        return
    kinds = {test: str(one.get(ALL, "not explored")) for test, one in noted.items()}
    order = ("refuted", "not explored", "not finished", "confirmed")
    counts = Counter(kinds.values())
    counted = [f"{counts[kind]} {kind}" for kind in reversed(order) if counts[kind]]
    yield "bold", f"{len(noted)} tests: {', '.join(counted)}"
    for kind in order if verbose else order[:2]:
        some = {test: one for test, one in noted.items() if kinds[test] == kind}
        colour = _COLOURS.get(kind, "green")
        for tests in _told_alike(some) if kind != "refuted" else [[test] for test in some]:
            text = _told(some[tests[0]])
            if len(tests) == 1:
                yield colour, entry(kind, tests[0], text, width)
            else:
                yield colour, group(kind, f"{len(tests)} tests: {_PLACE.sub('', text)}", width)
                yield from ((colour, f"{'':12}  {test}") for test in tests)
            for report in (some[test].get("explored_report") for test in tests):
                if report is not None:
                    yield colour, f"{'':12}  report: {report}"


def _told_alike(noted: Mapping[str, Mapping[str, object]]) -> Iterable[list[str]]:
    """Return the tests by what is said of them: many cannot be explored for the same reason."""
    found = defaultdict(list)
    for test, one in noted.items():
        found[_PLACE.sub("", _told(one))].append(test)
    return found.values()


def _told(noted: Mapping[str, object]) -> str:
    if NOT_EXPLORED in noted:
        return " ".join(str(noted[NOT_EXPLORED]).split())
    failed = f"{noted['explored_failure']}; " if "explored_failure" in noted else ""
    return f"{failed}{noted['explored']}"
