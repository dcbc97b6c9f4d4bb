"""Lesson 8: the attacker's game, and why nobody wins it for long."""

from __future__ import annotations

import math

import numpy as np

from engine.core.types import Budget
from engine.figures.drawn import Axis, Mark, Picture, plain_ticks
from engine.language import tags
from engine.language.numbers import percent_up
from engine.lessons import Guess, Lesson, Option, Quiz, See, Worked, lessons
from engine.lessons.what_epsilon_does import DELTA, METHOD, SOURCE
from engine.privacy import risk
from engine.topics.mean.answer import mean_over_budgets

BUDGET = Budget(1.0, DELTA)
ROUNDS = 20
COIN = 0.5
_MAX = 20.0  # % on the vertical axis
_START = 17.0  # rounds; far from what is right, and inside the picture


def _best_accuracy(seed: int) -> risk.Odds:
    """The most that any attacker can be right in the released mean."""
    answer = mean_over_budgets(SOURCE, METHOD, DELTA, seed, (BUDGET.epsilon,))
    return risk.of_ledger(answer.spends[0])


@lessons.register
class AttackersGame(Lesson):
    """Twenty rounds against a released mean: luck hides how little there is to see."""

    key = "8"
    order = 8
    minutes = 8
    has_game = True
    label = "be the attacker"
    unit = tags.unit_tag(SOURCE.facts)
    story = (
        "Now you attack. {n} children took part; their mean growth curve is released with "
        "ε = {epsilon}.",
        "Each round shows two curves. One child is in the data, the other is not. You know "
        "everything else, and you see the release.",
        "Guess first how well anybody could do. Then play {rounds} rounds yourself.",
    )
    ask = "On average, how many of {rounds} rounds can an attacker win at most?"
    shows = (
        "From the release no attacker wins more than **{best} of {rounds}** rounds on "
        "average, whoever the two children are. That is an accuracy of at most {accuracy}. "
        "Guessing wins {coin}. Now play yourself."
    )
    explains = (
        "No cleverness helps: the bound follows from the noise. It holds for every attack on the "
        "release, including those nobody has thought of yet.",
        "One game says little. Pure guessing wins {low} to {high} rounds in {share} of games.",
        "So an attack that fails proves nothing. An audit plays many thousands of rounds, and only "
        "a proof covers all attacks.",
    )
    question = Quiz(
        "A pupil wins {high} of {rounds} rounds. What follows?",
        (
            Option(
                "Luck is enough to explain it.",
                "Pure guessing wins {low} to {high} rounds in {share} of games.",
                True,
            ),
            Option(
                "The mechanism is broken.",
                "For that, luck must be ruled out. An audit plays many thousands of rounds.",
            ),
            Option(
                "This pupil knows who took part.",
                "Possible, but {high} of {rounds} is no "
                "evidence for it. Whoever knows that wins every round.",
            ),
        ),
    )
    terms = ("Neighbours", "Odds", "Audit")
    see = (See("lab.py", "Attack a faulty program in the Lab", "tab-verify"),)

    @classmethod
    def work(cls, seed: int) -> Worked:
        from scipy.stats import binom  # on first use: it takes a moment

        odds = _best_accuracy(seed)
        best = ROUNDS * odds.right
        low, high = (int(count) for count in binom.ppf([0.025, 0.975], ROUNDS, COIN))
        words = {
            "n": str(SOURCE.n_curves),
            "epsilon": f"{BUDGET.epsilon:g}",
            "rounds": str(ROUNDS),
            "best": f"{_tenths_up(best):.1f}",
            "coin": f"{ROUNDS * COIN:g}",
            "accuracy": percent_up(odds.right),
            "low": str(low),
            "high": str(high),
            "share": "95 %",
        }
        guess = Guess(
            (best,),
            (_START,),
            ("Rounds that an attacker can win",),
            close=1.0,
            step=0.5,
            unit=f"of {ROUNDS}",
            decimals=1,
            off_unit="rounds",
        )
        return Worked(words, _picture(odds.right, words), guess, tags.budget_chip(BUDGET))


def _tenths_up(bound: float) -> float:
    """An upper bound to a tenth, rounded up as all bounds are."""
    return math.ceil(round(10 * bound, 6)) / 10


def _picture(accuracy: float, words: dict[str, str]) -> Picture:
    """Draw how many rounds are won, by guessing and at the bound of all attackers."""
    from scipy.stats import binom  # on first use: it takes a moment

    wins = np.arange(ROUNDS + 1.0)
    guessing, attacking = (100 * binom.pmf(wins, ROUNDS, chance) for chance in (COIN, accuracy))
    marks = (
        Mark(wins, guessing, "raw", "Pure guessing", "dot"),
        Mark(wins, guessing, "raw", width=1.2, opacity=0.6),
        Mark(wins, attacking, "gradient", "An attacker at the bound", "ring", after=True),
        Mark(wins, attacking, "gradient", width=1.6, after=True),
        Mark(
            np.full(2, ROUNDS * accuracy), np.array([0.0, _MAX]), "gradient", dash="6,4", after=True
        ),
    )
    alt = f"Of {ROUNDS} rounds, pure guessing mostly wins {words['low']} to {words['high']}."
    return Picture(
        Axis(f"Rounds won (of {ROUNDS})", 0, ROUNDS, plain_ticks(*range(0, ROUNDS + 1, 2))),
        Axis("Share of games (%)", 0, _MAX, plain_ticks(0, 5, 10, 15, 20)),
        marks,
        alt,
        f"{alt} An attacker can win at most {words['best']} on average.",
        {
            "rounds won": wins.astype(int).tolist(),
            "pure guessing (%)": [round(float(v), 2) for v in guessing],
            "an attacker at the bound (%)": [round(float(v), 2) for v in attacking],
        },
    )
