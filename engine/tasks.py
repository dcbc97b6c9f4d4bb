"""What can be estimated: the question a source, a mechanism and a rate have in common."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Task:
    """One estimand; members of the registries that list its key serve it."""

    key: str
    label: str
    estimand: str
    loss: str


MEAN_FUNCTION = Task(
    key="mean_function", label="Average curve",
    estimand="the mean of the curves as a function of time",
    loss="integrated squared error over the time range")

TASKS = {task.key: task for task in (MEAN_FUNCTION,)}
