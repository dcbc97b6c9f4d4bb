"""The distribution, built, installed into a fresh environment and used there; needs an index."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.load.visitor import Visitor
from tests.server import ROOT, free_port
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.slow
QUIET = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_QUIET": "1"}
EVERY_MODULE = """
import importlib, pkgutil, sys
import privacy_curves.engine as engine
for module in pkgutil.walk_packages(engine.__path__, engine.__name__ + "."):
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as missing:  # of the extra `sites`, which is not installed here
            if missing.name.partition(".")[0] != "nvflare":
                raise
print(sorted({name.partition(".")[0] for name in sys.modules} & {"engine", "pages", "reproductions", "data"}))
"""
SCENARIO = (
    '{"version": 1, "source": {"key": "sparse_curves", "parameters": {"n_curves": 100}}, '
    '"mechanism": {"key": "adaptive_mean"}, "budgets": [{"epsilon": 1, "delta": 1e-4}], '
    '"repeats": 2, "seed": 1}'
)


def run(*words: str | Path, **others) -> str:
    done = subprocess.run(
        [*map(str, words)],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, **QUIET},
        **others,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution, and the wheel that was made from it."""
    folder = tmp_path_factory.mktemp("built")
    tools = folder / "tools"
    venv.create(tools, with_pip=True)
    run(tools / "bin/pip", "install", "build")
    run(tools / "bin/python", "-m", "build", "--outdir", folder, ROOT)
    return folder


@pytest.fixture(scope="module")
def installed(built: Path) -> Iterator[Path]:
    """An environment below a path with a space, with the wheel and what it needs, closed for writing."""
    folder = public("read only")
    venv.create(folder, with_pip=True)
    run(folder / "bin/pip", "install", next(built.glob("*.whl")))
    for path in (folder / "lib").rglob("*"):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode & ~0o222)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def empty() -> Iterator[Path]:
    """A folder from which nothing of the project can be found."""
    folder = public("empty")
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


def public(name: str) -> Path:
    """A new folder into which another user can look, as those of pytest may not be."""
    folder = Path(tempfile.mkdtemp(prefix=f"{name} "))
    folder.chmod(0o755)
    return folder


def test_only_the_package_and_the_command_are_in_the_wheel(built):
    names = zipfile.ZipFile(next(built.glob("*.whl"))).namelist()
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"privacy_curves"}
    for part in (
        "app.py",
        "py.typed",
        "docs/guide/first_steps.md",
        "data/README.md",
        ".streamlit/config.toml",
    ):
        assert f"privacy_curves/{part}" in names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


def test_the_source_distribution_has_all_that_a_build_and_its_tests_need(built):
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "LICENSE",
        "Makefile",
        "app.py",
        "docs/methods.md",
        "distribution/names.py",
        "reproductions/shelf.py",
        "data/README.md",
        "tests/deployment/test_wheel.py",
    } <= inside


def test_what_it_needs_is_installed_with_it_and_fits(installed):
    run(installed / "bin/pip", "check")


def test_every_module_is_found_where_no_engine_is(installed, empty):
    assert run(installed / "bin/python", "-c", EVERY_MODULE, cwd=empty).strip() == "[]"


def test_the_package_offers_its_interface_and_nothing_else(installed, empty):
    code = (
        "import privacy_curves as pc; names = [n for n in dir(pc)]; "
        "assert all(getattr(pc, n) is not None for n in names); "
        "print(len(names), hasattr(pc, 'sys'))"
    )
    count, other = run(installed / "bin/python", "-c", code, cwd=empty).split()
    assert 25 <= int(count) <= 40 and other == "False"


def test_the_command_runs_a_scenario_with_the_numbers_of_the_folder(installed, empty):
    ours = run(sys.executable, "-m", "engine", "run", "-", "--csv", cwd=ROOT, input=SCENARIO)
    theirs = run(installed / "bin/privacy-curves", "run", "-", "--csv", cwd=empty, input=SCENARIO)
    assert theirs == ours


def test_figures_of_papers_are_left_out_in_words(installed, empty):
    words = [installed / "bin/privacy-curves", "exhibit"]
    done = subprocess.run(words, cwd=empty, capture_output=True, encoding="utf-8")
    assert done.returncode == 2 and "repository" in done.stderr


def test_the_command_alone_opens_the_dashboard_for_a_user_who_may_write_nowhere(installed, empty):
    port, nobody = free_port(), {} if os.geteuid() else {"user": 65534, "group": 65534}
    server = subprocess.Popen(
        [installed / "bin/privacy-curves", "dashboard", "--no-browser", "--port", str(port)],
        cwd=empty,
        env={**os.environ, "HOME": str(empty)},
        stdout=subprocess.DEVNULL,
        **nobody,
    )
    try:
        asyncio.run(_opened(f"http://127.0.0.1:{port}"))
    finally:
        server.terminate()
        server.wait()


async def _opened(url: str) -> None:
    """Wait for the server, and for the first page without an error."""
    until(lambda: _answers(url))
    async with Visitor(url) as visitor:
        await visitor.run()
        assert visitor.elements and not visitor.faults


def _answers(url: str) -> bool:
    try:
        return urllib.request.urlopen(f"{url}/_stcore/health", timeout=PATIENCE).status == 200
    except OSError:
        return False
