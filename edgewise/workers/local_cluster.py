"""A cluster of Dask on this machine that ends at once with the process that started it, whatever it is doing.

A terminal sends Ctrl-C to all processes of a command, and Python answers it with a traceback while it starts.
So the scheduler and its workers are in a session of their own.  All of its processes are ended by one signal
at the end, and also when the process that started them is killed, because the scheduler's standard input is
closed then.  The workers have nothing to complete: results are in files, or with the caller.

SIGTERM ends a process of Python at once, even in compiled code.  The process of multiprocessing that removes
semaphores ignores it; it would say what it removes, so it is told not to.
"""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from typing import NoReturn

from edgewise import unfinished
from edgewise.errors import WorkerError

START = "import sys; sys.path[:] = {path}; from edgewise.workers.local_cluster import serve; serve({given})"
SILENT = "ignore::UserWarning:multiprocessing.resource_tracker"


@contextmanager
def local_cluster(n_workers: int) -> Iterator[str]:
    """Context with the address of a scheduler that has workers on this machine, of one thread each.

    Raises
    ------
    WorkerError
        The workers do not start.
    """
    from dask import config

    with unfinished.temporary_folder(config.get("temporary_directory", None)) as folder:
        start = START.format(path=sys.path, given=f"{n_workers}, {str(folder)!r}")
        with unfinished.session([sys.executable, "-W", SILENT, "-c", start]) as scheduler:
            import distributed  # noqa: F401 -- the scheduler does this at the same time

            answer = json.loads(scheduler.stdout.readline() or "{}")  # type: ignore[union-attr]
            if "address" not in answer:
                raise not_started(answer.get("problem", "their scheduler has ended"))
            yield answer["address"]


def not_started(problem: object) -> WorkerError:
    """The error for workers that ended while they started, or could not start: Dask says which in words."""
    reason = str(problem).partition("\n")[0] or type(problem).__name__
    return WorkerError(
        f"the workers of Dask on this machine did not start ({reason}); "
        "repeat the command, with fewer workers if memory is short"
    )


def serve(n_workers: int, folder: str) -> NoReturn:
    """Run a scheduler and workers, whose files are in a folder, and write the address to standard output."""
    unfinished.end_with_caller()
    answer = os.dup(1)
    os.dup2(2, 1)  # what workers print is not the answer
    import dask
    import distributed

    own = {"n_workers": n_workers, "threads_per_worker": 1, "dashboard_address": ":0"}
    try:
        with dask.config.set(temporary_directory=folder):
            cluster = distributed.LocalCluster(**own)
        facts = {"address": cluster.scheduler_address}
    except (OSError, RuntimeError, TimeoutError) as error:
        facts = {"problem": str(error) or type(error).__name__}
    os.write(answer, json.dumps(facts).encode() + b"\n")
    Event().wait()
    raise AssertionError
