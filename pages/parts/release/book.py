"""The ledger of the data on screen, and what an attacker could find out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from engine.language import glossary
from engine.language.grammar import escape
from engine.language.numbers import power_of_two, small
from engine.noise.hardened import HardenedNoise
from engine.release import published, sentences
from engine.release.books import Entry
from engine.release.certified import ReleaseCost
from engine.release.ledger import Ledger
from engine.sources import Source
from pages.parts.release import result
from pages.parts.release.choice import Choice, cost_of, no_room_for
from pages.parts.release.result import suffix_of
from pages.shared.cards import odds as odds_card
from pages.shared.frame import layout, strips
from pages.shared.server import visitors
from pages.shared.state import session
from pages.shared.uploads import groups


def odds(choice: Choice, cost: ReleaseCost) -> None:
    """Show what an attacker could find out, by the charged budget, before any confirmation."""
    facts = choice.chosen.facts
    with layout.card(
        f"Attacker’s accuracy for one {escape(facts.person)}", glossary.explain("Odds")
    ):
        odds_card.face(facts, cost.certified_spends)


def ledger_of_choice(choice: Choice, cost: ReleaseCost | None) -> None:
    """Show all releases of these data, and the total with the next one; each group has its own.

    `cost` is None if it is unknown.
    """
    with layout.card("Ledger", glossary.explain("Ledger")):
        if not choice.parts:
            _ledger_of_all()
        for k, part in enumerate(choice.parts):
            if groups.name(part):
                st.markdown(f"**{escape(groups.name(part))}**")
            _ledger_of(
                part,
                cost is not None and no_room_for(choice) is None and cost_of(choice, part),
                suffix_of(k),
            )


def _ledger_of_all() -> None:
    """List every release of this machine, to show again at no charge, while no data are chosen."""
    entries = Ledger().entries() if visitors.may_bring_files() else ()
    if not entries:
        st.markdown(
            "Nothing was published here yet. This list will have all releases of public data and "
            "of your files, with what is left of each total budget."
        )
        return
    st.dataframe(_rows(entries), hide_index=True, key="release_book_all")
    st.markdown("What is left of a total stands here once its data are chosen.")
    _once_more(entries, "_all")


def _ledger_of(part: Source, next_one: ReleaseCost | bool, suffix: str) -> None:
    spent = strips.standing(part)
    if not spent.is_known:
        st.markdown(sentences.left(part.facts, spent))
        return
    st.dataframe(_rows(spent.entries), hide_index=True, key=f"release_book{suffix}")
    st.markdown(sentences.after(part.facts, spent))
    if visitors.may_bring_files():
        _once_more(spent.entries, suffix)
    if isinstance(next_one, ReleaseCost):
        st.markdown(f":small[{sentences.with_next(spent, published.charge_of(next_one))}]")


def _rows(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    return [
        {
            "When": entry.at[:10],
            "Name": entry.name,
            "ε": entry.budget.epsilon,
            "δ": small(entry.budget.delta),
            "What": f"{entry.what} ({sentences.became(entry)})"
            if sentences.became(entry)
            else entry.what,
            "Id": entry.release_id,
        }
        for entry in reversed(entries)
    ]


def _once_more(entries: Sequence[Entry], suffix: str) -> None:
    """Offer to show a drawn release again, at no charge."""
    drawn = {entry.release_id: entry.name for entry in reversed(entries) if entry.state == "drawn"}
    if not drawn:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        earlier = st.selectbox(
            "An earlier release",
            list(drawn),
            key=f"release_again_which{suffix}",
            format_func=lambda release_id: drawn.get(release_id, ""),
        )
        st.button(
            "Show it again",
            key=f"release_again{suffix}",
            icon=":material/replay:",
            help="It is made from the ledger as it was, with all of its files, at no charge.",
            on_click=_show_again,
            args=(earlier,),
        )


def _show_again(release_id: str) -> None:
    if visitors.may_bring_files():
        session.change(publish_step="release")
        result.keep(lambda: [published.again(Ledger(), release_id)])


def accounting(cost: ReleaseCost) -> None:
    """List every message, its noise and its charge."""
    st.dataframe(
        [_message(step, message) for (_, step), message in cost.messages.items()], hide_index=True
    )
    st.markdown(sentences.why(cost))


def _message(step: str, message: HardenedNoise) -> dict[str, Any]:
    sign = "ε" if message.is_pure else "ρ"
    return {
        "What leaves": step,
        "Numbers": message.size,
        "Noise": message.name,
        "Moved at most by (in units of the noise)": float(f"{message.sensitivity:.4g}"),
        "Lattice": power_of_two(-message.bits),
        "Charge": f"{sign} = {message.cost:.6g}",
    }
