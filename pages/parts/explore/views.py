"""The further views of the figure: every method, and theory beside measured errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from engine.core.identity import digest
from engine.core.types import CurveData
from engine.language.numbers import whole
from engine.rates.functional_mean import Trust
from engine.sources import Source
from engine.topics.decision import theory as theory_topic
from engine.topics.decision.theory import Theory
from engine.topics.mean import methods as methods_topic
from engine.topics.mean.answer import MeanAnswer
from engine.topics.mean.methods import Tile
from pages.parts.explore.scene import Scene
from pages.shared.frame import timed
from pages.shared.server.computing import uses_workers
from pages.shared.state import run, session
from pages.shared.state.settings import FRONT_PAGE, Settings, steps_of

Call = tuple[Callable[..., Any], tuple[Any, ...]]


class Views:
    """What a further view shows of a scene, and what is still to be computed."""

    def __init__(self, scene: Scene) -> None:
        self._scene, self._current = scene, session.current()
        self._calls = calls(self._current, scene.source, scene.epsilons, self._current.explore_view)
        self._waiting = [
            call
            for call in self._calls.values()
            if uses_workers() and not run.knows(call[0], *call[1])
        ]

    @property
    def _answers(self) -> dict[Any, Any]:
        """The answers that are known."""
        return {
            key: run.answer(call[0], *call[1])
            for key, call in self._calls.items()
            if call not in self._waiting
        }

    @property
    def _found(self) -> dict[Tile, MeanAnswer]:
        """Every method that serves these curves."""
        answers = self._answers.items()
        return {tile: answer for tile, answer in answers if isinstance(answer, MeanAnswer)}

    @property
    def _theory(self) -> Theory:
        rows = theory_topic.rows_of(self._scene.source)
        return theory_topic.theory_of(self._current.mechanism, rows, self._answers)

    @property
    def _state(self) -> str:
        return digest((tuple(self._calls.items()), len(self._waiting)))

    @property
    def methods(self) -> dict[str, Any] | None:
        """The message about the methods known so far; None unless they are on screen."""
        if self._current.explore_view != "methods" or not self._found:
            return None
        chosen = self._current.mechanism.nearest_preset()[0]
        return self._scene.made_once(
            f"methods {self._state}",
            lambda: methods_topic.payload(
                self._scene.answer, self._found, chosen, self._current.group_size
            ),
        )

    @property
    def theory(self) -> dict[str, Any] | None:
        """The message about theory; None unless it is on screen, and one centre is known."""
        if self._current.explore_view != "theory" or Trust.CENTRAL not in self._answers:
            return None
        facts, baseline = self._scene.facts, self._scene.answer.study.baseline
        return self._scene.made_once(
            f"theory {self._state}", lambda: theory_topic.payload(self._theory, facts, baseline)
        )

    @property
    def heading(self) -> str:
        """The finding of the view on screen; empty if it is not known, or has none."""
        if not self._calls or self._waiting:
            return ""
        if self._current.explore_view == "methods":
            return methods_topic.heading(self._found, self._current.epsilon)
        return theory_topic.heading(self._theory)

    def compute_next(self) -> None:
        """Compute what the view on screen waits for, one part after another."""
        if not self._waiting:
            return
        done = len(self._calls) - len(self._waiting)
        people = f"{whole(self._scene.sizes.n_curves)} {self._scene.facts.people}"
        function, arguments = self._waiting[0]
        timed.afterwards(
            f"Simulating {people}: {done} of {len(self._calls)} done",
            lambda: run.answer(function, *arguments),
        )


def calls(
    current: Settings, source: Source[CurveData], epsilons: Sequence[float], view: str
) -> dict[Any, Call]:
    """List what the engine is asked for a view, by method or by who adds the noise."""
    if view == "methods":
        delta = current.delta_on(source).value
        return {
            tile: (
                methods_topic.released,
                (source, tile.mechanism, tile.delta, current.seed, tuple(epsilons)),
            )
            for tile in methods_topic.tiles(source, current.mechanism, delta)
        }
    if view == "theory":
        rows = theory_topic.rows_of(source)
        asked = source, current.mechanism, rows, current.delta
        return {
            trust: (theory_topic.measured, (*asked, trust, current.seed))
            for trust in theory_topic.NOTIONS
        }
    return {}


def of_front_page() -> list[Call]:
    """List what the views of the front page ask for."""
    front = FRONT_PAGE
    return [
        call
        for view in ("theory", "methods")
        for call in calls(front, front.source, steps_of(front.epsilon), view).values()
    ]
