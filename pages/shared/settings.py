"""What the visitor has chosen, and the address that brings it back.

The address holds one readable parameter, `s`: the settings that differ from the front page, as
`name-value` words joined by `~`. It holds settings, never data.
"""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import streamlit as st

from engine.errors import InputError
from engine.mechanisms import Mechanism, mechanisms
from engine.mechanisms.sparse_heterogeneous import SparseHeterogeneous
from engine.mechanisms.sparse_inference import SparseInference
from engine.mechanisms.wavelet_pointwise import WaveletPointwise
from engine.privacy.amplification import MOST_PEOPLE
from engine.rates import Rate, rates
from engine.registry import Parameter, Registry
from engine.sources import Source, sources
from engine.sources.upload import Upload
from engine.sources.upload_rows import UploadRows
from engine.tasks import (
    COVARIANCE,
    DENSITY,
    FUNCTIONAL_SUMMARY,
    MEAN_FUNCTION,
    RISK_MINIMISATION,
    SPARSE_REGRESSION,
    VARYING_COEFFICIENTS,
    WAVELET_REGRESSION,
)
from engine.types import Budget
from engine.views import shape
from engine.views.planner import DIALS
from engine.views.preview import EPSILON_STEPS
from engine.views.rate_presets import PRESETS
from engine.views.regression import MOST_KINDS, NETWORKS, Group, Network
from engine.views.sites import PRESETS as SITE_PRESETS
from engine.views.sites import SiteRow
from engine.words import handbook
from pages.shared import pins, site_table, sweep_choice
from pages.shared.sweep_choice import SweepChoice

TASK = MEAN_FUNCTION.key
_BESIDE = (WaveletPointwise, SparseInference, SparseHeterogeneous)
# Every task has its own curves and method: their fields, and their letters in the address.
MEMBERS = {MEAN_FUNCTION.key: (("source", "c"), ("mechanism", "m")),
           VARYING_COEFFICIENTS.key: (("effects_source", "g"), ("effects_mechanism", "k")),
           WAVELET_REGRESSION.key: (("readings_source", "w"), ("readings_mechanism", "v")),
           FUNCTIONAL_SUMMARY.key: (("dense_source", "f"), ("dense_mechanism", "p")),
           DENSITY.key: (("density_source", "d"), ("density_mechanism", "n")),
           COVARIANCE.key: (("covariance_source", "h"), ("covariance_mechanism", "q")),
           RISK_MINIMISATION.key: (("labels_source", "l"), ("labels_mechanism", "u")),
           SPARSE_REGRESSION.key: (("rows_source", "x"), ("rows_mechanism", "y"))}
# Tasks whose records are rows of numbers.
OF_ROWS = (DENSITY.key, RISK_MINIMISATION.key, SPARSE_REGRESSION.key)
# Tasks whose records are whole curves.
OF_CURVES = frozenset({MEAN_FUNCTION.key, FUNCTIONAL_SUMMARY.key, COVARIANCE.key,
                       VARYING_COEFFICIENTS.key})
SUMMARIES = (FUNCTIONAL_SUMMARY.key, DENSITY.key, COVARIANCE.key, RISK_MINIMISATION.key,
             VARYING_COEFFICIENTS.key)  # what Summaries shows, one at a time
# Tasks of the pages that are not about average curves; these share the visitor's own curves.
_PAGE_TASKS = {"coefficients": VARYING_COEFFICIENTS.key, "regression": WAVELET_REGRESSION.key,
               "sparse": SPARSE_REGRESSION.key}
LOWEST_EPSILON, HIGHEST_EPSILON = EPSILON_STEPS[0], EPSILON_STEPS[-1]
VIEWS = ("releases", "ranges", "one")
LINES = ("curves", "without", "truth")
COMPARE = "compare"  # the page whose address carries pins
PICTURE = "picture"  # the key of the live picture
MOST_OF_ONE = 10_000  # protected units of one person
LONGEST_TEXT = 400  # characters of a parameter that is text
LOOKS = {"first_guess": 3, "coefficients_show": 3, "regression_show": 2, "site_lines": 2,
         "trust": 2, "summaries_function": 12, "sparse_show": 2, "sparse_target": 2,
         "sparse_less": 2, "sparse_own": 5, "sparse_along": 4}  # ways to look, and options of each
_FOLD = re.compile(r"[a-z_]{1,40}")
_MOST_FOLDS = 20
AUDIT_PARTS = ("attack", "coverage", "reuse")  # of the page on audits
_WITHOUT_UPLOADS = ("audit", "teach")  # pages that never show the visitor's own data
_LONGEST = 4000  # characters of an address that are read
_PARAMETER = "s"
_SYMBOLS = tuple(dict.fromkeys(s.name for rate in rates.all() for s in rate.symbols))
_CHOICES = {"view": VIEWS, "along": _SYMBOLS, "across": _SYMBOLS, "example": ("", *PRESETS),
            "constants": ("fitted", "one"),
            "against": ("map", "smoothness"), "unknown": DIALS, "summary": SUMMARIES,
            "part": AUDIT_PARTS, "around": ("small", "screen"), "draw": ("same", "fresh"),
            "chapter": (*handbook.CHAPTERS, handbook.GLOSSARY), "about": handbook.method_keys(),
            "presenter": ("off", "on"), "shape": ("", *shape.KINDS)}
_EPSILONS = ("epsilon", "again")
# Choices whose names take a moment to find: "module:function" that gives them, asked for a word.
_FOUND = {"exhibit": "engine.papers:names", "audited": "engine.views.audit:names",
          "variant": "engine.broken:names", "limits": "engine.views.coverage_lab:names",
          "lesson": "engine.lessons:names"}


def _first(shelf: Registry, task: str) -> Any:
    first = shelf.for_task(task)[0]
    return first(**first.presets_for(task)[0][1])


_USUAL = {name: partial(_first, shelf, task) for task, pair in MEMBERS.items()
          for (name, _), shelf in zip(pair, (sources, mechanisms), strict=True)}
# What Compare may show side by side, under the words of the address: label, class and preset.
METHODS = {f"{cls.key}:{k}" if k else cls.key: (label, cls, chosen)
           for cls in mechanisms.for_task(TASK)
           for k, (label, chosen) in enumerate(cls.presets_for(TASK))}
MOST_BUDGETS = 4  # side by side
SHAPE_NUMBERS = ("shape_tolerance", "shape_first", "shape_second", "shape_level")
# Field, letter and registry of everything that can be plugged in.
SHELVES = (*((name, letter, shelf) for pair in MEMBERS.values()
             for (name, letter), shelf in zip(pair, (sources, mechanisms), strict=True)),
           ("rate", "r", rates))
PLUGGED = tuple(name for name, _, _ in SHELVES)


@dataclass(frozen=True)
class Settings:
    """One view of the dashboard; `delta` None means 1/n².

    `sites` is the table of Sites; the sites of a file are never kept here.
    `sweep` is what Sweeps varies.
    `rate`, `along`, `across`, `example` (a figure or table of a paper), `constants` and `against`
    belong to Rates, `exhibit` to Reproduce, `chapter` to Guide, `about` (a method) to Method notes,
    `unknown` and `target` (None: a seventieth of the range of the values) to Plan. `part`,
    `audited` (empty: the method of Explore), `around` (whose data are attacked), `variant` (a
    planted fault), `limits`, `again` (a second ε) and `draw` belong to Audit, `lesson`
    and `presenter` (large type for a class) to Teach.
    Odds are those of a person with `group` protected units; `population` is the size of the group
    that a secret random sample was declared to be drawn of, None where nothing was declared.
    `looks` are choices that change a picture or its words alone, as (key, number of the option),
    and `folds` those that are open, both in order.
    """

    source: Source = field(default_factory=_USUAL["source"])
    mechanism: Mechanism = field(default_factory=_USUAL["mechanism"])
    epsilon: float = 1.0
    delta: float | None = None
    seed: int = 1
    view: str = "releases"
    shown: tuple[str, ...] = ("curves", "without")
    rate: Rate = field(default_factory=lambda: rates.for_task(TASK)[0]())
    along: str = "epsilon"
    across: str = "m"
    example: str = ""
    constants: str = "fitted"
    against: str = "map"
    unknown: str = "epsilon"
    target: float | None = None
    sites: tuple[SiteRow, ...] = SITE_PRESETS["equal"].rows
    sweep: SweepChoice = field(default_factory=SweepChoice)
    effects_source: Source = field(default_factory=_USUAL["effects_source"])
    effects_mechanism: Mechanism = field(default_factory=_USUAL["effects_mechanism"])
    readings_source: Source = field(default_factory=_USUAL["readings_source"])
    readings_mechanism: Mechanism = field(default_factory=_USUAL["readings_mechanism"])
    network: Network = field(default_factory=lambda: Network(next(iter(NETWORKS.values()))))
    point: float = 0.37
    summary: str = SUMMARIES[0]
    exhibit: str = ""
    looks: tuple[tuple[str, int], ...] = ()
    folds: tuple[str, ...] = ()
    dense_source: Source = field(default_factory=_USUAL["dense_source"])
    dense_mechanism: Mechanism = field(default_factory=_USUAL["dense_mechanism"])
    density_source: Source = field(default_factory=_USUAL["density_source"])
    density_mechanism: Mechanism = field(default_factory=_USUAL["density_mechanism"])
    covariance_source: Source = field(default_factory=_USUAL["covariance_source"])
    covariance_mechanism: Mechanism = field(default_factory=_USUAL["covariance_mechanism"])
    labels_source: Source = field(default_factory=_USUAL["labels_source"])
    labels_mechanism: Mechanism = field(default_factory=_USUAL["labels_mechanism"])
    group: int = 1
    population: int | None = None
    rows_source: Source = field(default_factory=_USUAL["rows_source"])
    rows_mechanism: Mechanism = field(default_factory=_USUAL["rows_mechanism"])
    methods: tuple[str, ...] = ()
    budgets: tuple[float, ...] = (0.5, 1.0, 2.0)
    shape: str = ""
    shape_tolerance: float | None = None
    shape_first: float | None = None
    shape_second: float | None = None
    shape_level: float | None = None
    part: str = AUDIT_PARTS[0]
    audited: str = ""
    around: str = "small"
    variant: str = ""
    limits: str = "point"
    again: float = 2.0
    draw: str = "same"
    lesson: str = "1"
    presenter: str = "off"
    chapter: str = handbook.CHAPTERS[0]
    about: str = handbook.method_keys()[0]

    def source_of(self, task: str) -> Source:
        """The recipe for curves of a task."""
        return getattr(self, MEMBERS[task][0][0])

    def mechanism_of(self, task: str) -> Mechanism:
        """The method of a task."""
        return getattr(self, MEMBERS[task][1][0])


FRONT_PAGE = Settings()  # what a bare address stands for

# -- the address ----------------------------------------------------------------------------


def encode(settings: Settings) -> str:
    """The settings that differ from the front page, as one readable token."""
    usual, words = FRONT_PAGE, []
    for name, letter, _ in SHELVES:
        mine, theirs = getattr(settings, name), getattr(usual, name)
        if mine != theirs:
            words.append(f"{letter}-{mine.key}")
            words += [f"{letter}.{name}-{_word(value)}" for name, value in mine.changed().items()
                      if name != "task"]  # the letter says it
    for name in (*_EPSILONS, "delta", "seed", *_CHOICES, *_FOUND, "target", "point", "group",
                 "population", *SHAPE_NUMBERS):
        if getattr(settings, name) != getattr(usual, name):
            words.append(f"{name}-{_word(getattr(settings, name))}")
    if settings.shown != usual.shown:
        words.append(f"shown-{'.'.join(settings.shown) or 'nothing'}")
    if settings.methods != usual.methods:
        words.append(f"methods-{'.'.join(settings.methods)}")
    if settings.budgets != usual.budgets:
        words.append(f"budgets-{'_'.join(map(_word, settings.budgets))}")
    if settings.network != usual.network:
        words.append("network-" + "_".join(f"{g.sites}x{g.readings}x{_word(g.epsilon)}"
                                           for g in settings.network.groups))
    if settings.sites != usual.sites:
        words.append(f"sites-{site_table.word(settings.sites)}")
    words += sweep_choice.words(settings.sweep)
    words += [f"look.{key}-{option}" for key, option in settings.looks]
    if settings.folds:
        words.append(f"open-{'.'.join(settings.folds)}")
    return "~".join(words)


def decode(token: str) -> tuple[Settings, list[str]]:
    """Settings of a token, and the names of what it asked for in vain (usual values stand in)."""
    words = dict(part.partition("-")[::2] for part in token[:_LONGEST].split("~") if part)
    problems: list[str] = []
    settings = replace(FRONT_PAGE, **{
        name: _member(letter, words, shelf, getattr(FRONT_PAGE, name), problems)
        for name, letter, shelf in SHELVES})
    for name, text in words.items():
        if name.partition(".")[0] not in {letter for _, letter, _ in SHELVES}:
            settings = _with(settings, name, text, problems)
    return settings, problems


def _member(letter: str, words: Mapping[str, str], shelf: Registry, usual: Any, problems: list[str]
            ) -> Any:
    """The source or mechanism of a token; parameters that do not fit are left at their usual."""
    if letter not in words:
        return usual
    try:
        cls = shelf.get(words[letter])
    except InputError:
        cls = None
    if cls is None or not _has_a_page(letter, cls):
        problems.append(words[letter])
        return usual
    known = {p.name: p for p in cls.parameters()}
    chosen = _fixed(letter, cls)
    for name, text in words.items():
        if name.startswith(f"{letter}."):
            try:
                value = _value(known[name[2:]], text)
                cls(**{**chosen, name[2:]: value})
                chosen[name[2:]] = value
            except (KeyError, ValueError):
                problems.append(name[2:])
    return cls(**chosen)


def _task_of(letter: str) -> str | None:
    """The task whose curves or method a letter stands for."""
    return next((task for task, pair in MEMBERS.items() if letter in dict(pair).values()), None)


def _fixed(letter: str, cls: Any) -> dict[str, Any]:
    """What the letter alone says of a member that serves several tasks: which one."""
    offered = cls.presets_for(_task_of(letter) or "")
    return {name: value for _, chosen in offered[:1] for name, value in chosen.items()
            if name == "task"}


def _has_a_page(letter: str, cls: Any) -> bool:
    """Whether a letter of the address can stand for this member: it serves the letter's task.

    Some are released beside the method of a page, never in its place: a single point of a curve,
    limits of coefficients, machines that differ.
    """
    task = _task_of(letter)
    return (task is None or task in cls.tasks) and cls not in _BESIDE


def _with(settings: Settings, name: str, text: str, problems: list[str]) -> Settings:
    """One more setting, or a problem noted."""
    try:
        if name in _EPSILONS:
            value: Any = checked_epsilon(float(text))
        elif name == "delta":
            value = Budget(1.0, float(text)).delta
        elif name == "seed":
            value = checked_seed(int(text))
        elif text in _choices(name):
            value = text
        elif name == "target":
            value = checked_target(float(text))
        elif name == "network":
            value = _network(text)
        elif name == "point":
            value = checked_point(float(text))
        elif name == "group":
            value = checked_group(int(text))
        elif name == "population":
            value = checked_population(int(text))
        elif name == "methods":
            value = checked_methods(text.split("."))
        elif name == "budgets":
            value = checked_budgets([float(part) for part in text.split("_")])
        elif name in SHAPE_NUMBERS:
            value = checked_number(float(text), name)
        elif name == "sites":
            value = site_table.rows_of_word(text)
        elif name.startswith("sweep."):
            value = _swept(settings.sweep, name.removeprefix("sweep."), text)
            name = "sweep"
        elif name.startswith("look."):
            value = _looks(settings, name.removeprefix("look."), int(text))
            name = "looks"
        elif name == "open":
            value = _folds(text)
            name = "folds"
        elif name == "shown":
            value = tuple(line for line in LINES if line in text.split("."))
        else:
            raise ValueError(name)
    except ValueError:
        problems.append(name)
        return settings
    return replace(settings, **{name: value})


def _swept(chosen: SweepChoice, name: str, text: str) -> SweepChoice:
    if name == "task" and text not in MEMBERS:
        raise ValueError(text)
    return sweep_choice.with_word(chosen, name, text)


def _looks(settings: Settings, key: str, option: int) -> tuple[tuple[str, int], ...]:
    """The ways to look with one more chosen."""
    if not 0 <= option < LOOKS.get(key, 0):
        raise ValueError(key)
    return tuple(sorted({**dict(settings.looks), key: option}.items()))


def _folds(text: str) -> tuple[str, ...]:
    names = sorted(set(text.split(".")))
    if len(names) > _MOST_FOLDS or not all(_FOLD.fullmatch(name) for name in names):
        raise ValueError(text)
    return tuple(names)


def _choices(name: str) -> Sequence[str]:
    """The words that a setting can be, () for one that is no choice."""
    if name not in _FOUND:
        return _CHOICES.get(name, ())
    module, _, function = _FOUND[name].partition(":")
    return getattr(importlib.import_module(module), function)()


def _network(text: str) -> Network:
    groups = tuple(_group(part) for part in text.split("_"))
    if len(groups) > MOST_KINDS:
        raise InputError(f"There may be at most {MOST_KINDS} kinds of sites; got {len(groups)}.",
                         field="groups")
    return Network(groups)


def _group(text: str) -> Group:
    """Sites of one kind from `16x4000x1`."""
    count, readings, epsilon = text.split("x")
    return Group(int(count), int(readings), float(epsilon))


def checked_point(point: float) -> float:
    if not 0 <= point <= 1:
        raise InputError(f"The point must lie between 0 and 1; got {point:g}.", field="point")
    return point


def checked_group(count: int) -> int:
    if not 1 <= count <= MOST_OF_ONE:
        raise InputError(f"One person has 1 to {MOST_OF_ONE} of them; got {count}.", field="group")
    return count


def checked_population(count: int) -> int:
    if not 1 < count <= MOST_PEOPLE:
        raise InputError(f"The larger group has 2 to {MOST_PEOPLE:,} people; got {count}.",
                         field="population")
    return count


def checked_methods(chosen: Sequence[str]) -> tuple[str, ...]:
    """Words of methods to compare, each once."""
    if not chosen or not set(chosen) <= set(METHODS):
        raise InputError("Choose at least one method to compare.", field="methods")
    return tuple(dict.fromkeys(chosen))


def checked_budgets(chosen: Sequence[float]) -> tuple[float, ...]:
    """Steps of the slider that stand side by side, in order."""
    found = tuple(sorted(set(chosen)))
    if not 1 <= len(found) <= MOST_BUDGETS or not set(found) <= set(EPSILON_STEPS):
        raise InputError(f"Choose one to {MOST_BUDGETS} steps of the slider.", field="budgets")
    return found


def checked_number(value: float, field: str) -> float:
    if not math.isfinite(value):
        raise InputError("A number is needed here.", field=field)
    return value


def checked_target(target: float) -> float:
    if not 0 < target < 1e12:
        raise InputError(f"The error to reach must be above zero; got {target:g}.",
                         field="target", hint="Give it in the unit of the values.")
    return target


def checked_epsilon(epsilon: float) -> float:
    if not LOWEST_EPSILON <= epsilon <= HIGHEST_EPSILON:
        raise InputError(f"ε must lie between {LOWEST_EPSILON:g} and {HIGHEST_EPSILON:g}; got "
                         f"{epsilon:g}.", field="epsilon",
                         hint=f"Beyond {HIGHEST_EPSILON:g} the limit on one person means very "
                              "little.")
    return epsilon


def steps(epsilon: float) -> tuple[float, ...]:
    """The steps of the slider, with a chosen ε put in that is none of them."""
    return steps_of(st.session_state.get("own_epsilon", epsilon), epsilon)


def steps_of(*chosen: float) -> tuple[float, ...]:
    return tuple(sorted({*EPSILON_STEPS, *chosen}))


def set_epsilon(epsilon: float | None) -> None:
    """Choose any ε; the slider gets a step there and moves to it."""
    if epsilon is None:
        raise InputError("ε is needed.", field="epsilon")
    change(epsilon=checked_epsilon(epsilon))
    st.session_state.own_epsilon = epsilon
    st.session_state.rev += 1


def set_delta(delta: float | None, task: str = TASK) -> None:
    """Choose δ; nothing means the usual 1/n²."""
    n = source(task).sizes.n_curves
    if delta is not None and not 0 <= delta < 1 / n:
        raise InputError(f"δ must be 0, or lie above 0 and below 1/n = {1 / n:.3g}; got "
                         f"{delta:g}.", field="delta", hint=f"Usual is 1/n² = {1 / n**2:.2g}.")
    if delta == 0 and current().mechanism_of(task).guarantee == "approximate":
        raise InputError("This method’s noise needs a δ above 0; got 0.", field="delta",
                         hint="Choose another method, or a δ such as 1/n².")
    usual = delta is None or abs(delta * n**2 - 1) < 0.01
    change(delta=None if usual else delta)


def set_seed(seed: int | None) -> None:
    change(seed=checked_seed(0 if seed is None else seed))


def checked_seed(seed: int) -> int:
    if not 0 <= seed < 2**31:
        raise InputError(f"The seed must lie between 0 and {2**31 - 1}.", field="seed")
    return seed


def _word(value: Any) -> str:
    return "none" if value is None else f"{value:.15g}" if isinstance(value, float) else str(value)


def _value(parameter: Parameter, text: str) -> Any:
    """A parameter's value from its word in the address."""
    if text == "none" and parameter.optional:
        return None
    return {"True": True, "False": False}[text] if parameter.kind is bool else parameter.kind(text)


# -- the session ----------------------------------------------------------------------------


def load(page: str) -> None:
    """Take over the address at the first run, after Back and Forward, and when a link is followed.

    A bare address means "front page" after Back on the same page, but "leave as is" after a page
    switch, which drops the parameter. A run that something on the page asked for is no navigation:
    its address may be an earlier one, which the browser has not replaced yet.
    """
    state, seen = st.session_state, st.query_params.get(_PARAMETER, "")
    same_page, state.page = state.get("page") == page, page
    moved = _picture_moved() | state.pop("changed", False)
    if not same_page:
        state.pop("left_out", None)
    is_first = "settings" not in state
    if is_first or (seen != state.written and (seen or same_page) and not moved):
        token, pinned, problems = pins.split(seen)
        state.settings, found = decode(token)
        state.link_problems = found + problems
        if pinned:
            pins.take_over(pinned)
        elif page == COMPARE and same_page:  # Back does not lose pins, nor writes them there again
            state.left_out = pins.kept()
        state.rev = state.get("rev", 0) + 1  # tells the browser side to move
        state.written, state.own_epsilon = seen, state.settings.epsilon
        _move_folds(() if is_first else tuple(state))


def _move_folds(known: tuple[Any, ...]) -> None:
    """Open the folds of the settings and close the others that are known."""
    state = st.session_state
    state.update({name: False for name in known if str(name).startswith("fold_")})
    state.update({f"fold_{name}": True for name in state.settings.folds})


def _picture_moved() -> bool:
    """Whether the live picture reports something else than at the last run."""
    state = st.session_state
    picture = state.get(PICTURE)
    report = picture.get("picked") if isinstance(picture, Mapping) else None
    before, state.last_report = state.get("last_report"), report
    return report is not None and report != before


def save() -> None:
    """Write the settings into the address; a page on one's own data cannot be linked."""
    page = st.session_state.page
    chosen = {"summaries": current().summary, "sweeps": current().sweep.task}
    task = chosen.get(page) or _PAGE_TASKS.get(page, TASK)
    own = page not in _WITHOUT_UPLOADS and uploaded(task)
    token = "" if own else encode(st.session_state.settings)
    if page == COMPARE and not own and pins.kept() != st.session_state.get("left_out"):
        token = pins.join(token, pins.kept())
    st.session_state.written = token
    if st.query_params.get(_PARAMETER, "") == token:
        return
    if token:
        st.query_params[_PARAMETER] = token
    else:
        st.query_params.pop(_PARAMETER, None)


def current() -> Settings:
    return st.session_state.settings


def change(**values: Any) -> None:
    """Replace some settings; the browser side is told to follow where it shows them."""
    st.session_state.settings = replace(current(), **values)
    st.session_state.changed = True
    st.session_state.pop("problem", None)


def look_at(key: str, option: int) -> None:
    """Choose one of the ways to look."""
    change(looks=_looks(current(), key, option))


def note_fold(name: str, is_open: bool) -> None:
    """Keep in the settings whether a fold is open."""
    folds = current().folds
    if (name in folds) != is_open and _FOLD.fullmatch(name):
        changed = {*folds, name} if is_open else {*folds} - {name}
        st.session_state.settings = replace(current(), folds=tuple(sorted(changed)[:_MOST_FOLDS]))


def own_key(task: str) -> str:
    """Where the session keeps the visitor's own data: curves, single readings or records."""
    if task in OF_ROWS:
        return "upload_rows"
    return "upload_readings" if task == WAVELET_REGRESSION.key else "upload"


def own(task: str = TASK) -> Upload | UploadRows | None:
    """The visitor's own data that a task looks at, whether they are shown or not."""
    found = st.session_state.get(own_key(task))
    return found if found is not None and found.serves(task) else None


def show_own(task: str, shown: bool) -> None:
    st.session_state[f"show_{own_key(task)}"] = shown


def uploaded(task: str = TASK) -> bool:
    """Whether the visitor's own data are shown; effects need covariates with stated ranges."""
    found = own(task)
    if found is None or not st.session_state.get(f"show_{own_key(task)}"):
        return False
    return task != VARYING_COEFFICIENTS.key or bool(found.facts.covariates)


def source(task: str = TASK) -> Source:
    """The source on screen: the visitor's own data, or the chosen recipe."""
    found = own(task)
    return found if found is not None and uploaded(task) else current().source_of(task)


def change_source(task: str, chosen: Source) -> None:
    change(**{MEMBERS[task][0][0]: chosen})


def change_mechanism(task: str, chosen: Mechanism) -> None:
    change(**{MEMBERS[task][1][0]: chosen})


def delta(of: Source, task: str = TASK) -> float:
    """The δ of the chosen method: 0 where it never needs one, else the chosen one."""
    return 0.0 if current().mechanism_of(task).guarantee == "pure" else chosen_delta(of)


def chosen_delta(of: Source) -> float:
    """The chosen δ, usually 1/n²."""
    chosen = current().delta
    return usual_delta(of) if chosen is None else chosen


def usual_delta(of: Source) -> float:
    """1/n²: far below 1/n, at which a method could publish one whole curve and still pass."""
    return 1.0 / max(2, of.sizes.n_curves) ** 2  # a single curve would make it 1
