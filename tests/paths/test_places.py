"""What lies within distances of places, and which are the nearest, beside a naive search from each."""

from dataclasses import replace

import numpy as np
import pytest

import edgewise as ew
from edgewise import plots
from edgewise.device.target import INTERPRETED
from edgewise.errors import GraphError, OptionError, OutOfMemoryError, VerificationError
from edgewise.paths.places import bounded_search, checks
from tests.paths.hierarchies import dijkstra

pytestmark = pytest.mark.interpreter

#: Random graphs; interpreted ones take longer.
GRAPHS = range(0, 1000, 100) if not INTERPRETED else range(0, 100, 100)
KINDS = ("int", "zero", "float", "unit")


def random_graph(seed):
    """A graph with ties, zero weights, self-loops and repeated edges, often disconnected, and its edges."""
    random = np.random.default_rng(seed)
    n, directed, kind = int(random.integers(1, 40)), bool(seed % 2), KINDS[seed // 2 % 4]
    m = int(random.integers(0, 3 * n))
    ends = random.integers(0, n, (2, m))
    weights = random.integers(0 if kind == "zero" else 1, 4 if kind == "zero" else 9, m)
    weights = weights / 4 if kind == "float" else weights
    if kind == "unit":
        weights = np.ones(m, np.int64)
    graph = ew.Graph.from_edges(*ends, weights=weights, n_vertices=n, directed=directed)
    graph = graph.without_weights() if kind == "unit" else graph
    return graph, list(zip(*ends.tolist(), weights.tolist())), random


def distances_between(graph, edges, place, direction):
    """Distances from a place or to it; None where no path leads."""
    edges = edges if direction == "from" else [(end, start, weight) for start, end, weight in edges]
    return dijkstra(graph.n_vertices, edges, place, graph.directed)


def expected_within(graph, edges, source, cutoff, direction):
    found = distances_between(graph, edges, source, direction)
    return {v: d for v, d in enumerate(found) if d is not None and d <= cutoff}


def expected_nearest(graph, edges, places, k, cutoff, direction):
    """The k nearest places of each vertex with their distances, by searches from all of them."""
    rows = {place: distances_between(graph, edges, place, direction) for place in places}
    labels = []
    for vertex in range(graph.n_vertices):
        near = sorted((row[vertex], place) for place, row in rows.items() if row[vertex] is not None)
        labels.append([label for label in near if label[0] <= cutoff][:k])
    return labels


@pytest.mark.parametrize("first", GRAPHS)
def test_isochrones_are_those_of_dijkstra(first):
    for seed in range(first, first + 100):
        graph, edges, random = random_graph(seed)
        n, direction = graph.n_vertices, ("from", "to")[seed // 8 % 2]
        sources = random.integers(0, n, int(random.integers(1, 5))).tolist()
        cutoffs = sorted(set(random.choice([0, 1, 2.5, 3, 7, 100, np.inf], 2).tolist()))
        found = ew.isochrones(graph, sources, cutoffs[::-1], direction=direction)
        sets = [expected_within(graph, edges, source, cutoffs[-1], direction) for source in sources]
        assert found.sources.tolist() == sources and found.cutoffs.tolist() == cutoffs
        for row, source in enumerate(sources):
            entries = slice(*found.offsets[row : row + 2])
            held = dict(zip(found.vertices[entries].tolist(), found.distances[entries].tolist()))
            assert held == sets[row] and list(held) == sorted(held), (seed, source)
            near = [sum(d <= cutoff for d in sets[row].values()) for cutoff in cutoffs]
            assert found.counts[row].tolist() == near
        found.verify()


@pytest.mark.parametrize("first", GRAPHS)
def test_the_nearest_are_those_of_dijkstra(first):
    for seed in range(first, first + 100):
        graph, edges, random = random_graph(seed)
        n, direction = graph.n_vertices, ("to", "from")[seed // 8 % 2]
        places = random.integers(0, n, int(random.integers(1, 8))).tolist()
        k, cutoff = int(random.integers(1, 5)), [None, 0, 2.5, 4][seed % 3]
        found = ew.nearest(graph, places, k, cutoff=cutoff, direction=direction)
        labels = expected_nearest(
            graph, edges, set(places), k, np.inf if cutoff is None else cutoff, direction
        )
        k = min(k, len(set(places)))
        assert found.nearest.shape == found.distances.shape == (n, k)
        for vertex in range(n):
            row = list(zip(found.distances[vertex].tolist(), found.nearest[vertex].tolist()))
            missing = k - len(labels[vertex])
            assert row == labels[vertex] + [(found.unreached, -1)] * missing, (seed, vertex)
        found.verify()
        areas = ew.isochrones(graph, places, cutoff or np.inf, nearest=True, direction=direction)
        first_ones = expected_nearest(graph, edges, set(places), 1, cutoff or np.inf, direction)
        owners = {int(v): int(areas.sources[row]) for v, row in zip(areas.vertices, areas._rows)}
        assert owners == {v: near[0][1] for v, near in enumerate(first_ones) if near}
        areas.verify()


def streets():
    """Five places on a street, with one-way ends."""
    ends = ["a", "b", "c", "e"], ["b", "c", "d", "d"]
    return ew.Graph.from_edges(*ends, weights=[2, 3, 4, 1], directed=True)


def test_tables_and_dicts():
    found = ew.isochrones(streets(), ["b", "a"], [2, 5.5])
    assert found.to_frame().to_pydict() == {
        "source": ["b", "b", "a", "a", "a"],
        "vertex": ["b", "c", "a", "b", "c"],
        "distance": [0, 3, 0, 2, 5],
        "cutoff": [2.0, 5.5, 2.0, 2.0, 5.5],
    }
    assert found.to_dict() == {"b": {"b": 0, "c": 3}, "a": {"a": 0, "b": 2, "c": 5}}
    assert found.to_dict("cutoff")["b"] == {"b": 2.0, "c": 5.5}
    assert found.within("a", 2).tolist() == ["a", "b"] and found.within("b").tolist() == ["b", "c"]
    assert found.totals([1, 2, 4, 8, 16]).tolist() == [[2, 6], [3, 7]]
    assert str(found).startswith("3 of 5 vertices at most 5.5 from 2 sources")
    near = ew.nearest(streets(), ["d", "b"], 2, of=["a", "e"])
    assert near.to_frame().to_pydict() == {
        "id": ["a", "a", "e"],
        "rank": [1, 2, 1],
        "place": ["b", "d", "d"],
        "distance": [2, 9, 1],
    }
    assert near.to_dict() == {"a": {"b": 2, "d": 9}, "e": {"d": 1}}
    assert str(near).startswith("the nearest 2 of 2 places for 2 of 2 vertices")
    assert near.verify() is near
    assert ew.nearest(streets(), "a", direction="from").to_dict()["d"] == {"a": 9}


def test_small_chunks_hold_the_same_sets(monkeypatch):
    graph = ew.generate.grid(30, dropped=0.2, seed=3)
    sources = np.arange(0, 900, 7)
    whole = ew.isochrones(graph, sources, [2, 9])
    monkeypatch.setattr(bounded_search, "CHUNK", 50)
    monkeypatch.setattr(bounded_search, "ALONE", 30)
    for threads in (1, None):
        parts = ew.isochrones(graph, sources, [2, 9], threads=threads)
        for name in ("offsets", "vertices", "distances", "counts"):
            assert (getattr(parts, name) == getattr(whole, name)).all()


def test_distances_that_pass_the_end_of_a_type():
    heavy = ew.Graph.from_edges([0, 1, 2], [1, 2, 3], weights=np.full(3, 2**30, np.int32))
    found = ew.isochrones(heavy, 0, np.inf)
    assert found.distances.tolist() == [0, 2**30, 2**31, 3 * 2**30] and found.distances.dtype == np.int64
    assert ew.isochrones(heavy, 0, 2**30).distances.dtype == np.int32
    assert ew.isochrones(heavy, 0, 2**31 - 2).distances.tolist() == [0, 2**30]
    near = ew.nearest(heavy, [0, 3], 2)
    assert near.distances.tolist() == [[0, 3 * 2**30], [2**30, 2**31], [2**30, 2**31], [0, 3 * 2**30]]
    assert ew.nearest(heavy, [0, 3], 1).distances.dtype == np.int32
    huge = ew.Graph.from_edges([0, 1], [1, 2], weights=np.full(2, 2**62))
    with pytest.raises(GraphError, match="a distance passes the largest number of int64"):
        ew.nearest(huge, 0)
    with pytest.raises(GraphError, match="a distance passes the largest number of int64"):
        ew.isochrones(huge, 0, np.inf)


def test_answers_without_room(monkeypatch):
    graph = ew.generate.grid(30, seed=3)
    assert ew.isochrones(graph, 0, [1, 10**30]).counts.tolist() == [[3, 900]]
    assert ew.nearest(graph, [0, 9], 10**30).verify().k == 2
    monkeypatch.setattr(checks.memory, "UNCHECKED_BYTES", 0)
    monkeypatch.setattr(checks.arrays, "free_memory", lambda device: 1000)
    with pytest.raises(OutOfMemoryError, match="for the 2 nearest of 900 vertices: "):
        ew.nearest(graph, [0, 9], 2)
    monkeypatch.setattr(bounded_search, "CHUNK", 50)
    with pytest.raises(OutOfMemoryError, match="within the cutoff of all sources: "):
        ew.isochrones(graph, np.arange(900), 9)


def test_infinite_weights_are_no_edges():
    graph = ew.Graph.from_edges([0, 1], [1, 2], weights=[1.0, np.inf])
    assert ew.isochrones(graph, 0, np.inf).verify().vertices.tolist() == [0, 1]
    assert ew.nearest(graph, 0).verify().nearest[:, 0].tolist() == [0, 0, -1]


REFUSED = {
    "isochrones(graph, [], 3)": "sources is empty; give the id of a vertex, or several",
    "isochrones(graph, [['a']], 3)": "sources is a table of ids",
    "isochrones(graph, 'z', 3)": "'z'",
    "isochrones(graph, 'a', [])": "cutoffs is empty; give a distance, or several",
    "isochrones(graph, 'a', -1)": "cutoff=-1 must be a number, 0 or more",
    "isochrones(graph, 'a', [1, 'x'])": "cutoff='x' must be a number, 0 or more",
    "isochrones(graph, 'a', float('nan'))": "cutoff=nan must be a number, 0 or more",
    "isochrones(graph, 'a', 3, direction='back')": "direction='back' is unknown; use one of from, to",
    "isochrones(negative, 0, 3)": "the edge from 1 to 2 weighs -1, and weights of 0 or more are needed",
    "nearest(graph, [])": "places is empty; give the id of a vertex, or several",
    "nearest(graph, 'a', 0)": "k=0 must be a whole number, 1 or more",
    "nearest(graph, 'a', 1.5)": "k=1.5 must be a whole number, 1 or more",
    "nearest(graph, 'a', of=[])": "of is empty",
    "nearest(graph, 'a', of='z')": "'z'",
    "nearest(graph, 'a', cutoff=-2)": "cutoff=-2 must be a number, 0 or more",
    "nearest(graph, 'a', direction='too')": "direction='too' is unknown; did you mean to",
    "nearest(negative, 0)": "the edge from 1 to 2 weighs -1",
    "nearest([1], 0)": "a Graph is needed, not list",
    "isochrones(graph, 'a', 3).within('d')": "'d' is not among the sources",
    "isochrones(graph, 'a', 3).within('a', 4)": "cutoff=4 is beyond the largest one, 3; search again",
    "isochrones(graph, 'a', 3).totals([1])": "values= are int64 of shape (1,); numbers (5,) are needed",
    "isochrones(graph, 'a', 3).plot('x.svg', [[0, 0]])": "coordinates= have shape (1, 2); (5, 2) is needed",
    "isochrones(graph, 'a', 3).to_dict('near')": "column='near' is unknown",
}


@pytest.mark.parametrize("call", REFUSED)
def test_what_is_refused(call):
    negative = ew.Graph.from_edges([0, 1], [1, 2], weights=[4, -1], directed=True)
    with pytest.raises((GraphError, OptionError)) as refused:
        eval(f"ew.{call}", {"ew": ew, "graph": streets(), "negative": negative})
    assert REFUSED[call] in str(refused.value) and "\n" not in str(refused.value)


def test_the_empty_graph_and_one_vertex():
    empty, one = (ew.Graph.from_edges([], [], n_vertices=n) for n in (0, 1))
    for call in (lambda: ew.nearest(empty, 0), lambda: ew.isochrones(empty, 0, 1)):
        with pytest.raises(GraphError):
            call()
    assert ew.nearest(one, 0, 3).verify().nearest.tolist() == [[0]]
    assert ew.isochrones(one, [0, 0], 0).verify().counts.tolist() == [[1], [1]]


def test_wrong_sets_are_found():
    graph = ew.generate.grid(6, seed=1).with_weights(np.arange(1, 61))
    for options in ({}, {"nearest": True}):
        right = ew.isochrones(graph, [0, 20], [15, 40], **options).verify()
        for entry in range(0, len(right.vertices), 3):
            for step in (-1, 1):
                distances = right.distances.copy()
                distances[entry] += step
                with pytest.raises(VerificationError):
                    replace(right, distances=distances).verify()
            row = right._rows[entry]
            offsets = right.offsets.copy()
            offsets[row + 1 :] -= 1
            fewer = {name: np.delete(getattr(right, name), entry) for name in ("vertices", "distances")}
            with pytest.raises(VerificationError):
                replace(right, offsets=offsets, **fewer).verify()


def test_wrong_neighbours_are_found():
    graph = ew.generate.grid(6, seed=1).with_weights(np.arange(1, 61))
    right = ew.nearest(graph, [0, 9, 20], 2).verify()
    for row in range(36):
        for slot in range(2):
            for step in (-1, 1):
                distances = right.distances.copy()
                distances[row, slot] += step
                with pytest.raises(VerificationError):
                    replace(right, distances=distances).verify()
            nearest = right.nearest.copy()
            nearest[row, slot] = -1
            with pytest.raises(VerificationError):
                replace(right, nearest=nearest).verify()
            nearest[row, slot] = ({0, 9, 20} - {*right.nearest[row].tolist()}).pop()
            with pytest.raises(VerificationError):
                replace(right, nearest=nearest).verify()
    with pytest.raises(VerificationError, match="the distances count weights"):
        right.verify(graph.without_weights())


def test_plots(tmp_path):
    pytest.importorskip("matplotlib")
    graph = ew.generate.grid(8, dropped=0.2, seed=1)
    points = np.stack(np.divmod(np.arange(64), 8), axis=1)
    areas, near = ew.isochrones(graph, [3, 40], [1, 3]), ew.nearest(graph, [3, 40])
    for number, (result, options) in enumerate(
        [(areas, ()), (areas, (points,)), (near, ()), (near, (points,))]
    ):
        result.plot(tmp_path / f"{number}.svg", *options)
        assert (tmp_path / f"{number}.svg").read_text().startswith("<?xml")


def test_points_have_the_colour_of_their_nearest_place(tmp_path, monkeypatch):
    """Also the first vertex as a place; vertices that reach no place have none."""
    drawn = []
    monkeypatch.setattr(plots, "coloured_points", lambda points, edges, classes, *_: drawn.append(classes))
    graph = ew.Graph.from_edges([0, 1, 3, 5], [1, 2, 4, 6], n_vertices=7)
    ew.nearest(graph, [0, 4]).plot(tmp_path / "map.svg", np.zeros((7, 2)))
    assert drawn[0].tolist() == [0, 0, 0, 1, 1, -1, -1]
