"""A worker: one process and one pipe, that can be killed and replaced without harm to others.

A standard process pool breaks as a whole when one of its workers dies, and killing is the only
sure way to stop a computation. So whoever needs workers keeps one of these for each.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import ModuleType
from typing import Any

from engine import use_one_blas_thread

# Forking a process with threads can deadlock; a server of forks has none, but for one of Arrow's
# allocator (jemalloc), which stops it for a fork.
_SPAWN = multiprocessing.get_context("spawn")
_FORKS = multiprocessing.get_context("forkserver") if sys.platform == "linux" else None

_LOOK_SECONDS = 0.02  # between two looks of a process that stands still

# The ends of a process for want of time or memory: a library that is refused memory may abort.
_ENDED = {
    -getattr(signal, name) for name in ("SIGXCPU", "SIGKILL", "SIGABRT") if hasattr(signal, name)
}
_SCRIPT = threading.Lock()  # held while the script of this process is hidden

Answer = Callable[[Connection, bytes], None]


class WorkerDied(Exception):
    """The worker of a task ended before the task did: killed, crashed or out of memory."""


class Worker:
    """The process, seen from outside: started, and replaced, when a task comes.

    Where the system can, `modules` are imported once for all workers of this process that name any:
    those are copies of a process that has them, so that to replace one costs next to nothing. A
    worker that died shows as EOFError or OSError. `answer` takes the pipe and one task, and sends
    what the task gives. With `needs_script`, tasks may name what the script of this process
    defines. The worker then runs the script once more, as every process of Python does that is not
    a copy; a script without a guard (`if __name__ == "__main__"`) would do all its work again.
    """

    def __init__(
        self,
        answer: Answer,
        niceness: int = 0,
        modules: Sequence[str] = (),
        *,
        needs_script: bool = True,
    ) -> None:
        self.process: BaseProcess | None = None
        self.exit_code: int | None = None  # of the last process that ended; negative for a signal
        self._life, self._modules = (answer, niceness), [*modules]
        self._needs_script = needs_script
        self._is_still, self._ticks = False, 0

    def send(self, task: bytes) -> None:
        """Hand a task over, to a new process if there is none or it has died."""
        if self.process is None or not self.process.is_alive():
            self._start()
        self._pipe.send_bytes(task)

    def has_message(self, seconds: float) -> bool:
        """True if a message, or the end of the worker, comes within a time."""
        return self._pipe.poll(seconds)

    def has_computed(self) -> bool:
        """True if the process took processor time since it was last asked, where that is known."""
        before, self._ticks = self._ticks, self._processor_ticks()
        return self._ticks != before

    def _processor_ticks(self) -> int:
        """Processor time of the process; 0 where the system does not tell."""
        process = self.process.pid if self.process is not None else None
        with suppress(OSError):
            of_process = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            return int(of_process[11]) + int(of_process[12])
        return 0

    def message(self) -> Any:
        """The next message; waits for it."""
        return self._pipe.recv()

    def stand_still(self) -> None:
        """Let the process stand still and keep what it has, where the system has signals.

        It does so between two steps of Python. Nobody should listen to it meanwhile: it may have
        said half a message.
        """
        self._stand(is_still=True)

    def go_on(self) -> None:
        """Let a process that stood still go on."""
        self._stand(is_still=False)

    def _stand(self, is_still: bool) -> None:
        if sys.platform == "win32" or self.process is None or self._is_still == is_still:
            return
        with suppress(ProcessLookupError):  # it has died, which shows when it is listened to
            os.kill(self.process.pid or 0, signal.SIGUSR1 if is_still else signal.SIGUSR2)
        self._is_still = is_still

    @property
    def is_ended_by_the_system(self) -> bool:
        """True if the last process ended for want of processor time or memory, or was killed."""
        return self.exit_code in _ENDED

    def kill(self) -> None:
        self._is_still = False
        if self.process is not None:
            self.process.kill()  # changes nothing where it has ended by itself
            self.process.join()
            self.exit_code = self.process.exitcode
            self._pipe.close()
            self.process = None

    def _start(self) -> None:
        self.kill()
        use_one_blas_thread()  # the process reads it at its start
        self._pipe, theirs = _SPAWN.Pipe()
        process: BaseProcess
        if self._modules and _FORKS is not None:
            _FORKS.set_forkserver_preload(self._modules)  # heard when the server of forks starts
            process = _FORKS.Process(target=_live, args=(theirs, *self._life), daemon=True)
        else:
            process = _SPAWN.Process(target=_live, args=(theirs, *self._life), daemon=True)
        with nullcontext() if self._needs_script else _script_hidden():
            process.start()
        theirs.close()  # so that its death is the end of the pipe
        self.process = process
        self._pipe.recv()  # it is up


@contextmanager
def _script_hidden() -> Iterator[None]:
    """Let a process that starts meanwhile find an empty script, and so run none."""
    with _SCRIPT:
        script = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = script


def _live(pipe: Connection, answer: Answer, niceness: int) -> None:
    """The life of a worker: take a task, answer it, until its owner has gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the owner, which ends us
    if niceness and hasattr(os, "nice"):
        os.nice(niceness)
    if sys.platform != "win32":
        _heed_signals()
    threading.Thread(target=_leave_with_the_owner, daemon=True).start()
    with suppress(EOFError, OSError):
        pipe.send(None)
        while True:
            answer(pipe, pipe.recv_bytes())


def _heed_signals() -> None:
    """Stand still from one signal to another.

    The system could stop the whole process, but then it would not see that its owner has gone.
    """
    is_still = False

    def stand_still(*_: object) -> None:
        nonlocal is_still
        is_still = True
        while is_still:
            time.sleep(_LOOK_SECONDS)

    def go_on(*_: object) -> None:
        nonlocal is_still
        is_still = False

    signal.signal(signal.SIGUSR2, go_on)
    signal.signal(signal.SIGUSR1, stand_still)


def _leave_with_the_owner() -> None:
    """An owner that was killed cannot say so, and a long computation does not look."""
    owner = multiprocessing.parent_process()
    if owner is not None:
        wait([owner.sentinel])
        os._exit(1)
