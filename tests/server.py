"""A real dashboard server for tests: started on loopback, ended by its own id."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.waiting import PATIENCE, until

ROOT = Path(__file__).parents[1]
END_SECONDS = 60  # until a server that was asked to end is made to


@dataclass
class Server:
    """A running dashboard; `url` has no trailing slash, `log` is what it wrote."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def megabytes(self) -> float:
        """Memory that the server and its workers hold: unique pages of each, in MB."""
        return sum(p.memory_full_info().uss for p in self._family()) / 1e6

    @property
    def cpu_seconds(self) -> float:
        return sum(sum(p.cpu_times()[:2]) for p in self._family())

    @property
    def web_megabytes(self) -> float:
        """Memory of the process that serves the pages: workers start and end as they are needed."""
        return float(psutil.Process(self.process.pid).memory_full_info().uss) / 1e6

    @property
    def web_seconds(self) -> float:
        """Processor time of the process that serves the pages, of which there is one."""
        return sum(psutil.Process(self.process.pid).cpu_times()[:2])

    @property
    def workers(self) -> list[psutil.Process]:
        return self._family()[1:]

    def _family(self) -> list[psutil.Process]:
        own = psutil.Process(self.process.pid)
        return [own, *own.children(recursive=True)]


@contextmanager
def running(
    log: Path,
    port: int | None = None,
    script: str = "app.py",
    module: str = "streamlit",
    base: str = "",
    **environment: str,
) -> Iterator[Server]:
    """A server that nobody has visited; `environment` adds to that of the tests.

    The `module` is streamlit, or has its command: see `tests.quick_streamlit`. The server stands
    below the path `base`, which begins with a slash if there is one.
    """
    port = port or free_port()
    command = [
        sys.executable,
        "-m",
        module,
        "run",
        script,
        "--server.headless",
        "true",
        "--server.address",
        "127.0.0.1",
        "--server.port",
        str(port),
        "--server.fileWatcherType",
        "none",
    ]
    with started(
        command,
        f"http://127.0.0.1:{port}{base}",
        log,
        STREAMLIT_SERVER_BASE_URL_PATH=base,
        **{"PRIVACY_CURVES_CLASS_ADDRESS": "127.0.0.1", **environment},
    ) as server:
        yield server


@contextmanager
def started(command: list[str], url: str, log: Path, **environment: str) -> Iterator[Server]:
    """The server that a command starts, once it is healthy at its address."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            env={**os.environ, **environment},
        )
    try:
        wait_until_healthy(process, f"{url}/_stcore/health", log)
        yield Server(url, process, log)
    finally:
        end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """Ask a process to end, and insist if it does not."""
    process.terminate()
    try:
        process.wait(timeout=END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def wait_until_healthy(process: subprocess.Popen[bytes], address: str, log: Path) -> None:
    def is_healthy() -> bool:
        try:
            with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
                return bool(answer.read() == b"ok")
        except OSError:
            return False

    until(lambda: is_healthy() or process.poll() is not None)
    if process.poll() is not None:
        raise RuntimeError(f"The server did not start:\n{log.read_text()}")
