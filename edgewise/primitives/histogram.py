"""Count how often each value occurs."""

import numpy as np

from edgewise.device import arrays


def histogram(values, bins):
    """Count the occurrences of each value.

    Parameters
    ----------
    values : (m,) integer array
        Every value lies in ``0 <= value < bins``.
    bins : int

    Returns
    -------
    (bins,) int64 array
    """
    return arrays.namespace(values).bincount(values, minlength=bins).astype(np.int64, copy=False)
