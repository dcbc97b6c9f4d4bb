"""Lesson 3: tight bounds bias a mean, wide ones drown it in noise."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from engine.core.random_streams import DATA_STREAM, generator
from engine.core.types import Array, Budget
from engine.figures.drawn import Axis, Mark, Picture, plain_ticks
from engine.language import tags
from engine.language.numbers import together
from engine.lessons import Guess, Lesson, Option, Quiz, See, Worked, lessons
from engine.mechanisms.univariate_mean import Setting, UnivariateMean
from engine.sources.numbers import Numbers

BUDGET = Budget(0.5)
CLASS = Numbers(n_servers=1, n_items=50, mean=20.0, item_sd=15.0, value_low=0.0, value_high=1000.0)
METHOD = UnivariateMean(setting=Setting.CENTRAL_ITEM)
LIMITS = np.arange(21.0, 101.0)  # minutes at which numbers may be held
_TALLEST = 8.0  # minutes of error that are shown
_ROWS = np.array([8.6, 9.0, 9.4, 9.8])  # of dots, in a strip of their own above the errors


def journeys(seed: int) -> Array:
    """Draw the answers of the pupils, in minutes: (pupils,)."""
    return np.asarray(CLASS.draw(1, generator(seed, DATA_STREAM, 0)).values[0])


def parts(limit: float, times: Array) -> tuple[float, float]:
    """Compute bias and noise deviation of the mean of pupils clipped to [0, limit]; in minutes.

    The bias is by how much clipping lowers the mean of `times` (pupils,), in minutes.
    """
    clipped = replace(CLASS, value_high=limit)
    noise = METHOD.exact_error(clipped.sizes, (BUDGET,), clipped.facts)
    assert noise is not None
    return float(np.mean(times - np.minimum(times, limit))), math.sqrt(noise)


def errors(seed: int) -> Array:
    """Bias, noise and both together at every limit: (3, limits)."""
    times = journeys(seed)
    bias, noise = np.array([parts(limit, times) for limit in LIMITS]).T  # (limits, 2) to (limits,)
    return np.stack([bias, noise, np.hypot(bias, noise)])


@lessons.register
class Clipping(Lesson):
    """Lesson on where to hold numbers so that bias and noise together are least."""

    key = "3"
    order = 3
    label = "choosing a clipping bound"
    unit = ("One pupil’s number", "What is protected: the number of any one pupil.")
    story = (
        "{n} pupils say how long their journey to school takes. The mean is to be published.",
        "A pupil who says a thousand minutes would move it far, and noise must hide that too. So "
        "every number is first clipped to a **bound**, and the noise is scaled to the bound.",
        "A low bound adds bias. A high one needs a lot of noise. Here ε = {epsilon}.",
    )
    ask = "Which clipping bound gives the smallest error?"
    shows = (
        "The error is smallest at a bound of **{best} minutes**: {least} minutes. At {low} it "
        "would be {at_low}, at {high} it would be {at_high}."
    )
    explains = (
        "At {low} minutes the noise is only {noise_low}. But long journeys are clipped, so the "
        "mean of these pupils is {bias_low} minutes too low. Asking more pupils does not fix that.",
        "At {high} minutes nearly nothing is clipped. But the noise is {noise_high} minutes.",
        "The bound must come from what is known without these pupils, such as a bus timetable. "
        "If read off their data, it would give away the pupil with the longest journey.",
    )
    question = Quiz(
        "The school has twice as many pupils next year. What about the bound?",
        (
            Option(
                "It can be higher.",
                "Noise falls with the number of pupils, bias does not. The "
                "best bound moves from {best} to {best_twice} minutes.",
                True,
            ),
            Option(
                "It should be lower.",
                "With more pupils there is less noise, so clipping is what "
                "costs. The best bound becomes {best_twice} minutes.",
            ),
            Option(
                "Take the longest journey of all pupils.",
                "Then what is published depends on one "
                "pupil alone, and no noise was made for that.",
            ),
        ),
    )
    terms = ("Clipping", "Sensitivity", "Laplace noise")
    see = (See("explore.py", "Clipping of curves on Explore"),)

    @classmethod
    def work(cls, seed: int) -> Worked:
        bias, noise, both = errors(seed)
        best, low, high = int(both.argmin()), 4, len(LIMITS) - 1
        written = together([both[best], both[low], both[high], noise[low], bias[low], noise[high]])
        names = ("least", "at_low", "at_high", "noise_low", "bias_low", "noise_high")
        # where twice as many take part noise is halved, and bias stays
        best_with_twice = LIMITS[np.hypot(bias, noise / 2).argmin()]
        words = dict(zip(names, written, strict=True)) | {
            "n": str(CLASS.n_items),
            "epsilon": f"{BUDGET.epsilon:g}",
            "best": f"{LIMITS[best]:.0f}",
            "low": f"{LIMITS[low]:.0f}",
            "high": f"{LIMITS[high]:.0f}",
            "best_twice": f"{best_with_twice:.0f}",
        }
        guess = Guess(
            (float(LIMITS[best]),),
            (75.0,),
            ("Clipping bound",),
            close=6.0,
            step=1.0,
            unit="minutes",
        )
        return Worked(words, _picture(seed, words), guess, tags.budget_chip(BUDGET))


def _picture(seed: int, words: dict[str, str]) -> Picture:
    bias, noise, both = errors(seed)
    stack = np.sort(journeys(seed))
    height = _ROWS[np.arange(len(stack)) % len(_ROWS)]
    marks = (
        Mark(stack, height, "raw", "One pupil’s journey", "dot", opacity=0.8),
        Mark(np.array([0.0, 100.0]), np.full(2, _ROWS[0] - 0.3), "raw", width=1, opacity=0.8),
        Mark(LIMITS, noise, "gradient", "Noise", dash="8,3", after=True),
        Mark(
            LIMITS,
            np.where(bias <= _TALLEST, bias, np.nan),
            "bias",
            "Bias from clipping",
            dash="2,3",
            after=True,
        ),
        Mark(LIMITS, both, "text", "Both together", width=2.6, after=True),
    )
    alt = f"The journeys of {CLASS.n_items} pupils as dots above an axis of minutes."
    few = slice(4, None, 5)
    return Picture(
        Axis("Journey or clipping bound (minutes)", 0, 100, plain_ticks(*range(0, 101, 20))),
        Axis(
            "Error (minutes)",
            0,
            _ROWS[-1] + 0.4,
            (*plain_ticks(0, 2, 4, 6, 8), (float(_ROWS.mean()), "Pupils")),
        ),
        marks,
        alt,
        f"{alt} Noise grows with the bound and bias falls; together they are least at "
        f"{words['best']} minutes.",
        {
            "Bound (minutes)": [int(limit) for limit in LIMITS[few]],
            **{
                name: [round(float(value), 2) for value in values[few]]
                for name, values in (("Bias", bias), ("Noise", noise), ("Both", both))
            },
        },
    )
