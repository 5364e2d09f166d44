"""First smaller neighbour, then every edge once: the ECL-CC scheme (Jaiganesh & Burtscher, HPDC 2018).

Every vertex starts below a smaller neighbour, with one plain write and no conflict.  Where ids are local (roads,
meshes) this alone builds nearly the whole forest.  Then every edge is looked at once, from its larger end:
find both roots, halving the paths, and hook the larger under the smaller.  Rows of ascending neighbours
give the smallest neighbour at once; other orders only hook less at the start.
"""

from edgewise.components.trees import compress, find, join_roots
from edgewise.device import arrays, each, each_row


@each
def hang_below_first(vertex, parent, offsets, neighbours):
    """Start ``vertex`` below its first neighbour if that is smaller, else as a root."""
    least = vertex
    first = offsets[vertex]
    if first < offsets[vertex + 1] and neighbours[first] < vertex:
        least = neighbours[first]
    parent[vertex] = least


@each_row
def join_smaller(vertex, lane, lanes, parent, offsets, neighbours, skipped):
    """Join ``vertex`` with its neighbours that are smaller, from entry ``skipped`` of its row on."""
    begin, end = offsets[vertex] + skipped + lane, offsets[vertex + 1]
    if begin < end:
        root = find(parent, vertex)
        for entry in range(begin, end, lanes):
            other = neighbours[entry]
            if other < vertex:
                join_roots(parent, root, find(parent, other))


def first_neighbour(vertices, offsets, neighbours):
    """Label the components of symmetric rows.

    Parameters
    ----------
    vertices : int
    offsets : (vertices + 1,) int64 array
    neighbours : (entries,) index array

    Returns
    -------
    (vertices,) index array
        Smallest vertex of each vertex's component.
    """
    parent = arrays.empty(vertices, neighbours.dtype, arrays.place_of(neighbours))
    hang_below_first(vertices, parent, offsets, neighbours)
    join_smaller(vertices, parent, offsets, neighbours, 1)
    compress(vertices, parent)
    return parent
