"""What tests that start processes share."""

import pytest


@pytest.fixture(autouse=True)
def _as_the_processes_hash(costly_guesses: None) -> None:
    """Ledgers that other processes write and read are hashed here as they hash there."""
