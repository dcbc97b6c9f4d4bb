"""Choices of a visitor: one record of everything on screen, and the allowed values of each.

`pages.shared.state.links` writes it into links, `pages.shared.state.session` keeps the one on
screen.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace

from engine import handbook
from engine.core.enumerations import NoisePlace
from engine.core.errors import InputError
from engine.core.tasks import COUNTED, MEAN_FUNCTION, PUBLISHED, SUMMARIES, TASKS, Task
from engine.language.numbers import exactly
from engine.mechanisms import Mechanism, mechanisms
from engine.privacy.amplification import MAX_PEOPLE
from engine.privacy.failure import Delta, delta_rule
from engine.rates import Rate, rates
from engine.sources import Source, sources
from engine.topics.decision.answer import sized
from engine.topics.mean.answer import EPSILON_STEPS
from engine.topics.planning.budget_split import Split
from engine.topics.planning.periods import MAX_PERIODS
from engine.topics.regression.answer import NETWORKS, Network
from engine.topics.sites.site_table import SiteRow
from engine.topics.sweeps.answer import EPSILON, MAX_VALUES
from pages.shared.state.lab_tasks import ESTIMANDS, LAB_TASKS

# -- what a visitor wants to sweep, as a setting and as words of the address -----------------------


MAX_REPEATS = 1000
_LONGEST_PATH = 60


@dataclass(frozen=True)
class SweepChoice:
    """One or two axes of a task's curves and method; no values means the usual ones."""

    task: str = MEAN_FUNCTION.key
    along: str = EPSILON
    values: tuple[float, ...] = ()
    across: str = ""
    levels: tuple[float, ...] = ()
    repeats: int = 50


def sweep_words(choice: SweepChoice) -> list[str]:
    """Write `sweep.along-source.n_curves` for every value that is not the default."""
    default = SweepChoice()
    return [
        f"sweep.{f.name}-{_sweep_word(getattr(choice, f.name))}"
        for f in fields(choice)
        if getattr(choice, f.name) != getattr(default, f.name)
    ]


def _sweep_word(value: object) -> str:
    return "_".join(map(exactly, value)) if isinstance(value, tuple) else str(value)


def with_sweep_word(choice: SweepChoice, name: str, text: str) -> SweepChoice:
    """Return the choice with one word of an address.

    Raises
    ------
    ValueError
        If the word names nothing or its value cannot be.
    """
    match name:
        case "values":
            return replace(choice, values=_swept_numbers(text))
        case "levels":
            return replace(choice, levels=_swept_numbers(text))
        case "repeats":
            return replace(choice, repeats=checked_repeats(int(text)))
        case "task":
            return replace(choice, task=_sweep_path(text))
        case "along":
            return replace(choice, along=_sweep_path(text))
        case "across":
            return replace(choice, across=_sweep_path(text))
    raise ValueError(name)


def _swept_numbers(text: str) -> tuple[float, ...]:
    values = tuple(float(number) for number in text.split("_"))
    if len(values) > MAX_VALUES or not all(abs(value) < 1e12 for value in values):
        raise ValueError("values")
    return tuple(sorted(set(values)))


def _sweep_path(text: str) -> str:
    if len(text) > _LONGEST_PATH:
        raise ValueError("path")
    return text


def checked_repeats(repeats: int | None) -> int:
    if repeats is None or not 1 <= repeats <= MAX_REPEATS:
        raise InputError(
            f"Repeats must lie between 1 and {MAX_REPEATS}; got {repeats}.",
            field="repeats",
            hint="More can be run on the command line.",
        )
    return repeats


# -- all settings ----------------------------------------------------------------------------------


TASK = MEAN_FUNCTION.key
LOWEST_EPSILON, HIGHEST_EPSILON = EPSILON_STEPS[0], EPSILON_STEPS[-1]
# The tabs of Lab, and the parts of three of them.
TABS = ("estimate", "compare", "theory", "verify", "papers")
COMPARISONS = ("methods", "sweep")
THEORY_PARTS = ("rates", "notes")
AUDIT_PARTS = ("attack", "coverage", "reuse")
VIEWS = ("look", "attack", "methods", "theory")
THEORY_AXES = ("epsilon", "people")
THEORY_SITES = ("2", "4", "10", "20")  # into which theory can split one site
LINES = ("truth",)
QUESTIONS = ("who", "when", "between", "trust", "budget")  # about a file, in the order of Publish
WIZARD = ("data", *QUESTIONS, "preview", "release")  # steps of Publish
MAX_OF_ONE = 10_000  # protected units of one person
LONGEST_TEXT = 400  # characters of a parameter that is text
# Choices that change only a picture or its words; a link holds the option's position.
LOOKS = frozenset(
    {
        "first_guess",
        "coefficients_show",
        "regression_show",
        "site_lines",
        "trust",
        "mean_show",
        "summaries_function",
        "percentiles_show",
        "sparse_show",
        "sparse_target",
        "sparse_less",
        "sparse_own",
        "sparse_along",
        "parts",
        "exhibit_form",
    }
)
MAX_OPTIONS = 50  # options of a choice; a number without an option shows the default
_FOLD = re.compile(r"[a-z_]{1,40}")
MAX_FOLDS = 20


# Methods on Compare, by their words in links: label, class and preset.
METHODS = {
    f"{cls.key}:{k}" if k else cls.key: (label, cls, chosen)
    for cls in mechanisms.for_task(TASK)
    for k, (label, chosen) in enumerate(cls.presets_for(TASK))
}
MAX_BUDGETS = 4  # side by side
GROUPS = "groups"  # the question of shape about two groups
NEXT = "next"  # the question of shape about people outside the data
SHAPE_NUMBERS = ("shape_tolerance", "shape_first", "shape_second", "shape_level")
POWER_NUMBERS = ("power_difference", "power_at")  # fields of the plan for two groups


@dataclass(frozen=True)
class DataAndMethod:
    """The data and the method of a task."""

    source: Source
    mechanism: Mechanism

    @classmethod
    def default(cls, task: Task) -> DataAndMethod:
        """Return the initial choice of a task."""
        return cls(
            sources.default(task.source, task.key), mechanisms.default(task.mechanism, task.key)
        )


@dataclass(frozen=True)
class Settings:
    """One view of the dashboard, in the order of the pages that show it."""

    studies: Mapping[str, DataAndMethod] = field(
        default_factory=lambda: {key: DataAndMethod.default(TASKS[key]) for key in LAB_TASKS}
    )  # by task
    epsilon: float = 1.0
    delta: float | None = None  # 1/n²
    seed: int = 1
    # Explore: the figure or the attacker’s game, further lines, the horizontal axis of theory and
    # the sites into which it splits one, and a question about shape.
    explore_view: str = "look"
    further_lines: tuple[str, ...] = ()
    theory_along: str = THEORY_AXES[0]
    theory_sites: str = "4"
    shape_question: str = ""
    shape_tolerance: float | None = None
    shape_first: float | None = None
    shape_second: float | None = None
    shape_level: float | None = None
    power_difference: float | None = None
    power_at: float | None = None
    # Odds of a person with `group_size` protected units; `population` is the size of the group
    # behind a declared secret random sample.
    group_size: int = 1
    population: int | None = None
    # Decide: the output, a table of sites (default: sites of the curves; sites of a file stay out
    # of settings), the party that adds noise, and the releases of twenty that must reach the
    # target.
    decided_task: str = TASK
    sites: tuple[SiteRow, ...] = ()
    noise_place: str = NoisePlace.SITES
    confidence: str = "19"
    # The size to find; the distance to stay within, usually a seventieth of the values' range; the
    # typical error that the solver is to reach, usually that of the recommendation; right guesses
    # in 100; the most ε by a rule of one's own; a total for several outputs.
    unknown_quantity: str = "epsilon"
    target_distance: float | None = None
    typical_error: float | None = None
    attacker_accuracy: float = 60.0
    epsilon_limit: float | None = None
    budget_split: Split = field(default_factory=Split)
    periods: int | None = None  # releases over time, and how many of them a person is in at most
    stays: int | None = None
    # Learn: the guide in place of the path, the open lesson, if any, its slides, and the class
    # whose pupils guess here.
    learn_part: str = ""
    lesson: str = ""
    presenter: str = "off"
    class_code: str = ""
    # Compare: methods and budgets side by side, and the swept parameter.
    compared_methods: tuple[str, ...] = ()
    compared_budgets: tuple[float, ...] = (0.5, 1.0, 2.0)
    sweep: SweepChoice = field(default_factory=SweepChoice)
    # Lab: the estimand, the tab, and parts of tabs.
    estimand: str = ESTIMANDS[0]
    lab_tab: str = TABS[0]
    compare_part: str = COMPARISONS[0]
    theory_part: str = THEORY_PARTS[0]
    # Further questions on single estimands.
    network: Network = field(default_factory=lambda: Network(next(iter(NETWORKS.values()))))
    evaluation_point: float = 0.37
    summary_task: str = SUMMARIES[0]
    planned_percentile: float | None = None  # usually the highest
    percentile_target: float | None = None
    counted_task: str = COUNTED[0]
    # Rates; `rate_preset` is a figure or table of a paper.
    rate: Rate = field(default_factory=lambda: rates.for_task(TASK)[0]())
    rate_axis: str = "epsilon"
    rate_second_axis: str = "m"
    rate_preset: str = ""
    rate_constants: str = "fitted"
    # Audit: the method attacked (empty: that of Explore), whose data, a planted fault, a second ε.
    audit_part: str = AUDIT_PARTS[0]
    audited_method: str = ""
    audited_data: str = "small"
    planted_fault: str = ""
    coverage_limits: str = "point"
    second_epsilon: float = 2.0
    second_noise: str = "same"
    # Reproduce, Publish, the guide, and Method notes.
    exhibit: str = ""
    published_task: str = PUBLISHED[0]
    publish_step: str = ""  # "": preview, if there are data; else a file, or its first question
    guide_chapter: str = handbook.CHAPTERS[0]
    notes_method: str = "adaptive_mean"
    # Choices that change only a picture or its words, as (key, number of the option), and open
    # folds; both in order.
    looks: tuple[tuple[str, int], ...] = ()
    open_folds: tuple[str, ...] = ()

    @property
    def estimated(self) -> str:
        """The task of the estimand in Lab; of several the one that is looked at."""
        first = next(task for task in LAB_TASKS.values() if self.estimand in task.estimands)
        return getattr(self, first.among) if first.among else first.task.key

    @property
    def source(self) -> Source:
        """The recipe for the curves of Explore."""
        return self.source_of(TASK)

    @property
    def mechanism(self) -> Mechanism:
        """The method of Explore."""
        return self.mechanism_of(TASK)

    def source_of(self, task: str) -> Source:
        """Return the recipe for data of a task, or of the task whose data it borrows."""
        return self.studies[TASKS[task].data_of or task].source

    def has_table(self, task: str) -> bool:
        """True if the sites of these data, and their sizes, are those of the table."""
        return bool(self.sites) and self.source_of(task).has_free_sites

    def studied(self, task: str) -> Source:
        """Return the recipe at the sites that take part, if there is a table of them.

        Data that cannot be had at such sites keep their own, and *Decide* says why.
        """
        source = self.source_of(task)
        if self.has_table(task):
            with suppress(InputError):
                return sized(source, self.sites)
        return source

    def mechanism_of(self, task: str) -> Mechanism:
        """Return the method of a task; the usual one if none can be chosen."""
        if TASKS[task].data_of:
            default: Mechanism = mechanisms.get(TASKS[task].mechanism).by_person()
            return default
        return self.studies[task].mechanism

    def with_study(
        self, task: str, source: Source | None = None, mechanism: Mechanism | None = None
    ) -> Settings:
        """Return the settings with other data or another method of a task."""
        before = self.studies[task]
        study = DataAndMethod(source or before.source, mechanism or before.mechanism)
        return replace(self, studies={**self.studies, task: study})

    def delta_on(self, source: Source, mechanism: Mechanism | None = None) -> Delta:
        """Return δ on these data by `delta_rule`, which also says what a link may state.

        Without a mechanism it is that of all which need one.
        """
        rule = delta_rule if mechanism is None else mechanism.delta
        return rule(source.sizes.n_curves, self.delta)


FRONT_PAGE = Settings()  # settings of a bare address


def steps_of(*chosen: float) -> tuple[float, ...]:
    """Return the steps of the slider, with chosen ones added that are none of them."""
    return tuple(sorted({*EPSILON_STEPS, *chosen}))


# -- what a choice may be ------------------------------------------------------------------


def checked_point(point: float) -> float:
    if not 0 <= point <= 1:
        raise InputError(f"The point must lie between 0 and 1; got {point:g}.", field="point")
    return point


def checked_group(count: int) -> int:
    if not 1 <= count <= MAX_OF_ONE:
        raise InputError(f"One person has 1 to {MAX_OF_ONE} of them; got {count}.", field="group")
    return count


def checked_periods(count: int) -> int:
    if not 1 <= count <= MAX_PERIODS:
        raise InputError(
            f"There can be 1 to {MAX_PERIODS} releases; got {count:,}.", field="periods"
        )
    return count


def checked_population(count: int) -> int:
    if not 1 < count <= MAX_PEOPLE:
        raise InputError(
            f"The larger group has 2 to {MAX_PEOPLE:,} people; got {count}.", field="population"
        )
    return count


def checked_methods(words: Sequence[str]) -> tuple[str, ...]:
    """Check words of methods to compare; return each once."""
    if not words or not set(words) <= set(METHODS):
        raise InputError("Choose at least one method to compare.", field="methods")
    return tuple(dict.fromkeys(words))


def checked_budgets(budgets: Sequence[float]) -> tuple[float, ...]:
    """Check the budgets side by side, which are steps of the slider; return them in order."""
    ordered = tuple(sorted(set(budgets)))
    if not 1 <= len(ordered) <= MAX_BUDGETS or not set(ordered) <= set(EPSILON_STEPS):
        raise InputError(f"Choose one to {MAX_BUDGETS} steps of the slider.", field="budgets")
    return ordered


def checked_number(value: float, field: str) -> float:
    if not math.isfinite(value):
        raise InputError("A number is needed here.", field=field)
    return value


def checked_target(target: float) -> float:
    if not 0 < target < 1e12:
        raise InputError(
            f"The error to reach must be above zero; got {target:g}.",
            field="target",
            hint="Give it in the unit of the values.",
        )
    return target


def checked_percentile(percentile: float) -> float:
    if not 0 < percentile < 100:
        raise InputError(
            f"A percentile must lie between 0 and 100; got {percentile:g}.",
            field="planned_percentile",
        )
    return percentile


def checked_risk(risk: float) -> float:
    if not 50 < risk < 100:
        raise InputError(
            f"The attacker’s accuracy must lie above 50 % and below 100 %; got {risk:g} %.",
            field="risk",
            hint="Guessing is right in 50 % of cases.",
        )
    return risk


def checked_rule(rule: float | None) -> float | None:
    if rule is not None and not 0.01 <= rule <= 100:
        raise InputError(
            f"A rule must lie between 0.01 and 100; got {rule:g}.",
            field="rule",
            hint="Leave it empty if there is none.",
        )
    return rule


def checked_epsilon(epsilon: float) -> float:
    if not LOWEST_EPSILON <= epsilon <= HIGHEST_EPSILON:
        why = (
            f"Below {LOWEST_EPSILON:g} noise hides nearly everything."
            if epsilon < 1
            else f"Beyond {HIGHEST_EPSILON:g} there is hardly any privacy."
        )
        raise InputError(
            f"ε must lie between {LOWEST_EPSILON:g} and {HIGHEST_EPSILON:g}; got {epsilon:g}.",
            field="epsilon",
            hint=why,
        )
    return epsilon


def checked_seed(seed: int) -> int:
    if not 0 <= seed < 2**31:
        raise InputError(f"The seed must lie between 0 and {2**31 - 1}.", field="seed")
    return seed


def checked_folds(names: Iterable[str]) -> tuple[str, ...]:
    """Check the names of folds; return each once and in order."""
    ordered = tuple(sorted(set(names)))
    if len(ordered) > MAX_FOLDS or not all(map(_FOLD.fullmatch, ordered)):
        raise InputError(f"At most {MAX_FOLDS} folds can be open.", field="folds")
    return ordered


def with_look(
    looks: Sequence[tuple[str, int]], key: str, option: int
) -> tuple[tuple[str, int], ...]:
    """Return the ways to look with one more chosen."""
    if key not in LOOKS or not 0 <= option < MAX_OPTIONS:
        raise InputError("There is no such way to look.", field=key)
    return tuple(sorted({**dict(looks), key: option}.items()))
