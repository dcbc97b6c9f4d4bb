"""What all tests of pages share."""

import functools
from collections.abc import Iterator

import pytest
from streamlit.components.v2 import manifest_scanner

from pages.shared.server.jobs import jobs
from tests.conftest import fewer_data_sets


@pytest.fixture(scope="package", autouse=True)
def _installed_components_are_looked_for_once() -> Iterator[None]:
    """A server does so when it starts; each of the tester's pages would, for a tenth of a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests",
                      functools.cache(manifest_scanner.scan_component_manifests))
        yield


@pytest.fixture(scope="package", autouse=True)
def _few_data_sets() -> Iterator[None]:
    """For the fixtures of whole files as well: pages keep what was computed."""
    yield from fewer_data_sets()


@pytest.fixture(autouse=True)
def _who_leaves_waits_for_nothing() -> Iterator[None]:
    """The tester's sessions never end, so that what they asked for would crowd out later tests."""
    yield
    for job in list(jobs()._waiting):
        job.stop()
