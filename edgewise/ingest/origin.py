"""What a graph knows about the data that it was made of, beside vertices and edges."""

from dataclasses import replace

import numpy as np

from edgewise.errors import GraphError
from edgewise.printable import printable

#: Attributes of a graph that say where its vertices and weights come from.
ATTRIBUTES = ("weight_name", "assumed_weights", "assumed_columns", "left_out", "records", "frame_kind")


def take_origin(graph, other) -> None:
    """Give a graph what ``other``, which has the same vertices, knows about its data, as far as it does."""
    for name in ATTRIBUTES:
        if hasattr(other, name) and hasattr(graph, name):
            setattr(graph, name, getattr(other, name))


def name_of_weights(graph) -> str | None:
    """What the weights of a graph are called: ``km``, ``the third column``; ``None`` if it has none."""
    return (graph.weight_name or graph.assumed_weights or "the weights") if graph.is_weighted else None


def weights_in_words(graph) -> str:
    """What the weights of a graph are: ``along 'km'``, ``along the third column``; empty if it has none."""
    name = name_of_weights(graph)
    return "" if name is None else printable(f"along {name!r}" if graph.weight_name else f"along {name}")


def selected(records, kept):
    """Records (:class:`~edgewise.ingest.records.Records`) of some vertices: ``kept``, (n,) bool on the host.

    They are read from the same table when they are needed.
    """

    def batches(columns):
        import pyarrow as pa

        start = 0
        for batch in records.batches(columns):
            here = kept[start : start + batch.num_rows]
            if len(here) < batch.num_rows:
                raise GraphError(f"{records.name} has changed since its ids were read; read it again")
            yield batch.filter(pa.array(here))
            start += batch.num_rows

    count = None if records.rows is None else int(np.count_nonzero(kept[: records.rows]))
    return replace(records, batches=batches, rows=count)
