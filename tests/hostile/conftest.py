"""A server of its own for tests that load it, and visitors who bring files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server import Server, running


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Server]:
    """A server that nobody has visited, and that lets all visitors of a test in."""
    with running(tmp_path / "log", PRIVACY_CURVES_MOST_VISITORS="1000") as server:
        yield server
