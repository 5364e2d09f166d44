"""Reading and writing by format: a file goes to the page of its format (:mod:`~edgewise.files.formats`)."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib import import_module

from edgewise.errors import FileError, OptionError, argument
from edgewise.files.atomic_write import writing
from edgewise.files.contents import Edges, Rows, redirected
from edgewise.files.destinations import (
    check_destination,
    destination,
    has_default_format,
    is_folder,
    is_open,
    name_by_suffix,
    name_of,
    sink,
    suffixes_of,
)
from edgewise.files.formats import FORMATS, WEIGHTS, named
from edgewise.files.inputs import local
from edgewise.files.sniffing import format_of
from edgewise.files.streams import Source, check_path, reading, styled


def read(path, options):
    """Read a graph from a file, or from several tables; see :func:`edgewise.read`."""
    if options.vertices is not None:
        from edgewise.files.records import records_of

        options = replace(options, vertices=records_of(options.vertices, options.vertex_id, options.encoding))
    with local(check_path(path)) as files:
        if _is_several(files):
            return redirected(_read_several(files, options), options.directed)
        return read_one(files, options)


def read_one(path, options):
    """Read a graph from one file."""
    source = Source(styled(path, options.style))
    with reading(source.path):
        name = format_of(source, options)
        options.check_text(name)
        graph = _graph_of(function_of(FORMATS[name].reader)(source, options.for_format(name)), options)
    if options.weight is None and (graph.csr_weights if graph.has_rows else graph.weights) is not None:
        graph.assumed_weights = graph.assumed_weights or WEIGHTS.get(name)
    return graph


def _graph_of(content, options):
    """The graph of what a reader has returned."""
    if isinstance(content, Edges):
        return content.graph(options.directed, options.vertices)
    return (
        content.graph(options.directed)
        if isinstance(content, Rows)
        else redirected(content, options.directed)
    )


def _read_several(path, options):
    """Read a folder, a pattern or a list of tables with the same columns, as the first of them is read."""
    from edgewise.files import tables
    from edgewise.files.pair_tables import parts_of, rows_first

    parts = [styled(part, options.style) for part in rows_first(parts_of(path), options.style)]
    if len(parts) == 1:
        return read_one(parts[0], options)
    first = Source(parts[0])
    kind = format_of(first, options)
    if kind not in tables.TABLES:
        raise FileError(first.path, "of several files each must be a table; join the others into one file")
    options.check_text(kind)
    text = {"csv": tables.read_csv, "tsv": tables.read_csv, "jsonl": tables.read_json}
    content = text.get(kind, tables.read)(first, options, parts)
    return content.graph(options.directed, options.vertices) if isinstance(content, Edges) else content


def function_of(entry: str):
    """The function of an entry ``page:function``."""
    page, _, function = entry.partition(":")
    return getattr(import_module(f"edgewise.files.{page}"), function)


def _is_several(path) -> bool:
    """Whether a path is a list of paths, a folder, or a pattern."""
    if isinstance(path, list | tuple) or os.path.isdir(path):
        return True
    return not os.path.exists(path) and bool(set("*?[") & set(os.fspath(path)))


def write(thing, path, name=None) -> None:
    """Write a graph, a result or a table to a file; see :func:`edgewise.write`."""
    from edgewise.graph import Graph

    path = check_destination(path)
    if is_folder(path):
        from edgewise.files.write_tables import write_folder

        write_folder(thing, path, name)
        return
    if name in (None, ""):
        name = "csv" if has_default_format(path) else name_by_suffix(path, FORMATS)
    name = named(name)
    form = FORMATS[name]
    if form.writer is None:
        writable = ", ".join(name for name, form in FORMATS.items() if form.writer)
        raise OptionError(f"{argument('format', name)} is read only; use one of {writable}")
    if form.graphs_only and not isinstance(thing, Graph):
        problem = f"{argument('format', name)} holds graphs, not a {type(thing).__name__}"
        raise OptionError(f"{problem}; use parquet, arrow, csv, tsv or jsonl")
    writer = function_of(form.writer)
    thing = thing.to("cpu") if isinstance(thing, Graph) else thing
    compression = None if is_open(path) else suffixes_of(path)[1]
    if name in ("parquet", "arrow") and compression:
        raise FileError(path, f"{name} is compressed inside; leave the last ending out")
    with destination(path) as part, writing(name_of(path)), sink(part, path, compression) as stream:
        writer(thing, stream)
