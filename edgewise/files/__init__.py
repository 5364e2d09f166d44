"""Graph files: reading any format by its content, writing by suffix, whole or not at all.

:mod:`edgewise.files.formats` lists the formats and their pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO, Unpack

from edgewise.errors import OptionError
from edgewise.front import CallOptions, front, named, reporter
from edgewise.memory import release_unused

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from edgewise.graph import Graph

__all__ = ["read", "write"]


@front
def read(
    path: str | bytes | PathLike | BinaryIO | list | tuple,
    *,
    source: str | int | Sequence[str | int] | None = None,
    target: str | int | Sequence[str | int] | None = None,
    weight: str | int | bool | None = None,
    where: str | None = None,
    format: str | None = None,
    directed: bool | None = None,
    threshold: float | None = None,
    score: str | int | None = None,
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    null: str = "error",
    one_based: bool | None = None,
    header: bool | None = None,
    ids: str | None = None,
    vertices: Any = None,
    vertex_id: str | None = None,
    self_loops: str = "keep",
    repeated: str = "keep",
    **options: Unpack[CallOptions],
) -> Graph:
    r"""Read a graph from a file.

    The format, and whether the file is compressed (gzip, bzip2, xz, Zstandard), is detected by the content;
    the suffix decides only between formats that can look the same.

    Parameters
    ----------
    path : path-like, file object, or list of them
        Edge list, table (Parquet, Arrow, CSV, JSON Lines), Matrix Market, METIS, DIMACS, GAP, ``.npz``, LDBC,
        GML, GraphML, TNTP or one of a few more; the docs list them.  Several tables with the same columns: a
        folder, a pattern such as ``"pairs/*.parquet"``, or a list.

        The string ``"-"`` is standard input.  Strings such as ``"s3://bucket/pairs.parquet"`` or
        ``"https://host/pairs.csv"`` are addresses.  A file object is anything with a method ``read``.  Their
        content, and that of named pipes, is copied to a temporary file first.
    source, target : str, int or list of these, optional
        Edge lists and tables only: columns with the ids of each edge; names in tables, positions from 0 on in
        rows without names.  Several columns of a table, a list or names with commas between them, are joined:
        the ids of ``["dataset", "id"]`` are such as ``"crm-__-17"``.  By default columns of tables with usual
        names, such as ``unique_id_l`` and ``unique_id_r``, or the first two, if there are no more than three
        columns.
    weight : str, int or bool, optional
        Column, or attribute, with the weights; ``False`` for none, ``True`` for the column of the scores.  By
        default a third column of numbers, unless the columns of ids are named, or the weights that the format
        has.
    where : str, optional
        Tables only: a condition such as ``"score >= 0.9"``; other rows are left out.
    format : str, optional
        Name of the format, where the content does not decide.
    directed : bool, optional
        By default as in the format, or the file; edge lists and tables are undirected.
    threshold : float, optional
        Tables: only rows with at least this score are kept.
    score : str, optional
        Tables: column of the scores, for ``threshold`` and ``weight=True``.  By default
        ``match_probability``, or the only column with a usual name, such as ``score`` or ``similarity``.
    sep : str, optional
        Edge lists and text tables: the character between fields (``"tab"`` for a tab), where the first rows
        do not show it.
    decimal : {'.', ','}, optional
        Edge lists and text tables: the decimal mark of weights and scores.  With a comma, fields are between
        other marks, unless ``sep=","`` is given and such numbers are in quotes.
    encoding : str, optional
        Text, also that of ``vertices``: its encoding, such as ``"latin-1"``, if that is not UTF-8.  A byte
        order mark of UTF-8, UTF-16 or UTF-32 decides by itself.
    null : {'error', 'drop'}
        Edge lists and tables: what to do with rows whose source, target or weight is missing.
    one_based : bool, optional
        Edge lists: the ids are vertex numbers from 1 on (or from 0 on, if ``False``) up to the largest, and
        numbers that do not occur are isolated vertices.  By default only the ids that occur are vertices.
    header : bool, optional
        Edge lists and CSV: whether the first row names the columns.  By default the rows decide.
    ids : {'string', 'integer'}, optional
        Edge lists, text tables and NCOL: type of the ids.  By default the rows decide: ``007`` is no integer.
    vertices : path, paths or table, optional
        Pairs of ids: records of all vertices, also of those without an edge; the number of a vertex is its
        row there, and every id of a pair has a record.
    vertex_id : str, optional
        Column of ``vertices`` with the ids; by default ``id`` or ``unique_id``.
    self_loops : {'keep', 'drop'}
        What to do with edges from a vertex to itself.
    repeated : {'keep', 'first', 'sum', 'min', 'max'}
        What to do with several edges between two vertices: keep them, or merge them into one with that
        weight.

    Returns
    -------
    Graph

    Raises
    ------
    FileError
        The file cannot be read or does not hold what its format promises; the message names the line.
    OptionError
        An option is unknown, or means nothing for this kind of file.

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
    from edgewise.files import by_format
    from edgewise.files.formats import options_of

    columns = {"source": source, "target": target, "weight": weight}
    kept = {"where": where, "threshold": threshold, "score": score, "null": null}
    text = {"sep": sep, "decimal": decimal, "encoding": encoding, "header": header}
    numbers = {"one_based": one_based, "ids": ids, "vertices": vertices, "vertex_id": vertex_id}
    settings = {"format": format, "directed": directed, "progress": reporter()}
    graph = by_format.read(path, options_of({**columns, **kept, **text, **numbers, **settings}))
    release_unused()
    if self_loops == repeated == "keep":
        return graph
    return graph.simplified(self_loops=self_loops, repeated=repeated)


@named
def write(graph_or_table: Any, path: str | PathLike | BinaryIO, *, format: str | None = None) -> None:
    r"""Write a graph, a result or a table to a file, whole or not at all.

    The content is written to a temporary name in the same folder, which is renamed when it is complete; an
    error or Ctrl-C leaves nothing behind.

    Parameters
    ----------
    graph_or_table : Graph, Components, or table
        A table is anything with ``__arrow_c_stream__`` (pyarrow, pandas, polars ...).
    path : path-like or file object
        The suffix decides the format: ``.parquet``, ``.arrow``, ``.csv``, ``.tsv``, ``.jsonl`` for anything;
        ``.txt``, ``.el``, ``.mtx``, ``.graph``, ``.gr``, ``.sg``, ``.wsg``, ``.npz`` for graphs.  A further
        ``.gz``, ``.bz2``, ``.xz`` or ``.zst`` compresses it.

        A string that ends in a slash, such as ``"clusters/"``, is a new folder, of Parquet files of 4 million
        rows and a manifest, which appears when it is complete; it is read like a file.

        The string ``"-"`` is standard output (CSV, if ``format`` is not given).  A string such as
        ``"s3://bucket/clusters.parquet"`` is an address, where the complete file is stored.  A binary file
        object is written directly, and needs ``format``.
    format : str, optional
        Name of the format, for any suffix.

    Raises
    ------
    FileError
        The file cannot be written (full disk, permissions ...), or the format cannot hold this graph.
    OptionError
        The format is unknown or cannot hold this.

    Examples
    --------
    >>> import edgewise as ew, io
    >>> stream = io.BytesIO()
    >>> ew.write(ew.Graph.from_edges(["ann"], ["bob"]), stream, format="jsonl")
    >>> stream.getvalue()
    b'{"source": "ann", "target": "bob"}\n'
    """
    from edgewise.files import by_format

    if graph_or_table is None:
        raise OptionError("there is nothing to write: None was given in place of a graph or a table")
    by_format.write(graph_or_table, path, format)
