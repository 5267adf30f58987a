"""``python -m tests.mutation``, from the top folder of the repository."""

import sys

from tests.mutation.command import main

if __name__ == "__main__":
    sys.exit(main())
