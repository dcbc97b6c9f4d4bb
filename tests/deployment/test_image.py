"""The image, built and run as docs/security.md says; skipped where the tools for it are not installed."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import urllib.request
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pages.shared.server import headers
from scripts import build_image
from tests.load.visitor import Visitor
from tests.server import ROOT, free_port
from tests.waiting import PATIENCE, finished, until

pytestmark = [pytest.mark.slow, pytest.mark.image]
_RUNS = 20
LIMIT = 4096  # of files and processes: less than is usual, so that no right is needed for it
TOOLS = ("buildah", "debootstrap", "podman")


@dataclass
class Engine:
    """Podman, which takes the words of `docker run`, told by a file of its own what it may do."""

    settings: Path

    def __call__(self, *words: str, check: bool = True) -> str:
        done = subprocess.run(
            ["podman", *words],
            capture_output=True,
            encoding="utf-8",
            env={**os.environ, "CONTAINERS_CONF": str(self.settings)},
        )
        assert not check or done.returncode == 0, done.stderr
        return done.stdout

    def works(self, image: str) -> bool:
        """Whether a runtime here can start a container, with limits that it has no need to raise."""
        limits = [f"{name}={LIMIT}:{LIMIT}" for name in ("nofile", "nproc")]
        for runtime in filter(shutil.which, ("crun", "runc")):
            self.settings.write_text(
                f"[containers]\ndefault_ulimits = {json.dumps(limits)}\n"
                f"[engine]\nruntime = {json.dumps(runtime)}\n"
            )
            if self("run", "--rm", image, "echo", "works", check=False).strip() == "works":
                return True
        return False


@pytest.fixture(scope="module")
def image() -> Iterator[str]:
    """Name of an image of the working tree, on a base made from Debian's packages."""
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing or os.geteuid():
        pytest.skip(f"needs root and {', '.join(TOOLS)}: apt-get install {' '.join(missing)}")
    name = f"localhost/privacy-curves-test-{uuid.uuid4().hex[:8]}"
    done = subprocess.run(
        [sys.executable, build_image.__file__, "--stand-in", "--tag", name],
        capture_output=True,
        encoding="utf-8",
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    yield name
    subprocess.run(["buildah", "rmi", name], capture_output=True)


@pytest.fixture(scope="module")
def engine(image: str, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    engine = Engine(tmp_path_factory.mktemp("engine") / "containers.conf")
    if not engine.works(image):
        pytest.skip("no container can be started here")
    return engine


@pytest.fixture(scope="module")
def container(image: str, engine: Engine) -> Iterator[tuple[str, str]]:
    """Name and address of a container started by the command of docs/security.md, behind another port."""
    text = (ROOT / "docs" / "security.md").read_text("utf-8")
    command = re.search(r"^docker run (.+?[^\\])\n", text, re.S | re.M).group(1)
    words = shlex.split(command.replace("\\\n", " "))
    port, name = free_port(), image.rpartition("/")[2]
    for old, new in {
        "127.0.0.1:8501:8501": f"127.0.0.1:{port}:8501",
        "privacy-curves:/ledger": f"{name}:/ledger",
        "privacy-curves": image,
    }.items():
        assert words.count(old) == 1, old
        words[words.index(old)] = new
    engine("run", "--detach", "--name", name, *words)
    try:
        url = f"http://127.0.0.1:{port}"
        until(lambda: _health(url) == b"ok" or _ended(engine, name))
        assert not _ended(engine, name), engine("logs", name)
        yield name, url
    finally:
        engine("rm", "--force", name, check=False)
        engine("volume", "rm", name, check=False)


def _health(url: str) -> bytes:
    try:
        with urllib.request.urlopen(f"{url}/_stcore/health", timeout=PATIENCE) as answer:
            return answer.read()
    except OSError:
        return b""


def _ended(engine: Engine, name: str) -> bool:
    return engine("ps", "--quiet", "--filter", f"name={name}").strip() == ""


def test_a_visitor_gets_a_computed_page_from_a_container_without_rights(container):
    async def visit():
        async with Visitor(container[1]) as visitor:
            for _ in range(_RUNS):  # a run ends when the workers have computed what it shows
                await visitor.run()
                if visitor.has("figure"):
                    break
            assert visitor.has("figure")
            assert not visitor.faults

    finished(visit())


def test_its_answers_carry_the_headers(container):
    with urllib.request.urlopen(container[1]) as answer:
        sent = dict(answer.headers)
    assert {
        name.lower(): value for name, value in headers.security().items()
    }.items() <= sent.items()


def test_it_is_nobody_without_capabilities_and_can_gain_none(container, engine):
    status = engine("exec", container[0], "cat", "/proc/1/status")
    field = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert field["Uid"].split() == field["Gid"].split() == ["10001"] * 4
    assert all(int(field[name], 16) == 0 for name in ("CapPrm", "CapEff", "CapBnd", "CapAmb"))
    assert field["NoNewPrivs"] == "1"


def test_nothing_but_the_ledger_and_temporary_files_can_be_written(container, engine):
    script = "for f in / /app /app/docs /etc /usr /usr/local/bin /home /ledger /tmp; do touch $f/x && echo $f; done"
    written = engine("exec", container[0], "sh", "-c", f"({script}) 2>/dev/null; true").split()
    assert written == ["/ledger", "/tmp"]


def test_figures_of_papers_can_be_made_again(container, engine):
    listed = engine("exec", container[0], "python", "-m", "engine", "exhibit")
    assert "functional_mean/figure-1" in listed


def test_its_health_check_succeeds(container, engine):
    engine("healthcheck", "run", container[0])


def test_its_labels_are_those_of_the_project(image, engine):
    labels = json.loads(engine("image", "inspect", image))[0]["Labels"]
    about = {
        name.rpartition(".")[2]: value
        for name, value in labels.items()
        if name.startswith("org.opencontainers.image.")
    }
    assert about["version"] == build_image.version()
    assert re.fullmatch("[0-9a-f]{40}(-changed)?", about["revision"])
    assert about["licenses"] == "MIT"


def test_it_ends_when_it_is_asked_to_and_keeps_its_ledger(container, engine):
    """Last, since it ends the container."""
    engine("stop", "--time", "60", container[0])
    assert container[0] in engine("volume", "ls", "--quiet").split()
