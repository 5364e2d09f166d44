"""Floyd and Warshall's algorithm in tiles, on several GPUs.

Every device holds a run of the matrix's rows.  For each tile of pivots its owner makes the pivots' rows ready
(the row panel: n times a tile) and sends them to all others; then each device turns its part of the pivots'
columns into a column panel of its own, and lowers its rows by the product of the two, as in
:mod:`~edgewise.paths.apsp.floyd_tiles`.  So the whole matrix comes to each device once.

Nobody waits for the row panel: before the owner of the next pivots takes the long product of this turn, it
makes the next panel ready ahead of it, out of the rows as they are and the panels of this turn.  The panel
then travels while all devices are at the long product, into the one of two buffers that is free.

One host thread asks for everything.  A device has two streams: one for its work, one for what arrives.
"""

import numpy as np

from edgewise.device import arrays, streams
from edgewise.paths.apsp.floyd_tiles import TURNS_A_LOOK, value_of
from edgewise.primitives.min_plus import TILE, Panel, min_plus


class _Part:
    """A device's rows of the matrix, and its panels."""

    def __init__(self, array, stride, first, tiles):
        self.array, self.stride, self.tiles, self.first = array, stride, tiles, first
        self.device, self.rows = arrays.device_of(array), len(array) // stride
        self.work, self.road = streams.Stream(self.device), streams.Stream(self.device)
        self.arrived, self.used = [streams.Event(), streams.Event()], [streams.Event(), streams.Event()]
        kind = array.dtype
        with self.work:
            self.panels = [arrays.empty(tiles.tile * stride, kind, self.device) for _ in range(2)]
            self.columns = arrays.empty(tiles.tile * self.rows, kind, self.device)
            self.closed = arrays.empty(2 * tiles.tile**2, kind, self.device)
            self.negative = arrays.zeros(1, np.int64, self.device)

    def has(self, vertex):
        """Whether the row of a vertex lies here."""
        return self.first <= vertex < self.first + self.rows

    def make_ready(self, pivot, slot):
        """Make the row panel of a tile of pivots; the turn before is known from panels alone."""
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
        self.arrived[slot] = self.work.record()

    def receive(self, owner, slot):
        """Copy the row panel of its owner."""
        self.road.wait(owner.arrived[slot])
        self.road.wait(self.used[slot])
        streams.copy(self.panels[slot], owner.panels[slot], self.road)
        self.arrived[slot] = self.road.record()

    def make_columns(self, pivot, slot):
        """Make the column panel of a tile of pivots."""
        tiles, columns = self.tiles, Panel(self.columns, 0, self.rows)
        self.work.wait(self.arrived[slot])
        with self.work:
            tiles.turn(Panel(self.array, pivot, self.stride), columns, self.rows)
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


def shares(stride, workers):
    """Rows of each worker: whole tiles, nearly as many for each; not more workers than tiles."""
    tiles, workers = stride // TILE, min(workers, stride // TILE)
    return [((worker + 1) * tiles // workers - worker * tiles // workers) * TILE for worker in range(workers)]


def solve(parts, n, stride, *, signed=False):
    """Turn the edges' weights into distances, in place.

    Parameters
    ----------
    parts : list of arrays
        The rows of the matrix one after the other, flat, each in the place of a device; whole tiles as
        :func:`shares` has them.  The matrix is that of :func:`.floyd_tiles.solve`.
    n : int
        Vertices.
    stride : int
        ``min_plus.padded(n)``.
    signed : bool
        Weights may be negative.

    Returns
    -------
    bool
        Whether there is a cycle of negative length; the diagonal then tells a vertex on it, as that of
        :func:`.floyd_tiles.solve`.
    """
    tiles = min_plus(parts[0].dtype, signed)
    team, first = [], 0
    for array in parts:
        arrays.synchronize(arrays.device_of(array))  # it was filled in another stream
        team.append(_Part(array, stride, first, tiles))
        first += team[-1].rows
    for part in team:
        for other in team:
            streams.peer_access(part.device, other.device)
    _send(team, 0, 0)
    for turn, pivot in enumerate(range(0, n, tiles.tile)):
        slot, following = turn % 2, pivot + tiles.tile
        for part in team:
            part.make_columns(pivot, slot)
        if following < n:
            _send(team, following, 1 - slot)
        for part in team:
            part.lower_all(slot)
        if signed and (turn + 1) % TURNS_A_LOOK == 0 and _negative(team):
            break
    for part in team:
        part.road.synchronize()
        part.work.synchronize()
    found = _negative(team) if signed else 0
    if found:
        _tell(team, found - 1)
    return found > 0


def _send(team, pivot, slot):
    """Let the owner make the row panel of a tile of pivots, and everybody else have it."""
    owner = next(part for part in team if part.has(pivot))
    for part in team:
        owner.work.wait(part.arrived[slot])  # the panel that lay there may still be on its way to others
    owner.make_ready(pivot, slot)
    for part in team:
        if part is not owner:
            part.receive(owner, slot)


def _negative(team):
    """1 + the vertex found first on a cycle of negative length; 0 if there is none."""
    found = 0
    for part in reversed(team):
        with part.work:
            found = value_of(part.negative) or found
    return found


def _tell(team, vertex):
    for part in team:
        with part.work:
            part.array[part.first :: part.stride + 1] = 0
            if part.has(vertex):
                part.array[(vertex - part.first) * part.stride + vertex] = -1
        part.work.synchronize()
