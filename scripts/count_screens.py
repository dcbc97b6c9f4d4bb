"""Count what the first screen of each place asks a visitor to read and to decide.

    python scripts/count_screens.py [--url http://127.0.0.1:8501] [PLACE …]

Opens every place of the menu in a browser of 1440 × 900 pixels, and prints its words and controls
above and below the fold of the screen, its folds, banned words (`scripts/wording.py`) and terms of
the field. Without `--url` it starts the dashboard on this machine, and ends it again. Ends with 1
where a place has more than `LIMITS` allow.

A word has two letters or more and is on screen. Words inside charts, of the menu and of help that
shows on hover are not counted; those inside charts are searched for banned words. A control is a
button, field, slider, choice or link of the page itself. What a visitor decides at once is one
control: a row of tabs, a segmented choice, a list with its arrow, a number with its steps. A fact
that shows its help on hover, and does nothing else, is none, and neither is a question mark. A fold
is a part of the page that opens on a click.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from socket import socket
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from pages.shared.places import PAGES  # noqa: E402
from scripts import find_browser, wording  # noqa: E402

WIDTH, HEIGHT = 1440, 900
_PATIENCE = 300.0  # seconds for a page on a busy machine


class Limit(NamedTuple):
    """The most that a first screen may have above its lower edge, and a page in all."""

    words: int = 90
    controls: int = 10
    folds: int = 2


LIMITS = {
    "explore": Limit(words=70, controls=10),
    "decide": Limit(words=100, controls=13),
    "learn": Limit(words=70, controls=12),
    "lab": Limit(words=115, controls=12),
}


@dataclass(frozen=True)
class Screen:
    """Contents of a page when it is opened.

    Parameters
    ----------
    place : str
        The last part of its address.
    words, controls : tuple of int
        Above and below the lower edge of the screen.
    folds : int
        Parts that open on a click.
    banned : tuple of str
        Banned words, each with a few words around it.
    terms : tuple of str
        Terms of the field that stand on it.
    """

    place: str
    words: tuple[int, int]
    controls: tuple[int, int]
    folds: int
    banned: tuple[str, ...]
    terms: tuple[str, ...]

    def excess(self) -> list[str]:
        """Name what goes beyond the limits; empty for a page within them."""
        limit = LIMITS.get(self.place, Limit())
        counts = {"words": self.words[0], "controls": self.controls[0], "folds": self.folds}
        return [
            f"{count} {name}, at most {most}"
            for (name, count), most in zip(counts.items(), limit, strict=True)
            if count > most
        ] + [f"banned: {words}" for words in self.banned]


# Text and controls that are drawn, each with the upper edge of its box; shadow trees as well.
_COLLECT = """() => {
  const words = [], controls = [], folds = [];
  const drawn = e => getComputedStyle(e).display === 'contents'
    || e.checkVisibility({opacityProperty: true, visibilityProperty: true});
  const roles = new Set(['button', 'slider', 'combobox', 'checkbox', 'switch', 'radio', 'tab',
    'textbox', 'spinbutton', 'link', 'option', 'menuitemradio']);
  const isControl = e => ['BUTTON', 'INPUT', 'SELECT', 'TEXTAREA', 'SUMMARY'].includes(e.tagName)
    || (e.tagName === 'A' && e.hasAttribute('href')) || roles.has(e.getAttribute('role'));
  const groups = '[role=tablist], [role=radiogroup], [data-testid=stButtonGroup],'
    + '[data-testid=stSelectbox], [data-testid=stNumberInput], [data-testid=stSlider]';
  const walk = (node, inControl) => {
    if (node.nodeType === Node.TEXT_NODE) {
      const range = document.createRange();
      range.selectNodeContents(node);
      const box = range.getBoundingClientRect();
      if (box.width > 1 && box.height > 1) words.push(
        [node.textContent, box.top + scrollY, !!node.parentElement?.closest('svg')]);
      return;
    }
    if (node.nodeType !== Node.ELEMENT_NODE || ['STYLE', 'SCRIPT'].includes(node.tagName))
      return;
    const marked = node.getAttribute('data-testid') || '';
    if (/stTooltip(?!HoverTarget)|stHeading.*Anchor|stElementToolbar|stIconMaterial/.test(marked)
      || node.getAttribute('role') === 'img' && /Material/.test(getComputedStyle(node).fontFamily)
      || node.getAttribute('aria-hidden') === 'true' && /Icon/.test(marked)) return;
    if (!drawn(node)) return;
    const box = node.getBoundingClientRect();
    const control = (isControl(node) || node.matches(groups)) && !node.matches('[data-explains]')
      && !node.closest('[data-testid=stElementToolbar]');
    if (control && !inControl && box.width > 0 && box.height > 0)
      controls.push([node.innerText || node.getAttribute('aria-label')
                     || node.querySelector('[aria-label]')?.ariaLabel || node.tagName,
                     box.top + scrollY]);
    if (node.tagName === 'DETAILS') folds.push(node.querySelector('summary')?.innerText || '');
    for (const child of [...(node.shadowRoot?.childNodes || []), ...node.childNodes])
      walk(child, inControl || control);
  };
  walk(document.querySelector('[data-testid=stMain]'), false);
  return {words, controls, folds};
}"""
# The script of the page has ended, and all of its parts are drawn.
_STANDS = """() => {
  const app = document.querySelector('[data-testid=stApp]');
  const all = found => [...document.querySelectorAll(found)];
  return app?.dataset.testScriptState === 'notRunning'
    && app.dataset.testConnectionState === 'CONNECTED'
    && document.querySelector('[data-testid=stMain] h1') && document.fonts.status === 'loaded'
    && !all('[data-testid=stSkeleton], [data-stale=true]').length
    && all('[data-testid^=stBidiComponent]').every(e => e.shadowRoot || e.children.length)
    && all('[data-chart]').every(e => e.style.display === 'none' || e.querySelector('.main-svg'))
}"""
_RESTS = """() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(
  () => requestIdleCallback(() => done()))))"""


def places() -> list[str]:
    """The places of the menu, by the last part of their addresses."""
    return [Path(script).stem for _, script, _ in PAGES]


def measure(page: Any, place: str) -> Screen:
    """Count what stands on a page that is open and rests.

    Parameters
    ----------
    page : playwright.sync_api.Page
        1440 × 900 pixels, scrolled to the top.
    place : str
        The last part of its address.
    """
    page.wait_for_function(_STANDS)
    page.evaluate(_RESTS)
    page.wait_for_function(_STANDS)
    seen = page.evaluate(_COLLECT)
    text = " ".join(words for words, _, _ in seen["words"])
    return Screen(
        place,
        _above_and_below(
            [
                (len(_words(words)), top)
                for words, top, is_in_chart in seen["words"]
                if not is_in_chart
            ]
        ),
        _above_and_below([(1, top) for _, top in seen["controls"]]),
        len(seen["folds"]),
        tuple(words for _, words in wording.uses(text)),
        tuple(term for term in wording.STANDARD if re.search(rf"\b{term}", text, re.IGNORECASE)),
    )


def _words(text: str) -> list[str]:
    return [word for word in text.split() if sum(map(str.isalpha, word)) >= 2]


def _above_and_below(counts: Sequence[tuple[int, float]]) -> tuple[int, int]:
    """Sums of what begins above and below the lower edge of the screen."""
    above = sum(count for count, top in counts if top < HEIGHT)
    return above, sum(count for count, _ in counts) - above


# -- the dashboard and a browser ------------------------------------------------------------


@contextmanager
def dashboard() -> Iterator[str]:
    """The dashboard on a free port of this machine; its address."""
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "streamlit",
                "run",
                "app.py",
                "--server.headless",
                "true",
                "--server.address",
                "127.0.0.1",
                "--server.port",
                str(port),
            ],
            cwd=ROOT,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            _wait(f"http://127.0.0.1:{port}", process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait()


def _wait(url: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _PATIENCE
    while process.poll() is None and time.monotonic() < end:
        try:
            urllib.request.urlopen(f"{url}/_stcore/health", timeout=5).close()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise SystemExit("The dashboard did not start.")


def screens(url: str, asked: Sequence[str]) -> Iterator[Screen]:
    """Open places one after another and count each.

    Parameters
    ----------
    url : str
        Of a running dashboard, without a slash at its end.
    asked : sequence of str
        Last parts of addresses.
    """
    from playwright.sync_api import sync_playwright

    chromium = find_browser.installed()
    if chromium is None:
        raise SystemExit(find_browser.NEEDED)
    with sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for place in asked:
            page = browser.new_page(
                viewport={"width": WIDTH, "height": HEIGHT}, reduced_motion="reduce"
            )
            page.set_default_timeout(1000 * _PATIENCE)
            page.goto(f"{url}/{place}")
            yield measure(page, place)
            page.close()
        browser.close()


def main() -> int:
    """Print a line for each place; 1 where one goes beyond the limits."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("places", nargs="*", metavar="PLACE", help="such as explore (default: all)")
    parser.add_argument("--url", help="of a running dashboard; without it one is started")
    asked = parser.parse_args()
    chosen = asked.places or places()
    if unknown := set(chosen) - set(places()):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(places())}")
    if asked.url:
        return report(screens(asked.url.rstrip("/"), chosen))
    with dashboard() as url:
        return report(screens(url, chosen))


def report(counted: Iterator[Screen]) -> int:
    """Print each screen as it is counted; 1 where one goes beyond the limits."""
    is_beyond = False
    print(f"{'place':14} {'words':>12} {'controls':>12} {'folds':>6}  terms")
    for screen in counted:
        words, controls = (f"{above} + {below}" for above, below in (screen.words, screen.controls))
        print(
            f"{screen.place:14} {words:>12} {controls:>12} {screen.folds:>6}  "
            f"{', '.join(screen.terms)}",
            flush=True,
        )
        for excess in screen.excess():
            is_beyond = True
            print(f"{'':14} {excess}", flush=True)
    print(f"above + below the lower edge of {WIDTH} × {HEIGHT} pixels")
    return int(is_beyond)


if __name__ == "__main__":
    sys.exit(main())
