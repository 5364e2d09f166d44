"""Small files of every format that is read: the seeds of the mutations.

A seed is a dictionary of file names and contents.  The first name is the path that is read; the others are
files that belong to it.  Families (a format, or a way of writing it) hold seeds that are alike.
"""

import bz2
import gzip
import io
import lzma
import os
from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import scipy.io
import scipy.sparse

import edgewise as ew
from edgewise.errors import EdgewiseError

SUFFIXES = ("el", "wel", "csv", "tsv", "parquet", "arrow", "mtx", "graph", "gr", "sg", "wsg", "npz")
#: Largest real file, decompressed, that serves as a seed.
MAX_BYTES = 1 << 16

BY_HAND = {
    "el": [
        "# c\n1 2 3\n2 3 0.5\n 7  1 2\n",
        "1 2\n2\t3\n\n% c\n5 5\n",
        "4 3\n0 1\n1 2\n2 3\n",
        "a b\nb c\nzoë a\n",
        "10 20\n20 30\n40\n50\n",
    ],
    "csv": [
        "from,to\n1,2\n2,3\n",
        'id_l,id_r,score\n"a,1",b,0.9\nb,"say ""x""",1\nc,d,\n',
        "a;b\nx;y\ny;z\n",
        "source,target,weight\n007,008,1\n008,9,2\n",
        "u,v\n1,\n2,3\n,4\n",
        "left_id;right_id;score\na;b;0,95\nb;c;0,40\n",
        'l,r,score\nx,y,"0,95"\ny,z,"0,5"\n',
    ],
    "tsv": [
        "a\tb\tw\n1\t2\tnan\n2\t3\t-inf\n",
        "from\tto\tw\n1\t2\t0.5\n2\t3\t1e3\n",
        "x\ty\na\tb\nb\tc d\n",
    ],
    "jsonl": ['{"a": "x", "b": "y"}\n{"a": "y", "b": "z"}\n', '{"source":1,"target":2,"w":0.5}\n' * 3],
    "mtx": [
        "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 0.5\n3 2 1e3\n",
        "%%MatrixMarket matrix coordinate pattern general\n% c\n4 4 3\n2 1\n3 2\n4 4\n",
        "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 2\n2 1 5\n3 1 -5\n",
        "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 1 0\n2 1 3 0\n",
        "%%MatrixMarket matrix array integer general\n2 2\n0\n1\n1\n0\n",
        "%%MatrixMarket matrix array real symmetric\n2 2\n0.5\n1\n2.5\n",
        f"%%MatrixMarket matrix coordinate integer general\n3 3 2\n2 1 {2**63 - 1}\n3 2 -{2**63}\n",
        "%%MatrixMarket matrix coordinate real general\n3 3 2\n2 1 nan\n3 2 -inf\n",
    ],
    "graph": [
        "3 2 011\n5 2 1\n4 1 1 3 7\n1 2 7\n",
        "% c\n4 3\n2 3\n1\n1 4\n3\n",
        "3 2 100\n1 2\n1 1 3\n9 2\n",
        "3 3 10 2\n1 1 2 3\n2 2 1 3\n3 3 1 2\n",
    ],
    "gr": ["c x\np sp 3 2\na 1 2 1\na 2 3 1\n", "p sp 3 4\na 1 2 7\na 2 1 7\na 2 3 1\na 3 2 1\n"],
    "max": ["c x\np max 3 2\nn 1 s\nn 3 t\na 1 2 1\na 2 3 1\n"],
    "col": ["p edge 4 3\ne 1 2\ne 2 3\ne 4 1\n"],
    "lg": ["t 3 2\nv 0 0 1\nv 1 0 2\nv 2 0 1\ne 0 1\ne 1 2\n", "t 2 1\nv 0 1 1\nv 1 0 1\ne 0 1 5\n"],
    "jlg": ["3,2,u\n1,2\n2,3\n", "4,3,d,name,Int64\n1,2\n2,3\n4,1\n"],
    "smat": ["3 3 2\n0 1 5\n1 2 -1\n", "3 3 4\n0 1 1\n1 0 1\n1 2 2\n2 1 2\n"],
    "tntp": [
        "<NUMBER OF NODES> 3\n<NUMBER OF LINKS> 2\n<END OF METADATA>\n~\ta\tb\tlength\t;\n"
        "\t1\t2\t5\t;\n\t2\t3\t0.5\t;\n"
    ],
    "ncol": ["a b 1\nb c 2\n", "1 2\n3 1\n", "x y 0.5\ny z 1e2\n# c\n"],
    "gml": [
        "graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 value 2 ] ]\n",
        'Creator "x"\ngraph [\n  directed 1\n  node [ id 7 label "a" ]\n  node [ id 9 ]\n'
        "  edge [ source 7 target 9 weight 0.5 ]\n  edge [ source 9 target 9 weight 1 ]\n]\n",
        'graph [ node [ id "é" ] node [ id "b" ] edge [ source "é" target "b" weight "2" ] ]\n',
    ],
    "graphml": [
        '<?xml version="1.0"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
        '<key id="k" for="edge" attr.name="weight" attr.type="double"/>\n<graph edgedefault="undirected">\n'
        '<node id="a"/><node id="b"/><node id="c"/>\n<edge source="a" target="b"><data key="k">0.5</data>'
        '</edge>\n<edge source="b" target="c"><data key="k">2</data></edge>\n</graph></graphml>\n',
        '<graphml><key id="k" attr.name="weight" attr.type="long"><default>3</default></key>\n'
        '<key id="t" for="all" attr.name="value" attr.type="boolean"><default>true</default></key>\n'
        '<graph edgedefault="directed"><edge source="1" target="2"/>\n'
        '<edge source="2" target="5"><data key="k">7</data><data key="t">false</data></edge>\n'
        "</graph></graphml>\n",
    ],
}
PROPERTIES = "graph.a.directed = true\ngraph.a.vertex-file = a.v\n"


def pack(content: bytes, kind: str) -> bytes:
    """Compress content as a file with the suffix ``kind``; the same bytes at every call."""
    if kind == "gz":
        return gzip.compress(content, mtime=0)
    if kind == "zst":
        return pa.Codec("zstd").compress(content).to_pybytes()
    return {"bz2": bz2.compress, "xz": lzma.compress}[kind](content)


def graphs() -> dict:
    """Graphs that are written to every format that can hold them."""
    draw = np.random.default_rng(5)
    sources, targets = draw.integers(0, 14, (2, 20))
    weights = draw.integers(1, 9, 20)
    names = np.array([f"v{number}" if number % 3 else f"é {number}" for number in range(14)], object)
    both = ew.Graph.from_edges(sources, targets, weights=weights, n_vertices=16)
    rows = ew.Graph.from_csr(both.offsets, both.neighbours, weights=both.csr_weights)
    return {
        "plain": ew.Graph.from_edges(sources, targets, n_vertices=16),
        "integers": both,
        "fractions": ew.Graph.from_edges(sources, targets, weights=weights / 4, n_vertices=16),
        "directed": ew.Graph.from_edges(sources, targets, weights=weights, n_vertices=16, directed=True),
        "names": ew.Graph.from_edges(names[sources], names[targets], weights=weights / 4),
        "gaps": ew.Graph.from_edges(sources * 10**9 - 5, targets * 10**9 - 5),
        "rows": rows,
        "none": ew.Graph.from_edges(sources[:0], targets[:0], n_vertices=3),
    }


def written(folder: Path) -> dict[str, list]:
    """Seeds by family that :func:`edgewise.write` makes."""
    families = defaultdict(list)
    for kind, graph in graphs().items():
        for suffix in SUFFIXES:
            path = folder / f"{kind}.{suffix}"
            try:
                ew.write(graph, path)
            except EdgewiseError:
                continue
            families[suffix].append({path.name: path.read_bytes()})
    return families


def tables() -> dict:
    """Tables of pairs whose ids are of every type that Arrow has for them."""
    left, right = ["a", "b", "c", "é", "", "a" * 20], ["b", "c", "a", "b", "d", "x"]
    numbers = [[1, 2, 3, 5, 5, 0], [2, 3, 1, 6, 7, 200]]
    made = {}
    for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary()):
        made[str(kind)] = [pa.array(side, kind) for side in (left, right)]
    for kind in (pa.int64(), pa.int8(), pa.int32(), pa.uint8(), pa.uint64()):
        made[str(kind)] = [
            pa.array(side if kind != pa.int8() else [1, 2, 3, 4, 5, 6], kind) for side in numbers
        ]
    made["dictionary"] = [pa.array(side).dictionary_encode() for side in (left, right)]
    made["fixed"] = [pa.array([b"%04d" % one for one in side], pa.binary(4)) for side in numbers]
    made["nulls"] = [pa.array([*left[:5], None]), pa.array([None, *right[1:]])]
    score = pa.array([0.5, 0.25, 1.0, 0.75, 0.9, 0.1])
    return {kind: pa.table({"l": a, "r": b, "score": score}) for kind, (a, b) in made.items()}


def _ipc(table, opened, **options):
    sink = io.BytesIO()
    with opened(sink, table.schema, **options) as writer:
        writer.write_table(table, max_chunksize=4)
    return sink.getvalue()


def _stored(write, *things, **options):
    sink = io.BytesIO()
    write(*things, sink, **options)
    return sink.getvalue()


def of_tables() -> dict[str, list]:
    """Seeds of Arrow files, streams, Feather and Parquet."""
    families = defaultdict(list)
    packed = pa.ipc.IpcWriteOptions(compression="lz4")
    for kind, table in tables().items():
        families["arrow file"].append({f"{kind}.arrow": _ipc(table, pa.ipc.new_file)})
        families["arrow stream"].append({f"{kind}.arrows": _ipc(table, pa.ipc.new_stream)})
        families["feather"].append({f"{kind}.feather": _ipc(table, pa.ipc.new_file, options=packed)})
        for number, options in enumerate(
            ({"compression": "none"}, {"use_dictionary": False, "row_group_size": 3}, {"version": "1.0"})
        ):
            try:
                content = _stored(pa.parquet.write_table, table, **options)
            except pa.ArrowException:  # a type that Parquet does not have
                continue
            families["parquet"].append({f"{kind}-{number}.parquet": content})
    return families


def of_scipy() -> dict[str, list]:
    """Seeds that SciPy writes."""
    families, graph = defaultdict(list), graphs()["integers"]
    for kind in ("csr", "csc", "coo", "bsr", "dia"):
        matrix = scipy.sparse.coo_array((graph.weights, (graph.sources, graph.targets)), (16, 16))
        matrix = (matrix + matrix.T).asformat(kind)
        for compressed in (True, False):
            content = _stored(
                lambda *a, **k: scipy.sparse.save_npz(*reversed(a), **k), matrix, compressed=compressed
            )
            families["scipy npz"].append({f"{kind}.npz": content})
    dense = matrix.toarray()
    for thing in (matrix.tocoo(), matrix.tocoo() * 0.5, dense):
        families["scipy mtx"].append({"a.mtx": _stored(lambda m, f: scipy.io.mmwrite(f, m), thing)})
    return families


def of_hand() -> dict[str, list]:
    """Seeds written by hand, among them graphs of several files and compressed ones."""
    families = defaultdict(list)
    for suffix, texts in BY_HAND.items():
        families[f"{suffix} by hand"] += [{f"a.{suffix}": text.encode()} for text in texts]
    for kind in ("gz", "bz2", "xz", "zst"):
        for suffix in ("el", "csv", "mtx", "graph", "gml", "gr"):
            families[kind].append({f"a.{suffix}.{kind}": pack(BY_HAND[suffix][0].encode(), kind)})
    for encoding in ("utf-16", "utf-32", "utf-8-sig", "utf-16-le", "latin-1"):
        for suffix in ("csv", "tsv", "el", "jsonl", "mtx", "graph", "gr", "gml", "graphml"):
            text = "l;r;w\né;b;0,5\nb;ü;1,5\n" if suffix == "csv" else BY_HAND[suffix][0]
            families[f"text in {encoding}"].append({f"a.{suffix}": text.encode(encoding)})
    parts = {"a.v": b"1\n2\n5\n9\n", "a.e": b"1 2 0.5\n2 5 1\n", "a.properties": PROPERTIES.encode()}
    families["ldbc"] += [parts, {"a.e": parts["a.e"], "a.v": parts["a.v"]}]
    return families


def real(folder: Path) -> dict[str, list]:
    """Small real files, decompressed, and other parsers' odd ones."""
    families = defaultdict(list)
    for path in sorted(folder.rglob("*.*")):
        if path.suffix in (".md", ".tsv", ".json", ".out", ".v", ".properties"):
            continue
        names = [path, *(path.with_suffix(end) for end in (".v", ".properties") if path.suffix == ".e")]
        if any(one.stat().st_size > MAX_BYTES for one in names):
            continue
        files = {one.name.removesuffix(".gz"): _decompressed(one) for one in names}
        if max(map(len, files.values())) <= MAX_BYTES:
            families["odd" if "bad-inputs" in path.parts else "real"].append(files)
    return families


def _decompressed(path):
    content = path.read_bytes()
    return gzip.decompress(content) if path.suffix == ".gz" else content


def seed_files(folder: Path) -> dict[str, list]:
    """All seeds by family; ``folder`` is for temporary files."""
    shared = Path(__file__).resolve().parents[3] / "shared" / "data"
    shared = Path(os.environ.get("EDGEWISE_TEST_DATA") or shared)
    families = defaultdict(list)
    for made in (
        written(folder),
        of_tables(),
        of_scipy(),
        of_hand(),
        real(shared) if shared.is_dir() else {},
    ):
        for family, seeds in made.items():
            families[family] += seeds
    return families
