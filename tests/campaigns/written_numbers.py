"""Odd weights, written in every format and read again: equal, or refused before anything is written.

``python tests/campaigns/written_numbers.py --cases 20000 --seed 1 --processes 16``

In each case a small random graph has weights that are hard to write (huge, tiny, subnormal, negative zero,
NaN, infinite, whole floats, the limits of integers) and is written in one format.  What the format cannot
hold must be refused, with nothing left in the folder, and nothing else may be.  What was written is read by
every reader that can: edges and weights must be those of the graph, float32 within text as the nearest number
of that type.  Child processes run batches of cases under a watchdog.  The last line is one of JSON.
"""

import io
import math
import random
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[0] = str(ROOT)

from tests.campaigns import batches  # noqa: E402

#: Suffixes, by what is written: ids or numbers of vertices, and as text or not.
TABLES = (".csv", ".tsv", ".jsonl", ".parquet", ".arrow")
LISTS = (".txt", ".el", ".wel", ".txt.gz")
NUMBERED = (".mtx", ".graph", ".gr", ".sg", ".wsg", ".mtx.xz", ".gr.bz2")
OTHERS = (".npz", "/")
SUFFIXES = (*TABLES, *LISTS, *NUMBERED, *OTHERS)
#: Least and largest weight of formats of whole numbers, by the suffix before one of a compression.
LIMITS = {".graph": (0, 2**63 - 1), ".gr": (-(2**63), 2**63 - 1), ".wsg": (-(2**31), 2**31 - 1)}
FLOATS = (
    *(0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1e-300, 0.1, 1 / 3, 0.5, 1.0, 3.0, -7.0, 1e15),
    *(2.0**31, 2.0**53, 2.0**53 + 2, 2.0**62, 2.0**63 - 1024, 2.0**63, -(2.0**63), 2.0**64, 1e19, 1e22, 1e23),
    *(1.7976931348623157e308, -1e300, math.inf, -math.inf, math.nan),
)
WHOLE = (0, 1, -1, 7, 2**31 - 1, -(2**31), 2**31, 2**53 + 1, -(2**53) - 1, 2**62, 2**63 - 1, -(2**63))
USUAL = (1.0, 2.0, 3.0, 250.0)


def weights_of(draw, count):
    """Weights of a random kind, as a list or an array; ``None`` for none."""
    kind = draw.choice(("none", "int64", "int32", "float64", "float32", "whole", "bits", "usual", "uint64"))
    if kind == "none":
        return None
    if kind in ("int64", "int32", "uint64"):
        limits = np.iinfo(kind)
        fitting = [value for value in (*WHOLE, limits.max) if limits.min <= value <= limits.max]
        values = [draw.choice([*fitting, draw.randint(limits.min, limits.max)]) for _ in range(count)]
        return np.array(values, kind)
    if kind == "bits":
        return np.frombuffer(draw.randbytes(8 * count), np.float64)
    pool = {"whole": [float(value) for value in WHOLE], "usual": USUAL}.get(kind, FLOATS)
    values = [draw.choice(pool) for _ in range(count)]
    if draw.random() < 0.5:  # one odd number among usual ones
        values = [draw.choice(USUAL) for _ in values]
        values[draw.randrange(count)] = draw.choice(pool)
    with np.errstate(over="ignore"):
        return np.array(values, np.float32 if kind == "float32" else np.float64)


def graph_of(draw):
    """A random graph; an error of edgewise if its weights fit no graph."""
    import edgewise as ew

    n, count, directed = draw.randint(1, 7), draw.randint(1, 9), draw.random() < 0.4
    sources, targets = ([draw.randrange(n) for _ in range(count)] for _ in range(2))
    if draw.random() < 0.5:  # for METIS
        pairs = [(a, b) for a, b in zip(sources, targets, strict=True) if a != b] or [(0, 1)]
        n, sources, targets = max(n, 2), [a for a, _ in pairs], [b for _, b in pairs]
    weights = weights_of(draw, len(sources))
    ids = draw.choice((None, "numbers", "large", "names"))
    edges = ew.Graph.from_edges(sources, targets, weights=weights, n_vertices=n, directed=directed)
    names = {
        None: None,
        "numbers": np.arange(n) * 3 + 1,
        "large": np.array([2**62 + number for number in range(n)]),
        "names": [f"v{number}" for number in range(n)],
    }[ids]
    of_vertices = None
    if draw.random() < 0.2:
        of_vertices = np.resize(weights_of(draw, n) if draw.random() < 0.5 else np.arange(n), n)
        of_vertices = np.arange(n) if of_vertices.dtype == object else of_vertices
    given = {"directed": directed, "ids": names, "vertex_weights": of_vertices}
    return ew.Graph.from_csr(edges.offsets, edges.neighbours, weights=edges.csr_weights, **given)


def holds(graph, suffix):
    """Whether a format can hold a graph."""
    kind = suffix.partition(".gz")[0].partition(".xz")[0].partition(".bz2")[0]
    if kind == ".wsg" and graph.weights is None:
        return False
    if kind == ".graph" and (graph.directed or (graph.sources == graph.targets).any()):
        return False
    given = [graph.weights, graph.vertex_weights if kind == ".graph" else None]
    return all(values is None or kind not in LIMITS or fits(values, *LIMITS[kind]) for values in given)


def fits(values, least, most):
    """Whether all values are whole, and within limits; by Python's integers."""
    plain = values.tolist()
    return all(math.isfinite(value) and int(value) == value and least <= value <= most for value in plain)


def edges_of(graph, ids, weights):
    """The edges with their weights, in an order that does not depend on how they are stored."""
    rows = []
    for source, target, weight in zip(graph.sources.tolist(), graph.targets.tolist(), weights, strict=True):
        ends = [str(ids[source]), str(ids[target])]
        rows.append((*(ends if graph.directed else sorted(ends)), weight))
    return sorted(rows)


def words(weights, count, kind):
    """Weights as words that are equal where the numbers are: NaN is one number, and so are 3 and 3.0."""
    if weights is None:
        return [""] * count
    with np.errstate(over="ignore"):
        plain = weights.astype(np.float32).tolist() if kind == np.float32 else weights.tolist()
    return [
        "nan"
        if value != value
        else str(int(value))
        if value == value // 1 and math.isfinite(value)
        else repr(value)
        for value in plain
    ]


def read_back(path, suffix, graph):
    """The graphs that readers make of a file, by the name of the reader."""
    import edgewise as ew

    given = {"directed": graph.directed}
    yield "file", ew.read(path, **given)
    if suffix == "/":
        return
    content = Path(path).read_bytes()
    stream = io.BytesIO(content)
    stream.name = Path(path).name
    yield "stream", ew.read(stream, **given)
    if suffix in TABLES:
        yield "several", ew.read([path], source="source", target="target", **weight_named(graph), **given)
        yield "condition", ew.read(path, where="source IS NOT NULL", **given)
    if suffix in (".csv", ".tsv", ".txt", ".el"):
        marked = path.replace("a.", "b.")
        Path(marked).write_bytes(b"\xef\xbb\xbf" + content)
        yield "byte order mark", ew.read(marked, **given)
        Path(marked).write_text(content.decode(), "utf-16")
        yield "utf-16", ew.read(marked, **given)
    if suffix in (".csv", ".tsv") and graph.weights is not None:
        Path(marked).write_text(content.decode().replace(",", ";").replace(".", ","))
        yield "decimal comma", ew.read(marked, decimal=",", **given)


def weight_named(graph):
    return {"weight": False if graph.weights is None else "weight"}


def check(graph, suffix, folder):
    """Write and read a graph; return the outcome, and what tells more of it."""
    import edgewise as ew
    from edgewise.errors import EdgewiseError

    path = f"{folder}/a{suffix}"
    try:
        ew.write(graph, path)
    except EdgewiseError as error:
        if list(Path(folder).iterdir()):
            return "left behind", str(error)
        return ("needless refusal" if holds(graph, suffix) else "refused"), str(error)
    if not holds(graph, suffix):
        return "wrong", "written, though the format cannot hold it"
    ids = graph.ids.tolist() if graph.ids is not None else list(range(graph.n_vertices))
    if suffix in NUMBERED:
        ids = [number + ("sg" not in suffix) for number in range(graph.n_vertices)]
    weights = None if suffix == ".sg" else graph.weights
    kind = None if weights is None else weights.dtype
    if weights is None and suffix.startswith(".gr") and not suffix.startswith(".graph"):
        weights = np.ones(graph.n_edges, np.int64)
    wanted = edges_of(graph, ids, words(weights, graph.n_edges, kind))
    try:
        for reader, back in read_back(path, suffix, graph):
            names = back.ids.tolist() if back.ids is not None else list(range(back.n_vertices))
            found = edges_of(back, names, words(back.weights, back.n_edges, kind))
            if found != wanted:
                return "wrong", f"by {reader}: {found} for {wanted}"
            if suffix in NUMBERED and back.n_vertices != graph.n_vertices:
                return "wrong", f"by {reader}: {back.n_vertices} vertices for {graph.n_vertices}"
    except EdgewiseError as error:
        return "unread", str(error)
    return "equal", ""


def run(number, seed):
    """Run one case; return its outcome."""
    from edgewise.errors import EdgewiseError

    draw = random.Random(f"{seed} {number}")
    suffix = draw.choice(SUFFIXES)
    try:
        graph = graph_of(draw)
    except EdgewiseError as error:  # weights of uint64 that no graph holds
        return [["refused by the graph", suffix, str(error)]]
    try:
        with tempfile.TemporaryDirectory() as folder:
            outcome, what = check(graph, suffix, folder)
    except Exception as error:  # a fault of edgewise, whatever it is
        outcome, what = "error", f"{type(error).__name__}: {error}"
    return [[outcome, suffix, what]]


#: Outcomes that are right.
RIGHT = {"equal", "refused", "refused by the graph"}


def main(arguments=None):
    """Run the cases; return the counts by outcome."""
    return batches.main(__file__, run, RIGHT, arguments)


if __name__ == "__main__":
    sys.exit(not set(main()) <= RIGHT)
