"""Audit: two answer of one average, and what a formula makes of them."""

from __future__ import annotations

from engine.topics.asking import Numbers, QuestionKind, QuestionLike, as_floats
from engine.topics.reuse import charts
from engine.topics.reuse.answer import ReuseAnswer, reuse_answer


def _numbers(answer: ReuseAnswer, _: QuestionLike) -> Numbers:
    """Collect the error of each release, and the result of the formula."""
    first, second = (budget.epsilon for budget in answer.budgets)
    first_noise, second_noise = answer.noise
    return as_floats(
        {
            f"first release (ε = {first:g}), typically off by": first_noise,
            f"second release (ε = {second:g}), typically off by": second_noise,
            "what the formula gives, off by at most": answer.largest_error,
        }
    )


KIND = QuestionKind(
    "reuse", "Audit: reused noise", reuse_answer, _numbers, lambda answer, _: charts.reused(answer)
)
