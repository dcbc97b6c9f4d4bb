"""Executors of work, behind the standard `concurrent.futures.Executor`.

Executors made here say more: `n_workers`, how many tasks run at once, and `slots`, how many keep
them busy. A task whose worker died ends with `WorkerDied`, while the other tasks go on.
"""

from __future__ import annotations

import atexit
import pickle
import queue
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Executor, Future
from multiprocessing.connection import Connection
from typing import Any

from engine.core.errors import InputError, brief
from engine.running.workers import Worker, WorkerDied

_MAX_PROCESSES = 512
_TURN_SECONDS = 0.05  # how long a slot listens before it looks whether all is over


class SerialExecutor(Executor):
    """Runs each task when it is submitted, in this process."""

    n_workers = slots = 1

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run a task and wait for it."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as problem:
            future.set_exception(problem)
        return future


class ProcessExecutor(Executor):
    """Runs tasks in `count` processes of this machine; one that dies is replaced.

    Leaving its `with` block by an exception, such as Ctrl-C, kills what still runs.

    The processes start with the first task.
    """

    def __init__(self, count: int) -> None:
        self.n_workers = count
        self.slots = 2 * count  # the next task is there when one ends
        self._queue: queue.SimpleQueue[tuple[Future[Any], bytes] | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._closed, self._killed = False, threading.Event()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Queue a task for the next free process; its function must be in a module, for pickle.

        The future ends with `WorkerDied` if the process ended in the middle of the task.
        """
        if self._closed:
            raise RuntimeError("This executor has been shut down.")
        future: Future[Any] = Future()
        self._queue.put((future, pickle.dumps((fn, args, kwargs))))
        if not self._threads:
            self._open()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End after the tasks that are there, or at once; cancelling kills what runs."""
        if cancel_futures:
            self._killed.set()
        if not self._closed:
            self._closed = True
            for _ in self._threads:
                self._queue.put(None)
        if wait:
            for thread in self._threads:
                thread.join()
        atexit.unregister(self._kill)

    def __exit__(self, kind: Any, *_: Any) -> None:
        self.shutdown(cancel_futures=kind is not None)

    def _kill(self) -> None:
        self.shutdown(cancel_futures=True)

    def _open(self) -> None:
        atexit.register(self._kill)  # before that of multiprocessing, whose dead we would replace
        self._threads = [
            threading.Thread(target=self._slot, daemon=True) for _ in range(self.n_workers)
        ]
        for thread in self._threads:
            thread.start()

    def _slot(self) -> None:
        worker = Worker(_answer)
        while (item := self._queue.get()) is not None:
            future, task = item
            if self._killed.is_set():
                future.cancel()
            if future.set_running_or_notify_cancel():
                self._run(worker, future, task)
        worker.kill()

    def _run(self, worker: Worker, future: Future[Any], task: bytes) -> None:
        try:
            worker.send(task)
            while not worker.has_message(_TURN_SECONDS):
                if self._killed.is_set():
                    raise EOFError
            is_result, payload = worker.message()
        except (EOFError, OSError):
            worker.kill()
            future.set_exception(WorkerDied("A worker process ended in the middle of its task."))
        except Exception as problem:  # the answer cannot be read
            worker.kill()
            future.set_exception(problem)
        else:
            (future.set_result if is_result else future.set_exception)(payload)


def _answer(pipe: Connection, task: bytes) -> None:
    """Do one task in the worker, and send its result or its exception."""
    try:
        fn, args, kwargs = pickle.loads(task)
        message = pickle.dumps((True, fn(*args, **kwargs)))
    except Exception as problem:
        problem.add_note("".join(traceback.format_tb(problem.__traceback__)))
        message = pickle.dumps((False, problem))
    pipe.send_bytes(message)


def make(description: str) -> Executor:
    """Make the executor of a description: "serial", "processes:N" or "dask://host:port".

    Examples
    --------
    >>> with make("serial") as executor:
    ...     executor.submit(divmod, 17, 5).result()
    (3, 2)
    """
    kind, _, where = description.partition(":")
    if description == "serial":
        return SerialExecutor()
    if kind == "processes" and where.isdecimal() and 1 <= int(where) <= _MAX_PROCESSES:
        return ProcessExecutor(int(where))
    if kind == "dask" and where.startswith("//"):
        from engine.running import cluster

        return cluster.connect(where.removeprefix("//"))
    raise InputError(
        f"There is no executor {brief(description)}.",
        field="executor",
        hint=f"Use serial, processes:N with N from 1 to {_MAX_PROCESSES}, or dask://HOST:PORT.",
    )


def n_workers(executor: Executor) -> int:
    """Count the tasks that run at once."""
    known: int = getattr(executor, "n_workers", 2)
    return known


def slots(executor: Executor) -> int:
    """Count the tasks that keep all workers busy."""
    known: int = getattr(executor, "slots", 2 * n_workers(executor))
    return known
