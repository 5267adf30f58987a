"""Where hiredis is not installed, whatever needs a server says which package is missing."""

from __future__ import annotations

import sys

import pytest
from click.testing import CliRunner

from structsync.cli import main
from structsync.distributed import open_session

URL = "redis://localhost:1"
INSTALL = r"needs hiredis: pip install 'structsync\[redis\]'"


@pytest.fixture(autouse=True)
def not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("structsync.distributed.redis.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "hiredis", None)


async def test_a_session_on_a_server_names_the_package() -> None:
    with pytest.raises(RuntimeError, match=INSTALL):
        async with open_session(URL, namespace="test"):
            pass


def test_doctor_names_the_package_instead_of_a_traceback() -> None:
    result = CliRunner().invoke(main, ["doctor", URL], env={"COLUMNS": "200"})
    assert result.exit_code == 1, result.exception
    assert "does not hold  a session on a server needs hiredis: pip install" in result.output
