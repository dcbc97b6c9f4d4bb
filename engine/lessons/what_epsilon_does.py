"""Lesson 2: what ε does to an average curve, and to one child in it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engine.core.grids import drawing_grid
from engine.core.types import Array, Budget
from engine.figures.drawn import Axis, Mark, Picture, gaps, plain_ticks
from engine.language import tags
from engine.language.numbers import in_hundred, together
from engine.lessons import Guess, Lesson, Option, Question, See, Worked, lessons
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.privacy import risk
from engine.simulation.experiments import DATA_STREAM, generator
from engine.sources.sparse_curves import SparseCurves
from engine.topics.mean.answer import MeanAnswer, mean_over_budgets

SOURCE = SparseCurves(mean="growth", n_curves=200, n_observations_per_curve=30)
METHOD = AdaptiveMean()
EPSILONS = (0.3, 1.0, 3.0)  # shown is the middle one
DELTA = 1 / SOURCE.n_curves**2
_AT, _DRAWN = 1, 30
_AGES = (2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0)


def moved_by_one_child(seed: int) -> float:
    """How far the average without protection moves if one child becomes as tall as can be; cm.

    Parameters
    ----------
    seed : int
        Of the data.
    """
    data = SOURCE.draw(1, generator(seed, DATA_STREAM, 0))
    values = data.values.copy()
    values[:, :data.counts[0]] = data.facts.value_high
    averages = [METHOD.without_protection(data_set).values(drawing_grid())[0, 0, 0]
                for data_set in (data, replace(data, values=values))]
    return float(np.sqrt(np.mean((averages[0] - averages[1]) ** 2)))


def typical_noise(releases: MeanAnswer) -> float:
    """Root mean squared distance of the releases from the average without protection; cm.

    Parameters
    ----------
    releases : MeanAnswer
        Of `EPSILONS`, of which the middle one counts.
    """
    squares = (releases.releases[_AT] - releases.without) ** 2
    return float(np.sqrt(squares.mean()))


@lessons.register
class WhatEpsilonDoes(Lesson):
    """Noise as large as one child's influence hardly moves an average of many."""

    key = "2"
    order = 2
    label = "averages survive, one child hides"
    unit = tags.unit_tag(SOURCE.facts)
    story = (
        "{n} children were measured again and again as they grew. Each thin line is one child.",
        "Their average growth curve is to be published. Noise is added first, so that no child’s "
        "curve can be read back.",
        "How much noise is set by the protection (ε). Here it is **ε = {epsilon}**.")
    ask = "Where will the published curve run? Drag the squares, or draw."
    shows = ("The error of the published curve is **{error} cm**. Thin lines: "
             "other releases that were as likely.")
    explains = (
        "If one child were as tall as can be, the average would move by {moved} cm. The noise is "
        "± {noise} cm. So it hides what one child adds.",
        "The average is about all {n} children, so it survives.",
        "ε sets the trade. At ε = {less} the error of a curve is {error_less} cm, at ε = {more} "
        "only {error_more} cm.",
        "An attacker chooses between two curves for one child. At ε = {less} they are right "
        "{odds_less}. At ε = {more} it is {odds_more}.")
    question = Question("What does ε = {epsilon} limit?", (
        Option("How wrong the average may be.", "The error follows from ε, from how many take part "
               "and from the method. ε itself limits something else."),
        Option("Who may see what is published.", "What is published may be seen by everybody. The "
               "limit holds whoever looks."),
        Option("How much one child’s curve can change what is published.", "That is what ε is "
               "about: with or without this child, much the same is published.", True)))
    terms = ("ε", "Gaussian noise")
    see = (See("explore.py", "Move ε yourself on Explore"),)

    @classmethod
    def work(cls, seed: int) -> Worked:
        releases = mean_over_budgets(SOURCE, METHOD, DELTA, seed, EPSILONS)
        release = releases.releases[_AT, 0]
        errors = together(releases.study.error.tolist())
        chances = [risk.of_ledger(spends) for spends in releases.spends]
        odds = [in_hundred(chance.right) for chance in chances]
        moved, noise = together([moved_by_one_child(seed), typical_noise(releases)])
        words = {"n": str(SOURCE.n_curves), "epsilon": f"{EPSILONS[_AT]:g}",
                 "less": f"{EPSILONS[0]:g}", "more": f"{EPSILONS[2]:g}",
                 "error_less": errors[0], "error": errors[1], "error_more": errors[2],
                 "odds_less": odds[0], "odds_more": odds[2], "moved": moved, "noise": noise}
        truth = np.interp(_AGES, releases.times, release)
        guess = Guess(tuple(truth.tolist()), (130.0,) * len(_AGES),
                      tuple(f"Height at age {age:g}" for age in _AGES), close=5.0, step=1.0,
                      places=_AGES, unit="cm", decimals=1)
        budget = Budget(EPSILONS[_AT], DELTA)
        return Worked(words, _picture(releases), guess, tags.budget_chip(budget), budget,
                      chances[_AT])


def _picture(releases: MeanAnswer) -> Picture:
    facts, data = SOURCE.facts, releases.data
    ends = np.cumsum(data.counts)[:_DRAWN]
    children = []
    for start, end in zip(np.append(0, ends[:-1]), ends, strict=True):
        order = np.argsort(data.times[0, start:end])[::3]
        children.append((facts.from_unit_time(data.times[0, start:end][order]),
                         data.values[0, start:end][order]))
    others = [(releases.times[::2], curve[::2]) for curve in releases.releases[_AT, 1:]]
    marks = (
        Mark(*gaps(children), "raw", "Some of the children", width=1, opacity=0.3),
        Mark(*gaps(others), "gradient", "Other possible releases", width=1, opacity=0.3,
             after=True),
        Mark(releases.times, releases.without, "without", "Without protection", dash="6,4",
             after=True),
        Mark(releases.times, releases.releases[_AT, 0], "gradient", "The release", width=2.6,
             after=True))
    alt = f"Growth curves of {_DRAWN} of {SOURCE.n_curves} children from age 2 to 18."
    return Picture(
        Axis("Age (years)", 2, 18, plain_ticks(*range(2, 19, 2))),
        Axis("Height (cm)", 60, 200, plain_ticks(*range(60, 201, 20))), marks, alt,
        f"{alt} The release runs from {releases.releases[_AT, 0, 0]:.0f} to "
        f"{releases.releases[_AT, 0, -1]:.0f} cm, near the average without protection.",
        {"Age (years)": _rounded(releases.times[::5]),
         "Without protection (cm)": _rounded(releases.without[::5]),
         "The release (cm)": _rounded(releases.releases[_AT, 0, ::5])})


def _rounded(values: Array) -> list[float]:
    return [round(float(value), 1) for value in values]
