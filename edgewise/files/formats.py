"""The formats, one line each, and the way from a path to the page of its format."""

import io
import os
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module

from edgewise.errors import FileError, OptionError, argument
from edgewise.files.atomic_write import atomic_write, writing
from edgewise.files.contents import Edges, Rows
from edgewise.files.streams import SUFFIXES, Source, reading


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
    "el": Format("edgelist", "read", "write", (".el", ".wel", ".txt", ".edges", ".edgelist")),
    "el1": Format("edgelist"),
    "gap": Format("gap", "read", "write", (".sg", ".wsg")),
    "gml": Format("markup", "read_gml"),
    "graphml": Format("markup", "read_graphml"),
    "jlg": Format("rare_formats", "read_jlg"),
    "ldbc": Format("rare_formats", "read_ldbc"),
    "metis": Format("metis", "read", "write", (".graph", ".metis")),
    "mtx": Format("matrixmarket", "read", "write", (".mtx",)),
    "ncol": Format("rare_formats", "read_ncol"),
    "npz": Format("npz", "read", "write", (".npz",)),
    "parquet": Format("tables", "read", "write_parquet", (".parquet", ".pq"), False),
    "smat": Format("header_counts", "read_smat"),
    "tntp": Format("rare_formats", "read_tntp"),
    "tsv": Format("tables", "read_csv", "write_tsv", (".tsv",), False),
    "vlg": Format("rare_formats", "read_labelled"),
}
#: Other names for the same.
ALIASES = {
    "gr": "dimacs",
    "feather": "arrow",
    "sg": "gap",
    "wsg": "gap",
    "graph": "metis",
    "csvn": "el",
    "txt": "el",
}


def named(name: str) -> str:
    """Name of a format, aliases resolved."""
    name = ALIASES.get(name.lower().lstrip("."), name.lower().lstrip("."))
    if name not in FORMATS:
        raise OptionError(f"{argument('format', name)} is unknown; use one of {', '.join(FORMATS)}")
    return name


def read(path, options):
    """Read a graph from a file, or from several tables; see :func:`edgewise.read`."""
    from edgewise.files.sniff import sniff

    if _is_several(path):
        from edgewise.files.tables import read_several

        return _redirected(read_several(path, options), options.directed)
    source = Source(path)
    name = named(options.format) if options.format else sniff(source, options)
    with reading(source.path):
        content = function_of(name, FORMATS[name].reader)(source, options)
        if isinstance(content, Edges | Rows):
            return content.graph(options.directed)
        return _redirected(content, options.directed)


def function_of(name: str, function: str):
    """A function of the page of a format."""
    return getattr(import_module(f"edgewise.files.{FORMATS[name].page}"), function)


def _is_several(path) -> bool:
    """Whether a path is a list of paths, a folder, or a pattern."""
    if isinstance(path, list | tuple) or os.path.isdir(path):
        return True
    return not os.path.exists(path) and bool(set("*?[") & set(os.fspath(path)))


def _redirected(graph, directed):
    """The graph, directed or not as given."""
    if directed is None or directed == graph.directed:
        return graph
    edges = graph.sources, graph.targets, graph.weights
    facts = {"ids": graph.ids, "vertex_weights": graph.vertex_weights}
    return type(graph)(graph.n_vertices, edges=edges, directed=directed, **facts)


def write(thing, path, name=None) -> None:
    """Write a graph, a result or a table to a file; see :func:`edgewise.write`."""
    from edgewise.graph import Graph

    name = named(name) if name else _by_suffix(path)
    form = FORMATS[name]
    if form.writer is None:
        writable = ", ".join(name for name, form in FORMATS.items() if form.writer)
        raise OptionError(f"{argument('format', name)} is read only; use one of {writable}")
    if form.graphs_only and not isinstance(thing, Graph):
        problem = f"{argument('format', name)} holds graphs, not a {type(thing).__name__}"
        raise OptionError(f"{problem}; use parquet, arrow, csv or tsv")
    writer = function_of(name, form.writer)
    thing = thing.to("cpu") if isinstance(thing, Graph) else thing
    if name in ("parquet", "arrow") and suffixes_of(path)[1]:
        raise FileError(path, f"{name} is compressed inside; leave the last ending out")
    with atomic_write(path) as part, writing(path), sink(part, path) as stream:
        writer(thing, stream)


def suffixes_of(path) -> tuple[str, str | None]:
    """Lower-case suffix that decides the format of a path, and the compression behind it."""
    stem, suffix = os.path.splitext(os.fspath(path))
    compression = SUFFIXES.get(suffix.lower())
    if compression:
        suffix = os.path.splitext(stem)[1]
    return suffix.lower(), compression


def _by_suffix(path):
    suffix, _ = suffixes_of(path)
    name = next((name for name, form in FORMATS.items() if suffix in form.suffixes), None)
    if name is None:
        known = " ".join(suffix for form in FORMATS.values() for suffix in form.suffixes)
        problem = f"the ending {suffix or 'is missing and'} says no format"
        raise FileError(path, f"{problem}; use one of {known}, or {argument('format')}")
    return name


class Sink(io.RawIOBase):
    """A stream to write to, with the final path of its content and the lower-case suffix of its format."""

    def __init__(self, stream, path):
        self.stream, self.path = stream, os.fspath(path)
        self.suffix = suffixes_of(path)[0]

    def error(self, problem):
        """An error of this file."""
        return FileError(self.path, problem)

    def writable(self):
        return True

    def write(self, content):
        content = memoryview(content)
        self.stream.write(content)
        return content.nbytes


@contextmanager
def sink(part, path):
    """Open ``part`` for writing, compressed according to the suffix of ``path``."""
    compression = suffixes_of(path)[1]
    with open(part, "wb") as file:
        if compression is None:
            yield Sink(file, path)
        elif compression == "xz":
            import lzma

            with lzma.open(file, "wb") as stream:
                yield Sink(stream, path)
        else:
            import pyarrow as pa

            with pa.CompressedOutputStream(pa.PythonFile(file, mode="w"), compression) as stream:
                yield Sink(stream, path)
