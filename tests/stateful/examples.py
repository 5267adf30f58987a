"""How many examples of each machine that finds no fault in what it drives: some in the gate, more by night and for mutants."""

import pytest

EXAMPLES = [
    25,
    pytest.param(100, marks=pytest.mark.late),
    pytest.param(400, marks=pytest.mark.nightly),
]
