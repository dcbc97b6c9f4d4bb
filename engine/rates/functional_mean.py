"""Rates of estimating a mean function under privacy (Xue, Lin and Yu, arXiv 2412.06582)."""

from __future__ import annotations

from dataclasses import dataclass

from engine.rates import Rate, Term, rates
from engine.registry import param
from engine.tasks import MEAN_FUNCTION


@rates.register
@dataclass(frozen=True, kw_only=True)
class FunctionalMeanRate(Rate):
    """Four terms: people and readings, each without and with privacy.

    (Snm)^{−2α/(2α+1)} + (K m)^{−α/(α+1)} + (Sn)^{−1} + K^{−1}, where K is the effective private
    size: S²n²ε² with one trusted centre ("central"), Sn²ε² when every site protects its own
    curves ("federated"). Up to constants and logarithms.
    """

    key = "functional_mean"
    label = "Mean function"
    tasks = frozenset({MEAN_FUNCTION.key})
    reference = "Xue, Lin and Yu (2024), arXiv 2412.06582, Tables 1 and 4"

    privacy: str = param("federated", "Who is trusted",
                         "Central: one centre holds all curves. Federated: each site its own.",
                         choices=("central", "federated"))
    smoothness: float = param(3.0, "Smoothness", "Smoothness of the mean function.",
                              low=1.0, high=10.0, symbol="α")

    @property
    def terms(self) -> tuple[Term, ...]:
        a = self.smoothness
        sites = 2 if self.privacy == "central" else 1
        return (
            Term("Sparse readings", r"(Snm)^{-2\alpha/(2\alpha+1)}",
                 lambda p: (p["S"] * p["n"] * p["m"]) ** (-2 * a / (2 * a + 1))),
            Term("Privacy and sparse readings", r"(Km)^{-\alpha/(\alpha+1)}",
                 lambda p: (p["S"]**sites * (p["n"] * p["epsilon"])**2 * p["m"]) ** (-a / (a + 1))),
            Term("Number of people", r"(Sn)^{-1}", lambda p: 1 / (p["S"] * p["n"])),
            Term("Privacy", r"K^{-1}",
                 lambda p: 1 / (p["S"]**sites * (p["n"] * p["epsilon"]) ** 2)),
        )
