"""Random graphs whose number of edges is given: uniform, R-MAT, and with hubs.

R-MAT (recursive matrix) graphs have skewed degrees and a small diameter; Kronecker graphs are among them.  An
edge descends through the ``scale`` levels of quadrants of the adjacency matrix, chosen with given
probabilities (Chakrabarti, Zhan and Faloutsos, SDM 2004).
"""

import math
from typing import NamedTuple

import numpy as np

from edgewise.device import arrays, device, each
from edgewise.errors import OptionError, argument
from edgewise.generators.limits import check_fraction, check_memory, check_vertices, check_whole, family
from edgewise.generators.random import EDGES, ONE, below, threshold, words
from edgewise.generators.shuffle import order, scramble, shuffled
from edgewise.graph import Graph

#: Largest number of levels: vertices are numbered by uint32, whose last value is reserved.
MAX_SCALE = 31
#: Levels that one block of random words decides.
LEVELS = 4


def simple_or_not(sources, targets, n, simple, directed):
    """The graph of these edges: all of them, or the distinct ones without self-loops."""
    self_loops, repeated = ("drop", "first") if simple else ("keep", "keep")
    return Graph.from_edges(
        sources, targets, n_vertices=n, directed=directed, self_loops=self_loops, repeated=repeated
    )


def _endpoints(m, device):
    """Sources and targets of ``m`` edges, to be written."""
    check_memory(8 * m, device)
    return tuple(arrays.empty(m, np.uint32, device) for _ in range(2))


@each
def _draw_uniform(edge, seed, count, sources, targets):
    at = np.uint64(edge)  # an index that cannot be negative lets the CPU compiler vectorise
    w0, w1, w2, w3 = words(seed, at, 0, EDGES)
    sources[at] = below(w0, w1, count)
    targets[at] = below(w2, w3, count)


@family
def uniform(
    n: int, m: int, *, simple: bool = False, directed: bool = False, seed: int = 0, device: str = "cpu"
) -> Graph:
    """Make a graph of ``m`` uniformly random edges (Erdős and Rényi, G(n, m)).

    Parameters
    ----------
    n : int
        Vertices.
    m : int
        Random pairs.

    Examples
    --------
    >>> import edgewise as ew
    >>> ew.generate.uniform(1000, 5000, seed=7).n_edges
    5000
    """
    n, m = check_vertices("n", n), check_whole("m", m)
    if m and not n:
        raise OptionError(f"m={m} edges need vertices; give n=1 or more")
    sources, targets = _endpoints(m, device)
    _draw_uniform(m, seed, n, sources, targets)
    return simple_or_not(sources, targets, n, simple, directed)


class Quadrants(NamedTuple):
    """Thresholds of a random word for the first quadrant, the first two and the first three."""

    a: int
    ab: int
    abc: int


@device
def _descend_level(word, row, column, quadrants):
    """Row and column one level below."""
    past_a, past_ab = np.uint64(word >= np.uint64(quadrants.a)), np.uint64(word >= np.uint64(quadrants.ab))
    past_abc = np.uint64(word >= np.uint64(quadrants.abc))
    return (row << ONE) | past_ab, (column << ONE) | (past_a + past_abc - past_ab)


@each
def _descend(edge, block, seed, quadrants, sources, targets):
    """Descend the levels of one block of words."""
    at = np.uint64(edge)  # an index that cannot be negative lets the CPU compiler vectorise: 6 times faster
    row, column = np.uint64(sources[at]), np.uint64(targets[at])
    w0, w1, w2, w3 = words(seed, at, block, EDGES)
    row, column = _descend_level(w0, row, column, quadrants)
    row, column = _descend_level(w1, row, column, quadrants)
    row, column = _descend_level(w2, row, column, quadrants)
    row, column = _descend_level(w3, row, column, quadrants)
    sources[at], targets[at] = row, column


@each
def _number(edge, spare, bits, key, sources, targets):
    """Undo the levels past ``scale`` and renumber the vertices in the random order."""
    at = np.uint64(edge)
    sources[at] = scramble(np.uint64(sources[at]) >> np.uint64(spare), bits, key)
    targets[at] = scramble(np.uint64(targets[at]) >> np.uint64(spare), bits, key)


@family
def rmat(
    scale: int,
    *,
    edge_factor: float = 16.0,
    probabilities: tuple[float, float, float, float] = (0.57, 0.19, 0.19, 0.05),
    simple: bool = False,
    shuffle: bool = True,
    directed: bool = False,
    seed: int = 0,
    device: str = "cpu",
) -> Graph:
    """Make an R-MAT graph of ``2**scale`` vertices; the defaults are Graph500's.

    Such graphs have many repeated edges.  If they are not shuffled, vertex 0 has the highest degree.

    Parameters
    ----------
    scale : int
        At most 31.
    edge_factor : float
        Edges drawn for each vertex.
    probabilities : tuple of four float
        Probabilities of the quadrants top left, top right, bottom left, bottom right; they add up to 1.

    Examples
    --------
    >>> import edgewise as ew
    >>> ew.generate.rmat(10, edge_factor=8).n_edges
    8192
    """
    scale = check_whole("scale", scale, most=MAX_SCALE)
    samples = round(check_fraction("edge_factor", edge_factor, most=2.0**32) * 2**scale)
    quadrants = _quadrants(probabilities)
    check_memory(8 * samples, device)
    sources, targets = (arrays.zeros(samples, np.uint32, device) for _ in range(2))
    blocks = -(-scale // LEVELS)
    for block in range(blocks):
        _descend(samples, block, seed, quadrants, sources, targets)
    _, bits, key = order(2**scale, seed, shuffle)
    _number(samples, blocks * LEVELS - scale, bits, key, sources, targets)
    return simple_or_not(sources, targets, 2**scale, simple, directed)


def _quadrants(probabilities):
    """Thresholds of the first three quadrants among the random words."""
    given = argument("probabilities", probabilities)
    if len(probabilities) != 4:
        raise OptionError(f"{given} must be four numbers, one for each quadrant")
    a, b, c, d = (check_fraction("probabilities", one) for one in probabilities)
    if not math.isclose(a + b + c + d, 1, abs_tol=1e-9):
        raise OptionError(f"{given} add up to {a + b + c + d:g}; they must add up to 1")
    return Quadrants(threshold(a), threshold(a + b), threshold(min(1.0, a + b + c)))


@each
def _draw_hubs(edge, seed, hub_edges, hub_degree, shuffle, sources, targets):
    """Draw an edge: the first ``hub_edges`` leave hubs, the others any vertex; targets are any vertex."""
    w0, w1, w2, w3 = words(seed, edge, 0, EDGES)
    if edge < hub_edges:
        sources[edge] = shuffled(edge // hub_degree, shuffle)
    else:
        sources[edge] = below(w0, w1, shuffle.count)
    targets[edge] = below(w2, w3, shuffle.count)


@family
def scale_free(
    n: int,
    *,
    mean_degree: float = 6.0,
    hubs: float = 0.001,
    hub_degree: int = 1000,
    simple: bool = False,
    directed: bool = False,
    seed: int = 0,
    device: str = "cpu",
) -> Graph:
    """Make a graph in which a few hubs, random vertices, have a large share of the edges.

    These are the test graphs of Harish and Narayanan (HiPC 2007), which make one thread per vertex slow: mean
    degree 6, and one vertex in a thousand has degree 1000.  Directed edges go from hubs.

    Parameters
    ----------
    n : int
        Vertices.
    mean_degree : float
        Mean degree over all vertices, hubs included; too low a degree for the hubs is refused.
    hubs : float
        Share of the vertices that are hubs.
    hub_degree : int
        Edges from each hub; a hub gets a few more as a neighbour of others.

    Examples
    --------
    >>> import edgewise as ew
    >>> graph = ew.generate.scale_free(10_000)
    >>> graph.n_edges, bool(graph.degrees().max() > 1000)
    (30000, True)
    """
    n, hub_degree = check_vertices("n", n), check_whole("hub_degree", hub_degree, least=1, most=2**32)
    m = round(check_fraction("mean_degree", mean_degree, most=2.0**32) * n / 2)
    hub_edges = round(check_fraction("hubs", hubs) * n) * hub_degree
    if hub_edges > m:
        raise OptionError(
            f"{argument('mean_degree', mean_degree)} is too low: "
            f"the hubs alone bring {hub_edges:,} edges of {m:,}; raise it, or give smaller hubs or hub_degree"
        )
    sources, targets = _endpoints(m, device)
    _draw_hubs(m, seed, hub_edges, hub_degree, order(n, seed), sources, targets)
    return simple_or_not(sources, targets, n, simple, directed)
