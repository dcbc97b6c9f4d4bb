"""The release to be published: its data, its method, its cost and its forecast."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import streamlit as st

from engine import questions
from engine.core.errors import InputError
from engine.core.identity import digest
from engine.core.types import Budget
from engine.exports import code_for
from engine.language import numbers
from engine.mechanisms import Mechanism
from engine.release import published
from engine.release.certified import ReleaseCost
from engine.release.plan import Declaration, Forecast
from engine.sources import Source
from engine.topics.release.preview import ReleasePreview, release_preview
from pages.parts.release import public_sample
from pages.shared.cards import guarantees as guarantee_cards
from pages.shared.cards import odds as odds_card
from pages.shared.frame import code_fold, strips
from pages.shared.frame.page import View
from pages.shared.state import run, session
from pages.shared.state.lab_tasks import LAB_TASKS
from pages.shared.uploads import frozen, groups


class Choice(View):
    """The release to be published; `file` and `source` are None until real data are chosen.

    Public groups are released each on its own, unless everybody is published together: `parts` are
    the releases, and `source` is the part that preview, forecast and attacker describe.
    """

    page, fold_prefix = "publish", "release_"

    def __init__(self) -> None:
        super().__init__()
        self.what = self.settings.published_task
        self.task = session.data_task(self.what)

    @property
    def file(self) -> Source | None:
        """All the data on screen."""
        on_screen = session.source(self.task)
        return None if on_screen.is_random else on_screen

    @cached_property
    def parts(self) -> tuple[Source, ...]:
        """The separate releases; empty until real data are chosen."""
        return () if self.file is None else groups.of(self.file)

    @property
    def source(self) -> Source | None:
        return groups.looked_at(self.parts) if self.parts else None

    @property
    def chosen(self) -> Source:
        """The part that is described, once there are data."""
        assert self.source is not None
        return self.source

    @property
    def has_methods(self) -> bool:
        """True if there are several methods to choose from."""
        return self.what in LAB_TASKS

    @property
    def mechanism(self) -> Mechanism:
        return self.settings.mechanism_of(self.what)

    @property
    def budget(self) -> Budget:
        """The same for every group: δ goes by all people."""
        file = self.file
        delta = 0.0 if file is None else self.settings.delta_on(file, self.mechanism).value
        return Budget(self.settings.epsilon, delta)

    @property
    def data_key(self) -> str:
        """Names what is published of whom, at any budget."""
        return digest((self.what, self.file, len(self.parts)))

    @property
    def leaves_out(self) -> bool:
        """True if people who have too little left are to be left out."""
        return bool(st.session_state.get("release_without") == self.data_key)

    @property
    def key(self) -> str:
        """Names all that would be published; anything else asks about people again."""
        return digest((self.data_key, self.leaves_out, self.mechanism, self.budget))

    @property
    def declaration(self) -> Declaration:
        """The declaration beside the facts: when they were stated, and what set the method."""
        return replace(frozen.declaration(self.task), tuned_on=public_sample.in_words(self))

    def formula(self) -> None:
        guarantee_cards.formula(self.mechanism, {})

    def question(self) -> questions.Question:
        source = self.chosen
        return questions.ask(published.release_cost, source, self.mechanism, self.budget).about(
            odds_card.person(source.facts, source.sizes)
        )

    def code(self) -> None:
        """Show the code of the real path; it holds no data and publishes only with a name."""
        code_fold.show(
            self.page,
            self.question,
            self.task,
            "It shows what a release would cost. With `--name NAME --yes` it "
            "publishes: with new noise, and it is charged.",
            write=code_for.release,
        )


def error_in_words(choice: Choice, cost: ReleaseCost) -> str:
    """Write the error of such releases of the twin, as the preview does; "" for a single number."""
    expected = None if choice.source is None else forecast(choice, choice.source, cost)
    return "" if expected is None else numbers.error(expected.error, expected.unit, expected.within)


def forecast(choice: Choice, part: Source, cost: ReleaseCost) -> Forecast | None:
    """Forecast such releases of the twin; None for a single number, or if nothing is released."""
    if not choice.has_methods:
        return None
    try:
        return previewed(choice, part, cost).forecast(choice.what)
    except InputError:  # too large to simulate; the preview shows the reason
        return None


def previewed(choice: Choice, part: Source, cost: ReleaseCost) -> ReleasePreview:
    """Return the preview of a part on simulated data."""
    return run.at_once(
        release_preview,
        part.facts,
        part.sizes,
        choice.mechanism,
        cost.inner_budgets[0],
        session.current().seed,
        choice.budget,
    )


def cost_of(choice: Choice, part: Source, budget: Budget | None = None) -> ReleaseCost:
    """Compute the cost of a release of a part, at the chosen budget or another one."""
    return run.at_once(published.release_cost, part, choice.mechanism, budget or choice.budget)


def exhausted(choice: Choice) -> list[int]:
    """Count the people of each part who have less left than a release costs."""
    return [
        strips.standing(part).count_without_room(published.charge_of(cost_of(choice, part)))
        if strips.standing(part).is_known
        else 0
        for part in choice.parts
    ]


def no_room_for(choice: Choice) -> InputError | None:
    """Explain why people of these data have too little left, as soon as ε is chosen; or None.

    People to leave out need no budget, unless nobody else remains.
    """
    for part in choice.parts:
        standing = strips.standing(part)
        if not standing.is_known:  # their total is still to be stated
            continue
        charge = published.charge_of(cost_of(choice, part))
        if choice.leaves_out and standing.count_without_room(charge) < part.sizes.n_curves:
            continue
        try:
            standing.check_room(charge, part.facts)
        except InputError as problem:
            return problem
    return None
