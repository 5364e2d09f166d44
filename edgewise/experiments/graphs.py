"""Stand-ins for the graphs of the documents: generated, of the same size, kind and name.

Every graph is described by its published number of vertices; at smaller sizes it is that number divided.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from edgewise import generators
from edgewise.experiments.streets import street

#: By size: the divisor of the published number of vertices, and the minimum number of vertices.
SIZES = {"paper": (1, 1), "small": (512, 4096), "tiny": (65536, 64)}


class StandIn(NamedTuple):
    """A graph of a document and the generator of its stand-in: ``make(n, seed=, device=)``."""

    family: str
    vertices: int
    make: Callable

    def generate(self, size, device):
        """The graph at one of :data:`SIZES`, on ``device``."""
        divisor, fewest = SIZES[size]
        return self.make(max(self.vertices // divisor, fewest), seed=1, device=device)


def bubbles(n, **where):
    """Honeycomb with holes."""
    return generators.mesh2d(math.isqrt(round(n / 0.8)), **where)


def papers(degree):
    """Random graphs with a few hubs, of the mean degree of a co-author network."""

    def make(n, **where):
        fitting = min(degree, n / 8)
        return generators.scale_free(n, mean_degree=fitting, hub_degree=min(1000, n // 4), **where)

    return make


def points(degree):
    """Random geometric graphs of a mean degree."""

    def make(n, **where):
        return generators.rgg(n, mean_degree=min(degree, n), **where)

    return make


def shell(n, **where):
    """Finite elements on a surface, four unknowns a node."""
    return generators.stencil3d(math.isqrt(n // 4), None, 1, unknowns=4, **where)


def solid(n, **where):
    """Finite elements in a solid, three unknowns a node: mean degree about 80."""
    return generators.stencil3d(round((n / 3) ** (1 / 3)), unknowns=3, **where)


def kkt(n, **where):
    """Stencil of 27 points, mean degree about 26."""
    return generators.stencil3d(round(n ** (1 / 3)), **where)


def kron(n, **where):
    """Kronecker graph with self-loops and repeated edges."""
    return generators.rmat(max(n.bit_length() - 1, 4), edge_factor=42.55, **where)


def kmers(n, **where):
    """Paths with branches, numbered at random; short, so that labels propagate in few rounds."""
    return generators.paths(n, mean_length=16, branches=0.1, shuffle=True, **where)


BUBBLES, PAPERS, DELAUNAY = "2D dynamic simulation", "citation network", "Delaunay"
RGG, MATRIX, STREET, SYNTHETIC = "random geometric", "sparse matrix", "street network", "synthetic"

#: Table 6.1 of Hellås (2018), in its order.
HELLAS = {
    "hugebubbles-00000": StandIn(BUBBLES, 18_318_143, bubbles),
    "hugebubbles-00010": StandIn(BUBBLES, 19_458_087, bubbles),
    "hugebubbles-00020": StandIn(BUBBLES, 21_198_119, bubbles),
    "coPapersCiteseer": StandIn(PAPERS, 434_102, papers(73.9)),
    "coPapersDBLP": StandIn(PAPERS, 540_486, papers(56.4)),
    "delaunay_n23": StandIn(DELAUNAY, 2**23, generators.delaunay),
    "delaunay_n24": StandIn(DELAUNAY, 2**24, generators.delaunay),
    "rgg_n_2_22_s0": StandIn(RGG, 2**22, points(14.5)),
    "rgg_n_2_23_s0": StandIn(RGG, 2**23, points(15.1)),
    "rgg_n_2_24_s0": StandIn(RGG, 2**24, points(15.8)),
    "af_shell10": StandIn(MATRIX, 1_508_065, shell),
    "audikw_1": StandIn(MATRIX, 943_695, solid),
    "nlpkkt120": StandIn(MATRIX, 3_542_400, kkt),
    "nlpkkt160": StandIn(MATRIX, 8_345_600, kkt),
    "nlpkkt200": StandIn(MATRIX, 16_240_000, kkt),
    "nlpkkt240": StandIn(MATRIX, 27_993_600, kkt),
    "asia.osm": StandIn(STREET, 11_950_757, street),
    "europe_osm": StandIn(STREET, 50_912_018, street),
    "germany.osm": StandIn(STREET, 11_548_845, street),
    "kron_g500-logn20": StandIn(SYNTHETIC, 2**20, kron),
}
#: One graph of each kind.
ONE_A_FAMILY = (
    "hugebubbles-00000",
    "coPapersDBLP",
    "delaunay_n23",
    "rgg_n_2_24_s0",
    "audikw_1",
    "nlpkkt160",
    "europe_osm",
    "kron_g500-logn20",
)
STREETS = tuple(name for name, graph in HELLAS.items() if graph.family == STREET)


def products(n, **where):
    """Random geometric graph of the mean degree of com-Amazon, 5.53, with about as many triangles."""
    return generators.rgg(n, mean_degree=min(5.54, n), **where)


#: The graph of CS406 that is generated; its other one, com-DBLP, is given as a file.
CS406 = {"amazon": StandIn("co-purchases", 334_863, products)}

#: The graphs of Baltzakis.
BALTZAKIS = {
    "kmer_A2a": StandIn("k-mers", 170_728_175, kmers),
    "rgg_n_2_24_s0": StandIn(RGG, 2**24, points(16.0)),
    "Queen_4147": StandIn(MATRIX, 4_147_110, solid),
}
