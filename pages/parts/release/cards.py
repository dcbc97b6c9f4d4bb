"""The parts of the page that publishes: what, at which cost, the ledger, the result."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import count
from string import ascii_lowercase
from typing import Any

import streamlit as st

from engine import questions
from engine.answers import card as answers_card
from engine.answers.survival import card as counts_card
from engine.core.errors import InputError
from engine.core.identity import digest
from engine.core.tasks import PERCENTILE_CURVES, PUBLISHED, TASKS
from engine.core.types import Budget
from engine.exports import code_for
from engine.exports.one_card import of_files
from engine.language import glossary, numbers, odds_words, tags
from engine.language.grammar import capital, escape
from engine.language.numbers import number, power_of_two, small
from engine.mechanisms import Mechanism, mechanisms
from engine.noise.hardened import HardenedNoise
from engine.privacy.failure import large_delta
from engine.release import captions, published, sentences
from engine.release import files as release_files
from engine.release.books import Entry
from engine.release.certified import ReleaseCost
from engine.release.guarantee_card import unit_of
from engine.release.ledger import DEFAULT_TOTAL, LONGEST_NAME, Ledger, check_name
from engine.release.plan import Declaration, Forecast
from engine.release.published import Published
from engine.sources import Source, sources
from engine.topics.release import charts
from engine.topics.release.preview import ReleasePreview, release_preview
from pages.parts.release import public_sample
from pages.shared.cards import answers as answer_cards
from pages.shared.cards import guarantees as guarantee_cards
from pages.shared.cards import odds as odds_card
from pages.shared.cards import share
from pages.shared.cards import survival as survival_cards
from pages.shared.frame import code_fold, controls, layout, strips
from pages.shared.frame.page import View
from pages.shared.server import visitors
from pages.shared.state import run, session
from pages.shared.state.lab_tasks import LAB_TASKS
from pages.shared.uploads import frozen, groups, panel

_FILES = {
    "release.csv": ("Numbers (CSV)", "text/csv", ":material/table:"),
    "release.svg": ("Figure (SVG)", "image/svg+xml", ":material/image:"),
    "release.html": ("Report (HTML)", "text/html", ":material/article:"),
    "guarantee.json": ("Guarantee card (JSON)", "application/json", ":material/verified:"),
    "counts.csv": ("Noised counts (CSV)", "text/csv", ":material/table:"),
    "entries.csv": ("Noised entries (CSV)", "text/csv", ":material/login:"),
    "at_risk.csv": ("Numbers at risk (CSV)", "text/csv", ":material/groups:"),
    "time_in_range.csv": ("Time in range (CSV)", "text/csv", ":material/stacked_bar_chart:"),
    "by_time.csv": ("Time in range by time (CSV)", "text/csv", ":material/stacked_bar_chart:"),
    "datapackage.json": ("Data package (JSON)", "application/json", ":material/package_2:"),
    "citation.txt": ("Citation", "text/plain", ":material/format_quote:"),
    "check.html": ("Check of these files", "text/html", ":material/fact_check:"),
    "again.json": ("Settings (JSON)", "application/json", ":material/replay:"),
}

_LOWEST_TOTAL, _HIGHEST_TOTAL = 0.05, 100.0  # ε
_OF_PERCENTILES = ("percentiles", "limits", "point_mass")  # settings of a release of them


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
        source = self.source
        assert source is not None
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


# -- what -------------------------------------------------------------------------------------


def strip(choice: Choice, cost: ReleaseCost | None) -> None:
    """Show what is protected, and what this release would achieve, if it can be made."""
    if choice.source is None:
        return
    unit = unit_of(choice.source, choice.mechanism)
    odds = error = ""
    if cost is not None and not controls.is_refused():
        odds = odds_words.odds_short(odds_card.of(cost.certified_spends))
        error = error_in_words(choice, cost)
    strips.fixed(
        choice.source.facts,
        tags.budget_chip(choice.budget),
        "release_strip",
        odds,
        error,
        TASKS[choice.task].unit,
        choice.budget.epsilon,
        stated=session.delta(choice.file or choice.source, choice.task),
        is_forecast=True,
        n_curves=choice.source.sizes.n_curves,
        protected=(
            capital(unit),
            "What is protected: exchanging all of it changes what is published only a little.",
        ),
        data=_about_data(choice),
    )
    strips.ledger_lines(choice.file or choice.source)


def _about_data(choice: Choice) -> tuple[str, str] | None:
    """Describe the visitor's own data on this page, before and after a release of them."""
    source = choice.source
    if source is None or not source.facts.is_upload:
        return None
    on_screen = {release.release_id for release in st.session_state.get("released", ())}
    is_released = choice.settings.publish_step == "release" and any(
        entry.release_id in on_screen
        for part in choice.parts
        for entry in strips.standing(part).entries
    )
    return tags.published_chip(source.facts, source.sizes.n_curves, is_released)


def error_in_words(choice: Choice, cost: ReleaseCost) -> str:
    """Write the error of such releases of the twin, as the preview does; "" for a single number."""
    expected = None if choice.source is None else _forecast(choice, choice.source, cost)
    return "" if expected is None else numbers.error(expected.error, expected.unit, expected.within)


def _forecast(choice: Choice, part: Source, cost: ReleaseCost) -> Forecast | None:
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


def what(choice: Choice) -> None:
    """Choose the summary to publish."""
    controls.bound(
        st.selectbox,
        "What to publish",
        choice.what,
        _choose_what,
        "release_what",
        options=PUBLISHED,
        format_func=lambda key: TASKS[key].result,
    )


def budget_and_method(choice: Choice) -> None:
    """Choose ε and the method."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        current = session.current()
        controls.number(
            controls.PRIVACY_BUDGET,
            current.epsilon,
            session.set_epsilon,
            "release_epsilon",
            refused_here=False,
            help="Smaller ε: everybody is protected more, and the noise is larger.",
        )
        if choice.has_methods:
            controls.mechanism_choice(choice.task)
        groups.choice(choice.file)
        groups.look(choice.parts)
    controls.show_problem("w_release_epsilon")
    public_sample.show(choice)
    if choice.what == PERCENTILE_CURVES.key:
        controls.parameter_form(
            choice.mechanism,
            f"m_{choice.mechanism.key}",
            lambda member: session.change_mechanism(choice.task, member),
            leave_out=[
                parameter.name
                for parameter in choice.mechanism.parameters()
                if parameter.name not in _OF_PERCENTILES
            ],
        )


def _choose_what(key: str) -> None:
    session.change(published_task=key, publish_step="data")
    st.session_state.pop("publish_file", None)


def data_choice(choice: Choice) -> bool:
    """Choose public data or an own file; True if a file is asked for."""
    task, state = choice.task, st.session_state
    public = {
        label: (cls, parameters)
        for cls in sources.for_task(task)
        if not cls.is_random
        for label, parameters in cls.presets_for(task)
    }
    mine = "A file of my own"
    is_public = choice.file is not None and not session.uploaded(task)
    wants_file = state.get("publish_file", not is_public)
    current = mine if wants_file or choice.file is None else choice.file.nearest_preset()[0]

    def write(label: str) -> None:
        state.publish_file = label == mine
        session.change(publish_step="data")
        session.show_own(task, label == mine)
        if label != mine:
            cls, parameters = public[label]
            session.change_source(task, cls(**parameters))

    controls.bound(
        st.selectbox,
        "Data",
        current,
        write,
        f"release_source_{task}",
        options=[mine, *public],
        help="Public data to try it, or your own file. "
        "Simulated curves are nobody’s: there is nothing to publish.",
    )
    return bool(current == mine)


def release_cost(choice: Choice) -> ReleaseCost | None:
    """Compute the cost; None, with the reason shown, if data or a group cannot be published."""
    if choice.source is None:
        return None
    with controls.refusals(":material/block:"):
        for part in choice.parts:
            _cost_of(choice, part)
        return _cost_of(choice, choice.source)
    _published_instead(choice, choice.source)
    return None


def _cost_of(choice: Choice, part: Source) -> ReleaseCost:
    return cost_at(choice, part, choice.budget)


def cost_at(choice: Choice, part: Source, budget: Budget) -> ReleaseCost:
    """Compute the cost of a release of a part at this budget."""
    return run.at_once(published.release_cost, part, choice.mechanism, budget)


def _published_instead(choice: Choice, source: Source) -> None:
    """Name the methods with a hardened path for this task and budget."""
    if not choice.has_methods or not choice.mechanism.why_not_published(choice.budget):
        return
    budget = Budget(choice.budget.epsilon, choice.settings.delta_on(source).value)
    labels = [
        label
        for cls in mechanisms.for_task(choice.task)
        for label, parameters in cls.presets_for(choice.task)
        if not cls(**parameters).why_not_published(budget)
    ]
    st.markdown(f":small[Methods that can be published: {', '.join(labels)}.]")


# -- the ticks and the button -----------------------------------------------------------------


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


def _exhausted(choice: Choice) -> list[int]:
    """Count the people of each part who have less left than a release costs."""
    return [
        strips.standing(part).count_without_room(published.charge_of(_cost_of(choice, part)))
        if strips.standing(part).is_known
        else 0
        for part in choice.parts
    ]


def leave_out(choice: Choice) -> None:
    """Offer to publish about the others, where there are some in each part."""
    exhausted, facts = _exhausted(choice), choice.parts[0].facts
    if any(exhausted) and all(
        n < part.sizes.n_curves for n, part in zip(exhausted, choice.parts, strict=True)
    ):
        controls.bound(
            st.checkbox,
            sentences.leave_out(facts, sum(exhausted)),
            choice.leaves_out,
            lambda chosen: st.session_state.update(
                release_without=choice.data_key if chosen else ""
            ),
            "release_without",
            help=sentences.LEFT_OUT_HELP,
        )


def no_room_for(choice: Choice) -> InputError | None:
    """Explain why people of these data have too little left, as soon as ε is chosen; or None.

    People to leave out need no budget, unless nobody else remains.
    """
    for part in choice.parts:
        standing = strips.standing(part)
        if not standing.is_known:  # their total is still to be stated
            continue
        charge = published.charge_of(_cost_of(choice, part))
        if choice.leaves_out and standing.count_without_room(charge) < part.sizes.n_curves:
            continue
        try:
            standing.check_room(charge, part.facts)
        except InputError as problem:
            return problem
    return None


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
                key=f"release_people_{choice.key}{_suffix(k)}",
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
            _forecast(choice, part, _cost_of(choice, part)),
            choice.leaves_out,
            choice.declaration,
        )

    if _release(lambda: (publish(part) for part in choice.parts)):
        st.session_state.release_tries = _tries() + 1


# -- the odds, and the ledger ---------------------------------------------------------------------


def odds(choice: Choice, cost: ReleaseCost | None) -> None:
    """Show what an attacker could find out, by the charged budget, before any confirmation."""
    if choice.source is not None and cost is not None:
        with st.container(border=True):
            st.subheader(
                f"Attacker’s accuracy for one {escape(choice.source.facts.person)}",
                anchor=False,
                help=glossary.explain("Odds"),
            )
            odds_card.face(choice.source.facts, cost.certified_spends)


def ledger_of_choice(choice: Choice, cost: ReleaseCost | None) -> None:
    """Show all releases of these data, and the total with the next one; each group has its own.

    `cost` is None if it is unknown.
    """
    with st.container(border=True):
        st.subheader("Ledger", anchor=False, help=glossary.explain("Ledger"))
        if not choice.parts:
            _ledger_of_all()
        for k, part in enumerate(choice.parts):
            if groups.name(part):
                st.markdown(f"**{escape(groups.name(part))}**")
            _ledger_of(
                part,
                cost is not None and no_room_for(choice) is None and _cost_of(choice, part),
                _suffix(k),
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


def _draw(source: Source, mechanism: Mechanism, budget: Budget, name: str, without: bool) -> None:
    """Draw a release under the charge that its process left behind."""
    if visitors.may_bring_files():
        _release(
            lambda: [
                published.publish(source, mechanism, budget, Ledger(), name, leave_out=without)
            ]
        )


def _show_again(release_id: str) -> None:
    if visitors.may_bring_files():
        session.change(publish_step="release")
        _release(lambda: [published.again(Ledger(), release_id)])


def _release(make: Callable[[], Iterable[Published]]) -> bool:
    """Show releases, one for each group, or keep the reason against them for its place.

    Releases of groups before a refused one are shown: the ledger holds them.
    """
    made: list[Published] = []
    with layout.user_errors():
        try:
            made.extend(make())
            return True
        except InputError as problem:
            st.session_state.release_problem = problem
        finally:
            if made:
                st.session_state.released = tuple(made)
    return False


def _suffix(index: int) -> str:
    """Return the suffix of one of several groups: none for the first, then _b, _c …"""
    return f"_{ascii_lowercase[index]}" if index else ""


# -- the result -------------------------------------------------------------------------------


def result() -> None:
    """Show the last release of this visit, for every published group, with its files."""
    releases: tuple[Published, ...] = st.session_state.get("released", ())
    if len(releases) > 1:
        with st.container(border=True):
            st.header("Released: each group on its own", anchor=False)
            _compared(releases)
            st.download_button(
                "All files of all groups (.zip)",
                release_files.archive(*releases),
                "release.zip",
                "application/zip",
                on_click="ignore",
                type="primary",
                icon=":material/folder_zip:",
                key="release_get_groups",
            )
    for k, release in enumerate(releases):
        _result_of(release, _suffix(k))


def _compared(releases: Sequence[Published]) -> None:
    """Compare the groups from published results alone, or say why that is impossible."""
    try:
        lines = answers_card.comparison([release.card for release in releases]).sentences()
    except InputError as problem:
        st.info(controls.message(problem), icon=":material/info:")
        return
    st.markdown("\n".join(f"* {escape(line)}" for line in lines))


def _result_of(release: Published, suffix: str) -> None:
    with st.container(border=True):
        st.header(f"Released: {escape(release.name)}", anchor=False)
        st.badge(
            f"Released {release.at[:10]} · {tags.budget_chip(release.cost.budget)}",
            icon=":material/verified:",
            color="green",
            help="Published with this much protection and written in the ledger. It may be shared.",
        )
        _picture(release, suffix)
        st.markdown(
            "The noised numbers are kept in the ledger, so these files can be produced "
            "again at no cost. The noise itself cannot be drawn again."
        )
        _take_away(release, suffix)
        _answers(release, suffix)
        layout.folded(
            "The guarantee, and the same settings again",
            f"release_card{suffix}",
            lambda: _guarantee(release, suffix),
        )


def _picture(release: Published, suffix: str) -> None:
    """Show the error, and the curve with its band or the number."""
    st.markdown(f"**{escape(captions.headline(release))}**")
    warnings = sentences.warnings(release.uncertainty)
    layout.warned(map(escape, warnings[:1]))  # the worst; all of them are in the guarantee card
    if not release.axis:
        st.metric(release.value, number(float(next(iter(release.columns.values()))[0]), 4))
        return
    chart = charts.chart(release)
    layout.draw(
        chart, f"released{suffix}", charts.height(release, 340), charts.height(release, 280)
    )
    if (ranges := charts.ranges(release)) is not None:
        layout.draw(ranges, f"released_ranges{suffix}", 170, 150)
    for sentence in (*warnings[1:], *captions.explained(release)):
        st.markdown(f":small[{escape(sentence)}]")
    if release.uncertainty.checks:
        layout.folded(
            "Stated facts and what was measured of them",
            f"release_checks{suffix}",
            lambda: st.table(
                [
                    {name.replace("_", " ").capitalize(): text for name, text in row.items()}
                    for row in release.uncertainty.checks
                ]
            ),
        )
    layout.folded(
        "Numbers behind this picture",
        f"release_numbers{suffix}",
        lambda: layout.in_words("What is published", chart),
    )


def _answers(release: Published, suffix: str) -> None:
    """Show the answers of the released curve, from its card alone."""
    if counts_card.is_of_counts(release.card):
        layout.folded(
            "Ask the released curve",
            f"release_answers{suffix}",
            lambda: survival_cards.table(counts_card.read(release.card)),
        )
    if "answers" not in release.card:
        return
    layout.folded(
        "Ask the released curve",
        f"release_answers{suffix}",
        lambda: answer_cards.table(answers_card.read(release.card)),
    )
    layout.folded(
        "Synthetic people drawn from the release",
        f"release_synthetic{suffix}",
        lambda: answer_cards.synthetic_section(
            answers_card.read(release.card),
            release.card["release"]["name"],
            release.cost.certified,
            1,
            f"release_synthetic{suffix}",
        ),
    )


def _take_away(release: Published, suffix: str) -> None:
    with st.container(horizontal=True):
        st.download_button(
            "All files (.zip)",
            release_files.archive(release),
            "release.zip",
            "application/zip",
            on_click="ignore",
            icon=":material/folder_zip:",
            type="primary",
            key=f"release_get_all{suffix}",
        )
        files = release_files.all_files(release)
        for file, content in files.items():
            label, kind, icon = _FILES[file]
            st.download_button(
                label,
                content,
                file,
                kind,
                on_click="ignore",
                icon=icon,
                key=f"release_get_{file}{suffix}",
            )
        if release.is_curve:
            share.button(f"release{suffix}", partial(of_files, files), "release")


def _guarantee(release: Published, suffix: str) -> None:
    """Show the odds, the guarantee in words, and the command for a new release."""
    with st.columns([5, 7])[0]:
        odds_card.face(release.facts, release.cost.certified_spends, f"odds_released{suffix}")
    st.markdown(
        "\n".join(
            f"* **{heading}:** {escape(text)}"
            for heading, text in release_files.guarantee_rows(release).items()
            if heading != "Odds"
        )
    )
    name_it = "; write the name of your file into it first" if release.facts.is_upload else ""
    st.markdown(
        "A new release with the same settings, new noise, and charged again. *Settings (JSON)* "
        f"above saves them as `again.json`{name_it}:"
    )
    st.code("python -m engine release again.json --yes", language="bash")


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
