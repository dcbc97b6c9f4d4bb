"""The proxy of `deploy/nginx.conf`, for real, on loopback ports; skipped where nginx is absent."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.conftest import browser, chromium, free_pages, open_app  # noqa: F401
from tests.server import ROOT, end, free_port, running
from tests.waiting import PATIENCE, until

CONFIG = ROOT / "deploy" / "nginx.conf"


def adapted(folder: Path, dashboard: str, plain: int, encrypted: int) -> str:
    """The configuration with the lines marked as one's own filled in, and paths below `folder`."""
    text = CONFIG.read_text("utf-8")
    for old, new in {
        "server dashboard:8501;": f"server {dashboard};",
        "listen 80;": f"listen 127.0.0.1:{plain};",
        "listen 443 ssl http2;": f"listen 127.0.0.1:{encrypted} ssl http2;",
        "/etc/nginx/tls/fullchain.pem": str(folder / "cert.pem"),
        "/etc/nginx/tls/privkey.pem": str(folder / "key.pem"),
    }.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return re.sub(r" /tmp/nginx", f" {folder}/nginx", text)


@pytest.fixture(scope="session")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Addresses of a dashboard behind the proxy: encrypted and plain."""
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if not nginx or not shutil.which("openssl"):
        pytest.skip("nginx is not installed: apt-get install nginx-light")
    folder = tmp_path_factory.mktemp("proxy")
    _certificate(folder)
    plain, encrypted = free_port(), free_port()
    with running(folder / "log") as server:
        config = folder / "nginx.conf"
        config.write_text(adapted(folder, server.url.removeprefix("http://"), plain, encrypted))
        with (folder / "nginx.log").open("wb") as log:
            process = subprocess.Popen(
                [nginx, "-c", str(config), "-g", "daemon off;"], stdout=log, stderr=log
            )
        try:
            _wait_for(process, encrypted, folder / "nginx.log")
            yield f"https://127.0.0.1:{encrypted}", f"http://127.0.0.1:{plain}"
        finally:
            end(process)


def _certificate(folder: Path) -> None:
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=127.0.0.1",
            "-addext",
            "subjectAltName=IP:127.0.0.1",
            "-keyout",
            str(folder / "key.pem"),
            "-out",
            str(folder / "cert.pem"),
        ],
        check=True,
        capture_output=True,
    )


def _wait_for(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    def answers() -> bool:
        try:
            socket.create_connection(("127.0.0.1", port), PATIENCE).close()
            return True
        except OSError:
            return False

    until(lambda: answers() or process.poll() is not None)
    if process.poll() is not None:
        pytest.fail(f"nginx did not start:\n{log.read_text()}", pytrace=False)
