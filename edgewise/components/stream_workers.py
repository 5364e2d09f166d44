"""Workers that join batches of a stream, each into parents of its own, which are merged at the end."""

from queue import Queue
from threading import Thread

from edgewise.components.merge import merge_labels
from edgewise.components.parents import Parents
from edgewise.device import arrays, threads


class StreamWorkers:
    """One or several devices that join batches of edges.

    Parameters
    ----------
    team : edgewise.workers.DeviceTeam
    merge : str
        How the labels of several workers are merged.
    """

    def __init__(self, team, merge="auto"):
        self.team, self.merge = team, merge
        self.parents = [Parents(device) for device in team.devices]
        self.batches, self.errors = Queue(len(team)), []
        self.n_threads = threads.count()
        self.threads = [
            Thread(target=self._work, args=(parents,), daemon=True)
            for parents in self.parents
            if len(team) > 1
        ]
        for thread in self.threads:
            thread.start()

    def close(self):
        """Stop the workers after the batches that are queued."""
        for _ in self.threads:
            self.batches.put(None)
        while self.threads:
            self.threads.pop().join()
        for parents in self.parents:
            parents.settle()

    def _work(self, parents):
        threads.use(self.n_threads)
        while (batch := self.batches.get()) is not None:
            try:
                if not self.errors:
                    _join(parents, *batch)
            except BaseException as error:
                self.errors.append(error)
            finally:
                self.batches.task_done()

    def reserve(self, count):
        """Make room for ``count`` vertices on every device."""
        for parents in self.parents:
            parents.reserve(count)

    def join(self, columns, largest):
        """Join the endpoints of edges, none above ``largest``; the arrays must not be changed later."""
        if len(self.parents) == 1:
            _join(self.parents[0], columns, largest)
            return
        self._raise()
        self.batches.put((columns, largest))

    def _raise(self):
        if self.errors:
            raise self.errors[0]

    def settle(self):
        """Wait until all edges are joined."""
        if len(self.parents) > 1:
            self.batches.join()
            self._raise()
        for parents in self.parents:
            parents.settle()

    def labels(self, last=False):
        """Current labels on the host; a copy unless this is the ``last`` use."""
        self.settle()
        count = max(parents.count for parents in self.parents)
        for parents in self.parents:
            parents.grow_to(count)
        labels = [parents.labels(last) for parents in self.parents]
        return arrays.move(merge_labels(self.team, labels, self.merge), "cpu")

    def restore(self, labels):
        """Start from the labels of an earlier run."""
        first = self.parents[0]
        first.grow_to(len(labels))
        with arrays.guard(first.device):
            first.array[: len(labels)] = arrays.move(labels.astype(first.array.dtype), first.device)
            arrays.synchronize(first.device)


def _join(parents, columns, largest):
    parents.grow_to(largest + 1)
    parents.join(*columns)
