"""A fitted rate beside measured errors: what every page says of it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from engine.core.types import Array
from engine.mechanisms import Mechanism
from engine.sources import Source
from engine.topics.rates import words
from engine.topics.rates.beside import Beside, beside_errors, simulated_errors
from pages.shared.frame import timed
from pages.shared.server.computing import uses_workers
from pages.shared.state import run, session


def beside(
    task: str,
    source: Source,
    mechanism: Mechanism,
    delta: float,
    epsilons: Sequence[float],
    errors: Array,
) -> Beside | None:
    """Return a problem's rate with constants fitted to the errors of simulated data.

    Parameters
    ----------
    source : Source
        On screen. Curves that are not simulated are replaced by their twin; the rate is None until
        that has been simulated, which `note` asks for.
    errors : (epsilons,)
        Root mean squared distances; NaN if nothing would be published.
    """
    if source.is_random:
        return beside_errors(task, source, mechanism, delta, epsilons, errors)
    arguments = _of_twin(source, mechanism, delta)
    if not _is_known(arguments):
        return None
    steps, simulated = run.answer(simulated_errors, *arguments)
    return beside_errors(task, arguments[0], mechanism, delta, steps, simulated, epsilons)


def note(
    rate: Beside | None, source: Source, mechanism: Mechanism, delta: float, epsilon: float
) -> None:
    """Explain the fitted rate and its range, its distance from measured errors, and the main term.

    `rate` is None if none is shown.
    """
    if rate is not None:
        st.markdown(f":small[{words.fitted(rate.fitted, not source.is_random)}]")
        st.markdown(f":small[{words.limits_by_fit(rate.fitted, rate.point, epsilon)}]")
    elif not source.is_random:
        arguments = _of_twin(source, mechanism, delta)
        if not _is_known(arguments):
            timed.afterwards(
                "The rate is being fitted to curves simulated from stated facts.",
                lambda: run.answer(simulated_errors, *arguments),
            )


def is_known(source: Source, mechanism: Mechanism, delta: float) -> bool:
    """True if `beside` needs no waiting."""
    return source.is_random or _is_known(_of_twin(source, mechanism, delta))


def _of_twin(
    source: Source, mechanism: Mechanism, delta: float
) -> tuple[Source, Mechanism, float, int]:
    return session.twin_of(source), mechanism, delta, session.current().seed


def _is_known(arguments: tuple[Source, Mechanism, float, int]) -> bool:
    return not uses_workers() or run.knows(simulated_errors, *arguments)
