"""What tests that start processes share."""

from collections.abc import Iterator

import pytest

from pages.shared.server import computing
from pages.shared.server.jobs import Jobs


@pytest.fixture(autouse=True)
def _as_the_processes_hash(costly_guesses: None) -> None:
    """Ledgers that other processes write and read are hashed here as they hash there."""


@pytest.fixture(scope="module")
def pool() -> Iterator[Jobs]:
    """One worker for the computations of pages."""
    pool = Jobs(slots=1, waiting=3)
    yield pool
    pool.close()


@pytest.fixture
def in_workers(monkeypatch: pytest.MonkeyPatch, pool: Jobs) -> None:
    """Pages compute in workers of this pool."""
    for name, value in (("_in_workers", True), ("_POOL", pool)):
        monkeypatch.setattr(computing, name, value)
