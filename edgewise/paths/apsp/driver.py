"""All pairs, block by block: from the requested sources to a matrix in memory or in a file.

Sources are independent, so every device of several has the graph and takes the next block of sources when it
has finished one; the blocks are put together on the host.  The matrix of the Floyd-Warshall algorithm is
spread over all GPUs, each with a range of its rows (:mod:`edgewise.paths.apsp.floyd_warshall_gpu`).
"""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays
from edgewise.errors import OptionError, OutOfMemoryError, argument
from edgewise.method import kind_of
from edgewise.paths.apsp.output import RowFile, check_path, type_begun
from edgewise.paths.apsp.result import AllPairs
from edgewise.paths.apsp.search import (
    BLOCK_BYTES,
    Search,
    TooLarge,
    first_too_small,
    memory_needed,
    rows_of_a_block,
)
from edgewise.paths.method import flat
from edgewise.paths.sssp.weights import WIDER


def share_out(workers, tasks, serve):
    """Call ``serve(worker, task)`` for all tasks, one at a time on each worker; an error ends it."""
    waiting, lock = iter(tasks), Lock()
    stopped: list = []

    def work(worker):
        while not stopped:
            with lock:
                task = next(waiting, None)
            if task is None:
                return
            try:
                serve(worker, task)
            except BaseException:
                stopped.append(worker)
                raise

    if len(workers) == 1:
        work(workers[0])
        return
    with ThreadPoolExecutor(len(workers)) as pool:
        try:
            list(pool.map(work, workers))
        except BaseException:
            stopped.append(None)
            raise


#: Rows of a block, at least, where a search from a few sources takes as long as one from a batch.
BATCH_ROWS = 64


class Request(NamedTuple):
    """What is computed and where it goes: the arguments of :func:`edgewise.all_pairs_shortest_paths`.

    ``devices`` are the names of all workers that take part, such as ``"cuda:0"`` or ``"cpu:1"``.
    """

    method: str
    sources: Any
    dtype: Any
    devices: tuple[str, ...]
    output: Any
    progress: Any


class Job:
    """A request for a graph, with the methods prepared on its devices."""

    def __init__(self, methods, graph, request):
        n, sources = graph.n_vertices, request.sources
        #: The device of each worker, whose name is that of the device, or of a share of the CPU.
        self.names = request.devices
        devices = tuple("cpu" if kind_of(name) == "cpu" else name for name in self.names)
        self.progress = request.progress or (lambda done, blocks: None)
        self.sources = np.arange(n) if sources is None else graph.vertices_of(flat(sources, "sources", graph))
        self.output = None if request.output is None else check_path(request.output)
        self.graph, self.devices = graph.to(devices[0]), devices
        #: Whether the full matrix may be solved in the array of the result.
        self.in_order = sources is None
        #: Where the blocks are put together.
        self.device = self.graph.device if len(devices) == 1 else "cpu"

        self.search: Any = None  # while it is being made
        how = request.method, request.dtype, len(self.sources) * 2 > n
        self.search = Search(methods, self.graph, *how, devices, self._fits)
        #: A search on each device, which take blocks of sources in turn.
        self.device_workers = [self.search]
        if len(devices) > 1:
            self._add_devices(methods, request.dtype)

    def _add_devices(self, methods, dtype):
        """Let other devices take part: by blocks of sources, or by rows of the matrix."""
        search, others = self.search, [self.graph.to(device) for device in self.devices[1:]]
        if not search.method.full_matrix:
            self.device_workers += [Search(methods, graph, search.name, dtype) for graph in others]
        elif search.name == "floyd-warshall" and "cpu" not in self.devices:
            from edgewise.paths.apsp.floyd_warshall_gpu import SeveralGpus

            search.prepare = lambda first: SeveralGpus([first, *map(search.adjacency_on, others)])
        else:
            raise OptionError(
                f"method {search.name} keeps the full matrix on one device; leave out {argument('devices')}, "
                f"or use {argument('method', search.instead)}"
            )

    @property
    def shape(self):
        """Rows and columns of the matrix."""
        return len(self.sources), self.graph.n_vertices

    def run(self):
        """Search, and return the result."""
        search, (distances, seconds) = self.search, self.solved()
        run = self.graph, search.name, seconds
        return AllPairs(*run, self.sources, search.weighted, search.adjacency, distances, devices=self.names)

    def solved(self):
        """Search, in a wider type where it must be; return the distances and the seconds."""
        start = perf_counter()
        with arrays.guard(self.graph.device), np.errstate(over="ignore"):
            while True:
                try:
                    distances = self._in_memory() if self.output is None else self._to_file()
                    break
                except TooLarge:
                    self._widen()
            arrays.synchronize(self.graph.device)
        return distances, perf_counter() - start

    def rows_at_a_time(self, dtype):
        """Rows of distances that are searched for at a time."""
        (height, width), method = self.shape, self.search and self.search.method
        in_batches = method and method.by_routes
        if self.output is None and method and (method.full_matrix or in_batches):
            return max(1, height)
        if in_batches:
            fitting = BLOCK_BYTES // (max(width, 1) * np.dtype(dtype).itemsize)
            return max(BATCH_ROWS, fitting // BATCH_ROWS * BATCH_ROWS)
        return rows_of_a_block(height, width, dtype)

    def _widen(self):
        for search in self.device_workers:
            search.widen()

    def _device_of_blocks(self, search):
        """Where a search puts its blocks: several GPUs with one matrix put them together on the host."""
        return search.graph.device if search.prepare is search.method.run else "cpu"

    def _in_memory(self):
        dtype, (height, width) = self.search.dtype, self.shape
        self._check_memory()
        matrix = arrays.empty(height * width, dtype, self.device)
        rows = self.rows_at_a_time(dtype)
        n_blocks, done = -(-height // rows), []

        def serve(search, block):
            result, device = matrix[block * rows * width : (block + 1) * rows * width], self.device
            there = self._device_of_blocks(search)
            values = result if there == device else arrays.empty(len(result), dtype, there)
            self._search(search, block, rows, values)
            if there != device:
                result[:] = arrays.move(values, device)
            done.append(block)
            self.progress(len(done), n_blocks)

        share_out(self.device_workers, range(n_blocks), serve)
        return matrix.reshape(height, width)

    def _search(self, search, block, rows, values):
        with arrays.guard(search.graph.device), np.errstate(over="ignore"):
            search.into(self.sources[block * rows : (block + 1) * rows], values)

    def _fits(self, full_matrix, dtype):
        """Whether a search with or without the full matrix fits the memory."""
        return first_too_small(self._memory_needed(full_matrix, dtype)) is None

    def _memory_needed(self, full_matrix, dtype):
        """Bytes needed on each device."""
        height, width = self.shape
        rows = height if self.output is None else min(height, self.rows_at_a_time(dtype))
        in_place = self.in_order and rows == width
        return memory_needed(full_matrix, width, rows, np.dtype(dtype).itemsize, self.devices, in_place)

    def _check_memory(self):
        """Raise OutOfMemoryError if the search does not fit, with what to do about it."""
        search, instead = self.search, self.search.instead
        too_small, still_too_small = (
            first_too_small(self._memory_needed(full_matrix, search.dtype))
            for full_matrix in (search.method.full_matrix, False)
        )
        if too_small is None:
            return
        device, n_bytes, free = still_too_small or too_small
        also = f" and {argument('method', instead)}" if search.name != instead else ""
        if still_too_small is None:
            what, remedy = f"the matrix of {search.name}", f"use {argument('method', instead)}"
        elif self.output is None:
            file = argument("output", "distances.npy")
            what, remedy = "all distances", f"write them to a file with {file}{also}"
        else:
            what, remedy = "a block of distances", "use fewer vertices"
        raise OutOfMemoryError(
            f"{device} has too little memory for {what}: {n_bytes:,} bytes needed, {free:,} free; {remedy}"
        )

    def _to_file(self):
        facts, search = self._facts(), self.search
        begun = type_begun(self.output, facts)
        if begun is not None and begun == WIDER.get(search.dtype.name) and not search.requested:
            self._widen()
        self._check_memory()
        rows = self.rows_at_a_time(search.dtype)
        with RowFile(self.output, self.shape, search.dtype, rows, facts) as file:
            self._fill(file)
            return file.finish()

    def _fill(self, file):
        """Search for the blocks that are not in the file yet."""
        if file.done:
            self.progress(len(file.done), file.blocks)
        try:
            self._search_missing(file, [block for block in range(file.blocks) if block not in file.done])
        except TooLarge:
            file.discard()
            raise

    def _search_missing(self, file, missing):
        (height, width), rows, lock = file.shape, file.rows, Lock()

        def serve(search, block):
            height_here = min(rows, height - block * rows)
            values = arrays.empty(height_here * width, file.dtype, self._device_of_blocks(search))
            self._search(search, block, rows, values)
            values = arrays.move(values, "cpu").reshape(-1, width)
            with lock:
                file.put(block, values)
                self.progress(len(file.done), file.blocks)

        share_out(self.device_workers, missing, serve)

    def _facts(self):
        """What the distances depend on, for the journal of an output."""
        graph, digest = self.graph, hashlib.sha256()
        for array in (graph.offsets, graph.neighbours, graph.csr_weights, self.sources):
            if array is not None:
                digest.update(np.ascontiguousarray(arrays.move(array, "cpu")).data)
        return {"graph and sources": digest.hexdigest()[:20], "method": self.search.name}
