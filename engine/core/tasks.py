"""Estimands: one record for each task, with all that the engine needs to know of it.

A source, a mechanism and a rate serve tasks by key. Adding a task is one record here, and the
members that serve it.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.core.enumerations import Enumeration


class Unit(Enumeration):
    """Unit of protection: what is exchanged for another to make neighbouring data."""

    UNSTATED = ""
    CURVE = "curve"
    READING = "reading"
    ROW = "row"
    RECORD = "record"
    NUMBER = "number"
    MACHINE = "machine"
    PERSON = "person"

    @property
    def noun(self) -> str:
        """Noun for sentences; links and files hold the name of the member."""
        return _NOUNS.get(self.value, self.value)


_NOUNS = {"reading": "observation", "person": "record"}  # of what one person has, in sentences


class DataType(Enumeration):
    """Data of a task: curves of people, one reading each, rows of numbers, or events.

    Of events each person has one time, and how it ended.
    """

    CURVES = "curves"
    READINGS = "readings"
    RECORDS = "records"
    EVENTS = "events"


class Argument(Enumeration):
    """Argument of a result: none if it is a number or a list of numbers."""

    NOTHING = ""
    TIME = "time"
    TWO_TIMES = "two times"
    FEATURE = "feature"


_MAX_COLUMNS = 10_000  # more than any table has
_OF_CURVES = ("id", "time", "value", "server")
_OF_RECORDS = ("covariates", "id", "server")
_OF_EVENTS = ("id", "start", "time", "status", "group", "server")


@dataclass(frozen=True)
class FeatureColumns:
    """Numbers of columns of features that a record can have."""

    fewest: int
    most: int
    words: str
    label: str  # what a form asks for them with

    def allows(self, count: int) -> bool:
        """True if a record can have so many."""
        return self.fewest <= count <= self.most

    @property
    def is_bounded(self) -> bool:
        """True if they are so few that each is chosen; otherwise all are taken."""
        return self.most < _MAX_COLUMNS


@dataclass(frozen=True, kw_only=True)
class Task:
    """One estimand; members of the registries that list its key serve it."""

    key: str
    label: str
    result: str
    meaning: str
    loss: str
    unit: Unit
    data: DataType
    argument: Argument
    source: str
    mechanism: str
    has_value_unit: bool = True
    roles: tuple[str, ...] = ()  # features of records are covariates, their response is a value
    features: FeatureColumns | None = None
    states: tuple[str, ...] = ()
    data_of: str = ""


MEAN_FUNCTION = Task(
    key="mean_function",
    label="Average curve",
    result="Average curve",
    meaning="The mean of the curves at every time.",
    loss="integrated squared error over the time range",
    unit=Unit.CURVE,
    data=DataType.CURVES,
    argument=Argument.TIME,
    source="sparse_curves",
    mechanism="adaptive_mean",
    roles=_OF_CURVES,
)

INTERCEPT = "Intercept"  # the curve of a person with every covariate at the middle of its range

VARYING_COEFFICIENTS = Task(
    key="varying_coefficients",
    label="Varying coefficients",
    result="Effects of covariates",
    meaning="What each covariate adds to the average curve; all functions share one budget.",
    loss="sum of the integrated squared errors of the coefficient functions",
    unit=Unit.CURVE,
    data=DataType.CURVES,
    argument=Argument.TIME,
    source="coefficient_curves",
    mechanism="adaptive_coefficients",
    roles=(*_OF_CURVES, "covariates"),
)

UNIVARIATE_MEAN = Task(
    key="univariate_mean",
    label="Average number",
    result="Average number",
    meaning="The mean of numbers, of which each person holds some.",
    loss="squared error",
    unit=Unit.RECORD,
    data=DataType.CURVES,
    argument=Argument.NOTHING,
    source="numbers",
    mechanism="univariate_mean",
    roles=_OF_CURVES,
    data_of=MEAN_FUNCTION.key,
)

WAVELET_REGRESSION = Task(
    key="wavelet_regression",
    label="Regression curve",
    result="Regression curve",
    meaning="The curve behind single observations that are spread over sites.",
    loss="integrated squared error, or squared error at one point",
    unit=Unit.READING,
    data=DataType.READINGS,
    argument=Argument.TIME,
    source="regression_points",
    mechanism="wavelet_global",
    roles=_OF_CURVES,
    states=("spread",),
)

DENSITY = Task(
    key="density",
    label="Density",
    result="Density",
    meaning="How records lie over their range: where the function is high, many are.",
    loss="integrated squared error",
    unit=Unit.RECORD,
    data=DataType.RECORDS,
    argument=Argument.FEATURE,
    source="density_points",
    mechanism="iclp",
    has_value_unit=False,
    roles=_OF_RECORDS,
    features=FeatureColumns(1, 2, "one or two columns", "One or two columns"),
)

COVARIANCE = Task(
    key="covariance",
    label="Covariance",
    result="Covariance",
    meaning="How curves vary together at two times: the diagonal is the variance.",
    loss="integrated squared error",
    unit=Unit.CURVE,
    data=DataType.CURVES,
    argument=Argument.TWO_TIMES,
    source="covarying_curves",
    mechanism="iclp",
    has_value_unit=False,
    roles=_OF_CURVES,
)

RISK_MINIMISATION = Task(
    key="risk_minimisation",
    label="Regression function",
    result="Prediction",
    meaning="A function that predicts a number, or the odds of a class, from another number.",
    loss="integrated squared error",
    unit=Unit.RECORD,
    data=DataType.RECORDS,
    argument=Argument.FEATURE,
    source="labelled_points",
    mechanism="iclp",
    roles=(*_OF_RECORDS, "value"),
    states=("two_classes",),
    features=FeatureColumns(1, 1, "one column to predict from", "Predicted from"),
)

SPARSE_REGRESSION = Task(
    key="sparse_regression",
    label="Sparse regression",
    result="Coefficients",
    meaning="A few coefficients among many, from data on several machines.",
    loss="squared error of the coefficients",
    unit=Unit.ROW,
    data=DataType.RECORDS,
    argument=Argument.NOTHING,
    source="sparse_rows",
    mechanism="sparse_newton",
    roles=(*_OF_RECORDS, "value"),
    states=("spread", "reach"),
    features=FeatureColumns(2, _MAX_COLUMNS, "at least two columns of features", "Features"),
)

SPARSE_MEAN = Task(
    key="sparse_mean",
    label="Sparse mean, nobody trusted",
    result="Means",
    meaning="A few large means among many, from machines that trust no server.",
    loss="squared error of the means",
    unit=Unit.ROW,
    data=DataType.RECORDS,
    argument=Argument.NOTHING,
    source="sparse_means",
    mechanism="sparse_mean_laplace",
)

SURVIVAL = Task(
    key="survival",
    label="Survival",
    result="Survival curve",
    meaning="The share of people to whom nothing has happened yet, at every time.",
    loss="integrated squared error over the follow-up",
    unit=Unit.PERSON,
    data=DataType.EVENTS,
    argument=Argument.TIME,
    source="event_times",
    mechanism="noisy_counts",
    has_value_unit=False,
    roles=_OF_EVENTS,
)

INCIDENCE = Task(
    key="cumulative_incidence",
    label="Cumulative incidence",
    result="Incidence of each cause",
    meaning="The share of people to whom each cause has happened, at every time.",
    loss="sum of the integrated squared errors of all causes",
    unit=Unit.PERSON,
    data=DataType.EVENTS,
    argument=Argument.TIME,
    source="competing_events",
    mechanism="noisy_counts",
    has_value_unit=False,
    roles=_OF_EVENTS,
)

DISTRIBUTION = Task(
    key="distribution",
    label="Distribution",
    result="Distribution function",
    meaning="The share of people whose value is at most so large.",
    loss="integrated squared error over the stated range",
    unit=Unit.PERSON,
    data=DataType.EVENTS,
    argument=Argument.FEATURE,
    source="bounded_values",
    mechanism="noisy_counts",
    has_value_unit=False,
    roles=("id", "time", "server"),
)

ROC = Task(
    key="roc",
    label="ROC and calibration",
    result="ROC curve",
    meaning="How well a score tells people with a label from those without.",
    loss="integrated squared error of the share of true positives",
    unit=Unit.PERSON,
    data=DataType.EVENTS,
    argument=Argument.FEATURE,
    source="scored_people",
    mechanism="noisy_counts",
    has_value_unit=False,
    roles=("id", "time", "label", "server"),
)

PERCENTILE_CURVES = Task(
    key="percentile_curves",
    label="Percentile curves",
    result="Percentile curves",
    meaning="At every time, the heights below which 5, 25, 50, 75 and 95 % of observations lie.",
    loss="squared error, averaged over times and summed over percentiles",
    unit=Unit.CURVE,
    data=DataType.CURVES,
    argument=Argument.TIME,
    source="population_readings",
    mechanism="percentile_curves",
    roles=_OF_CURVES,
)

# All records above, by key.
TASKS: dict[str, Task] = {
    task.key: task for task in tuple(globals().values()) if isinstance(task, Task)
}
# Keys in links and questions of version 0.5.0, and today's.
RENAMED = {"functional_summary": MEAN_FUNCTION.key}
# Keys of what is computed from counts, in the order in which it is offered.
COUNTED = tuple(key for key, task in TASKS.items() if task.data is DataType.EVENTS)
# Keys of what there are several ways to publish, in the order in which it is offered.
SUMMARIES = tuple(
    task.key for task in (DENSITY, COVARIANCE, RISK_MINIMISATION, VARYING_COEFFICIENTS)
)
# Keys of what a real release can be of, in the order in which it is offered.
PUBLISHED = tuple(
    task.key
    for task in (
        MEAN_FUNCTION,
        DENSITY,
        VARYING_COEFFICIENTS,
        UNIVARIATE_MEAN,
        SURVIVAL,
        INCIDENCE,
        DISTRIBUTION,
        ROC,
        PERCENTILE_CURVES,
        WAVELET_REGRESSION,
        RISK_MINIMISATION,
        COVARIANCE,
    )
)
