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
from pages.shared import components
from pages.shared.cards import guarantees as guarantee_cards
from pages.shared.cards import holdout as holdout_cards
from pages.shared.cards import odds as odds_card
from pages.shared.frame import controls, layout, odometer, strips, timed
from pages.shared.frame.page import View
from pages.shared.state import run, session

_NOT_LINKED = "The table of sites that come with their curves is in no link, so not in a pin."


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
        self.now = session.current()
        self.rows = site_table.with_delta(editor.rows(), self.now.delta)

    @property
    def is_own(self) -> bool:
        return self.facts.is_upload

    @property
    def is_fixed(self) -> bool:
        """Whether the sites and their sizes come with the curves."""
        return not self.source.has_free_sites

    @property
    def is_pure(self) -> bool:
        """Whether the method never needs a δ."""
        return self.now.mechanism.guarantee == "pure"

    @property
    def style(self) -> tuple[str, str]:
        """Key and family of the method, which decide its colour."""
        return self.now.mechanism.key, self.now.mechanism.family

    def strip(self) -> None:
        """The facts of all sites: the span of their ε, and the odds where protection is weakest."""
        source_chip, *_ = strips.fact_chips(self.facts)
        unit = components.Chip(*site_words.unit_tag(self.facts), "blue", "shield")
        highest = max(row.epsilon for row in self.rows if row.included)
        odds = error = ""
        if self.answer is not None:
            odds, error = site_words.weakest(self.answer), site_words.error(self.answer)
        stated = max(site_table.stated_deltas(self.rows, self.is_pure),
                     key=lambda delta: delta.value)
        strips.pinnable(
            [source_chip, unit, *strips.delta_chips(stated), *odds_card.chips(self.facts)],
            [components.Budgeted(site_words.budgets(self.rows), odds, error,
                                 highest >= odds_card.WEAK_FROM)],
            0, self.facts, key="sites_strip", reason=_NOT_LINKED if self.is_fixed else "")
        odometer.line(session.source())

    def numbers(self) -> None:
        layout.folded("Numbers behind these pictures", "numbers", self._tables)

    def _tables(self) -> None:
        """The errors of all ways, then the tables behind the charts."""
        assert self.answer is not None
        sums = {} if self.answer.summed is None else {"masked sums": self.answer.summed}
        ways = {"together": self.answer.together, **sums, "trusted centre": self.answer.pooled,
                "best alone": self.answer.alone}
        st.markdown(f"Errors, from {self.answer.together.errors.size} simulated releases each")
        layout.table({
            "way": list(ways), "error": [f"{w.error:.4g}" for w in ways.values()],
            "95 % within": [f"{w.accuracy.within:.4g}" for w in ways.values()],
            "simulation error": [f"{w.standard_error:.2g}" for w in ways.values()],
            "ε": [", ".join(f"{b.epsilon:g}" for b in w.budgets) for w in ways.values()]},
            self.is_own)
        for title, chart in self.charts.items():
            layout.in_words(escape(title), chart, self.is_own)

    def consequences(self) -> None:
        """The label of who is protected from whom, for the way chosen above."""
        assert self.answer is not None
        trusted = tuple(site_words.WAYS)[dict(self.now.looks).get("trust", 0)]
        guarantee_cards.consequences(self.answer.together.spends, self.facts, "sites", trusted)

    def formula(self) -> None:
        """What the method computes, and how sites are put together."""
        mechanism = self.now.mechanism
        st.markdown(f"{mechanism.label}: {mechanism.reference}.")
        if mechanism.formula:
            st.latex(mechanism.formula)
        st.markdown("Every message of a site has noise for its own ε and δ. The centre averages "
                    "them, each with the inverse of its variance as weight:")
        st.latex(r"x = \sum_s \omega_s x_s,\qquad "
                 r"\omega_s \propto \frac{1}{g_s^2 + \sigma^2/n_s}")

    def question(self) -> Question:
        """The whole table."""
        return ask(sites_topic.federation, self.source, self.now.mechanism, self.rows, self.now.seed
                   ).about(Person(self.now.group))


def solved() -> SitesTable:
    """The table, simulated; what cannot be is said under it, and it stays to be put right."""
    view = SitesTable()
    try:
        if len(view.rows) < 2 and view.is_fixed:
            raise InputError("These curves are at one site, so there is nothing to compare.",
                             hint="Choose simulated curves, or a file with a column for the site.")
        view.answer = run.federation(view.source, view.now.mechanism, view.rows, view.now.seed
                                    ).for_group(view.now.group)
    except InputError as problem:  # such as a method that refuses δ = 0
        view.problem = view.problem or problem
    return view


# -- what stands above --------------------------------------------------------------------------


def choices(view: SitesTable) -> None:
    """Where the table starts, which curves, which method."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if not view.is_fixed:
            editor.preset_choice()
        controls.source_choice()
        controls.mechanism_choice()


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
            view.source, view.now.mechanism, view.rows, view.now.seed, is_whole=True))
    state, here = st.session_state, digest((view.rows, view.now.mechanism, view.now.seed,
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
    for words in (view.now.mechanism.caution(view.facts),
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
    panels = charts.panels(view.answer, *view.style, layout.theme(), lines == "difference")
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
        view.draw("Shares of the squared error", charts.shares(
            view.answer, *view.style, layout.theme()), "shares", height)
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


# -- folds --------------------------------------------------------------------------------------


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
    for case in sites_topic.what_if(view.source, view.now.mechanism, view.rows, view.now.seed,
                                    run.of_sites):
        cases.append(case)
        bar.progress(len(cases) / total, text=f"Simulating: {len(cases)} of {total} sites")
    bar.empty()
    st.markdown(site_words.costliest(cases, view.facts))
    chart = charts.what_if(cases, view.facts.value_unit, layout.theme())
    view.draw("If a site leaves, or tightens", chart, "what_if",
           charts.height(len(cases), around=100))


def transcript(view: SitesTable) -> None:
    """Every message of one release, as the centre sees it."""
    messages = sites_topic.transcript_of(view.source, view.now.mechanism, view.rows, view.now.seed)
    st.markdown(site_words.seen(messages))
    if messages:
        _numbers(view, site_words.messages_table(messages), height=320)


def options(view: SitesTable) -> None:
    """Parameters of the curves and the method, and the seed; sizes and budgets are in the table."""
    current = view.now
    if not session.uploaded():
        st.subheader("Curves", anchor=False)
        controls.parameter_form(current.source, f"c_{current.source.key}",
                                lambda member: session.change(source=member),
                                leave_out=("mean", *(() if view.is_fixed else
                                                     controls.SIZES_OF_TABLE)))
    st.subheader("Method", anchor=False)
    controls.parameter_form(current.mechanism, f"m_{current.mechanism.key}",
                            lambda member: session.change(mechanism=member))
    controls.bound(st.number_input, "Seed", current.seed, session.set_seed, "seed", step=1,
                   format="%d", help="Same seed, same noise: a class sees the same picture. Never "
                   "used for a release.")


def _numbers(view: SitesTable, columns: Mapping[str, Sequence[Any]],
             height: int | Literal["auto"] = "auto") -> None:
    """A table; of the visitor's own curves one without a button to download it."""
    layout.table(columns, view.is_own, height)
