"""The further views of the figure: every method, and theory beside measured errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from engine.core.identity import digest
from engine.core.types import CurveData
from engine.language.numbers import whole
from engine.rates.trusted import Trust
from engine.sources import Source
from engine.topics.decision import answer as decision_topic
from engine.topics.decision import theory as theory_topic
from engine.topics.mean import methods as methods_topic
from engine.topics.mean.answer import MeanAnswer
from engine.topics.sites.site_table import SiteRow
from pages.parts.explore.scene import Scene
from pages.shared.frame import timed
from pages.shared.server import first_picture
from pages.shared.server.computing import uses_workers
from pages.shared.state import run, session
from pages.shared.state.settings import FRONT_PAGE, THEORY_SITES, Settings, steps_of

Call = tuple[Callable[..., Any], tuple[Any, ...]]


class Views:
    """Messages about the further view on screen, and answers that it waits for."""

    def __init__(self, scene: Scene) -> None:
        current = self._current = session.current()
        self._scene, self._stored = scene, _stored(current, scene)
        self._calls = (
            {}
            if self._stored
            else calls(current, scene.source, scene.epsilons, current.explore_view)
        )
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

    def _message(self, view: str) -> dict[str, Any] | None:
        """Return what the figure is sent about a view as far as it is known, if it is on screen."""
        if self._current.explore_view != view:
            return None
        if self._stored:
            return dict(self._stored[stored_name(self._current, view)])
        known = self._answers
        if not known or (view == "theory" and _first(self._current) not in known):
            return None
        name = digest((tuple(self._calls.items()), len(self._waiting)))
        return self._scene.made_once(
            f"{view} {name}",
            lambda: message(self._current, self._scene.source, self._scene.answer, view, known),
        )

    @property
    def methods(self) -> dict[str, Any] | None:
        """The message about the methods known so far; None unless they are on screen."""
        return self._message("methods")

    @property
    def theory(self) -> dict[str, Any] | None:
        """The message about theory; None unless it is on screen, and one centre is known."""
        return self._message("theory")

    @property
    def heading(self) -> str:
        """The finding of the view on screen; empty if it has none, or is not known in full."""
        sent = self.methods or self.theory
        return "" if sent is None or self._waiting else str(sent["headings"][self._scene.step])

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


def _stored(current: Settings, scene: Scene) -> dict[str, Any] | None:
    """Return the stored views of the front page, if its scenario is on screen."""
    front = FRONT_PAGE
    here, there = (
        (s.mechanism, s.delta, s.seed, s.group_size, s.theory_sites) for s in (current, front)
    )
    is_front = (
        here == there
        and scene.source == front.source
        and tuple(scene.epsilons) == steps_of(front.epsilon)
    )
    return first_picture.stored_views() if is_front else None


def stored_name(current: Settings, view: str) -> str:
    """Name a view among the stored ones."""
    is_over_people = view == "theory" and current.theory_along == theory_topic.PEOPLE
    return f"{view} over people" if is_over_people else view


def _first(current: Settings) -> Any:
    """Return the study without which theory has no line."""
    is_over_people = current.theory_along == theory_topic.PEOPLE
    return (Trust.CENTRAL, 1.0) if is_over_people else Trust.CENTRAL


def message(
    current: Settings,
    source: Source[CurveData],
    shown: MeanAnswer,
    view: str,
    known: Mapping[Any, Any],
) -> dict[str, Any]:
    """Put the answers of a view together for the figure."""
    if view == "methods":
        found = {tile: answer for tile, answer in known.items() if isinstance(answer, MeanAnswer)}
        chosen = current.mechanism.nearest_preset()[0]
        return methods_topic.payload(shown, found, chosen, current.group_size)
    rows = theory_topic.rows_of(source, int(current.theory_sites))
    frames = (
        theory_topic.over_people(current.mechanism, rows, known)
        if current.theory_along == theory_topic.PEOPLE
        else (theory_topic.theory_of(current.mechanism, rows, known),)
    )
    choices = [n for n in map(int, THEORY_SITES) if 2 * n <= source.sizes.n_curves]
    return theory_topic.payload(
        frames,
        shown.facts,
        shown.study.baseline,
        [budget.epsilon for budget in shown.budgets],
        choices if source.sizes.n_servers == 1 else (),
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
        rows = theory_topic.rows_of(source, int(current.theory_sites))
        if current.theory_along == theory_topic.PEOPLE:
            return {
                (trust, factor): _tried(current, source, decision_topic.scaled(rows, factor), trust)
                for factor in theory_topic.NEAREST_FIRST
                for trust in theory_topic.NOTIONS
            }
        return {trust: _tried(current, source, rows, trust) for trust in theory_topic.NOTIONS}
    return {}


def _tried(
    current: Settings, source: Source[CurveData], rows: Sequence[SiteRow], trust: Trust
) -> Call:
    arguments = source, current.mechanism, rows, current.delta, str(trust.place), current.seed
    return decision_topic.tried, arguments


def first_views() -> dict[str, Any]:
    """Return the views of the front page, computed here."""
    front, shown = FRONT_PAGE, run.front_picture()
    epsilons = steps_of(front.epsilon)
    over_people = replace(front, theory_along=theory_topic.PEOPLE)
    return {
        stored_name(current, view): message(
            current,
            current.source,
            shown,
            view,
            {
                key: run.answer(function, *arguments)
                for key, (function, arguments) in calls(
                    current, current.source, epsilons, view
                ).items()
            },
        )
        for current, view in ((front, "methods"), (front, "theory"), (over_people, "theory"))
    }
