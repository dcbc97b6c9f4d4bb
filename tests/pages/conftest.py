"""What all tests of pages share."""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import app_test, local_script_runner

from pages.shared.cards import better
from pages.shared.server.jobs import jobs
from pages.shared.state import run
from tests.conftest import fewer_data_sets
from tests.few import VERY_FEW_DATA_SETS


@pytest.fixture(scope="package", autouse=True)
def _installed_components_are_looked_for_once() -> Iterator[None]:
    """A server does so when it starts; each of the tester's pages would, for a tenth of a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            manifest_scanner,
            "scan_component_manifests",
            functools.cache(manifest_scanner.scan_component_manifests),
        )
        yield


@pytest.fixture(scope="package", autouse=True)
def _scripts_are_compiled_once() -> Iterator[None]:
    """A server keeps them; each run of a page in the tester would compile three anew."""
    compiled = ScriptCache()
    with pytest.MonkeyPatch.context() as patch:
        for module in (app_test, local_script_runner):
            patch.setattr(module, "ScriptCache", lambda: compiled)
        yield


@pytest.fixture(scope="package", autouse=True)
def _few_data_sets() -> Iterator[None]:
    """For the fixtures of whole files as well: pages keep what was computed."""
    yield from fewer_data_sets(VERY_FEW_DATA_SETS)


@pytest.fixture(autouse=True)
def _first_gain(request: pytest.FixtureRequest) -> Iterator[None]:
    """Lists of what would help compute one gain, but where a test asks for `every_gain`."""
    usual = better.show
    with pytest.MonkeyPatch.context() as patch:
        if "every_gain" not in request.fixturenames:
            patch.setattr(better, "show", lambda changes, *more: usual(changes[:1], *more))
        yield


@pytest.fixture
def every_gain() -> None:
    """Lists of what would help are whole; see `_first_gain`."""


@pytest.fixture(autouse=True)
def _who_leaves_waits_for_nothing() -> Iterator[None]:
    """The tester's sessions never end, so that what they asked for would crowd out later tests."""
    yield
    for job in list(jobs()._waiting):
        job.stop()


@pytest.fixture
def simulating(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Put something around what pages ask the engine for; it gets the usual way to ask first."""

    def put(around: Callable[..., Any], name: str = "computed") -> None:
        usual = getattr(run, name)
        monkeypatch.setattr(run, name, lambda *asked, **more: around(usual, *asked, **more))

    return put
