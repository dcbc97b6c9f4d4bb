"""What all tests of pages share."""

from collections.abc import Iterator

import pytest

from tests.conftest import fewer_data_sets


@pytest.fixture(scope="package", autouse=True)
def _few_data_sets() -> Iterator[None]:
    """For the fixtures of whole files as well: pages keep what was computed."""
    yield from fewer_data_sets()
