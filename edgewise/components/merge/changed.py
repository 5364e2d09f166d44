"""What a worker has found out since a common start, as a list of pairs (vertex, label).

Among labels that grew out of common ones, only former roots count: a former root that now has another label
is one union, and every other vertex follows its former root.  So the list is as long as a forest that joins
the former components, and often far shorter than the labels.
"""

from edgewise.components.rem import union
from edgewise.device import arrays, each, streams


@each.prefetch(lambda vertex, labels, marks: labels[vertex])
def mark_moved(vertex, label, labels, marks):
    """Mark a vertex that is no root."""
    marks[vertex] = label != vertex


@each.prefetch(lambda vertex, labels, before, marks: (labels[vertex], before[vertex]))
def mark_moved_roots(vertex, seen, labels, before, marks):
    """Mark a vertex that was a root and is none any more."""
    label, root = seen
    marks[vertex] = root == vertex and label != vertex


@each
def unite_pair(index, parent, vertices, labels):
    """Join a vertex with its label."""
    union(parent, vertices[index], labels[index])


def unite_pairs(parent, vertices, labels):
    """Join every vertex with its label, in the place of ``parent``."""
    unite_pair(len(vertices), parent, vertices, labels)


def changed(labels, before=None, most=None):
    """Vertices whose label says something new, and these labels.

    Parameters
    ----------
    labels : (n,) index array
        Compressed.
    before : (n,) index array, optional
        Compressed labels that everybody has already; by default, every vertex alone.
    most : int, optional

    Returns
    -------
    (vertices, labels) or None
        ``None`` if there are more than ``most``.
    """
    device = arrays.device_of(labels)
    with arrays.on(device):
        marks = arrays.empty(len(labels), bool, device)
        if before is None:
            mark_moved(len(labels), labels, marks)
        else:
            mark_moved_roots(len(labels), labels, before, marks)
        xp = arrays.namespace(device)
        if most is not None and int(xp.count_nonzero(marks)) > most:
            return None
        vertices = xp.flatnonzero(marks)
        return vertices.astype(labels.dtype), labels[vertices]


def send_pairs(pairs, device):
    """The two arrays of pairs in ``device``."""
    return tuple(streams.copy_to(array, device) for array in pairs)
