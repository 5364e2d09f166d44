"""The dataset that each vertex of a graph belongs to: given, in a column of its records, or in its ids."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from edgewise.errors import GraphError, OptionError, argument, one_of
from edgewise.ingest.arrow import numpy_array
from edgewise.ingest.default_columns import JOINT

#: The column of the records that has the datasets, if there is one.
COLUMN = "source_dataset"
#: The names of the sides of pairs.
SIDES = ("left", "right")


class Datasets(NamedTuple):
    """The dataset of each vertex.

    Attributes
    ----------
    codes : (n_vertices,) int64 array
        Positions in ``names``; -1 for no dataset.
    names : list
    """

    codes: Any
    names: list

    def checked(self, chosen) -> list:
        """The datasets among ``chosen``, all of which must be there."""
        chosen = [chosen] if isinstance(chosen, str) else list(chosen)
        for name in chosen:
            if name not in self.names:
                known = one_of(name, map(str, self.names))
                raise OptionError(f"{argument('duplicate_free')} has {name!r}, which is no dataset; {known}")
        return chosen

    def bits(self, chosen) -> Any:
        """A bit for each of the chosen datasets, set for the vertices in it: (n_vertices, words) uint64."""
        bits = np.zeros((len(self.codes), max(-(-len(chosen) // 64), 1)), np.uint64)
        place, positions = np.full(len(self.names) + 1, -1), dict(zip(chosen, range(len(chosen))))
        place[:-1] = [positions.get(name, -1) for name in self.names]
        places = place[self.codes]
        here = np.flatnonzero(places >= 0)
        bits[here, places[here] // 64] = np.uint64(1) << (places[here] % 64).astype(np.uint64)
        return bits


def datasets_of(graph, given=None) -> Datasets:
    """The datasets of the vertices of a graph on the host.

    ``given`` is one for each vertex, or the column of the records; by default the column
    ``source_dataset``, or what stands before the joint in ids of two columns, or the sides of the pairs.
    """
    import pyarrow.compute as pc

    from edgewise.ingest.arrow import is_text

    names = [] if graph.records is None else graph.records.schema.names
    if isinstance(given, str) or (given is None and COLUMN in names):
        return _of_column(graph, given or COLUMN, names)
    if given is not None:
        return _coded(graph, given, argument("datasets"))
    of_text = graph.ids is not None and hasattr(graph.ids, "type") and is_text(graph.ids.type)
    if of_text and len(graph.ids) and pc.all(pc.match_substring(graph.ids, JOINT)).as_py():
        return datasets_in(graph.ids)
    return _sides(graph)


def datasets_in(ids) -> Datasets:
    """The datasets that ids name, a column of Arrow: what stands before the joint in each."""
    import pyarrow.compute as pc

    coded = pc.list_element(pc.split_pattern(ids, JOINT, max_splits=1), 0).dictionary_encode()
    return Datasets(numpy_array(coded.indices).astype(np.int64), coded.dictionary.to_pylist())


def _of_column(graph, name, names):
    if name not in names:
        problem = f"{argument('datasets', name)} is no column of the records of the graph"
        raise OptionError(f"{problem}; {one_of(name, names)}" if names else f"{problem}, which has none")
    import pyarrow as pa

    batches = [batch.column(0) for batch in graph.records.batches([name])]
    return _coded(graph, pa.chunked_array(batches, graph.records.schema.field(name).type), f"column {name!r}")


def _coded(graph, values, what):
    """The datasets of values, one for each vertex."""
    import pyarrow as pa

    try:
        values = (pa.chunked_array if hasattr(values, "__arrow_c_stream__") else pa.array)(values)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise GraphError(f"{what} is no array of names of one type; give strings or integers") from error
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if len(values) != graph.n_vertices:
        problem = f"{what} has {len(values):,} values, and the graph {graph.n_vertices:,} vertices"
        raise GraphError(f"{problem}; give the dataset of each vertex, in the order of graph.ids")
    if isinstance(values, pa.DictionaryArray):  # it may have nulls, and a name twice
        values = values.dictionary_decode()
    if values.null_count:
        raise GraphError(f"{what} has a null; name the dataset of each vertex")
    coded = values.dictionary_encode()
    codes = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return Datasets(codes, coded.dictionary.to_pylist())


def _sides(graph):
    """The sides of the pairs; a vertex without a pair is on none."""
    remedy = f"name the datasets with {argument('datasets')}, or by two columns of the ids"
    if graph.made_of == ("rows",):
        raise GraphError(f"the rows of a graph have no left and right side; {remedy}")
    codes = np.full(graph.n_vertices, -1, np.int64)
    codes[graph.sources] = 0
    both = codes[graph.targets] == 0
    if both.any():
        name = graph.ids_of(graph.targets[both][:1]).tolist()[0]
        raise GraphError(f"{name!r} is on the left side of a pair and on the right side of one; {remedy}")
    codes[graph.targets] = 1
    return Datasets(codes, list(SIDES))
