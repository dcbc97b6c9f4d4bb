"""`privacy-curves dashboard`: serves the dashboard until it is interrupted."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

_APP = Path(__file__).with_name("app.py")


def add(commands: Any) -> None:
    """The command with its options."""
    parser = commands.add_parser("dashboard", help="open the dashboard (without any command, too)")
    parser.add_argument(
        "--address",
        default="127.0.0.1",
        help="where it listens (default: 127.0.0.1, so this machine alone)",
    )
    parser.add_argument("--port", type=int, help="default: 8501, or the next that is free")
    parser.add_argument("--no-browser", action="store_true", help="open no browser")
    parser.set_defaults(command=command)


def command(options: argparse.Namespace) -> int:
    """Serve until interrupted."""
    from streamlit.web import cli  # on first use: the other commands know no web pages

    words = ["run", str(_APP), "--server.address", options.address]
    if options.port is not None:
        words += ["--server.port", str(options.port)]
    if options.no_browser:
        words += ["--server.headless", "true"]
    cli.main(words, prog_name="privacy-curves", standalone_mode=False)
    return 0
