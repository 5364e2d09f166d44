"""A graph file before it is read: how large its graph is, and whether the job on it fits into memory.

Formats with a header say how many vertices and entries there are.  Of tables and lists the rows and ids are
estimated from the size of the file and the rows that come first.  Of other formats nothing is known before
they are read, and the call for the graph is refused then.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import prod
from typing import NamedTuple
from zipfile import BadZipFile, ZipFile

import numpy as np
import typer

from edgewise import memory
from edgewise.command import report
from edgewise.errors import EdgewiseError, FileError, OutOfMemoryError, warn
from edgewise.files import dimacs, gap, matrixmarket, metis
from edgewise.files.formats import FORMATS, options_of
from edgewise.files.inputs import is_local, name_of
from edgewise.files.layout import are_integers, later_fields, look
from edgewise.files.npz import FORMS
from edgewise.files.sniffing import format_of
from edgewise.files.streams import Source, read_fully, styled
from edgewise.files.streams import reading as file_errors
from edgewise.graph import Graph
from edgewise.index_type import index_type
from edgewise.needs import estimate

#: Bytes of memory for each byte of files, at most, in all but rare cases.
SUSPECT = 10
#: Free bytes below which any job is asked.
FEW = 300_000_000
#: Bytes at the peak of reading, for each entry of a file, and for each byte of its weight; measured with
#: ``bench/memory.py reads``.
READ = {"mtx": (26, 1.25), "metis": (40, 3.6), "dimacs": (84, 0.0), "scipy": (25, 3.0)}
#: The same of rows whose entries are compared, to see that each edge is there twice.
COMPARED = 4
#: Bytes of a weight that a text has; and of a name of a vertex in the result, for each name.
WEIGHT, OF_NAME = 8, 50
#: Part of the error of numba where there is no room for the compiler.
UNLOADED = "libllvmlite"
#: Whether the job is only described.
_planning = False


class Expected(NamedTuple):
    """What is known of a graph before it is read.

    Attributes
    ----------
    graph : Graph
        One of the same size, whose arrays take no memory.
    edges : int
        Those that the file has.
    reading : float
        Bytes that reading takes at its peak, beside the program.
    exact : bool
        Whether a header says how large the graph is.
    with_tables : bool
        Whether the libraries for text and tables are loaded.
    """

    graph: Graph
    edges: int
    reading: float
    exact: bool
    with_tables: bool = True


class Need(NamedTuple):
    """What a job needs, with the program: while the graph is read, and for the call, if that is known."""

    reading: int
    call: int
    method: str | None

    @property
    def bytes(self) -> int:
        """What the process holds at the peak."""
        return max(self.reading, self.call)


@contextmanager
def planning() -> Iterator[None]:
    """Context of a command that says what its job needs, and ends before it reads."""
    global _planning
    _planning = True
    try:
        yield
    finally:
        _planning = False


def is_planning() -> bool:
    """Whether the job is only described."""
    return _planning


def is_asked(size: int) -> bool:
    """Whether a job on files of so many bytes is asked what it needs."""
    return _planning or memory.given() is not None or SUSPECT * size + FEW >= memory.free()


def check(files: list, reading: dict, call: tuple[str, dict] | None, *, undirected: bool, json: bool = False):
    """Raise OutOfMemoryError if it is known that a job needs more memory than there is.

    ``call`` has the problem and its options, as of :meth:`Graph.estimate`; without one the graph is only
    read.  Without ``--memory`` the question is asked only for files that may be too large.  Where the job is
    only described, that ends the command.
    """
    if not all(map(is_local, files)):
        return
    size = sum(map(os.path.getsize, filter(os.path.isfile, files)))
    if not is_asked(size):
        return
    check_addresses()
    known = expected(files, reading, undirected=undirected)
    if known is None:
        if _planning:
            raise FileError(name_of(files[0]), "does not say how large the graph is before it is read")
        return
    need, most = need_of(known, call), memory.limit()
    if _planning:
        _show(known, need, most, json)
        raise typer.Exit
    if not _fits(need, most):
        about = "" if known.exact else "about "
        what = f"the job on {about}{known.graph.n_vertices:,} vertices and {known.edges:,} edges"
        raise OutOfMemoryError(memory.refusal(need.bytes - memory.held(), most, what, ""))


def _fits(need, most):
    """Whether a job is within a limit, with a margin, so that no call is refused when its file was read."""
    from edgewise.streams import ways

    return ways.MARGIN * need.bytes <= most.bytes - most.held + memory.held()


def check_addresses():
    """Raise OutOfMemoryError if ``ulimit -v`` leaves less than it takes to look at a file.

    The libraries for tables end the process where they find no room.
    """
    from edgewise.streams import ways

    most, held = memory.limit(), memory.held()
    if most.source == memory.OF_ADDRESSES and most.bytes - most.held + held < ways.WITHOUT_KERNELS:
        raise OutOfMemoryError(memory.refusal(ways.WITHOUT_KERNELS - held, most, "the program", ""))


def need_of(known: Expected, call: tuple[str, dict] | None) -> Need:
    """What a job on a graph needs in all."""
    from edgewise.streams import ways

    graph, method, more = known.graph, None, 0
    is_large = len((graph._edges or graph._rows)[1]) >= ways.FEW
    base = ways.BASE + ways.OF_TABLES * known.with_tables if is_large else ways.WITHOUT_KERNELS
    if call is not None:
        with suppress(EdgewiseError):  # of a method without an estimate, or one that the call refuses
            found = estimate(graph, *call)
            method, more = found.method, found.bytes
    kept = sum(array.nbytes for array in graph._edges or graph._rows if array is not None)
    kept += 0 if graph.ids is None else graph.ids.nbytes
    return Need(int(base + known.reading), int(base + kept + more), method)


def expected(files: list, reading: dict, *, undirected: bool) -> Expected | None:
    """What is known of the graph in files before it is read, ``None`` if that is nothing.

    A matrix without directions has each edge twice, which its header does not say; ``undirected`` decides.
    """
    try:
        with file_errors(files[0]):
            options = options_of(reading)
            if len(files) == 1 and os.path.isfile(files[0]):
                source = Source(styled(files[0], options.style))
                name = format_of(source, options)
                if not FORMATS[name].is_table:
                    return HEADERS[name](source, options, undirected) if name in HEADERS else None
            return _of_tables(files, reading, options)
    except EdgewiseError as error:
        if UNLOADED in str(error):
            problem = "the program needs more addresses than the limit of ulimit -v leaves"
            raise OutOfMemoryError(f"{problem}; raise it by {memory.in_words(FEW)}") from error
        return None  # of a damaged file, of which reading says what is wrong
    except Exception as fault:  # of the estimate, which stops no job
        warn(f"what the job needs in memory could not be estimated ({fault!r}); please report it")
        return None


def pairs_in(inputs, reading, vertices):
    """What is known of tables before they are read: see :class:`~edgewise.streams.ways.Pairs`."""
    from edgewise.streams import READING, ways

    known = {name: value for name, value in reading.items() if name in READING}
    columns = dict.fromkeys(READING) | {"null": "error"} | known
    return ways.pairs_of(inputs, columns, vertices)


def source_of(most):
    """Who says what the limit of memory is, as the command line calls it."""
    return "--memory" if most.is_given else most.source


def _outline(vertices, entries, weight, *, rows=False, directed=False, ids=None):
    """A graph whose arrays have their lengths and take no memory; ``weight`` is a type, or ``None``."""
    number = index_type(vertices)
    column = np.broadcast_to(number(0), entries)
    weights = None if weight is None else np.broadcast_to(np.dtype(weight).type(0), entries)
    if rows:
        form = {"rows": (np.broadcast_to(np.int64(0), vertices + 1), column, weights)}
    else:
        form = {"edges": (column, column, weights)}
    outline = Graph(vertices, **form, directed=directed, ids=ids)
    outline.cached("has hubs", lambda: True)  # at the worst, for triangles
    return outline


def _ids(count, width):
    """Ids of so many bytes each, in an array that takes no memory."""
    return np.broadcast_to(np.zeros((), f"V{max(1, int(width))}"), count)


def _matrix(vertices, entries, weight, per, given):
    """What a header of a matrix, or of arcs, leads to; ``per`` has bytes of reading."""
    options, undirected, symmetric = given
    directed = bool(options.directed) or not (undirected or symmetric)
    edges = entries // (1 if directed or symmetric else 2)
    weight = None if options.weight is False else weight
    width = 0 if weight is None else np.dtype(weight).itemsize
    graph = _outline(vertices, edges, weight, directed=directed, ids=_ids(vertices, WEIGHT))
    return Expected(graph, edges, entries * (per[0] + width * per[1]), True)


def _of_mtx(source, options, undirected):
    header = matrixmarket.header_of(source)
    numbers, kind = matrixmarket.FIELDS[header.field]
    given = options, undirected, header.symmetry != "general"
    return _matrix(header.n, header.count, kind if numbers else None, READ["mtx"], given)


def _of_dimacs(source, options, undirected):
    _, kind, vertices, edges = dimacs.problem_of(source)
    letter, columns = dimacs.KINDS[kind]
    weight = np.int64 if columns == 4 else None
    return _matrix(vertices, edges, weight, READ["dimacs"], (options, undirected, letter == "e"))


def _of_metis(source, options, undirected):
    header = metis.header_of(source)
    entries, (per, of_weight) = 2 * header.edges, READ["metis"]
    weight = np.int64 if header.edge_weights else None
    graph = _outline(header.vertices, entries, weight, rows=True, ids=_ids(header.vertices, WEIGHT))
    return Expected(graph, header.edges, entries * (per + WEIGHT * of_weight * header.edge_weights), True)


def _of_gap(source, options, undirected):
    with source.open() as stream:
        directed, entries, vertices = gap.header_of(source, read_fully(stream, gap.HEADER.size))
    weighted = source.suffix == ".wsg" and options.weight is not False
    graph = _outline(vertices, entries, np.int32 if weighted else None, rows=True, directed=directed)
    kept = sum(array.nbytes for array in graph._rows if array is not None)
    edges = entries if directed else entries // 2
    return Expected(graph, edges, kept + COMPARED * entries * (1 + 4 * weighted), True, False)


def _of_npz(source, options, undirected):
    try:
        with ZipFile(source.path) as archive:
            stored = sum(member.file_size for member in archive.infolist())
            kinds = {name.removesuffix(".npy"): _array_header(archive, name) for name in archive.namelist()}
            with archive.open("shape.npy") as file:
                vertices, second = map(int, np.load(file))
    except (BadZipFile, KeyError, RuntimeError):  # damaged, no graph, or encrypted
        return None
    if "data" in kinds:
        entries, kind = kinds["data"]
        return _matrix(vertices, entries, kind, READ["scipy"], (options, undirected, False))
    form = next((form for form in FORMS if {*form} <= {*kinds}), None)
    if form is None:
        return None
    count, directed = kinds[form[1]][0], bool(second) or bool(options.directed)
    weight = kinds["weights"][1] if "weights" in kinds and options.weight is not False else None
    rows = form[0] == "offsets"
    graph = _outline(vertices, count, weight, rows=rows, directed=directed)
    compared = COMPARED * count if rows and not directed else 0
    return Expected(graph, count if directed or not rows else count // 2, stored + compared, True, False)


def _array_header(archive, name):
    """Elements of an array of an archive, and their type."""
    with archive.open(name) as file:
        version = np.lib.format.read_magic(file)
        read = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        shape, _, kind = read(file)
    return prod(shape), kind


def _of_rows(source, options, undirected):
    """An edge list: the first rows, and the size of the file."""
    from edgewise.streams.ways import Elsewhere, Pairs, distinct_among

    sample = look(source)
    fields = sample.rows[1:] or sample.rows
    columns = (0, 1) if options.source is None else (int(options.source), int(options.target))
    ends = [row[column] for row in fields for column in columns if column < len(row)]
    if not ends:  # no edges, or no such columns
        return None
    rows, ids, later = source.number_of_lines(), {*ends}, later_fields(source, sample, columns)
    distinct = distinct_among(len(ids), len(ends), 2 * rows, Elsewhere(len(later), len(ids & later)))
    strings = options.ids == "string" or not are_integers(ends[:2])
    length = sum(map(len, ends)) / len(ends)
    kind = "strings" if strings else "sparse"
    pairs = Pairs(rows, kind, distinct, 0, length, False, int(source.text_bytes()))
    weighted = options.weight is not False and (options.weight is not None or len(fields[0]) == 3)
    return _of_pairs(pairs, weighted, bool(options.directed))


def _of_tables(files, reading, options):
    pairs = pairs_in(files, {name: one for name, one in reading.items() if name != "weight"}, None)
    by_default = pairs.weights and options.source is None
    weighted = by_default if options.weight is None else options.weight is not False
    return _of_pairs(pairs, weighted, bool(options.directed))


def _of_pairs(pairs, weighted, directed):
    from edgewise.streams import ways

    width = pairs.length + WEIGHT + OF_NAME if pairs.ids == "strings" else WEIGHT
    ids = _ids(pairs.distinct, width)
    graph = _outline(pairs.distinct, pairs.rows, float if weighted else None, directed=directed, ids=ids)
    whole, *_ = ways.ways_of(pairs, weighted)
    base = ways.WITHOUT_KERNELS if pairs.rows < ways.FEW else ways.BASE + ways.OF_TABLES
    return Expected(graph, pairs.rows, whole.bytes - base, pairs.exact)


#: Formats that say how large the graph is, or of which that is estimated here.
HEADERS = {
    "dimacs": _of_dimacs,
    "el": _of_rows,
    "gap": _of_gap,
    "metis": _of_metis,
    "mtx": _of_mtx,
    "npz": _of_npz,
}


def _show(known, need, most, json):
    """Print what a job needs."""
    fits = _fits(need, most)
    graph, about = known.graph, "" if known.exact else "about "
    if json:
        facts = {"vertices": graph.n_vertices, "edges": known.edges, "exact": known.exact}
        facts |= {"method": need.method, "reading_bytes": need.reading, "bytes": need.bytes, "fits": fits}
        report.as_json(facts | {"memory_limit": most._asdict() | {"source": source_of(most)}})
        return
    words = {"vertices": f"{about}{graph.n_vertices:,}", "edges": f"{about}{known.edges:,}"}
    words["reading"] = memory.in_words(need.reading)
    if need.method is not None:
        words[need.method] = memory.in_words(need.call)
    words["memory limit"] = f"{memory.in_words(most.bytes)} ({source_of(most)})"
    report.lines(words | {"so": "the job fits" if fits else "the job is refused"})
