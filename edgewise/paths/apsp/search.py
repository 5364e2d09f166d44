"""A method prepared for a graph: which one ``auto`` takes, in which type it searches, what fits and what not.

The batched search relaxes an edge for one source in about 1 ns, and the blocked matrix a pair for one pivot
in about 1/20 ns (one core; int32).  The matrix therefore wins from one entry in about 40 pairs on, and where
all of it fits the cache.

Inside a method, "no path" is a ceiling so low that the sum of two of them does not wrap round: 2**30 - 1 for
int32.  A longer path would be cut off.  Where no weight is negative, the path to a vertex beyond the ceiling
passes a vertex whose distance is less than one weight below it, so nothing was cut off if

    largest finite distance + heaviest weight < ceiling

With negative weights the ceiling itself may be lowered, by less than n times the heaviest weight: all paths
must then be known to stay below half of it, and values above that half are no path.

A method that keeps the full matrix needs memory for it beside the distances, or beside one block of them for
a file, unless it is solved in the array of the result.  Over several GPUs it is spread by rows, and each GPU
hands over its rows in a copy.
"""

import numpy as np

from edgewise import tuning
from edgewise.device import arrays, each
from edgewise.errors import OptionError, argument
from edgewise.method import check_device
from edgewise.paths.csr import adjacency_of, unreached
from edgewise.paths.hierarchy import kept
from edgewise.paths.sssp.bellman_ford import NegativeCycle
from edgewise.paths.sssp.weights import edge_at, rows_in, type_named, wider_than

#: Rows of a block are a multiple of so many sources.
BLOCK_ROWS = 256
#: Bytes of a block, about.
BLOCK_BYTES = 1 << 27
#: Blocks of a matrix, if there are enough rows.
BLOCKS = 32
#: Entries of a matrix that are reduced at a time.
ENTRIES = 1 << 24
#: The sides of a full matrix are padded to a multiple of this, or of a divisor.
SIDE = 128


class TooLarge(Exception):
    """A distance does not fit the type."""


class NegativeDiagonal(Exception):
    """The distance of a vertex to itself became negative: it is on a negative cycle."""


def rows_of_a_block(height, width, dtype):
    """Rows that are searched for at a time, of a matrix of so many; a power of two where few fit."""
    fitting = max(1, BLOCK_BYTES // (max(width, 1) * np.dtype(dtype).itemsize))
    if fitting < BLOCK_ROWS:
        return 1 << (fitting.bit_length() - 1)
    wanted = max(1, -(-height // BLOCKS))
    return min(-(-wanted // BLOCK_ROWS), fitting // BLOCK_ROWS) * BLOCK_ROWS


def choose(n_vertices, n_entries, device, weighted, signed, all_sources):
    """Name of the method that ``auto`` takes; ``signed``: a weight is negative."""
    limits = tuning.CPU if device == "cpu" else tuning.GPU
    dense = n_vertices < limits.paths_matrix or n_vertices * n_vertices < limits.paths_pairs * n_entries
    if not weighted and device == "cpu":
        return "multi-source"
    if all_sources and dense:
        return "floyd-warshall"
    return "johnson" if signed else "sssp"


def ceiling_of(dtype):
    """The value for "no path" inside a method: (largest value - 1) / 2 of an integer type, else infinity."""
    dtype = np.dtype(dtype)
    return np.inf if dtype.kind == "f" else int(np.iinfo(dtype).max) // 2


def limit_of(dtype, signed):
    """Distances are below this; half of the ceiling where weights may be negative."""
    ceiling = ceiling_of(dtype)
    return ceiling // 2 if signed and ceiling < np.inf else ceiling


def end_of(dtype, signed=False):
    """Sums that matter must stay below this: the limit, or the largest float."""
    dtype = np.dtype(dtype)
    return float(np.finfo(dtype).max) if dtype.kind == "f" else limit_of(dtype, signed)


def heaviest_of(adjacency):
    """Largest absolute weight, as a Python number; 1 where edges count as one."""
    return max(map(abs, adjacency.spread[:2])) if len(adjacency.weights) else 1


def largest_of(matrix, limit):
    """Largest entry of a flat array below the limit, as a Python number; 0 if there is none above that."""
    largest, where = 0, arrays.namespace(matrix).where
    for first in range(0, len(matrix), ENTRIES):
        block = matrix[first : first + ENTRIES]
        largest = max(largest, where(block < limit, block, 0).max().item())
    return largest


def always_fits(adjacency, dtype):
    """Whether no path of n edges can come near the end of the type."""
    return adjacency.n_vertices * heaviest_of(adjacency) < end_of(dtype, signed=True)


def memory_needed(full_matrix, n_vertices, height, itemsize, devices, in_place=False):
    """Bytes that a search needs on each device, by name.

    ``full_matrix``: the method keeps the full matrix.  ``height`` rows of distances are held at a time; those
    of several devices are put together on the host.  ``in_place``: all rows are wanted in their order, so
    that the matrix may be solved in the result.
    """
    several = len(devices) > 1
    needed = {"cpu" if several else devices[0]: height * n_vertices * itemsize}
    side = -(-n_vertices // SIDE) * SIDE
    if full_matrix and (several or side != n_vertices or not in_place):
        share = side * side * itemsize // len(devices) * (2 if several else 1)
        for device in devices:
            needed[device] = needed.get(device, 0) + share
    return needed


def first_too_small(needed):
    """The first device with too little memory, the bytes needed and those free; ``None`` if all fits."""
    for device, n_bytes in needed.items():
        free = arrays.free_memory(device)
        if n_bytes > free:
            return device, n_bytes, free
    return None


@each
def fill_row(line, first, csr, stride, ceiling, matrix):
    """Fill a line of the matrix, whose first one is row ``first``; of repeated edges the lightest counts."""
    at, row = line * stride, first + line
    for column in range(stride):
        matrix[at + column] = ceiling
    matrix[at + row] = 0
    if row < len(csr.offsets) - 1:
        for entry in range(csr.offsets[row], csr.offsets[row + 1]):
            other = np.int64(csr.neighbours[entry])
            weight = csr.weights[entry] if len(csr.weights) else matrix.dtype.type(1)
            if weight < matrix[at + other]:
                matrix[at + other] = weight


@each
def copy_row(row, lines, stride, matrix, bounds, width, result):
    """Write a line of the matrix to the result; ``bounds``: its end of distances, the result's "no path"."""
    at, to, (limit, none) = np.int64(lines[row]) * stride, row * width, bounds
    for column in range(width):
        value = matrix[at + column]
        result[to + column] = value if value < limit else none


def fill(csr, first, stride, matrix):
    """Fill the lines of a matrix, of which the first is row ``first``, with the lengths of edges."""
    ceiling = matrix.dtype.type(ceiling_of(matrix.dtype))
    csr = csr._replace(weights=csr.weights.astype(matrix.dtype, copy=False))
    fill_row(len(matrix) // max(stride, 1), first, csr, stride, ceiling, matrix)


def copy_rows(matrix, stride, lines, width, signed, result):
    """Write some lines of a matrix to the flat array ``result``, one after the other."""
    kind = result.dtype
    bounds = kind.type(limit_of(kind, signed)), kind.type(unreached(kind))
    there = arrays.move(np.asarray(lines), arrays.device_of(matrix))
    copy_row(len(lines), there, stride, matrix, bounds, width, result)


class MatrixMethod:
    """A method that keeps the full matrix, whose sides are ``stride``, prepared for a graph.

    The matrix is flat, and its sides are padded to a multiple of a tile.  Pairs without an edge, and the
    padding, hold the ceiling (:func:`ceiling_of`); the diagonal holds zeros, or less where a self-loop is
    negative.  A vertex whose distance to itself falls below zero is on a negative cycle; that is noticed
    before it is a pivot, so nothing exceeds the longest simple path.

    ``close(matrix)`` turns the lengths of edges into distances, in place, and returns whether the distance of
    a vertex to itself became negative, after which the matrix is of no use.
    """

    def __init__(self, adjacency, stride, close):
        self.adjacency, self.stride, self.close = adjacency, stride, close
        self.heaviest, self.signed = heaviest_of(adjacency), adjacency.spread.least < 0
        self.matrices = {}

    def __call__(self, sources, result):
        """Write the distances from ``sources`` to ``result``; return whether one was too large for its type.

        The matrix is solved at the first call, in ``result`` itself if all of it fits there.
        """
        kind, safe = result.dtype, always_fits(self.adjacency, result.dtype)
        if not safe and (self.signed or self.heaviest >= end_of(kind)):
            return True
        matrix = self.matrices[kind] if kind in self.matrices else self._solved(sources, result)
        if matrix is not result:
            self.matrices[kind] = matrix
        if not safe:
            largest = self._largest(matrix, limit_of(kind, self.signed))
            if largest + self.heaviest >= end_of(kind):
                return True
        self._copy(matrix, sources, result)
        return False

    def _solved(self, sources, result):
        n, matrix = self.adjacency.n_vertices, result
        if not (n == self.stride == len(sources) and bool((sources == np.arange(n)).all())):
            matrix = arrays.empty(self.stride**2, result.dtype, arrays.device_of(result))
        fill(self.adjacency.outgoing, 0, self.stride, matrix)
        if self.close(matrix):
            raise NegativeDiagonal
        return matrix

    def _largest(self, matrix, limit):
        return largest_of(matrix, limit)

    def _copy(self, matrix, sources, result):
        copy_rows(matrix, self.stride, sources, self.adjacency.n_vertices, self.signed, result)


class Search:
    """A method, named or ``"auto"``, prepared for a graph; it computes the distances from any sources.

    ``devices`` are all that take part: ``auto`` takes a method that they can run, and that fits the memory by
    ``fits(full_matrix, dtype)``.  ``adjacency`` has weights in ``dtype``, the type of the distances, and
    ``prepare(adjacency)`` returns ``solve(sources, result)``.
    """

    def __init__(self, methods, graph, method, dtype, all_sources=True, devices=(), fits=None):
        self.methods, self.graph, self.solve = methods, graph, None
        self.requested = None if dtype is None else type_named(dtype)
        self.weighted = graph.csr_weights is not None
        self._set_type(self.requested or (graph.csr_weights.dtype.name if self.weighted else "int32"))
        self.signed = self.adjacency.spread.least < 0
        if method == "auto":
            method = self._chosen(all_sources, devices or (graph.device,), fits)
        self._set_method(method)
        self._check()

    def _chosen(self, all_sources, devices, fits):
        """The method of ``auto``: one that all devices can run, and that fits."""
        device = next((device for device in devices if device != "cpu"), "cpu")
        n_entries = len(self.adjacency.neighbours)
        if self.adjacency.routes is not None and len(devices) == 1:
            for name, method in self.methods.items():
                if method.by_routes:
                    return name
        facts = self.graph.n_vertices, n_entries, device, self.weighted, self.signed
        name = choose(*facts, all_sources and (len(devices) == 1 or "cpu" not in devices))
        if self.methods[name].full_matrix and fits is not None and not fits(True, self.dtype):
            name = choose(*facts, False)
        return name

    @property
    def instead(self):
        """Name of a method that does not keep the full matrix, for a message."""
        return "johnson" if self.signed else "sssp" if self.method.full_matrix else self.name

    def _set_type(self, name):
        self.dtype = np.dtype(name)
        self.adjacency = self.adjacency_on(self.graph)

    def adjacency_on(self, graph):
        """The adjacency of the graph, or of a copy on another device, with weights of the type."""
        if self.weighted:
            return rows_in(graph, self.dtype.name)
        adjacency = adjacency_of(graph)
        adjacency.routes = adjacency.routes or kept(graph)
        return adjacency

    def _set_method(self, name):
        self.name, self.method = name, self.methods[name]
        self.prepare = self.method.run

    def _check(self):
        if self.method.weights == "none" and self.weighted:
            raise OptionError(
                f"method {self.name} counts every edge as one, but the graph has weights; use sssp"
            )
        if self.method.weights == "not negative" and self.signed:
            weights, instead = self.graph.csr_weights, argument("method", "johnson")
            raise OptionError(
                f"the edge {edge_at(self.graph, int(weights.argmin()))} weighs {weights.min()}, and "
                f"{self.name} needs weights of 0 or more; use {instead} or 'floyd-warshall'"
            )
        check_device(self.name, self.graph.device, self.methods)

    def widen(self):
        """Take the next wider type for the distances; everything computed so far is void."""
        self._set_type(wider_than(self.dtype.name, self.requested is not None, "may pass"))
        self.solve = None

    def into(self, sources, block):
        """Fill the flat (k n,) array ``block`` with the distances from (k,) sources.

        Raises TooLarge if they do not fit the type (see :meth:`widen`), and GraphError for a negative cycle.
        """
        if not len(block):
            return
        try:
            if self.solve is None:
                self.solve = self.prepare(self.adjacency)
            try:
                too_large = self.solve(sources, block)
            except NegativeDiagonal:
                # Johnson's potentials name a negative cycle, unless the diagonal is below zero by rounding.
                self._set_method("johnson")
                self.solve = self.prepare(self.adjacency)
                # Several GPUs put the rows of their matrix together on the host; johnson writes on one GPU.
                rows = arrays.move(block, self.graph.device)
                too_large = self.solve(sources, rows)
                if rows is not block:
                    block[:] = arrays.move(rows, "cpu")
        except NegativeCycle as cycle:
            raise cycle.named(self.graph) from None
        if too_large:
            raise TooLarge
