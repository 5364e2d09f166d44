"""The roots of the components and the number of vertices of each.

A component's vertices are counted at its root.  For many vertices on the host a single core counts, into
numbers no wider than labels: most labels are the same, and several cores would contend for one counter.
"""

import numpy as np

from edgewise.device import arrays, each
from edgewise.primitives import histogram

#: Vertices from which memory matters more than the time to compile a loop, and the sizes searched at a time.
MANY, BLOCK = 1 << 22, 1 << 20


@each
def count_all(_, vertices, labels, sizes):
    """Count the members of every component at its root."""
    for vertex in range(vertices):
        sizes[labels[vertex]] += 1


def component_sizes(labels):
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
        return component_sizes_on_host(labels)
    xp = arrays.namespace(labels)
    roots = xp.flatnonzero(labels == xp.arange(len(labels), dtype=labels.dtype))
    sizes = histogram(labels, len(labels))[roots]
    return roots.astype(labels.dtype), sizes.astype(np.int64, copy=False)


def component_sizes_on_host(labels):
    """The same with 4 bytes per vertex and without a copy of the labels in a wider type."""
    sizes = np.zeros(len(labels), labels.dtype)
    count_all(1, len(labels), labels, sizes)
    starts = range(0, max(len(labels), 1), BLOCK)
    parts = (np.flatnonzero(sizes[start : start + BLOCK]) + start for start in starts)
    roots = np.concatenate([part.astype(labels.dtype) for part in parts])
    return roots, sizes[roots].astype(np.int64, copy=False)
