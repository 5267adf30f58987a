"""Ratios are medians over rounds of alternating slices."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def measure() -> ModuleType:
    path = ROOT / "benchmarks" / "_measure.py"
    spec = importlib.util.spec_from_file_location("benchmarks_measure", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses ask for it
    spec.loader.exec_module(module)
    return module


def test_slices_alternate_in_both_orders(measure: ModuleType) -> None:
    order: list[str] = []

    def subject() -> float:
        order.append("subject")
        return 3.0

    def reference() -> float:
        order.append("reference")
        return 2.0

    assert measure.ratio(subject, reference, pairs=2) == 1.5
    assert order == ["reference", "subject", "subject", "reference"]


def test_the_median_ignores_one_bad_round(measure: ModuleType) -> None:
    figure = measure.Figure("case", (1.0, 1.1, 9.0, 1.2, 1.05), True)
    assert figure.median == 1.1


def test_the_spread_is_the_middle_half(measure: ModuleType) -> None:
    figure = measure.Figure("case", (5.0, 1.0, 3.0, 2.0, 4.0), True)
    assert figure.spread == (2.0, 4.0)
