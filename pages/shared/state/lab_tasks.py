"""Tasks that pages offer: their place in Lab, and the link names of their data and method.

Visitors can choose data and method of a task listed here; any other task has its defaults.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.core import tasks
from engine.core.tasks import Task


@dataclass(frozen=True)
class LabTask:
    """A task whose data and method are chosen in Lab."""

    task: Task
    estimand: str  # its name among the estimands of Lab
    letters: tuple[str, str]  # (str, str): of its source and of its mechanism, in links
    # the setting that selects among several tasks of its estimand
    among: str = ""
    further: tuple[str, ...] = ()  # estimands that the same release tells at no further cost

    @property
    def estimands(self) -> tuple[str, ...]:
        return (self.estimand, *self.further)

    @property
    def settings(self) -> dict[str, str]:
        """The settings by which Lab estimates it."""
        return {"estimand": self.estimand} | ({self.among: self.task.key} if self.among else {})


# Keys in the order of links.
LAB_TASKS = {
    offered.task.key: offered
    for offered in (
        LabTask(tasks.MEAN_FUNCTION, "mean", ("c", "m"), further=("components",)),
        LabTask(tasks.VARYING_COEFFICIENTS, "coefficients", ("g", "k")),
        LabTask(tasks.WAVELET_REGRESSION, "regression", ("w", "v")),
        LabTask(tasks.DENSITY, "summaries", ("d", "n"), "summary_task"),
        LabTask(tasks.COVARIANCE, "summaries", ("h", "q"), "summary_task"),
        LabTask(tasks.RISK_MINIMISATION, "summaries", ("l", "u"), "summary_task"),
        LabTask(tasks.SPARSE_REGRESSION, "sparse", ("x", "y")),
        LabTask(tasks.SURVIVAL, "survival", ("a", "b"), "counted_task"),
        LabTask(tasks.INCIDENCE, "survival", ("e", "i"), "counted_task"),
        LabTask(tasks.DISTRIBUTION, "survival", ("j", "o"), "counted_task"),
        LabTask(tasks.ROC, "survival", ("t", "z"), "counted_task"),
        LabTask(tasks.PERCENTILE_CURVES, "percentiles", ("J", "Z")),
    )
}
ESTIMANDS = tuple(
    dict.fromkeys(name for offered in LAB_TASKS.values() for name in offered.estimands)
)


def settings_of(task: str) -> dict[str, str]:
    """Return the settings by which Lab estimates a task's estimand; {} if it cannot."""
    return LAB_TASKS[task].settings if task in LAB_TASKS else {}
