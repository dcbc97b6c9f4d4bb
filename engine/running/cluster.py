"""Sweeps and releases on several machines, through a Dask scheduler (the extra “cluster”).

A scheduler trusts whoever can reach it: keep it on a private network, and use TLS. It and its
workers need this project, in the versions of the machine that asks, and one BLAS thread each. A
worker that dies is no matter; if all are gone, the work waits until there are some again.
"""

from __future__ import annotations

import logging
import os
import platform
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from ipaddress import ip_address
from typing import Any

import numpy as np
import scipy

from engine import __version__
from engine.core.errors import InputError, brief
from engine.running.partitions import LostWorkersError
from engine.running.workers import WorkerDied

_PATIENCE = 10.0  # seconds for a scheduler to answer and for a first worker to be there
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
        self._homes = sorted(client.nthreads())
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
        return self._sent(fn, args, kwargs)

    def submit_at(
        self, place: int, fn: Callable[..., Any], /, *args: Any, **kwargs: Any
    ) -> Future[Any]:
        """Send a task to the worker of a place, or to another one while that is gone."""
        home = self._homes[place % len(self._homes)]
        return self._sent(fn, args, kwargs, workers=[home], allow_other_workers=True)

    def _sent(self, fn: Callable[..., Any], args: Any, kwargs: Any, **where: Any) -> Future[Any]:
        future: Future[Any] = Future()
        there = self._client.submit(_run, _wanted(), fn, args, kwargs, pure=False, **where)
        future.add_done_callback(lambda ended: there.cancel() if ended.cancelled() else None)
        there.add_done_callback(lambda ended: _hand_on(ended, future))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the scheduler, which forgets what it has not begun.

        The arguments change nothing here.
        """
        self._client.close()


def connect(address: str, is_private: bool = False, patience: float | None = None) -> DaskExecutor:
    """Return the executor of a Dask scheduler, by TLS where Dask's settings name certificates.

    Refuse a scheduler that is silent for `patience` seconds, workers unlike this machine, and, for
    private data, a cluster that is elsewhere without TLS.
    """
    patience = _PATIENCE if patience is None else patience
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
    security = _security()
    try:  # a client that could not read the address would wait when it is dropped
        host = parse_host_port(address)[0]
    except ValueError:
        raise _silent(address) from None
    if is_private and security is None and not _is_this_machine(host):
        raise _unguarded()
    try:
        client = Client(
            f"tcp://{address}" if security is None else f"tls://{address}",
            timeout=patience,
            set_as_default=False,
            security=security,
        )
    except (OSError, ValueError):  # refused or timed out
        raise _silent(address) from None
    try:
        _refuse_unlike(client, address, patience)
        if is_private and security is None and not all(map(_is_at_home, client.nthreads())):
            raise _unguarded()
        return DaskExecutor(client)
    except BaseException:
        client.close()
        raise


def _silent(address: str) -> InputError:
    return InputError(
        f"No Dask scheduler answers at {brief(address)}.", field="executor", hint=_HOW
    )


def _security() -> Any:
    """Return the certificates that the settings of Dask name; None without."""
    from distributed.security import Security

    security: Any = Security()
    return security if security.tls_ca_file and security.tls_client_cert else None


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_at_home(worker: str) -> bool:
    """True if the address of a worker, such as tcp://127.0.0.1:4000, is on this machine."""
    return _is_this_machine(worker.rpartition("//")[2].rpartition(":")[0].strip("[]"))


def _unguarded() -> InputError:
    return InputError(
        "What is computed of real data leaves this machine by TLS alone.",
        field="executor",
        hint="Give the scheduler, its workers and this machine certificates: the settings "
        "“distributed.comm.tls” of Dask name them.",
    )


def _refuse_unlike(client: Any, address: str, patience: float) -> None:
    try:
        client.wait_for_workers(1, timeout=patience)
    except TimeoutError:
        raise InputError(
            f"The scheduler at {brief(address)} has no workers.", field="executor", hint=_HOW
        ) from None
    try:
        replies = client.run(surroundings)
        client.submit(surroundings, pure=False).result(patience)  # passes through the scheduler
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
            raise LostWorkersError(
                "The scheduler was lost.",
                field="executor",
                hint="Start it again; what is finished can be resumed.",
            )
        future.set_result(there.result())
    except Exception as problem:
        died = type(problem).__name__ == "KilledWorker"
        future.set_exception(WorkerDied(str(problem)) if died else problem)
