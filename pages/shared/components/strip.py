"""The strip under every title: the unit of protection, and the odds and error of the budget.

Its message holds the words of all budgets, so it follows the slider without the server.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

import streamlit as st

from engine.language.odds_words import BY_BUDGET_ALONE, WHY_ALONE
from pages.shared.server.modules import by_name, file

_component = st.components.v2.component(
    "privacy_curves_strip",
    # Only screen readers need this heading above the cards of every page.
    html='<h2 class="heard">At these settings</h2>'
    '<div id="strip" role="toolbar" aria-label="What is protected" '
    'data-keys="Left and right move along."></div>',
    css=file("strip.css"),
    js=by_name("strip.js"),
)


@dataclass(frozen=True)
class Chip:
    """A short fact with its tooltip.

    `kind` is "gray" (neutral), "blue" (unit of protection), "orange" (attention) or "green";
    `icon` is one of flask, globe, person, shield, check, sliders, warning. `action` is a word
    behind the text for the effect of a press, which the strip reports by `on_action`.
    """

    text: str
    help: str
    kind: str = "gray"
    icon: str = "flask"
    action: str = ""


@dataclass(frozen=True)
class Pinning:
    """The state of *Pin scenario*.

    `name` is the letter of a pinned scenario, `reason` the one against pinning.
    """

    name: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Budgeted:
    """The words of one budget: its chip, the odds and the error; empty words are left out."""

    chip: str  # "ε = 1 · δ = 2.5×10⁻⁵"
    odds: str = ""  # "≤ 56 %"
    error: str = ""  # "3.85 cm (95 %: 5.6)"
    weak: bool = False  # amber, with words


def strip(
    chips: Sequence[Chip],
    budgets: Sequence[Budgeted],
    budget: int,
    *,
    person: str = "person",
    pure: bool = False,
    link: bool = True,
    key: str = "strip",
    pin: Pinning | None = None,
    on_action: Callable[[], None] = lambda: None,
    error: str = "Error",
    is_forecast: bool = False,
) -> None:
    """Draw the strip for one scenario.

    `budgets` holds the words of every step of the slider; `budget` is the one the page stands at,
    which the browser follows when the session's `rev` changes. A page without a slider gives one
    budget. `link` says whether *Copy link* works. Without `pin` there is nothing to pin.
    `on_action` is called when the chip that has an action is pressed. `error` is what
    the error is called; `is_forecast` says that it is that of a twin, as of a release that is yet
    to be drawn.
    """
    state = st.session_state
    limit = (
        "This method’s limit always holds (δ = 0)."
        if pure
        else f"ε limits how much one {person} can shift what is published. δ is by how much "
        "probabilities may exceed this limit."
    )
    alone = next(
        (f" {WHY_ALONE}" for step_words in budgets if step_words.odds.endswith(BY_BUDGET_ALONE)), ""
    )
    words = {
        "budget": limit,
        "weak": f"Weak protection for one {person}. See the odds.",
        "odds": f"For an attacker who knows all other curves and chooses between two for this "
        f"{person}. Guessing is right in 50 %; bounds are rounded up.{alone}",
        "error": "Root mean squared distance, over the whole curve and over releases. In "
        "brackets: what 95 % of releases stay within."
        + (" Of releases of a twin, which is simulated from stated facts." if is_forecast else ""),
        "link": "Opens the same view with the same seed. The link holds settings, never data; of "
        "a table of sites on Decide it holds names and sizes."
        if link
        else "Your own curves cannot be put into a link.",
        "pin": "Keep this scenario to compare it with others, on Compare, Methods.",
        "pinned": "This scenario is kept. Compare, Methods, shows all that are.",
    }
    data = {
        "chips": [asdict(c) for c in chips],
        "words": words,
        "link": link,
        "budget": budget,
        "error": "Forecast error, from the truth" if is_forecast else error,
        "budgets": [asdict(b) for b in budgets],
        "rev": state.get("rev", 0),
        "arrived": state.get("arrived", 0),
        "pin": None if pin is None else asdict(pin),
    }
    _component(key=key, on_pin_change=lambda: None, on_action_change=on_action, data=data)


def arrive() -> None:
    """Bring the next strip into view, once a button far below it has got its answer."""
    st.session_state.arrived = st.session_state.get("arrived", 0) + 1


def pin_pressed(key: str = "strip") -> bool:
    """True if *Pin scenario* was pressed in a strip: in one run only, before it is drawn."""
    state = st.session_state.get(key)
    return isinstance(state, Mapping) and bool(state.get("pin"))
