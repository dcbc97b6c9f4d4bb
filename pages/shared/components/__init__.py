"""The few pieces that live in the browser: the live figure, the strip, sentences and charts.

Two events on `window` tie them together. `pc:budget` carries the chosen budget as a number while
the slider moves; `pc:flush` makes pieces send the server their pending reports. `window.__budget`
keeps the number for pieces that are mounted later, and `window.__budgetRev` the server's move (a
link, Back) and the page it belongs to: steps are those of one page.
"""

from pages.shared.components.chart import as_json, chart, chart_by_step
from pages.shared.components.figure import figure, picked
from pages.shared.components.frame import LOGO, around, frame
from pages.shared.components.kept import keep, kept
from pages.shared.components.lesson_tiles import LessonTile, tiles
from pages.shared.components.memo import memo
from pages.shared.components.said import Said, said
from pages.shared.components.slider import slider
from pages.shared.components.strip import Budgeted, Chip, Pinning, arrive, pin_pressed, strip

__all__ = [
    "LOGO",
    "Budgeted",
    "Chip",
    "LessonTile",
    "Pinning",
    "Said",
    "around",
    "arrive",
    "as_json",
    "chart",
    "chart_by_step",
    "figure",
    "frame",
    "keep",
    "kept",
    "memo",
    "picked",
    "pin_pressed",
    "said",
    "slider",
    "strip",
    "tiles",
]
