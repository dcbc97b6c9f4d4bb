"""Headers of every answer to a browser."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from pathlib import Path

import streamlit
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Everything comes from this server; anything unnamed is refused. The exceptions:
#   script-src blob:            the front end makes modules of our components in memory
#   style-src 'unsafe-inline'   it computes styles, plotly.js writes its own into the page, and
#                               formulas and charts have style attributes
#   img-src data:               the logo’s place, heat maps, and pictures to be saved
#   font-src data:              one size of the brackets of formulas
# Nothing needs 'unsafe-eval': protobuf.js asks once for 64-bit machine code and works without it.
# Only the front end's own scripts run inside a page.
_POLICY = {
    "default-src": "'none'",
    "script-src": "'self' blob:",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data:",
    "font-src": "'self' data:",
    "connect-src": "'self'",
    "manifest-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}
_SCRIPT = re.compile(rb"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", re.DOTALL)


@cache
def security() -> dict[str, str]:
    """Return the headers by name, without those that only an encrypted connection may carry."""
    allowed = _POLICY | {"script-src": " ".join([_POLICY["script-src"], *_scripts_of_the_page()])}
    return {
        "Content-Security-Policy": "; ".join(f"{what} {where}" for what, where in allowed.items()),
        "X-Frame-Options": "DENY",  # for browsers that know no frame-ancestors
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",  # addresses hold settings
        "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
        "Cross-Origin-Opener-Policy": "same-origin",
    }


def _scripts_of_the_page() -> list[str]:
    """Return the digests of the scripts inside the installed front end's page."""
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_bytes()
    digests = (hashlib.sha256(script).digest() for script in _SCRIPT.findall(page))
    return [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]


class Guarded:
    """Puts the headers on every answer, refusals included, in place of any of the same name."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(security())
            await send(message)

        await self._app(scope, receive, send_guarded if scope["type"] == "http" else send)
