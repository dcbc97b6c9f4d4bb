"""The parts of Rates, each drawn from one view: the rate, its constants, and where we are on it."""

from __future__ import annotations

import streamlit as st

from engine.language import error_words, glossary
from engine.rates import rates
from engine.rates.differing_sites import DifferingSitesRate
from engine.rates.univariate_mean import UnivariateMeanRate
from engine.topics.rates import charts
from engine.topics.rates import words as rate_words
from engine.topics.rates.answer import PRESETS
from engine.topics.rates.check import by_eye as estimates_by_eye
from pages.parts.rates.view import RateAtPoint
from pages.shared.frame import controls, layout, parameters
from pages.shared.state import lab_tasks, run, session

_RATIOS = ("people_ratio", "budget_ratio")  # of sites that differ, beside the map


# -- above the picture --------------------------------------------------------------------------


def choices(view: RateAtPoint) -> None:
    """Choose the problem, the axes of the map, and a paper's figures and tables."""
    members = rates.all()
    labels = [cls.label for cls in members]
    names = [s.name for s in view.rate.symbols if s.name != "delta"]

    def choose(label: str) -> None:
        rate = members[labels.index(label)]()
        session.change(rate=rate, rate_preset="", **lab_tasks.settings_of(min(rate.tasks)))

    def example(label: str) -> None:
        preset = next((p for p in PRESETS.values() if p.label == label), None)
        if preset is None:
            session.change(rate_preset="")
        else:
            session.change(
                rate=preset.rate,
                rate_axis=preset.along,
                rate_second_axis=preset.across,
                rate_preset=preset.key,
                rate_constants="one",
                **lab_tasks.settings_of(min(preset.rate.tasks)),
            )

    with st.container(horizontal=True, vertical_alignment="bottom"):
        controls.bound(
            st.selectbox,
            "Problem",
            view.rate.label,
            choose,
            "rate",
            options=labels,
            help="What is estimated. Each has its own rate.",
        )
        controls.bound(
            st.selectbox,
            "Map across",
            view.along,
            lambda name: session.change(rate_axis=name),
            "along",
            options=names,
            format_func=view.symbol,
            help="The horizontal axis of both charts.",
        )
        controls.bound(
            st.selectbox,
            "Map up",
            view.across,
            lambda name: session.change(rate_second_axis=name),
            "across",
            options=[name for name in names if name != view.along],
            format_func=view.symbol,
            help="The vertical axis of the map.",
        )
        controls.bound(
            st.selectbox,
            "Sizes",
            PRESETS[view.settings.rate_preset].label
            if view.settings.rate_preset
            else view.own_sizes,
            example,
            "example",
            options=[view.own_sizes, *(p.label for p in PRESETS.values())],
            help="Where you are on the map: your scenario, or a figure or table of the "
            "paper on private mean functions.",
        )


# -- the picture and its answer ---------------------------------------------------------------


def regimes(view: RateAtPoint) -> None:
    """Draw the map of ruling terms with "you are here"."""
    st.header("What limits the error where", anchor=False, help=glossary.explain("Regime"))
    chart = charts.regimes(view.weighted, view.along, view.across, view.point)
    view.draw("What limits the error where", chart, "regimes", 430, 340)
    if view.rate.has_differing_sites:
        parameters.parameter_form(
            view.rate,
            "r_map",
            lambda member: session.change(rate=member),
            [p.name for p in view.rate.parameters() if p.name not in _RATIOS],
            len(_RATIOS),
        )
    if view.rate.has_constants:
        st.markdown(f":small[Constants are part of it: none is dropped or fitted. {view.mark}]")
        return
    if view.measured_share is None:
        st.markdown(
            ":small[Borders show where regimes change, not exact sizes: constants are "
            f"dropped. {view.mark}]"
        )
        return
    controls.bound(
        st.segmented_control,
        "Constants",
        view.settings.rate_constants,
        lambda chosen: session.change(rate_constants=chosen or "fitted"),
        "constants",
        options=["fitted", "one"],
        format_func={"fitted": "Fitted to your scenario", "one": "Theory only (all one)"}.get,
        help="Theory drops constants. Fitted: privacy weighs as much as was measured "
        "for your scenario, so that the map agrees with it here.",
    )
    st.markdown(f":small[{_about_constants(view)} {view.mark}]")


def _about_constants(view: RateAtPoint) -> str:
    if view.settings.rate_constants == "fitted":
        return (
            "Constants fitted to the measured errors: privacy makes up "
            f"{100 * (view.measured_share or 0):.0f} % of the squared error here."
        )
    share = view.weighted.shares(**view.point)
    private = sum(s for s, term in zip(share, view.rate.terms, strict=True) if term.is_private)
    text = "Borders show where regimes change, not exact sizes."
    if abs(private - (view.measured_share or 0)) > 0.3:
        text += (
            f" **They disagree with the measured error here:** measured, privacy makes up "
            f"{100 * (view.measured_share or 0):.0f} % of the squared error; with all "
            f"constants one it would be {100 * private:.0f} %."
        )
    return text


def answer(view: RateAtPoint) -> None:
    """Say which term binds, what doubling would gain, and when privacy is free."""
    with layout.card("Here"):
        st.markdown(_where(view))
        if view.rate.has_constants:
            st.markdown(rate_words.value(view.weighted, view.point, view.facts))
        if view.has_shares:
            st.markdown(rate_words.ruling(view.weighted, view.point))
        for sentence in (
            rate_words.gap(view.rate, view.point),
            rate_words.lost(view.rate, view.point),
        ):
            if sentence:
                st.markdown(sentence)
        st.markdown(
            rate_words.doubled_lines(view.weighted, view.point)
            if view.has_shares
            else rate_words.UNKNOWN_CONSTANTS
        )
        if any(term.is_private for term in view.rate.terms):
            measured = (
                ""
                if view.scene is None
                else error_words.when_free(view.scene.epsilons, view.scene.private_shares)
            )
            st.markdown(measured or rate_words.UNKNOWN_SHARE)
    if view.rate.assumptions:
        with layout.card("Assumptions"):
            for assumption in view.rate.assumptions:
                st.markdown(assumption)
    lines = rate_words.conditions(view.weighted, view.point, view.people_on_sites)
    tuned = rate_words.tuning(view.weighted, view.point)
    if lines or tuned:
        with layout.card("What the theorem asks and gives"):
            for line in lines:
                st.markdown(line)
            if tuned:
                st.markdown(f"Best tuning, constants dropped: {tuned}")


def _where(view: RateAtPoint) -> str:
    values = [
        f"{symbol.written} = {view.point[symbol.name]:,g}".replace(",", "\u202f")
        for symbol in view.rate.symbols
        if symbol.name != "delta"
    ]
    sizes = view.source.sizes.n_curves_per_server
    text = ", ".join(values)
    if view.has_scenario and len(set(sizes)) > 1 and not view.rate.has_differing_sites:
        text += " (n is that of the smallest site)"
    return text


def per_site(view: RateAtPoint) -> None:
    """Draw all four terms for each site alone, and what the sites attain together."""
    if not isinstance(view.rate, DifferingSitesRate):
        return
    st.header("What limits each site", anchor=False)
    sites = view.rate.sites(view.rate.at(**view.point))
    view.draw("What limits each site", charts.per_site(sites), "per_site", 380, 340)
    st.markdown(rate_words.together(sites))
    st.markdown(
        ":small[At the best number of basis functions, constants dropped. The highest of the four "
        "lines limits a site.]"
    )


def by_eye(view: RateAtPoint) -> None:
    """Draw estimates of a simulated number under every kind of trust, if the rate is about one."""
    if not isinstance(view.rate, UnivariateMeanRate):
        return
    st.header("Estimates seen by eye", anchor=False)
    people, numbers = (round(view.point[name]) for name in ("S", "n"))
    answer = run.answer(
        estimates_by_eye, people, numbers, view.point["epsilon"], view.settings.seed
    )
    view.draw("Estimates seen by eye", charts.by_eye(answer), "by_eye", 340, 380)
    dots = len(next(iter(answer.estimates.values())))
    st.markdown(
        f":small[Each dot: an estimate from a fresh data set, {dots} for each kind of "
        "trust. Upright: the true mean. Estimates beyond the range stand at its end.]"
    )


def options(view: RateAtPoint) -> None:
    """Draw the rate's own parameters."""
    parameters.parameter_form(
        view.rate, f"r_{view.rate.key}", lambda member: session.change(rate=member)
    )
