"""The few pieces that live in the browser: the live picture, the strip, sentences and charts.

Two events on `window` tie them together. `pc:budget` carries the chosen budget as a number while
the slider moves; `pc:flush` asks whoever still owes the server a report to send it now.
`window.__budget` keeps the number for pieces that are mounted later, and `window.__budgetRev` which
move by the server (a link, Back) it belongs to.
"""

from pages.shared.components.chart import chart, chart_by_step
from pages.shared.components.frame import frame
from pages.shared.components.picture import (
    Anchor,
    Picked,
    Verdict,
    picked,
    picture,
    picture_payload,
)
from pages.shared.components.said import Said, said
from pages.shared.components.strip import Budgeted, Chip, Pinning, arrive, pin_pressed, strip

__all__ = ["Anchor", "Budgeted", "Chip", "Picked", "Pinning", "Said", "Verdict", "arrive", "chart",
           "chart_by_step", "frame", "picked", "picture", "picture_payload", "pin_pressed", "said",
           "strip"]
