"""How many components there are and how large they are."""

import numpy as np

from edgewise.device import arrays
from edgewise.primitives import histogram


def census(labels):
    """Roots and sizes of the components.

    Parameters
    ----------
    labels : (n,) index array
        Smallest vertex of each vertex's component.

    Returns
    -------
    roots : (k,) index array, ascending
    sizes : (k,) int64 array
    """
    xp = arrays.namespace(labels)
    roots = xp.flatnonzero(labels == xp.arange(len(labels), dtype=labels.dtype))
    sizes = histogram(labels, len(labels))[roots]
    return roots.astype(labels.dtype), sizes.astype(np.int64, copy=False)
