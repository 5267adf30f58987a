"""The model checker over the shipped specifications.

An item is one specification. It is red if a property is refuted, as soon as the first is, and if the
numbers of states, transitions or steps are not those of the manifest, as they are for the test that
compares them: *count*. A search that finds more than twice the states ends there.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .nets import Watch


class CheckerNet:
    """Each shipped specification."""

    name = "checker"
    parts: tuple[str, ...] = ("core",)
    needs: tuple[str, ...] = ("trio", "jinja2", "rich.console")
    traces: bool = False
    inspecting: tuple[str, ...] = ()

    def __init__(self, *, counts: bool = True) -> None:
        self._counts = counts

    def run(self, names: Sequence[str] | None, watch: Watch) -> None:
        with watch.shared():
            from structsync.checking import shipped_specs

            shipped = shipped_specs()
            manifest = _manifest(shipped.folder)
        for name in names or shipped.specs:
            how = None
            with watch.item(name):
                how = self._judge(shipped.specs[name], manifest[name])
            if how:
                watch.red(name, how)

    def _judge(self, spec: type[Any], recorded: Mapping[str, Any]) -> str | None:
        from structsync.checking._budget import Budget
        from structsync.checking._check import _history
        from structsync.checking._concluding import verdicts_of
        from structsync.checking._judging import Judge
        from structsync.checking._model import Model
        from structsync.checking._search import Search

        class FirstOnly(Judge):
            """One finding is enough."""

            def refute(self, finding: Any) -> None:
                super().refute(finding)
                self.open.clear()

        class UpToTheFirst(Search):
            judge_type = FirstOnly

        # There may be many more states now, or no end of them: a property has a chance to be refuted.
        search = UpToTheFirst(
            Model(spec), Budget(max_states=2 * recorded["states"] + 1000), audit=False
        )
        search.run()
        if search.findings:
            return f"property {next(iter(search.findings))}"
        found = {
            "states": len(search.graph.states),
            "transitions": search.transitions,
            "depth": search.graph.depth(),
        }
        if not search.stopped_by:
            for one in verdicts_of(search, _history(search), spec.__name__, None):
                if one.verdict.value != "confirmed":
                    return f"property {one.name}"
        different = [what for what, number in found.items() if recorded[what] != number]
        if self._counts and different:
            return f"count of {', '.join(different)}"
        return None


def _manifest(folder: Path) -> dict[str, Any]:
    loaded = tomllib.loads((folder / "manifest.toml").read_text(encoding="utf-8"))
    return dict(loaded["spec"])
