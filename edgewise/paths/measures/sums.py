"""Sums of whole distances, which are the same on every device, for any number of threads and for any method.

For each vertex four integers are added up: the sources that reach it, itself among them, the sum of their
distances, and the upper and the lower halves of the sum of 1 / distance.  A term is an integer in units of
2**-62; its upper and lower 31 bits are added up apart, so that no sum of less than 2**32 terms is too large.
Sums of integers do not depend on the order of their terms.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import device

#: Places of the integers of a vertex, and their number.
REACHED, DISTANCE, HIGH, LOW, PARTS = 0, 1, 2, 3, 4
#: Bits of the upper and of the lower half of a term 1 / distance.
HALF = 31


@device
def halves_of_inverse(level):
    """Upper and lower half of 1 / ``level`` in units of 2**-62; zeros for level 0."""
    inverse = (np.int64(1) << (2 * HALF)) // max(level, 1) if level > 0 else np.int64(0)
    return inverse >> HALF, inverse & ((np.int64(1) << HALF) - 1)


class Added(NamedTuple):
    """What all searches add up to, on the host, by vertex numbers of the graph.

    ``of_vertices`` (n, PARTS) int64; ``hops`` int64: pairs by distance, up to the
    largest; ``farthest`` (n,) int32: eccentricities of the sources, -1 where a vertex is not reached.
    """

    of_vertices: Any
    hops: Any
    farthest: Any

    @property
    def harmonic(self):
        """Sum of 1 / distance for each vertex, (n,) float64."""
        high, low = (self.of_vertices[:, half].astype(np.float64) for half in (HIGH, LOW))
        return np.ldexp(high, -HALF) + np.ldexp(low, -2 * HALF)


def until_last(hops):
    """The pairs by distance, up to the largest distance of any."""
    return np.trim_zeros(hops, "b").copy()


def report_nothing(done, of):
    """What is told of progress if nobody asks for it."""
