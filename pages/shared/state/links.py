"""Links to settings, as one readable token of `name-value` words joined by `~`.

A link holds only differences from the front page, and settings, never data. Unknown or invalid
settings are named and replaced by the default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from engine import handbook
from engine.core.enumerations import NoisePlace
from engine.core.errors import InputError
from engine.core.registry import Parameter, Registry
from engine.core.tasks import COUNTED, PUBLISHED, SUMMARIES
from engine.core.types import Budget
from engine.language.numbers import exactly
from engine.mechanisms import Mechanism, mechanisms
from engine.rates import Rate, rates
from engine.sources import Source, sources
from engine.topics.decision.answer import DECIDED, SHARES
from engine.topics.mean import shape
from engine.topics.planning import budget_split
from engine.topics.planning.answer import DIALS
from engine.topics.rates.answer import PRESETS
from engine.topics.regression.answer import MAX_KINDS, Group, Network
from pages.shared.server import classroom
from pages.shared.state import allowed, settings, site_table, sweep_choice
from pages.shared.state.lab_tasks import ESTIMANDS, LAB_TASKS
from pages.shared.state.link_words import of_today, word_of
from pages.shared.state.settings import FRONT_PAGE, DataAndMethod, Settings
from pages.shared.state.sweep_choice import SweepChoice

_LONGEST = 4000  # longest readable address, in characters
_RATE = "r"  # the letter of the rate
LETTERS = (*(letter for offered in LAB_TASKS.values() for letter in offered.letters), _RATE)


def encode(wanted: Settings) -> str:
    """Write the settings that differ from the front page."""
    return "~".join(
        [
            *_plugged_words(wanted),
            *_single_words(wanted),
            *sweep_choice.words(wanted.sweep),
            *(f"look.{key}-{option}" for key, option in wanted.looks),
        ]
    )


def decode(token: str) -> tuple[Settings, list[str]]:
    """Read the settings of a token, and the names of those that are unknown or invalid."""
    words = of_today(dict(part.partition("-")[::2] for part in token[:_LONGEST].split("~") if part))
    problems: list[str] = []
    studies = {
        task: _study(LAB_TASKS[task].letters, words, default, problems)
        for task, default in FRONT_PAGE.studies.items()
    }
    rate = _plugged(_RATE, words, rates, FRONT_PAGE.rate, problems)
    wanted = replace(FRONT_PAGE, studies=studies, rate=rate)
    for name, text in words.items():
        if name.partition(".")[0] not in LETTERS:
            try:
                wanted = _with(wanted, name, text)
            except (KeyError, ValueError):
                problems.append(name)
    return wanted, problems


# -- what can be plugged in: `c-growth_curves~c.n_curves-60` --------------------------------------


def _plugged_words(wanted: Settings) -> Iterator[str]:
    default = _members(FRONT_PAGE)
    for letter, mine in _members(wanted).items():
        if mine != default[letter]:
            yield f"{letter}-{mine.key}"
            yield from (
                f"{letter}.{parameter}-{_plain(value)}"
                for parameter, value in mine.changed().items()
                if parameter != "task"
            )  # the letter names it


def _members(chosen: Settings) -> dict[str, Source | Mechanism | Rate]:
    """Return all plugged-in members, by letter."""
    by_letter: dict[str, Source | Mechanism | Rate] = {}
    for task, study in chosen.studies.items():
        of_source, of_mechanism = LAB_TASKS[task].letters
        by_letter |= {of_source: study.source, of_mechanism: study.mechanism}
    return by_letter | {_RATE: chosen.rate}


def _study(
    letters: tuple[str, str], words: Mapping[str, str], default: DataAndMethod, problems: list[str]
) -> DataAndMethod:
    of_source, of_mechanism = letters
    return DataAndMethod(
        _plugged(of_source, words, sources, default.source, problems),
        _plugged(of_mechanism, words, mechanisms, default.mechanism, problems),
    )


def _plugged(
    letter: str, words: Mapping[str, str], shelf: Registry, default: Any, problems: list[str]
) -> Any:
    """Read the source or mechanism of a token; parameters that do not fit keep their defaults."""
    if letter not in words:
        return default
    try:
        cls = shelf.get(words[letter])
    except InputError:
        cls = None
    if cls is None or not has_a_page(letter, cls):
        problems.append(words[letter])
        return default
    known = {p.name: p for p in cls.parameters()}
    values = fixed_by(letter, cls)
    for name, text in words.items():
        if name.startswith(f"{letter}."):
            try:
                value = _value(known[name[2:]], text)
                cls(**{**values, name[2:]: value})
                values[name[2:]] = value
            except (KeyError, ValueError):
                problems.append(name[2:])
    return cls(**values)


def fixed_by(letter: str, cls: Any) -> dict[str, Any]:
    """Return the task that the letter fixes, for a member that serves several tasks."""
    offered = cls.presets_for(_task_of(letter) or "")
    return {
        name: value for _, values in offered[:1] for name, value in values.items() if name == "task"
    }


def has_a_page(letter: str, cls: Any) -> bool:
    """True if a letter of the address can stand for this member: it serves the letter's task."""
    task = _task_of(letter)
    return (task is None or task in cls.tasks) and not getattr(cls, "stands_beside", False)


def _task_of(letter: str) -> str | None:
    """Return the task whose curves or method a letter stands for."""
    return next((task for task, offered in LAB_TASKS.items() if letter in offered.letters), None)


def _value(parameter: Parameter, text: str) -> Any:
    """Read a parameter's value from its word in the address."""
    if text == "none" and parameter.optional:
        return None
    return {"True": True, "False": False}[text] if parameter.kind is bool else parameter.kind(text)


# -- everything else: one word for each setting ------------------------------------------------


def _plain(value: Any) -> str:
    return "none" if value is None else exactly(value) if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Word:
    """The conversion of a setting from text, with a ValueError if it is invalid, and to text."""

    read: Callable[[str], Any]
    write: Callable[[Any], str] = _plain


_SYMBOLS = tuple(dict.fromkeys(s.name for rate in rates.all() for s in rate.symbols))
_CHOICES: dict[str, Sequence[str]] = {
    "explore_view": settings.VIEWS,
    "theory_along": settings.THEORY_AXES,
    "theory_sites": settings.THEORY_SITES,
    "rate_axis": _SYMBOLS,
    "rate_second_axis": _SYMBOLS,
    "rate_preset": ("", *PRESETS),
    "rate_constants": ("fitted", "one"),
    "unknown_quantity": DIALS,
    "estimand": ESTIMANDS,
    "lab_tab": settings.TABS,
    "compare_part": settings.COMPARISONS,
    "theory_part": settings.THEORY_PARTS,
    "summary_task": SUMMARIES,
    "counted_task": COUNTED,
    "audit_part": settings.AUDIT_PARTS,
    "audited_data": ("small", "screen"),
    "second_noise": ("same", "fresh"),
    "guide_chapter": (*handbook.CHAPTERS, handbook.GLOSSARY),
    "notes_method": handbook.method_keys(),
    "published_task": PUBLISHED,
    "publish_step": ("", *settings.WIZARD),
    "presenter": ("off", "on"),
    "learn_part": ("", "guide"),
    "shape_question": ("", *shape.KINDS, settings.GROUPS, settings.NEXT),
    "decided_task": (*DECIDED,),
    "noise_place": (*NoisePlace,),
    "confidence": (*SHARES,),
}


def _exhibits() -> Sequence[str]:
    from engine import exhibits

    return exhibits.names() if exhibits.is_installed() else ()


def _audited() -> Sequence[str]:
    from engine.topics.audit import answer

    return answer.names()


def _broken() -> Sequence[str]:
    from engine.audit import broken

    return [variant.name for variant in broken.bugs()]


def _coverage_limits() -> Sequence[str]:
    from engine.topics.coverage import answer

    return answer.names()


def _lessons() -> Sequence[str]:
    from engine import lessons

    return lessons.names()


# Choices with slow imports, loaded only for a link with one of these words.
_SELDOM: dict[str, Callable[[], Sequence[str]]] = {
    "exhibit": _exhibits,
    "audited_method": _audited,
    "planted_fault": _broken,
    "coverage_limits": _coverage_limits,
    "lesson": _lessons,
}
CHOICES = (*_CHOICES, *_SELDOM)  # settings that are one of a few words


def choices(name: str) -> Sequence[str]:
    """Return the words allowed for a setting of `CHOICES`."""
    return _CHOICES[name] if name in _CHOICES else _SELDOM[name]()


def _one_of(name: str, text: str) -> str:
    if text not in choices(name):
        raise ValueError(name)
    return text


_EARLIER_VIEWS = ("releases", "ranges", "one")  # views of the first edition, now one figure
_EARLIER_STEPS = ("file", "bounds")  # steps of Publish of the first edition


def _network(text: str) -> Network:
    """Read sites of several kinds from `16x4000x1_2x500x0.5`."""
    groups = tuple(_group(part) for part in text.split("_"))
    if len(groups) > MAX_KINDS:
        raise InputError(
            f"There may be at most {MAX_KINDS} kinds of sites; got {len(groups)}.", field="groups"
        )
    return Network(groups)


def _group(text: str) -> Group:
    count, readings, epsilon = text.split("x")
    return Group(int(count), int(readings), float(epsilon))


def _network_word(network: Network) -> str:
    return "_".join(f"{g.sites}x{g.readings}x{_plain(g.epsilon)}" for g in network.groups)


def _number(name: str, text: str) -> float:
    return allowed.number(float(text), name)


_NUMBER = {
    name: Word(partial(_number, name))
    for name in (*settings.SHAPE_NUMBERS, *settings.POWER_NUMBERS)
}
_WORDS = {
    "epsilon": Word(lambda text: allowed.epsilon(float(text))),
    "second_epsilon": Word(lambda text: allowed.epsilon(float(text))),
    "delta": Word(lambda text: Budget(1.0, float(text)).delta),
    "seed": Word(lambda text: allowed.seed(int(text))),
    **{name: Word(partial(_one_of, name)) for name in CHOICES},
    "explore_view": Word(
        lambda text: _one_of("explore_view", "look" if text in _EARLIER_VIEWS else text)
    ),
    "publish_step": Word(
        lambda text: _one_of("publish_step", "data" if text in _EARLIER_STEPS else text)
    ),
    "target_distance": Word(lambda text: allowed.target(float(text))),
    "typical_error": Word(lambda text: allowed.target(float(text))),
    "planned_percentile": Word(lambda text: allowed.percentile(float(text))),
    "percentile_target": Word(lambda text: allowed.target(float(text))),
    "attacker_accuracy": Word(lambda text: allowed.risk(float(text))),
    "epsilon_limit": Word(lambda text: allowed.rule(float(text))),
    "budget_split": Word(budget_split.of_word, budget_split.word),
    "evaluation_point": Word(lambda text: allowed.point(float(text))),
    "group_size": Word(lambda text: allowed.group(int(text))),
    "periods": Word(lambda text: allowed.periods(int(text))),
    "stays": Word(lambda text: allowed.periods(int(text))),
    "population": Word(lambda text: allowed.population(int(text))),
    **_NUMBER,
    "further_lines": Word(
        lambda text: tuple(line for line in settings.LINES if line in text.split(".")),
        lambda lines: ".".join(lines) or "nothing",
    ),
    "compared_methods": Word(lambda text: allowed.methods(text.split(".")), ".".join),
    "compared_budgets": Word(
        lambda text: allowed.budgets([float(part) for part in text.split("_")]),
        lambda budgets: "_".join(map(_plain, budgets)),
    ),
    "network": Word(_network, _network_word),
    "sites": Word(site_table.rows_of_word, site_table.word),
    "class_code": Word(classroom.checked_code),
    "open_folds": Word(lambda text: allowed.folds(text.split(".")), ".".join),
}
_SETTING_OF = {word_of(name): name for name in _WORDS}


def _single_words(wanted: Settings) -> Iterator[str]:
    for name, word in _WORDS.items():
        value = getattr(wanted, name)
        # without a word for its function, a link to summaries is an earlier one (`of_today`)
        is_named = name == "summary_task" and wanted.estimand == "summaries"
        if is_named or value != getattr(FRONT_PAGE, name):
            yield f"{word_of(name)}-{word.write(value)}"


def _with(current: Settings, name: str, text: str) -> Settings:
    """Add one setting; a KeyError or ValueError if there is no such setting or value."""
    start, _, rest = name.partition(".")
    if start == "sweep":
        return replace(current, sweep=_swept(current.sweep, rest, text))
    if start == "look":
        return replace(current, looks=settings.with_look(current.looks, rest, int(text)))
    field = _SETTING_OF[name]
    return replace(current, **{field: _WORDS[field].read(text)})


def _swept(choice: SweepChoice, name: str, text: str) -> SweepChoice:
    if name == "task" and text not in LAB_TASKS:
        raise ValueError(text)
    return sweep_choice.with_word(choice, name, text)
