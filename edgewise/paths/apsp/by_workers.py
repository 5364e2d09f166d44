"""Rows of distances by the workers of an executor: the graph is sent to each once, and blocks of sources.

Sources are independent, so a block is a call that any worker does, and its rows come back to the caller, who
puts them together or writes them.  A worker prepares its search once for each call that it does at a time.
Nothing but the graph is sent, so workers need no folder in common.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing, suppress
from typing import Any

import numpy as np

from edgewise.device import arrays
from edgewise.errors import OptionError, argument
from edgewise.graph import Graph
from edgewise.paths.apsp.driver import Job
from edgewise.paths.apsp.search import Search, TooLarge, rows_of_a_block
from edgewise.workers.calls import AHEAD, Call, CallRun
from edgewise.workers.executors import Shared, executor_of


class SharedSearch(Shared):
    """A graph and a method, for all workers."""

    def __init__(self, search: Search):
        graph = search.graph
        self.graph = graph.n_vertices, (graph.offsets, graph.neighbours, graph.csr_weights), graph.directed
        self.name, self.methods = search.name, {search.name: search.method}
        self.idle: deque[Search] = deque()

    def __getstate__(self):
        return {**vars(self), "idle": deque()}

    def prepared(self, dtype: str) -> Search:
        """Return a search in a type, which no other thread uses."""
        while self.idle:
            search = self.idle.pop()
            if search.dtype == dtype:
                return search
        n, rows, directed = self.graph
        return Search(self.methods, Graph(n, rows=rows, directed=directed), self.name, dtype)


def rows_from(shared: SharedSearch, sources: np.ndarray, dtype: str) -> np.ndarray | None:
    """Distances from (k,) sources, (k, n); ``None`` if one is too large for the type."""
    search = shared.prepared(dtype)
    n = search.graph.n_vertices
    values = arrays.empty(len(sources) * n, search.dtype, "cpu")
    with np.errstate(over="ignore"):
        try:
            search.into(sources, values)
        except TooLarge:
            return None
    shared.idle.append(search)
    return values.reshape(-1, n)


class WorkerRows:
    """Rows of distances by a search, from the workers of ``client``; ``remedy`` ends messages of failures."""

    def __init__(self, search: Search, client: Any, remedy: str):
        _check_method(search)
        self.search, self.executor = search, executor_of(client)
        if search.signed:  # a negative cycle is named here, with the ids of the graph
            with suppress(TooLarge):
                search.into(np.zeros(1, np.int64), arrays.empty(search.graph.n_vertices, search.dtype, "cpu"))
        self.shared, self.remedy = self.executor.scatter(SharedSearch(search)), remedy

    @property
    def names(self) -> tuple[str, ...]:
        """What :attr:`Result.devices` says."""
        return tuple(f"cpu:{slot}" for slot in range(self.executor.slots))

    def blocks_in_order(self, blocks: Sequence[np.ndarray]) -> Generator[np.ndarray]:
        """Yield the rows of blocks, given as their sources, in the order of the blocks, each flat.

        Blocks that come too early take a quarter of the free memory at most.
        """
        early: dict[int, np.ndarray] = {}
        expected, n_bytes = 0, self.search.dtype.itemsize * self.search.graph.n_vertices
        fitting = arrays.free_memory("cpu") // (4 * n_bytes * max(map(len, blocks), default=1) or 1)
        ahead = max(1, min(2 * AHEAD * self.executor.slots, fitting))

        def is_near(call):
            return call.name < expected + ahead

        for number, rows in self.blocks(enumerate(blocks), is_near):
            early[number] = rows
            while expected in early:
                expected += 1
                yield early.pop(expected - 1).reshape(-1)

    def blocks(
        self,
        blocks: Iterable[tuple[int, np.ndarray]],
        is_ready: Callable[[Call], bool] = lambda call: True,
    ) -> Generator[tuple[int, np.ndarray]]:
        """Yield (number, rows) of blocks, given as (number, sources), as they end; raises TooLarge."""
        dtype = self.search.dtype.name
        calls = [
            Call(number, rows_from, (self.shared, sources, dtype), f"block {number} of the distances")
            for number, sources in blocks
        ]
        with closing(CallRun(self.executor, self.remedy).results(calls, is_ready)) as results:
            for call, rows in results:
                if rows is None:
                    raise TooLarge
                yield call.name, rows


def _check_method(search):
    """Refuse a method that keeps the full matrix."""
    if search.method.full_matrix:
        given, instead = argument("client"), argument("method", search.instead)
        problem = f"method {search.name} keeps the full matrix on one device"
        raise OptionError(f"{problem}; leave out {given}, or use {instead}")


def without_hierarchy(methods, method):
    """The methods that ``auto`` chooses from: a hierarchy stays with the process that has prepared it."""
    return {name: one for name, one in methods.items() if method != "auto" or not one.by_routes}


def check_places(device, devices):
    """Refuse devices beside a client."""
    if devices is not None or device not in (None, "cpu"):
        name = "device" if devices is None else "devices"
        raise OptionError(
            f"{argument(name)} is for one process; with {argument('client')} its workers search"
        )


class WorkerJob(Job):
    """A request whose blocks are searched for by the workers of a client."""

    def __init__(self, methods, graph, request, client):
        super().__init__(methods, graph, request)
        given = argument("output")
        remedy = f"give {given} a file, from which such a run continues"
        if self.output is not None:
            remedy = f"repeat the call with the same {given} to continue"
        self.rows = WorkerRows(self.search, client, remedy)
        self.names = self.rows.names

    def _fits(self, full_matrix, dtype):
        return not full_matrix

    def _found(self, numbers, rows):
        """Yield the blocks of so many rows with these numbers."""
        blocks = ((number, self.sources[number * rows : (number + 1) * rows]) for number in numbers)
        return closing(self.rows.blocks(blocks))

    def _in_memory(self):
        dtype, (height, width) = self.search.dtype, self.shape
        self._check_memory()
        matrix = arrays.empty(height * width, dtype, self.device).reshape(height, width)
        rows = rows_of_a_block(height, width, dtype)
        n_blocks = -(-height // rows)
        with self._found(range(n_blocks), rows) as found:
            for done, (number, values) in enumerate(found, start=1):
                matrix[number * rows : number * rows + len(values)] = values
                self.progress(done, n_blocks)
        return matrix

    def _search_missing(self, file, missing):
        with self._found(missing, file.rows) as found:
            for number, values in found:
                file.put(number, values)
                self.progress(len(file.done), file.blocks)
