"""The page that phones of a class open: the picture of a lesson without the dashboard."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from engine.exports.one_file import themes
from engine.figures.live import part
from engine.templates import digest, render


@dataclass(frozen=True)
class ClassPage:
    """The document, and what it may load."""

    html: str
    policy: str


@cache
def class_page() -> ClassPage:
    """Write the page; what a class shows is asked for by its script."""
    style = themes() + part("page.css") + part("class.css")
    before, _, after = part("guess.js").partition("export default function")
    program = "\n".join(
        (
            "let mount;",
            f"(() => {{\n{before}mount = function{after}\n}})();",
            f"(() => {{\n{part('class.js')}\n}})();",
        )
    )
    html = render(
        "class_page",
        style=style,
        script=program,
        markup=part("guess.html"),
        drawing_style=part("guess.css"),
    )
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest(program)}'; connect-src 'self'; "
        "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )
    return ClassPage(html, policy)
