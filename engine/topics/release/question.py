"""Release: what would be charged, and the odds that this allows."""

from __future__ import annotations

from engine.figures import traces
from engine.figures.theme import Chart
from engine.language.numbers import number
from engine.release.certified import ReleaseCost
from engine.release.published import release_cost
from engine.topics.asking import Numbers, QuestionKind, QuestionLike, odds


def _numbers(cost: ReleaseCost, question: QuestionLike) -> Numbers:
    """Collect certified and ideal cost, how many numbers get noise, and the odds."""
    return {
        "certified ε": cost.certified.epsilon,
        "certified δ": cost.certified.delta,
        "ideal ε": cost.ideal.epsilon,
        "noisy numbers": float(cost.numbers),
        **odds(cost.certified_spends, question.person),
    }


def _chart(cost: ReleaseCost, _: QuestionLike) -> Chart:
    """Draw both costs."""
    return traces.table(
        {
            "way of counting": ["certified", "ideal"],
            "ε": [cost.certified.epsilon, cost.ideal.epsilon],
        },
        title=f"Certified cost ε = {number(cost.certified.epsilon)}",
    )


KIND = QuestionKind(
    "release", "Release", release_cost, _numbers, _chart, renamed=(("asked", "budget"),)
)
