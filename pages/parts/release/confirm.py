"""The last step to a release: what it confirms and spends, its name, and the button."""

from __future__ import annotations

import datetime
import json
from functools import partial
from itertools import count

import streamlit as st

from engine.core.errors import InputError
from engine.core.tasks import TASKS
from engine.core.types import Budget
from engine.language.grammar import escape
from engine.mechanisms import Mechanism
from engine.privacy.failure import large_delta
from engine.release import published, sentences
from engine.release.certified import ReleaseCost
from engine.release.ledger import DEFAULT_TOTAL, LONGEST_NAME, Ledger, check_name
from engine.release.published import Published
from engine.sources import Source
from pages.parts.release import result
from pages.parts.release.choice import Choice, cost_of, exhausted, forecast, no_room_for
from pages.parts.release.result import suffix_of
from pages.shared.frame import controls, strips
from pages.shared.server import visitors
from pages.shared.uploads import groups, panel

_LOWEST_TOTAL, _HIGHEST_TOTAL = 0.05, 100.0  # ε


def before(choice: Choice, cost: ReleaseCost | None) -> None:
    """State what a release confirms and spends, ask for a name, and draw the button.

    The first release of a visit has a proposed name. Any other needs a typed one, so that a second
    press of the button publishes nothing more.
    """
    is_next = "released" in st.session_state  # the last release comes first
    with st.expander("Another release") if is_next else st.container(border=True):
        if not is_next:
            st.subheader("Confirm and release", anchor=False)
        if choice.source is None or cost is None:
            st.markdown("Choose real data and a method that can be published.")
            return
        facts = choice.source.facts
        st.markdown(sentences.certified(cost))
        if len(choice.parts) > 1:
            st.markdown(sentences.each_group(facts, [groups.name(part) for part in choice.parts]))
        panel.remarks(choice.file or choice.source)
        leave_out(choice)
        refused, no_room = st.session_state.pop("release_problem", None), no_room_for(choice)
        if no_room and is_next and not refused:
            st.markdown(f":small[Not with this ε: {controls.message(no_room)}]")
        elif refused or no_room:
            st.error(controls.message(no_room or refused), icon=":material/block:")
        if no_room:
            return
        if not visitors.may_bring_files():
            st.markdown(sentences.DEMONSTRATION)
            return
        for part in choice.parts:
            _never_drawn(choice, part)
        statements = sentences.confirmations(facts, cost, choice.source.is_of_rows)
        st.markdown(sentences.CONFIRMED)
        st.markdown("\n".join(f"{k}. {statement}" for k, statement in enumerate(statements, 1)))
        proposed = "" if is_next else _proposed_name(choice)
        st.text_input(
            "Name of the release",
            max_chars=LONGEST_NAME,
            key=_name_key(),
            placeholder=proposed or "e.g. growth-2026",
        )
        name = _typed_name() or proposed
        used = _name_used(choice, name)
        controls.show_refusal(used, ":material/block:")
        same, total = _same_people(choice), _total(choice)
        st.button(
            "Publish and write to the ledger",
            icon=":material/publish:",
            type="primary",
            disabled=controls.is_refused() or used is not None or not name,
            key="release_publish",
            on_click=_publish,
            args=(choice, proposed, total, same),
        )
        if not name:
            st.markdown(f":small[{sentences.NAME_MISSING}]")
        if facts.is_upload and len(choice.parts) == 1:
            _settings_of_larger_files(choice, name.strip() or "release")


def _settings_of_larger_files(choice: Choice, name: str) -> None:
    """Offer the settings for the command line, which reads tables that the page does not take."""
    st.download_button(
        "Settings for a larger table (JSON)",
        partial(_settings, choice, name),
        "settings.json",
        "application/json",
        key="release_settings",
        icon=":material/download:",
        type="tertiary",
        on_click="ignore",
        help=sentences.LARGER_TABLE,
    )


def _settings(choice: Choice, name: str) -> str:
    plan = published.planned(choice.parts[0], choice.mechanism, choice.budget, name)
    return json.dumps(published.settings(plan, choice.settings.delta), ensure_ascii=False, indent=2)


def leave_out(choice: Choice) -> None:
    """Offer to publish about the others, where there are some in each part."""
    counts, facts = exhausted(choice), choice.parts[0].facts
    if any(counts) and all(
        n < part.sizes.n_curves for n, part in zip(counts, choice.parts, strict=True)
    ):
        controls.bound(
            st.checkbox,
            sentences.leave_out(facts, sum(counts)),
            choice.leaves_out,
            lambda chosen: st.session_state.update(
                release_without=choice.data_key if chosen else ""
            ),
            "release_without",
            help=sentences.LEFT_OUT_HELP,
        )


def _name_used(choice: Choice, name: str) -> InputError | None:
    """Refuse a name of another release in the ledger; the same release may repeat it."""
    for part in choice.parts if name else ():
        people, called = groups.released_as(choice.file or part, part, name)
        try:
            check_name(Ledger().entries(), called)
        except InputError as problem:
            if (
                published.asked_before(
                    people, choice.mechanism, choice.budget, Ledger(), called, choice.leaves_out
                )
                is None
            ):
                return problem
    return None


def _proposed_name(choice: Choice) -> str:
    """Name a release by its result and the day: the first such name that is free."""
    stem = f"{TASKS[choice.what].result.lower().replace(' ', '-')}-{datetime.date.today()}"
    names = (stem if k == 1 else f"{stem}-{k}" for k in count(1))
    return next(name for name in names if _name_used(choice, name) is None)


def _name_key() -> str:
    return f"release_name_{_tries()}"


def _typed_name() -> str:
    return st.session_state.get(_name_key(), "").strip()


def _tries() -> int:
    """Count the releases of this visit: each is followed by a request for a new name."""
    return st.session_state.get("release_tries", 0)


def _same_people(choice: Choice) -> dict[str, bool | None]:
    """Ask whether people known by their curve alone are the same, by group; None without any."""
    same: dict[str, bool | None] = {}
    for k, part in enumerate(choice.parts):
        group, told = groups.name(part), sentences.by_curve(part.facts, strips.standing(part))
        same[group] = None
        if told:
            about = f"{escape(group)}: " if group else ""
            st.warning(f"{about}{told}", icon=":material/group:")
            options = sentences.same_or_others(part.facts)
            same[group] = st.radio(
                f"{about}Are they the same?",
                [True, False],
                format_func=options.get,
                key=f"release_people_{choice.key}{suffix_of(k)}",
            )
    return same


def _total(choice: Choice) -> float | None:
    """Ask the holder for a total of people unknown to the ledger; else it is fixed."""
    new = [part for part in choice.parts if not strips.standing(part).is_known]
    if not new:
        return None
    facts, of_ledger = new[0].facts, Ledger().total()
    each = "each group of these" if len(choice.parts) > 1 else "these"
    stated = f"release_total_stated_{_tries()}"
    usual = DEFAULT_TOTAL if of_ledger is None else of_ledger.epsilon
    total: float = st.session_state.get(stated, usual)
    controls.number(
        f"Total budget for {each} {escape(facts.people)} (ε)",
        total,
        partial(_set_total, stated),
        f"release_total_{_tries()}",
        help=sentences.total_help(facts),
    )
    return total


def _set_total(stated: str, total: float) -> None:
    if not _LOWEST_TOTAL <= total <= _HIGHEST_TOTAL:
        raise InputError(
            f"A total must lie between {_LOWEST_TOTAL:g} and {_HIGHEST_TOTAL:g}; got {total:g}.",
            field="total",
        )
    st.session_state[stated] = total


def _publish(
    choice: Choice, proposed: str, total: float | None, same: dict[str, bool | None]
) -> None:
    """Publish once: the same release of the same name is charged once.

    The name is the typed one, even if it was typed after the button was drawn.
    """
    file, name = choice.file, _typed_name() or proposed
    if file is None or not name or not visitors.may_bring_files():
        return

    def publish(part: Source) -> Published:
        people, called = groups.released_as(file, part, name)
        is_new = total is not None and not strips.standing(part).is_known
        total_budget = (
            Budget(total, large_delta(part.sizes.n_curves))
            if (is_new and total is not None)
            else None
        )
        return published.publish(
            people,
            choice.mechanism,
            choice.budget,
            Ledger(),
            called,
            total_budget,
            same[groups.name(part)],
            forecast(choice, part, cost_of(choice, part)),
            choice.leaves_out,
            choice.declaration,
        )

    if result.keep(lambda: (publish(part) for part in choice.parts)):
        st.session_state.release_tries = _tries() + 1


def _never_drawn(choice: Choice, part: Source) -> None:
    """Offer to draw a charged and never drawn release now, under its charge."""
    for entry in strips.standing(part).entries:
        if entry.state != "charged":
            continue
        st.warning(sentences.never_drawn(entry), icon=":material/pending:")
        asked = entry.name.removesuffix(f", {groups.name(part)}")
        source = part if choice.file is None else groups.released_as(choice.file, part, asked)[0]
        if published.asked_before(
            source, choice.mechanism, choice.budget, Ledger(), entry.name, choice.leaves_out
        ):
            st.button(
                f"Draw “{escape(entry.name)}” now",
                key=f"release_draw_{entry.release_id}",
                icon=":material/replay:",
                on_click=_draw,
                args=(source, choice.mechanism, choice.budget, entry.name, choice.leaves_out),
            )


def _draw(source: Source, mechanism: Mechanism, budget: Budget, name: str, without: bool) -> None:
    """Draw a release under the charge that its process left behind."""
    if visitors.may_bring_files():
        result.keep(
            lambda: [
                published.publish(source, mechanism, budget, Ledger(), name, leave_out=without)
            ]
        )
