"""Lesson 2: what ε does to a mean curve, and to one child in it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engine.core.grids import drawing_grid
from engine.core.random_streams import DATA_STREAM, generator
from engine.core.types import Array, Budget
from engine.figures.drawn import Axis, Mark, Picture, gaps, plain_ticks
from engine.language import tags
from engine.language.numbers import together
from engine.lessons import Guess, Lesson, Option, Quiz, See, Worked, lessons
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.sources.sparse_curves import SparseCurves
from engine.topics.mean.answer import MeanAnswer, mean_over_budgets

SOURCE = SparseCurves(mean="growth", n_curves=200, n_observations_per_curve=30)
METHOD = AdaptiveMean()
EPSILONS = (0.3, 1.0, 3.0)  # shown is the middle one
DELTA = 1 / SOURCE.n_curves**2
_AT = 1
_AGE = 10.0  # at which the visitor guesses


def _moved_by_one_child(seed: int) -> Array:
    """Move of the non-private mean if one child is as tall as bounds allow; cm, (points,)."""
    data = SOURCE.draw(1, generator(seed, DATA_STREAM, 0))
    values = data.values.copy()
    values[:, : data.counts[0]] = data.facts.value_high
    means = [
        METHOD.without_protection(data_set).values(drawing_grid())[0, 0, 0]
        for data_set in (data, replace(data, values=values))
    ]
    return np.asarray(means[1] - means[0])


def _spread(releases: MeanAnswer) -> Array:
    """Half the width of the middle 95 % of releases around the non-private mean; cm, (points,)."""
    return np.asarray((releases.noise_high[_AT] - releases.noise_low[_AT]) / 2)


def _over_the_curve(differences: Array) -> float:
    """Root mean square over the points of a curve, in cm."""
    return float(np.sqrt(np.mean(differences**2)))


@lessons.register
class WhatEpsilonDoes(Lesson):
    """Noise as large as one child's influence hardly moves a mean of many."""

    key = "2"
    order = 2
    label = "means survive, one child hides"
    unit = tags.unit_tag(SOURCE.facts)
    story = (
        "The mean growth curve of {n} children is to be published; each was measured {m} times. "
        "Noise is added first, so that no child’s curve can be worked out from it.",
        "The orange line shows how far the mean moves if one child’s curve is replaced by the "
        "tallest we allow. The line is wavy because the mean is made of a few smooth "
        "building blocks.",
        "The amount of noise follows from the privacy budget, here **ε = {epsilon}**.",
    )
    ask = "How far off is the released mean at age {age}, in {share} of releases?"
    shows = (
        "At age {age}, {share} of releases stay within **{there} cm** of the non-private mean. "
        "Averaged over age it is {noise} cm. One child moves the mean by **{moved} cm** on "
        "average. Thin lines are {drawn} releases, all equally likely. Between the thick lines are "
        "{share} of releases at each age taken alone. A whole curve has many chances to leave the "
        "band, so only "
        "{inside} of {drawn} stay inside all the way."
    )
    explains = (
        "So the noise hides what one child adds. The mean draws on all {n} children, so it stays "
        "readable.",
        "ε sets the trade-off. From the true mean the error is {error_less} cm at ε = {less}. At "
        "ε = {epsilon} it is {error} cm, at ε = {more} only {error_more} cm.",
        "In exchange a smaller ε makes it harder to tell which of two curves a child has. A later "
        "lesson measures how hard.",
    )
    question = Quiz(
        "What does ε = {epsilon} control?",
        (
            Option(
                "How large the error may be.",
                "The error follows from ε, from how many take part "
                "and from the method. ε itself controls something else.",
            ),
            Option(
                "Who may see what is published.",
                "What is published may be seen by everybody. The bound holds whoever looks.",
            ),
            Option(
                "How much one child’s curve can change what is published.",
                "That is what ε is about: with or without this child, much the same is published.",
                True,
            ),
        ),
    )
    terms = ("ε", "Gaussian noise")
    see = (See("explore.py", "Pull a child’s curve on Explore"),)

    @classmethod
    def work(cls, seed: int) -> Worked:
        releases = mean_over_budgets(SOURCE, METHOD, DELTA, seed, EPSILONS)
        shift, half = _moved_by_one_child(seed), _spread(releases)
        errors = together(releases.study.error.tolist())
        apart = np.abs(releases.releases[_AT] - releases.ordinary)
        inside = apart <= half  # (releases, points)
        truth = float(np.interp(_AGE, releases.times, half))
        moved, noise = together([_over_the_curve(shift), _over_the_curve(half)])
        words = {
            "n": str(SOURCE.n_curves),
            "epsilon": f"{EPSILONS[_AT]:g}",
            "less": f"{EPSILONS[0]:g}",
            "more": f"{EPSILONS[2]:g}",
            "error_less": errors[0],
            "error": errors[1],
            "error_more": errors[2],
            "moved": moved,
            "noise": noise,
            "m": str(SOURCE.n_observations_per_curve),
            "drawn": str(len(inside)),
            "inside": str(int(inside.all(axis=1).sum())),
            "share": "95 %",
            "age": f"{_AGE:g}",
            "there": f"{truth:.1f}",
        }
        top = float(np.ceil(max(1.6 * half.max(), apart.max())))
        guess = Guess(
            (truth,),
            (0.9 * top,),
            (f"Distance at age {_AGE:g}",),
            close=0.35,
            step=0.1,
            places=(_AGE,),
            unit="cm",
            decimals=1,
            is_mirrored=True,
        )
        return Worked(
            words,
            _picture(releases, shift, half, top),
            guess,
            tags.budget_chip(Budget(EPSILONS[_AT], DELTA)),
        )


def _picture(releases: MeanAnswer, shift: Array, half: Array, top: float) -> Picture:
    """Differences from the non-private mean: by one child, and by the noise of releases."""
    times = releases.times
    others = [(times[::2], curve[::2]) for curve in releases.releases[_AT] - releases.ordinary]
    marks = (
        Mark(times, np.zeros(len(times)), "without", "Non-private mean", dash="6,4"),
        Mark(times, shift, "bias", "Moved by one child"),
        Mark(*gaps(others), "gradient", "Releases", width=1, opacity=0.35, after=True),
        Mark(
            *gaps([(times, half), (times, -half)]),
            "gradient",
            "95 % at each age",
            width=2.6,
            after=True,
        ),
    )
    alt = (
        f"One child moves the mean by {_over_the_curve(shift):.1f} cm on average, "
        "hardly off its line."
    )
    few = slice(None, None, 5)
    step = max(1.0, np.ceil(top / 4))
    most = step * (top // step)
    ticks = plain_ticks(*np.arange(-most, most + 0.5, step))
    return Picture(
        Axis("Age (years)", 2, 18, plain_ticks(*range(2, 19, 2))),
        Axis("Difference from the mean (cm)", -top, top, ticks),
        marks,
        alt,
        f"{alt} At each age 95 % of releases are within about {_over_the_curve(half):.1f} cm.",
        {
            "Age (years)": _rounded(times[few]),
            "Moved by one child (cm)": _rounded(shift[few]),
            "95 % at each age within (cm)": _rounded(half[few]),
        },
    )


def _rounded(values: Array) -> list[float]:
    return [round(float(value), 2) for value in values]
