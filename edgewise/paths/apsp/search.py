"""A method made ready for a graph, to be asked for rows: on which rows, in which type, what it refuses."""

import numpy as np

from edgewise.errors import OptionError
from edgewise.method import check_device
from edgewise.paths.apsp.bounds import least_of
from edgewise.paths.apsp.choose import choose
from edgewise.paths.apsp.potentials import NegativeDiagonal, potentials_of
from edgewise.paths.csr import adjacency_of
from edgewise.paths.sssp.bellman_ford import NegativeCycle
from edgewise.paths.sssp.weights import edge_at, rows_in, type_named, wider_than

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
    devices : sequence of str, optional
        All devices that take part; ``auto`` takes what all of them can do.
    fits : callable, optional
        ``fits(whole, dtype)``: whether a method that keeps the whole matrix, or does not, fits the memory.

    Attributes
    ----------
    name : str
        Of the method.
    rows : edgewise.paths.csr.Adjacency
    dtype : dtype
        Of the distances.
    """

    def __init__(self, methods, graph, method, dtype, all_sources=True, devices=(), fits=None):
        self.methods, self.graph, self.start = methods, graph, None
        self.asked = None if dtype is None else type_named(dtype)
        self.weighted = graph.csr_weights is not None
        natural = graph.csr_weights.dtype.name if self.weighted else "int32"
        self._take(self.asked or natural)
        self.signed = bool(least_of(self.rows.weights) < 0)
        if method == "auto":
            method = self._chosen(all_sources, devices or (graph.device,), fits)
        self.name, self.method, self.solve = method, methods[method], None
        self._check()

    def _chosen(self, all_sources, devices, fits):
        """What ``auto`` takes: a method that all devices can do, and that fits."""
        device = next((device for device in devices if device != "cpu"), "cpu")
        facts = self.graph.n_vertices, len(self.rows.neighbours), device, self.weighted, self.signed
        name = choose(*facts, all_sources and (len(devices) == 1 or "cpu" not in devices))
        if self.methods[name].full_matrix and fits is not None and not fits(True, self.dtype):
            name = choose(*facts, False)
        return name

    @property
    def instead(self):
        """Name of a method that does not keep the whole matrix, for a message."""
        return "johnson" if self.signed else "sssp" if self.method.full_matrix else self.name

    def _take(self, name):
        self.dtype = np.dtype(name)
        self.rows = rows_in(self.graph, name) if self.weighted else adjacency_of(self.graph)

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
        check_device(self.name, self.graph.device, self.methods)

    def widen(self):
        """Take the next wider type for the distances; all that was found so far is void."""
        self._take(wider_than(self.dtype.name, self.asked is not None, "may pass"))
        self.solve = None

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
                self.rows.build_incoming()
                self.solve = (self.start or self.method.run)(self.rows)
            too_large = self.solve(sources, block)
        except NegativeCycle as cycle:
            raise cycle.named(self.graph) from None
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
            raise cycle.named(self.graph) from None
        self.name, self.method = "johnson", self.methods["johnson"]
        self.solve = self.method.run(self.rows)
