"""Next steps from the figure of Explore, and contents of its drawer: one detail at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import streamlit as st

from engine.sources import Source
from engine.topics.mean import shape
from engine.topics.planning.answer import usual_target
from pages.parts.explore import budgets, cards
from pages.parts.explore.scene import Scene
from pages.shared.cards import guarantees, holdout, odds
from pages.shared.cards import shape as shape_cards
from pages.shared.frame import controls, drawer, layout
from pages.shared.frame.drawer import Detail
from pages.shared.server import visitors
from pages.shared.state import links, session, settings
from pages.shared.uploads import panel

_PAGES = Path(__file__).parents[2]


def doors(details: Sequence[Detail]) -> None:
    """Draw the ways to Decide, to Learn and to own data, and the drawer."""
    current = session.current()
    target = usual_target(session.source().facts)
    to_plan = links.encode(
        replace(
            current,
            decided_task=settings.TASK,
            unknown_quantity="epsilon",
            target_distance=target,
            open_folds=(),
        )
    )
    with st.container(horizontal=True, vertical_alignment="center", key="doors"):
        _link("decide.py", "Decide on a budget", ":material/tune:", to_plan)
        _link("learn.py", "First lesson in 4 minutes", ":material/school:", "lesson-1")
        st.button(
            "Use my data",
            key="door_data",
            icon=":material/upload_file:",
            type="tertiary",
            on_click=panel.open_dialog,
            disabled=not visitors.may_bring_files(),
            help="A file stays in memory while you visit; nothing is published.",
        )
        st.space("stretch")
        if any(detail.key == "shape" for detail in details):
            st.button(
                "Ask the curve",
                key="ask_curve",
                icon=":material/live_help:",
                type="tertiary",
                on_click=_ask,
                args=(details,),
            )
        drawer.button(details, "Details", "details", ":material/right_panel_open:")


def _ask(details: Sequence[Detail]) -> None:
    """Open the drawer at a question: the last one that was asked, or the first."""
    if not session.current().shape_question:
        session.change(shape_question=next(iter(shape.KINDS)))
    drawer.open_at(details, "shape")


def _link(script: str, label: str, icon: str, token: str) -> None:
    st.page_link(
        st.Page(_PAGES / script),
        label=label,
        icon=icon,
        width="content",
        query_params={"s": token} if token else None,
    )


# Details that show a setting, for a link that has it and opens no detail.
OF_SETTINGS = {"shape_question": "shape", "group_size": "several", "population": "several"}


def of(scene: Scene | None, source: Source) -> list[Detail]:
    """List all details; without a figure, those that correct the reason for that."""
    data = Detail("data", "Data", _data)
    method = Detail("more", "Method and options", partial(_method, scene))
    if scene is None:
        return [data, method]
    spends = scene.answer.spends[scene.step]

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
        detail("budget_curve", "Error at every budget", _budgets, "budget_numbers", "rule"),
        method,
        data,
        detail(
            "shape",
            "Ask the curve",
            shape_cards.section,
            "shape_numbers",
            "all_answers",
            "power",
            "synthetic",
        ),
        detail("steps", "Effect of each step", _steps, "steps_numbers"),
        *_published_study(scene, source),
        Detail("ledger", "Privacy ledger", lambda: guarantees.ledger(spends, scene.budget)),
        Detail(
            "formula",
            "Formula and source",
            lambda: guarantees.formula(
                session.current().mechanism, scene.answer.tuning[scene.step]
            ),
        ),
        detail("numbers", "Numbers and files", _numbers),
        Detail("code", "Code", scene.code, ("explore_code",), is_fold=True),
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


def _data() -> None:
    controls.source_choice()
    panel.button()


def _method(scene: Scene | None) -> None:
    controls.mechanism_choice()
    if scene is not None:
        budgets.why_this_method(scene)
    controls.more_options(columns=1)


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


def _budgets(scene: Scene) -> None:
    budgets.budgets(scene)
    _behind(scene, "budget_numbers")
    guarantees.rule_fold()


def _steps(scene: Scene) -> None:
    cards.effect_of_steps(scene)
    _behind(scene, "steps_numbers")


def _behind(scene: Scene, key: str) -> None:
    """Show the sentences and tables of the charts of a detail."""
    if scene.charts:
        layout.numbers(scene.charts, scene.is_own, key)


def _numbers(scene: Scene) -> None:
    cards.take_away(scene)
    cards.numbers(scene)
