"""What all tests share."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # read once, when numpy is first imported

_LEDGERS = tempfile.mkdtemp(prefix="ledger-of-tests-")  # never the one of whoever runs them
os.environ["PRIVACY_CURVES_LEDGER"] = os.path.join(_LEDGERS, "ledger.sqlite3")
os.environ.pop("PRIVACY_CURVES_WITNESS", None)
atexit.register(shutil.rmtree, _LEDGERS, ignore_errors=True)

import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

# The same examples each time and no time limit on one: a slow machine is not a failure.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name a file by its size alone: workbooks hold the time they were made."""
    return f"{len(val)} bytes" if isinstance(val, bytes) else None


LONG = ("browser", "pages", "hostile", "golden", "audit")  # files of seconds or of a minute


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first: the one that begins last keeps one worker busy and the other waiting."""
    def place(item: pytest.Item) -> int:
        folder = item.path.parent.name
        return LONG.index(folder) if folder in LONG else len(LONG)
    items.sort(key=place)
