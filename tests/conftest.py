"""What all tests share."""

from __future__ import annotations

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # read once, when numpy is first imported

from hypothesis import settings  # noqa: E402

# The same examples each time and no time limit on one: a slow machine is not a failure.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")
