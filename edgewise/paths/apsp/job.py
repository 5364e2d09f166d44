"""One search for all pairs: what is asked for, in which type, by which method, into memory or a file."""

import hashlib
from threading import Lock
from time import perf_counter

import numpy as np

from edgewise.device import arrays
from edgewise.errors import OptionError
from edgewise.paths.apsp.journal import type_begun
from edgewise.paths.apsp.memory import check, lacking, needs_of
from edgewise.paths.apsp.output import RowFile, check_path
from edgewise.paths.apsp.result import AllPairs
from edgewise.paths.apsp.search import Search, TooLarge, rows_of_a_block
from edgewise.paths.apsp.several import floyd_warshall, share_out
from edgewise.paths.csr import adjacency_of
from edgewise.paths.method import flat
from edgewise.paths.sssp.weights import WIDER, rows_in


class Job:
    """A search with its sources, its devices and where the distances go."""

    def __init__(self, methods, graph, method, sources, dtype, devices, output, progress):
        n = graph.n_vertices
        self.progress = progress or (lambda done, blocks: None)
        self.sources = np.arange(n) if sources is None else graph.vertices_of(flat(sources, "sources"))
        self.output = None if output is None else check_path(output)
        self.graph, self.devices = graph.to(devices[0]), devices
        #: Whether the matrix may be closed where the distances go.
        self.in_order = sources is None
        #: Where the blocks are put together.
        self.device = self.graph.device if len(devices) == 1 else "cpu"

        def fits(whole, dtype):
            return lacking(self._needs(whole, dtype)) is None

        self.search = Search(methods, self.graph, method, dtype, len(self.sources) * 2 > n, devices, fits)
        self.crew = [self.search]
        if len(devices) > 1:
            self._share(methods, dtype, devices)

    def _share(self, methods, dtype, devices):
        """Let other devices take part: by rows of the matrix, or by blocks of sources."""
        found = self.search
        if not found.method.full_matrix:
            self.crew += [Search(methods, self.graph.to(device), found.name, dtype) for device in devices[1:]]
        elif found.name == "floyd-warshall" and "cpu" not in devices:
            graphs = [self.graph.to(device) for device in devices]

            def start(rows):
                name = rows.weights.dtype.name
                return floyd_warshall(
                    [rows_in(g, name) if found.weighted else adjacency_of(g) for g in graphs]
                )

            found.start = start
        else:
            raise OptionError(
                f"method {found.name} keeps the whole matrix in one device; leave out devices=, "
                f"or use method={found.instead!r}"
            )

    @property
    def shape(self):
        """Rows and columns of the matrix."""
        return len(self.sources), self.graph.n_vertices

    def run(self):
        """Search, in a wider type where it must be, and return the result."""
        start = perf_counter()
        with arrays.guard(self.graph.device), np.errstate(over="ignore"):
            while True:
                try:
                    distances = self._in_memory() if self.output is None else self._to_file()
                    break
                except TooLarge:
                    for search in self.crew:
                        search.widen()
            arrays.synchronize(self.graph.device)
        found, seconds, graph = self.search, perf_counter() - start, self.graph
        return AllPairs(graph, found.name, seconds, self.sources, found.weighted, found.rows, distances)

    def _in_memory(self):
        dtype, (height, width) = self.search.dtype, self.shape
        whole = self.search.method.full_matrix
        self._check_memory()
        matrix = arrays.empty(height * width, dtype, self.device)
        rows = max(1, height) if whole else rows_of_a_block(height, width, dtype)
        blocks, done = -(-height // rows), []

        def serve(search, block):
            into = matrix[block * rows * width : (block + 1) * rows * width]
            there = search.graph.device == self.device or search.start
            values = into if there else arrays.empty(len(into), dtype, search.graph.device)
            self._search(search, block, rows, values)
            if not there:
                into[:] = arrays.move(values, self.device)
            done.append(block)
            self.progress(len(done), blocks)

        share_out(self.crew, range(blocks), serve)
        return matrix.reshape(height, width)

    def _search(self, search, block, rows, values):
        with arrays.guard(search.graph.device), np.errstate(over="ignore"):
            search.into(self.sources[block * rows : (block + 1) * rows], values)

    def _needs(self, whole, dtype):
        """Bytes needed in each place."""
        height, width = self.shape
        rows = height if self.output is None else min(height, rows_of_a_block(height, width, dtype))
        home, in_place = self.device, self.in_order and rows == width
        return needs_of(whole, width, rows, np.dtype(dtype).itemsize, home, self.devices, in_place)

    def _check_memory(self):
        found = self.search
        needs, without = (self._needs(whole, found.dtype) for whole in (found.method.full_matrix, False))
        check(needs, without, found.name, found.instead, self.output is None)

    def _to_file(self):
        facts = self._facts()
        begun = type_begun(self.output, facts)
        if begun is not None and begun == WIDER.get(self.search.dtype.name) and not self.search.asked:
            for search in self.crew:
                search.widen()
        self._check_memory()
        dtype, (height, width) = self.search.dtype, self.shape
        rows = rows_of_a_block(height, width, dtype)
        with RowFile(self.output, self.shape, dtype, rows, facts) as file:
            self._fill(file, rows, width)
            return file.finish()

    def _fill(self, file, rows, width):
        """Search for the blocks that are not in the file yet."""
        dtype, height, alone = file.dtype, file.shape[0], Lock()

        def serve(search, block):
            height_here = min(rows, height - block * rows)
            device = "cpu" if search.start else search.graph.device
            values = arrays.empty(height_here * width, dtype, device)
            self._search(search, block, rows, values)
            values = arrays.move(values, "cpu").reshape(-1, width)
            with alone:
                file.put(block, values)
                self.progress(len(file.done), file.blocks)

        if file.done:
            self.progress(len(file.done), file.blocks)
        try:
            share_out(self.crew, [block for block in range(file.blocks) if block not in file.done], serve)
        except TooLarge:
            file.discard()
            raise

    def _facts(self):
        """What the distances depend on, for the journal of an output."""
        graph, digest = self.graph, hashlib.sha256()
        for array in (graph.offsets, graph.neighbours, graph.csr_weights, self.sources):
            if array is not None:
                digest.update(np.ascontiguousarray(arrays.move(array, "cpu")).data)
        return {"graph and sources": digest.hexdigest()[:20], "method": self.search.name}
