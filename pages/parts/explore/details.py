"""Contents of the drawer of Explore: one detail at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from engine.sources import Source
from pages.parts.explore import cards
from pages.parts.explore.scene import Scene
from pages.shared.cards import answers as answer_cards
from pages.shared.cards import guarantees, holdout, odds
from pages.shared.cards import shape as shape_cards
from pages.shared.frame import controls, layout, parameters
from pages.shared.frame.drawer import Detail
from pages.shared.state import session

# Details that show a setting, for a link that has it and opens no detail.
OF_SETTINGS = {"shape_question": "shape", "group_size": "several", "population": "several"}


def of(scene: Scene | None, source: Source) -> list[Detail]:
    """List all details; without a figure, those that correct the reason for that."""
    settings_of_all = Detail("more", "All settings", _settings, ("data",))
    if scene is None:
        return [settings_of_all]

    def detail(key: str, title: str, draw: Callable[[Scene], None], *folds: str) -> Detail:
        return Detail(key, title, partial(draw, scene), folds)

    return [
        detail("accuracy", "Accuracy", _accuracy, "accuracy_numbers"),
        detail(
            "attacker",
            "Attacker’s accuracy",
            _attacker,
            "why",
            "trade_off",
            "several",
            "attacker_numbers",
            "explore_label",
        ),
        detail(
            "shape",
            "Ask the curve",
            shape_cards.section,
            "shape_numbers",
            "all_answers",
            "power",
            "synthetic",
        ),
        detail("components", "How people differ", _components),
        detail("steps", "Effect of each step", _steps, "steps_numbers"),
        *_published_study(scene, source),
        Detail("ledger", "Privacy ledger", partial(_ledger, scene), ("rule",)),
        Detail(
            "formula",
            "Formula and source",
            lambda: guarantees.formula(
                session.current().mechanism, scene.answer.tuning[scene.step]
            ),
        ),
        detail("numbers", "Share", _share),
        Detail("code", "Code", scene.code, ("explore_code",), is_fold=True),
        settings_of_all,
    ]


def _published_study(scene: Scene, source: Source) -> list[Detail]:
    """Return the detail of the published study, only for its twin."""
    return (
        [
            Detail(
                "published_study",
                "As in the published study",
                lambda: holdout.fold(source, scene.budget, scene.is_refused),
                ("holdout",),
                is_fold=True,
            )
        ]
        if source.trains_on_a_third
        else []
    )


def _settings() -> None:
    controls.source_choice(key="all_sources")
    parameters.more_options()


def _accuracy(scene: Scene) -> None:
    cards.accuracy(scene)
    cards.limits(scene)
    _behind(scene, "accuracy_numbers")
    if scene.answer.truth is not None:
        controls.bound(
            st.toggle,
            "Show the true mean",
            "truth" in session.current().further_lines,
            lambda on: session.change(further_lines=("truth",) * on),
            "truth",
            help="Known only because these curves are simulated.",
        )


def _attacker(scene: Scene) -> None:
    spends = scene.answer.spends[scene.step]
    scene.charts |= odds.card(scene.facts, spends, scene.answer.data.sizes, scene)
    _behind(scene, "attacker_numbers")
    guarantees.consequences(spends, scene.facts, "explore")


def _components(scene: Scene) -> None:
    if not scene.is_refused:
        with layout.user_errors():
            answer_cards.directions(shape_cards.first_curve(scene))


def _ledger(scene: Scene) -> None:
    guarantees.ledger(scene.answer.spends[scene.step], scene.budget)
    guarantees.rule_fold()


def _steps(scene: Scene) -> None:
    cards.effect_of_steps(scene)
    _behind(scene, "steps_numbers")


def _behind(scene: Scene, key: str) -> None:
    """Show the sentences and tables of the charts of a detail."""
    if scene.charts:
        layout.numbers(scene.charts, scene.is_own, key)


def _share(scene: Scene) -> None:
    cards.link_and_pin(scene)
    cards.take_away(scene)
    cards.numbers(scene)
