"""Labels of the vertices that are no roots, as pairs (vertex, label): few while most vertices are roots."""

from edgewise.components.rem import union
from edgewise.device import arrays, each, streams


@each.prefetch(lambda vertex, labels, marks: labels[vertex])
def mark_joined(vertex, label, labels, marks):
    """Mark a vertex that is no root."""
    marks[vertex] = label != vertex


@each
def unite_pair(index, parent, vertices, labels):
    """Join a vertex with its label."""
    union(parent, vertices[index], labels[index])


def unite_pairs(parent, vertices, labels):
    """Join every vertex with its label, on the device of ``parent``."""
    unite_pair(len(vertices), parent, vertices, labels)


def label_pairs(labels, max_count):
    """Vertices that are no roots, and their labels.

    Parameters
    ----------
    labels : (n,) index array
        Compressed.
    max_count : int

    Returns
    -------
    (vertices, labels) or None
        ``None`` if there are more than ``max_count``.
    """
    device = arrays.device_of(labels)
    with arrays.on(device):
        marks = arrays.empty(len(labels), bool, device)
        mark_joined(len(labels), labels, marks)
        xp = arrays.namespace(device)
        if int(xp.count_nonzero(marks)) > max_count:
            return None
        vertices = xp.flatnonzero(marks)
        return vertices.astype(labels.dtype), labels[vertices]


def send_pairs(pairs, device):
    """The two arrays of pairs, copied to ``device``."""
    return tuple(streams.copy_to(array, device) for array in pairs)
