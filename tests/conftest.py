"""Settings that hold for the whole suite."""

import os
import signal

from hypothesis import settings

# No deadline in any profile: an example runs a whole trio program, and a machine that is busy with
# something else is not a bug.
settings.register_profile("default", deadline=None)
# Derandomized: a red build must be red again when its author looks at it.
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
# New examples each night are the point; the blob replays what they find.
settings.register_profile("nightly", deadline=None, max_examples=2_000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

# A shell starts a job in the background with Ctrl-C ignored, and so would every process that a test
# starts and interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
