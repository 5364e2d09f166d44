"""The one call behind these pages: a table with one pair a row in, the table of the clusters out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from edgewise.components import connected_components
from edgewise.graph import Graph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from edgewise.components.result import Name
    from edgewise.ingest.frames import Frame


class Pairs(TypedDict, total=False):
    """What is said about pairs, as to :meth:`edgewise.Graph.from_frame`."""

    threshold: float | None
    score: str | None
    where: str | None
    null: str
    vertices: Any
    vertex_id: str | None


def clusters_of(
    frame: Any,
    source: str | Sequence[str] | None = None,
    target: str | Sequence[str] | None = None,
    *,
    name: Name = "first",
    min_size: int = 1,
    **pairs: Any,
) -> Frame:
    """The table of the clusters of pairs, in the library of ``frame``; ``pairs`` are :class:`Pairs`."""
    graph = Graph.from_frame(frame, source, target, weight=False, **pairs)
    return connected_components(graph).to_frame(name, min_size=min_size)


class PairsAccessor:
    """What ``frame.edgewise`` is, for a frame of pandas or Polars with one pair a row."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def clusters(
        self,
        source: str | Sequence[str] | None = None,
        target: str | Sequence[str] | None = None,
        *,
        name: Name = "first",
        min_size: int = 1,
        **pairs: Unpack[Pairs],
    ) -> Any:
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
        pandas.DataFrame or polars.DataFrame
            ``id``, or all columns of ``vertices``, and ``cluster`` and ``size``.

        Raises
        ------
        GraphError, OptionError
            As of :meth:`edgewise.Graph.from_frame`.
        """
        return clusters_of(self._frame, source, target, name=name, min_size=min_size, **pairs)
