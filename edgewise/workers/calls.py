"""Calls that workers do: a few at a time for each worker, again where one is lost, and no result twice.

A call may end in four ways.  Its result is yielded.  It raises: then it is done once more, and the second
time the run stops.  Its worker dies (an error in ``lost``): the same.  What was handed to all workers has
gone with them (an error in ``gone``): it is handed out again, and the call is done again, after a pause,
since the next worker may be about to die as well.  Nothing can be submitted any more (``closed``): the run
stops.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from time import monotonic, sleep
from typing import Any, NamedTuple

import edgewise
from edgewise.device import threads
from edgewise.errors import EdgewiseError, OptionError, WorkerError
from edgewise.workers.dask import check_version, worker_name
from edgewise.workers.executors import Executor
from edgewise.workers.machine import threads_for

#: How often a call is tried, if it fails.
TRIES = 2
#: Calls that are submitted beforehand for each slot of the workers.
AHEAD = 2
#: How often a call whose arguments are gone is tried, at least.
TRIES_WHEN_GONE = 5
#: Seconds for which a call whose arguments are gone is tried, at least.
SECONDS_WHEN_GONE = 60.0
#: Seconds of a pause between two tries, at most.
LONGEST_PAUSE = 5.0


class Call(NamedTuple):
    """One call of ``run(*arguments)``, whose ``name`` is its own, and which messages call ``about``."""

    name: Any
    run: Callable[..., Any]
    arguments: tuple
    about: str


def run_call(version: str, sharing: int, run: Callable[..., Any], *arguments: Any) -> Any:
    """Do a call with a share of the cores of its machine.  This is what workers run."""
    check_version(worker_name(), edgewise.__version__, version)
    with threads.limited(min(threads_for(sharing), threads.count())):
        return run(*arguments)


class CallRun:
    """Does calls by an executor.

    Parameters
    ----------
    executor : Executor
    remedy : str
        The end of a message about calls that could not be finished.
    final : tuple of type
        Errors of calls that no second attempt changes, beside wrong options.
    """

    def __init__(self, executor: Executor, remedy: str, final: tuple[type[BaseException], ...] = ()):
        self.executor, self.remedy = executor, remedy
        self.final: tuple[type[BaseException], ...] = (OptionError, WorkerError, *final)
        self.tries: Counter[Any] = Counter()
        self.gone_since: dict[Any, float] = {}
        self.paused = 0  # times, since a call has ended well

    def results(
        self, calls: Iterable[Call], is_ready: Callable[[Call], bool] = lambda call: True
    ) -> Generator[tuple[Call, Any]]:
        """Yield the calls with their results as they end; one is begun when ``is_ready(call)``."""
        waiting = deque(calls)
        running: dict[Any, Call] = {}
        completed = self.executor.as_completed(())
        try:
            self._submit(waiting, running, completed, is_ready)
            while running:
                future = next(completed)
                call, found, failed = running.pop(future), None, None
                try:
                    found = self.executor.gather([future])[0]
                except Exception as error:
                    failed = error
                del future  # the worker may forget the result
                if failed is None:
                    self.paused = 0
                    yield call, found
                    del found
                else:
                    self._check_again(call, failed)
                    waiting.appendleft(call)
                self._submit(waiting, running, completed, is_ready)
        finally:
            for future in running:
                with suppress(Exception):  # the workers may be gone
                    future.cancel()

    def _submit(self, waiting, running, completed, is_ready):
        """Submit calls that are ready, in their order; a few calls share all cores of a machine."""
        ready: deque = deque()
        later: deque = deque()
        while waiting and len(running) + len(ready) < AHEAD * self.executor.slots:
            call = waiting.popleft()
            (ready if is_ready(call) else later).append(call)
        waiting.extendleft(reversed(later))
        sharing = min(self.executor.sharing, len(running) + len(ready))
        for call in ready:
            given = edgewise.__version__, sharing, call.run, *call.arguments
            try:
                future = self.executor.submit(run_call, *given)
            except Exception as error:
                raise self._stopped(error) from error
            running[future] = call
            completed.add(future)

    def _check_again(self, call, error):
        """Raise unless a call that has failed is to be tried again."""
        if isinstance(error, self.final):
            raise error
        if isinstance(error, self.executor.closed):
            raise self._stopped(error) from error
        is_gone = isinstance(error, self.executor.gone)
        self.tries[call.name, is_gone] += 1
        tries = self.tries[call.name, is_gone]
        if is_gone:
            seconds = monotonic() - self.gone_since.setdefault(call.name, monotonic())
            if tries < TRIES_WHEN_GONE or seconds < SECONDS_WHEN_GONE:
                if tries > self.paused:  # once for all calls whose arguments have gone together
                    self.paused = tries
                    sleep(min(0.1 * 2 ** min(tries - 1, 10), LONGEST_PAUSE))
                return
        elif tries < TRIES:
            return
        if is_gone or isinstance(error, self.executor.lost):
            problem = f"workers died again and again while they did {call.about}"
            remedy = "use fewer tasks at a time on each"
            raise WorkerError(f"{problem}, probably of too little memory; {remedy}; {self.remedy}") from error
        if isinstance(error, EdgewiseError):
            error.add_note(str(EdgewiseError(f"{call.about} failed {tries} times; {self.remedy}")))
            raise error
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise WorkerError(f"{call.about} failed {tries} times ({reason}); {self.remedy}") from error

    def _stopped(self, error):
        reason = " ".join((str(error) or type(error).__name__).split()).rstrip(".")
        return WorkerError(f"the workers cannot be reached any more ({reason}); {self.remedy}")
