"""Clusters of the pairs in a frame of Spark.

Each partition is solved where it is, by ``mapInArrow``: of its pairs there remains one row for each id, with
the first id of its component there, a forest of stars.  The rows of all partitions go to one task, whose
components are those of all pairs.  So what is sent is at most a row per id and partition, however many pairs
there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from pyspark.sql.types import LongType, StructField, StructType

from edgewise.errors import GraphError, OptionError
from edgewise.integrations.clusters_of_pairs import clusters_of

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame

__all__ = ["clusters"]


def clusters(pairs: DataFrame, source: str, target: str, *, min_size: int = 1) -> DataFrame:
    """The clusters of the pairs in a frame of Spark.

    Parameters
    ----------
    pairs : pyspark.sql.DataFrame
        One pair a row; filter it before for a threshold.
    source, target : str
        Columns with the ids, of one type.
    min_size : int
        Leave out clusters with fewer members.

    Returns
    -------
    pyspark.sql.DataFrame
        ``id``, ``cluster`` (the least id of a member) and ``size``, in one partition; computed by the
        executors when it is used.

    Raises
    ------
    OptionError
        A column is not there.
    GraphError
        The columns have different types.

    Notes
    -----
    The workers need edgewise and PyArrow.  The last task holds the distinct ids, and up to one row per id and
    partition.  Rows with a missing id are an error of the task that reads them.
    """
    for name in (source, target):
        if name not in pairs.columns:
            raise OptionError(f"there is no column {name!r}; use one of {', '.join(pairs.columns)}")
    kinds = {name: pairs.schema[name].dataType for name in (source, target)}
    if len(set(kinds.values())) > 1:
        held = " and ".join(f"{name!r} holds {kind.simpleString()}" for name, kind in kinds.items())
        raise GraphError(f"column {held}; cast one to the other")
    id, cluster = (StructField(name, kinds[source]) for name in ("id", "cluster"))
    stars = pairs.select(source, target).mapInArrow(_stars, StructType([id, cluster]))
    merged = partial(_merged, min_size=min_size)
    return stars.repartition(1).mapInArrow(merged, StructType([id, cluster, StructField("size", LongType())]))


def _stars(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """The ids of some pairs, with the first id of the component of each."""
    yield from _solved(batches, ["id", "cluster"], "first", 1)


def _merged(batches: Iterator[pyarrow.RecordBatch], min_size: int) -> Iterator[pyarrow.RecordBatch]:
    """The table of the clusters of all stars."""
    yield from _solved(batches, ["id", "cluster", "size"], "min", min_size)


def _solved(batches, columns, name, min_size):
    """Record batches of the clusters of pairs in batches, if there are any, with ids of the type there."""
    import pyarrow as pa

    given = list(batches)
    if not any(batch.num_rows for batch in given):
        return
    pairs = pa.Table.from_batches(given)
    table = pa.table(clusters_of(pairs, *pairs.column_names, name=name, min_size=min_size))
    kinds = [pairs.schema.types[0], pairs.schema.types[0], pa.int64()][: len(columns)]
    yield from table.select(columns).cast(pa.schema(list(zip(columns, kinds)))).to_batches()
