"""Calls whose time and memory are bounded, whatever they are given: they end, or are ended.

What reads a file of somebody's cannot be trusted to end in time: it runs in a worker process whose
processor time and memory are limited, and whose owner watches the clock. Nothing that it prints
reaches a log, and it leaves no image of its memory when it is ended: both might hold readings.

Memory and processor time are limited where the system can (Linux); the clock is watched everywhere.
"""

from __future__ import annotations

import ctypes
import errno
import os
import pickle
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from engine.core.errors import InputError
from engine.core.faults import WorkerFault, placed
from engine.running.workers import Worker

if sys.platform != "win32":  # which has no such limits
    import resource

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # as malloc.h numbers them


class Ended(Exception):
    """The end of a call that took more than its bounds."""


@dataclass(frozen=True)
class Bounds:
    """Limits of a call."""

    seconds: int = 5  # processor time. It is counted in whole seconds, so up to one second less.
    megabytes: int = 400  # memory beyond what the process had before
    # workers come after the pages: on a busy machine they get little time; seconds on the clock
    # without any processor time, for what neither computes nor ends
    wait: float = 120.0


def within(bounds: Bounds, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in this process, which is to be a worker, and is ended beyond the bounds."""
    with (
        _silent(),
        _time_limited(bounds.seconds),
        memory_limited(bounds.megabytes),
        _large_blocks_returned(),
    ):
        try:
            return function(*arguments)
        except MemoryError:
            raise Ended("memory") from None
        except OSError as problem:
            if problem.errno == errno.ENOMEM:
                raise Ended("memory") from None
            raise


class BoundedWorker:
    """A worker process for bounded calls, one at a time; it stays for the next one.

    Its owner does not inherit its limits. Threads may share it: they wait for each other.
    """

    def __init__(self) -> None:
        # Whoever reads a file from a plain script should not find that the script runs twice.
        self._worker, self._turn = Worker(_answer, needs_script=False), threading.Lock()

    def call(self, bounds: Bounds, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function in a worker, which finds it in its module, and return its result."""
        with self._turn:
            try:
                self._worker.send(pickle.dumps((bounds, function, arguments)))
                while not self._worker.has_message(bounds.wait):
                    if not self._worker.has_computed():
                        raise Ended("time")
                problem, result = self._worker.message()
            except (EOFError, OSError):
                self._worker.kill()
                if self._worker.is_ended_by_the_system:
                    raise Ended("the process was ended") from None
                raise WorkerFault(
                    f"A worker process broke down ({self._worker.exit_code})"
                ) from None
            except BaseException:  # nobody waits for the answer any more
                self._worker.kill()
                raise
        if problem is not None:
            raise problem
        return result


def _answer(pipe: Connection, task: bytes) -> None:
    """Do one call in the worker, and say how it ended."""
    bounds, function, arguments = pickle.loads(task)
    del task  # as large as the file
    answer: tuple[Exception | None, Any]
    try:
        answer = None, within(bounds, function, *arguments)
    except (InputError, Ended) as problem:
        answer = problem, None
    except BaseException as fault:  # its message stays here: it may quote a reading
        answer = WorkerFault(placed(fault)), None
    pipe.send(answer)


# -- limits of a process --------------------------------------------------------------------------


@contextmanager
def memory_limited(megabytes: int) -> Iterator[None]:
    """Limit this process's memory beyond what it has, for as long as this lasts.

    What goes beyond it ends in a MemoryError. Only where the system can tell (Linux).
    """
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        yield
        return
    with _limited("RLIMIT_AS", pages * os.sysconf("SC_PAGE_SIZE") + megabytes * 10**6):
        yield


def return_large_blocks() -> None:
    """Let blocks of a megabyte, such as files and columns, go back to the system when freed.

    Otherwise the allocator keeps them, also for threads that have ended.
    """
    _tune(_MMAP_THRESHOLD, 1 << 20)


@contextmanager
def _large_blocks_returned() -> Iterator[None]:
    """Return large blocks as above while this lasts: a table of 200 columns took 3 GB of addresses.

    Afterwards the allocator keeps them, as it learns to by itself where arrays come and go.
    """
    return_large_blocks()
    try:
        yield
    finally:
        _tune(_MMAP_THRESHOLD, 32 << 20)
        _tune(_TRIM_THRESHOLD, 64 << 20)


def _tune(parameter: int, value: int) -> None:
    with suppress(OSError, AttributeError):  # of the GNU library only
        ctypes.CDLL(None).mallopt(parameter, value)


@contextmanager
def _time_limited(seconds: int) -> Iterator[None]:
    """A limit of processor time from now on, at which the process ends and leaves no image."""
    if sys.platform != "win32":
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    with _limited("RLIMIT_CPU", int(time.process_time()) + seconds):
        yield


@contextmanager
def _limited(kind: str, largest: int) -> Iterator[None]:
    """A limit that the system keeps, never above one that there was."""
    if sys.platform == "win32":
        yield
        return
    number = getattr(resource, kind)
    before = resource.getrlimit(number)
    resource.setrlimit(
        number, (min([largest, *(limit for limit in before if limit >= 0)]), before[1])
    )
    try:
        yield
    finally:
        resource.setrlimit(number, before)


@contextmanager
def _silent() -> Iterator[None]:
    """Let nothing that libraries print be seen, from Python or below it."""
    null = os.open(os.devnull, os.O_WRONLY)
    copies = {number: os.dup(number) for number in (1, 2) if _is_open(number)}
    try:
        for number in copies:
            os.dup2(null, number)
        yield
    finally:
        for number, copy in copies.items():
            os.dup2(copy, number)
            os.close(copy)
        os.close(null)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
