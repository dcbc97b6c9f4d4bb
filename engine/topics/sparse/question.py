"""Sparse regression: how far the coefficients are off, and which features are found."""

from __future__ import annotations

from engine.asking import WITHIN, Asked, Kind, Numbers, as_floats, protection
from engine.tasks import SPARSE_REGRESSION
from engine.theme import Chart
from engine.topics.sparse import charts
from engine.topics.sparse.answer import SparseView, sparse_view


def numbers(view: SparseView, asked: Asked) -> Numbers:
    """The distance, the features that are found, and the protection."""
    warned = max((share for _, share in view.warnings), default=0.0)
    found = {"error": view.error, WITHIN: view.within,
             "features that matter": float(len(view.support)),
             "of these found, on average": float(view.found.sum()),
             "chosen in vain, on average": view.false,
             "releases with a warning, at most": warned}
    return as_floats(found) | protection(view.spends, asked.person)


def chart(view: SparseView, _: Asked) -> Chart:
    """The coefficients."""
    return charts.coefficients(view, "light")


KIND = Kind("sparse", "Sparse regression", sparse_view, numbers, chart, (SPARSE_REGRESSION.key,))
