"""The sites of a wavelet regression, and the controls that choose what they hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from engine.core.tasks import WAVELET_REGRESSION
from engine.language.grammar import capital, escape
from engine.topics.regression import answer as regression_topic
from engine.topics.regression.answer import (
    MAX_KINDS,
    NETWORKS,
    Group,
    Method,
    Network,
    Readings,
    SimulatedReadings,
)
from engine.uploads.curves import Upload
from pages.shared.frame import controls
from pages.shared.state import session

TASK = WAVELET_REGRESSION.key
SIZES = ("configuration", "n_curves", "n_servers", "sizes_listed")  # the network states them
_OWN = "Your own network"
_SIMULATED, _MINE = "Simulated", "Your observations"
_EPSILONS = "site_epsilons"  # session key of own sites' ε, kept out of settings and links


def readings_on_screen() -> Readings:
    readings = session.source(TASK)
    assert isinstance(readings, Readings)
    return readings


def method_on_screen() -> Method:
    method = session.current().mechanism_of(TASK)
    assert isinstance(method, Method)
    return method


def network_on_screen() -> Network:
    """Return the sites on screen: those of the visitor's own observations, or the chosen ones."""
    readings = readings_on_screen()
    if not isinstance(readings, Upload):
        return session.current().network
    return Network.of_upload(readings, _own_epsilons(readings), session.delta(readings, TASK).value)


def _own_epsilons(readings: Upload) -> tuple[float, ...]:
    """Return the ε of every site of own observations; 1 until it is changed."""
    epsilons, n_sites = st.session_state.get(_EPSILONS, ()), readings.sizes.n_servers
    return epsilons if len(epsilons) == n_sites else (1.0,) * n_sites


def start_own() -> None:
    """Start with new own observations: the default ε, and the stated range."""
    st.session_state.pop(_EPSILONS, None)
    session.change_mechanism(
        TASK, regression_topic.suited(method_on_screen(), readings_on_screen().facts)
    )


def choices() -> None:
    """Choose the observations, the network to start from, the curve and the method."""
    if session.upload_of(TASK) is not None:
        controls.bound(
            st.selectbox,
            "Observations",
            _MINE if session.uploaded(TASK) else _SIMULATED,
            lambda name: session.show_own(TASK, name == _MINE),
            "readings",
            options=[_SIMULATED, _MINE],
            help="Simulated, or those of your file.",
        )
    simulated = readings_on_screen()
    if isinstance(simulated, SimulatedReadings):
        _simulated(simulated)
    method_choice()
    with st.popover("Sizes and ε", width="stretch"):
        _rows()


def network_choice(networks: Mapping[str, tuple[Group, ...]], **more: Any) -> None:
    """Choose the network to start from."""
    chosen = session.current().network
    current = next((name for name, groups in networks.items() if Network(groups) == chosen), _OWN)

    def start(name: str) -> None:
        if name in networks:
            session.change(network=Network(networks[name]))

    controls.bound(
        st.selectbox,
        "Sites",
        current,
        start,
        "network",
        options=[*networks] if current in networks else [_OWN, *networks],
        help="Networks to start from; every number below can be changed.",
        **more,
    )


def method_choice() -> None:
    """Choose the level, the clip and the noise."""
    methods = regression_topic.methods()
    controls.bound(
        st.selectbox,
        "Method",
        method_on_screen().nearest_preset()[0],
        lambda label: session.change_mechanism(TASK, methods[label]),
        "wavelet_method",
        options=[*methods],
        help="How level, clip and noise are chosen.",
    )


def _simulated(points: SimulatedReadings) -> None:
    """Choose sites to start from, and the curve behind simulated observations."""
    network_choice(NETWORKS)
    controls.bound(
        st.selectbox,
        "Curve",
        regression_topic.curve_name(points),
        lambda name: session.change_source(TASK, regression_topic.with_curve(points, name)),
        "signal",
        options=regression_topic.CURVES,
        format_func=lambda name: capital(name.replace("_", " ")),
        help="The known curve behind the observations. Besov: as rough as its class allows.",
    )


def _rows() -> None:
    """Draw three numbers for each kind of site; for own sites only ε can be changed."""
    upload = readings_on_screen()
    if isinstance(upload, Upload):
        _own_sites(upload)
        return
    current = session.current().network
    for k, group in enumerate(current.groups):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            _number(k, "sites", "Sites of one kind" if k == 0 else "Sites", group.sites)
            _number(k, "readings", "Observations at each", group.readings)
            _number(k, "epsilon", "Privacy budget ε of each", group.epsilon)
    with st.container(horizontal=True):
        st.button(
            "Add another kind",
            icon=":material/add:",
            type="tertiary",
            key="add_kind",
            on_click=_add,
            disabled=len(current.groups) >= MAX_KINDS,
        )
        st.button(
            "Remove the last",
            icon=":material/remove:",
            type="tertiary",
            key="remove_kind",
            on_click=_remove,
            disabled=len(current.groups) == 1,
        )


def _number(k: int, field: str, label: str, value: float) -> None:
    """Draw one number of the kind k of sites."""

    def write(entered: Any) -> None:
        groups = list(session.current().network.groups)
        groups[k] = replace(groups[k], **{field: entered})
        session.change(network=replace(session.current().network, groups=tuple(groups)))

    controls.number(label, value, write, f"group_{k}_{field}", is_whole=field != "epsilon")


def _own_sites(upload: Upload) -> None:
    """Ask for the ε of every site, or one for all if there are many."""
    epsilons = _own_epsilons(upload)

    def write(indices: range, entered: float) -> None:
        changed = tuple(entered if k in indices else old for k, old in enumerate(epsilons))
        delta = session.delta(upload, TASK).value
        Network.of_upload(upload, changed, delta)  # refuses what cannot be
        st.session_state[_EPSILONS] = changed

    with st.container(horizontal=True, vertical_alignment="bottom"):
        if len(epsilons) > MAX_KINDS:
            everywhere = range(len(epsilons))
            controls.number(
                f"Privacy budget ε of each of {len(epsilons)} sites",
                epsilons[0],
                partial(write, everywhere),
                "own_epsilon_all",
            )
            return
        for k, group in enumerate(network_on_screen().groups):
            controls.number(
                f"Privacy budget ε at {escape(group.name)} ({group.readings:,})",
                group.epsilon,
                partial(write, range(k, k + 1)),
                f"own_epsilon_{k}",
            )


def _add() -> None:
    groups = session.current().network.groups
    session.change(network=Network((*groups, Group(1, 1000, 1.0))))


def _remove() -> None:
    session.change(network=Network(session.current().network.groups[:-1]))
