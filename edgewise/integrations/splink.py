"""Clusters inside Splink 5: its two functions for clusters, with the same arguments and the same tables.

Splink joins tables in SQL until no name of a cluster changes.  Here the database gives its pairs and its
records as Arrow, and takes a table of clusters in the same way; all else stays with Splink, in whatever
database it works.  The database itself compares probabilities with thresholds, so rows are those that
Splink would keep, also where a probability is null, NaN or a number of another type.

:func:`patch` puts the functions into Splink, for linkers that call them.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from splink import DuckDBAPI
from splink.internals import clustering
from splink.internals.linker_components import clustering as of_linkers
from splink.internals.misc import threshold_args_to_match_prob, threshold_args_to_match_prob_list
from splink.internals.pipeline import CTEPipeline
from splink.internals.splink_dataframe import SplinkDataFrame

from edgewise.components import connected_components
from edgewise.errors import GraphError, OptionError, argument
from edgewise.graph import Graph
from edgewise.ingest.arrow import arrow_array
from edgewise.ingest.records import Records, id_column_of

if TYPE_CHECKING:
    import pyarrow

__all__ = [
    "cluster_pairwise_predictions_at_multiple_thresholds",
    "cluster_pairwise_predictions_at_threshold",
    "patch",
    "solve_connected_components",
    "unpatch",
]

#: Columns of pairs with the ids.
ENDS = ("id_l", "id_r")
#: What :func:`patch` replaces: modules of Splink, and the name of a function there.
PLACES = (
    (clustering, "solve_connected_components"),
    (clustering, "cluster_pairwise_predictions_at_threshold"),
    (clustering, "cluster_pairwise_predictions_at_multiple_thresholds"),
    (of_linkers, "solve_connected_components"),
)
_SPLINKS = {place: getattr(*place) for place in PLACES}


def cluster_pairwise_predictions_at_threshold(
    nodes: Any,
    edges: Any,
    db_api: Any,
    node_id_column_name: str,
    edge_id_column_name_left: str | None = None,
    edge_id_column_name_right: str | None = None,
    threshold_match_probability: float | None = None,
    threshold_match_weight: float | None = None,
) -> SplinkDataFrame:
    """Cluster records by their predictions, as Splink's function of this name does.

    Parameters
    ----------
    nodes, edges : SplinkDataFrame or table
        The records, and the pairs of them.  Every id of a pair that reaches the threshold has a record.
    db_api : DatabaseAPI
        Splink's database, such as ``DuckDBAPI()``.
    node_id_column_name : str
        Column of ``nodes`` with the ids.
    edge_id_column_name_left, edge_id_column_name_right : str, optional
        Columns of ``edges`` with the ids; by default the name for ``nodes`` with ``_l`` and ``_r``.
    threshold_match_probability, threshold_match_weight : float, optional
        Pairs of at least this ``match_probability``, or this weight, are joined; by default all pairs.

    Returns
    -------
    SplinkDataFrame
        The column of ids, one row for each, and ``cluster_id``: the least id of its cluster.

    Raises
    ------
    GraphError
        An id of a pair has no record, or an id is null.
    ValueError
        Both thresholds are given.
    """
    records, pairs = _table(nodes, "nodes", db_api), _table(edges, "edges", db_api)
    left, right = clustering._get_edge_id_column_names(
        node_id_column_name, db_api, edge_id_column_name_left, edge_id_column_name_right
    )
    threshold = threshold_args_to_match_prob(threshold_match_probability, threshold_match_weight)
    found = solve_connected_components(records, pairs, node_id_column_name, left, right, db_api, threshold)
    found.metadata["threshold_match_probability"] = threshold
    return found


def cluster_pairwise_predictions_at_multiple_thresholds(
    nodes: Any,
    edges: Any,
    db_api: Any,
    node_id_column_name: str,
    match_probability_thresholds: list[float] | None = None,
    match_weight_thresholds: list[float] | None = None,
    edge_id_column_name_left: str | None = None,
    edge_id_column_name_right: str | None = None,
    output_cluster_summary_stats: bool = False,
) -> SplinkDataFrame:
    """Cluster records at several thresholds, as Splink's function of this name does.

    Parameters
    ----------
    nodes, edges, db_api, node_id_column_name, edge_id_column_name_left, edge_id_column_name_right
        As for :func:`cluster_pairwise_predictions_at_threshold`.
    match_probability_thresholds, match_weight_thresholds : list of float
        Either of the two.
    output_cluster_summary_stats : bool
        Return one row for each threshold, and not the clusters.

    Returns
    -------
    SplinkDataFrame
        The column of ids, and ``cluster_p_0_95`` or ``cluster_mw_4_25`` for each threshold; or the columns
        ``threshold_match_probability``, ``threshold_match_weight``, ``num_clusters``, ``max_cluster_size``
        and ``avg_cluster_size``.

    Raises
    ------
    GraphError
        An id of a pair has no record, or an id is null.
    ValueError
        Thresholds of both kinds are given, or none.
    """
    found = threshold_args_to_match_prob_list(match_probability_thresholds, match_weight_thresholds)
    if not found:
        names = f"{argument('match_probability_thresholds')} or {argument('match_weight_thresholds')}"
        raise OptionError(f"there is no threshold; give {names}")
    thresholds = sorted(set(found))
    left, right = clustering._get_edge_id_column_names(
        node_id_column_name, db_api, edge_id_column_name_left, edge_id_column_name_right
    )
    levels = [f"when match_probability >= {one} then {at}" for at, one in enumerate(thresholds)]
    columns = {"id_l": left, "id_r": right, "level": f"case {' '.join(levels[::-1])} end"}
    records, pairs = _table(nodes, "nodes", db_api), _table(edges, "edges", db_api)
    condition = f"match_probability >= {thresholds[0]}"
    graph, kind = _graph(records, node_id_column_name, pairs, columns, condition)
    result = connected_components(graph, thresholds=range(len(thresholds)))
    if output_cluster_summary_stats:
        columns, kind = _summary(thresholds, graph.n_vertices, result.counts, result.largest), None
    else:
        columns = {node_id_column_name: graph.id_column()}
        for threshold, givers in zip(thresholds, result.table("min").givers):
            name = clustering._threshold_to_str(threshold, match_weight_thresholds is not None)
            columns[f"cluster_{name}"] = arrow_array(graph.ids_of(givers))
    return _stored(columns, "__splink__clusters_at_all_thresholds", db_api, kind)


def solve_connected_components(
    nodes_table: SplinkDataFrame,
    edges_table: SplinkDataFrame,
    node_id_column_name: str,
    edge_id_column_name_left: str,
    edge_id_column_name_right: str,
    db_api: Any,
    threshold_match_probability: float | None,
) -> SplinkDataFrame:
    """Cluster records by their pairs: what Splink's linkers and functions for clusters call.

    Parameters
    ----------
    nodes_table, edges_table : SplinkDataFrame
    node_id_column_name, edge_id_column_name_left, edge_id_column_name_right : str
        Columns with the ids, as SQL.
    db_api : DatabaseAPI
    threshold_match_probability : float or None

    Returns
    -------
    SplinkDataFrame
        The column of ids, one row for each, and ``cluster_id``: the least id of its cluster.

    Raises
    ------
    GraphError
        An id of a pair has no record, or an id is null.
    """
    columns = {"id_l": edge_id_column_name_left, "id_r": edge_id_column_name_right}
    threshold = threshold_match_probability
    condition = None if threshold is None else f"match_probability >= {threshold}"
    graph, kind = _graph(nodes_table, node_id_column_name, edges_table, columns, condition)
    clusters = connected_components(graph).table("min")
    found = {node_id_column_name: graph.id_column(), "cluster_id": clusters.names_of(clusters.labels)}
    return _stored(found, "__splink__clustering_output_final", db_api, kind)


def patch() -> None:
    """Let Splink find clusters by edgewise, in linkers too, until :func:`unpatch`."""
    for place in PLACES:
        setattr(*place, globals()[place[1]])


def unpatch() -> None:
    """Let Splink find clusters by its own SQL again."""
    for place, function in _SPLINKS.items():
        setattr(*place, function)


def _table(given, name, db_api) -> SplinkDataFrame:
    """Records or pairs as a table of the database."""
    return given if isinstance(given, SplinkDataFrame) else db_api._create_backend_table(given, _unique(name))


def _unique(name) -> str:
    """The name of a table that no other one has."""
    return f"__splink__edgewise_{name}_{uuid4().hex}"


def _graph(nodes, node_id, edges, columns, condition) -> tuple[Graph, pyarrow.DataType | None]:
    """The graph of the pairs that meet a condition, and the type of its ids if those are integers.

    ``columns`` are SQL, by names.
    """
    import pyarrow.types

    records = _arrow(nodes, {"id": node_id})
    pairs = _arrow(edges, columns, condition).combine_chunks()  # of each batch few rows meet the condition
    for name, column in {node_id: records["id"], **{columns[name]: pairs[name] for name in ENDS}}.items():
        if column.null_count:
            raise GraphError(f"{name} is null; give such rows an id, or leave them out")
    number = partial(Graph.from_frame, pairs, *ENDS, weight="level" in columns and "level")
    try:
        graph = number(vertices=_records(records))
    except GraphError:  # records that are there twice, or an unknown id
        graph = number(vertices=_records(_arrow(nodes, {"id": f"distinct {node_id}"})))
    graph.records = None
    kind = records["id"].type
    return graph, kind if pyarrow.types.is_integer(kind) else None


def _records(table) -> Records:
    """The ids of records, whose text is checked once, where they are numbered."""
    name = "the records"
    id_column = id_column_of(table.schema, None, name)
    return Records(table.schema, id_column, lambda names: table.select(names).to_batches(), name, len(table))


def _arrow(frame, columns, condition=None) -> pyarrow.Table:
    """Columns, given as SQL by names, of the rows of a table that meet a condition."""
    chosen = ", ".join(f"{sql} as {name}" for name, sql in columns.items())
    where = "" if condition is None else f" where {condition}"
    sql = f"select {chosen} from {frame.physical_name}{where}"
    if isinstance(frame.db_api, DuckDBAPI):
        return frame.db_api.duckdb_con.sql(sql).to_arrow_table()
    found = frame.db_api.query_sql(sql)
    table = found.as_pyarrow_table()
    found.drop_table_from_database_and_remove_from_cache()
    return table


def _stored(columns, templated, db_api, kind) -> SplinkDataFrame:
    """A table of the database with Arrow columns, whose names are SQL, in a type or in their own ones.

    DuckDB reads the columns where they are, and holds them until the table is dropped, if it has no file.
    """
    import pyarrow as pa

    arrays = [column if kind is None else column.cast(kind) for column in columns.values()]
    table = pa.table(arrays, [f"c{at}" for at in range(len(columns))])
    chosen = ", ".join(f"c{at} as {name}" for at, name in enumerate(columns))
    if isinstance(db_api, DuckDBAPI) and _is_in_memory(db_api):
        name = _unique("clusters")
        db_api.duckdb_con.from_arrow(table).project(chosen).create_view(name)
        db_api._created_tables.add(name)
        found = db_api.table_to_splink_dataframe(templated, name)
        found.created_by_splink = True
        return found
    given = db_api.register(table, table_name=_unique("clusters"))
    pipeline = CTEPipeline()
    pipeline.enqueue_sql(f"select {chosen} from {given.physical_name}", templated)
    try:
        return db_api.sql_pipeline_to_splink_dataframe(pipeline)
    finally:
        given.drop_table_from_database_and_remove_from_cache(force_non_splink_table=True)


def _is_in_memory(db_api) -> bool:
    """Whether tables of DuckDB are in memory, and neither in its file nor in those of Splink."""
    file = "select path from duckdb_databases() where database_name = current_database()"
    return db_api._materialisation == "table" and db_api.duckdb_con.sql(file).fetchall() == [(None,)]


def _summary(thresholds, n, counts, largest) -> dict:
    """Columns with a row for each threshold: number of clusters, size of the largest one, and mean size."""
    import pyarrow as pa

    weights = [None if p in (0, 1) else math.log2(p / (1 - p)) for p in thresholds]
    return {
        "threshold_match_probability": pa.array(thresholds, pa.float32()),
        "threshold_match_weight": pa.array(weights, pa.float32()),
        "num_clusters": pa.array(counts),
        "max_cluster_size": pa.array(largest),
        "avg_cluster_size": pa.array([n / one if one else None for one in counts.tolist()], pa.float64()),
    }
