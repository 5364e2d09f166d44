"""Clusters of the pairs in a frame of pandas: importing this page registers ``frame.edgewise``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import pandas as pd

from edgewise.integrations.clusters_of_pairs import Pairs, clusters_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from edgewise.components.result import Name

__all__ = ["EdgewiseAccessor"]


@pd.api.extensions.register_dataframe_accessor("edgewise")
class EdgewiseAccessor:
    """What ``frame.edgewise`` is, for a frame with one pair a row."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def clusters(
        self,
        source: str | Sequence[str] | None = None,
        target: str | Sequence[str] | None = None,
        *,
        name: Name = "first",
        min_size: int = 1,
        **pairs: Unpack[Pairs],
    ) -> pd.DataFrame:
        """Return the clusters of the pairs: one row per id, or per record.

        Parameters
        ----------
        source, target : str or list of str, optional
            Columns with the ids, as of :meth:`edgewise.Graph.from_frame`.
        name : {'first', 'min', 'row'}
            What a cluster is called, as of :meth:`~edgewise.components.result.Components.to_frame`.
        min_size : int
            Leave out clusters with fewer members.
        threshold, score, where, null, vertices, vertex_id
            As of :meth:`edgewise.Graph.from_frame`.

        Returns
        -------
        pandas.DataFrame
            ``id``, or all columns of ``vertices``, and ``cluster`` and ``size``.

        Raises
        ------
        GraphError, OptionError
            As of :meth:`edgewise.Graph.from_frame`.

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
        return clusters_of(self._frame, source, target, name=name, min_size=min_size, **pairs)
