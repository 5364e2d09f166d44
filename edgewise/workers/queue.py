"""Queues of work that several workers empty together.

A fast worker comes back more often, so nobody waits for a slow one.  Chunks of one size suit even work;
``least`` smaller than ``chunk`` lets them shrink towards the end, so that all finish together.  Where tasks
are uneven and their loads known, a :class:`LoadQueue` hands them out by load.
"""

from threading import Lock

import numpy as np

from edgewise.errors import OptionError

#: Share of what is left, by speed, that a worker of known speed gets at once, and one not yet measured.
PART, FIRST_PART = 0.5, 0.125


class WorkQueue:
    """The indices below ``total``, handed out once each in runs.

    Parameters
    ----------
    total : int
    chunk : int
        Indices handed out at once, at most.
    least : int, optional
        Indices handed out at once, at least (but for the last); by default ``chunk``.
    workers : int
        A shrinking chunk is the remaining work over twice this number.

    Examples
    --------
    >>> from edgewise.workers import WorkQueue
    >>> queue = WorkQueue(10, 4)
    >>> list(queue)
    [(0, 4), (4, 8), (8, 10)]
    """

    def __init__(self, total: int, chunk: int, *, least: int | None = None, workers: int = 1):
        self.least = chunk if least is None else least
        if total < 0 or not 0 < self.least <= chunk or workers < 1:
            raise OptionError(f"a queue of {total} in chunks of {self.least} to {chunk} makes no sense")
        self.total, self.chunk, self.workers = total, chunk, workers
        self.taken = 0
        self._alone = Lock()

    def take(self, times: int = 1) -> tuple[int, int] | None:
        """Start and stop of the next run, or ``None`` when nothing is left; safe from several threads.

        Parameters
        ----------
        times : int
            Chunks of one size that are taken at once.
        """
        with self._alone:
            start = self.taken
            if start >= self.total:
                return None
            share = (self.total - start) // (2 * self.workers)
            size = self.chunk if self.least == self.chunk else max(self.least, min(self.chunk, share))
            self.taken = min(start + size * times, self.total)
            return start, self.taken

    def close(self):
        """Hand out nothing more."""
        with self._alone:
            self.taken = self.total

    def __iter__(self):
        return iter(self.take, None)


class LoadQueue:
    """Tasks of known load, handed out once each in runs: large ones first, smaller ones towards the end.

    A worker gets half of its share of the load that is left, where shares go by speed; speeds are guesses
    until a worker has said how long a run took it.

    Parameters
    ----------
    loads : (tasks,) float array
        In the order in which they are handed out; the heaviest should come first, since a heavy task at the
        end keeps everybody waiting.
    speeds : sequence of float
        Load a second of each worker, guessed.
    least, most : float
        Seconds a run should take at least, so that asking for it does not matter, and at most (unless it is
        a single task), so that one hears of it.
    behind : sequence of int
        Workers that take tasks from the light end, few at first, and none that would outlast the others:
        slow ones, for which a heavy task would take longer than all others need together.

    Examples
    --------
    >>> from edgewise.workers import LoadQueue
    >>> queue = LoadQueue([8, 4, 2, 1, 1], [1, 1])
    >>> queue.take(0), queue.take(1)
    ((0, 1), (1, 2))
    """

    def __init__(self, loads, speeds, *, least: float = 0.0, most: float = np.inf, behind=()):
        self.ends = np.concatenate([np.zeros(1), np.cumsum(loads, dtype=np.float64)])
        self.guessed = [float(speed) for speed in speeds]
        self.measured = [(0.0, 0.0) for _ in self.guessed]
        self.least, self.most, self.behind = least, most, frozenset(behind)
        self.first, self.last = 0, len(self.ends) - 1
        self._alone = Lock()

    def take(self, worker: int) -> tuple[int, int] | None:
        """Start and stop of the worker's next run, or ``None`` if there is none; safe from several threads.

        Parameters
        ----------
        worker : int
            Number of the one who asks.
        """
        with self._alone:
            if self.first >= self.last:
                return None
            speeds, left = self._speeds(), self.ends[self.last] - self.ends[self.first]
            together, own = sum(speeds), speeds[worker]
            done, seconds = self.measured[worker]
            load, least = (PART if seconds else FIRST_PART) * left * own / together, self.least * own
            load = min(load, self.most * own)
            if worker in self.behind:  # guesses may be far off, so it begins with little
                least = least if seconds else min(least, self.least * self.guessed[worker])
                return self._from_behind(max(min(load, done), least), left / together)
            return self._next(max(load, least))

    def _next(self, load):
        start = self.first
        stop = np.searchsorted(self.ends, self.ends[start] + load, side="right") - 1
        self.first = int(min(max(stop, start + 1), self.last))
        return start, self.first

    def _from_behind(self, load, seconds_left):
        if seconds_left < self.least:
            return None
        stop = self.last
        start = np.searchsorted(self.ends, self.ends[stop] - load, side="left")
        self.last = int(max(min(start, stop - 1), self.first))
        return self.last, stop

    def _speeds(self):
        """Load a second of each worker; guesses are off by the same factor as those that were put right."""
        factors = [
            load / seconds / guess for guess, (load, seconds) in zip(self.guessed, self.measured) if seconds
        ]
        usual = float(np.median(factors)) if factors else 1.0
        return [
            load / seconds if seconds else guess * usual
            for guess, (load, seconds) in zip(self.guessed, self.measured)
        ]

    def tell(self, worker: int, run: tuple[int, int], seconds: float) -> float:
        """Say how long a run took; return its load.

        Parameters
        ----------
        worker : int
        run : (int, int)
        seconds : float
        """
        load = float(self.ends[run[1]] - self.ends[run[0]])
        with self._alone:
            before, spent = self.measured[worker]
            if load and seconds > 0:
                self.measured[worker] = before + load, spent + seconds
        return load

    def close(self):
        """Hand out nothing more."""
        with self._alone:
            self.first = self.last
