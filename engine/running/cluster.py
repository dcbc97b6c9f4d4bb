"""Sweeps on several machines, through a Dask scheduler (the extra “cluster”).

A scheduler trusts whoever can reach it: keep it on a private network. It and its workers need this
project, in the versions of the machine that asks, and one BLAS thread each. A worker that dies is
no matter; if all are gone, a sweep waits until there are some again.
"""

from __future__ import annotations

import logging
import os
import platform
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from typing import Any

import numpy as np
import scipy

from engine import __version__
from engine.core.errors import InputError, brief
from engine.running.workers import WorkerDied

_PATIENCE = 10  # seconds for a scheduler to answer and for a first worker to be there
# Left to itself, Dask has its workers give memory back after every array, which doubles the time.
_HOW = (
    "In the folder of this project, start `PYTHONPATH=. dask scheduler` on one machine and "
    "`PYTHONPATH=. MALLOC_TRIM_THRESHOLD_=4000000000 dask worker HOST:PORT --nthreads 1 "
    "--nworkers N` on each."
)
_RELEASE = "2026.8.*"  # as in pyproject.toml


def surroundings() -> dict[str, str]:
    """Describe what the bits of a result depend on, apart from the recipe."""
    return {
        "engine": __version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "processor": platform.machine(),
        "BLAS threads": os.environ.get("OPENBLAS_NUM_THREADS", "of any number"),
    }


def _wanted() -> dict[str, str]:
    """Describe surroundings that a worker should have: as here, where nothing is computed.

    Its BLAS has one thread.
    """
    return {**surroundings(), "BLAS threads": "1"}


class DaskExecutor(Executor):
    """Runs tasks on the workers of a scheduler; see `connect`.

    The connected `client` is closed with the executor.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self.n_workers = max(1, sum(client.nthreads().values()))
        self.slots = 2 * self.n_workers

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Send a task to the scheduler; its function must be in a module that the workers have.

        Returns
        -------
        Future
            Cancelling it withdraws the task. It ends with `WorkerDied` if the task killed workers,
            and with an `InputError` if the scheduler was lost or a worker is not like this machine.
        """
        future: Future[Any] = Future()
        there = self._client.submit(_run, _wanted(), fn, args, kwargs, pure=False)
        future.add_done_callback(lambda ended: there.cancel() if ended.cancelled() else None)
        there.add_done_callback(lambda ended: _hand_on(ended, future))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the scheduler, which forgets what it has not begun.

        The arguments change nothing here.
        """
        self._client.close()


def connect(address: str) -> DaskExecutor:
    """The executor of a Dask scheduler."""
    try:
        from distributed import Client
        from distributed.comm.addressing import parse_host_port
    except ImportError:
        raise InputError(
            "A cluster needs the package “distributed”.",
            field="executor",
            hint=f"Run: pip install 'distributed=={_RELEASE}'.",
        ) from None
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # a lost scheduler is said below, once
    try:
        parse_host_port(address)  # a client that could not read it would wait when it is dropped
        client = Client(f"tcp://{address}", timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError):  # refused or timed out; not an address
        raise InputError(
            f"No Dask scheduler answers at {brief(address)}.", field="executor", hint=_HOW
        ) from None
    try:
        _refuse_unlike(client, address)
        return DaskExecutor(client)
    except BaseException:
        client.close()
        raise


def _refuse_unlike(client: Any, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError:
        raise InputError(
            f"The scheduler at {brief(address)} has no workers.", field="executor", hint=_HOW
        ) from None
    try:
        replies = client.run(surroundings)
        client.submit(surroundings, pure=False).result(_PATIENCE)  # passes through the scheduler
    except Exception as problem:
        raise InputError(
            f"The scheduler or a worker cannot load this project ({type(problem).__name__}).",
            field="executor",
            hint=_HOW,
        ) from None
    for theirs in replies.values():
        _refuse_other(theirs, _wanted())


def _refuse_other(theirs: Mapping[str, str], required: Mapping[str, str]) -> None:
    for name, value in required.items():
        if theirs[name] != value:
            raise InputError(
                f"A worker has {name} {theirs[name]}; it must be {value}.",
                field="executor",
                hint="Set up all machines alike, or results "
                f"would depend on where they were made. {_HOW}",
            )


def _run(required: Mapping[str, str], fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """One task in a worker, which may have come after the others were looked at."""
    _refuse_other(surroundings(), required)
    return fn(*args, **kwargs)


def _hand_on(there: Any, future: Future[Any]) -> None:
    """Pass what became of a task on to the future that the caller holds."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        if there.cancelled():
            raise InputError(
                "The scheduler was lost.",
                field="executor",
                hint="Start it again; what is finished can be resumed.",
            )
        future.set_result(there.result())
    except Exception as problem:
        died = type(problem).__name__ == "KilledWorker"
        future.set_exception(WorkerDied(str(problem)) if died else problem)
