"""A server of its own for tests that load it, and visitors who bring files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import outside
from tests.server import Server, running


@pytest.fixture(scope="module", params=["", "/dash"], ids=["at the root", "below a base path"])
def door(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Server]:
    """A server that notes beside its log what it asks outside: at the root, and below a base path."""
    folder = tmp_path_factory.mktemp("door")
    with running(
        folder / "log",
        base=request.param,
        PRIVACY_CURVES_MOST_VISITORS="1000",
        **outside.noted(folder),
    ) as server:
        yield server


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Server]:
    """A server that nobody has visited, and that lets all visitors of a test in."""
    with running(tmp_path / "log", PRIVACY_CURVES_MOST_VISITORS="1000") as server:
        yield server
