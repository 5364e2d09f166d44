"""The NetworkX backend: NetworkX's functions on edgewise's arrays, with NetworkX's results and errors.

NetworkX finds the backend by its entry points.  ``_edgewise_nx`` beside this package tells it the names of
the functions at ``import networkx``, and :class:`~edgewise.networkx.interface.BackendInterface` is loaded
when the backend is first asked for.  Functions are registered by
:func:`~edgewise.networkx.registry.implements`, one page for each family.

This is the only package that knows NetworkX's exceptions.  Nodes come in and go out as they are in the
graph; positions in arrays stay inside.
"""

from typing import Any

TYPE_CHECKING = False  # type checkers know the name; typing would take time to import

if TYPE_CHECKING:
    from edgewise.networkx.graph import Graph as Graph

__all__ = ["Graph"]


def __getattr__(name: str) -> Any:
    if name == "Graph":
        from edgewise.networkx.graph import Graph

        return Graph
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
