"""What all tests of releases share."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from engine.release import certified
from tests.conftest import fewer_data_sets
from tests.few import FEW_DATA_SETS


@pytest.fixture(scope="package", autouse=True)
def _few_data_sets() -> Iterator[None]:
    """Previews say an error; how precise it is, is tested with the engine."""
    yield from fewer_data_sets(FEW_DATA_SETS)


@pytest.fixture
def run_with_noise(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., Any]], None]:
    """Put something around the run of a release with its noise, which it gets first."""

    def put(around: Callable[..., Any]) -> None:
        usual = certified.hardened
        monkeypatch.setattr(certified, "hardened", lambda *given: around(usual, *given))

    return put
