"""Compressed files of the front end from memory, and early names of those a page needs next.

The framework reads its sixty files from disk one by one, and a browser requests each only after
reading the one before: the script of components after the server's first answer, plotly.js after
the first component. This module reads files once, names in a page's head all that it will need, and
gives the front end the address of its server, which it would otherwise ask for.
"""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from pathlib import Path

import streamlit
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from pages.shared.places import EARLIER, PAGES
from pages.shared.server import plotly_script
from pages.shared.server.door import place
from pages.shared.server.modules import LOGOS, MODULES

_FRONT_END = Path(streamlit.__file__).parent / "static"
PLOTLY, CONNECT, FIRST = "/vendor/plotly.min.js", "/vendor/connect.js", "/vendor/first.js"
CHART, STRIP = (f"/vendor/{name}" for name in MODULES)
_PACKED = {".js", ".css", ".html", ".json", ".svg"}
_FOR_EVER, _ASK_AGAIN = "public, immutable, max-age=31536000", "no-cache"
_ON_EVERY_PAGE = ("BidiComponent", "PageLink", "Button")
_WITH_CHARTS = {
    "lab": ("Selectbox", "Slider", "ButtonGroup"),
    "decide": ("Selectbox", "TextInput", "ButtonGroup"),
}
_IMPORTED = re.compile(r'(?:from|import)\s*"\./([\w.-]+\.js)"')


class Asset:
    """A file read on first use, and then kept in memory.

    If `keeps`, its name changes with its content, so that a browser may keep it for ever.
    """

    def __init__(self, read: Callable[[], bytes], name: str, keeps: bool) -> None:
        self._read, self._keeps, self._packed = read, keeps, b""
        self._is_text = Path(name).suffix in _PACKED
        self._kind = mimetypes.guess_type(name)[0] or "application/octet-stream"

    @cached_property
    def content(self) -> bytes:
        """The bytes of the file."""
        return self._read()

    @cached_property
    def headers(self) -> dict[str, str]:
        """The headers of every answer."""
        charset = "; charset=utf-8" if self._kind.startswith("text/") else ""
        return {
            "content-type": self._kind + charset,
            "vary": "Accept-Encoding",
            "cache-control": _FOR_EVER if self._keeps else _ASK_AGAIN,
            "etag": f'"{hashlib.sha256(self.content).hexdigest()[:32]}"',
        }

    def pack(self) -> None:
        """Compress the file; until then it is sent as it is."""
        if self._is_text and not self._packed:
            self._packed = gzip.compress(self.content, 6, mtime=0)

    async def answer(self, request: Headers, method: str, send: Send) -> None:
        """Send it, or that the browser has it already."""
        status, body, headers = 200, self.content, dict(self.headers)
        if self.headers["etag"] in request.get("if-none-match", ""):
            status, body = 304, b""
        elif self._packed and "gzip" in request.get("accept-encoding", ""):
            body, headers["content-encoding"] = self._packed, "gzip"
        if status == 200:
            headers["content-length"] = str(len(body))
        await send(
            {
                "type": "http.response.start",
                "status": status,
                "headers": [(k.encode(), v.encode()) for k, v in headers.items()],
            }
        )
        await send({"type": "http.response.body", "body": b"" if method == "HEAD" else body})


@dataclass(frozen=True)
class Assets:
    """All files by the paths at which browsers ask for them."""

    front_end: Path = _FRONT_END
    _first: dict[str, Asset] = field(default_factory=dict, repr=False)

    @cached_property
    def pages(self) -> dict[str, Asset]:
        """The page of the front end at each address that leads to one of ours."""
        places = {"": ""} | {script.removesuffix(".py"): "" for _, script, _ in PAGES}
        places |= {name: moved.page for name, moved in EARLIER.items()}
        plain = (self.front_end / "index.html").read_text("utf-8")
        return {
            f"/{name}": Asset(partial(self._page, plain, page or name), "index.html", False)
            for name, page in places.items()
        }

    @cached_property
    def files(self) -> dict[str, Asset]:
        """Scripts, styles and fonts."""
        paths = {
            f"/{path.relative_to(self.front_end).as_posix()}": path
            for path in (self.front_end / "static").rglob("*")
            if path.is_file()
        }
        shared = Path(__file__).parents[1]
        connect = shared / "assets" / "connect.js"
        modules = {f"/vendor/{name}": shared / "components" / name for name in MODULES}
        modules |= {f"/vendor/{name}": shared / "assets" / name for name in LOGOS}
        return {
            PLOTLY: Asset(plotly_script.served, PLOTLY, False),
            CONNECT: Asset(connect.read_bytes, CONNECT, False),
            **{name: Asset(path.read_bytes, name, False) for name, path in modules.items()},
            **{name: Asset(path.read_bytes, name, True) for name, path in paths.items()},
        }

    def find(self, path: str, query: str = "") -> Asset | None:
        """Find the asset at an address; None for all that the framework answers itself."""
        first = {} if query else self._first
        return first.get(path) or self.pages.get(path) or self.files.get(path)

    def draw_first(self, script: bytes) -> None:
        """Draw the figure of the front page by a script, at addresses that choose nothing.

        Parameters
        ----------
        script : bytes
            From `first_picture.script`.
        """
        asset = Asset(lambda: script, FIRST, False)
        asset.pack()
        connect = f'<script src=".{CONNECT}"></script>'
        both = f'{connect}<script async type="module" src=".{FIRST}"></script>'
        pages = {
            name: self.pages[name].content.decode().replace(connect, both)
            for name in ("/", f"/{PAGES[0][1].removesuffix('.py')}")
        }
        self._first.update(
            {FIRST: asset}
            | {
                name: Asset(partial(text.encode, "utf-8"), "index.html", False)
                for name, text in pages.items()
            }
        )

    def pack(self) -> None:
        """Compress every file."""
        for asset in (*self.pages.values(), *self.files.values(), *self._first.values()):
            asset.pack()

    def _page(self, plain: str, page: str) -> bytes:
        """Return the page of the front end, with what this page will need in its head."""
        first = f'<head><script src=".{CONNECT}"></script>'  # the other scripts wait for it
        last = [
            f'<link rel="modulepreload" crossorigin href="./static/js/{name}">'
            for name in self._modules((*_ON_EVERY_PAGE, *_WITH_CHARTS.get(page, ())), plain)
        ]
        if page in _WITH_CHARTS:
            last.append(f'<script async src=".{PLOTLY}"></script>')
            last += [f'<link rel="modulepreload" href=".{name}">' for name in (CHART, STRIP)]
        return (
            plain.replace("<head>", first, 1)
            .replace("</head>", "\n".join(["", *last, "</head>"]), 1)
            .encode()
        )

    def _modules(self, names: Iterable[str], plain: str) -> list[str]:
        """List module scripts with all their imports, without those the page names."""
        folder, needed = self.front_end / "static" / "js", dict[str, None]()
        waiting = [path.name for name in names for path in folder.glob(f"{name}.*.js")]
        while waiting:
            name = waiting.pop()
            if name not in needed and name not in plain:
                needed[name] = None
                waiting += _IMPORTED.findall((folder / name).read_text("utf-8"))
        return list(needed)


@cache
def assets() -> Assets:
    """Return the assets of the installed front end."""
    return Assets()


class FromMemory:
    """AnswerRows for files of the front end; everything else is the framework's."""

    def __init__(self, app: ASGIApp, held: Assets | None = None) -> None:
        self._app, self._held = app, held

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_read = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        query = scope.get("query_string", b"").decode("latin-1")
        held = self._held or assets()
        asset = held.find(place(scope) or "", query) if is_read else None
        if asset is None:
            await self._app(scope, receive, send)
        else:
            await asset.answer(Headers(scope=scope), scope["method"], send)
