"""The one call behind these pages: a table with one pair a row in, the table of the clusters out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

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
