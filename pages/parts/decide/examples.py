"""Worked examples of Decide, each an address: of several lines, the first that opens is shown."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from pages.shared.state import links
from pages.shared.state.settings import Settings

_EXAMPLES = (
    (("Glucose in twelve hospitals", "c-glucose_days~c.n_curves-1800~c.n_servers-12~target-0.5"),
     ("Hormones in twelve hospitals", "c-hormone_study~c.n_curves-1800~c.n_servers-12~target-8")),
    (("Growth in schools", "c-growth_curves~c.n_curves-1000~c.n_servers-10~target-2"),
     ("Growth in schools", "c-sparse_curves~c.n_curves-1000~c.n_servers-10~target-2")),
    (("Electricity by district", "c-electricity_days~c.n_curves-2000~c.n_servers-8"),
     ("Activity by district", "c-activity_days~c.n_curves-2000~c.n_servers-8"),
     ("Growth by district", "c-sparse_curves~c.n_curves-2000~c.n_servers-8~target-2")),
)


@cache
def examples() -> tuple[tuple[str, str], ...]:
    """Label and address of every example."""
    return tuple(next(line for line in lines if not links.decode(line[1])[1])
                 for lines in _EXAMPLES)


def open_at(settings: Settings) -> str | None:
    """The label of the example that is on screen, whichever details are open beside it; or None."""
    plain = links.encode(replace(settings, folds=()))
    return next((label for label, token in examples()
                 if links.encode(links.decode(token)[0]) == plain), None)
