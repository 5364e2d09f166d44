"""Other parsers' malformed, overflowing and odd files: each as EXPECT.tsv says, or better."""

import csv
import os
from pathlib import Path

import pytest

import edgewise as ew
from edgewise.errors import FileError

FOLDER = (
    Path(os.environ.get("EDGEWISE_TEST_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")
    / "bad-inputs"
)


def expectations():
    if not (FOLDER / "EXPECT.tsv").is_file():
        return [("absent", "absent")]
    with open(FOLDER / "EXPECT.tsv", newline="") as file:
        return [(row["file"], row["expected"]) for row in csv.DictReader(file, delimiter="\t")]


#: Files of which upstream expects nothing, or reads more than we do: line and part of the message.
REFUSED = {
    "mtx-fmm-permissive/README.md": (1, "11 columns"),
    "igraph-fuzz-seed/t1.el": (1, "8 columns"),
    "igraph-fuzz-seed/t2.el": (1, "4 columns"),
    "igraph-fuzz-seed/t3.el": (3, "2 columns expected"),
    "igraph-fuzz-seed/t4.el": (1, "4 columns"),
    "igraph-fuzz-seed/t5.el": (3, "'foo' is not an integer"),
    "igraph-fuzz-seed/graph1.ncol": (1, "a row without a weight"),
    **{f"igraph-fuzz-seed/wa{number}.graphml": (None, "is not a number") for number in (4, 5, 6, 7)},
}
#: Vertices and edges of the odd files that are accepted, as docs/files.md tells.
ACCEPTED = {
    "cugraph-odd/karate_mod.mtx": (37, 78),
    "cugraph-odd/karate_str.mtx": (34, 78),
    "cugraph-odd/negative-vertex-id.csv": (3, 3),
    "cugraph-odd/karate_s_loop.csv": (34, 160),
    "metis-mtkahypar/graph_empty_lines.graph": (15, 3),
    "metis-mtkahypar/graph_no_newline.graph": (7, 11),
    "metis-mtkahypar/unweighted_graph.graph": (8, 11),
    "igraph-fuzz-seed/simple.max": (6, 8),
    "mtx-fmm-permissive/permissive_lines_indented.mtx": (1, 1),
    "galois-convert/sample.csv": (4, 3),
    "galois-convert/with-comments.edgelist": (2, 1),
}


@pytest.mark.parametrize(("name", "expected"), expectations())
def test_each_file(data, name, expected):
    if name == "absent":
        pytest.skip("there is no EXPECT.tsv")
    if expected == "error" or name in REFUSED:
        line, part = REFUSED.get(name, (None, ""))
        with pytest.raises(FileError) as caught:
            ew.read(data / "bad-inputs" / name)
        message = str(caught.value)
        assert "\n" not in message
        assert name in message
        assert part in message
        assert line is None or caught.value.line == line
        return
    graph = ew.read(data / "bad-inputs" / name)
    if name in ACCEPTED:
        assert (graph.n_vertices, graph.n_edges) == ACCEPTED[name]


@pytest.mark.parametrize("name", ["graph1.ncol", *(f"wa{number}.graphml" for number in (4, 5, 6, 7))])
def test_files_whose_weights_are_refused_are_read_without_them(data, name):
    graph = ew.read(data / "bad-inputs" / "igraph-fuzz-seed" / name, weight=False)
    assert not graph.is_weighted and graph.n_edges > 2


def test_errors_name_the_line(data):
    lines = {
        "mtx-fmm-invalid/invalid_bad_value.mtx": 3,
        "mtx-fmm-invalid/invalid_indices_out_of_range_1.mtx": 5,
        "mtx-fmm-invalid/invalid_indices_out_of_range_6.mtx": 6,
        "mtx-fmm-invalid/invalid_matrix_coord_too_long.mtx": 7,
        "metis-mtkahypar/graph_too_few_edges.graph": 2,
        "metis-mtkahypar/graph_too_few_lines.graph": 3,
    }
    for name, line in lines.items():
        with pytest.raises(FileError) as caught:
            ew.read(data / "bad-inputs" / name)
        assert caught.value.line == line, name


def test_weights_of_metis(data):
    folder = data / "bad-inputs" / "metis-mtkahypar"
    both = ew.read(folder / "graph_with_node_and_edge_weights.graph")
    assert both.vertex_weights.tolist() == [4, 2, 5, 3, 1, 6, 2, 1]
    assert both.csr_weights[:3].tolist() == [1, 2, 1]
    assert both.degrees().tolist() == [3, 3, 4, 4, 3, 3, 2, 0]
    assert ew.read(folder / "graph_with_node_weights.graph").weights is None
    assert ew.read(folder / "graph_with_edge_weights.graph").vertex_weights is None
