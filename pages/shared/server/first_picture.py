"""The script that draws the front page's figure before the framework around it has started.

The framework takes a browser one to two seconds: sixty files, a connection, the first run of the
page. The server knows a new visitor's front page in advance and serves it as one file: the figure's
own script with its data, which draws it in its place on the page.

A server takes several seconds after its start to compute that figure. Until then it serves the one
in `data`, which `python -m scripts.write_first_picture` writes and a test compares with the
computed one.
"""

from __future__ import annotations

import gzip
import json
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import streamlit

from engine.figures.live import figure_script, part

_PAGES = Path(__file__).parents[2]
_COMPONENTS = _PAGES / "shared" / "components"
_CONFIG = _PAGES.parent / ".streamlit" / "config.toml"
STORED_VIEWS = _PAGES.parent / "data" / "first_views.json.gz"
STORED = _PAGES.parent / "data" / "first_picture.json.gz"
# Theme colours, by the framework's name of the variable; the framework supplies both fonts.
_COLOURS = {
    "text-color": "textColor",
    "background-color": "backgroundColor",
    "primary-color": "primaryColor",
    "border-color": "borderColor",
    "link-color": "linkColor",
    "orange-text-color": "orangeTextColor",
    "red-text-color": "redTextColor",
}


def stored() -> dict[str, Any]:
    """Return the message of the figure when it was last written to `data`."""
    sent: dict[str, Any] = json.loads(gzip.decompress(STORED.read_bytes()))
    return sent


@cache
def stored_views() -> dict[str, Any]:
    """Return the further views of that figure, by their names."""
    sent: dict[str, Any] = json.loads(gzip.decompress(STORED_VIEWS.read_bytes()))
    return sent


def store(sent: Mapping[str, Any]) -> None:
    """Write what the figure is sent to `data`; the same bytes for the same figure."""
    _write(STORED, sent)


def store_views(views: Mapping[str, Any]) -> None:
    """Write its further views to `data`."""
    _write(STORED_VIEWS, views)
    stored_views.cache_clear()


def _write(path: Path, sent: Mapping[str, Any]) -> None:
    path.write_bytes(gzip.compress(json.dumps(sent).encode(), 9, mtime=0))


def script(sent: Mapping[str, Any]) -> bytes:
    """Write the file for a figure, from `engine.topics.mean.live.figure_message`."""
    parts = {
        "sent": sent,
        "html": part("figure.html"),
        "css": (_COMPONENTS / "first.css").read_text("utf-8")
        + part("figure.css").replace(":host { display: block }", ""),
        "font": _font(),
        **_themes(),
    }
    return "\n".join(
        [
            figure_script(),
            f"const FIRST = {json.dumps(parts)};",
            (_COMPONENTS / "first.js").read_text("utf-8"),
        ]
    ).encode()


def _font() -> str:
    """Return the path of the page's font, which it loads first."""
    folder = Path(streamlit.__file__).parent / "static" / "static" / "media"
    return f"./static/media/{next(folder.glob('SourceSansVF-Upright.*')).name}"


def _themes() -> dict[str, dict[str, str]]:
    """Return the variables of both themes that the figure's style sheet knows."""
    theme = tomllib.loads(_CONFIG.read_text("utf-8"))["theme"]
    shared = {
        "font": '"Source Sans", sans-serif',
        "base-radius": theme["baseRadius"],
        "button-radius": theme["buttonRadius"],
    }
    return {
        kind: shared | {name: theme[kind][key] for name, key in _COLOURS.items()}
        for kind in ("light", "dark")
    }
