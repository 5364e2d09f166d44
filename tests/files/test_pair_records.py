"""Records of other tools: the scored pairs of dedupe, and the duplicates of datatrove."""

import gzip
import struct

import numpy as np
import pytest

import edgewise as ew
from edgewise.command import run
from edgewise.errors import FileError, GraphError, OptionError
from edgewise.files import typed_tables as pair_records
from edgewise.ingest import frames

SENTINEL = 2**32 - 1


def scored(ids, scores=(0.9, 0.4, 0.8)):
    """Pairs with scores, of the type that dedupe has for such ids."""
    id_type = (str, 256) if isinstance(ids[0][0], str) else int
    array = np.empty(len(ids), [("pairs", id_type, 2), ("score", "f4")])
    array["pairs"], array["score"] = ids, scores
    return array


PAIRS = {
    "integers": [(7, 9), (9, -2), (2**62, 7)],
    "strings": [("a", "b"), ("b", ""), ("Größe", "a")],
}


def edges(graph):
    return list(zip(*(graph.ids_of(ends).tolist() for ends in (graph.sources, graph.targets)), strict=True))


@pytest.mark.parametrize("ids", PAIRS.values(), ids=PAIRS)
def test_scored_pairs_of_dedupe(tmp_path, monkeypatch, ids):
    monkeypatch.setattr(frames, "BATCH_RECORDS", 2)
    array, path = scored(ids), tmp_path / "scored.npy"
    np.save(path, array)
    for graph in ew.Graph.from_frame(array), ew.Graph.from_frame(np.load(path, mmap_mode="r")), ew.read(path):
        assert edges(graph) == ids
        assert (graph.assumed_weights, graph.weights.tolist()) == ("score", array["score"].tolist())
    for read in ew.read, lambda _, **given: ew.Graph.from_frame(array, **given):
        assert edges(read(path, threshold=0.5)) == [ids[0], ids[2]]
        assert edges(read(path, where="score < 0.85", weight=False)) == ids[1:]
    assert edges(ew.read([path, path])) == [*ids, *ids]
    for options in {}, {"threshold": 0.5}, {"source": "target", "target": "source"}:
        streamed = ew.stream_components(path, **options).to_frame()
        assert streamed == ew.connected_components(ew.read(path, **options)).to_frame()


def test_other_records(tmp_path):
    array = np.array([(1, 2, b"x", True), (2, 3, b"y", False)], "i4, >u2, S1, ?")
    array.dtype.names = ("id1", "id2", "kind", "sure")
    np.save(tmp_path / "a", array)
    for graph in ew.Graph.from_frame(array.view(np.recarray)), ew.read(tmp_path / "a.npy"):
        assert (edges(graph), graph.assumed_columns) == ([(1, 2), (2, 3)], ("id1", "id2"))
    assert edges(ew.read(tmp_path / "a.npy", where="sure == True")) == [(1, 2)]
    np.save(tmp_path / "none", scored([(1, 2)], [0.5])[:0])
    assert ew.read(tmp_path / "none.npy").n_edges == 0
    assert ew.stream_components(tmp_path / "none.npy").count == 0


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (
            np.zeros((4, 2), np.int64),
            "an array of int64 has no columns; give its columns to Graph.from_edges",
        ),
        (np.zeros((2, 2), "i8, i8"), "the array has 2 dimensions; give one record for each pair"),
        (np.zeros(2, [("pairs", "i8", 3)]), r"the field 'pairs' has the shape \(3,\) in each record; only"),
        (np.zeros(2, [("pairs", "c16", 2)]), "the field 'pairs' holds complex128; convert it"),
        (
            np.zeros(2, [("pairs", "f8", 2)]),
            "column 'source' holds double .float, DOUBLE.; ids are",
        ),
        (np.zeros(2, [("a", "i8"), ("b", "M8[s]")]), r"the field 'b' holds datetime64\[s\]; convert it"),
    ],
)
def test_arrays_that_are_no_pairs(tmp_path, array, message):
    path = tmp_path / "a.npy"
    np.save(path, array)
    for read in ew.read, ew.stream_components:
        with pytest.raises(FileError, match=f"a.npy: {message}"):
            read(path)
    if array.dtype.names:
        with pytest.raises(GraphError, match=message):
            ew.Graph.from_frame(array)


def test_damaged_arrays(tmp_path):
    whole, path = tmp_path / "whole.npy", tmp_path / "a.npy"
    np.save(whole, scored(PAIRS["integers"]))
    content = whole.read_bytes()
    np.save(whole, np.array([{}]), allow_pickle=True)
    damaged = [content[:-1], content[:20], content[:8] + b"\xff\xff" + content[10:]]
    for part in *damaged, content.replace(b"{", b"("), whole.read_bytes():
        path.write_bytes(part)
        for read in ew.read, ew.stream_components:
            with pytest.raises(FileError, match=r"a.npy: is cut off, damaged or no array .* with numpy.save"):
                read(path)
    with pytest.raises(OptionError, match="sep= means nothing for a table"):
        ew.read(path, sep=";")
    masked = np.ma.masked_array(scored(PAIRS["integers"]))
    with pytest.raises(GraphError, match="MaskedArray is no table"):
        ew.Graph.from_frame(masked)


def dups(folder, *records, name="00000_00.dups"):
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_bytes(b"".join(struct.pack("<4I", *record) for record in records))
    return path


def number(file, document):
    return file * 2**32 + document


def test_duplicates_of_datatrove(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(pair_records, "BATCH_RECORDS", 2)
    folder = tmp_path / "dups"
    first = dups(folder, (0x8B1F, 3, 1, 4), (1, 4, 2, 0), (0, 5, 0, 6))  # begins as gzip does
    dups(folder, (SENTINEL, SENTINEL, 7, 8), name="00001_00.dups")  # begins as an Arrow stream does
    dups(folder, name="00002_00.dups")
    assert edges(ew.read(first)) == [
        (number(0x8B1F, 3), number(1, 4)),
        (number(1, 4), number(2, 0)),
        (number(0, 5), number(0, 6)),
    ]
    graph = ew.read(folder)
    assert graph.ids.tolist() == sorted(
        [-1, *(number(*one) for one in [(0x8B1F, 3), (1, 4), (2, 0), (0, 5), (0, 6), (7, 8)])]
    )
    assert ew.connected_components(graph).count == 3
    assert -1 not in ew.read(folder, where="source >= 0").ids
    for path in first, folder, str(folder / "*.dups"):
        expected = ew.connected_components(ew.read(path)).to_frame()
        assert ew.stream_components(path).to_frame() == expected
    assert run(["components", str(folder), "--stream", "-o", str(tmp_path / "clusters.parquet")]) == 0
    assert ew.read(dups(tmp_path, name="empty.dups")).n_vertices == 0


def test_duplicates_that_are_cut_off(tmp_path):
    path = dups(tmp_path / "a", (0, 1, 0, 2), (0, 1, 0, 3))
    path.write_bytes(path.read_bytes()[:-3])
    for read in ew.read, ew.stream_components:
        with pytest.raises(FileError, match="dups: has 29 bytes, and a record has 16; the file is cut off"):
            read(path.parent)

    whole = dups(tmp_path / "b", (0, 1, 0, 2))
    (whole.parent / "1.dups.gz").write_bytes(gzip.compress(whole.read_bytes()))
    for read in ew.read, ew.stream_components:
        with pytest.raises(FileError, match=r"1\.dups\.gz: is compressed with gzip; decompress it"):
            read(whole.parent)
    other = tmp_path / "pairs.bin"
    other.write_bytes(path.read_bytes()[:16])
    with pytest.raises(FileError, match=r"pairs.bin: does not end in \.dups, by which such a file is known"):
        ew.read(other, format="dups")
    with pytest.raises(FileError, match="is dups"):
        ew.read(path, format="csv")
    with pytest.raises(OptionError, match="header= means nothing for a table"):
        ew.read(dups(tmp_path, (0, 1, 0, 2)), header=True)
