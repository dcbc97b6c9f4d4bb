"""The attacker's knowledge about one person: the card, its folds, and its switches.

All pages with odds show this card, from the ledger of the release on screen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import streamlit as st

from engine.core.types import PublicFacts, Sizes, Spend
from engine.figures import small_charts
from engine.figures.theme import Chart
from engine.language import glossary, odds_words, tags
from engine.language.grammar import capital
from engine.privacy import amplification, risk
from engine.privacy.amplification import Person, SecretSample
from engine.privacy.failure import Delta
from pages.shared import components
from pages.shared.frame import controls, layout
from pages.shared.state import allowed, session

_FIRST_GUESSES = {"1 %": 0.01, "10 %": 0.1, "50 %": 0.5}


def of(spends: Sequence[Spend], prior: float = 0.5) -> risk.Odds:
    """Compute the odds for a person with the stated number of protected units, usually one."""
    return risk.of_ledger(spends, session.current().group_size, prior)


def person(facts: PublicFacts, sizes: Sizes) -> Person:
    """Return the person the odds are for, with the declared secret sample, if it applies."""
    n, declared = sizes.n_curves, _declared(facts, sizes)
    counts = declared is not None and declared > n and not amplification.reason_against(sizes)
    sample = SecretSample(n, declared, True) if counts and declared else None
    return Person(session.current().group_size, sample)


def _declared(facts: PublicFacts, sizes: Sizes) -> int | None:
    """Return the size of the larger group; for own data it stays in the session, not in a link."""
    if not facts.is_upload:
        return session.current().population
    return st.session_state.get(_own_declaration(facts, sizes))


def _own_declaration(facts: PublicFacts, sizes: Sizes) -> str:
    return f"declared_{facts.name}_{sizes.n_curves}"


def chips(facts: PublicFacts, unit: str = "curve") -> list[components.Chip]:
    """Write chips beside the unit of protection if odds are about several of them."""
    count = session.current().group_size
    if count == 1:
        return []
    return [components.Chip(*tags.group_tag(facts, count, unit), "orange", "person")]


class Slider(Protocol):
    """A slider whose every step has odds; what is said of them is made once."""

    rev: int

    @property
    def answer(self) -> Any: ...
    @property
    def odds(self) -> Sequence[risk.Odds]: ...
    def made_once(self, name: str, make: Callable[[], Any]) -> Any: ...


def card(
    facts: PublicFacts, spends: Sequence[Spend], sizes: Sizes, slider: Slider | None = None
) -> dict[str, Chart]:
    """Draw the sentence, a hundred dots, and the reasoning behind them; return the dots by title.

    It follows the slider, if there is one.
    """
    person, held = facts.person, spends[0].unit.noun
    title, step = f"Attacker’s accuracy for one {person}", _Step(facts, spends, of(spends))
    with layout.card(title, glossary.explain("Odds")):
        if slider is None:
            face(facts, spends)
        else:
            _follow(facts, slider)
        layout.folded(
            "Power at low false-positive rates",
            "why",
            lambda: _careful_attacker(facts, spends, held, sizes.n_curves),
        )
        layout.folded(
            "Trade-off curve of the mechanism", "trade_off", lambda: _trade_off(of(spends), facts)
        )
        layout.folded(
            f"Several {held}s of one {person}, or a secret sample",
            "several",
            lambda: _several(facts, held, spends, sizes),
        )
    return {title: step.dots}


def face(facts: PublicFacts, spends: Sequence[Spend], key: str = "odds") -> Chart:
    """Draw the sentence, its dots and their key; `key` distinguishes two on one page."""
    step = _Step(facts, spends, of(spends))
    components.said([step.above], f"said_{key}")
    _draw(step.dots, key, 86)
    components.said([step.below], f"said_{key}_key")
    return step.dots


class _Step:
    """The contents of the card at one budget."""

    def __init__(self, facts: PublicFacts, spends: Sequence[Spend], odds: risk.Odds) -> None:
        person, held = facts.person, spends[0].unit.noun
        self.above = [components.Said(odds_words.odds_main(odds, person, held))]
        self.dots = small_charts.odds(odds.right, person)
        self.below = [components.Said(odds_words.odds_key(odds), "small")]
        if odds.group > 1:
            single = risk.of_ledger(spends)
            self.below.append(components.Said(odds_words.group(single, odds, person, held)))
        if odds.budget.epsilon >= odds_words.WEAK_FROM:
            self.below.append(components.Said(odds_words.weak(odds, person)))


def _follow(facts: PublicFacts, slider: Slider) -> None:
    """Draw the card for every step of a slider."""

    def make() -> tuple[Any, ...]:
        steps = [
            _Step(facts, spends, odds)
            for spends, odds in zip(slider.answer.spends, slider.odds, strict=True)
        ]
        return (
            [s.above for s in steps],
            [s.below for s in steps],
            [components.as_json(s.dots.spec) for s in steps],
            [s.dots.alt for s in steps],
        )

    above, below, specs, alts = slider.made_once("odds card", make)
    components.said(above, "said_odds", slider.rev)
    components.chart_by_step(specs, alts, "chart_odds", 86, slider.rev)
    components.said(below, "said_odds_key", slider.rev)


def _careful_attacker(facts: PublicFacts, spends: Sequence[Spend], held: str, n: int) -> None:
    plain = of(spends)
    st.markdown(odds_words.odds_careful(plain))
    st.markdown(odds_words.odds_rare(plain))
    st.markdown(odds_words.odds_why(plain))
    guess = controls.look(
        "Attacker’s prior probability", list(_FIRST_GUESSES), "first_guess", "10 %"
    )
    odds = of(spends, _FIRST_GUESSES[guess])
    st.markdown(odds_words.odds_flagged(odds, facts.people))
    st.markdown(odds_words.with_and_without(odds, facts.person, held))
    st.markdown(odds_words.not_covered(facts))
    delta = Delta.of(plain.budget.delta, n)  # for several units together nobody chose δ
    st.markdown(
        odds_words.delta_stated(delta)
        if plain.group == 1
        else f"{odds_words.delta_explained(delta.value)} {odds_words.delta_concern(delta)}"
    )


def _trade_off(odds: risk.Odds, facts: PublicFacts) -> None:
    chart = small_charts.trade_off(odds)
    _draw(chart, "trade_off", 300)
    st.markdown(f":small[{odds_words.TRADE_OFF_KEY}]")
    layout.table(chart.table, facts.is_upload, 220)


def _several(facts: PublicFacts, held: str, spends: Sequence[Spend], sizes: Sizes) -> None:
    """Ask how many protected units one person has: stated, never read off the data.

    Below it stands the value of a secret sample.
    """
    controls.number(
        f"{capital(held)}s of one {facts.person}",
        session.current().group_size,
        lambda count: session.change(group_size=allowed.group(count)),
        "group",
        is_whole=True,
        help=f"The most {held}s that one {facts.person} "
        "has in the data, from repeat visits for example. Yours to state.",
    )
    _secret_sample(facts, spends, sizes)


def _secret_sample(facts: PublicFacts, spends: Sequence[Spend], sizes: Sizes) -> None:
    """Show the value of a secret sample of participants, if it is declared."""
    st.markdown(f"**Were these {facts.people} a secret random sample of a larger group?**")
    reason = amplification.reason_against(sizes)
    if reason:
        st.markdown(reason)
        return
    n, state = sizes.n_curves, st.session_state
    own_key = _own_declaration(facts, sizes) if facts.is_upload else ""
    declared_size = _declared(facts, sizes)
    total = declared_size or state.get("larger_group") or 10 * n

    def declare(population: int | None) -> None:
        """Keep the declaration about one's own data in the session: no link can make it."""
        if own_key:
            state[own_key] = population
        else:
            session.change(population=population)

    def count(entered: int) -> None:
        state.larger_group = SecretSample(n, entered, True).population  # refuses an invalid size
        if declared_size is not None:
            declare(state.larger_group)

    controls.number("How many could have been drawn", total, count, "population", is_whole=True)
    controls.bound(
        st.checkbox,
        odds_words.DECLARATION,
        declared_size is not None,
        lambda declared: declare(total if declared else None),
        "declared",
    )
    if declared_size is not None:
        drawn = SecretSample(n, declared_size, True)
        st.markdown(
            odds_words.sampled(
                of(spends),
                drawn.odds(spends, session.current().group_size),
                drawn.share,
                facts.person,
            )
        )


def _draw(chart: Chart, key: str, height: int) -> None:
    components.chart(chart.spec, chart.alt, f"chart_{key}", height)
