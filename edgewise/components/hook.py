"""Hook and compress, as Groute does it: Hellås (2018), Algorithms 3 to 7; alone, and before Rem's algorithm.

Algorithm 7 first asks whether the trees are compressed; here they are walked in any case, which then writes
nothing.

A few rounds of *Hook-non-atomic* write the smaller parent over the larger without synchronisation; writes may
be lost, and the next pass joins the edges again.  *Hook-atomic* then joins every edge with
compare-and-swap.  After each pass the trees are compressed, after the first rounds only below a bound: the
largest vertex that has an edge.

A lost write loses no more than its own edge as long as every written vertex is the root of a star or of a
single vertex; this holds because every round starts from compressed trees.

Rounds of Hook-non-atomic before Rem's algorithm help on street networks and on no other graphs of the thesis
(section 6.3.1).  The cause is the order of the ids: where neighbours have close numbers, plain writes and one
compression build nearly the whole forest; the same networks with random ids become slower.  Compression
between the segments in which edges reach a GPU does not pay (section 6.3.2).  Both methods are baselines:
``hang-rem`` (:mod:`~edgewise.components.edge_samples`) hooks a part of the edges and is faster.
"""

from edgewise.components.rem import unite_all
from edgewise.components.trees import compress, singletons
from edgewise.device import cas, device, each


@each
def hook_non_atomic(edge, parent, sources, targets):
    """Algorithm 4: write the smaller parent over the larger."""
    one, other = parent[sources[edge]], parent[targets[edge]]
    if one < other:
        parent[other] = one  # race: of two writes one is lost, whose edge the next pass joins again
    elif other < one:
        parent[one] = other  # race: as above


@device
def hook_up(parent, one, other):
    """Algorithm 5: hook the larger root of two vertices under the smaller, repeated until it succeeds."""
    above_one, above_other = parent[one], parent[other]
    while above_one != above_other:
        high, low = max(above_one, above_other), min(above_one, above_other)
        held = cas(parent, high, high, low)
        if held in (high, low):
            return
        above_one, above_other = parent[held], parent[low]


@each
def hook_atomic(edge, parent, sources, targets):
    """Join the endpoints of one edge."""
    hook_up(parent, sources[edge], targets[edge])


def parts(edges, segments):
    """Yield slices of the edges, one for each segment."""
    segments = max(segments, 1)
    for segment in range(segments):
        yield slice(segment * edges // segments, (segment + 1) * edges // segments)


def hook(vertices, sources, targets, iterations=1, segments=1):
    """Algorithm 3: for each segment of the edges ``iterations`` of Hook-non-atomic, then Hook-atomic."""
    n_edges = len(sources)
    parent = singletons(vertices, sources)
    bound = 1 + max(int(sources.max()), int(targets.max())) if iterations and n_edges else 0
    for part in parts(n_edges, segments):
        join_by_hook(parent, sources[part], targets[part], iterations, bound)
    return parent


def join_by_hook(parent, sources, targets, iterations=0, bound=None):
    """Join a segment of edges to compressed trees, and compress them; all ends are below ``bound``."""
    n_edges, n_vertices = len(sources), len(parent)
    for _ in range(iterations):
        hook_non_atomic(n_edges, parent, sources, targets)
        compress(n_vertices if bound is None else bound, parent)
    hook_atomic(n_edges, parent, sources, targets)
    compress(n_vertices, parent)


def hook_rem(vertices, sources, targets, iterations=1, segments=1, compress_between=0):
    """Rem on edges in several ``segments``, each after ``iterations`` rounds of Hook-non-atomic and Compress.

    ``compress_between`` compresses between the segments also where there are no rounds.
    """
    parent = singletons(vertices, sources)
    for part in parts(len(sources), segments):
        if part.start and (compress_between or iterations):  # plain hooks are correct on stars only
            compress(vertices, parent)
        endpoints = sources[part], targets[part]
        for _ in range(iterations):
            hook_non_atomic(len(endpoints[0]), parent, *endpoints)
            compress(vertices, parent)
        unite_all(parent, *endpoints)
    compress(vertices, parent)
    return parent
