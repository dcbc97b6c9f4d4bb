"""Write the moving picture of the README: the slider to the right and back, and one pulled curve.

.venv/bin/python -m scripts.write_moving_picture

A browser draws the one-file figure without motion of its own, and is photographed at each step.
"""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from engine.exports import sharing
from engine.sources import sources
from scripts import find_browser

PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "moving.webp"
MOST_BYTES = 1_000_000
_WINDOW = {"width": 960, "height": 760}
_STEPS = range(-6, 7)  # of the slider, around where it begins
_PULLS = 8
_STILL, _MOVING = 900, 140  # milliseconds that a frame is shown


def frames(page: Page) -> list[tuple[bytes, int]]:
    """Photograph the figure at each step, with how long it is shown."""
    taken: list[tuple[bytes, int]] = []

    def photograph(shown: int) -> None:
        taken.append((page.screenshot(), shown))

    start = int(page.locator("#e").input_value())
    photograph(_STILL)
    for step in (*_STEPS[7:], *reversed(_STEPS[:-1]), *_STEPS[1:7]):
        page.locator("#e").evaluate(
            "(e, at) => { e.value = at; e.dispatchEvent(new Event('input')); }", start + step
        )
        page.wait_for_timeout(350)  # the lower axis glides
        photograph(_MOVING if step not in (_STEPS[0], _STEPS[-1]) else _STILL)
    page.locator("#stage").focus()
    for _ in range(_PULLS):
        page.keyboard.press("ArrowUp")
        photograph(_MOVING)
    page.wait_for_timeout(350)
    photograph(2 * _STILL)
    return taken


def main() -> None:
    source = sources.build("growth_curves", {})
    shared = sharing.of_data(source, sharing.usual_method(source), 1.0, 1)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = shared.save(Path(folder) / "growth.html")
        browser = playwright.chromium.launch(
            executable_path=find_browser.installed(), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport=_WINDOW, reduced_motion="reduce", color_scheme="light")
        page.goto(file.as_uri())
        page.locator("html[data-drawn]").wait_for(state="attached")
        page.locator(".lead").evaluate_all("said => said.forEach(each => each.remove())")
        taken = frames(page)
        browser.close()
    images = [Image.open(io.BytesIO(photograph)).convert("RGB") for photograph, _ in taken]
    images[0].save(
        PICTURE,
        save_all=True,
        append_images=images[1:],
        duration=[shown for _, shown in taken],
        loop=0,
        quality=60,
        method=4,
    )
    size = PICTURE.stat().st_size
    print(f"{PICTURE.name}: {len(images)} frames, {size:,} bytes")
    if size > MOST_BYTES:
        raise SystemExit(f"more than {MOST_BYTES:,} bytes")


if __name__ == "__main__":
    main()
