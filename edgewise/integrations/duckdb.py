"""Clusters in the SQL of DuckDB: :func:`register` adds a table function to a connection.

DuckDB's API for Python has scalar functions, which take and return Arrow arrays, but no table functions.  A
table macro makes one of a scalar one: it gathers each column of ids in a list, passes both lists as one row,
and unnests the list that comes back.  Arrow shares the memory of the lists with DuckDB.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb

from edgewise.errors import OptionError, argument
from edgewise.integrations.clusters_of_pairs import clusters_of

if TYPE_CHECKING:
    import pyarrow

    from edgewise.components.result import Name

__all__ = ["register"]


def register(
    connection: duckdb.DuckDBPyConnection,
    function: str = "clusters",
    *,
    type: str = "VARCHAR",
    name: Name = "min",
) -> None:
    """Add a table function ``clusters(pairs, source, target)`` to a connection.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        What is added is temporary: this connection alone has it, until it is closed.
    function : str
        What the table function is called.
    type : str
        Type of DuckDB that the ids have or are cast to, such as ``"BIGINT"`` or ``"UUID"``.
    name : {'first', 'min'}
        What a cluster is called, as of :meth:`~edgewise.components.result.Components.to_frame`.  DuckDB does
        not define which row is first, unless ``pairs`` are ordered.

    Raises
    ------
    OptionError
        The function is no name of SQL, or the connection has it already; the rule for names is unknown.

    Notes
    -----
    ``pairs`` is the name of a table, a view, an expression of ``WITH``, or an Arrow table of Python, and
    ``source`` and ``target`` are its columns, or expressions of them.  The rows are ``id``, ``cluster`` and
    ``size``.  A missing id is an error, as of :meth:`edgewise.Graph.from_frame`.

    Examples
    --------
    >>> import duckdb
    >>> from edgewise.integrations.duckdb import register
    >>> connection = duckdb.connect()
    >>> register(connection)
    >>> _ = connection.execute(
    ...     "CREATE TABLE pairs AS FROM (VALUES ('b', 'a'), ('c', 'b'), ('d', 'e')) AS t(l, r)"
    ... )
    >>> connection.sql("SELECT * FROM clusters(pairs, l, r) ORDER BY id").fetchall()
    [('a', 'a', 3), ('b', 'a', 3), ('c', 'a', 3), ('d', 'd', 2), ('e', 'd', 2)]
    """
    if not function.isidentifier():
        raise OptionError(f"{argument('function', function)} is no name of SQL; use letters and digits")
    if name not in ("first", "min"):
        raise OptionError(f"{argument('name', name)} is unknown; use 'first' or 'min'")
    arrays = f"edgewise_{function}"

    try:
        connection.create_function(
            arrays,
            lambda sources, targets: _clusters(sources, targets, name),
            [f"{type}[]"] * 2,
            f'STRUCT(id {type}, "cluster" {type}, size BIGINT)[]',
            type="arrow",
        )
    except duckdb.NotImplementedException:
        raise OptionError(f"{argument('function', function)} is there already; choose another one") from None
    connection.execute(
        f"CREATE TEMP MACRO {function}(pairs, source, target) AS TABLE SELECT unnest("
        f"{arrays}(list(source::{type}), list(target::{type})), recursive := true) FROM query_table(pairs)"
    )


def _clusters(sources: Any, targets: Any, name: Name) -> pyarrow.Array:
    """Lists of the rows of the clusters of lists of ids: one list for each pair of lists."""
    import pyarrow as pa

    if not len(sources):  # lists without rows are NULL, for which DuckDB does not ask
        return pa.nulls(0)
    found, offsets = [], [0]
    for at in range(len(sources)):
        ends = {"source": sources[at].values, "target": targets[at].values}
        table = pa.table(clusters_of(pa.table(ends), "source", "target", name=name))
        found.append(table.to_struct_array())
        offsets.append(offsets[-1] + len(table))
    rows = pa.concat_arrays([chunk for one in found for chunk in one.chunks])
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), rows)
