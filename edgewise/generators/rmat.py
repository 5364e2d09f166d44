"""R-MAT (recursive matrix) graphs, Kronecker graphs among them: skewed degrees, small diameter.

An edge falls into the adjacency matrix through ``scale`` levels of quadrants, taken with probabilities a,
b, c and d (Chakrabarti, Zhan and Faloutsos, SDM 2004).  The default probabilities and the edge factor are
Graph500's.  Vertex ids are put in random order, else vertex 0 would be the hub and ids would tell degrees.
"""

import numpy as np

from edgewise.device import arrays, device, each
from edgewise.errors import OptionError
from edgewise.generators.limits import family, fraction, room, whole
from edgewise.generators.random import EDGES, ONE, threshold, words
from edgewise.generators.shuffle import order, scramble
from edgewise.generators.uniform import finished
from edgewise.graph import Graph

#: Vertices are numbered by uint32, whose last value is taken.
MOST_SCALE = 31
#: Levels that one block of random words decides.
LEVELS = 4


@device
def _quadrant(word, row, column, a, ab, abc):
    """Go down one level: the quadrants are the spans of ``word`` up to a, ab, abc and the rest."""
    past_a, past_ab, past_abc = np.uint64(word >= a), np.uint64(word >= ab), np.uint64(word >= abc)
    return (row << ONE) | past_ab, (column << ONE) | (past_a + past_abc - past_ab)


@each
def _descend(edge, block, seed, a, ab, abc, sources, targets):
    """Go down the levels of one block of words."""
    at = np.uint64(edge)  # an index that cannot be negative lets the CPU compiler vectorise: 6 times faster
    ua, uab, uabc = np.uint64(a), np.uint64(ab), np.uint64(abc)
    row, column = np.uint64(sources[at]), np.uint64(targets[at])
    w0, w1, w2, w3 = words(seed, at, block, EDGES)
    row, column = _quadrant(w0, row, column, ua, uab, uabc)
    row, column = _quadrant(w1, row, column, ua, uab, uabc)
    row, column = _quadrant(w2, row, column, ua, uab, uabc)
    row, column = _quadrant(w3, row, column, ua, uab, uabc)
    sources[at], targets[at] = row, column


@each
def _number(edge, spare, bits, key, sources, targets):
    """Undo the levels past ``scale`` and give vertices their devices in the random order."""
    at = np.uint64(edge)
    sources[at] = scramble(np.uint64(sources[at]) >> np.uint64(spare), bits, key)
    targets[at] = scramble(np.uint64(targets[at]) >> np.uint64(spare), bits, key)


@family
def rmat(
    scale: int,
    *,
    edge_factor: float = 16.0,
    samples: int | None = None,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    simple: bool = False,
    shuffle: bool = True,
    directed: bool = False,
    seed: int = 0,
    device: str = "cpu",
) -> Graph:
    """Make an R-MAT graph of ``2**scale`` vertices.

    Parameters
    ----------
    scale : int
        At most 31.
    edge_factor : float
        Edges drawn for each vertex.
    samples : int, optional
        Edges drawn in all, in place of ``edge_factor``.
    a, b, c : float
        Probabilities of the quadrants top left, top right, bottom left; the rest is bottom right.
    simple : bool
        Drop self-loops and merge repeated edges, of which skewed graphs have many.
    shuffle : bool
        Put the vertex ids in random order.
    directed : bool
    seed : int
    device : str

    Returns
    -------
    Graph

    Raises
    ------
    OptionError
        A number out of range, or probabilities that add up to more than 1.

    Examples
    --------
    >>> import edgewise as ew
    >>> ew.generate.rmat(10, edge_factor=8).n_edges
    8192
    """
    scale = whole("scale", scale, most=MOST_SCALE)
    if samples is None:
        samples = round(fraction("edge_factor", edge_factor, most=2.0**32) * 2**scale)
    samples = whole("samples", samples)
    spans = _spans(a, b, c)
    sources, targets = _edges(scale, samples, spans, order(2**scale, seed, shuffle), seed, device)
    return finished(sources, targets, 2**scale, simple, directed)


def _edges(scale, samples, spans, shuffle, seed, device):
    room(8 * samples, device)
    sources, targets = arrays.zeros(samples, np.uint32, device), arrays.zeros(samples, np.uint32, device)
    blocks = -(-scale // LEVELS)
    for block in range(blocks):
        _descend(samples, block, seed, *spans, sources, targets)
    _number(samples, blocks * LEVELS - scale, *shuffle, sources, targets)
    return sources, targets


def _spans(a, b, c):
    """Ends of the first three quadrants among the random words."""
    a, b, c = fraction("a", a), fraction("b", b), fraction("c", c)
    if a + b + c > 1 + 1e-9:
        raise OptionError(f"a + b + c = {a + b + c:g} is more than 1; give probabilities of quadrants")
    return threshold(a), threshold(a + b), threshold(min(1.0, a + b + c))
