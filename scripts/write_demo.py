"""Write the demo site: pages that anybody can open, each one file, and an index of them.

.venv/bin/python -m scripts.write_demo demo --docs .venv-docs/html

All links are relative, so that it works below any path. `--home` is the address at which it will
be found, if that is known; each page then names its own, and a picture of itself for whoever
passes the address on. That needs a browser.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from engine.core.types import Budget
from engine.exports import one_file, sharing
from engine.lessons import heading, lessons
from engine.mechanisms import mechanisms
from engine.release.files import check_page
from engine.sources import sources
from engine.templates import render
from engine.topics.counting import live as counting_live
from engine.topics.counting.answer import counting_answer
from engine.topics.mean.answer import mean_answer

_WIDE, _HIGH = 280, 130  # of a tile's picture


class Tile(NamedTuple):
    """A page with its picture."""

    name: str
    source: str
    chosen: Mapping[str, Any]
    what: str


TILES = (
    Tile("growth", "growth_curves", {}, "How children grow"),
    Tile("glucose", "glucose_days", {}, "Glucose over a day"),
    Tile("activity", "activity_days", {}, "Activity over a day"),
    Tile("survival", "event_times", {}, "Survival after diagnosis"),
    Tile("hospitals", "growth_curves", {"n_curves": 1800, "n_servers": 12}, "Twelve hospitals"),
)


def write(folder: Path, docs: Path | None = None, home: str = "") -> None:
    """Write all pages and their index; the folder may have those of an earlier time."""
    folder.mkdir(parents=True, exist_ok=True)

    def put(name: str, html: bytes) -> str:
        (folder / name).write_bytes(html)
        return name

    def address(name: str) -> str:
        return f"{home.rstrip('/')}/{name}" if home else ""

    tiles = []
    for tile in TILES:
        page, picture = _drawn(tile, address(f"{tile.name}.html"))
        put(f"{tile.name}.html", page.html)
        tiles.append({"href": f"{tile.name}.html", "what": tile.what, "picture": picture})
    taught = []
    for lesson in lessons.all():
        name = f"lesson-{lesson.key}.html"
        put(name, sharing.of_lesson(lesson.key, 1, address(name)).html)
        taught.append({"href": name, "what": heading(lesson)})
    put("check.html", check_page())
    if docs is not None:
        shutil.copytree(docs, folder / "docs", dirs_exist_ok=True)
    put(
        "index.html",
        render(
            "demo",
            title="Privacy Curves",
            tiles=tiles,
            lessons=taught,
            has_docs=docs is not None,
            size=(_WIDE, _HIGH),
        ).encode(),
    )
    if home:
        _preview([folder / page["href"] for page in (*tiles, *taught)], home)


def _preview(pages: list[Path], home: str) -> None:
    """Photograph each page at rest, and name the picture in its head."""
    from playwright.sync_api import sync_playwright  # a site without an address needs no browser

    from scripts import find_browser

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_browser.installed(), args=["--no-sandbox", "--disable-gpu"]
        )
        window = browser.new_page(
            viewport={"width": round(one_file.HEIGHT * 1200 / 630), "height": one_file.HEIGHT},
            device_scale_factor=630 / one_file.HEIGHT,
            reduced_motion="reduce",
            color_scheme="light",
        )
        for page in pages:
            window.goto(page.absolute().as_uri())
            window.locator("html[data-drawn]").wait_for(state="attached")
            window.locator(".lead").evaluate_all("said => said.forEach(each => each.remove())")
            picture = page.with_suffix(".png")
            window.screenshot(path=picture)
            image = f'<meta property="og:image" content="{home.rstrip("/")}/{picture.name}">\n'
            before, mark, after = page.read_text("utf-8").partition("<title>")
            page.write_text(before + image + mark + after, "utf-8")
        browser.close()


def _drawn(tile: Tile, home: str) -> tuple[one_file.SharedPage, list[dict[str, str]]]:
    """Simulate a tile's figure once, for its page and its picture."""
    source, seed = sources.build(tile.source, tile.chosen), 1
    method = sharing.usual_method(source)
    if sharing.kind_of(source, method) == "curves":
        budget = Budget(1.0, method.delta(source.sizes.n_curves).value)
        answer = mean_answer(source, method, budget, seed)
        k = answer.budgets.index(budget)
        page = one_file.of_mean(source, method, budget, seed, answer, home=home)
        lines = [
            *(("raw", *curve) for curve in answer.data.curves(30)),
            *(("release", answer.times, row) for row in answer.releases[k][:1]),
        ]
    else:
        method = mechanisms.build(method.key, method.values())
        answers = [
            counting_answer(source, method, Budget(epsilon), seed)
            for epsilon in counting_live.steps_with(1.0)
        ]
        page = one_file.of_counting(source, method, 1.0, seed, answers, home)
        here = answers[counting_live.steps_with(1.0).index(1.0)]
        lines = [
            *(("raw", here.times, row) for row in here.releases[1:20, 0]),
            ("release", here.times, here.releases[0, 0]),
        ]
    return page, list(_paths(lines))


def _paths(lines: list[Any]) -> Iterator[dict[str, str]]:
    """Write lines as paths of a small drawing; times of single people are on [0, 1]."""
    values = np.concatenate([row for _, _, row in lines])
    low, high = float(values.min()), float(values.max())
    for kind, times, row in lines:
        across = (times - times[0]) / (times[-1] - times[0]) if kind == "release" else times
        if kind == "raw" and float(np.max(times)) > 1:
            across = (times - times[0]) / (times[-1] - times[0])
        up = (row - low) / (high - low)
        points = (
            f"{6 + (_WIDE - 12) * x:.0f} {_HIGH - 6 - (_HIGH - 12) * y:.0f}"
            for x, y in zip(across, up, strict=True)
        )
        yield {"kind": kind, "d": "M" + "L".join(points)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--docs", type=Path, help="the built documentation")
    parser.add_argument("--home", default="", help="the address at which the site will be found")
    chosen = parser.parse_args()
    write(chosen.folder, chosen.docs, chosen.home)
