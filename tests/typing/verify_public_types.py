"""Every name that a user may import has a known, unambiguous type (pyright's --verifytypes).

Run by ``tox run -e typing`` on the installed package. The specifications travel inside the package
to be run and read, not imported: what they inherit from each other is left to mypy.
"""

from __future__ import annotations

import json
import subprocess
import sys

COMMAND = ("basedpyright", "--verifytypes", "structsync", "--ignoreexternal", "--outputjson")
NOT_IMPORTED_BY_USERS = "structsync.specs"


def main() -> int:
    answer = subprocess.run(COMMAND, capture_output=True, text=True, check=False)
    symbols = json.loads(answer.stdout)["typeCompleteness"]["symbols"]
    public = [one for one in symbols if not one["name"].startswith(NOT_IMPORTED_BY_USERS)]
    unclear = [one for one in public if not one["isTypeKnown"] or one["isTypeAmbiguous"]]
    for one in unclear:
        print(one["name"], *(note["message"] for note in one["diagnostics"]), sep="\n    ")
    print(f"{len(public)} public symbols, {len(unclear)} without a clear type")
    return 0 if public and not unclear else 1


if __name__ == "__main__":
    sys.exit(main())
