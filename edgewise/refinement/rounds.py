"""The rounds of refinement: new triangles are inspected, and each that is not good runs a transaction.

Each transaction has a vertex and two triangles of its own, beside those of its cavity; what it does not use
is given to another one in the next round.  Triangles that a transaction has written are inspected in the
next round, and no others.

M. Kulkarni et al., "Optimistic parallelism requires abstractions" (2007), for refinement as the example of
an algorithm whose cavities are found only while it runs.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, each
from edgewise.errors import OptionError, argument
from edgewise.primitives.array_operations import pack
from edgewise.refinement.cavity import (
    DONE,
    INSERTED,
    LEFT_BY_GRID,
    LEFT_BY_INPUT,
    NEW,
    TOO_FINE,
    TOO_LARGE,
    WAITING,
    Places,
    Room,
    improve,
)
from edgewise.refinement.corners import NO_WORD, vertex_of
from edgewise.refinement.predicates import Points
from edgewise.refinement.quality import FORCED, GOOD, NO_END, Mesh, fault_of
from edgewise.transactions import Statistics, TransactionalMemory, runner

#: Words of a transaction that are expected.
LOG = 64
#: Edges of a cavity for which there is room at first.
EDGES = 32
#: Triangles that are neighbours in memory are so many transactions apart, since their cavities often overlap.
#: From 64 to 500,000 times differ by 9 % on an H100 (``bench/notes/transactions.md``).
DISTANCE = 64
#: Bytes of the room for all cavities together, at most.
ROOM_BYTES = 2**30


class Work(NamedTuple):
    """The transactions of a round.

    Attributes
    ----------
    triangles : (count,) int64 array
        The triangles that wait.
    vertices : (count,) int64 array
        A vertex for each transaction.
    more : (2 * count,) int64 array
        Two triangles for each transaction.
    outcomes : (count,) int8 array
    room : Room
    """

    triangles: Any
    vertices: Any
    more: Any
    outcomes: Any
    room: Any


@each
def inspect(triangle, words, mesh, bound):
    """Let a new triangle that is not good wait for a transaction, or leave it."""
    if mesh.states[triangle] != NEW:
        return
    mesh.states[triangle] = DONE
    one, two, three = words[3 * triangle], words[3 * triangle + 1], words[3 * triangle + 2]
    if vertex_of(one) >= 0:
        fault = fault_of(mesh, bound, one, two, three)
        if fault != GOOD:
            mesh.states[triangle] = LEFT_BY_INPUT if fault == FORCED else WAITING


def insert(tx, number, mesh, bound, work):
    """Transaction: insert a vertex because of a triangle."""
    places = Places(work.vertices[number], work.more[2 * number], work.more[2 * number + 1])
    work.outcomes[number] = improve(tx, mesh, bound, work.room, work.triangles[number], places)


@each
def settle(number, mesh, work):
    """Note what has become of a triangle that no transaction has written."""
    triangle, outcome = work.triangles[number], work.outcomes[number]
    if mesh.states[triangle] == WAITING and outcome != TOO_LARGE:
        mesh.states[triangle] = LEFT_BY_GRID if outcome == TOO_FINE else NEW


class Refinement:
    """A mesh while it is refined: words, vertices, states, and the numbers that are not used.

    Parameters
    ----------
    words : (3 * t,) int64 array
    x, y : (n,) int64 array
        All on the device that works.
    protocol : str
    n_slots : int or None
        Transactions at the same time; ``None`` for what is usual.
    """

    def __init__(self, words, x, y, protocol, n_slots):
        self.protocol, self.n_slots = protocol, n_slots
        self.device = arrays.device_of(words)
        self.words, self.n_triangles, self.n_vertices, self.n_points = words, len(words) // 3, len(x), len(x)
        ends = [arrays.full(len(x), NO_END, np.int64, self.device) for _ in range(2)]
        states = arrays.full(self.n_triangles, NEW, np.int8, self.device)
        self.mesh = Mesh(Points(x, y), ends[0], ends[1], states)
        self.vertices, self.triangles = (arrays.empty(0, np.int64, self.device) for _ in range(2))
        self.edges = EDGES

    def transactions(self, find, body, bound, max_points=None):
        """Run rounds, which add points up to a limit, until no triangle waits; return their statistics."""
        done: list[Statistics] = []
        memory = self.memory()
        while len(waiting := self.waiting(find, bound)):
            if max_points is not None:
                check_points(self.n_points, max_points, bound)
                waiting = waiting[: max_points - self.n_points]
            added = 0 if max_points is None else len(waiting)
            self.grow(self.n_vertices + added, self.n_triangles + 2 * added)
            if memory.words is not self.words:
                memory = self.memory()
            done.append(self.run(memory, body, waiting, bound, added))
        return tuple(done)

    def memory(self):
        """The words as a memory of transactions."""
        return TransactionalMemory(self.words, protocol=self.protocol, log=LOG)

    def waiting(self, find, bound):
        """Inspect new triangles, and return those that wait: an int64 array."""
        find(self.n_triangles, self.words, self.mesh, bound)
        found = arrays.namespace(self.device).flatnonzero(self.mesh.states[: self.n_triangles] == WAITING)
        return arrays.move(found, self.device)

    def grow(self, n_vertices, n_triangles):
        """Make room for as many vertices and triangles, and for more, so that this happens rarely."""
        (x, y), one_end, other_end, states = self.mesh
        if n_vertices > len(x):
            added = n_vertices + n_vertices // 2 - len(x)
            x, y, one_end, other_end = (extended(one, added, NO_END) for one in (x, y, one_end, other_end))
        if n_triangles > len(states):
            added = n_triangles + n_triangles // 2 - len(states)
            states, self.words = extended(states, added, DONE), extended(self.words, 3 * added, NO_WORD)
        self.mesh = Mesh(Points(x, y), one_end, other_end, states)

    def run(self, memory, body, triangles, bound, added):
        """Run a transaction for each of some triangles, which may add vertices; return the statistics."""
        count, xp = len(triangles), arrays.namespace(self.device)
        vertices, self.n_vertices = numbers(self.vertices, self.n_vertices, added)
        more, self.n_triangles = numbers(self.triangles, self.n_triangles, 2 * added)
        outcomes = arrays.zeros(count, np.int8, self.device)
        memory.slots = self.slots(memory, count)
        triangles = interleaved(triangles, DISTANCE)
        work = Work(triangles, vertices, more, outcomes, self.room(memory.slots))
        done = memory.run(body, count, self.mesh, bound, work)
        settle(count, self.mesh, work)
        is_unused = arrays.move(xp.ones(len(vertices), bool), self.device)
        is_unused[:added] = outcomes[:added] != INSERTED
        self.n_points += added - int(is_unused[:added].sum())
        (self.vertices,) = pack(is_unused, vertices)
        (self.triangles,) = pack(self.words[3 * more] == NO_WORD, more)
        if bool((outcomes == TOO_LARGE).any()):
            self.edges *= 2
        return done

    def slots(self, memory, count):
        """Transactions at the same time: as many as asked for or usual, but fewer if cavities are large."""
        lanes = 1 if self.device == "cpu" else memory._protocol.lanes
        usual = runner.n_slots(self.device, count, self.n_slots, lanes)
        return max(1, min(usual, ROOM_BYTES // (16 * self.edges)))

    def room(self, slots):
        """Room for the cavities of as many transactions at a time."""
        entries = [arrays.empty(slots * self.edges, np.int64, self.device) for _ in range(2)]
        is_cpu = self.device == "cpu"
        return Room(entries[0], entries[1], self.edges, self.edges if is_cpu else 1, 1 if is_cpu else slots)

    def triangulation(self):
        """The vertices of each triangle: (t, 3) int64 array; and all vertices that are used."""
        xp = arrays.namespace(self.device)
        words = self.words[: 3 * self.n_triangles].reshape(-1, 3)
        is_used = arrays.move(xp.ones(self.n_vertices, bool), self.device)
        is_used[self.vertices] = False
        numbers = xp.cumsum(is_used) - 1
        return numbers[vertex_of(words[words[:, 0] != NO_WORD])], xp.flatnonzero(is_used)


def numbers(unused, first, count):
    """Unused numbers, new ones from ``first`` on if there are too few; and the first one that is left."""
    end = first + max(count - len(unused), 0)
    where = arrays.device_of(unused)
    new = arrays.move(np.arange(first, end), where)
    return arrays.move(arrays.namespace(where).concatenate([unused, new]), where), end


def interleaved(items, distance):
    """The items in an order in which those that were neighbours are some distance apart."""
    share = -(-len(items) // distance)
    xp = arrays.namespace(items)
    order = xp.arange(share * distance).reshape(distance, share).T.ravel()
    return items[order[order < len(items)]]


def extended(array, added, value):
    """A copy of an array with more items of a value."""
    where = arrays.device_of(array)
    more = arrays.full(added, value, array.dtype, where)
    return arrays.move(arrays.namespace(where).concatenate([array, more]), where)


def check_points(n_points, max_points, bound):
    """Raise :class:`~edgewise.errors.OptionError` if there are as many points as there may be."""
    if n_points >= max_points:
        degrees = np.degrees(np.arcsin(np.sqrt(bound.sine2)))
        raise OptionError(
            f"{argument('max_points', max_points)} points are too few for angles of {degrees:.4g} degrees; "
            f"give more, or a smaller {argument('min_angle')}"
        )
