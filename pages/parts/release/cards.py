"""The parts of the page that publishes: what, at which cost, the ticks, the ledger, the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from engine import questions
from engine.answers import card as answers_card
from engine.core.errors import InputError
from engine.core.identity import digest
from engine.core.tasks import PERCENTILE_CURVES, PUBLISHED, TASKS
from engine.core.types import Budget
from engine.exports import code_for
from engine.language import glossary, numbers, odds_words, tags
from engine.language.grammar import capital, escape
from engine.language.numbers import number, power_of_two, small
from engine.mechanisms import Mechanism, mechanisms
from engine.noise.hardened import HardenedNoise
from engine.release import captions, published, sentences
from engine.release import files as release_files
from engine.release.books import Odometer
from engine.release.certified import Quote
from engine.release.guarantee_card import unit_of
from engine.release.ledger import LONGEST_NAME, USUAL_TOTAL, Known, Ledger, check_room
from engine.release.published import Published
from engine.sources import Source, sources
from engine.topics.release import charts
from engine.topics.release.preview import release_preview
from pages.shared.cards import answers as answer_cards
from pages.shared.cards import guarantees as guarantee_cards
from pages.shared.cards import odds as odds_card
from pages.shared.cards import synthetic
from pages.shared.frame import code_fold, controls, layout, odometer, strips
from pages.shared.frame.page import View
from pages.shared.server import visitors
from pages.shared.state import run, session
from pages.shared.uploads import panel

_FILES = {"release.csv": ("Numbers (CSV)", "text/csv", ":material/table:"),
          "release.svg": ("Figure (SVG)", "image/svg+xml", ":material/image:"),
          "release.html": ("Report (HTML)", "text/html", ":material/article:"),
          "guarantee.json": ("Guarantee card (JSON)", "application/json", ":material/verified:"),
          "counts.csv": ("Noised counts (CSV)", "text/csv", ":material/table:"),
          "at_risk.csv": ("Numbers at risk (CSV)", "text/csv", ":material/groups:"),
          "time_in_range.csv": ("Time in range (CSV)", "text/csv", ":material/stacked_bar_chart:"),
          "again.json": ("Settings (JSON)", "application/json", ":material/replay:")}

_OF_PERCENTILES = ("percentiles", "limits", "point_mass")  # what a release of them is about


class Choice(View):
    """What is to be published; `source` is None until real data are chosen."""

    page, fold_prefix = "publish", "release_"

    def __init__(self) -> None:
        super().__init__()
        self.what = self.now.publish
        self.task = session.data_task(self.what)

    @property
    def source(self) -> Source | None:
        on_screen = session.source(self.task)
        return None if on_screen.is_random else on_screen

    @property
    def has_methods(self) -> bool:
        """Whether there are several methods to choose from."""
        return bool(TASKS[self.what].letters)

    @property
    def mechanism(self) -> Mechanism:
        return self.now.mechanism_of(self.what)

    @property
    def budget(self) -> Budget:
        source = self.source
        delta = 0.0 if source is None else self.now.delta_on(source, self.mechanism).value
        return Budget(self.now.epsilon, delta)

    @property
    def key(self) -> str:
        """Names all that would be published: with anything else, ticks are asked for again."""
        return digest((self.what, self.source, self.mechanism, self.budget))

    def numbers(self) -> None:
        """Those of a release stand beside it."""

    def formula(self) -> None:
        guarantee_cards.formula(self.mechanism, {})

    def question(self) -> questions.Question:
        """What a release would cost."""
        source = self.source
        assert source is not None
        return questions.ask(published.quote, source, self.mechanism, self.budget).about(
            odds_card.person(source.facts, source.sizes))

    def code(self) -> None:
        """Code of the real path; it holds no data and publishes only what is given a name."""
        code_fold.show(self.page, self.question, self.task,
                       "It shows what a release would cost. With `--name NAME --yes` it "
                       "publishes: with new noise, and it is charged.", write=code_for.release)


# -- what -------------------------------------------------------------------------------------


def strip(choice: Choice, quoted: Quote | None) -> None:
    """What is protected, and what this release would buy, where it can be made."""
    if choice.source is None:
        return
    unit = unit_of(choice.source, choice.mechanism)
    odds = error = ""
    if quoted is not None:
        odds = odds_words.odds_short(odds_card.of(quoted.charged))
        error = error_in_words(choice, quoted)
    strips.fixed(choice.source.facts, tags.budget_chip(choice.budget), "release_strip",
                 odds, error, TASKS[choice.task].unit, choice.budget.epsilon,
                  stated=session.delta(choice.source, choice.task), is_forecast=True,
                 protected=(capital(unit), "What is protected: exchanging all of it changes what "
                            "is published only a little."))
    odometer.line(choice.source)


def error_in_words(choice: Choice, quoted: Quote) -> str:
    """The error of such releases of the twin, as the preview says it; "" of a single number.

    Parameters
    ----------
    choice : Choice
        What is to be published.
    quoted : Quote
        What it would cost.
    """
    source = choice.source
    if not choice.has_methods or source is None:
        return ""
    try:
        preview = run.at_once(release_preview, source.facts, source.sizes, choice.mechanism,
                              quoted.inner_budgets[0], session.current().seed)
    except InputError:  # too large to simulate: the preview says so
        return ""
    unit = source.facts.value_unit if TASKS[choice.what].has_value_unit else ""
    return numbers.error(preview.error, unit, preview.within)


def what(choice: Choice) -> None:
    """Which summary is to be published."""
    controls.bound(st.selectbox, "What to publish", choice.what, _choose_what, "release_what",
                   options=PUBLISHED, format_func=lambda key: TASKS[key].result)


def budget_and_method(choice: Choice) -> None:
    """At which ε, and by which method."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        current = session.current()
        controls.bound(st.number_input, "Privacy budget ε (smaller = more private)",
                       current.epsilon, session.set_epsilon, "release_epsilon", format="%g",
                       step=None, help="Smaller ε: everybody is protected more, and the noise is "
                       "larger.")
        if choice.has_methods:
            controls.mechanism_choice(choice.task)
    if choice.what == PERCENTILE_CURVES.key:
        controls.parameter_form(
            choice.mechanism, f"m_{choice.mechanism.key}",
            lambda member: session.change_mechanism(choice.task, member),
            leave_out=[parameter.name for parameter in choice.mechanism.parameters()
                       if parameter.name not in _OF_PERCENTILES])


def _choose_what(key: str) -> None:
    session.change(publish=key, step="data")
    st.session_state.pop("publish_file", None)


def data_choice(choice: Choice) -> bool:
    """Public data, or a file of one's own; whether a file is asked for.

    Parameters
    ----------
    choice : Choice
        What is to be published.
    """
    task, state = choice.task, st.session_state
    public = {label: (cls, parameters) for cls in sources.for_task(task) if not cls.is_random
              for label, parameters in cls.presets_for(task)}
    mine = "A file of my own"
    is_public = choice.source is not None and not session.uploaded(task)
    wants_file = state.get("publish_file", not is_public)
    current = mine if wants_file or choice.source is None else choice.source.nearest_preset()[0]

    def write(label: str) -> None:
        state.publish_file = label == mine
        session.change(step="data")
        session.show_own(task, label == mine)
        if label != mine:
            cls, parameters = public[label]
            session.change_source(task, cls(**parameters))

    controls.bound(st.selectbox, "Data", current, write, f"release_source_{task}",
                   options=[mine, *public], help="Public data to try it, or your own file. "
                   "Simulated curves are nobody’s: there is nothing to publish.")
    return bool(current == mine)


def quote(choice: Choice) -> Quote | None:
    """What it would cost; None with the reason where it cannot be published."""
    if choice.source is None:
        return None
    try:
        return run.at_once(published.quote, choice.source, choice.mechanism, choice.budget)
    except InputError as problem:
        st.error(controls.message(problem), icon=":material/block:")
        _published_instead(choice, choice.source)
        return None


def _published_instead(choice: Choice, source: Source) -> None:
    """Which methods have a hardened path for this task and budget."""
    if not choice.has_methods or not choice.mechanism.why_not_published(choice.budget):
        return
    budget = Budget(choice.budget.epsilon, choice.now.delta_on(source).value)
    labels = [label for cls in mechanisms.for_task(choice.task)
              for label, parameters in cls.presets_for(choice.task)
              if not cls(**parameters).why_not_published(budget)]
    st.markdown(f":small[Methods that can be published: {', '.join(labels)}.]")


# -- the ticks and the button -----------------------------------------------------------------


def before(choice: Choice, quoted: Quote | None) -> None:
    """Three statements to confirm, a name to type, and the button."""
    with st.container(border=True):
        is_next = "released" in st.session_state
        st.subheader("Another release" if is_next else "Confirm and release", anchor=False)
        if choice.source is None or quoted is None:
            st.markdown("Choose real data and a method that can be published.")
            return
        facts = choice.source.facts
        st.markdown(sentences.certified(quoted))
        panel.remarks(choice.source)
        refused, no_room = st.session_state.pop("release_problem", None), _no_room(choice, quoted)
        if no_room and is_next and not refused:
            st.markdown(f":small[Not with this ε: {controls.message(no_room)}]")
        elif refused or no_room:
            st.error(controls.message(no_room or refused), icon=":material/block:")
        if no_room:
            return
        if not visitors.may_bring_files():
            st.markdown(sentences.DEMONSTRATION)
            return
        _never_drawn(choice, choice.source)
        statements = sentences.confirmations(facts, quoted, choice.source.is_of_rows)
        st.markdown("\n".join(f"* {statement}" for statement in statements))
        ticked = st.checkbox(sentences.CONFIRMED, key=_tick(choice))
        name = st.text_input("Name of the release", max_chars=LONGEST_NAME,
                             key=f"release_name_{_tries()}", placeholder="e.g. growth-2026")
        known, same = _same_people(choice)
        total = None if same else _total(choice)
        st.button("Publish and write to the ledger", icon=":material/publish:", type="primary",
                  disabled=not (ticked and name.strip()) or (known and same is None),
                  key="release_publish", on_click=_publish,
                  args=(choice, choice.source, choice.mechanism, choice.budget, name, total, same))


def _no_room(choice: Choice, quoted: Quote) -> InputError | None:
    """Why the total of these data would be overrun; said before anybody ticks anything."""
    spent = _odometer(choice)
    if choice.source is None or spent is None:
        return None
    try:
        check_room(spent, quoted.certified, choice.source.facts)
    except InputError as problem:
        return problem
    return None


def _tick(choice: Choice) -> str:
    """The key of the tick: with anything else to be published it is asked for again."""
    return f"release_tick_{choice.key}"


def _tries() -> int:
    """How many releases this visit has made: a name is asked for again after each."""
    return st.session_state.get("release_tries", 0)


def _same_people(choice: Choice) -> tuple[bool, bool | None]:
    """Whether new data seem to be about people who are known, and what their holder says then."""
    known_people = _known(choice)
    if choice.source is None or known_people is None:
        return False, None
    facts = choice.source.facts
    st.warning(sentences.known_people(known_people, facts), icon=":material/group:")
    if known_people.is_certain:
        return True, True
    options = sentences.same_or_others(facts)
    answer: bool | None = st.radio("Are they the same?", [True, False], index=None,
                                   format_func=options.get, key=f"release_people_{choice.key}")
    return True, answer


def _total(choice: Choice) -> Budget | None:
    """The total of data that were never published, as their holder sets it; else it is fixed."""
    if choice.source is None or _odometer(choice) is not None:
        return None
    usual = published.usual_total(choice.source.sizes.n_curves)
    facts = choice.source.facts
    entered = st.number_input(f"Total budget for these {escape(facts.people)} (ε)", min_value=0.05,
                              max_value=100.0, value=USUAL_TOTAL, step=None, format="%g",
                              key=f"release_total_{_tries()}", help=sentences.total_help(facts))
    return Budget(entered, usual.delta)


def _publish(choice: Choice, source: Source, mechanism: Mechanism, budget: Budget, name: str,
             total: Budget | None, same_people: bool | None) -> None:
    """Publish once: a second click finds no tick, and the same release is charged once."""
    if not st.session_state.get(_tick(choice)) or not visitors.may_bring_files():
        return
    if not _release(lambda: published.publish(source, mechanism, budget, Ledger(), name, total,
                                              same_people)):
        return
    st.session_state.release_tries = _tries() + 1
    st.session_state[_tick(choice)] = False


# -- the odds, and the ledger ---------------------------------------------------------------------


def _odometer(choice: Choice) -> Odometer | None:
    return None if choice.source is None else odometer.read(choice.source)


def _known(choice: Choice) -> Known | None:
    return None if choice.source is None else odometer.known(choice.source)


def odds(choice: Choice, quoted: Quote | None) -> None:
    """What an attacker could find out, by what is charged, before anything is confirmed."""
    if choice.source is not None and quoted is not None:
        with st.container(border=True):
            st.subheader(f"Attacker’s accuracy for one {escape(choice.source.facts.person)}",
                         anchor=False, help=glossary.explain("Odds"))
            odds_card.face(choice.source.facts, quoted.charged)


def book(choice: Choice, quoted: Quote | None) -> None:
    """All releases of these data, and the total with the next one."""
    with st.container(border=True):
        st.subheader("Ledger", anchor=False, help=glossary.explain("Ledger"))
        spent = _odometer(choice)
        if choice.source is None:
            st.markdown("Simulated data have no ledger. Of public data or a file of your own, all "
                        "releases and what is left of the total budget stand here.")
            return
        if spent is None:
            known = _known(choice)
            st.markdown(sentences.left(choice.source.facts, None) if known is None else
                        sentences.known_people(known, choice.source.facts))
            return
        st.dataframe(_rows(spent), hide_index=True)
        st.markdown(sentences.after(choice.source.facts, spent))
        if visitors.may_bring_files():
            _once_more(spent)
        if quoted is not None and _no_room(choice, quoted) is None:
            st.markdown(f":small[{sentences.with_next(spent, quoted)}]")


def _rows(spent: Odometer) -> list[dict[str, Any]]:
    return [{"When": entry.at[:10], "Name": entry.name, "ε": entry.budget.epsilon,
             "δ": small(entry.budget.delta), "What": f"{entry.what} ({sentences.became(entry)})"
             if sentences.became(entry) else entry.what, "Id": entry.release_id}
            for entry in reversed(spent.entries)]


def _never_drawn(choice: Choice, source: Source) -> None:
    """What was charged and never drawn can be drawn now, under its charge."""
    spent = _odometer(choice)
    for entry in () if spent is None else spent.entries:
        if entry.state != "charged":
            continue
        st.warning(sentences.never_drawn(entry), icon=":material/pending:")
        if published.asked_before(source, choice.mechanism, choice.budget, Ledger(), entry.name):
            st.button(f"Draw “{escape(entry.name)}” now", key=f"release_draw_{entry.release_id}",
                      icon=":material/replay:", on_click=_draw, args=(
                          source, choice.mechanism, choice.budget, entry.name))


def _once_more(book: Odometer) -> None:
    """What was drawn can be shown again, at no charge."""
    drawn = {entry.release_id: entry.name for entry in reversed(book.entries)
             if entry.state == "drawn"}
    if not drawn:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        earlier = st.selectbox("An earlier release", list(drawn), key="release_again_which",
                               format_func=lambda release_id: drawn.get(release_id, ""))
        st.button("Show it again", key="release_again", icon=":material/replay:",
                  help="It is made from the ledger as it was, with all of its files, at no charge.",
                  on_click=_show_again, args=(earlier,))


def _draw(source: Source, mechanism: Mechanism, budget: Budget, name: str) -> None:
    """Draw a release under the charge that its process left behind."""
    if visitors.may_bring_files():
        _release(lambda: published.publish(source, mechanism, budget, Ledger(), name))


def _show_again(release_id: str) -> None:
    if visitors.may_bring_files():
        session.change(step="release")
        _release(lambda: published.again(Ledger(), release_id))


def _release(make: Callable[[], Published]) -> bool:
    """Show a release, or keep why there is none for the place where it is said."""
    with layout.user_errors():
        try:
            st.session_state.released = make()
            return True
        except InputError as problem:
            st.session_state.release_problem = problem
    return False


# -- the result -------------------------------------------------------------------------------


def result() -> None:
    """The last release of this visit, with its files."""
    release: Published | None = st.session_state.get("released")
    if release is None:
        return
    with st.container(border=True):
        st.header(f"Released: {escape(release.name)}", anchor=False)
        st.badge(f"Released {release.at[:10]}", icon=":material/verified:", color="green",
                 help="Published with this much protection and written in the ledger. It may be "
                 "shared.")
        _picture(release)
        st.markdown("The ledger keeps its noised numbers, so it can be made again at no charge; "
                    "nobody can draw it anew.")
        _take_away(release)
        _answers(release)
        with layout.fold("The guarantee, and the same settings again", "release_card") as is_open:
            if is_open:
                _guarantee(release)


def _picture(release: Published) -> None:
    """How far off it may be, and the curve with its band or the number."""
    st.markdown(f"**{escape(captions.headline(release))}**")
    layout.warned(map(escape, sentences.warnings(release.uncertainty)))
    if not release.axis:
        st.metric(release.value, number(float(next(iter(release.columns.values()))[0]), 4))
        return
    chart = charts.chart(release, layout.theme())
    layout.draw(chart, "released", charts.height(release, 340),
                charts.height(release, 280))
    if (ranges := charts.ranges(release, layout.theme())) is not None:
        layout.draw(ranges, "released_ranges", 170, 150)
    for sentence in sentences.band_explained(release.uncertainty, release.facts):
        st.markdown(f":small[{escape(sentence)}]")
    with layout.fold("Numbers behind this picture", "release_numbers") as is_open:
        if is_open:
            layout.in_words("What is published", chart)


def _answers(release: Published) -> None:
    """What the released curve answers, from its card alone."""
    if "answers" not in release.card:
        return
    with layout.fold("Questions for the released curve", "release_answers") as is_open:
        if is_open:
            answer_cards.table(answers_card.read(release.card))
    with layout.fold("Synthetic people drawn from the release", "release_synthetic") as is_open:
        if is_open:
            synthetic.section(answers_card.read(release.card), release.card["release"]["name"],
                              release.quote.certified, 1, "release_synthetic")


def _take_away(release: Published) -> None:
    with st.container(horizontal=True):
        st.download_button("All files (.zip)", release_files.archive(release), "release.zip",
                           "application/zip", on_click="ignore", type="primary",
                           icon=":material/folder_zip:", key="release_get_all")
        for file, content in release_files.all_files(release).items():
            label, kind, icon = _FILES[file]
            st.download_button(label, content, file, kind, on_click="ignore", icon=icon,
                               key=f"release_get_{file}")


def _guarantee(release: Published) -> None:
    """The odds, the guarantee in words, and the command for a new release."""
    with st.columns([5, 7])[0]:
        odds_card.face(release.facts, release.quote.charged, "odds_released")
    st.markdown("\n".join(f"* **{heading}:** {escape(text)}" for heading, text in
                          release_files.guarantee_rows(release).items() if heading != "Odds"))
    st.markdown("A new release with the same settings, new noise, and charged again:")
    st.code("python -m engine release - --yes <<'END'\n"
            + release_files.request(release).decode() + "\nEND", language="bash")


def accounting(quoted: Quote) -> None:
    """Every message, its noise and its charge."""
    st.dataframe([_message(step, message) for (_, step), message in quoted.messages.items()],
                 hide_index=True)
    st.markdown(sentences.why(quoted))


def _message(step: str, message: HardenedNoise) -> dict[str, Any]:
    sign = "ε" if message.is_pure else "ρ"
    return {"What leaves": step, "Numbers": message.size,
            "Noise": message.name,
            "Moved at most by (in units of the noise)": float(f"{message.sensitivity:.4g}"),
            "Lattice": power_of_two(-message.bits), "Charge": f"{sign} = {message.cost:.6g}"}
