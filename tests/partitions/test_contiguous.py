"""Contiguous parts: every part is connected, and the balance holds where it can."""

import warnings

import numpy as np
import pytest

import edgewise as ew
from edgewise.device.target import INTERPRETED
from edgewise.errors import GraphError, ImbalanceWarning, OptionError
from edgewise.partitions import partition
from edgewise.partitions.contiguous import make_contiguous
from edgewise.partitions.input import level_of
from tests.zoo import ZOO

pytestmark = [pytest.mark.interpreter]


def pieces(graph, parts):
    """Number of components of each part, by plain Python."""
    beside = {vertex: [] for vertex in range(graph.n_vertices)}
    for one, other in zip(graph.sources.tolist(), graph.targets.tolist()):
        if parts[one] == parts[other]:
            beside[one].append(other)
            beside[other].append(one)
    counts, seen = {}, set()
    for start in beside:
        if start not in seen:
            counts[parts[start]] = counts.get(parts[start], 0) + 1
            stack = [start]
            while stack:
                vertex = stack.pop()
                if vertex not in seen:
                    seen.add(vertex)
                    stack += beside[vertex]
    return counts


def mended(graph, parts, slack):
    """Contiguous parts made of others, and whether they are balanced."""
    sizes = np.ones(graph.n_vertices, np.int64)
    level = level_of(graph, sizes, None)[0]
    limits = np.full(max(parts) + 1, -(-graph.n_vertices // (max(parts) + 1)) + slack, np.int64)
    found = make_contiguous(level, np.array(parts, np.uint32), limits).tolist()
    return found, bool((np.bincount(found, minlength=len(limits)) <= limits).all())


def test_pieces_join_the_parts_beside_them():
    """A path in three parts, of which two have a piece inside of another."""
    graph = ew.Graph.from_edges(np.arange(11), np.arange(1, 12))
    found, is_balanced = mended(graph, [0, 0, 0, 1, 0, 1, 1, 1, 2, 2, 2, 2], 1)
    assert set(pieces(graph, found).values()) == {1} and is_balanced and set(found) == {0, 1, 2}


@pytest.mark.parametrize("k", [2, 5, 9])
@pytest.mark.parametrize("seed", range(3))
def test_parts_at_random_become_contiguous(k, seed):
    """Also where the balance has to be repaired by passing single vertices on."""
    graph = ew.generate.grid(12, 12)
    parts = np.random.default_rng(seed).integers(0, k, 144)
    parts[:k] = np.arange(k)
    found, _ = mended(graph, parts.tolist(), 8)
    assert set(pieces(graph, found).values()) == {1} and len(set(found)) == k


def test_weight_is_passed_on():
    """The part at the end of a path is too heavy, the next one is full, and the last one has room."""
    graph = ew.Graph.from_edges(np.arange(29), np.arange(1, 30))
    found, is_balanced = mended(graph, [0] * 13 + [1] * 10 + [2] * 7, 0)
    assert is_balanced and set(pieces(graph, found).values()) == {1}


@pytest.mark.parametrize("shape", ZOO)
def test_zoo(shape):
    n, sources, targets = ZOO[shape]
    graph = ew.Graph.from_edges(sources, targets, n_vertices=n)
    is_connected = n == 0 or ew.connected_components(graph).count == 1
    for k in {1, 3, n - 1, n} - {-1, 0}:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ImbalanceWarning)
            if not is_connected:
                with pytest.raises(GraphError, match="components, so its parts cannot all be contiguous"):
                    partition(graph, k, contiguous=True)
                continue
            found = partition(graph, k, contiguous=True).verify()
        assert set(pieces(graph, found.parts.tolist()).values()) <= {1}
        assert k > n or found.weights.min() > 0
        assert (found.measures.components <= 1).all()


@pytest.mark.skipif(INTERPRETED, reason="takes long in the interpreter")
def test_a_mesh_is_balanced_and_contiguous():
    graph = ew.generate.grid(20, 20)
    for k in (7, 16):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = partition(graph, k, contiguous=True, imbalance=0.1)
        assert (found.measures.components == 1).all() and found.is_balanced


def test_a_star_cannot_be_balanced():
    graph = ew.Graph.from_edges(np.zeros(20, int), np.arange(1, 21))
    with pytest.warns(ImbalanceWarning, match="weighs 20, more than 11, as the parts are to be contig"):
        found = partition(graph, 2, contiguous=True, imbalance=0)
    assert sorted(found.weights.tolist()) == [1, 20]


def test_unknown_value():
    with pytest.raises(OptionError, match="contiguous='yes' must be True or False"):
        partition(ew.generate.grid(2, 2), 2, contiguous="yes")


def test_a_piece_may_fill_a_part():
    """Vertex 2 of part 0 is apart from its core, and has most edges to part 1, where it just finds room."""
    graph = ew.Graph.from_edges([0, 0, 2, 2, 3], [1, 3, 3, 4, 4], weights=[9, 1, 5, 1, 1], n_vertices=5)
    for room, expected in (2, [0, 0, 1, 1, 2]), (1, [0, 0, 2, 1, 2]):
        level = level_of(graph, np.ones(5, np.int64), None)[0]
        found = make_contiguous(level, np.array([0, 0, 0, 1, 2]), np.array([3, room, 9]))
        assert found.tolist() == expected
