"""A whole method to copy: connected components by minimum labels with shortcutting.

Every vertex starts with its own number as label.  A round lowers the labels of both endpoints of every edge
to the smaller one, and then replaces every label by the label of its label, so that labels travel along
chains in few rounds (Shiloach and Vishkin, "An O(log n) parallel connectivity algorithm", 1982).  The rounds
end when no label changes; every label is then the smallest vertex number of its component.

A method of edgewise is a page like this one in the folder of its problem, and one line in the table
``METHODS`` there.  Run this file to see it:

    python examples/new_method.py
"""

import numpy as np

import edgewise as ew
from edgewise.components import METHODS, read_edges
from edgewise.components.trees import singletons
from edgewise.device import arrays, each, fetch_min, store


@each
def lower(edge, labels, sources, targets, changed):
    """Lower the labels of both endpoints of one edge to the smaller one."""
    source, target = sources[edge], targets[edge]
    least = min(labels[source], labels[target])
    # Atomic, because other threads lower the same labels at the same time.
    if fetch_min(labels, source, least) > least or fetch_min(labels, target, least) > least:
        store(changed, 0, 1)


@each
def shortcut(vertex, labels):
    """Replace a label by the label of its label, which is never larger."""
    # race: the label from before, which others may read, is of the same component
    labels[vertex] = labels[labels[vertex]]


def minimum_labels(vertices, sources, targets):
    """Label the components of an edge list.

    Parameters
    ----------
    vertices : int
    sources, targets : (m,) index arrays on one device

    Returns
    -------
    (vertices,) index array
        Smallest vertex of each vertex's component, on the same device.
    """
    labels = singletons(vertices, sources)
    changed = arrays.full(1, 1, np.int32, arrays.device_of(sources))
    while int(changed[0]):
        changed[:] = 0
        lower(len(sources), labels, sources, targets, changed)
        shortcut(vertices, labels)
    return labels


METHODS["minimum-labels"] = read_edges(
    minimum_labels,
    "lower both endpoints of every edge, then shortcut",
    "Shiloach and Vishkin 1982",
    baseline=True,
)


def main():
    """Run the method as users would, and check it without solving again."""
    graph = ew.generate.components(100_000, seed=1)
    result = ew.connected_components(graph, method="minimum-labels").verify()
    assert (result.labels == ew.connected_components(graph).labels).all()
    print(f"{result.count:,} components by {result.method} in {result.seconds:.3f} s")


if __name__ == "__main__":
    main()
