"""What all tests share."""

from __future__ import annotations

import atexit
import gc
import io
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # read once, when numpy is first imported

_LEDGERS = tempfile.mkdtemp(prefix="ledger-of-tests-")  # never the one of whoever runs them
os.environ["PRIVACY_CURVES_LEDGER"] = os.path.join(_LEDGERS, "ledger.sqlite3")
os.environ["PRIVACY_CURVES_KEY"] = os.path.join(_LEDGERS, "key")
os.environ.pop("PRIVACY_CURVES_WITNESS", None)
atexit.register(shutil.rmtree, _LEDGERS, ignore_errors=True)

gc.disable()  # until all is imported and collected: see `pytest_collection_finish`

import pytest  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402

from tests.few import ENOUGH_DATA_SETS, FEW_DATA_SETS  # noqa: E402

# The same examples each time and no time limit on one: a slow machine is not a failure.
settings.register_profile(
    "steady", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name a file by its size, but an archive by no more: it holds the time it was made.

    The workers would otherwise disagree on what tests there are.
    """
    if not isinstance(val, bytes):
        return None
    return "archive" if val.startswith(b"PK") else f"{len(val)} bytes"


@pytest.fixture(scope="session", autouse=True)
def _cheap_guesses() -> Iterator[None]:
    """Hashes that are slow on purpose are quick here, but in other processes."""
    from engine.release import earlier_ledgers

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(earlier_ledgers, "COST_OF_A_GUESS", 2)
        yield


@pytest.fixture
def costly_guesses(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Ledgers are hashed as they are for everybody."""
    from engine.release import earlier_ledgers

    monkeypatch.setattr(earlier_ledgers, "COST_OF_A_GUESS", 2**14)
    earlier_ledgers.slow_hash.cache_clear()
    yield
    earlier_ledgers.slow_hash.cache_clear()


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    """What is logged meanwhile. Pytest's own way takes a tenth of the time of all tests."""
    handler = logging.StreamHandler(io.StringIO())
    logging.getLogger().addHandler(handler)
    yield handler.stream
    logging.getLogger().removeHandler(handler)


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes | None], None]:
    """Put content on the standard input; None for a process without one."""

    def type_in(content: bytes | None) -> None:
        given = None if content is None else io.TextIOWrapper(io.BytesIO(content), "utf-8")
        monkeypatch.setattr(sys, "stdin", given)

    return type_in


@pytest.fixture
def options(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Options of the server in place of those of the file."""
    import streamlit

    instead: dict[str, Any] = {}
    usual = streamlit.get_option
    monkeypatch.setattr(streamlit, "get_option", lambda name: instead.get(name) or usual(name))
    return instead


@pytest.fixture
def unhurried(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Audits end by the numbers of their tries and releases, not by a clock.

    The slow ones, which look for more than is claimed as long as they may, keep theirs.
    """
    from engine import audit
    from engine.audit import black_box

    if not request.node.get_closest_marker("slow"):
        for module in (audit, black_box):
            monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: 0.0))


def fewer_data_sets(sizes: dict[str, int]) -> Iterator[None]:
    """Few data sets behind every error, for tests that ask which number is said, not how precise.

    How precise errors are, is tested with the engine. What pages keep meanwhile is not kept longer.
    """

    def forget() -> None:
        if "pages.shared.state.run" in sys.modules:
            sys.modules["pages.shared.state.run"].forget()

    with pytest.MonkeyPatch.context() as patch:
        forget()
        for name, value in sizes.items():
            patch.setattr(name, value)
        yield
        forget()


@pytest.fixture(scope="module")
def few_data_sets() -> Iterator[None]:
    """See `fewer_data_sets`; tests of pages have even fewer."""
    yield from fewer_data_sets(FEW_DATA_SETS)


@pytest.fixture
def enough_data_sets(few_data_sets: None) -> Iterator[None]:
    """For one test of a module with few data sets: as many as planners draw."""
    yield from fewer_data_sets(ENOUGH_DATA_SETS)


def pytest_collection_finish() -> None:
    """Modules and tests stay to the end, so the search for what can be freed leaves them out.

    It would look at millions of them again and again, a tenth of the time of all tests. Nor does it
    look at them while they come, and what they leave behind is too little to search for.
    """
    gc.freeze()
    gc.enable()
    gc.set_threshold(50_000, 20, 20)


LONG = (
    "browser",
    "pages",
    "processes",
    "hostile",
    "golden",
    "reproductions",
    "audit",
)  # folders of tests that take seconds
SLOW_SECONDS = 4 * 3600.0  # a slow test that takes minutes may take an hour on a busy machine


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests first, in the order of their files: short ones even out the ends of the workers.

    A worker begins with a stretch of neighbours and takes over a part of what is left of another's,
    so that most files, and all tests of the browser, are one worker's and share what it started.
    """

    def place(item: pytest.Item) -> int:
        folder = item.path.parent.name
        return LONG.index(folder) if folder in LONG else len(LONG)

    items.sort(key=place)
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.timeout(SLOW_SECONDS))
