"""Queues of tasks that several workers share.

Each worker takes the next run of tasks when it has finished one, so that fast workers do more of them.  Runs
that shrink towards the end let all workers finish at the same time.
"""

from threading import Lock

import numpy as np

from edgewise.errors import OptionError

#: Share of the remaining load that a worker of known speed takes at once.
SHARE = 0.5
#: Share of the remaining load that a worker takes at once before its speed is measured.
FIRST_SHARE = 0.125


class WorkQueue:
    """The indices below ``total``, handed out once each in runs of ``chunk``.

    >>> list(WorkQueue(10, 4))
    [(0, 4), (4, 8), (8, 10)]
    """

    def __init__(self, total: int, chunk: int):
        if total < 0 or chunk < 1:
            raise OptionError(f"a queue of {total} in chunks of {chunk} makes no sense")
        self.total, self.chunk, self.next = total, chunk, 0
        self._lock = Lock()

    def take(self, chunks: int = 1) -> tuple[int, int] | None:
        """Start and stop of the next run, of so many chunks; ``None`` if nothing is left; thread-safe."""
        with self._lock:
            start = self.next
            if start >= self.total:
                return None
            self.next = min(start + self.chunk * chunks, self.total)
            return start, self.next

    def close(self):
        with self._lock:
            self.next = self.total

    def __iter__(self):
        return iter(self.take, None)


class LoadQueue:
    """Tasks of known load, handed out once each in runs: large runs first, smaller ones towards the end.

    ``loads`` are (tasks,) floats, heaviest first, since a heavy task at the end delays all workers.
    ``speeds`` are the load per second of each worker, guessed until it has reported the time of a run.  A run
    has half of the worker's share of the remaining load; it takes ``min_seconds``, so that taking it does not
    matter, to ``max_seconds``, so that progress is reported, unless it is a single task.  Slow workers, to
    which a heavy task would take longer than all others need together, are in ``from_light_end``: they take
    the lightest tasks, few at first, and none that would outlast the other workers.

    >>> queue = LoadQueue([8, 4, 2, 1, 1], [1, 1])
    >>> queue.take(0), queue.take(1)
    ((0, 1), (1, 2))
    """

    def __init__(self, loads, speeds, *, min_seconds=0.0, max_seconds=np.inf, from_light_end=()):
        self.prefix = np.concatenate([np.zeros(1), np.cumsum(loads, dtype=np.float64)])
        self.guessed = [float(speed) for speed in speeds]
        self.measured = [(0.0, 0.0) for _ in self.guessed]
        self.min_seconds, self.max_seconds = min_seconds, max_seconds
        self.from_light_end = frozenset(from_light_end)
        self.first, self.last = 0, len(self.prefix) - 1
        self._lock = Lock()

    def take(self, worker: int) -> tuple[int, int] | None:
        """Start and stop of the worker's next run, or ``None`` if there is none; thread-safe."""
        with self._lock:
            if self.first >= self.last:
                return None
            speeds, left = self._speeds(), self.prefix[self.last] - self.prefix[self.first]
            total_speed, own = sum(speeds), speeds[worker]
            done, seconds = self.measured[worker]
            load = (SHARE if seconds else FIRST_SHARE) * left * own / total_speed
            load, least = min(load, self.max_seconds * own), self.min_seconds * own
            if worker in self.from_light_end:  # guesses may be far off, so the first run is small
                least = least if seconds else min(least, self.min_seconds * self.guessed[worker])
                return self._take_from_light_end(max(min(load, done), least), left / total_speed)
            return self._take_next(max(load, least))

    def _take_next(self, load):
        start = self.first
        stop = np.searchsorted(self.prefix, self.prefix[start] + load, side="right") - 1
        self.first = int(min(max(stop, start + 1), self.last))
        return start, self.first

    def _take_from_light_end(self, load, seconds_left):
        if seconds_left < self.min_seconds:
            return None
        stop = self.last
        start = np.searchsorted(self.prefix, self.prefix[stop] - load, side="left")
        self.last = int(max(min(start, stop - 1), self.first))
        return self.last, stop

    def _speeds(self):
        """Load per second of each worker; guesses are corrected by the median factor of the measured ones."""
        speeds = [load / seconds if seconds else None for load, seconds in self.measured]
        factors = [speed / guess for guess, speed in zip(self.guessed, speeds) if speed is not None]
        factor = float(np.median(factors)) if factors else 1.0
        return [guess * factor if speed is None else speed for guess, speed in zip(self.guessed, speeds)]

    def report(self, worker: int, run: tuple[int, int], seconds: float) -> float:
        """Report the time of a run; return its load."""
        load = float(self.prefix[run[1]] - self.prefix[run[0]])
        with self._lock:
            total_load, total_seconds = self.measured[worker]
            if load and seconds > 0:
                self.measured[worker] = total_load + load, total_seconds + seconds
        return load

    def close(self):
        with self._lock:
            self.first = self.last
