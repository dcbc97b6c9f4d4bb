"""The parts of Sites: the table, ways to use the curves, shares, trust, and what was sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import streamlit as st

from engine.core.errors import InputError
from engine.core.identity import digest
from engine.core.types import PublicFacts
from engine.language import odds_words, quality, spending
from engine.language.grammar import escape
from engine.privacy import accounting
from engine.privacy.amplification import Person
from engine.questions import Question, ask
from engine.topics.sites import answer as sites_topic
from engine.topics.sites import charts, site_table
from engine.topics.sites import words as site_words
from engine.topics.sites.answer import SitesAnswer
from pages.parts.sites import editor
from pages.shared.cards import guarantees as guarantee_cards
from pages.shared.cards import holdout as holdout_cards
from pages.shared.frame import controls, layout, timed
from pages.shared.frame.page import View
from pages.shared.state import run, session


class SitesTable(View):
    """The table on screen and what was found for it."""

    page, chart_prefix = "sites", "sites_"

    def __init__(self) -> None:
        super().__init__()
        self.source = session.source()
        self.facts: PublicFacts = self.source.facts
        self.problem: InputError | None = None
        self.answer: SitesAnswer | None = None
        try:
            editor.take_edits()
        except InputError as problem:  # the last table that can be stays
            self.problem = problem
        self.settings = session.current()
        self.rows = site_table.with_delta(editor.rows(), self.settings.delta)

    @property
    def is_own(self) -> bool:
        return self.facts.is_upload

    @property
    def is_fixed(self) -> bool:
        """Whether the sites and their sizes come with the curves."""
        return not self.source.has_free_sites

    def question(self) -> Question:
        """The whole table."""
        return ask(sites_topic.federation, self.source, self.settings.mechanism, self.rows,
                   self.settings.seed
                   ).about(Person(self.settings.group))


def solved() -> SitesTable:
    """The table, simulated; what cannot be is said under it, and it stays to be put right."""
    view = SitesTable()
    try:
        if len(view.rows) < 2 and view.is_fixed:
            raise InputError("These curves are at one site, so there is nothing to compare.",
                             hint="Choose simulated curves, or a file with a column for the site.")
        view.answer = run.federation(view.source, view.settings.mechanism, view.rows,
                                     view.settings.seed
                                    ).for_group(view.settings.group)
    except InputError as problem:  # such as a method that refuses δ = 0
        view.problem = view.problem or problem
    return view


def table(view: SitesTable) -> None:
    """The sites, to be edited, and what is wrong with the table."""
    editor.editor(view.answer, view.facts)
    if view.problem is not None:
        st.error(controls.message(view.problem), icon=":material/error:")


def answer(view: SitesTable) -> None:
    """The errors of all ways, and what the last change did to the first of them."""
    assert view.answer is not None
    layout.prose(site_words.compared(view.answer))
    if view.answer.baseline is None and view.source.is_random:
        timed.afterwards("Without privacy: being simulated.", lambda: run.federation(
            view.source, view.settings.mechanism, view.rows, view.settings.seed, is_whole=True))
    state, here = st.session_state, digest((view.rows, view.settings.mechanism, view.settings.seed,
                                            view.facts.name))
    earlier = state.setdefault("sites_seen", [])
    if not earlier or earlier[-1][0] != here:
        state.sites_seen = earlier = [*earlier[-1:], (here, view.answer.together.error)]
    if len(earlier) == 2:
        st.markdown(site_words.change(earlier[0][1], earlier[1][1], view.facts.value_unit,
                                      "Since your change"))


def warnings(view: SitesTable) -> None:
    """What does not suit these curves, or so few, and promises that the constants do not keep."""
    assert view.answer is not None
    for words in (view.settings.mechanism.caution(view.facts),
                  quality.few_in_a_round(view.answer.together.fewest_in_a_round)):
        if words:
            st.warning(words, icon=":material/warning:")
    if view.answer.together.is_refused:
        st.error(site_words.refused(view.facts), icon=":material/block:")
    spends = view.answer.together.spends
    if not accounting.keeps_promise(spends):
        budget, worst = max(zip(view.answer.together.budgets, view.answer.members, strict=True),
                           key=lambda pair: pair[1].guarantee.epsilon / pair[0].epsilon)
        st.error(spending.broken_promise(budget, worst.guarantee.epsilon),
                 icon=":material/error:")


# -- pictures and cards -------------------------------------------------------------------------


def pictures(view: SitesTable) -> None:
    """All ways side by side, on the same axes."""
    assert view.answer is not None
    with st.container(horizontal=True, horizontal_alignment="right"):
        lines = controls.look("Show", list(site_words.LINES), "site_lines", "difference",
                              format_func=site_words.LINES.get, label_visibility="collapsed")
    mechanism = view.settings.mechanism
    panels = charts.panels(view.answer, mechanism.key, mechanism.family, lines == "difference")
    for k, (name, chart) in enumerate(panels):
        st.markdown(f"**{escape(name)}**")
        view.draw(name, chart, f"way_{k}", 220, 190)
    st.markdown(f":small[{site_words.lines(view.answer, lines == 'difference')}]")


def shares(view: SitesTable) -> None:
    """Who adds how much of the error, beside each site's weight."""
    assert view.answer is not None
    st.header("Where the error comes from", anchor=False)
    st.markdown(site_words.largest_share(view.answer))
    if not view.answer.together.is_refused and len(view.answer.members) > 1:
        height = charts.height(len(view.answer.members), around=70)
        view.draw("Shares of the squared error",
                  charts.shares(view.answer, view.settings.mechanism.family), "shares", height)
        st.markdown(f":small[{site_words.SHARES_KEY}]")


def trust(view: SitesTable) -> None:
    """Who must be trusted, and what an attacker could find out."""
    assert view.answer is not None
    with st.container(border=True):
        st.subheader("Who must be trusted", anchor=False)
        trusted = controls.look("Who adds the noise", list(site_words.WAYS), "trust", "sites",
                                format_func=site_words.WAYS.get, label_visibility="collapsed")
        st.markdown(site_words.trust(trusted, view.facts))
        st.markdown(site_words.odds(view.answer, trusted))
        st.markdown(site_words.uncovered(view.facts))


def protected(view: SitesTable) -> None:
    """From whom the people are protected, for the way chosen above."""
    assert view.answer is not None
    trusted = session.looked_at("trust", list(site_words.WAYS))
    guarantee_cards.consequences(view.answer.together.spends, view.facts, "sites", trusted)


def guarantees(view: SitesTable) -> None:
    """What the people of each site get, and what the site could do alone."""
    assert view.answer is not None
    st.header(f"What each site’s {view.facts.people} get", anchor=False)
    _numbers(view, site_words.table(view.answer))
    notice = odds_words.two_kinds({member.row.name: member.guarantee.delta
                                for member in view.answer.members})
    if notice:
        st.info(notice, icon=":material/info:")
    st.markdown(f":small[{site_words.EACH_ITS_OWN}]")


# -- what else is known of it -------------------------------------------------------------------


def published_study(view: SitesTable) -> None:
    """The protocol of the study on the women who take part, where its twin is shown."""
    if view.answer is None or not view.source.has_free_sites:
        return
    rows = [row for row in view.rows if row.included]
    source = view.source.with_sites([row.n_curves for row in rows],
                                    [row.n_observations_per_curve for row in rows])
    holdout_cards.fold(source, view.answer.pooled.budgets[0], view.answer.together.is_refused)


def what_if(view: SitesTable) -> None:
    """The error without each site, and with half its ε; simulated when asked for."""
    bar, total = st.empty(), sum(row.included for row in view.rows)

    cases = []
    for case in sites_topic.what_if(view.source, view.settings.mechanism, view.rows,
                                    view.settings.seed, run.of_sites):
        cases.append(case)
        bar.progress(len(cases) / total, text=f"Simulating: {len(cases)} of {total} sites")
    bar.empty()
    st.markdown(site_words.costliest(cases, view.facts))
    chart = charts.what_if(cases, view.facts.value_unit)
    view.draw("If a site leaves, or tightens", chart, "what_if",
           charts.height(len(cases), around=100))


def transcript(view: SitesTable) -> None:
    """Every message of one release, as the centre sees it."""
    messages = sites_topic.transcript_of(view.source, view.settings.mechanism, view.rows,
                                         view.settings.seed)
    st.markdown(site_words.seen(messages))
    if messages:
        _numbers(view, site_words.messages_table(messages), height=320)


def _numbers(view: SitesTable, columns: Mapping[str, Sequence[Any]],
             height: int | Literal["auto"] = "auto") -> None:
    """A table; of the visitor's own curves one without a button to download it."""
    layout.table(columns, view.is_own, height)
