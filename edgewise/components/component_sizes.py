"""How many components there are and how large they are.

A component's size is counted at its root.  For many vertices on the host one core counts through, into
numbers no wider than labels: most labels are one and the same, which several cores would fight for.
"""

import numpy as np

from edgewise.device import arrays, each
from edgewise.primitives import histogram

#: Vertices from which memory counts for more than compiling a loop, and sizes that are looked at together.
MANY, BLOCK = 1 << 22, 1 << 20


@each
def count_all(_, vertices, labels, sizes):
    """Count the members of every component at its root."""
    for vertex in range(vertices):
        sizes[labels[vertex]] += 1


def census(labels):
    """Roots and sizes of the components.

    Parameters
    ----------
    labels : (n,) index array
        Smallest vertex of each vertex's component.

    Returns
    -------
    roots : (k,) index array, ascending
    sizes : (k,) int64 array
    """
    if len(labels) >= MANY and arrays.device_of(labels) == "cpu":
        return census_on_host(labels)
    xp = arrays.namespace(labels)
    roots = xp.flatnonzero(labels == xp.arange(len(labels), dtype=labels.dtype))
    sizes = histogram(labels, len(labels))[roots]
    return roots.astype(labels.dtype), sizes.astype(np.int64, copy=False)


def census_on_host(labels):
    """The same with little memory: 4 bytes a vertex, and no copy of the labels in a wider type."""
    sizes = np.zeros(len(labels), labels.dtype)
    count_all(1, len(labels), labels, sizes)
    starts = range(0, max(len(labels), 1), BLOCK)
    parts = (np.flatnonzero(sizes[start : start + BLOCK]) + start for start in starts)
    roots = np.concatenate([part.astype(labels.dtype) for part in parts])
    return roots, sizes[roots].astype(np.int64, copy=False)
