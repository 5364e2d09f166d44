"""Rounds of plain hooks before Rem's algorithm, and Rem's algorithm in segments (Hellås 2018, section 6.3).

Rounds of Hook-non-atomic first help on street networks and on no other graphs of the thesis (section 6.3.1).
The cause is the order of the ids: where neighbours have close numbers, plain writes and one compression build
nearly the whole forest; the same networks with random ids become slower.  The graph must be sparse as well,
since hooks read every edge.  :mod:`~edgewise.components.hang_rem` reads a part of them and is faster.

Compression between the segments in which edges reach a GPU does not pay (section 6.3.2).
"""

from edgewise.components.hook import hook_non_atomic
from edgewise.components.rem import unite_all
from edgewise.components.trees import compress, singletons


def hook_rem(vertices, sources, targets, iterations=1, segments=1, compress_between=0):
    """Rem on edges in several ``segments``, each after ``iterations`` rounds of Hook-non-atomic and Compress.

    ``compress_between`` compresses between the segments also where there are no rounds.
    """
    parent = singletons(vertices, sources)
    edges, segments = len(sources), max(segments, 1)
    for segment in range(segments):
        part = slice(segment * edges // segments, (segment + 1) * edges // segments)
        if segment and (compress_between or iterations):  # plain hooks are correct on stars only
            compress(vertices, parent)
        endpoints = sources[part], targets[part]
        for _ in range(iterations):
            hook_non_atomic(len(endpoints[0]), parent, *endpoints)
            compress(vertices, parent)
        unite_all(parent, *endpoints)
    compress(vertices, parent)
    return parent
