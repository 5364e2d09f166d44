"""Many small components: the shape of deduplicated records, most of which have no or few duplicates.

Vertices in a row form components that begin at random, so that their sizes are geometric; a vertex that
begins none is joined to an earlier one of its component.  The components are therefore known beforehand.
"""

import numpy as np

from edgewise.device import device, each
from edgewise.generators.emit import emit, emitted
from edgewise.generators.limits import family, fraction, vertices
from edgewise.generators.random import EDGES, ONE, below, threshold, words
from edgewise.generators.shuffle import order, restored, shuffled
from edgewise.graph import Graph

#: How far back an earlier vertex of the component is looked for.
REACH = np.uint64(64)
NONE = np.uint64(0)


@device
def before(vertex, reach, seed, cut):
    """How many vertices directly before ``vertex`` (uint64) are of its component, ``reach`` at most.

    A component begins at vertex 0 and wherever the first random word is below ``cut``.
    """
    steps, limit = NONE, np.uint64(cut)
    while steps < reach and steps < vertex and words(seed, vertex - steps, 0, EDGES)[0] >= limit:
        steps = steps + ONE
    return steps


@each
def _attach(vertex, seed, count, cut, bits, key, slots, sources, targets):
    here = restored(vertex, count, bits, key)
    earlier, slot = before(here, REACH, seed, cut), slots[vertex]
    if earlier > NONE:
        _, _, w2, w3 = words(seed, here, 0, EDGES)
        other = here - ONE - below(w2, w3, earlier)
        slot = emit(slot, vertex, shuffled(other, count, bits, key), sources, targets)
    slots[vertex] = slot


@family
def components(
    n: int, *, mean_size: float = 3.0, shuffle: bool = False, seed: int = 0, device: str = "cpu"
) -> Graph:
    """Make a graph of many small components, each a random tree.

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
    n = vertices("n", n)
    cut = threshold(1 / fraction("mean_size", mean_size, least=1.0, most=2.0**32))
    edges = emitted(_attach, n, device, seed, n, cut, *order(n, seed, shuffle))
    return Graph.from_edges(*edges, n_vertices=n)
