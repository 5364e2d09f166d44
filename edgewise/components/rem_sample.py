"""Rem's algorithm without atomics on a sample, then skip the giant.

Sequential Rem (see :mod:`~edgewise.components.rem_sequential`) is twice as fast as the parallel one on the
same core, since a compare-and-swap stops the processor from executing ahead.  The sample, the first
neighbours of each vertex, is therefore joined by plain writes from all threads at once.  Two threads that
write the same parent lose a connection, but never make a wrong one, since a parent is always a smaller vertex
of the same component.  :func:`~edgewise.components.afforest.finish_outside` restores the connections that
were lost.
"""

from edgewise.components.afforest import finish_outside
from edgewise.components.rem_sequential import splice
from edgewise.components.trees import compress, singletons
from edgewise.device import each

ROUNDS = 2


@each
def splice_first(vertex, parent, offsets, neighbours, rounds):
    """Join ``vertex`` with its first neighbours, by plain writes."""
    first = offsets[vertex]
    for entry in range(first, min(first + rounds, offsets[vertex + 1])):
        other = neighbours[entry]
        if other < vertex or entry == first:
            splice(parent, vertex, other)


def rem_sample(vertices, csr, rounds=ROUNDS):
    """Label the components of symmetric rows.

    Parameters
    ----------
    rounds : int
        Neighbours of each vertex in the sample.
    """
    parent = singletons(vertices, csr.neighbours)
    splice_first(vertices, parent, csr.offsets, csr.neighbours, rounds)
    compress(vertices, parent)
    finish_outside(vertices, parent, csr)
    return parent
