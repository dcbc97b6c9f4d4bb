"""A budget for each site on Decide: the editor of their table, and what follows from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

from engine.core.errors import InputError
from engine.core.identity import digest
from engine.core.types import PublicFacts
from engine.language import odds_words, quality, spending
from engine.language.grammar import a, capital, escape
from engine.privacy import accounting
from engine.privacy.amplification import Person
from engine.questions import Question, ask
from engine.sources import Source
from engine.sources import sources as all_sources
from engine.topics.brief import Brief
from engine.topics.decision import words as decision_words
from engine.topics.decision.answer import equal_sites
from engine.topics.sites import answer as sites_topic
from engine.topics.sites import charts, diagram_charts, site_table
from engine.topics.sites import site_table as tables
from engine.topics.sites import words as site_words
from engine.topics.sites.answer import SitesAnswer
from engine.topics.sites.site_table import PRESETS, SiteRow
from pages.shared.cards import guarantees as guarantee_cards
from pages.shared.cards import holdout as holdout_cards
from pages.shared.frame import controls, layout, timed
from pages.shared.frame.page import View
from pages.shared.state import run, session, settings
from pages.shared.state import site_table as table_on_screen

_OWN_TABLE, _OF_SENTENCE = "Your own table", "Sizes as stated"
_WIDTHS = {
    "name": 130,
    "epsilon": 60,
    "people": 105,
    "readings": 105,
    "delta": 75,
    "included": 105,
    "weight": 70,
    "share": 105,
    "guarantee": 165,
}  # pixels
# The columns of the table of Decide, where all sites have one budget, and of their own budgets.
STUDY = ("name", "people", "readings", "included")
BUDGETS = ("name", "epsilon", "delta", "included", *table_on_screen.FIXED)
_ROW, _HEAD, _MAX_ROWS = 35, 38, 12  # pixels of the table, and rows before it scrolls


def rows() -> tuple[SiteRow, ...]:
    """Return the table of the settings, or of curves that come with their sites.

    The latter stays in the session: it may hold names from a file, and never enters an address.
    """
    source = session.source()
    if source.has_free_sites:
        return _stated(session.current(), source)
    default, edited = _usual_rows(source), st.session_state.get("given_sites", ())
    return edited if _sizes(edited) == _sizes(default) else default


def _stated(scenario: settings.Settings, source: Source) -> tuple[SiteRow, ...]:
    """Return the table of the settings, else the sites of the source at one ε."""
    noun = capital(decision_words.site_noun(source.facts)[0])
    return scenario.sites or tuple(
        replace(row, epsilon=scenario.epsilon) for row in equal_sites(source, noun)
    )


def _usual_rows(source: Source) -> tuple[SiteRow, ...]:
    """Return the sites that come with the curves on screen, looked up once."""
    known = st.session_state.get("sites_of")
    if known is None or known[0] is not source:
        known = st.session_state.sites_of = source, tables.rows_of(source, source.site_names)
    return known[1]


def _sizes(rows: Sequence[SiteRow]) -> list[tuple[str, int, int]]:
    return [(row.name, row.n_curves, row.n_observations_per_curve) for row in rows]


def taken_edits() -> InputError | None:
    """Make the table from the edits; without edits it stays as it was.

    The result is the reason against a table that cannot be simulated; the last one that could
    stays.
    """
    try:
        for columns in (STUDY, BUDGETS):
            edits = st.session_state.get(_editor_key(columns), {}).get("edited_rows", {})
            if edits:
                _keep(table_on_screen.edited(rows(), edits))
    except InputError as problem:
        return problem
    return None


def _keep(table: Sequence[SiteRow]) -> None:
    """Take over a table that can be simulated; refuse any other and leave all as it is."""
    free = session.source().has_free_sites
    checked = tables.checked(table, fixed=not free)
    if free:
        session.take_over(sites=checked)
    else:
        st.session_state.given_sites = checked


def _editor_key(columns: Sequence[str]) -> str:
    """Return a key that changes with the curves, and with changes of the table from outside."""
    source = session.source()
    sizes = [] if source.has_free_sites else _sizes(rows())
    part = "study" if columns is STUDY else "budgets"
    count = f"{st.session_state.rev}_{st.session_state.get('tables', 0)}"
    return f"sites_{part}_{count}_{digest((source.facts.name, sizes))}"


# -- another table ---------------------------------------------------------------------------


def preset_choice() -> None:
    """Choose a table to start from."""
    labels = [preset.label for preset in PRESETS.values()]
    key = tables.preset_of(rows())
    is_own = bool(session.current().sites) or not session.source().has_free_sites
    other = _OWN_TABLE if is_own else _OF_SENTENCE
    current = PRESETS[key].label if key else other

    def write(label: str) -> None:
        preset = next((p for p in PRESETS.values() if p.label == label), None)
        if preset is None:
            return
        if preset.source and session.source().key != preset.source:
            session.change_study(settings.TASK, all_sources.get(preset.source)())
        replace_table(preset.rows)

    controls.bound(
        st.selectbox,
        "Start from",
        current,
        write,
        "site_preset",
        options=labels if key else [other, *labels],
        help="Tables to start from; every cell can then be changed.",
    )


def replace_table(table: Sequence[SiteRow]) -> None:
    """Replace the table; the editor starts anew."""
    _keep(table)
    session.change()
    restart()


def restart() -> None:
    """Forget edits of cells: they were of a table that is no longer there."""
    st.session_state.tables = st.session_state.get("tables", 0) + 1


def _replace_by(change: Callable[[], Sequence[SiteRow]]) -> Callable[[], None]:
    """Return a callback that changes the table, or explains why not and leaves it as it is."""

    def changed() -> None:
        try:
            replace_table(change())
        except InputError as problem:
            st.session_state.problem = ("sites", problem)

    return changed


# -- the editor ------------------------------------------------------------------------------


def editor(
    federation: SitesAnswer | None, facts: PublicFacts, columns: Sequence[str] = BUDGETS
) -> None:
    """Draw the sites for editing; computed cells follow. `columns` are the visible ones.

    The number of rows is fixed for the editor, so that an edit neither remounts it nor moves the
    focus; sites come and go by the buttons below it.
    """
    free, current = session.source().has_free_sites, rows()
    st.data_editor(
        table_on_screen.frame(current, federation),
        key=_editor_key(columns),
        num_rows="fixed",
        hide_index=True,
        disabled=[*table_on_screen.FIXED, *(() if free else table_on_screen.SIZES)],
        column_config=_columns(facts),
        placeholder="default",
        column_order=columns,
        height=_HEAD + _ROW * min(len(current), _MAX_ROWS),
        on_change=session.change,
    )  # an edit is no navigation
    controls.show_problem("sites")


def buttons(facts: PublicFacts) -> None:
    """Draw buttons that add and remove sites, and one for those that take no part, if any."""
    site, several = decision_words.site_noun(facts)
    with st.container(horizontal=True):
        st.button(
            f"Add {a(site)}",
            icon=":material/add:",
            key="add_site",
            disabled=len(rows()) >= tables.MAX_SITES,
            on_click=_replace_by(lambda: table_on_screen.one_more(rows())),
        )
        if not all(row.included for row in rows()):
            st.button(
                "Remove unticked",
                icon=":material/remove:",
                key="remove_sites",
                help=f"Removes the {several} that take no part.",
                on_click=_replace_by(lambda: [row for row in rows() if row.included]),
            )


def _columns(facts: PublicFacts) -> dict[str, ColumnConfig]:
    kinds: dict[str, Callable[..., ColumnConfig]] = {
        "name": st.column_config.TextColumn,
        "included": st.column_config.CheckboxColumn,
        **dict.fromkeys(table_on_screen.FIXED, st.column_config.TextColumn),
    }
    shapes: dict[str, dict[str, Any]] = {
        "people": {"format": "%d", "step": 1},
        "readings": {"format": "%d", "step": 1},
        "epsilon": {"format": "%g"},
        "delta": {"format": "%.2g"},
    }
    return {
        column: kinds.get(column, st.column_config.NumberColumn)(
            label, help=words, width=_WIDTHS[column], **shapes.get(column, {})
        )
        for column, (label, words) in table_on_screen.labels(facts).items()
    }


# -- the cards -------------------------------------------------------------------------------------


class SitesTable(View):
    """The table on screen and what was found for it."""

    page, chart_prefix = "sites", "sites_"

    def __init__(self, chosen: settings.Settings | None = None) -> None:
        super().__init__(chosen)
        self.source = session.source() if chosen is None else chosen.source
        self.facts: PublicFacts = self.source.facts
        self.problem: InputError | None = None
        self.answer: SitesAnswer | None = None
        if chosen is None:
            self.problem = taken_edits()
            self.settings = session.current()
        stated = rows() if chosen is None else _stated(chosen, self.source)
        self.rows = site_table.with_delta(stated, self.settings.delta)

    def solve(self) -> SitesAnswer:
        """Simulate the table."""
        self.answer = run.federation(
            self.source, self.settings.mechanism, self.rows, self.settings.seed
        ).for_group(self.settings.group_size)
        return self.answer

    def brief(self) -> Brief:
        """Return the facts of all sites together, whose odds hold at each of them."""
        if self.is_fixed and not self.is_on_screen:
            raise InputError(
                "These curves come with their sites, which no link holds.",
                hint="Choose simulated curves.",
            )
        answer = self.answer or self.solve()
        together = answer.together
        return Brief(
            facts=answer.facts,
            people=sum(member.row.n_curves for member in answer.members),
            protects=site_words.unit_tag(answer.facts)[0],
            method=self.settings.mechanism.nearest_preset()[0],
            budget=accounting.requested(together.spends),
            budgets=site_words.budgets(self.rows),
            spends=together.spends,
            error=together.error,
            within=together.accuracy.within,
            error_unit=answer.facts.value_unit,
        )

    @property
    def is_own(self) -> bool:
        return self.facts.is_upload

    @property
    def is_fixed(self) -> bool:
        """True if the sites and their sizes come with the curves."""
        return not self.source.has_free_sites

    def question(self) -> Question:
        """Ask for the whole table."""
        return ask(
            sites_topic.federation,
            self.source,
            self.settings.mechanism,
            self.rows,
            self.settings.seed,
        ).about(Person(self.settings.group_size))


def solved() -> SitesTable:
    """Simulate the table; show what is wrong under it, and keep it for correction."""
    view = SitesTable()
    try:
        if len(view.rows) < 2 and view.is_fixed:
            raise InputError(
                "These curves are at one site, so there is nothing to compare.",
                hint="Choose simulated curves, or a file with a column for the site.",
            )
        view.solve()
    except InputError as problem:  # such as a method that refuses δ = 0
        view.problem = view.problem or problem
    return view


def table(view: SitesTable) -> None:
    """Draw the sites for editing, and what is wrong with the table."""
    editor(view.answer, view.facts)
    controls.show_refusal(view.problem)


def answer(view: SitesTable) -> None:
    """Show the errors of all ways, and the effect of the last change on the first of them."""
    assert view.answer is not None
    layout.prose(site_words.compared(view.answer))
    if view.answer.baseline is None and view.source.is_random:
        timed.afterwards(
            "Without privacy: being simulated.",
            lambda: run.federation(
                view.source, view.settings.mechanism, view.rows, view.settings.seed, is_whole=True
            ),
        )
    state, here = (
        st.session_state,
        digest((view.rows, view.settings.mechanism, view.settings.seed, view.facts.name)),
    )
    earlier = state.setdefault("sites_seen", [])
    if not earlier or earlier[-1][0] != here:
        state.sites_seen = earlier = [*earlier[-1:], (here, view.answer.together.error)]
    if len(earlier) == 2:
        st.markdown(
            site_words.change(
                earlier[0][1], earlier[1][1], view.facts.value_unit, "Since your change"
            )
        )


def warnings(view: SitesTable) -> None:
    """Warn of few or unsuitable curves, and of promises that the constants do not keep."""
    assert view.answer is not None
    layout.caution(
        (
            view.settings.mechanism.unsuited_because(view.facts),
            quality.few_in_a_round(view.answer.together.fewest_in_a_round),
        )
    )
    if view.answer.together.is_refused:
        st.error(site_words.refused(view.facts), icon=":material/block:")
    spends = view.answer.together.spends
    if not accounting.keeps_promise(spends):
        budget, worst = max(
            zip(view.answer.together.budgets, view.answer.members, strict=True),
            key=lambda pair: pair[1].guarantee.epsilon / pair[0].epsilon,
        )
        st.error(spending.broken_promise(budget, worst.guarantee.epsilon), icon=":material/error:")


# -- pictures and cards -------------------------------------------------------------------------


def pictures(view: SitesTable) -> None:
    """Draw all ways side by side, on the same axes."""
    assert view.answer is not None
    with st.container(horizontal=True, horizontal_alignment="right"):
        lines = controls.look(
            "Show",
            list(site_words.LINES),
            "site_lines",
            "difference",
            format_func=site_words.LINES.get,
            label_visibility="collapsed",
        )
    mechanism = view.settings.mechanism
    panels = charts.panels(view.answer, mechanism.key, mechanism.family, lines == "difference")
    for k, (name, chart) in enumerate(panels):
        st.markdown(f"**{escape(name)}**")
        view.draw(name, chart, f"way_{k}", 220, 190)
    st.markdown(f":small[{site_words.lines(view.answer, lines == 'difference')}]")


def shares(view: SitesTable) -> None:
    """Show each site's share of the error, beside its weight."""
    assert view.answer is not None
    st.header("Where the error comes from", anchor=False)
    st.markdown(site_words.largest_share(view.answer))
    if not view.answer.together.is_refused and len(view.answer.members) > 1:
        height = charts.height(len(view.answer.members), around=70)
        view.draw(
            "Shares of the squared error",
            charts.shares(view.answer, view.settings.mechanism.family),
            "shares",
            height,
        )
        st.markdown(f":small[{site_words.SHARES_KEY}]")


def trust(view: SitesTable) -> None:
    """Show who must be trusted, and what an attacker could find out."""
    assert view.answer is not None
    with st.container(border=True):
        st.subheader("Who must be trusted", anchor=False)
        trusted = controls.look(
            "Who adds the noise",
            list(site_words.WAYS),
            "trust",
            "sites",
            format_func=site_words.WAYS.get,
            label_visibility="collapsed",
        )
        rows = [row for row in view.rows if row.included]
        view.draw(
            "Who sees what",
            diagram_charts.federation(view.rows, trusted, view.answer.messages_each),
            "diagram",
            charts.height(min(len(rows), diagram_charts.SHOWN), around=70),
        )
        st.markdown(site_words.trust(trusted, view.facts))
        st.markdown(site_words.odds(view.answer, trusted))
        st.markdown(site_words.uncovered(view.facts))


def protected(view: SitesTable) -> None:
    """Show from whom the people are protected, for the way chosen above."""
    assert view.answer is not None
    trusted = session.looked_at("trust", list(site_words.WAYS))
    guarantee_cards.consequences(view.answer.together.spends, view.facts, "sites", trusted)


def guarantees(view: SitesTable) -> None:
    """Show what the people of each site get, and what the site could do alone."""
    assert view.answer is not None
    st.header(f"What each site’s {view.facts.people} get", anchor=False)
    _numbers(view, site_words.table(view.answer))
    layout.note(
        odds_words.two_kinds(
            {member.row.name: member.guarantee.delta for member in view.answer.members}
        )
    )
    st.markdown(f":small[{site_words.EACH_ITS_OWN}]")


# -- what else is known of it -------------------------------------------------------------------


def published_study(view: SitesTable) -> None:
    """Show the protocol of the study on the women who take part, for its twin only."""
    if view.answer is None or not view.source.has_free_sites:
        return
    rows = [row for row in view.rows if row.included]
    source = view.source.with_sites(
        [row.n_curves for row in rows], [row.n_observations_per_curve for row in rows]
    )
    holdout_cards.fold(source, view.answer.pooled.budgets[0], view.answer.together.is_refused)


def what_if(view: SitesTable) -> None:
    """Simulate, on request, the error without each site, and with half its ε."""
    bar, total = st.empty(), sum(row.included for row in view.rows)

    cases = []
    for case in sites_topic.what_if(
        view.source, view.settings.mechanism, view.rows, view.settings.seed, run.of_sites
    ):
        cases.append(case)
        bar.progress(len(cases) / total, text=f"Simulating: {len(cases)} of {total} sites")
    bar.empty()
    st.markdown(site_words.costliest(cases, view.facts))
    chart = charts.what_if(cases, view.facts.value_unit)
    view.draw(
        "If a site leaves, or tightens", chart, "what_if", charts.height(len(cases), around=100)
    )


def transcript(view: SitesTable) -> None:
    """List every message of one release, as the centre sees it."""
    messages = sites_topic.transcript_of(
        view.source, view.settings.mechanism, view.rows, view.settings.seed
    )
    st.markdown(site_words.seen(messages))
    if messages:
        _numbers(view, site_words.messages_table(messages), height=320)


def _numbers(
    view: SitesTable, columns: Mapping[str, Sequence[Any]], height: int | Literal["auto"] = "auto"
) -> None:
    """Show a table, without a download button for the visitor's own curves."""
    layout.table(columns, view.is_own, height)
