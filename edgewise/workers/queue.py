"""A queue of work that several workers empty together.

A fast worker comes back more often, so nobody waits for a slow one.  Chunks of one size suit even work;
``least`` smaller than ``chunk`` lets them shrink towards the end, so that all finish together.
"""

from threading import Lock

from edgewise.errors import OptionError


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

    def take(self) -> tuple[int, int] | None:
        """Start and stop of the next run, or ``None`` when nothing is left; safe from several threads."""
        with self._alone:
            start = self.taken
            if start >= self.total:
                return None
            share = (self.total - start) // (2 * self.workers)
            size = self.chunk if self.least == self.chunk else max(self.least, min(self.chunk, share))
            self.taken = min(start + size, self.total)
            return start, self.taken

    def close(self):
        """Hand out nothing more."""
        with self._alone:
            self.taken = self.total

    def __iter__(self):
        return iter(self.take, None)
