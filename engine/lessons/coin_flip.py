"""Lesson 1: randomised response, told with two coins."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.core.bands import ROUNDED_NORMAL
from engine.core.random_streams import DATA_STREAM, NOISE_STREAM, generator
from engine.figures.drawn import Axis, Mark, Picture, plain_ticks
from engine.language.numbers import number
from engine.lessons import Guess, Lesson, Option, Quiz, See, Worked, lessons
from engine.mechanisms.families.untrusted_means import AnswerPlan
from engine.mechanisms.sparse_mean_signs import SparseMeanSigns

PUPILS, COPIED = 200, 0.3
EPSILON = math.log(3)  # of two fair coins: an answer is flipped with chance 1/4
_MECHANISM = SparseMeanSigns()
# Which class a seed draws. With the default seed its estimate misses by about one standard error,
# as is typical; one that happened to be exact would look like a method that always is.
_CLASS = 6
_ROWS = 8  # of dots: on a phone, too, they stand apart
_TOP = _ROWS + 0.7  # of lines; above it are no dots


@dataclass(frozen=True)
class SpokenAnswers:
    """True state and spoken answer of every pupil."""

    # true, reported, each (PUPILS,): whether the right answer, and the one that was given, is yes
    true: NDArray[np.bool_]
    reported: NDArray[np.bool_]
    # estimate, standard_error: share of pupils whose right answer is yes, worked out from what was
    # said
    estimate: float
    standard_error: float


def plan() -> AnswerPlan:
    """One bit from each pupil, at the ε of the coins."""
    return AnswerPlan(
        size=1,
        per_machine=1,
        epsilon=np.full(PUPILS, EPSILON),
        rows=np.ones(PUPILS, dtype=np.int64),
        sd=1.0,
        bound=1.0,
        largest_mean=1.0,
    )


def ask(seed: int) -> SpokenAnswers:
    """Every pupil's answer through the mechanism."""
    truly = generator(seed, DATA_STREAM, _CLASS).random(PUPILS) < COPIED
    standard = _MECHANISM.standard((1, 1, PUPILS, 1), generator(seed, NOISE_STREAM, _CLASS))
    signs = _MECHANISM.answers(truly.astype(float))[None, None, :, None]
    bits = _MECHANISM.private(signs, plan(), standard).ravel()
    gain = float(_MECHANISM.gain(plan())[0])
    noise = math.sqrt(float(_MECHANISM.noise_variance(plan())[0]) / PUPILS)
    return SpokenAnswers(truly, bits > 0, (1 + gain * float(bits.mean())) / 2, noise / 2)


@lessons.register
class CoinFlip(Lesson):
    """Each answers with the help of two coins: no answer counts, their sum does."""

    key = "1"
    order = 1
    minutes = 4
    label = "a coin hides every answer"
    unit = ("One pupil’s answer", "What is protected: what any one pupil would truly say.")
    story = (
        "A teacher asks {n} pupils: have you ever copied homework? Nobody wants to say yes.",
        "So each flips a coin in secret. Heads: answer truly. Tails: flip again, and say yes for "
        "heads and no for tails.",
        "Now every yes may be the coin’s. **{said_yes} of {n}** said yes: {said} %.",
    )
    ask = "What share of the pupils has really copied?"
    shows = (
        "**{true} %** have really copied. From the answers alone the estimate is **{estimate} "
        "%** ± {error} points ({level}). Crosses: answers that the coins flipped."
    )
    explains = (
        "The coins flip {turned} % of the answers on average. If nobody had copied, {turned} % "
        "would say yes; if all had, {unturned} %. So the total can be corrected: "
        "({said} % − {turned} %) / {between} = {estimate} %.",
        "Which answers were flipped is not known. So no single answer can be corrected.",
        "Changing the truth about a pupil makes neither answer more than {ratio} times as likely. "
        "The natural logarithm of {ratio}, ln {ratio} = {epsilon}, is the privacy budget ε.",
    )
    question = Quiz(
        "Mia said yes. What does the teacher know about Mia?",
        (
            Option(
                "She has copied.",
                "The coins may have said yes for her. They flip {turned} % of the answers.",
            ),
            Option(
                "It is more likely, but not certain.",
                "A yes is {ratio} times as "
                "likely from a pupil who has copied. It is still no proof.",
                True,
            ),
            Option(
                "Nothing at all.",
                "A yes is {ratio} times as likely from a pupil who has copied. "
                "Privacy bounds what is learned; it is rarely nothing.",
            ),
        ),
    )
    terms = ("Randomised response",)
    see = (See("lab.py", "The same with machines, in the Lab", "estimand-sparse"),)

    @classmethod
    def work(cls, seed: int) -> Worked:
        answers = ask(seed)
        yes, true = 100 * float(answers.reported.mean()), 100 * float(answers.true.mean())
        estimate, turned = 100 * answers.estimate, float(_MECHANISM.turn_chance(plan())[0])
        words = {
            "n": str(PUPILS),
            "said_yes": str(int(answers.reported.sum())),
            "said": f"{yes:g}",
            "true": f"{true:g}",
            "estimate": f"{estimate:.3g}",
            "error": f"{100 * ROUNDED_NORMAL * answers.standard_error:.0f}",
            "level": "95 %",
            "turned": f"{100 * turned:.0f}",
            "unturned": f"{100 - 100 * turned:.0f}",
            "between": f"{1 - 2 * turned:g}",
            "ratio": f"{math.exp(EPSILON):.0f}",
            "epsilon": number(EPSILON),
        }
        guess = Guess(
            (true,),
            (50.0,),
            ("Pupils who have copied",),
            close=5.0,
            step=1.0,
            unit="%",
            off_unit="percentage points",
        )
        return Worked(words, _picture(answers, words), guess, f"ε = {words['epsilon']}")


def _picture(answers: SpokenAnswers, words: dict[str, str]) -> Picture:
    """A dot for each pupil, those who said yes first, so that they end at their share."""
    order = np.lexsort((answers.reported != answers.true, ~answers.reported))
    said_yes, flipped = answers.reported[order], (answers.reported != answers.true)[order]
    index = np.arange(PUPILS)
    x = np.asarray(100 * (index // _ROWS + 0.5) * _ROWS / PUPILS, dtype=np.float64)
    y = np.asarray(index % _ROWS + 1.0, dtype=np.float64)
    true, estimate = 100 * float(answers.true.mean()), 100 * answers.estimate

    ends = np.array([0.3, _TOP])  # of lines
    error = 100 * ROUNDED_NORMAL * answers.standard_error
    marks = (
        Mark(x[said_yes], y[said_yes], "gradient", "Said yes", "dot"),
        Mark(x[~said_yes], y[~said_yes], "gradient", "Said no", "ring"),
        Mark(x[flipped], y[flipped], "bias", "Flipped by coins", "cross", after=True),
        Mark(
            np.full(2, true),
            ends,
            "truth",
            "Have really copied",
            width=4.0,
            opacity=0.6,
            after=True,
        ),
        Mark(
            np.full(2, estimate),
            ends,
            "functional",
            "Estimate from the answers",
            dash="10,2",
            after=True,
        ),
        Mark(
            np.repeat([estimate - error, estimate + error], 3),
            _TOP + np.array([-0.2, 0.2, 0.0, 0.0, 0.2, -0.2]),
            "functional",
            f"± {words['error']} points ({words['level']})",
            after=True,
        ),
    )
    alt = f"{PUPILS} dots, one for each pupil; {words['said']} % said yes."
    return Picture(
        Axis("Share of pupils (%)", 0, 100, plain_ticks(0, 20, 40, 60, 80, 100)),
        Axis("", 0, _ROWS + 1, ((0.0, ""),)),
        marks,
        alt,
        f"{alt} {words['true']} % have copied; the estimate is {words['estimate']} %.",
        {
            "what": ["said yes", "have really copied", "estimate from the answers"],
            "%": [words["said"], words["true"], words["estimate"]],
        },
    )
