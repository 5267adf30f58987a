"""CrossHair over ``specs/claims``, as ``tests/claims`` has it.

An item is one claim. It is red if the verdict is not "confirmed over all paths".
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from .nets import Watch


class ClaimsNet:
    """Each claim."""

    name = "claims"
    parts: tuple[str, ...] = ("core",)
    needs: tuple[str, ...] = ("crosshair.core_and_libs", "z3")
    traces: bool = True
    inspecting: tuple[str, ...] = ()

    def run(self, names: Sequence[str] | None, watch: Watch) -> None:
        with watch.shared():
            harness = importlib.import_module("tests.claims._harness")
            claims = harness.shipped_claims()
        for name in names or claims:
            with watch.item(name):
                answer = harness.analyze(claims[name])
            if answer.verdict is not harness.Verdict.CONFIRMED:
                watch.red(name, answer.verdict.name.lower().replace("_", " "))
