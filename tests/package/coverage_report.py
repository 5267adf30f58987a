"""Every branch of the package ran; where there is no server, but for what speaks to one.

A machine without Redis and without Valkey skips the tests with a server. CI has one, and skips none.
"""

import shutil
import subprocess
import sys

NEEDS_A_SERVER = "*/structsync/distributed/redis/*"
PROGRAMS = ("redis-server", "valkey-server")


def command() -> list[str]:
    """Return the command that reports; it fails if a branch did not run."""
    words = [sys.executable, "-m", "coverage", "report"]
    if not any(map(shutil.which, PROGRAMS)):
        print(f"not counted, because neither of {PROGRAMS} was found: {NEEDS_A_SERVER}")
        words += ["--omit", NEEDS_A_SERVER]
    return words


if __name__ == "__main__":
    sys.exit(subprocess.call(command()))
