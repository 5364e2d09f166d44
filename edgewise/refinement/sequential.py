"""One triangle after the other: the same cavities without transactions, on one core.

It is the oracle of the transactions, and what they are compared with.  The class of a transaction decides
how words are read and written; here they are the array itself.
"""

import numpy as np

from edgewise.device import compiled
from edgewise.refinement.cavity import (
    DONE,
    INSERTED,
    LEFT_BY_GRID,
    LEFT_BY_INPUT,
    NEW,
    TOO_FINE,
    TOO_LARGE,
    Places,
    improve,
)
from edgewise.refinement.corners import vertex_of
from edgewise.refinement.quality import FORCED, GOOD, fault_of
from edgewise.refinement.rounds import check_points
from edgewise.transactions import read, runner, write
from edgewise.transactions.transaction import Memory, Transaction

#: What a counter holds: points, triangles, and whether the room for a cavity was too small.
N_POINTS, N_TRIANGLES, IS_TOO_LARGE = 0, 1, 2


class Alone(Transaction):
    """A transaction while no other runs."""

    __slots__ = ()


@read.of(Alone)
def read_word(tx, word):
    """Read a word."""
    return tx.memory.words[word]


@write.of(Alone)
def write_word(tx, word, value):
    """Write a word."""
    tx.memory.words[word] = value


@compiled
def sweep(tx, mesh, bound, room, counters, max_points):
    """Improve new triangles, in order, with those that this adds, as far as there is room."""
    words, triangle = tx.memory.words, np.int64(0)
    while triangle < counters[N_TRIANGLES]:
        n_points, n_triangles = counters[N_POINTS], counters[N_TRIANGLES]
        if n_points == max_points or n_triangles + 2 > len(mesh.states):
            break
        if mesh.states[triangle] == NEW:
            mesh.states[triangle] = DONE
            corner = 3 * triangle
            fault = fault_of(mesh, bound, words[corner], words[corner + 1], words[corner + 2])
            if fault == FORCED:
                mesh.states[triangle] = LEFT_BY_INPUT
            elif fault != GOOD:
                outcome = improve(
                    tx, mesh, bound, room, triangle, Places(n_points, n_triangles, n_triangles + 1)
                )
                if outcome == INSERTED:
                    counters[N_POINTS] += 1
                    counters[N_TRIANGLES] += 2 if vertex_of(words[3 * n_triangles + 3]) >= 0 else 1
                    if mesh.states[triangle] == DONE:
                        mesh.states[triangle] = NEW
                elif outcome == TOO_FINE:
                    mesh.states[triangle] = LEFT_BY_GRID
                elif outcome == TOO_LARGE:
                    mesh.states[triangle] = NEW
                    counters[IS_TOO_LARGE] = 1
        triangle += 1


def in_turn(refinement, bound, max_points):
    """Refine a :class:`~edgewise.refinement.rounds.Refinement` on the CPU; return the number of sweeps."""
    counters, n_sweeps = np.array([refinement.n_points, refinement.n_triangles, 0]), 0
    while (refinement.mesh.states[: counters[N_TRIANGLES]] == NEW).any():
        refinement.grow(counters[N_POINTS] + 1, counters[N_TRIANGLES] + 2)
        nothing = np.empty(0, np.int64)
        memory, log = Memory(refinement.words, nothing, nothing, 0), runner.log_of(refinement.words, 1, 1)
        limit = min(max_points, len(refinement.mesh.points.x))
        counters[IS_TOO_LARGE] = 0
        sweep(Alone(memory, log, 0, 0), refinement.mesh, bound, refinement.room(1), counters, limit)
        refinement.n_points, refinement.n_triangles = map(int, counters[:IS_TOO_LARGE])
        refinement.n_vertices = refinement.n_points
        refinement.edges *= 1 + int(counters[IS_TOO_LARGE])
        if (refinement.mesh.states[: counters[N_TRIANGLES]] == NEW).any():
            check_points(refinement.n_points, max_points, bound)
        n_sweeps += 1
    return n_sweeps
