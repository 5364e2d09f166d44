"""The types of vertex numbers: inside edgewise, and as users see them."""

import numpy as np

#: Largest number of vertices whose numbers are uint32 (the last value marks "none").
MAX_UINT32 = 2**32 - 2
#: Largest number of vertices whose labels are returned as int32, which every table library supports.
MAX_INT32_VERTICES = 2**31 - 1


def index_type(n_vertices: int) -> type:
    """Type of vertex numbers: uint32 where they fit, else int64."""
    return np.uint32 if n_vertices <= MAX_UINT32 else np.int64


def as_labels(vertices):
    """Vertex numbers, (..., n), in the type that users see: int32, which all tables know, or int64."""
    if vertices.dtype == np.uint32 and vertices.shape[-1] <= MAX_INT32_VERTICES:
        return vertices.view(np.int32)
    return vertices.astype(np.int64, copy=False)
