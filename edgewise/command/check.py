"""``edgewise check``: a graph and a result of any program in, one line that says whether it is right out.

A result is a certificate, or a table, whose proof is made first.  Tables have a row for each vertex, with its
id, except for a forest, which has a row for each edge, with the ids of its ends.
"""

from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import is_zipfile

import numpy as np

import edgewise
from edgewise.certificates import CHECKERS, Certificate
from edgewise.certificates import check as check_certificate
from edgewise.command import options, report
from edgewise.command.cluster_options import id_of
from edgewise.command.outputs import check_writable
from edgewise.command.stages import stages
from edgewise.errors import FileError, OptionError, one_of
from edgewise.files.inputs import name_of
from edgewise.files.records import records_of
from edgewise.partitions.result import is_plain, read_parts
from edgewise.result import edge_arrays, errors_with_ids


class About(NamedTuple):
    """What a table alone does not say."""

    maximum: options.option(
        bool, "A forest has the heaviest edges, or the lightest.", "--maximum/--minimum"
    ) = False
    id_column: options.option(str, "Column of the ids in the table.", "--id", metavar="COLUMN") = None
    column: options.option(str, "Column of the values in the table.", metavar="NAME") = None
    start: options.option(str, "Vertex that distances are from.", metavar="ID") = None
    length: options.option(int, "Length of the cycles that are counted.", metavar="N") = None


class Kind(NamedTuple):
    """How tables of a problem are read.

    Attributes
    ----------
    room : str
        Package whose page ``certificate`` has ``prove``.
    columns : tuple of str
        Names that the column of the values may have, the usual one first.
    reading : dict
        How the graph is read unless options say otherwise.
    may_miss : bool
        Whether vertices may have no row, because they are not reached.
    """

    room: str
    columns: tuple[str, ...]
    reading: dict[str, Any]
    may_miss: bool = False


KINDS = {
    "components": Kind("components", ("component", "cluster", "label"), {"weight": False}),
    "strong": Kind("strong", ("component", "cluster", "label"), {"weight": False, "directed": True}),
    "cores": Kind("cores", ("core", "core_number", "coreness"), {"weight": False}),
    "forest": Kind("forest", ("source", "target"), {"weight": True}),
    "distances": Kind("paths", ("distance",), {}, may_miss=True),
    "partition": Kind("partitions", ("part",), {}),
    "cycles": Kind("cycles", ("cycles", "count"), {"weight": False}),
}
Problem = options.names_of("Problem", KINDS)


@options.subcommand(
    "certificates.md",
    "edgewise check pairs.parquet clusters.npz",
    "edgewise check pairs.csv labels.csv --problem components",
    "edgewise check roads.csv forest.csv --problem forest --weight km",
    leave_out=("profile",),
)
def check(
    graph: options.Input,
    result: options.argument(str, "RESULT", "Certificate (.npz), or a table of any program."),
    reading,
    shown: options.Shown,
    about: About,
    problem: options.option(
        Problem, "Problem that a table is the result of.", metavar="|".join(KINDS)
    ) = None,
    certificate: options.option(Path, "File (.npz) for the proof of a table.", metavar="FILE") = None,
):
    """Read a graph and a result of any program, and check the result without solving again."""
    if certificate is not None:
        check_writable(certificate, [graph, result])
    held = Certificate.load(result) if result.endswith(".npz") or is_zipfile(result) else None
    name = held.problem if held is not None else problem and str(problem)
    if problem not in (None, name):
        raise OptionError(f"{name_of(result)} is of the problem {name}; leave out --problem {problem}")
    if name is None:
        raise OptionError(f"a table does not say what it is the result of; add --problem {'|'.join(KINDS)}")
    if name not in CHECKERS:
        raise FileError(result, f"is of the problem {name!r}, which is unknown; {one_of(name, CHECKERS)}")
    reading = (KINDS[name].reading if name in KINDS else {}) | reading
    with stages(shown.quiet or shown.json) as (stage, clock):
        with stage("read", f"reading {name_of(graph)}") as progress:
            read = edgewise.read(graph, progress=progress, **reading)
        if held is None:
            with stage("prove", f"proving {name_of(result)}"):
                held = proved(read, result, name, about)
                if certificate is not None:
                    held.save(certificate)
        with stage("check", "checking every edge"), errors_with_ids(read):
            check_certificate(edge_arrays(read), held)
    if shown.json:
        facts = {"vertices": read.n_vertices, "edges": read.n_edges, "problem": name, "right": True}
        report.as_json(facts | {"bytes": held.nbytes})
    elif not shown.quiet:
        report.say(f"{report.graph_in_words(read)}: the result is right ({name}); {report.times(clock)}")


def proved(graph, path, name, about) -> Certificate:
    """The certificate of a table."""
    kind = KINDS[name]
    page = import_module(f"edgewise.{kind.room}.certificate")
    if name == "forest":
        pairs = edgewise.read(path, weight=False)
        ends = (graph.vertices_of(pairs.ids_of(ends)) for ends in (pairs.sources, pairs.targets))
        edges = page.edges_between(graph, *ends, maximum=about.maximum)
        return page.prove(graph, edges, maximum=about.maximum, by_position=False)
    if name == "partition" and is_plain(path):
        return page.prove(graph, read_parts(path, graph))
    ids, values = _columns(path, kind, about)
    if name in ("components", "strong"):
        labels = np.unique(values.to_numpy(zero_copy_only=False), return_inverse=True)[1]
        return page.prove(graph, _by_vertex(graph, path, kind, ids, labels), canonical=False)
    found = _by_vertex(graph, path, kind, ids, _numbers(path, kind, values))
    if name == "cycles":
        if about.length is None:
            raise OptionError("counts do not say how long the cycles are; add --length")
        return page.prove(graph, found, about.length)
    if name == "distances":
        if about.start is None:
            raise OptionError("distances do not say where they begin; add --start")
        start = graph.vertices_of([id_of(graph, about.start)])
        return page.prove(graph, found, start, weighted=graph.is_weighted)
    return page.prove(graph, found)


def _columns(path, kind, about):
    """The ids and the values of a table."""
    import pyarrow as pa

    records = records_of(path, about.id_column)
    wanted = kind.columns if about.column is None else (about.column,)
    column = next((name for name in wanted if name in records.schema.names), None)
    if column is None:
        raise FileError(path, f"has no column {' or '.join(map(repr, wanted))}; name one with --column")
    table = pa.Table.from_batches(records.batches([records.id_column, column]))
    ids, values = (one.combine_chunks() for one in table.columns)
    if values.null_count:
        raise FileError(path, f"has empty cells in column {column!r}; every row needs a value")
    return ids, values


def _numbers(path, kind, values):
    """Values as numbers, which tables of text hold as text."""
    import pyarrow as pa

    for wanted in (pa.int64(), pa.float64()):
        try:
            return values.cast(wanted).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid:
            continue
    raise FileError(
        path, f"has values that are no numbers in the column of a {kind.columns[0]}; correct them"
    )


def _by_vertex(graph, path, kind, ids, values):
    """The values in the order of the vertices, of which each has one."""
    vertices = graph.vertices_of(ids)
    counts = np.bincount(vertices, minlength=graph.n_vertices)
    wrong = counts > 1 if kind.may_miss else counts != 1
    if wrong.any():
        vertex = int(wrong.argmax())
        (shown,) = graph.ids_of(np.array([vertex])).tolist()
        raise FileError(path, f"has {counts[vertex]} rows for vertex {shown!r}; every vertex needs one")
    missing = np.inf if values.dtype.kind == "f" else np.iinfo(values.dtype).max
    found = np.full(graph.n_vertices, missing, values.dtype)
    found[vertices] = values
    return found
