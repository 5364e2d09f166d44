"""The type of vertex numbers inside edgewise."""

import numpy as np

#: Largest number of vertices whose numbers are uint32 (the last value marks "none").
MAX_UINT32 = 2**32 - 2


def index_type(n_vertices: int) -> type:
    """Type of vertex numbers: uint32 where they fit, else int64."""
    return np.uint32 if n_vertices <= MAX_UINT32 else np.int64
