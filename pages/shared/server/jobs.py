"""Long work outside the web process: a few workers, and jobs that visitors share and can stop.

Each slot is one thread with one worker process, which it kills to stop a job. Workers import this
module, so it must never import streamlit.

A shared job belongs to all visitors who watch it. A visitor who presses Stop leaves and sees it as
stopped; the job itself ends with the last one. A visitor who stays silent for a while has left,
too, but may come back: the job then gives up its slot only to a waiting job.

No visitor can keep the others waiting. Short questions go before long ones, judged by their running
time: if more jobs have begun than there are slots, those that have run for the shortest time
continue and the others pause. Each visitor has one running job and a limited number of waiting
ones, and every job ends after a stated time.
"""

from __future__ import annotations

import atexit
import logging
import math
import pickle
import threading
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterator
from multiprocessing.connection import Connection
from typing import Any, TypeVar, TypeVarTuple

from engine.core.errors import InputError
from engine.running.bounded import memory_limited
from engine.running.workers import Worker

Part = TypeVar("Part")
Ts = TypeVarTuple("Ts")
_MAX_KEPT = 32  # jobs that have ended
_MAX_MEGABYTES = 2000  # memory of a job beyond its worker's own
_MAX_OF_ONE = 8  # jobs of one visitor that run or wait
_TURN_SECONDS = 0.05  # between looks at the stop flag
_NICENESS = 10  # the pages come first
_LATER_SECONDS = 4.0  # handicap of jobs that no page waits for
# Modules that most jobs use. A new worker imports them before a visitor waits for its answer.
_MODULES = (
    "pages.shared.server.jobs",
    "scipy.optimize",
    "scipy.special",
    *(
        f"engine.topics.{topic}.answer"
        for topic in (
            "coefficients",
            "decision",
            "mean",
            "planning",
            "rates",
            "regression",
            "sites",
            "sparse",
            "summaries",
        )
    ),
)
DIED = "WorkerDied"  # the fault of a job whose worker ended before it
_log = logging.getLogger("privacy_curves")


class Job:
    """One piece of long work: how far it is, what it gave so far, and how it ended.

    `state` is waiting, running, done, stopped or failed. A failed job has either a `problem`,
    which a person can put right, or a `fault`: the name of the error without its message, because
    a message may quote a reading. `is_later` says that no page waits for it to stand.
    """

    absent_seconds = 90.0  # a browser asks at least once a minute, even for a hidden page
    short_seconds = 0.5  # shorter running times count as equal

    def __init__(
        self,
        key: str,
        total: int | None = None,
        task: tuple[Any, ...] = (),
        is_kept: bool = True,
        visitor: str = "",
        is_later: bool = False,
    ) -> None:
        self.key, self.total, self.is_kept, self.visitor = key, total, is_kept, visitor
        self.is_later = is_later
        self.state = "waiting"
        self.parts: list[Any] = []
        self.result: Any = None
        self.problem: InputError | None = None
        self.fault = ""
        self.is_ended_by_the_system = False  # the system killed its worker for time or memory
        self._task = task
        self._came = time.monotonic()
        self._first = 0.0  # time of its first part
        self.seconds = 0.0  # running time without pauses
        self._seen: dict[str, float] = {}  # last sign of each watcher
        self.is_left = False  # its visitor has moved on; it may finish but keeps no slot
        self._lock = threading.Lock()
        self._stop_asked, self._over = threading.Event(), threading.Event()

    @property
    def live(self) -> bool:
        return not self._over.is_set()

    @property
    def fraction(self) -> float:
        """Share of the parts that are available; 0 while their number is unknown."""
        if self.state == "done":
            return 1.0
        return min(1.0, len(self.parts) / self.total) if self.total else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Seconds left by the pace since the first part; None without one.

        The work before the first part is done once: a worker starts, and data are drawn.
        """
        done = len(self.parts)
        if self.state != "running" or not self.total or done < 2:
            return None
        pace = (time.monotonic() - self._first) / (done - 1)
        return pace * max(0, self.total - done)

    def watch(self, visitor: str) -> bool:
        """Note that this visitor is there and wants the job; False if it was stopped before."""
        with self._lock:
            self._seen[visitor] = time.monotonic()
            return not self._stop_asked.is_set()

    def leave(self, visitor: str) -> Job:
        """Stop for one visitor; return what they see from now on.

        If nobody else watches, this is the job itself, now stopped; else a stopped copy with the
        available parts.
        """
        with self._lock:
            self._seen.pop(visitor, None)
            if not self._is_watched and self.live:
                self._stop_asked.set()
        if self._stop_asked.is_set() or not self.live:
            self.stop()
            return self
        left = Job(self.key, self.total)
        left.parts = list(self.parts)
        left._end("stopped", only_from="waiting")
        return left

    @property
    def _is_watched(self) -> bool:
        """True if a recently active visitor watches."""
        lately = time.monotonic() - self.absent_seconds
        return any(when > lately for when in list(self._seen.values()))

    @property
    def is_abandoned(self) -> bool:
        """True if every watcher has gone silent."""
        return bool(self._seen) and not self._is_watched

    def stop(self) -> None:
        """Stop for everyone who watches. An ended job stays as it is."""
        if self.live:
            self._stop_asked.set()
            self._end("stopped", only_from="waiting")  # a running job is ended by its slot

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end; False if it did not come in time."""
        return self._over.wait(seconds)

    @property
    def standing(self) -> tuple[float, float]:
        """The rank of the job, smallest first: by its running time, and then by its arrival.

        Times count by how often they have doubled, so that equals do not take turns for nothing.
        """
        if self.is_left:
            return math.inf, self._came
        seconds = self.seconds + _LATER_SECONDS * self.is_later
        return int(math.log2(max(1.0, seconds / self.short_seconds))), self._came

    @property
    def _worth_sharing(self) -> bool:
        """True if this job may answer the same question, too."""
        return not self._stop_asked.is_set() and not self.fault

    def _begin(self) -> bool:
        with self._lock:
            if self.state != "waiting":
                return False
            self.state = "running"
            return True

    def _end(self, state: str, only_from: str = "running") -> None:
        with self._lock:
            if self.state == only_from:
                self.state, self._task = state, ()
                self._over.set()
                _log.info("job %s: %s", self.key, state)

    def _take(self, kind: str, payload: Any) -> None:
        """Note one message of the worker."""
        if kind == "part":
            if not self.parts:
                self._first = time.monotonic()
            self.parts.append(payload)
        elif kind == "result":
            self.result = payload
            self._end("done")
        elif kind == "problem":
            self.problem = payload
            self._end("failed")
        else:
            self._fail(*payload)

    def _fail(self, fault: str, where: str = "") -> None:
        _log.error("job %s: %s\n%s", self.key, fault, where)
        self.fault = fault
        self._end("failed")


class Jobs:
    """Runs jobs in worker processes, as many at a time as there are slots.

    Parameters
    ----------
    slots : int
        Jobs that run at a time; one per visitor, at most eight of whose jobs run or wait.
    waiting : int
        Further jobs that wait for their turn.
    minutes : float
        Running time after which a job ends.
    paused : int
        Further jobs that have begun and pause while shorter ones run. Each keeps its memory. They
        run if the system cannot pause a process.
    """

    def __init__(
        self, slots: int = 2, waiting: int = 8, minutes: float = 30.0, paused: int = 0
    ) -> None:
        self.slots, self.minutes = slots, minutes
        self._places, self._most_live = slots + paused, slots + paused + waiting
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._waiting: list[Job] = []
        self._running: list[Job] = []
        self._threads: list[threading.Thread] = []
        self._idle = list[Worker]()
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)  # something waits, or a slot is free
        self._closed = False

    def warm_up(self) -> None:
        """Start every worker, which takes seconds, before there is anything to compute."""
        for slot in range(self.slots):
            self.start(f"ready {slot}", ready, total=1)

    def start(
        self,
        key: str,
        function: Callable[[*Ts], Any],
        *arguments: *Ts,
        total: int | None = None,
        is_kept: bool = True,
        visitor: str = "",
        is_later: bool = False,
    ) -> Job:
        """Return the job of that key, new if there is none.

        A module must define the function, so that a worker finds it. A generator yields the parts
        and returns the result, as any other function does. `total` is the number of parts, if
        known. The key is the digest of the question; that of an upload must also name its session.
        The server forgets a finished job unless it `is_kept`; its session keeps the result. A job
        that was stopped or broke starts again: start it from a button and keep the job, or a
        stopped one returns with the next run of the page. `visitor` names who asks; a job shared by
        several counts against nobody. Jobs that no page waits for (`is_later`) come last.
        """
        with self._lock:
            job = self._jobs.get(key)
            if job is None or not job._worth_sharing:
                self._refuse_if_full(visitor)
                job = Job(key, total, (function, arguments), is_kept, visitor, is_later)
                self._enqueue(job)
            else:
                job.is_left, job.is_later = False, job.is_later and is_later
                if job.visitor != visitor:
                    self._disown(job)
            self._jobs.move_to_end(key)
            return job

    def disown(self, job: Job) -> None:
        """Count a job against nobody: its visitor has moved on, and it will soon end.

        It ends at once if another job waits for its slot: otherwise a visitor who starts and leaves
        many jobs would hold every slot.
        """
        with self._lock:
            job.is_left = True
            self._disown(job)
            self._end_what_was_left()

    def _disown(self, job: Job) -> None:
        job.visitor = ""
        self._changed.notify_all()

    def close(self) -> None:
        """End all jobs and all workers, for good."""
        with self._lock:
            self._closed = True
            threads, self._threads = self._threads, []
            self._changed.notify_all()
        for job in self._jobs.values():
            job.stop()
        for thread in threads:
            thread.join()
        for worker in self._idle:
            worker.kill()
        atexit.unregister(self.close)

    def _refuse_if_full(self, visitor: str) -> None:
        live = [job for job in self._jobs.values() if job.live]
        if visitor and sum(job.visitor == visitor for job in live) >= _MAX_OF_ONE:
            raise InputError(
                f"{_MAX_OF_ONE} computations of yours are running or waiting here, "
                "which is the most for one visitor.",
                hint="Wait until one has ended, or stop one.",
            )
        if self._closed or len(live) >= self._most_live:
            raise InputError(
                "The server is busy with the work of other visitors.", hint="Try again in a minute."
            )

    def _enqueue(self, job: Job) -> None:
        self._jobs[job.key] = job
        ended = [key for key, other in self._jobs.items() if not other.live]
        for key in ended[:-_MAX_KEPT]:
            del self._jobs[key]
        self._waiting.append(job)
        self._end_what_was_left()
        self._changed.notify()
        if not self._threads:
            self._open()

    def _end_what_was_left(self) -> None:
        """Stop jobs that nobody waits for, as many as waiting jobs need places."""
        needed = len(self._waiting) - (self._places - len(self._running))
        for job in [job for job in self._running if job.is_left][: max(0, needed)]:
            job.stop()

    def _open(self) -> None:
        # Registered first: multiprocessing's exit would end workers, which slots then replace.
        atexit.register(self.close)
        self._idle = [Worker(_answer, _NICENESS, _MODULES) for _ in range(self._places)]
        self._threads = [
            threading.Thread(target=self._slot, daemon=True, name=f"job slot {k}")
            for k in range(self._places)
        ]
        for thread in self._threads:
            thread.start()

    def _slot(self) -> None:
        """Run one job after the other; skip those stopped while they waited."""
        while (job := self._next()) is not None:
            worker = self._idle.pop()  # the last that worked has the warmest caches
            if job._begin():
                self._follow(job, worker)
            self._idle.append(worker)
            self._leave(job)

    def _next(self) -> Job | None:
        """Wait for the first job of a visitor without a running one; None when closed."""
        with self._changed:
            while not self._closed:
                busy = {job.visitor for job in self._running if job.visitor and self.slots > 1}
                able = [
                    job
                    for job in self._waiting
                    if job.visitor not in busy or job.state != "waiting"
                ]
                if able:
                    job = min(able, key=lambda job: job.standing)
                    self._waiting.remove(job)
                    self._running.append(job)
                    return job
                self._changed.wait()
        return None

    def _goes_on(self, job: Job) -> bool:
        """True if fewer jobs than there are slots go before this one."""
        with self._lock:
            before = sum(other.standing < job.standing for other in self._running)
        return before < self.slots

    def _follow(self, job: Job, worker: Worker) -> None:
        """Follow a job to its end. A fault ends only the job and its worker."""
        try:
            worker.send(pickle.dumps(job._task))  # here, because a file may be among it
            while job.live:
                if job.is_abandoned and self._waiting:
                    job.stop()
                if job.seconds > 60 * self.minutes:
                    worker.kill()
                    job._take("problem", self._too_long())
                elif self._goes_on(job):
                    worker.go_on()
                    _turn(job, worker)
                else:
                    worker.stand_still()
                    job._stop_asked.wait(_TURN_SECONDS)
                    _end_if_asked(job, worker)
        except Exception as fault:
            worker.kill()
            has_died = isinstance(fault, EOFError | OSError)
            job.is_ended_by_the_system = has_died and worker.is_ended_by_the_system
            job._fail(DIED if has_died else type(fault).__name__)

    def _too_long(self) -> InputError:
        return InputError(
            f"Too large for this server ({self.minutes:g} minutes).",
            hint="Take smaller sizes or fewer repeats, or run the code of this view on your "
            "machine.",
        )

    def _leave(self, job: Job) -> None:
        """Free the slot; results from one visitor's data stay with that visitor alone."""
        with self._changed:
            self._running.remove(job)
            self._changed.notify_all()
            if not job.is_kept and self._jobs.get(job.key) is job:
                del self._jobs[job.key]


_DEFAULT = Jobs()  # costs nothing until its first job


def jobs() -> Jobs:
    """Return the workers that all visitors of this server share."""
    return _DEFAULT


def _turn(job: Job, worker: Worker) -> None:
    """Listen to a worker for a moment, which counts as running time of the job."""
    began = time.monotonic()
    if not _end_if_asked(job, worker) and worker.has_message(_TURN_SECONDS):
        job._take(*worker.message())
    job.seconds += time.monotonic() - began


def _end_if_asked(job: Job, worker: Worker) -> bool:
    """End a job that is to stop; first of all, so that parts that keep coming do not delay it."""
    if job._stop_asked.is_set():
        worker.kill()
        job._end("stopped")
    return not job.live


# -- what runs in the worker ----------------------------------------------------------------


def parts(
    function: Callable[..., Iterator[Part]], *arguments: Any
) -> Generator[Part, None, list[Part]]:
    """Yield the parts of a generator, and return their list."""
    given = []
    for part in function(*arguments):
        given.append(part)
        yield part
    return given


def ready() -> None:
    """Import what most answers need, so that the first one comes at once."""
    from engine.privacy.accounting import exact_mu
    from engine.topics.rates import answer  # noqa: F401

    exact_mu(1.0, 1e-6)


def _answer(pipe: Connection, task: bytes) -> None:
    try:
        with memory_limited(_MAX_MEGABYTES):
            for message in _messages(task):
                pipe.send(message)
    except InputError as problem:
        pipe.send(("problem", problem))
    except MemoryError:
        pipe.send(
            (
                "problem",
                InputError(
                    f"This needs more than {_MAX_MEGABYTES:,} MB of memory, the most for one computation "
                    "on this server.",
                    hint="Choose smaller sizes or fewer repeats, or run the code of "
                    "this view on a machine of your own.",
                ),
            )
        )
    except Exception as fault:  # its message stays here: it may quote a reading
        where = "".join(traceback.format_tb(fault.__traceback__))
        pipe.send(("fault", (type(fault).__name__, where)))


def _messages(task: bytes) -> Iterator[tuple[str, Any]]:
    function, arguments = pickle.loads(task)
    result = function(*arguments)
    if not isinstance(result, Iterator):
        yield "result", result
        return
    while True:
        try:
            part = next(result)
        except StopIteration as end:
            yield "result", end.value
            return
        yield "part", part
