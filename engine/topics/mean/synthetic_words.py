"""The watermark of synthetic people, in a file and in a picture."""

from __future__ import annotations

from engine.core.types import Budget
from engine.language.numbers import small


def watermark(name: str, budget: Budget) -> str:
    """What stands at the head of every file and in every picture of synthetic people.

    Parameters
    ----------
    name : str
        Of the release.
    budget : Budget
        Its guarantee.
    """
    return (f"Synthetic people, drawn from a private release ({name}, ε = "
            f"{budget.epsilon:.4g}, δ = {small(budget.delta)}). No row is a person. They keep "
            "the released mean curve and how people vary around it in 3 basis functions, nothing "
            "else. Do not use them to find subgroups or outliers; intervals must add the "
            "release’s own uncertainty.")
