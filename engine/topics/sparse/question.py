"""Sparse regression: how far the coefficients are off, and which features are found."""

from __future__ import annotations

from engine.core.tasks import SPARSE_REGRESSION
from engine.topics.asking import WITHIN, Numbers, QuestionKind, QuestionLike, as_floats, protection
from engine.topics.sparse import charts
from engine.topics.sparse.answer import SparseAnswer, sparse_answer


def _numbers(answer: SparseAnswer, question: QuestionLike) -> Numbers:
    """Collect the distance, the features that are found, and the protection."""
    warned = max((share for _, share in answer.warnings), default=0.0)
    values = {
        "error": answer.error,
        WITHIN: answer.within,
        "features that matter": float(len(answer.support)),
        "of these found, on average": float(answer.selection_rates.sum()),
        "chosen in vain, on average": answer.false,
        "releases with a warning, at most": warned,
    }
    return as_floats(values) | protection(answer.spends, question.person)


KIND = QuestionKind(
    "sparse",
    "Sparse regression",
    sparse_answer,
    _numbers,
    lambda answer, _: charts.coefficients(answer),
    (SPARSE_REGRESSION.key,),
)
