"""Choices of a visitor: one record of everything on screen.

`pages.shared.state.links` writes it into links, `pages.shared.state.session` keeps the one on
screen, and `pages.shared.state.allowed` has the values that each may take.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from engine import handbook
from engine.core.enumerations import NoisePlace
from engine.core.errors import InputError
from engine.core.tasks import COUNTED, MEAN_FUNCTION, PUBLISHED, SUMMARIES, TASKS, Task
from engine.core.types import Budget
from engine.mechanisms import Mechanism, mechanisms
from engine.privacy.failure import Delta, delta_rule
from engine.rates import Rate, rates
from engine.sources import Source, sources
from engine.topics.decision.answer import sized
from engine.topics.mean.answer import EPSILON_STEPS
from engine.topics.planning.budget_split import Split
from engine.topics.regression.answer import NETWORKS, Network
from engine.topics.sites.site_table import SiteRow
from pages.shared.state.lab_tasks import ESTIMANDS, LAB_TASKS
from pages.shared.state.sweep_choice import SweepChoice

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
            return mechanisms.get(TASKS[task].mechanism).by_person()
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

    def budget_on(self, source: Source, mechanism: Mechanism | None = None) -> Budget:
        """Return the present ε with the δ of `delta_on`."""
        return Budget(self.epsilon, self.delta_on(source, mechanism).value)


FRONT_PAGE = Settings()  # settings of a bare address


def steps_of(*chosen: float) -> tuple[float, ...]:
    """Return the steps of the slider, with chosen ones added that are none of them."""
    return tuple(sorted({*EPSILON_STEPS, *chosen}))


def with_look(
    looks: Sequence[tuple[str, int]], key: str, option: int
) -> tuple[tuple[str, int], ...]:
    """Return the ways to look with one more chosen."""
    if key not in LOOKS or not 0 <= option < MAX_OPTIONS:
        raise InputError("There is no such way to look.", field=key)
    return tuple(sorted({**dict(looks), key: option}.items()))
