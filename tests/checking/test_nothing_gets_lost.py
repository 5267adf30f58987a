"""What a module declares is checked, or the command says why not."""

import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from structsync.checking import SpecError, action, check, invariant, leads_to
from structsync.checking._load import load

from ..children import structsync_command  # noqa: TID252 - the one home of how a child is started
from .wheel import SOURCE, Wheel


def write(folder: Path, text: str) -> Path:
    file = folder / "wheel.py"
    file.write_text(dedent(SOURCE) + dedent(text), encoding="utf-8")
    return file


def run(file: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    if not environment:
        return structsync_command("check", str(file), *options, cwd=file.parent)
    return subprocess.run(
        [sys.executable, "-m", "structsync.cli", "check", str(file), *options],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def test_specs_of_one_name_are_all_run_if_the_module_has_names_for_them(tmp_path: Path) -> None:
    made = """
        def make(limit):
            class Made(Wheel):
                @invariant
                def is_small(self):
                    return self.n < limit
            return Made

        Low, High = make(2), make(5)
        """
    assert [*load(write(tmp_path, made)).specs] == ["wheel.Wheel", "wheel.Low", "wheel.High"]


@pytest.mark.parametrize(
    "text",
    [
        "class Wheel(Wheel):\n    pass\nclass Other(Spec):\n    n = start(int)\nclass Other(Wheel): pass\n",
        "SPECS = []\nfor one in range(2):\n    class Made(Wheel): pass\n    SPECS.append(Made)\ndel Made\n",
        "def make():\n    class Made(Wheel): pass\nmake()\n",
    ],
    ids=["twice", "in a list", "in a function"],
)
def test_a_spec_that_no_name_stands_for_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(SpecError, match="no name of the module stands for"):
        load(write(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("@invariant\ndef outside(self):\n    return False\n", "outside is declared in .*wheel"),
        ("n = start(int)\n", r"start\(\.\.\.\) is declared in"),
        ("class Mixin:\n    @invariant\n    def unused(self):\n        return False\n", "unused"),
        ("class Two(Wheel):\n    both = (start(int), 1)\n", r"start\(<class 'int'>\) is declared"),
        ("class Two(Wheel):\n    abstract = 'no'\n", "abstract is 'no'"),
        ("fault(Wheel, 'n', refuted_by='in_range')\n", "plants nothing"),
    ],
    ids=["property", "field", "mixin", "tuple", "abstract", "fault"],
)
def test_a_declaration_that_belongs_to_no_spec_is_refused(
    tmp_path: Path, text: str, says: str
) -> None:
    with pytest.raises(SpecError, match=says):
        load(write(tmp_path, text))


def test_a_mixin_may_declare(tmp_path: Path) -> None:
    mixed = """
        class Mixin:
            @invariant
            def is_used(self):
                return True

        class Mixed(Mixin, Wheel): pass
        """
    assert [*load(write(tmp_path, mixed)).specs] == ["wheel.Wheel", "wheel.Mixed"]


def test_a_fault_made_of_code_from_elsewhere_is_run(tmp_path: Path) -> None:
    text = "from operator import index\nfrom operator import index as nothing\n"
    text += "from fractions import Fraction\nfault(Wheel, 'n', refuted_by='in_range')(Fraction)\n"
    assert len(load(write(tmp_path, text)).faults) == 1


def test_two_faults_of_one_name_are_refused(tmp_path: Path) -> None:
    twice = "@fault(Wheel, 'n', refuted_by='in_range')\ndef high():\n    return 7\n" * 2
    with pytest.raises(SpecError, match="two faults have the name"):
        load(write(tmp_path, twice))


def test_one_bug_in_two_specs_is_two_faults(tmp_path: Path) -> None:
    text = "class Other(Wheel): pass\n\n"
    text += "@fault(Wheel, 'n', refuted_by='in_range')\n@fault(Other, 'n', refuted_by='in_range')\n"
    text += "def high():\n    return 7\n"
    faults = [*load(write(tmp_path, text)).faults]
    assert faults == ["wheel.high[Other.in_range]", "wheel.high[Wheel.in_range]"]


def test_a_fault_has_a_name(tmp_path: Path) -> None:
    text = (
        "from functools import partial\nfault(Wheel, 'n', refuted_by='in_range')(partial(int, 7))\n"
    )
    with pytest.raises(SpecError, match="a fault is a class or a function"):
        load(write(tmp_path, text))


def test_an_exit_while_a_module_is_loading_is_an_error(tmp_path: Path) -> None:
    done = run(write(tmp_path, "raise SystemExit(0)\n"))
    assert done.returncode == 64
    assert "cannot be imported: SystemExit: 0" in done.stderr


def test_an_exit_in_an_action_is_no_silence(tmp_path: Path) -> None:
    text = """
        class Leaving(Wheel):
            @action
            def leave(self):
                raise SystemExit(0)
        """
    done = run(write(tmp_path, text))
    assert done.returncode == 1
    assert "raised SystemExit: 0" in done.stdout


def test_an_error_of_a_spec_is_told_with_its_line(tmp_path: Path) -> None:
    text = """
        class Refusing(Wheel):
            core = start(lambda: 1 / 0)
        """
    done = run(write(tmp_path, text))
    assert done.returncode == 64
    assert "wheel.Refusing: ZeroDivisionError: division by zero (raised in" in done.stderr


def test_python_without_assertions_is_refused(tmp_path: Path) -> None:
    done = run(write(tmp_path, ""), PYTHONOPTIMIZE="1")
    assert done.returncode == 64
    assert "take the assert statements out of Wheel" in done.stderr


# ==== Budgets and Ctrl-C ====

LONG = {
    "in an action": """
        class Long(Wheel):
            @action
            def never_ends(self):
                started()
                while True: pass
        """,
    "in a domain": """
        import itertools

        class Long(Wheel):
            @action(number=lambda spec: (started(), itertools.count())[1])
            def count(self, number): pass
        """,
    "in an expansion": """
        import time

        class Long(Wheel):
            @action(number=range(100_000))
            def count(self, number):
                started()
                time.sleep(0.01)
        """,
    "in a property": """
        class Long(Wheel):
            @invariant
            def never_ends(self):
                started()
                while True: pass
        """,
    "in canonical": """
        class Long(Wheel):
            def canonical(self, snapshot):
                started()
                while True: pass
        """,
}

STARTED = """
    import pathlib

    def started():
        pathlib.Path(__file__).with_suffix(".running").touch()
    """


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_the_time_is_kept_wherever_it_is_spent(tmp_path: Path, text: str) -> None:
    file = write(tmp_path, dedent(STARTED) + dedent(text))
    done = run(file, "--seconds", "0.3", "--only", "Long")
    assert done.returncode == 2, done.stderr
    assert "ended by the bound of" in done.stdout


def test_the_bound_of_states_is_kept_inside_a_domain(tmp_path: Path) -> None:
    file = write(tmp_path, dedent(STARTED) + dedent(LONG["in a domain"]))
    done = run(file, "--max-states", "2000", "--only", "Long")
    assert done.returncode == 2
    assert "2,000 states, by the values of one domain" in done.stdout


@pytest.mark.unmeasured
@pytest.mark.skipif(os.name == "nt", reason="a console's Ctrl-C cannot be sent to one process")
@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_ctrl_c_ends_whatever_is_going_on(tmp_path: Path, text: str) -> None:
    file = write(tmp_path, dedent(STARTED) + dedent(text))
    with subprocess.Popen(
        [sys.executable, "-m", "structsync.cli", "check", file, "--only", "Long"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        while not file.with_suffix(".running").exists():
            assert process.poll() is None, process.communicate()
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate()
    assert process.returncode == 2
    assert "ended by Ctrl-C" in output


# ==== What is declared is reported ====


def test_a_domain_is_no_iterator() -> None:
    with pytest.raises(SpecError, match="gives them once; write who=tuple"):

        @action(who=(name for name in "ab"))
        def act(self: Any, who: str) -> None: ...

    with pytest.raises(SpecError, match="gives them once"):
        leads_to(who=map(str, (1, 2)))


def test_a_domain_that_runs_dry_is_found_out() -> None:
    names = iter("abcdefgh")

    class Dry(Wheel):
        @action(who=lambda spec: itertools.islice(names, 2))
        def call(self, who: str) -> None: ...

    with pytest.raises(SpecError, match="the possible actions"):
        check(Dry)


def test_a_leads_to_without_values_is_refused() -> None:
    with pytest.raises(SpecError, match="there is none, so nothing would be judged"):
        leads_to(who=())


class NoTask:
    """Has no length, and no values."""

    def __iter__(self) -> Iterator[str]:
        return iter(())


def test_a_leads_to_whose_values_turn_out_to_be_none_is_refused() -> None:
    class Vanishing(Wheel):
        @leads_to(who=NoTask())
        def vanishes(self, who: str) -> tuple[bool, bool]:
            return True, False

    with pytest.raises(SpecError, match="declared for no value at all"):
        check(Vanishing)


def test_a_property_under_another_decorator_is_refused() -> None:
    for hide in (property, staticmethod, lambda function: lambda self: True):
        with pytest.raises(SpecError, match="hides is declared in the body of Hiding"):

            class Hiding(Wheel):
                @hide  # type: ignore[untyped-decorator]
                @invariant
                def hides(self) -> bool:
                    return False
