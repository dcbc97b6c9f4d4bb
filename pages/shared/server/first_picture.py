"""The script that draws the front page's figure before the framework around it has started.

The framework takes a browser one to two seconds: sixty files, a connection, the first run of the
page. The server knows a new visitor's front page in advance and serves it as one file: the figure's
own script with its data, which draws it in its place on the page.

A server takes several seconds after its start to compute that figure. Until then it serves the one
in `data`, which `python -m scripts.write_first_picture` writes and a test compares with the
computed one.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import streamlit

from engine.core.packed import pack, unpack
from engine.core.palette import THEMES, page_variables
from engine.figures.live import figure_script, part
from pages.shared.server.modules import file

_PAGES = Path(__file__).parents[2]
STORED = _PAGES.parent / "data" / "first_picture.packed.gz"
STORED_VIEWS = _PAGES.parent / "data" / "first_views.packed.gz"


def stored() -> dict[str, Any]:
    """Return the message of the figure when it was last written to `data`."""
    return unpack(STORED.read_bytes())


@cache
def stored_views() -> dict[str, Any]:
    """Return the further views of that figure, by their names."""
    return unpack(STORED_VIEWS.read_bytes())


def store(sent: Mapping[str, Any]) -> None:
    """Write what the figure is sent to `data`; the same bytes for the same figure."""
    STORED.write_bytes(pack(sent))


def store_views(views: Mapping[str, Any]) -> None:
    """Write its further views to `data`."""
    STORED_VIEWS.write_bytes(pack(views))
    stored_views.cache_clear()


def script(sent: Mapping[str, Any]) -> bytes:
    """Write the file for a figure, from `engine.topics.mean.live.figure_message`."""
    parts: dict[str, Any] = {
        "tag": sent["curves"]["tag"],
        "packed": base64.b64encode(pack(sent)).decode(),
        "html": part("figure.html"),
        "css": file("first.css") + part("figure.css").replace(":host { display: block }", ""),
        "font": _font(),
        **{theme: page_variables(theme, '"Source Sans", sans-serif') for theme in THEMES},
    }
    return "\n".join(
        [
            figure_script(),
            part("unpack.js"),
            f"const FIRST = {json.dumps(parts)};",
            file("first.js"),
        ]
    ).encode()


def _font() -> str:
    """Return the path of the page's font, which it loads first."""
    folder = Path(streamlit.__file__).parent / "static" / "static" / "media"
    return f"./static/media/{next(folder.glob('SourceSansVF-Upright.*')).name}"
