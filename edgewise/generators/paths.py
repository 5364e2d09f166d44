"""Long paths with a few branches, like the k-mer graphs of genome assembly: mean degree just over 2."""

import numpy as np

from edgewise.device import each
from edgewise.generators.components import NONE, REACH, before
from edgewise.generators.emit import emit, emitted
from edgewise.generators.limits import family, fraction, vertices
from edgewise.generators.random import BRANCHES, ONE, below, threshold, words
from edgewise.generators.shuffle import order, restored, shuffled
from edgewise.graph import Graph

TWO = np.uint64(2)


@each
def _chain(vertex, seed, count, cut, branch, bits, key, slots, sources, targets):
    """Join a vertex to the one before it on its path and, now and then, to one a little further back."""
    here, slot = restored(vertex, count, bits, key), slots[vertex]
    w0, _, w2, w3 = words(seed, here, 0, BRANCHES)
    branches = w0 < np.uint64(branch)
    earlier = before(here, REACH if branches else ONE, seed, cut)
    if earlier > NONE:
        slot = emit(slot, vertex, shuffled(here - ONE, count, bits, key), sources, targets)
    if branches and earlier > ONE:
        other = here - TWO - below(w2, w3, earlier - ONE)
        slot = emit(slot, vertex, shuffled(other, count, bits, key), sources, targets)
    slots[vertex] = slot


@family
def paths(
    n: int,
    *,
    mean_length: float = 1000.0,
    branches: float = 0.05,
    shuffle: bool = False,
    seed: int = 0,
    device: str = "cpu",
) -> Graph:
    """Make a graph of long paths, each a component, with a few branches that close small loops.

    Parameters
    ----------
    n : int
        Vertices.
    mean_length : float
        Mean number of vertices on a path; lengths are geometric.
    branches : float
        Share of the vertices with a further edge, to a vertex at most 64 back on the same path.
    shuffle : bool
        Put the vertex ids, which run along the paths, in random order.
    seed : int
    device : str

    Returns
    -------
    Graph

    Raises
    ------
    OptionError
        A number out of range.

    Examples
    --------
    >>> import edgewise as ew
    >>> graph = ew.generate.paths(10_000, branches=0)
    >>> int(graph.degrees().max())
    2
    """
    n = vertices("n", n)
    cut = threshold(1 / fraction("mean_length", mean_length, least=1.0, most=2.0**32))
    branch = threshold(fraction("branches", branches))
    edges = emitted(_chain, n, device, seed, n, cut, branch, *order(n, seed, shuffle))
    return Graph.from_edges(*edges, n_vertices=n)
