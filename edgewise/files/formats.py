"""The formats, one line each; how a format is detected by content, and reading and writing by format.

The suffix decides only between formats that can look the same.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields, replace
from importlib import import_module
from typing import Any

import numpy as np

from edgewise.errors import FileError, OptionError, argument, check_names, one_of
from edgewise.files.atomic_write import writing
from edgewise.files.contents import Edges, Rows
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
from edgewise.files.encodings import encoding_named
from edgewise.files.inputs import local
from edgewise.files.pair_records import DUPS
from edgewise.files.sniffing import BINARY, MAGIC, magic, sniff
from edgewise.files.streams import Source, TextStyle, check_path, reading, styled
from edgewise.ingest.default_columns import check_given, is_several
from edgewise.ingest.origin import take_origin
from edgewise.ingest.scores import Kept


@dataclass(frozen=True)
class Format:
    """A format: its page, the functions there that read and write it, and its suffixes when written."""

    page: str
    reader: str = "read"
    writer: str | None = None
    suffixes: tuple[str, ...] = ()
    graphs_only: bool = True


FORMATS = {
    "arrow": Format("tables", "read", "write_arrow", (".arrow", ".feather", ".ipc"), False),
    "csv": Format("tables", "read_csv", "write_csv", (".csv",), False),
    "dimacs": Format("dimacs", "read", "write", (".gr",)),
    "dups": Format("tables"),
    "el": Format("edgelist", "read", "write", (".el", ".wel", ".txt", ".edges", ".edgelist")),
    "el1": Format("edgelist"),
    "gap": Format("gap", "read", "write", (".sg", ".wsg")),
    "gml": Format("markup", "read_gml"),
    "graphml": Format("markup", "read_graphml"),
    "jlg": Format("rare_formats", "read_jlg"),
    "jsonl": Format("tables", "read_json", "write_json", (".jsonl", ".ndjson"), False),
    "ldbc": Format("rare_formats", "read_ldbc"),
    "metis": Format("metis", "read", "write", (".graph", ".metis")),
    "mtx": Format("matrixmarket", "read", "write", (".mtx",)),
    "ncol": Format("rare_formats", "read_ncol"),
    "npy": Format("tables"),
    "npz": Format("npz", "read", "write", (".npz",)),
    "parquet": Format("tables", "read", "write_parquet", (".parquet", ".pq"), False),
    "smat": Format("edgelist", "read_smat"),
    "tntp": Format("rare_formats", "read_tntp"),
    "tsv": Format("tables", "read_csv", "write_tsv", (".tsv",), False),
    "vlg": Format("rare_formats", "read_labelled"),
}
#: Other names for the same.
ALIASES = {
    "gr": "dimacs",
    "feather": "arrow",
    "ndjson": "jsonl",
    "sg": "gap",
    "wsg": "gap",
    "graph": "metis",
    "csvn": "el",
    "txt": "el",
}
#: Formats of the options that not all formats have.
FORMATS_WITH = {
    "source": "edge lists and tables",
    "target": "edge lists and tables",
    "weight": "formats whose weights have names or positions",
    "where": "tables",
    "threshold": "tables",
    "score": "tables",
    "sep": "edge lists and text tables",
    "decimal": "edge lists and text tables",
    "null": "edge lists and tables",
    "one_based": "edge lists",
    "header": "edge lists and CSV",
    "ids": "edge lists, text tables and NCOL",
    "vertices": "edge lists and tables",
    "vertex_id": "edge lists and tables",
}
#: What is taken as the weights of a file by default, by format, where it has no name.
WEIGHTS = dict.fromkeys(("mtx", "smat"), "the values of the matrix")
WEIGHTS |= dict.fromkeys(("el", "el1", "csv", "tsv", "ncol", "ldbc"), "the third column")
#: Words for a tab between fields.
TABS = {"tab": "\t", "\\t": "\t"}


@dataclass(frozen=True)
class Options:
    """See :func:`edgewise.read` for the meaning of each."""

    source: Any = None
    target: Any = None
    weight: str | int | bool | None = None
    where: str | None = None
    threshold: float | None = None
    score: str | int | None = None
    null: str = "error"
    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    format: str | None = None
    directed: bool | None = None
    one_based: bool | None = None
    header: bool | None = None
    ids: str | None = None
    vertices: Any = None
    vertex_id: str | None = None
    progress: object = None

    def __post_init__(self):
        if self.null not in ("error", "drop"):
            raise OptionError(
                f"{argument('null', self.null)} is unknown; {one_of(self.null, ('error', 'drop'))}"
            )
        if self.ids not in (None, "string", "integer"):
            raise OptionError(
                f"{argument('ids', self.ids)} is unknown; {one_of(self.ids, ('string', 'integer'))}"
            )
        if (self.source is None) != (self.target is None):
            pair = f"{argument('source')} and {argument('target')}"
            raise OptionError(f"{pair} belong together; give both or neither")
        if self.format not in (None, ""):
            named(self.format)
        for name in ("source", "target", "weight"):
            check_given(name, getattr(self, name))
        for name in ("directed", "one_based", "header"):
            if (value := getattr(self, name)) is not None and not isinstance(value, bool):
                raise OptionError(f"{argument(name, value)} must be True or False")
        if self.vertex_id is not None and self.vertices is None:
            raise OptionError(f"{argument('vertex_id')} is a column of {argument('vertices')}; give that too")
        self.kept.check()
        if self.sep is not None and not is_separator(self.separator):
            problem = f"{argument('sep', self.sep)} is no separator"
            raise OptionError(f"{problem}; give one character such as ';' or '|', or the word tab")

        if self.decimal not in (None, ".", ","):
            raise OptionError(f"{argument('decimal', self.decimal)} is no decimal mark; give ',' or '.'")
        if self.encoding is not None:
            encoding_named(self.encoding)

    @property
    def kept(self) -> Kept:
        """Which rows are kept."""
        return Kept(self.where, self.threshold, self.score).beside(self.weight)

    @property
    def separator(self) -> str | None:
        """The separator of fields as one character, if it is given."""
        return TABS.get(self.sep, self.sep) if isinstance(self.sep, str) else self.sep

    @property
    def style(self) -> TextStyle:
        """How text is written, as far as that is given."""
        encoding = None if self.encoding is None else encoding_named(self.encoding)
        return TextStyle(self.separator, self.decimal or ".", encoding)

    @property
    def names_columns(self) -> bool:
        """Whether columns are given by name."""
        columns = (self.source, self.target, self.weight)
        return self.joins_columns or any(isinstance(name, str) and not name.isdecimal() for name in columns)

    @property
    def joins_columns(self) -> bool:
        """Whether ids are joined from several columns."""
        return is_several(self.source) or is_several(self.target)

    def with_ids_as_records(self) -> Options:
        """The options with text as the type of the ids, if those of the records are text."""
        text = self.vertices is not None and self.ids is None and self.vertices.holds_text()
        return replace(self, ids="string") if text else self

    def for_format(self, name: str) -> Options:
        """The options for a format; those that are no tables have weights, not scores."""
        return replace(self, weight=None) if self.weight is True and FORMATS[name].page != "tables" else self

    def only(self, what: str, *allowed: str) -> None:
        """Refuse the options that mean nothing for this kind of file; every file can do without weights."""
        always = {"format", "directed", "progress", "encoding", *allowed}
        always |= {"weight"} if self.weight is False else set()
        for field in fields(self):
            if field.name not in always and getattr(self, field.name) != field.default:
                problem = f"{argument(field.name)} means nothing for {what}"
                raise OptionError(f"{problem}; it is for {FORMATS_WITH[field.name]}, so leave it out")

    def check_text(self, name: str) -> None:
        """Refuse the encoding of text for a format that is none."""
        if self.encoding is not None and name in BINARY:
            raise OptionError(f"{argument('encoding')} is for text, and this is {name}; leave it out")


def option_names() -> list[str]:
    """The names of all options of :func:`edgewise.read`."""
    return [*(field.name for field in fields(Options)), "self_loops", "repeated", "threads"]


def options_of(given: dict) -> Options:
    """The options of a call; unknown ones are refused."""
    check_names("read", given, option_names())
    plain: dict = {name: bool(one) if isinstance(one, np.bool_) else one for name, one in given.items()}
    return Options(**plain)


def named(given: str, option: str = "format") -> str:
    """Name of a format that ``option`` gives, aliases resolved."""
    name = given.lower().lstrip(".") if isinstance(given, str) else ""
    name = ALIASES.get(name, name)
    if name not in FORMATS:
        raise OptionError(f"{argument(option, given)} is unknown; {one_of(given, FORMATS)}")
    return name


def read(path, options):
    """Read a graph from a file, or from several tables; see :func:`edgewise.read`."""
    if options.vertices is not None:
        from edgewise.files.records import records_of

        options = replace(options, vertices=records_of(options.vertices, options.vertex_id, options.encoding))
    with local(check_path(path)) as files:
        if _is_several(files):
            from edgewise.files.tables import read_several

            return redirected(read_several(files, options), options.directed)
        return read_one(files, options)


def read_one(path, options):
    """Read a graph from one file."""
    source = Source(styled(path, options.style))
    with reading(source.path):
        name = format_of(source, options)
        options.check_text(name)
        graph = _graph_of(_function_of(name, FORMATS[name].reader)(source, options.for_format(name)), options)
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


def format_of(source, options) -> str:
    """Name of the format that is given, if the content can be of it; else of the format of the content."""
    if not options.format:
        return sniff(source, options)
    name, binary = named(options.format), magic(source)
    if name == "dups" != binary:
        raise source.error(f"does not end in {DUPS}, by which such a file is known; rename it")
    if binary != (name if name in (*MAGIC.values(), "dups") else None):
        found = f"is {binary}" if binary else f"is not {name}"
        problem = f"{found} by its first bytes, against {argument('format', name)}"
        raise source.error(f"{problem}; leave that out, or name another file")
    if b"\0" in source.head and not binary and name != "gap":
        raise source.error(f"is binary, against {argument('format', name)}; leave that out")
    return name


def is_separator(text) -> bool:
    """Whether a text is one ASCII character that can be between the fields of a row."""
    single = isinstance(text, str) and len(text) == 1 and text.isascii()
    return single and not text.isalnum() and text not in "\n\r\0\"'\\#%+-."


def _function_of(name: str, function: str):
    """A function of the page of a format."""
    return getattr(import_module(f"edgewise.files.{FORMATS[name].page}"), function)


def _is_several(path) -> bool:
    """Whether a path is a list of paths, a folder, or a pattern."""
    if isinstance(path, list | tuple) or os.path.isdir(path):
        return True
    return not os.path.exists(path) and bool(set("*?[") & set(os.fspath(path)))


def redirected(graph, directed):
    """The graph, directed or not as given."""
    if directed is None or directed == graph.directed:
        return graph
    edges = graph.sources, graph.targets, graph.weights
    facts = {"ids": graph.ids, "vertex_weights": graph.vertex_weights}
    other = type(graph)(graph.n_vertices, edges=edges, directed=directed, **facts)
    take_origin(other, graph)
    return other


def write(thing, path, name=None) -> None:
    """Write a graph, a result or a table to a file; see :func:`edgewise.write`."""
    from edgewise.graph import Graph

    path = check_destination(path)
    if is_folder(path):
        from edgewise.files.to_store import write_folder

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
    writer = _function_of(name, form.writer)
    thing = thing.to("cpu") if isinstance(thing, Graph) else thing
    compression = None if is_open(path) else suffixes_of(path)[1]
    if name in ("parquet", "arrow") and compression:
        raise FileError(path, f"{name} is compressed inside; leave the last ending out")
    with destination(path) as part, writing(name_of(path)), sink(part, path, compression) as stream:
        writer(thing, stream)
