"""Clusters of the pairs in a frame of pandas: importing this page registers ``frame.edgewise``."""

from __future__ import annotations

import pandas as pd

from edgewise.integrations.clusters_of_pairs import PairsAccessor

__all__ = ["EdgewiseAccessor"]


@pd.api.extensions.register_dataframe_accessor("edgewise")
class EdgewiseAccessor(PairsAccessor):
    """What ``frame.edgewise`` is, for a frame with one pair a row.

    Examples
    --------
    >>> import pandas as pd
    >>> import edgewise.integrations.pandas
    >>> pairs = pd.DataFrame({"l": ["a", "b", "d"], "r": ["b", "c", "e"], "score": [0.9, 0.8, 0.1]})
    >>> pairs.edgewise.clusters("l", "r", threshold=0.5)
      id cluster  size
    0  a       a     3
    1  b       a     3
    2  c       a     3
    """
