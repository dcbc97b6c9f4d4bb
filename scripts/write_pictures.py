"""Write the still pictures of the README, one of each page of the menu.

    python scripts/write_pictures.py [FOLDER]

Starts the dashboard on this machine and opens every place in a browser of 1280 × 800 pixels. A
picture has 96 colours, so that it stays below 150 kB. The folder is `docs/pictures`.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from scripts import count_screens, find_browser  # noqa: E402

FOLDER = ROOT / "docs" / "pictures"
SIZE = {"width": 1280, "height": 800}
SHOWN = {"x": 0, "width": 1280, "height": 620}
COLOURS = 96
MOST_BYTES = 150_000


def pictures(url: str) -> Iterator[tuple[str, bytes]]:
    """Yield name and PNG of each picture, from a running dashboard."""
    from playwright.sync_api import sync_playwright

    chromium = find_browser.installed()
    if chromium is None:
        raise SystemExit(find_browser.NEEDED)
    with sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for place in count_screens.places():
            page = browser.new_page(viewport=SIZE, reduced_motion="reduce", color_scheme="light")
            page.set_default_timeout(600_000)
            page.goto(f"{url}/{place}")
            count_screens.measure(page, place)  # waits until nothing moves
            yield place, page.screenshot(clip={**SHOWN, "y": 0})
            page.close()
        browser.close()


def small(png: bytes) -> bytes:
    """The same picture in few colours."""
    from PIL import Image

    picture = Image.open(io.BytesIO(png)).convert("RGB")
    written = io.BytesIO()
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(written, "PNG", optimize=True)
    return written.getvalue()


def main(folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    with count_screens.dashboard() as url:
        for name, png in pictures(url):
            written = small(png)
            (folder / f"{name}.png").write_bytes(written)
            print(f"{name}.png: {len(written) / 1000:.0f} kB")
            if len(written) > MOST_BYTES:
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if sys.argv[1:] else FOLDER))
