"""What visitors do: drag ε, change sizes, look through pages. Each kind repeats its own way."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable
from itertools import count

from tests.load.visitor import Visitor

BUDGETS = 17  # steps of ε that every recipe has on its slider
_PAGES = ("plan", "rates", "sites", "coefficients", "regression", "summaries", "sparse", "")
_SIZES = (100, 150, 200, 300, 400, 600)

Acts = Callable[[Visitor, random.Random], AsyncIterator[tuple[str, float]]]


async def drags(visitor: Visitor, chance: random.Random) -> AsyncIterator[tuple[str, float]]:
    """Moves the slider in the picture of Explore from step to step."""
    yield "arrive", await visitor.run()
    while True:
        yield "drag", await drag(visitor, chance.randrange(BUDGETS))


async def sizes(visitor: Visitor, chance: random.Random) -> AsyncIterator[tuple[str, float]]:
    """Opens the options and changes how many take part; some sizes are new to the server."""
    yield "arrive", await visitor.run()
    yield "open", await visitor.follow("open-more")
    while True:
        yield "size", await visitor.run(w_c_sparse_curves_n_curves=str(chance.choice(_SIZES)))
        if visitor.waits_for_more:
            yield "rest of it", await visitor.stay()


async def wanders(visitor: Visitor, chance: random.Random) -> AsyncIterator[tuple[str, float]]:
    """Goes from page to page in an order of its own."""
    yield "arrive", await visitor.run()
    while True:
        yield "page", await visitor.go(chance.choice(_PAGES))


KINDS: tuple[Acts, ...] = (drags, sizes, wanders)

# The heaviest that a link can ask of each page; a seed of its own makes it new to the server.
HEAVY = (
    ("", "c-sparse_curves~c.n_curves-50000~c.n_observations_per_curve-40"),
    ("plan", "c-sparse_curves~unknown-people~target-0.001~m-noisy_gradient_mean"),
    ("sites", "sites-mixed~c-sparse_curves~c.n_observations_per_curve-200"),
    ("coefficients", "g-coefficient_curves~g.n_curves-50000~g.n_covariates-8"),
    ("regression", "network-400x5000x1"),
    ("sparse", "x-sparse_rows~x.n_curves-100000~x.n_features-100"),
    ("compare", "c-sparse_curves~c.n_curves-50000~methods-adaptive_mean.noisy_gradient_mean.frl"),
)


async def burdens(visitor: Visitor, chance: random.Random) -> AsyncIterator[tuple[str, float]]:
    """Asks for the heaviest thing of every page in turn, and leaves every other one unfinished."""
    for turn in count():
        visitor.page, link = HEAVY[turn % len(HEAVY)]
        visitor.link = f"{link}~seed-{chance.randrange(1, 10**6)}"
        if turn % 2:
            await visitor.ask()
            yield "heavy, left", 0.0
        else:
            yield "heavy", await visitor.run()


async def drag(visitor: Visitor, budget: int, waits: bool = True) -> float:
    """One report of the slider, as the figure sends it when the slider rests."""
    report = {"picked": {"budget": budget, "view": "look", "rev": 1}}
    if waits:
        return await visitor.run(figure=report)
    await visitor.ask(figure=report)
    return 0.0
