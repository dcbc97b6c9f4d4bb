"""A budget for each site on Decide: what follows from their table."""

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
from engine.topics.brief import Brief
from engine.topics.sites import answer as sites_topic
from engine.topics.sites import charts, diagram_charts, site_table
from engine.topics.sites import words as site_words
from engine.topics.sites.answer import SitesAnswer
from pages.parts import site_editor
from pages.shared.cards import guarantees as guarantee_cards
from pages.shared.cards import holdout as holdout_cards
from pages.shared.frame import controls, layout, timed
from pages.shared.frame.page import View
from pages.shared.state import run, session, settings


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
            self.problem = site_editor.taken_edits()
            self.settings = session.current()
        stated = site_editor.rows() if chosen is None else site_editor.stated(chosen, self.source)
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
    def found(self) -> SitesAnswer:
        """The answer, for cards that are drawn only with one."""
        assert self.answer is not None
        return self.answer

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
    site_editor.editor(view.answer, view.facts)
    controls.show_refusal(view.problem)


def answer(view: SitesTable) -> None:
    """Show the errors of all ways, and the effect of the last change on the first of them."""
    layout.prose(site_words.compared(view.found))
    if view.found.baseline is None and view.source.is_random:
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
        state.sites_seen = earlier = [*earlier[-1:], (here, view.found.together.error)]
    if len(earlier) == 2:
        st.markdown(
            site_words.change(
                earlier[0][1], earlier[1][1], view.facts.value_unit, "Since your change"
            )
        )


def warnings(view: SitesTable) -> None:
    """Warn of few or unsuitable curves, and of promises that the constants do not keep."""
    layout.caution(
        (
            view.settings.mechanism.unsuited_because(view.facts),
            quality.few_in_a_round(view.found.together.fewest_in_a_round),
        )
    )
    if view.found.together.is_refused:
        st.error(site_words.refused(view.facts), icon=":material/block:")
    spends = view.found.together.spends
    if not accounting.keeps_promise(spends):
        budget, worst = max(
            zip(view.found.together.budgets, view.found.members, strict=True),
            key=lambda pair: pair[1].guarantee.epsilon / pair[0].epsilon,
        )
        st.error(spending.broken_promise(budget, worst.guarantee.epsilon), icon=":material/error:")


# -- pictures and cards -------------------------------------------------------------------------


def pictures(view: SitesTable) -> None:
    """Draw all ways side by side, on the same axes."""
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
    panels = charts.panels(view.found, mechanism.key, mechanism.family, lines == "difference")
    for k, (name, chart) in enumerate(panels):
        st.markdown(f"**{escape(name)}**")
        view.draw(name, chart, f"way_{k}", 220, 190)
    st.markdown(f":small[{site_words.lines(view.found, lines == 'difference')}]")


def shares(view: SitesTable) -> None:
    """Show each site's share of the error, beside its weight."""
    st.header("Where the error comes from", anchor=False)
    st.markdown(site_words.largest_share(view.found))
    if not view.found.together.is_refused and len(view.found.members) > 1:
        view.draw(
            "Shares of the squared error",
            charts.shares(view.found, view.settings.mechanism.family),
            "shares",
            charts.height(len(view.found.members), around=70),
            below=site_words.SHARES_KEY,
        )


def trust(view: SitesTable) -> None:
    """Show who must be trusted, and what an attacker could find out."""
    with layout.card("Who must be trusted"):
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
            diagram_charts.federation(view.rows, trusted, view.found.messages_each),
            "diagram",
            charts.height(min(len(rows), diagram_charts.SHOWN), around=70),
        )
        st.markdown(site_words.trust(trusted, view.facts))
        st.markdown(site_words.odds(view.found, trusted))
        st.markdown(site_words.uncovered(view.facts))


def protected(view: SitesTable) -> None:
    """Show from whom the people are protected, for the way chosen above."""
    trusted = session.looked_at("trust", list(site_words.WAYS))
    guarantee_cards.consequences(view.found.together.spends, view.facts, "sites", trusted)


def guarantees(view: SitesTable) -> None:
    """Show what the people of each site get, and what the site could do alone."""
    st.header(f"What each site’s {view.facts.people} get", anchor=False)
    _numbers(view, site_words.table(view.found))
    layout.note(
        odds_words.two_kinds(
            {member.row.name: member.guarantee.delta for member in view.found.members}
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
    view.draw(
        "If a site leaves, or tightens",
        charts.what_if(cases, view.facts.value_unit),
        "what_if",
        charts.height(len(cases), around=100),
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
