"""What all tests of releases share."""

from collections.abc import Iterator

import pytest

from tests.conftest import fewer_data_sets
from tests.few import FEW_DATA_SETS


@pytest.fixture(scope="package", autouse=True)
def _few_data_sets() -> Iterator[None]:
    """Previews say an error; how precise it is, is tested with the engine."""
    yield from fewer_data_sets(FEW_DATA_SETS)
