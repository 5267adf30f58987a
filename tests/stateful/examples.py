"""How many examples of each machine that finds no fault in what it drives: some in the gate, more by night."""

import pytest

EXAMPLES = [25, pytest.param(400, marks=pytest.mark.nightly)]
