"""The content tells the format, whatever the name."""

import pytest

import edgewise as ew
from edgewise.files.formats import Options
from edgewise.files.sniffing import sniff
from edgewise.files.streams import Source

TEXTS = {
    "mtx": "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n",
    "metis": "% c\n4 4\n2 3 4\n1 3\n1 2\n1\n",
    "dimacs": "c comment\np sp 3 2\na 1 2 1\na 2 3 1\n",
    "vlg": "t 3 2\nv 0 0 1\nv 1 0 2\nv 2 0 1\ne 0 1\ne 1 2\n",
    "jlg": "3,2,u\n1,2\n2,3\n",
    "gml": 'Creator "me"\ngraph\n[\n node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 ]\n]\n',
    "graphml": '<graphml><graph edgedefault="undirected"><node id="a"/></graph></graphml>\n',
    "tntp": "<NUMBER OF NODES> 2\n<NUMBER OF LINKS> 1\n<END OF METADATA>\n~\ta\tb\tlength\t;\n\t1\t2\t5\t;\n",
    "el": "1 2\n2 3\n",
    "csv": "from,to\na,1\n",
}


@pytest.mark.parametrize("name", ["a", "a.txt", "a.parquet", "a.npz"])
@pytest.mark.parametrize("kind", TEXTS)
def test_by_content(tmp_path, kind, name):
    path = tmp_path / name
    path.write_text(TEXTS[kind])
    assert sniff(Source(path), Options()) == kind


@pytest.mark.parametrize("kind", sorted(set(TEXTS) - {"csv"}))
def test_what_is_sniffed_is_read(tmp_path, kind):
    path = tmp_path / "a"
    path.write_text(TEXTS[kind])
    assert ew.read(path).n_vertices > 0
    assert ew.read(path, weight=False).weights is None


def test_repeated_edges_of_gml(tmp_path):
    """Several edges between two nodes, as in Newman's celegansneural.gml."""
    path = tmp_path / "a.gml"
    edge = "edge\n  [\n    source 0\n    target 1\n    value {}\n  ]\n  "
    nodes = "node [ id 0 ] node [ id 1 ]"
    path.write_text(f"graph\n[\n  directed 1\n  {nodes}\n  {edge.format(3)}{edge.format(4)}]\n")
    assert ew.read(path).weights.tolist() == [3, 4]
    assert ew.read(path, repeated="sum").weights.tolist() == [7]


def test_ties_are_broken_by_the_suffix(tmp_path):
    for name, kind in {"a.txt": "el", "a.graph": "metis", "a.smat": "smat", "a.graph.gz": "metis"}.items():
        (tmp_path / name).write_text("4 4\n2 4\n1 3\n2 4\n1 3\n")
        assert sniff(Source(tmp_path / name), Options()) == kind


def test_tall_metis_is_told_from_its_beginning(tmp_path):
    import numpy as np

    random = np.random.default_rng(0)
    graph = ew.Graph.from_edges(*random.integers(0, 9000, (2, 40000)), n_vertices=9000, self_loops="drop")
    ew.write(graph, tmp_path / "a", format="metis")
    assert (tmp_path / "a").stat().st_size > 1 << 17
    assert sniff(Source(tmp_path / "a"), Options()) == "metis"
    assert ew.read(tmp_path / "a").n_edges == 40000 - int(40000 - graph.n_edges)
