"""Hook-non-atomic as the sample, then skip the giant: for graphs whose ids are local.

Hellås (2018, section 4.2.1) found that one round of plain, unguarded hooks helps on street networks only.
The cause is the order of the ids: where neighbours have close numbers, few edges compete for the same parent,
and two plain rounds over two neighbours of each vertex build nearly the whole forest without atomics.  A lost
write loses a connection but never makes a wrong one, and
:func:`~edgewise.components.afforest.finish_outside` restores the connections that were lost.

With scattered ids the same rounds are several times slower than Rem's algorithm: use ``afforest`` there.
"""

from edgewise.components.afforest import finish_outside
from edgewise.components.trees import compress, new_parents, singletons
from edgewise.device import device, each

ROUNDS = 2


@device
def see_two(vertex, parent, second, offsets, neighbours, entries):
    """Degree and first two neighbours of a vertex; neighbours beyond the degree are arbitrary."""
    first, end = offsets[vertex], offsets[vertex + 1]
    return end - first, neighbours[min(first, entries - 1)], neighbours[min(first + 1, entries - 1)]


@each.prefetch(see_two)
def hang_below_nearer(vertex, seen, parent, second, offsets, neighbours, entries):
    """Start ``vertex`` below the nearer of its smaller first neighbours; ``second`` holds the other one."""
    degree, one, two = seen
    far = one if degree > 0 and one < vertex else vertex
    near = two if degree > 1 and two < vertex else far
    parent[vertex] = near
    second[vertex] = far


@each.prefetch(lambda vertex, parent, second: (parent[vertex], parent[second[vertex]]))
def hook_second(vertex, seen, parent, second):
    """Write the smaller of two parents over the larger; concurrent writes may be lost."""
    one, other = seen
    if one < other:
        parent[other] = one
    elif other < one:
        parent[one] = other


def hook_sample(vertices, csr, rounds=ROUNDS):
    """Label the components of symmetric rows.

    Parameters
    ----------
    rounds : int
        Rounds of plain hooks.
    """
    if not len(csr.neighbours):
        return singletons(vertices, csr.neighbours)
    parent, second = new_parents(vertices, csr.neighbours), new_parents(vertices, csr.neighbours)
    hang_below_nearer(vertices, parent, second, csr.offsets, csr.neighbours, len(csr.neighbours))
    compress(vertices, parent)
    for _ in range(rounds):
        hook_second(vertices, parent, second)
        compress(vertices, parent)
    finish_outside(vertices, parent, csr)
    return parent
