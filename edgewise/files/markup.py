"""GML and GraphML, read through NetworkX: formats for exchange, not for size."""

import warnings
from importlib import import_module

import numpy as np

from edgewise.errors import FileError
from edgewise.files.record import Edges
from edgewise.files.streams import one_line, reading

#: Attributes taken as weight, the first that every edge has.
WEIGHTS = ("weight", "value")


def read_gml(source, options) -> Edges:
    """Read GML; the ids are the ``id`` of the nodes."""
    return _read(source, options, lambda nx, stream: nx.read_gml(stream, label="id"))


def read_graphml(source, options) -> Edges:
    """Read GraphML; the ids are the ``id`` of the nodes."""
    return _read(source, options, lambda nx, stream: nx.read_graphml(stream))


def _read(source, options, parse):
    options.only("GML and GraphML", "weight")
    try:
        nx = import_module("networkx")
    except ImportError as error:
        problem = "GML and GraphML are read through NetworkX, which is not installed; pip install networkx"
        raise FileError(source.path, problem) from error
    with reading(source.path), source.seekable() as stream:
        graph = _parsed(source.path, lambda: parse(nx, stream))
    return _edges(source, graph, options.weight)


def _parsed(path, parse):
    """What NetworkX makes of the file; a malformed one makes it raise almost anything."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # about attributes, which are not read
            return parse()
    except (OSError, EOFError, MemoryError):
        raise
    except Exception as error:
        line = getattr(error, "position", (None,))[0]
        raise FileError(path, f"not read by NetworkX ({one_line(error)}); correct the file", line) from error


def _edges(source, graph, wanted):
    number = {node: position for position, node in enumerate(_ordered(graph))}
    ends = np.array([(number[a], number[b]) for a, b in graph.edges()], np.int64).reshape(-1, 2)
    weights = _weights(source, graph, wanted)
    return Edges(ends[:, 0], ends[:, 1], weights, len(number), graph.is_directed(), _ids(list(number)))


def _ordered(graph):
    """Nodes, integers in ascending order and names in that of the file."""
    nodes = list(graph)
    return sorted(nodes) if all(isinstance(node, int) for node in nodes) else nodes


def _ids(nodes):
    import pyarrow as pa

    if all(isinstance(node, int) for node in nodes):
        return np.array(nodes, np.int64)
    return pa.array([str(node) for node in nodes], pa.string())


def _weights(source, graph, wanted):
    """Weights out of the attribute that is asked for, or one that every edge has as a number."""
    if wanted is False or graph.number_of_edges() == 0:
        return None
    for name in (wanted,) if wanted else WEIGHTS:
        values = [value for _, _, value in graph.edges(data=name)]
        if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
            return np.array(values)
    if wanted:
        raise FileError(source.path, f"not every edge has a number {wanted!r}; choose another weight=")
    return None
