"""Files of components, and scripts among them as modules of this server.

The framework sends a component's own script with each of its messages. Where messages change often,
the script only names the module that does the work, which a browser loads once.
"""

from __future__ import annotations

from pathlib import Path

_COMPONENTS = Path(__file__).parents[1] / "components"
# By their files in `pages/shared/components`; `assets` beside this file serves them.
MODULES = ("chart.js", "strip.js")
LOGOS = ("logo_light.svg", "logo_dark.svg")  # by their files in `pages/shared/assets`


def file(name: str) -> str:
    """Read a file of the components."""
    return (_COMPONENTS / name).read_text("utf-8")


def by_name(file: str) -> str:
    """Return a script that hands over to a module."""
    assert file in MODULES
    return f"""
const server = window.__streamlit?.BACKEND_BASE_URL ?? location.href;
const {{default: draw}} = await import(new URL('vendor/{file}', server).href);
export default draw;
"""
