"""Graph files: reading any format by its content, writing by suffix, whole or not at all.

A page a format; :mod:`edgewise.files.formats` lists them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from edgewise.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from edgewise.graph import Graph

__all__ = ["read", "write"]


def read(
    path: str | PathLike | list,
    *,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | bool | None = None,
    where: str | None = None,
    null: str = "error",
    format: str | None = None,
    directed: bool | None = None,
    one_based: bool | None = None,
    header: bool | None = None,
    ids: str | None = None,
    self_loops: str = "keep",
    repeated: str = "keep",
    progress: Callable | None = None,
) -> Graph:
    r"""Read a graph from a file.

    The format, and whether the file is compressed (gzip, bzip2, xz, Zstandard), is told by the content; the
    suffix decides only between formats that can look the same.

    Parameters
    ----------
    path : path-like, or list of them
        Edge list, table (Parquet, Arrow, CSV), Matrix Market, METIS, DIMACS, GAP, ``.npz``, LDBC, GML,
        GraphML, TNTP or one of a few more; the docs list them.  Several tables with the same columns: a
        folder, a pattern such as ``"pairs/*.parquet"``, or a list.
    source, target : str or int, optional
        Columns with the ends of each edge: names in tables, positions from 0 on in rows without names.  By
        default the first two, if there are no more than three columns.
    weight : str, int or False, optional
        Column, or attribute, with the weights; ``False`` for none.  By default a third column of numbers, or
        the weights that the format has.
    where : str, optional
        Tables only: a condition such as ``"score >= 0.9"``; other rows are left out.
    null : {'error', 'drop'}
        What to do with rows that lack an end.
    format : str, optional
        Name of the format, if the content misleads.
    directed : bool, optional
        By default what the format, or the file, says; edge lists and tables are undirected.
    one_based : bool, optional
        Edge lists only: the ids are vertex numbers from 1 on (or from 0 on, if ``False``) up to the largest,
        and numbers that do not occur are isolated vertices.  By default only the ids that occur are vertices.
    header : bool, optional
        Whether the first row of an edge list or CSV file names the columns.  By default this is looked at.
    ids : {'string', 'integer'}, optional
        Edge lists only: what the ids are.  By default the first row tells.
    self_loops : {'keep', 'drop'}
    repeated : {'keep', 'first', 'sum', 'min', 'max'}
        What becomes of several edges between the same ends: kept, or merged into one with that weight.
    progress : callable, optional
        Passed to the reader of tables.

    Returns
    -------
    Graph

    Raises
    ------
    FileError
        The file cannot be read or does not hold what its format promises; the message names the line.
    OptionError
        An option means nothing for this kind of file.

    Examples
    --------
    >>> import edgewise as ew, tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("# from to weight\n10 20 0.5\n20  30 1.5\n")
    ...     file.flush()
    ...     graph = ew.read(file.name)
    >>> graph.n_vertices, graph.n_edges, graph.ids.tolist(), graph.weights.tolist()
    (3, 2, [10, 20, 30], [0.5, 1.5])
    """
    from edgewise.files import formats
    from edgewise.files.options import Options

    options = Options(source, target, weight, where, null, format, directed, one_based, header, ids, progress)
    graph = formats.read(path, options)
    return graph if (self_loops, repeated) == ("keep", "keep") else _simplified(graph, self_loops, repeated)


def _simplified(graph, self_loops, repeated):
    """Drop self-loops and merge repeated edges, keeping ids."""
    simple = type(graph).from_edges(
        graph.sources,
        graph.targets,
        weights=graph.weights,
        n_vertices=graph.n_vertices,
        directed=graph.directed,
        self_loops=self_loops,
        repeated=repeated,
    )
    simple.ids, simple.vertex_weights = graph.ids, graph.vertex_weights
    return simple


def write(graph_or_table: Any, path: str | PathLike, *, format: str | None = None) -> None:
    """Write a graph, a result or a table to a file, whole or not at all.

    The content goes to a temporary name in the same folder and takes its name when it is complete; an error
    or Ctrl-C leaves nothing behind.

    Parameters
    ----------
    graph_or_table : Graph, Components, or table
        A table is anything with ``__arrow_c_stream__`` (pyarrow, pandas, polars ...).
    path : path-like
        The suffix tells the format: ``.parquet``, ``.arrow``, ``.csv``, ``.tsv`` for anything; ``.txt``,
        ``.el``, ``.mtx``, ``.graph``, ``.gr``, ``.sg``, ``.wsg``, ``.npz`` for graphs.  A further ``.gz``,
        ``.bz2``, ``.xz`` or ``.zst`` compresses it.
    format : str, optional
        Name of the format, whatever the suffix.

    Raises
    ------
    FileError
        The system refuses (full disk, permissions ...), or the format cannot hold this graph.
    OptionError
        The format is unknown or holds no such thing.
    """
    from edgewise.files import formats

    if graph_or_table is None:
        raise OptionError("there is nothing to write: None was given in place of a graph or a table")
    formats.write(graph_or_table, path, format)
