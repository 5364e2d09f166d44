"""The workers behind a stream of batches: each joins what it gets hold of, and in the end they are merged."""

from queue import Queue
from threading import Thread

from edgewise.components.merge import merge_labels
from edgewise.components.parents import Parents
from edgewise.device import arrays, threads


class Crew:
    """One or several devices that join batches of edges.

    Parameters
    ----------
    team : edgewise.workers.DeviceTeam
    merge : str
        How the parents of several are merged.
    """

    def __init__(self, team, merge="auto"):
        self.team, self.merge = team, merge
        self.parents = [Parents(device) for device in team.devices]
        self.waiting, self.errors = Queue(len(team)), []
        self.loops = threads.count()
        self.threads = [
            Thread(target=self._work, args=(parents,), daemon=True)
            for parents in self.parents
            if len(team) > 1
        ]
        for thread in self.threads:
            thread.start()

    def close(self):
        """Let the workers go, once they have done what they were given."""
        for _ in self.threads:
            self.waiting.put(None)
        while self.threads:
            self.threads.pop().join()
        for parents in self.parents:
            parents.settle()

    def _work(self, parents):
        threads.use(self.loops)
        while (task := self.waiting.get()) is not None:
            try:
                if not self.errors:
                    _join(parents, *task)
            except BaseException as error:
                self.errors.append(error)
            finally:
                self.waiting.task_done()

    def reserve(self, count):
        """Make room for ``count`` vertices everywhere."""
        for parents in self.parents:
            parents.reserve(count)

    def join(self, columns, largest):
        """Join the ends of edges, none of them above ``largest``; the arrays must be left as they are."""
        if len(self.parents) == 1:
            _join(self.parents[0], columns, largest)
            return
        self._raise()
        self.waiting.put((columns, largest))

    def _raise(self):
        if self.errors:
            raise self.errors[0]

    def settle(self):
        """Wait until everything is joined."""
        if len(self.parents) > 1:
            self.waiting.join()
            self._raise()
        for parents in self.parents:
            parents.settle()

    def labels(self, last=False):
        """Labels by now, on the host; in a copy unless this is the ``last`` use."""
        self.settle()
        count = max(parents.count for parents in self.parents)
        for parents in self.parents:
            parents.hold(count)
        found = merge_labels(self.team, [parents.labels(last) for parents in self.parents], self.merge)
        return arrays.move(found, "cpu")

    def restore(self, labels):
        """Begin with labels found before."""
        first = self.parents[0]
        first.hold(len(labels))
        with arrays.guard(first.device):
            first.array[: len(labels)] = arrays.move(labels.astype(first.array.dtype), first.device)
            arrays.synchronize(first.device)


def _join(parents, columns, largest):
    parents.hold(largest + 1)
    parents.join(*columns)
