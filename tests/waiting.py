"""Waiting for what a test needs, never for a time to pass: a slow machine is not a failure.

`PATIENCE` is what a whole wait may take on a machine that is busy with other things. It decides
how late a broken test is reported, and never whether a working one passes.
"""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

PATIENCE = 300.0  # seconds
_LOOK = 0.02  # seconds between two looks


def until(holds, between=lambda: None):
    """Wait until `holds()`; `between()` is called after every look that was in vain."""
    end = time.monotonic() + PATIENCE
    while not (found := holds()):
        if time.monotonic() > end:
            raise AssertionError(f"still not so after {PATIENCE:.0f} seconds")
        time.sleep(_LOOK)
        between()
    return found


async def soon(holds):
    """The same for a coroutine, which lets the others go on meanwhile."""
    end = time.monotonic() + PATIENCE
    while not (found := holds()):
        if time.monotonic() > end:
            raise AssertionError(f"still not so after {PATIENCE:.0f} seconds")
        await asyncio.sleep(_LOOK)
    return found


async def lapse(seconds):
    """Let a server's own clock run, for what it does only after so many seconds.

    What it does then is to be waited for besides: on a busy machine it comes later.
    """
    await asyncio.sleep(seconds)


def finished(coroutine):
    """What it returns. A thread of its own: the browser's driver keeps a loop in the main one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()


# -- in a browser ---------------------------------------------------------------------------

# The page stands: the server has answered, every part is there and drawn, its letters have come.
_STANDS = """() => {
  const app = document.querySelector('[data-testid=stApp]'), all = found => [...document.querySelectorAll(found)];
  return app?.dataset.testScriptState === 'notRunning' && app.dataset.testConnectionState === 'CONNECTED'
    && document.querySelector('[data-testid=stMain] h1') && document.fonts.status === 'loaded'
    && !all('[data-testid=stSkeleton], [data-stale=true]').length
    && all('[data-testid^=stBidiComponent]').every(part => part.shadowRoot || part.children.length)
    && all('[data-chart]').every(chart => chart.style.display === 'none' || chart.querySelector('.main-svg')) }"""
_LOOKS = 50  # milliseconds between two looks; a look in each frame would have the frame drawn
# What the page does by itself after a change has been begun: two frames, and then nothing to do. A
# page that plays on a busy machine is never idle: it is asked for a moment only.
_RESTS = """() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(
  () => requestIdleCallback(() => done(), {timeout: 5000}))))"""


def settle(page):
    """Wait until the page stands and does nothing more by itself."""
    page.wait_for_function(_STANDS, polling=_LOOKS)
    page.evaluate(_RESTS)
    page.wait_for_function(_STANDS, polling=_LOOKS)


def overhang(element):
    """Pixels by which an element scrolls sideways."""
    return element.evaluate("e => e.scrollWidth - e.clientWidth")


def choose(page, key, option):
    """Choose an option of the list with that key.

    An open list closes when the page scrolls, so the list is brought into sight and the page comes
    to rest before it is opened.
    """
    box = page.locator(f".st-key-{key}").get_by_role("combobox")
    box.evaluate("box => box.scrollIntoView({block: 'center'})")
    settle(page)
    box.click()
    page.get_by_role("option", name=option).click()


def download(page, button):
    """Press a button of a page that has come to rest, and wait for its file.

    A button may still be moved by what is drawn above it, and a press on a moving one is lost.
    """
    settle(page)
    with page.expect_download() as file:
        button.click()
    return file.value


def says(element, words, does, again=""):
    """Wait until the element says these words after `does`, however shortly it says them.

    Where it asks with the words `again` to be patient, it is done once more.
    """
    element.evaluate("""element => { window.__said = [];
      new MutationObserver(() => window.__said.push(element.textContent)).observe(
        element, {childList: true, characterData: true, subtree: true}) }""")
    heard = ""
    while heard != words:
        does()
        heard = element.page.wait_for_function(
            """words => {
          const heard = window.__said.find(said => words.includes(said)); window.__said = [];
          return heard }""",
            arg=[words, again] if again else [words],
        ).json_value()
