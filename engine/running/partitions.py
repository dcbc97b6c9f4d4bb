"""Work on partitions of data: each goes to the worker that has its data from an earlier pass.

A worker that ends is replaced, and its partition is worked on again; a result is taken once. So
work must not change anything but what the worker itself keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from typing import Any, TypeVar

from engine.core.errors import InputError
from engine.running import executors
from engine.running.executors import ProcessExecutor
from engine.running.workers import WorkerDied

P = TypeVar("P")
R = TypeVar("R")
_TRIES = 3  # of a partition in one pass


class LostWorkersError(InputError):
    """The end of a pass whose workers ended too often, or whose scheduler was lost.

    Nothing of the data is to blame, as far as is known: the same work may be asked for again.
    """


class HomeExecutor(Executor):
    """Runs tasks in processes of this machine, of which each has partitions of its own."""

    def __init__(self, count: int) -> None:
        self.n_workers = self.slots = count
        self._homes = [ProcessExecutor(1) for _ in range(count)]

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Queue a task in the first process; see `ProcessExecutor.submit`."""
        return self.submit_at(0, fn, *args, **kwargs)

    def submit_at(
        self, place: int, fn: Callable[..., Any], /, *args: Any, **kwargs: Any
    ) -> Future[Any]:
        """Queue a task in the process that a partition belongs to, by its number."""
        return self._homes[place % len(self._homes)].submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End after the tasks that are there, or at once; see `ProcessExecutor.shutdown`."""
        for home in self._homes:
            home.shutdown(wait, cancel_futures=cancel_futures)

    def __exit__(self, kind: Any, *_: Any) -> None:
        self.shutdown(cancel_futures=kind is not None)


def make(description: str) -> Executor | None:
    """Make the executor of real data: "processes:N" or "dask://host:port"; None for "serial".

    Refuse where data would go to other machines without encryption.
    """
    kind, _, where = description.partition(":")
    if kind == "dask" and where.startswith("//"):
        from engine.running import cluster

        return cluster.connect(where.removeprefix("//"), is_private=True)
    executor = executors.make(description)
    if isinstance(executor, ProcessExecutor):
        return HomeExecutor(executor.n_workers)
    return None


def mapped(
    work: Callable[[P], R],
    partitions: Sequence[P],
    executor: Executor,
    advance: Callable[[int], None],
) -> list[R]:
    """Do the same work for each partition, and list the results in their order.

    `advance` notes partitions that are done. `LostWorkersError` says that workers ended too often,
    or that the scheduler was lost.
    """
    submit = getattr(executor, "submit_at", None)

    def submitted(place: int) -> Future[R]:
        if submit is None:
            return executor.submit(work, partitions[place])
        future: Future[R] = submit(place, work, partitions[place])
        return future

    futures = list(map(submitted, range(len(partitions))))
    try:
        for place in range(len(partitions)):
            for n_tried in range(1, _TRIES + 1):
                try:
                    futures[place].result()
                    break
                except WorkerDied:
                    if n_tried == _TRIES:
                        raise _lost() from None
                    futures[place] = submitted(place)
            advance(1)
        return [future.result() for future in futures]
    except BaseException:
        for future in futures:
            future.cancel()
        raise


def _lost() -> LostWorkersError:
    return LostWorkersError(
        f"Workers ended {_TRIES} times over the same files.",
        field="executor",
        hint="Lower --memory, which holds for each worker, or write more and smaller files. The "
        "same command goes on.",
    )
