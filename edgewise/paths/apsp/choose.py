"""Which method ``auto`` takes, by number of vertices, density and weights.

An edge is relaxed for one source in about 1 ns by the batched search, and a pair for one pivot in about
1/20 ns by the blocked matrix (one core; int32).  So the matrix wins from one entry in about 40 pairs on, and
where all of it fits the cache.
"""

#: Pairs for each entry up to which the matrix is closed, and vertices for which it always is.
PAIRS_AN_ENTRY, FEW_VERTICES = 40, 128


def choose(vertices, entries, device, weighted, signed, all_sources):
    """Name of a method.

    Parameters
    ----------
    vertices, entries : int
    device : str
    weighted : bool
        Whether edges have weights; each counts as one otherwise.
    signed : bool
        Whether a weight is negative.
    all_sources : bool
        Whether all vertices are sources.
    """
    dense = all_sources and (vertices <= FEW_VERTICES or entries * PAIRS_AN_ENTRY > vertices * vertices)
    if not weighted and device == "cpu":
        return "multi-source"
    if dense:
        return "floyd-warshall"
    return "johnson" if signed else "sssp"
