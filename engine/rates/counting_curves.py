"""Rates of curves that are computed from noised counts by interval."""

from __future__ import annotations

from dataclasses import dataclass

from engine.core.tasks import COUNTED
from engine.core.types import Data
from engine.mechanisms.base import Mechanism
from engine.mechanisms.noisy_counts import NoisyCounts
from engine.rates import Boundary, Rate, Symbol, Term, border, rates
from engine.rates.powers import symbols
from engine.sources import Source
from engine.sources.event_times import EventTimes

N = Symbol("n", "People", 10, 1e7, 1000)
EPSILON = Symbol("epsilon", "Privacy budget", 0.01, 10, 1, "ε")
n, epsilon = symbols("n", "epsilon")


@rates.register
@dataclass(frozen=True, kw_only=True)
class CountingCurvesRate(Rate):
    """Sampling 1/n, and (nε)^(−8/5) for noise and intervals together.

    K counts with noise of variance 1/ε² each give a cumulative share a variance of K/(nε)², and a
    monotone cubic through K edges is off by K⁻² where the curve is smooth. The best K is a multiple
    of (nε)^(2/5), at which both parts of the squared error are (nε)^(−8/5).
    """

    key = "counting_curves"
    label = "Curve from noised counts"
    order = 60
    tasks = frozenset(COUNTED)
    reference = "derived for this project"
    symbols = (N, EPSILON)

    def in_practice(self) -> tuple[Source[Data], Mechanism]:
        """Times to an event, and the release whose privacy term this is."""
        return EventTimes(), NoisyCounts()

    @property
    def terms(self) -> tuple[Term, ...]:
        return (
            Term("Number of people", n**-1),
            Term("Privacy and intervals", (n * epsilon) ** (-8 / 5), is_private=True),
        )

    @property
    def boundaries(self) -> tuple[Boundary, ...]:
        """The ε at which privacy starts to cost as much as the number of people."""
        people, private = self.terms
        return (border("privacy", "epsilon", private, people, r"\varepsilon = n^{-3/8}"),)
