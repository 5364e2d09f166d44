"""The formats, one line each, their first bytes, and the options of reading.

:mod:`~edgewise.files.sniffing` detects a format by its content, and :mod:`~edgewise.files.by_format` calls
the page of a format to read or write a file.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np

from edgewise.errors import OptionError, argument, one_of
from edgewise.files.encodings import encoding_named
from edgewise.files.streams import SUFFIXES, TextStyle
from edgewise.ingest.default_columns import check_given, is_several
from edgewise.ingest.scores import Kept


class Format(NamedTuple):
    """A format: the functions that read and write it, as ``page:function``, and its suffixes when written."""

    reader: str
    writer: str | None = None
    suffixes: tuple[str, ...] = ()
    graphs_only: bool = True

    @property
    def is_table(self) -> bool:
        """Whether the format is one of tables."""
        return self.reader.startswith("tables:")


FORMATS = {
    "arrow": Format("tables:read", "write_tables:write_arrow", (".arrow", ".feather", ".ipc"), False),
    "csv": Format("tables:read_csv", "write_tables:write_csv", (".csv",), False),
    "dimacs": Format("dimacs:read", "dimacs:write", (".gr",)),
    "dups": Format("tables:read"),
    "el": Format("edgelist:read", "edgelist:write", (".el", ".wel", ".txt", ".edges", ".edgelist")),
    "el1": Format("edgelist:read"),
    "gap": Format("gap:read", "gap:write", (".sg", ".wsg")),
    "gml": Format("markup:read_gml"),
    "graphml": Format("markup:read_graphml"),
    "jlg": Format("rare_formats:read_jlg"),
    "jsonl": Format("tables:read_json", "write_tables:write_json", (".jsonl", ".ndjson"), False),
    "ldbc": Format("rare_formats:read_ldbc"),
    "mat": Format("matlab:read"),
    "metis": Format("metis:read", "metis:write", (".graph", ".metis")),
    "mtx": Format("matrixmarket:read", "matrixmarket:write", (".mtx",)),
    "ncol": Format("rare_formats:read_ncol"),
    "npy": Format("tables:read"),
    "npz": Format("npz:read", "npz:write", (".npz",)),
    "parquet": Format("tables:read", "write_tables:write_parquet", (".parquet", ".pq"), False),
    "smat": Format("edgelist:read_smat"),
    "tntp": Format("rare_formats:read_tntp"),
    "tsv": Format("tables:read_csv", "write_tables:write_tsv", (".tsv",), False),
    "vlg": Format("rare_formats:read_labelled"),
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
WEIGHTS = dict.fromkeys(("mat", "mtx", "smat"), "the values of the matrix")
WEIGHTS |= dict.fromkeys(("el", "el1", "csv", "tsv", "ncol", "ldbc"), "the third column")
#: First bytes of an ``.npy`` file.
NPY = b"\x93NUMPY"
#: Ending of files of duplicates.
DUPS = ".dups"
#: First bytes of an ``.npz`` file.
ZIP = b"PK\x03\x04"
#: First bytes of binary formats.
MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow", ZIP: "npz"}
MAGIC |= {NPY: "npy", b"MATLAB 5.0 MAT": "mat"}
BINARY = {*MAGIC.values(), "gap", "dups"}
#: First bytes of files that are no graphs, and what to do with them.
FOREIGN = {
    b"FEA1": "is a Feather file of version 1; write it again with pyarrow.feather.write_feather",
    b"MATLAB 7.3 MAT": "is a MATLAB file of version 7.3; save it again with save -v7",
    b"\x89HDF": "is HDF5; write the edges to Parquet or CSV",
    b"7z\xbc\xaf": "is a 7-Zip archive; unpack it first",
    b"%PDF": "is a PDF document, not a graph",
    b"\x80\x04\x95": "is a Python pickle; write the edges to Parquet or .npz",
    b"\x80\x05\x95": "is a Python pickle; write the edges to Parquet or .npz",
    b"SQLite": "is an SQLite database; export the edges to CSV",
}
#: Endings of the parts in a folder, before one that names a compression.
PARTS = (".parquet", ".pq", ".arrow", ".feather", ".ipc", ".csv", ".tsv", ".jsonl", ".ndjson", DUPS)
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
        in_name = self.weight is True and not FORMATS[name].is_table
        return replace(self, weight=None) if in_name else self

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
    """The options of a call."""
    plain: dict = {name: bool(one) if isinstance(one, np.bool_) else one for name, one in given.items()}
    return Options(**plain)


def named(given: str, option: str = "format") -> str:
    """Name of a format that ``option`` gives, aliases resolved."""
    name = given.lower().lstrip(".") if isinstance(given, str) else ""
    name = ALIASES.get(name, name)
    if name not in FORMATS:
        raise OptionError(f"{argument(option, given)} is unknown; {one_of(given, FORMATS)}")
    return name


def magic(source):
    """Name of the binary format that the first bytes are of, or ``None``."""
    if source.suffix == DUPS:
        return "dups"
    for start, problem in FOREIGN.items():
        if source.head.startswith(start):
            raise source.error(problem)
    return next((name for start, name in MAGIC.items() if source.head.startswith(start)), None)


def is_shown(part, folder):
    """Whether what is in a folder is a file that is not hidden, nor in a hidden folder such as ``_tmp``."""
    inside = part.relative_to(folder).parts
    return not (any(name.startswith((".", "_")) for name in inside) or part.is_dir())


def is_part(path: PurePath) -> bool:
    """Whether a file in a folder of tables is one of them, by its name."""
    suffix = path.suffix.lower()
    return (PurePath(path.stem).suffix.lower() if suffix in SUFFIXES else suffix) in PARTS


def is_separator(text) -> bool:
    """Whether a text is one ASCII character that can be between the fields of a row."""
    single = isinstance(text, str) and len(text) == 1 and text.isascii()
    return single and not text.isalnum() and text not in "\n\r\0\"'\\#%+-."
