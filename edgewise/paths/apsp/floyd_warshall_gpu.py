"""The Floyd-Warshall algorithm in tiles, on one GPU and on several.

For each tile of pivots there are three phases, which are those of Katz and Kider, "All-pairs shortest-paths
for large graphs on the GPU" (2008):

1. the distances among the pivots, over pivots alone (one block of threads);
2. the rows and columns of the pivots, by one min-plus product with the closed result of the first phase;
3. everything else: ``D[i, j] = min(D[i, j], min over pivots k of D[i, k] + D[k, j])``, a min-plus product.

The second phase works on copies, the *panels*, whose rows are the pivots (columns of the matrix are
transposed), so the third phase reads nothing that is being written, and writes the panels back as well.  An
undirected graph has a symmetric matrix: its two panels are one, and the third phase leaves out the tiles
below the diagonal, half of the work.  The matrix is that of :mod:`~edgewise.paths.apsp.floyd_warshall`, with
sides of ``min_plus.padded(n)``, solved in place.

On several GPUs every device holds a range of the rows.  For each tile of pivots its owner sends the row panel
(n times a tile) to all others; then each device makes the column panel of its own rows, and lowers them by
the product of the two; in all, it receives the whole matrix once.  The owner of the next pivots prepares the
next panel before its long product of this turn, out of the rows as they are and the panels of this turn, and
the panel is copied during that product into the free one of two buffers.  One host thread launches
everything; a device has two streams, one for its work and one for copies to it.
"""

import numpy as np

from edgewise.device import arrays, streams
from edgewise.paths.apsp.search import MatrixMethod, NegativeDiagonal, copy_rows, fill, largest_of
from edgewise.primitives.min_plus import TILE, Panel, min_plus, padded

#: Tiles of pivots after which the host looks for negative cycles.
TURNS_PER_CHECK = 32


def floyd_warshall(adjacency):
    """Prepare the method on one GPU; see :class:`~edgewise.paths.apsp.search.MatrixMethod`."""
    n, stride, signed = adjacency.n_vertices, padded(adjacency.n_vertices), adjacency.spread.least < 0
    options = {"symmetric": adjacency.symmetric and not signed, "signed": signed}
    return MatrixMethod(adjacency, stride, lambda matrix: solve(matrix, n, stride, **options))


def solve(matrix, n, stride, *, symmetric=False, signed=False):
    """Turn the weights of edges into distances, in place; return whether there is a cycle of negative length.

    The matrix is then of no use except for its diagonal: -1 for a vertex on such a cycle, and zeros.
    ``symmetric``: the matrix is symmetric and no weight is negative.  ``signed``: weights may be negative;
    integer distances must then be below half of the ceiling, and values above it are no path; a float -0.0
    counts as negative.
    """
    device = arrays.device_of(matrix)
    tiles = min_plus(matrix.dtype, signed)
    with arrays.on(device):
        panels = arrays.empty((1 if symmetric else 2) * tiles.tile * stride, matrix.dtype, device)
        closed = arrays.empty(2 * tiles.tile**2, matrix.dtype, device)
        negative = arrays.zeros(1, np.int64, device)
        for turn, first in enumerate(range(0, n, tiles.tile)):
            _take_pivots(tiles, Panel(matrix, 0, stride), panels, closed, negative, first, symmetric)
            if signed and (turn + 1) % TURNS_PER_CHECK == 0 and value_of(negative):
                break
        for first in range(tiles.tile, stride, tiles.tile) if symmetric else ():
            below = Panel(matrix, first * stride, stride)
            tiles.transpose(Panel(matrix, first, stride), below, first)
        on_cycle = value_of(negative) if signed else 0
        if on_cycle:
            matrix[:: stride + 1] = 0
            matrix[(on_cycle - 1) * (stride + 1)] = -1
        return on_cycle > 0


def value_of(array):
    """The one value of an array, as a Python number."""
    return arrays.move(array, "cpu")[0].item()


def _take_pivots(tiles, matrix, panels, closed, negative, first, symmetric):
    """Take paths over a tile of pivots into a matrix, or into its tiles on and above the diagonal."""
    stride, size = matrix.pitch, tiles.tile * matrix.pitch
    wide, high = stride // tiles.tile, first if symmetric else stride
    columns, rows = Panel(panels, 0, stride), Panel(panels, 0 if symmetric else size, stride)
    streams.copy(panels[rows.at :], matrix.array[first * stride :][:size])
    if high:
        tiles.transpose(Panel(matrix.array, first, stride), columns, high)
    tiles.close(Panel(panels, rows.at + first, stride), closed, negative, first)
    # The panels below one another are a target of two rows of tiles: (closed^T)^T columns, closed rows.
    n_panels = 1 if symmetric else 2
    tiles.relax(columns, Panel(closed, 0, 2 * tiles.tile), columns, n_panels, wide, apart=size)
    tiles.relax(matrix, columns, rows, wide, wide, upper=symmetric)


class SeveralGpus(MatrixMethod):
    """The method with an adjacency on each of several GPUs, which may be one; the result is on the host."""

    def __init__(self, adjacencies):
        super().__init__(adjacencies[0], padded(adjacencies[0].n_vertices), None)
        self.adjacencies = adjacencies

    def _solved(self, sources, result):
        parts, first = [], 0
        heights = split_rows(self.stride, len(self.adjacencies))
        for height, adjacency in zip(heights, self.adjacencies):  # more GPUs than tiles: the last have none
            device = arrays.device_of(adjacency.offsets)
            with arrays.guard(device):
                parts.append(arrays.empty(height * self.stride, result.dtype, device))
                fill(adjacency.outgoing, first, self.stride, parts[-1])
            first += height
        if solve_in_parts(parts, self.adjacency.n_vertices, self.stride, signed=self.signed):
            raise NegativeDiagonal
        return parts

    def _largest(self, parts, limit):
        return max(largest_of(part, limit) for part in parts)

    def _copy(self, parts, sources, result):
        n, stride, first = self.adjacency.n_vertices, self.stride, 0
        for part in parts:
            height, device = len(part) // stride, arrays.device_of(part)
            here = np.flatnonzero((sources >= first) & (sources < first + height))
            with arrays.guard(device):
                block = arrays.empty(len(here) * n, result.dtype, device)
                copy_rows(part, stride, sources[here] - first, n, self.signed, block)
            result.reshape(-1, n)[here] = arrays.move(block, "cpu").reshape(-1, n)
            first += height


class _Part:
    """The rows of the matrix that one device holds, and its panels."""

    def __init__(self, array, stride, first, tiles):
        self.array, self.stride, self.tiles, self.first = array, stride, tiles, first
        self.device, self.rows = arrays.device_of(array), len(array) // stride
        self.work, self.copies = streams.Stream(self.device), streams.Stream(self.device)
        self.received, self.used = [streams.Event(), streams.Event()], [streams.Event(), streams.Event()]
        kind = array.dtype
        with self.work:
            self.panels = [arrays.empty(tiles.tile * stride, kind, self.device) for _ in range(2)]
            self.columns = arrays.empty(tiles.tile * self.rows, kind, self.device)
            self.closed = arrays.empty(2 * tiles.tile**2, kind, self.device)
            self.negative = arrays.zeros(1, np.int64, self.device)

    def has(self, vertex):
        """Whether the row of a vertex is here."""
        return self.first <= vertex < self.first + self.rows

    def prepare(self, pivot, slot):
        """Prepare the row panel of a tile of pivots; the turn before takes effect through the panels."""
        tiles, stride = self.tiles, self.stride
        panel, size, above = Panel(self.panels[slot], 0, stride), tiles.tile * stride, pivot - self.first
        wide = stride // tiles.tile
        with self.work:
            streams.copy(panel.array, self.array[above * stride :][:size])
            if pivot:
                before = Panel(self.panels[1 - slot], 0, stride)
                tiles.relax(panel, Panel(self.columns, above, self.rows), before, 1, wide)
            tiles.close(Panel(panel.array, pivot, stride), self.closed, self.negative, pivot)
            tiles.relax(panel, Panel(self.closed, tiles.tile, 2 * tiles.tile), panel, 1, wide)
        self.received[slot] = self.work.record()

    def receive(self, owner, slot):
        """Copy the row panel of its owner."""
        self.copies.wait(owner.received[slot])
        self.copies.wait(self.used[slot])
        streams.copy(self.panels[slot], owner.panels[slot], self.copies)
        self.received[slot] = self.copies.record()

    def make_columns(self, pivot, slot):
        """Make the column panel of a tile of pivots."""
        tiles, columns = self.tiles, Panel(self.columns, 0, self.rows)
        self.work.wait(self.received[slot])
        with self.work:
            tiles.transpose(Panel(self.array, pivot, self.stride), columns, self.rows)
            closed = Panel(self.panels[slot], pivot, self.stride)
            tiles.relax(columns, closed, columns, 1, self.rows // tiles.tile)

    def lower_all(self, slot):
        """Lower the rows by the product of the panels."""
        tiles, stride = self.tiles, self.stride
        factors = Panel(self.columns, 0, self.rows), Panel(self.panels[slot], 0, stride)
        with self.work:
            matrix = Panel(self.array, 0, stride)
            tiles.relax(matrix, *factors, self.rows // tiles.tile, stride // tiles.tile)
        self.used[slot] = self.work.record()

    def mark_cycle(self, vertex):
        """Let the diagonal name a vertex on a negative cycle."""
        with self.work:
            self.array[self.first :: self.stride + 1] = 0
            if self.has(vertex):
                self.array[(vertex - self.first) * self.stride + vertex] = -1
        self.work.synchronize()


def split_rows(stride, n_devices):
    """Rows of each device: whole tiles, nearly as many for each; not more devices than tiles."""
    tiles, count = stride // TILE, min(n_devices, stride // TILE)
    return [((part + 1) * tiles // count - part * tiles // count) * TILE for part in range(count)]


def solve_in_parts(arrays_of_rows, n, stride, *, signed=False):
    """The same as :func:`solve` on several devices: flat ``arrays_of_rows`` one after the other.

    Each is on its device, and consists of whole tiles as :func:`split_rows` has them.
    """
    tiles = min_plus(arrays_of_rows[0].dtype, signed)
    parts, first = [], 0
    for array in arrays_of_rows:
        arrays.synchronize(arrays.device_of(array))  # it was filled in another stream
        parts.append(_Part(array, stride, first, tiles))
        first += parts[-1].rows
    for part in parts:
        for other in parts:
            streams.peer_access(part.device, other.device)
    _send(parts, 0, 0)
    for turn, pivot in enumerate(range(0, n, tiles.tile)):
        slot, following = turn % 2, pivot + tiles.tile
        for part in parts:
            part.make_columns(pivot, slot)
        if following < n:
            _send(parts, following, 1 - slot)
        for part in parts:
            part.lower_all(slot)
        if signed and (turn + 1) % TURNS_PER_CHECK == 0 and _on_cycle(parts):
            break
    for part in parts:
        part.copies.synchronize()
        part.work.synchronize()
    vertex = _on_cycle(parts) if signed else 0
    if vertex:
        for part in parts:
            part.mark_cycle(vertex - 1)
    return vertex > 0


def _send(parts, pivot, slot):
    """Let the owner prepare the row panel of a tile of pivots, and all other devices copy it."""
    owner = next(part for part in parts if part.has(pivot))
    for part in parts:
        owner.work.wait(part.received[slot])  # the panel in this buffer may still be on its way to others
    owner.prepare(pivot, slot)
    for part in parts:
        if part is not owner:
            part.receive(owner, slot)


def _on_cycle(parts):
    """1 + the vertex noticed first on a cycle of negative length; 0 if there is none."""
    vertex = 0
    for part in reversed(parts):
        with part.work:
            vertex = value_of(part.negative) or vertex
    return vertex
