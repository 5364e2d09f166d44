"""Families whose vertices form known components of consecutive vertices: small components, and long paths.

A component begins at vertex 0 and at every vertex whose first random word is below a threshold, so that the
sizes of components are geometric.  A vertex that begins no component is joined to an earlier vertex of its
own.  The components are therefore known beforehand.
"""

import numpy as np

from edgewise.device import device, each
from edgewise.generators.emit import emit, emitted
from edgewise.generators.limits import check_fraction, check_vertices, family
from edgewise.generators.random import BRANCHES, EDGES, ONE, below, threshold, words
from edgewise.generators.shuffle import order, restored, shuffled
from edgewise.graph import Graph

#: Largest distance to an earlier vertex of the component.
REACH = np.uint64(64)
NONE, TWO = np.uint64(0), np.uint64(2)


@device
def before(vertex, reach, seed, cut):
    """Number of vertices directly before ``vertex`` (uint64) in its component, at most ``reach``.

    A component begins at vertex 0 and wherever the first random word is below ``cut``.
    """
    steps, limit = NONE, np.uint64(cut)
    while steps < reach and steps < vertex and words(seed, vertex - steps, 0, EDGES)[0] >= limit:
        steps = steps + ONE
    return steps


@each
def _attach(vertex, seed, cut, shuffle, output):
    """Join a vertex to a random earlier one of its component."""
    here = restored(vertex, shuffle)
    earlier, slot = before(here, REACH, seed, cut), output.slots[vertex]
    if earlier > NONE:
        _, _, w2, w3 = words(seed, here, 0, EDGES)
        other = here - ONE - below(w2, w3, earlier)
        slot = emit(slot, vertex, shuffled(other, shuffle), output)
    output.slots[vertex] = slot


@family
def components(
    n: int, *, mean_size: float = 3.0, shuffle: bool = False, seed: int = 0, device: str = "cpu"
) -> Graph:
    """Make a graph of many small components, each a random tree.

    This is the shape of deduplicated records, most of which have no or few duplicates.

    Parameters
    ----------
    n : int
        Vertices.
    mean_size : float
        Mean number of vertices in a component; sizes are geometric, 1 being the most frequent.
    shuffle : bool
        Put the vertex ids in random order; else a component has consecutive ids.
    seed : int
    device : str

    Returns
    -------
    Graph
        It has ``n_vertices - n_edges`` components.

    Raises
    ------
    OptionError
        A number out of range.

    Examples
    --------
    >>> import edgewise as ew
    >>> graph = ew.generate.components(3000)
    >>> 900 < graph.n_vertices - graph.n_edges < 1100
    True
    """
    n = check_vertices("n", n)
    cut = threshold(1 / check_fraction("mean_size", mean_size, least=1.0, most=2.0**32))
    edges = emitted(_attach, n, device, seed, cut, order(n, seed, shuffle))
    return Graph.from_edges(*edges, n_vertices=n)


@each
def _extend(vertex, seed, cut, branch, shuffle, output):
    """Join a vertex to the one before it on its path and, now and then, to one a little further back."""
    here, slot = restored(vertex, shuffle), output.slots[vertex]
    w0, _, w2, w3 = words(seed, here, 0, BRANCHES)
    branches = w0 < np.uint64(branch)
    earlier = before(here, REACH if branches else ONE, seed, cut)
    if earlier > NONE:
        slot = emit(slot, vertex, shuffled(here - ONE, shuffle), output)
    if branches and earlier > ONE:
        other = here - TWO - below(w2, w3, earlier - ONE)
        slot = emit(slot, vertex, shuffled(other, shuffle), output)
    output.slots[vertex] = slot


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

    This is the shape of the k-mer graphs of genome assembly; the mean degree is just over 2.

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
    n = check_vertices("n", n)
    cut = threshold(1 / check_fraction("mean_length", mean_length, least=1.0, most=2.0**32))
    branch = threshold(check_fraction("branches", branches))
    edges = emitted(_extend, n, device, seed, cut, branch, order(n, seed, shuffle))
    return Graph.from_edges(*edges, n_vertices=n)
