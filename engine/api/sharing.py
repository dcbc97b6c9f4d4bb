"""One HTML file for somebody who has no Python."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.core.errors import InputError
from engine.core.typed import checked
from engine.exports import sharing
from engine.exports.one_file import SharedPage
from engine.lessons import lessons
from engine.mechanisms import Mechanism
from engine.questions import kinds
from engine.release.published import Published
from engine.sources import Source


@checked
def share(
    what: Any, method: Mechanism | None = None, *, epsilon: float = 1.0, seed: int = 1
) -> SharedPage:
    """A figure, a decision, a lesson or a published release as one HTML file without requests.

    Parameters
    ----------
    what : Source, Published, mapping, int, str or Path
        Simulated or bundled data, a release, a question as JSON that *Code for this view* gives
        (of a curve, a count or a decision), the number of a lesson, or a path of a release (its
        .zip, or a folder with its files) or of a question.
    method : Mechanism, optional
        For data: the usual one if left out.
    epsilon : float
        For data: where the slider begins.
    seed : int
        Seed of simulated data and noise; real releases have none.

    Returns
    -------
    SharedPage
        `html` in bytes; `save` writes it, and a notebook shows it in a frame.

    Raises
    ------
    InputError
        For data of an own file: their figure shows people. Send the card of a release instead.

    Examples
    --------
    >>> from engine import api as pc
    >>> page = pc.share(2)
    >>> page.title
    'Lesson 2 of 8: means survive, one child hides'
    """
    if isinstance(what, Source):
        return sharing.of_data(what, method or sharing.usual_method(what), epsilon, seed)
    if isinstance(what, Published):
        return sharing.of_release(what)
    if isinstance(what, Mapping):
        return sharing.of_question(kinds.from_plain(what))
    if isinstance(what, str | Path):
        path = Path(what)
        if os.path.isdir(path):
            return sharing.of_paths([path / "guarantee.json", path / "release.csv"])
        return sharing.of_paths([path])
    numbers = range(1, len(lessons.all()) + 1)
    if isinstance(what, int) and not isinstance(what, bool) and what in numbers:
        return sharing.of_lesson(str(what), seed)
    raise InputError(
        f"There is nothing to send of {type(what).__name__}.",
        field="what",
        hint="Give a source, a release, a question, the number of a lesson "
        f"(1 to {len(numbers)}) or a path.",
    )
