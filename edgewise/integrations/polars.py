"""Clusters of the pairs in frames of Polars: importing this page registers the namespace ``edgewise``.

Frames of pairs have ``clusters``, a table with one row per id.  An expression has ``cluster``, the cluster of
each pair: its two ids are in the same one, so that one name per row says all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from edgewise.components import connected_components
from edgewise.graph import Graph
from edgewise.integrations.clusters_of_pairs import PairsAccessor, clusters_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from edgewise.components.result import Name

__all__ = ["EdgewiseExpression", "EdgewiseFrame", "EdgewiseLazyFrame"]


@pl.api.register_dataframe_namespace("edgewise")
class EdgewiseFrame(PairsAccessor):
    """What ``frame.edgewise`` is, for a frame with one pair a row.

    Examples
    --------
    >>> import polars as pl
    >>> import edgewise.integrations.polars
    >>> pairs = pl.DataFrame({"l": ["a", "b", "d"], "r": ["b", "c", "e"], "score": [0.9, 0.8, 0.1]})
    >>> pairs.edgewise.clusters("l", "r", threshold=0.5).rows()
    [('a', 'a', 3), ('b', 'a', 3), ('c', 'a', 3)]
    """


@pl.api.register_lazyframe_namespace("edgewise")
class EdgewiseLazyFrame:
    """What ``frame.edgewise`` is, for a lazy frame with one pair a row."""

    def __init__(self, frame: pl.LazyFrame) -> None:
        self._frame = frame

    def clusters(self, source: str, target: str, *, name: Name = "first", min_size: int = 1) -> pl.LazyFrame:
        """Return the clusters of the pairs, one row per id, which are computed when they are collected.

        Parameters
        ----------
        source, target : str
            Columns with the ids; no other column is read.  Filter the frame before for a threshold.
        name : {'first', 'min', 'row'}
            As of ``clusters`` of a frame.
        min_size : int
            Leave out clusters with fewer members.

        Returns
        -------
        polars.LazyFrame
            ``id``, ``cluster`` and ``size``.

        Examples
        --------
        >>> import polars as pl
        >>> import edgewise.integrations.polars
        >>> pairs = pl.LazyFrame({"l": ["a", "b", "d"], "r": ["b", "c", "e"], "score": [0.9, 0.8, 0.1]})
        >>> close = pairs.filter(pl.col("score") > 0.5)
        >>> close.edgewise.clusters("l", "r").collect().rows()
        [('a', 'a', 3), ('b', 'a', 3), ('c', 'a', 3)]
        """
        pairs = self._frame.select(source, target)
        ids = pairs.collect_schema()[source]
        named = pl.Int64() if name == "row" else ids
        schema = pl.Schema({"id": ids, "cluster": named, "size": pl.Int64()})
        return pairs.map_batches(
            lambda frame: clusters_of(frame, source, target, name=name, min_size=min_size).cast(schema),
            schema=schema,
        )


@pl.api.register_expr_namespace("edgewise")
class EdgewiseExpression:
    """What ``expression.edgewise`` is, for a column of ids."""

    def __init__(self, expression: pl.Expr) -> None:
        self._expression = expression

    def cluster(self, target: str | pl.Expr) -> pl.Expr:
        """Return the cluster of each pair of this column and another one.

        Parameters
        ----------
        target : str or Expr
            The ids at the other end of the pairs.

        Returns
        -------
        polars.Expr
            The least id of the cluster of each pair.  With ``over`` the clusters are those of each group.

        Examples
        --------
        >>> import polars as pl
        >>> import edgewise.integrations.polars
        >>> pairs = pl.DataFrame({"l": ["b", "d", "b"], "r": ["a", "e", "c"]})
        >>> pairs.select(cluster=pl.col("l").edgewise.cluster("r"))["cluster"].to_list()
        ['a', 'd', 'a']
        """
        kind = pl.dtype_of(self._expression)
        return pl.map_batches([self._expression, target], _cluster_of_pairs, return_dtype=kind)


def _cluster_of_pairs(ends: Sequence[pl.Series]) -> pl.Series:
    """The least id of the cluster of each pair, in the type of the first column."""
    left, right = ends
    if not len(left):
        return left
    names = left.name, right.name if right.name != left.name else f"{right.name}_target"
    graph = Graph.from_frame(pl.DataFrame(dict(zip(names, ends))), *names)
    table = connected_components(graph).table("min")
    clusters = pl.Series(table.names_of(table.labels[graph.sources]))
    return clusters.cast(left.dtype).alias(left.name)
