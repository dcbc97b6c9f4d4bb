"""Find a Chromium for the browser tests; with --install, get one if there is none.

An installed one is used first, then Debian's package (when root), then the test tool's own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NEEDED = "The browser tests need Chromium: install it, or set CHROMIUM to its path."


def installed() -> str | None:
    """Path of a Chromium on this machine, or None."""
    chosen = os.environ.get("CHROMIUM")
    if chosen and shutil.which(chosen):
        return shutil.which(chosen)
    found = (shutil.which(name) for name in NAMES)
    return next((path for path in found if path), None) or _of_the_test_tool()


def _of_the_test_tool() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as tool:
        path = tool.chromium.executable_path
    return path if os.path.exists(path) else None


def install() -> str | None:
    if hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        quiet = {
            "stdout": subprocess.DEVNULL,
            "stdin": subprocess.DEVNULL,
            "env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        }
        subprocess.run(["apt-get", "update", "-qq"], check=False, **quiet)
        subprocess.run(["apt-get", "install", "-y", "-qq", "chromium"], check=False, **quiet)
    if not installed():
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)
    return installed()


def main() -> int:
    path = installed() or (install() if "--install" in sys.argv else None)
    if path is None:
        print(NEEDED, file=sys.stderr)
        return 1
    print(f"browser: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
