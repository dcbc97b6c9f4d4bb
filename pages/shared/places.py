"""Places of the dashboard, and destinations of addresses of earlier editions.

A page answers at the name of its script. A former page that is now part of another one has a line
in `EARLIER`: its address still works, with the settings it carries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pages.shared.state import lab_tasks
from pages.shared.state.link_words import word_of

# Menu section ("" for the top level), script in `pages/`, title.
PAGES = (
    ("", "explore.py", "Explore"),
    ("", "decide.py", "Decide"),
    ("", "learn.py", "Learn"),
    ("", "lab.py", "Lab"),
    ("", "publish.py", "Publish"),
)


class Moved(NamedTuple):
    """The new place of an earlier page: the page, and the words of an address that show it."""

    page: str
    token: str = ""
    renamed: tuple[str, str] = ("", "")  # a setting's name there, and its name today

    def with_settings(self, token: str) -> str:
        """Return the new address: settings of the earlier page, then those of the part."""
        before, today = self.renamed
        words = [
            f"{today}-{word.removeprefix(f'{before}-')}"
            if before and word.startswith(f"{before}-")
            else word
            for word in token.split("~")
        ]
        return "~".join(filter(None, (self.token, *words)))


# Keys are addresses of earlier pages.
EARLIER = {
    "plan": Moved("decide", "open-planner", ("target", "typical")),
    "sites": Moved("decide", "sites-equal~open-hospitals"),
    "teach": Moved("learn", "lesson-1"),
    "guide": Moved("learn", "learn-guide"),
    "release": Moved("publish", "step-release"),
    "coefficients": Moved("lab", "estimand-coefficients"),
    "regression": Moved("lab", "estimand-regression"),
    "summaries": Moved("lab", "estimand-summaries"),
    "sparse": Moved("lab", "estimand-sparse"),
    "compare": Moved("lab", "tab-compare"),
    "sweeps": Moved("lab", "tab-compare~comparison-sweep"),
    "rates": Moved("lab", "tab-theory"),
    "methods": Moved("lab", "tab-theory~theory-notes"),
    "audit": Moved("lab", "tab-verify"),
    "reproduce": Moved("lab", "tab-papers"),
}


def present(page: str, token: str = "") -> tuple[str, str]:
    """Return the page and the token that today show the content of an address of any edition.

    `page` is the part behind the slash; "" or "home" for the first page.
    """
    if page not in EARLIER:
        return page, token
    moved = EARLIER[page]
    return moved.page, "~".join(filter(None, (moved.with_settings(token), estimand_in(token))))


def estimand_in(token: str) -> str:
    """Return the words that choose Lab's estimand, if settings of an earlier page imply one.

    Earlier pages chose problems themselves: with a sweep, a rate, the attacked method or the
    repeated limits.
    """
    words = dict(word.partition("-")[::2] for word in token.split("~"))
    task = next(
        (
            task
            for name, task_of in _TASK_IN.items()
            if name in words
            for task in task_of(words[name])
        ),
        "",
    )
    return "~".join(
        f"{word_of(setting)}-{value}" for setting, value in lab_tasks.settings_of(task).items()
    )


def _of_rate(key: str) -> Sequence[str]:
    from engine.rates import rates  # on first use: few links of few pages name one

    return [task for rate in rates.all() if rate.key == key for task in sorted(rate.tasks)]


def _of_limits(key: str) -> Sequence[str]:
    from engine.topics.coverage.answer import KINDS

    return (KINDS[key].task,) if key in KINDS else ()


# Tasks of a word of an address, by its name.
_TASK_IN: dict[str, Callable[[str], Sequence[str]]] = {
    "sweep.task": lambda key: (key,),
    "r": _of_rate,
    "limits": _of_limits,
    "audited": lambda key: (key.rpartition(".")[2],),
}
