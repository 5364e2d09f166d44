"""The argument ``weight``: which weights of its graph a public function uses, with one meaning everywhere.

The decorator :func:`weighted_front` adds it to the signature and to the documentation of a function, which is
called with a graph that has the weights that are wanted, and whose result has that graph.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from edgewise.errors import GraphError, argument
from edgewise.front import CallOptions, described, front
from edgewise.graph import Graph
from edgewise.ingest.representation import weights_in_words

#: Names of columns whose larger values mean nearer.
SIMILARITY = re.compile(r"scor|simil|prob|confid|likeli|cosine|jaccard|correl|match", re.IGNORECASE)

#: Sums of integer weights stay below this.
MAX_SUM = 2**62

P = ParamSpec("P")
R = TypeVar("R")


class WeightOptions(CallOptions, total=False):
    """What every public function that uses weights takes beside its own arguments.

    Attributes
    ----------
    weight : str, bool, (n_edges,) array-like or None
    """

    weight: Any


DESCRIPTION = """\
weight : str, bool or (n_edges,) array-like, optional
    By default the weights of the graph, if it has any; ``False`` for none, so that every edge counts one.  An
    array replaces them, in the order of :attr:`Graph.sources`.  A name says which ones are meant, and
    ``True`` that there are some: a graph without these weights is refused."""

_PARAMETER = inspect.Parameter("weight", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="Any")


def weighted_front(function: Callable[P, R]) -> Callable[P, R]:
    """Give a public function of a graph the arguments of :func:`~edgewise.front.front`, and ``weight``.

    Examples
    --------
    >>> @weighted_front
    ... def total(graph, **options: Unpack[WeightOptions]):
    ...     "Add up the weights."
    ...     return graph.weights.sum().item() if graph.is_weighted else graph.n_edges
    >>> graph = Graph.from_edges([0, 1], [1, 2], weights=[5, 7])
    >>> total(graph), total(graph, weight=False), total(graph, weight=[1, 4])
    (12, 2, 5)
    """
    own = inspect.signature(function)
    shown = list(own.parameters.values())
    shown = [*shown[:-1], _PARAMETER, shown[-1]]
    function.__signature__ = own.replace(parameters=shown)  # type: ignore[attr-defined]
    if function.__doc__ is not None:
        function.__doc__ = described(inspect.cleandoc(function.__doc__), DESCRIPTION)
    return front(function, _choose_weights)


def _choose_weights(*args: Any, weight: Any, **kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call, whose graph has the weights that ``weight`` chooses."""
    if args:
        return (with_weight(args[0], weight), *args[1:]), kwargs
    if "graph" in kwargs:
        kwargs["graph"] = with_weight(kwargs["graph"], weight)
    return args, kwargs


def with_weight(graph: Any, weight: Any) -> Any:
    """The graph with the weights that ``weight`` chooses; what is no graph is returned as it is.

    A graph with other weights is made once, and cached with ``graph``, except where an array has them.

    Raises
    ------
    GraphError
        The graph has no weights, or none of this name; weights of another length or type.
    """
    if weight is None or not isinstance(graph, Graph):
        return graph
    if weight is False:
        return graph.cached("without weights", graph.without_weights) if graph.is_weighted else graph
    if weight is not True and not isinstance(weight, str):
        return graph.with_weights(weight)
    _check_there(graph, weight)
    return graph.cached("chosen weights", lambda: _chosen(graph)) if graph.assumed_weights else graph


def _check_there(graph, weight):
    """Raise unless the graph has weights, and of the name, if that is given."""
    if not graph.is_weighted:
        remedy = f"choose them where it is made, or give {argument('weight')} an array"
        raise GraphError(f"{argument('weight', weight)}, but the graph has no weights; {remedy}")
    if weight not in (True, graph.weight_name):
        held = weights_in_words(graph).replace("along the weights", "without a name")
        remedy = f"leave it out, or choose {weight!r} where the graph is made"
        raise GraphError(f"{argument('weight', weight)}, but the graph has weights {held}; {remedy}")


def _chosen(graph):
    """The same graph, whose weights are not assumed any more."""
    chosen = graph._copy(graph._edges, graph._rows, graph.made_of)
    chosen.assumed_weights = None
    return chosen
