"""Where work runs, behind the standard `concurrent.futures.Executor`."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from typing import Any

from engine.errors import InputError

_MOST_PROCESSES = 512


class SerialExecutor(Executor):
    """Runs each task when it is submitted, in this process."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as problem:
            future.set_exception(problem)
        return future


def make(description: str) -> Executor:
    """"serial" or "processes:N": the executor of that description.

    Processes are spawned, not forked, because forking a process with threads can deadlock; each
    uses one BLAS thread, because more cost nine times the processor time for nothing.

    Raises
    ------
    InputError
        For any other description.
    """
    kind, _, count = description.partition(":")
    if kind == "serial" and not count:
        return SerialExecutor()
    if kind == "processes" and count.isdecimal() and 1 <= int(count) <= _MOST_PROCESSES:
        for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
            os.environ.setdefault(name, "1")
        return ProcessPoolExecutor(int(count), multiprocessing.get_context("spawn"))
    raise InputError(f"There is no executor {description!r}.", field="executor",
                     hint=f"Use serial, or processes:N with N from 1 to {_MOST_PROCESSES}.")
