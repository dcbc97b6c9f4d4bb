"""Simulated people with a predicted chance and whether it came true."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import expit, ndtr, ndtri

from engine.core.registry import param
from engine.core.tasks import ROC
from engine.core.types import EventData, EventFacts, Truth
from engine.sources import DealtRecords, number_of, sites_with, sources


@sources.register
@dataclass(frozen=True, kw_only=True)
class ScoredPeople(DealtRecords[EventData]):
    """A marker is N(gap, 1) with the label and N(0, 1) without; the score is the chance of a label.

    Chances are right, so the score is calibrated; `distortion` multiplies their log-odds, above 1
    for a score that is too sure of itself. It leaves the ROC curve as it is, whose area is
    Φ(gap/√2).
    """

    key = "scored_people"
    label = "Scores and labels"
    order = 10
    tasks = frozenset({ROC.key})

    n_curves: int = number_of("People")
    n_servers: int = sites_with("people")
    prevalence: float = param(
        0.5, "Share with the label", "A share of all people.", low=0.01, high=0.99
    )
    gap: float = param(
        1.0,
        "Gap",
        "Between the means of the marker with and without the label, in standard deviations.",
        low=0.0,
        high=5.0,
    )
    distortion: float = param(
        1.0,
        "Overconfidence",
        "What log-odds are multiplied by; 1 for a score that is right.",
        low=0.1,
        high=10.0,
    )

    @property
    def facts(self) -> EventFacts:
        return EventFacts(
            name=self.label,
            value_name="True-positive share",
            value_low=0.0,
            value_high=1.0,
            time_name="Score",
            causes=("Label",),
        )

    @property
    def area(self) -> float:
        """Under the true ROC curve."""
        return float(ndtr(self.gap / math.sqrt(2)))

    @property
    def truth(self) -> Truth:
        """The share of true positives by that of false ones."""
        return _truth(self.gap)

    def draw(self, n_repeats: int, rng: np.random.Generator) -> EventData:
        """Draw data sets: all labels, then all markers."""
        label = rng.random((n_repeats, self.n_curves)) < self.prevalence
        marker = rng.standard_normal(label.shape) + self.gap * label
        odds = (
            self.gap * marker - self.gap**2 / 2 + math.log(self.prevalence / (1 - self.prevalence))
        )
        return EventData(
            expit(self.distortion * odds),
            label.astype(np.int64),
            self.server,
            self.facts,
            None,
            self.truth,
        )


@lru_cache(maxsize=16)
def _truth(gap: float) -> Truth:
    return Truth.of(lambda alarms: ndtr(ndtri(alarms) + gap), "midpoints")
