"""One search for all pairs: what is asked for, in which type, by which method, into memory or a file."""

import hashlib
from threading import Lock
from time import perf_counter

import numpy as np

from edgewise.device import arrays
from edgewise.errors import DeviceError, GraphError, OptionError
from edgewise.paths.apsp.bounds import least_of
from edgewise.paths.apsp.choose import choose
from edgewise.paths.apsp.journal import type_begun
from edgewise.paths.apsp.memory import check, lacking, needs_of
from edgewise.paths.apsp.output import RowFile, check_path
from edgewise.paths.apsp.potentials import NegativeDiagonal, potentials_of
from edgewise.paths.apsp.record import AllPairs
from edgewise.paths.apsp.several import floyd_warshall, share_out
from edgewise.paths.rows import incoming_of, rows_of
from edgewise.paths.sssp import _named
from edgewise.paths.sssp.negative_cycle import NegativeCycle
from edgewise.paths.sssp.weights import WIDER, edge_at, rows_in, type_named

#: Rows of a block: multiples of so many sources, about so many bytes, so many blocks if there are enough.
BLOCK_ROWS, BLOCK_BYTES, BLOCKS = 256, 1 << 27, 32


def rows_of_a_block(height, width, dtype):
    """Rows that are searched for at a time, of a matrix of so many; a power of two where few fit."""
    fitting = max(1, BLOCK_BYTES // (max(width, 1) * np.dtype(dtype).itemsize))
    if fitting < BLOCK_ROWS:
        return 1 << (fitting.bit_length() - 1)
    wanted = max(1, -(-height // BLOCKS))
    return min(-(-wanted // BLOCK_ROWS), fitting // BLOCK_ROWS) * BLOCK_ROWS


class TooLarge(Exception):
    """A distance does not fit the type."""


class Search:
    """A method made ready for a graph: asks it for the distances from any sources.

    Parameters
    ----------
    methods : dict of str to Method
    graph : Graph
    method : str
        A name, or ``"auto"``.
    dtype : str, dtype or None
        Type of the distances, if it was asked for.
    all_sources : bool
        Whether all vertices are sources.
    places : sequence of str, optional
        All places that take part; ``auto`` takes what all of them can do.
    fits : callable, optional
        ``fits(whole, dtype)``: whether a method that keeps the whole matrix, or does not, fits the memory.

    Attributes
    ----------
    name : str
        Of the method.
    rows : edgewise.paths.rows.Rows
    dtype : dtype
        Of the distances.
    """

    def __init__(self, methods, graph, method, dtype, all_sources=True, places=(), fits=None):
        self.methods, self.graph, self.start = methods, graph, None
        self.asked = None if dtype is None else type_named(dtype)
        self.weighted = graph.csr_weights is not None
        natural = graph.csr_weights.dtype.name if self.weighted else "int32"
        self._take(self.asked or natural)
        self.signed = bool(least_of(self.rows.weights) < 0)
        if method == "auto":
            method = self._chosen(all_sources, places or (graph.place,), fits)
        self.name, self.method, self.solve = method, methods[method], None
        self._check()

    def _chosen(self, all_sources, places, fits):
        """What ``auto`` takes: a method that all places can do, and that fits."""
        place = next((place for place in places if place != "cpu"), "cpu")
        facts = self.graph.n_vertices, len(self.rows.neighbours), place, self.weighted, self.signed
        name = choose(*facts, all_sources and (len(places) == 1 or "cpu" not in places))
        if self.methods[name].whole and fits is not None and not fits(True, self.dtype):
            name = choose(*facts, False)
        return name

    @property
    def instead(self):
        """Name of a method that does not keep the whole matrix, for a message."""
        return "johnson" if self.signed else "sssp" if self.method.whole else self.name

    def _take(self, name):
        self.dtype = np.dtype(name)
        self.rows = rows_in(self.graph, name) if self.weighted else rows_of(self.graph)

    def _check(self):
        if self.method.weights == "none" and self.weighted:
            raise OptionError(
                f"method {self.name} counts every edge as one, but the graph has weights; use sssp"
            )
        if self.method.weights == "not negative" and self.signed:
            weights = self.graph.csr_weights
            raise OptionError(
                f"the edge {edge_at(self.graph, int(weights.argmin()))} weighs {weights.min()}, and "
                f"{self.name} needs weights of 0 or more; use method='johnson' or 'floyd-warshall'"
            )
        if self.graph.place.partition(":")[0] not in self.method.places:
            raise DeviceError(f"method {self.name} runs on {self.method.places[0]} only; use sssp")

    def widen(self):
        """Take the next wider type for the distances; all that was found so far is void."""
        name = self.dtype.name
        wider = WIDER.get(name) or ("float64" if name == "int64" else None)
        if self.asked or name not in WIDER:
            raise GraphError(
                f"a distance may pass the largest number of {name}; "
                + (f"use dtype={wider!r}" if wider else "use smaller weights")
            )
        self.solve = None
        self._take(wider)

    def into(self, sources, block):
        """Fill the flat (k n,) array ``block`` with the distances from (k,) sources.

        Raises
        ------
        TooLarge
            They do not fit the type; see :meth:`widen`.
        GraphError
            A cycle is negative.
        """
        if not len(block):
            return
        try:
            if self.solve is None:
                incoming_of(self.graph, self.rows)
                self.solve = (self.start or self.method.start)(self.rows)
            too_large = self.solve(sources, block)
        except NegativeCycle as cycle:
            raise _named(self.graph, cycle) from None
        except NegativeDiagonal:
            self._look_for_cycle()
            too_large = self.solve(sources, block)
        if too_large:
            raise TooLarge

    def _look_for_cycle(self):
        """Name the negative cycle; where there is none but by rounding, potentials make do with that."""
        try:
            potentials_of(self.rows)
        except NegativeCycle as cycle:
            raise _named(self.graph, cycle) from None
        self.name, self.method = "johnson", self.methods["johnson"]
        self.solve = self.method.start(self.rows)


class Job:
    """A search with its sources, its devices and where the distances go."""

    def __init__(self, methods, graph, method, sources, dtype, places, output, progress):
        n = graph.n_vertices
        self.progress = progress or (lambda done, blocks: None)
        self.sources = np.arange(n) if sources is None else graph.vertices_of(sources)
        self.output = None if output is None else check_path(output)
        self.graph, self.places = graph.to(places[0]), places
        #: Whether the matrix may be closed where the distances go.
        self.in_order = sources is None
        #: Where the blocks are put together.
        self.place = self.graph.place if len(places) == 1 else "cpu"

        def fits(whole, dtype):
            return lacking(self._needs(whole, dtype)) is None

        self.search = Search(methods, self.graph, method, dtype, len(self.sources) * 2 > n, places, fits)
        self.crew = [self.search]
        if len(places) > 1:
            self._share(methods, dtype, places)

    def _share(self, methods, dtype, places):
        """Let other devices take part: by rows of the matrix, or by blocks of sources."""
        found = self.search
        if not found.method.whole:
            self.crew += [Search(methods, self.graph.to(place), found.name, dtype) for place in places[1:]]
        elif found.name == "floyd-warshall" and "cpu" not in places:
            graphs = [self.graph.to(place) for place in places]

            def start(rows):
                name = rows.weights.dtype.name
                return floyd_warshall([rows_in(g, name) if found.weighted else rows_of(g) for g in graphs])

            found.start = start
        else:
            raise OptionError(
                f"method {found.name} keeps the whole matrix in one place; leave out devices=, "
                f"or use method={found.instead!r}"
            )

    @property
    def shape(self):
        """Rows and columns of the matrix."""
        return len(self.sources), self.graph.n_vertices

    def run(self):
        """Search, in a wider type where it must be, and return the result."""
        start = perf_counter()
        with arrays.guard(self.graph.place), np.errstate(over="ignore"):
            while True:
                try:
                    distances = self._in_memory() if self.output is None else self._to_file()
                    break
                except TooLarge:
                    for search in self.crew:
                        search.widen()
            arrays.synchronize(self.graph.place)
        found, seconds, graph = self.search, perf_counter() - start, self.graph
        return AllPairs(graph, found.name, seconds, self.sources, found.weighted, found.rows, distances)

    def _in_memory(self):
        dtype, (height, width) = self.search.dtype, self.shape
        whole = self.search.method.whole
        self._check_memory()
        matrix = arrays.empty(height * width, dtype, self.place)
        rows = max(1, height) if whole else rows_of_a_block(height, width, dtype)
        blocks, done = -(-height // rows), []

        def serve(search, block):
            into = matrix[block * rows * width : (block + 1) * rows * width]
            there = search.graph.place == self.place or search.start
            values = into if there else arrays.empty(len(into), dtype, search.graph.place)
            self._search(search, block, rows, values)
            if not there:
                into[:] = arrays.move(values, self.place)
            done.append(block)
            self.progress(len(done), blocks)

        share_out(self.crew, range(blocks), serve)
        return matrix.reshape(height, width)

    def _search(self, search, block, rows, values):
        with arrays.guard(search.graph.place), np.errstate(over="ignore"):
            search.into(self.sources[block * rows : (block + 1) * rows], values)

    def _needs(self, whole, dtype):
        """Bytes needed in each place."""
        height, width = self.shape
        rows = height if self.output is None else min(height, rows_of_a_block(height, width, dtype))
        home, in_place = self.place, self.in_order and rows == width
        return needs_of(whole, width, rows, np.dtype(dtype).itemsize, home, self.places, in_place)

    def _check_memory(self):
        found = self.search
        needs, without = (self._needs(whole, found.dtype) for whole in (found.method.whole, False))
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
            place = "cpu" if search.start else search.graph.place
            values = arrays.empty(height_here * width, dtype, place)
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
