"""What runs tasks on other threads, processes and machines: four methods, whatever is behind them.

``submit`` starts a call, ``scatter`` hands a value to all workers once, ``gather`` returns results, and
``as_completed`` yields calls as they end.  Behind them is an executor of :mod:`concurrent.futures`
(:class:`PoolExecutor`) or a client of Dask (:class:`~edgewise.workers.dask.DaskExecutor`).  Another engine
needs a class with these methods, and a line in :func:`executor_of`.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable
from concurrent import futures
from functools import lru_cache
from queue import SimpleQueue
from tempfile import mkstemp
from typing import Any, Protocol
from weakref import finalize

import numpy as np

from edgewise.device.usable_cores import usable_cores
from edgewise.errors import OptionError, argument
from edgewise.ownership import check_owner
from edgewise.workers.machine import machine_memory


class Executor(Protocol):
    """What runs tasks.

    Attributes
    ----------
    slots : int
        Number of tasks that run at the same time.
    sharing : int
        Number of tasks that share the cores of a machine.
    machines : int
        Number of tasks that are certain to run on different machines: 1 if all workers are on one.
    memory : int
        Memory of a worker, in bytes; of the smallest one, if they differ.
    lost : tuple of type
        Exceptions of a future whose worker has died; the task may be submitted again.
    gone : tuple of type
        Exceptions of a future whose scattered arguments have gone with the workers that had them.  They are
        handed out again when the task is submitted again.
    closed : tuple of type
        Exceptions of a future after which nothing more can be submitted.
    """

    slots: int
    sharing: int
    machines: int
    memory: int
    lost: tuple[type[BaseException], ...]
    gone: tuple[type[BaseException], ...]
    closed: tuple[type[BaseException], ...]

    def submit(self, function: Callable, *arguments: Any) -> Any:
        """Start a call; return its future.  Values that ``scatter`` returned may be arguments."""
        ...

    def scatter(self, value: Any) -> Any:
        """Hand a value to all workers; return what stands for it as an argument of ``submit``."""
        ...

    def gather(self, calls: Iterable[Any]) -> list:
        """Results of futures, in their order; the first exception of any of them is raised."""
        ...

    def as_completed(self, calls: Iterable[Any]) -> Any:
        """Return an iterator of futures as they end, by success or not, with a method ``add`` for more."""
        ...


class PoolExecutor:
    """An executor of :mod:`concurrent.futures`: threads, or processes of this machine."""

    lost: tuple[type[BaseException], ...] = ()
    gone: tuple[type[BaseException], ...] = ()
    closed: tuple[type[BaseException], ...] = (futures.BrokenExecutor, futures.CancelledError)

    def __init__(self, pool: futures.Executor):
        self.pool = pool
        self.slots = getattr(pool, "_max_workers", None) or usable_cores()
        self.sharing, self.machines, self.memory = self.slots, 1, machine_memory()

    def submit(self, function: Callable, *arguments: Any) -> Any:
        return self.pool.submit(function, *arguments)

    def scatter(self, value: Any) -> Any:
        return Stored(value) if isinstance(self.pool, futures.ProcessPoolExecutor) else value

    def gather(self, calls: Iterable[Any]) -> list:
        return [call.result() for call in calls]

    def as_completed(self, calls: Iterable[Any]) -> Any:
        return Completed(calls)


class Shared:
    """Base of what is handed to all workers, whose arrays are aligned and writable wherever they arrive.

    Arrays that were received may be neither, and compiled code for these is other code.
    """

    def __setstate__(self, state: dict[str, Any]):
        vars(self).update({name: usable(value) for name, value in state.items()})


def usable(value: Any) -> Any:
    """Return an array, or a tuple with arrays, that is aligned and writable; itself if it is."""
    if isinstance(value, np.ndarray):
        return np.require(value, requirements=("ALIGNED", "WRITEABLE"))
    if isinstance(value, tuple):
        values = map(usable, value)
        return type(value)(*values) if hasattr(value, "_fields") else tuple(values)
    return value


class Stored:
    """A value in a temporary file, which each process reads once; there it is the value itself.

    The file is removed with the object.
    """

    def __init__(self, value: Any):
        descriptor, self.path = mkstemp(".pickle", "edgewise-")
        finalize(self, os.unlink, self.path)
        with os.fdopen(descriptor, "wb") as file:
            pickle.dump(value, file, protocol=pickle.HIGHEST_PROTOCOL)

    def __reduce__(self):
        return stored_value, (self.path,)


@lru_cache(maxsize=1)
def stored_value(path: str) -> Any:
    """Return the value in a file of :class:`Stored`; the last one is kept."""
    with open(path, "rb") as file:
        check_owner(path, file.fileno(), "start the work again")
        return pickle.load(file)


class Completed:
    """Iterator of futures of :mod:`concurrent.futures` as they end; more may be added meanwhile."""

    def __init__(self, calls: Iterable[Any]):
        self.ended: SimpleQueue[Any] = SimpleQueue()
        self.count = 0
        for call in calls:
            self.add(call)

    def add(self, call: Any) -> None:
        """Yield this future too."""
        self.count += 1
        call.add_done_callback(self.ended.put)

    def __iter__(self) -> Completed:
        return self

    def __next__(self) -> Any:
        if not self.count:
            raise StopIteration
        self.count -= 1
        return self.ended.get()


def executor_of(client: Any, device: str = "cpu") -> Executor:
    """Return the executor for what a caller gave as ``client``, to be used for tasks on a kind of device.

    Where a device is a GPU, and workers of Dask have the resource ``GPU``, each task takes one of these.

    Raises
    ------
    OptionError
        It is neither a client of Dask nor an executor of :mod:`concurrent.futures`.
    WorkerError
        A worker has no edgewise, or another version.
    """
    if isinstance(client, futures.Executor):
        return PoolExecutor(client)
    if type(client).__module__.partition(".")[0] in ("distributed", "dask"):
        from edgewise.workers.dask import DaskExecutor

        return DaskExecutor(client, device)
    if all(hasattr(client, name) for name in ("submit", "scatter", "gather", "as_completed")):
        return client
    given = f"{argument('client')} is a {type(client).__name__}"
    raise OptionError(f"{given}; give a dask.distributed.Client or a concurrent.futures executor")
