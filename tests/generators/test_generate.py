"""The families have the shapes that they promise."""

import inspect
import math

import numpy as np
import pytest
import scipy.sparse
from scipy.sparse.csgraph import connected_components

from edgewise import Graph, generators
from edgewise.errors import OptionError, OutOfMemoryError
from edgewise.generators import random, shuffle
from edgewise.generators.chains import _pair, before
from edgewise.generators.geometric import UNIT, in_cells

interpreter = pytest.mark.interpreter


def component_numbers(graph):
    """Number of components and the component of each vertex, by SciPy."""
    n, m = graph.n_vertices, graph.n_edges
    return connected_components(
        scipy.sparse.coo_array((np.ones(m, np.int8), (graph.sources, graph.targets)), shape=(n, n))
    )


def pairs_of(graph):
    """Edges as a sorted list of (smaller, larger)."""
    ends = np.sort(np.stack([graph.sources, graph.targets], axis=1).astype(np.int64), axis=1)
    return sorted(map(tuple, ends.tolist()))


# --- numbers -----------------------------------------------------------------------------------------------


@interpreter
@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        ((0, 0, 0, 0), (0, 0), "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ((2**32 - 1,) * 4, (2**32 - 1,) * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
)
def test_published_vectors_of_philox(counter, key, expected):
    index = counter[0] | counter[1] << 32
    found = random.words(key[0] | key[1] << 32, index, counter[2], counter[3])
    assert " ".join(f"{int(word):08x}" for word in found) == expected


@interpreter
@pytest.mark.parametrize("count", [1, 2, 3, 10, 2**31 - 1, 2**32])
def test_below_reaches_both_ends_and_no_further(count):
    top = np.uint64(2**32 - 1)
    assert random.below(np.uint64(0), np.uint64(0), count) == 0
    assert random.below(top, top, count) == count - 1


def test_below_is_even():
    drawn = [int(random.below(*random.words(5, i, 0, random.EDGES)[:2], 7)) for i in range(7000)]
    assert np.abs(np.bincount(drawn, minlength=7) - 1000).max() < 5 * math.sqrt(1000)


@interpreter
@pytest.mark.parametrize("count", [1, 2, 3, 7, 64, 100, 257])
@pytest.mark.parametrize("seed", [0, 9])
def test_an_order_is_a_bijection_and_comes_undone(count, seed):
    order = shuffle.order(count, seed)
    places = [int(shuffle.shuffled(v, order)) for v in range(count)]
    assert sorted(places) == list(range(count))
    assert [int(shuffle.restored(place, order)) for place in places] == list(range(count))


def test_an_order_is_random():
    """Neighbours part, and every vertex can come anywhere: chi-squared over 16 x 16 regions."""
    n, regions = 2048, 16
    seen = np.zeros((regions, regions))
    for seed in range(4):
        order = shuffle.order(n, seed)
        places = np.array([int(shuffle.shuffled(v, order)) for v in range(n)])
        assert abs(np.corrcoef(places[1:], places[:-1])[0, 1]) < 0.1
        np.add.at(seen, (np.arange(n) * regions // n, places * regions // n), 1)
    expected = 4 * n / regions**2
    freedom = (regions - 1) ** 2
    assert abs(((seen - expected) ** 2 / expected).sum() - freedom) < 6 * math.sqrt(2 * freedom)


@interpreter
def test_an_unwanted_order_leaves_all_in_place():
    order = shuffle.order(10, 3, wanted=False)
    assert [int(shuffle.shuffled(v, order)) for v in range(10)] == list(range(10))
    assert [int(shuffle.restored(v, order)) for v in range(10)] == list(range(10))


# --- random graphs -----------------------------------------------------------------------------------------


def test_uniform_degrees_are_poisson():
    graph = generators.uniform(20_000, 100_000, seed=1)
    assert graph.n_edges == 100_000
    ends = np.bincount(np.concatenate([graph.sources, graph.targets]), minlength=20_000)
    assert ends.mean() == 10
    assert 9.5 < ends.var() < 10.5


def test_simple_graphs_have_no_loops_and_no_repeats():
    for graph in (
        generators.uniform(100, 2000, simple=True),
        generators.rmat(8, simple=True),
        generators.scale_free(2000, hub_degree=500, simple=True),
    ):
        edges = pairs_of(graph)
        assert len(set(edges)) == len(edges)
        assert all(u != v for u, v in edges)


def test_rmat_takes_quadrants_with_the_given_probabilities():
    graph = generators.rmat(12, edge_factor=25, shuffle=False, probabilities=(0.5, 0.3, 0.15, 0.05))
    for bit in (11, 10, 5, 0):
        quadrant = (graph.sources >> bit & 1) * 2 + (graph.targets >> bit & 1)
        shares = np.bincount(quadrant, minlength=4) / graph.n_edges
        assert np.abs(shares - [0.5, 0.3, 0.15, 0.05]).max() < 0.01


def test_rmat_ids_are_in_random_order_by_default():
    plain, mixed = (generators.rmat(10, edge_factor=5, shuffle=s, seed=4) for s in (False, True))
    order = shuffle.order(1024, 4)
    new = np.array([int(shuffle.shuffled(v, order)) for v in range(1024)])
    np.testing.assert_array_equal(new[plain.sources], mixed.sources)
    np.testing.assert_array_equal(new[plain.targets], mixed.targets)


@pytest.mark.parametrize("scale", [0, 1, 4, 5])
def test_rmat_of_any_scale(scale):
    graph = generators.rmat(scale, edge_factor=2)
    assert (graph.n_vertices, graph.n_edges) == (2**scale, 2 * 2**scale)


def test_scale_free_has_as_many_hubs_as_asked():
    graph = generators.scale_free(50_000, mean_degree=6, hubs=0.001, hub_degree=1000)
    assert graph.n_edges == 150_000
    degrees = graph.degrees()
    assert (degrees > 900).sum() == 50
    assert degrees.max() < 1100
    assert np.median(degrees) < 6


# --- geometry ----------------------------------------------------------------------------------------------


@interpreter
@pytest.mark.parametrize(
    ("n", "options"),
    [
        (400, {"mean_degree": 15}),
        (400, {}),
        (300, {"radius": 0.3}),
        (300, {"radius": 0.5}),
        (50, {"radius": 1.5}),
        (50, {"radius": 0.0}),
        (1, {}),
        (2, {"radius": 1.42}),
    ],
)
def test_rgg_joins_exactly_the_points_within_the_radius(n, options):
    graph = generators.rgg(n, seed=5, **options)
    radius = options.get("radius", 0.55 * math.sqrt(math.log(max(n, 2)) / max(n, 2)))
    if "mean_degree" in options:
        radius = math.sqrt(options["mean_degree"] / (math.pi * n))
    side = max(1, min(2**31 // max(int(radius * 2**31), 1), math.isqrt(n)))
    xs, ys, _ = in_cells(n, side, 5, "cpu")
    points = [(int(x), int(y)) for x, y in zip(xs, ys)]
    reach = int(radius * 2**31) ** 2
    near = [
        (u, v)
        for u, (x, y) in enumerate(points)
        for v, (z, w) in enumerate(points[u + 1 :], u + 1)
        if (x - z) ** 2 + (y - w) ** 2 <= reach
    ]
    assert list(zip(graph.sources.tolist(), graph.targets.tolist())) == near


def test_rgg_has_the_mean_degree_asked_for():
    graph = generators.rgg(30_000, mean_degree=15)
    assert 14.5 < 2 * graph.n_edges / graph.n_vertices < 15.2


def test_points_fill_the_square_and_come_cell_by_cell():
    side = 8
    xs, ys, starts = in_cells(10_000, side, 2, "cpu")
    cells = (ys.astype(np.int64) * side >> 31) * side + (xs.astype(np.int64) * side >> 31)
    assert (np.diff(cells) >= 0).all()
    np.testing.assert_array_equal(starts, np.searchsorted(cells, np.arange(side * side + 1)))
    assert np.abs(np.diff(starts) - 10_000 / 64).max() < 6 * math.sqrt(10_000 / 64)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_delaunay_of_hardly_any_points(n):
    graph = generators.delaunay(n)
    assert (graph.n_vertices, graph.n_edges) == (n, max(n - 1, 0))


@pytest.mark.parametrize("n", [3, 4, 10, 2000])
def test_delaunay_is_a_triangulation(n):
    from scipy.spatial import ConvexHull

    graph = generators.delaunay(n, seed=3)
    xs, ys, _ = in_cells(n, math.isqrt(n // 2) + 1, 3, "cpu")
    hull = len(ConvexHull(np.stack([xs, ys], axis=1) / UNIT).vertices)
    assert graph.n_edges == 3 * n - 3 - hull  # Euler's formula with triangles only
    edges = pairs_of(graph)
    assert len(set(edges)) == len(edges)
    assert component_numbers(graph)[0] == 1


# --- grids -------------------------------------------------------------------------------------------------


@interpreter
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 5), (5, 1), (3, 4), (0, 7)])
def test_whole_grids(rows, columns):
    expected = [(r * columns + c, r * columns + c + 1) for r in range(rows) for c in range(columns - 1)]
    expected += [(r * columns + c, (r + 1) * columns + c) for r in range(rows - 1) for c in range(columns)]
    assert pairs_of(generators.grid(rows, columns)) == sorted(expected)


def test_grids_drop_the_share_asked_for():
    whole = 2 * 300 * 299
    graph = generators.grid(300, dropped=0.3)
    assert abs(graph.n_edges / whole - 0.7) < 0.01
    assert set(pairs_of(graph)) <= set(pairs_of(generators.grid(300)))
    assert generators.grid(30, dropped=1.0).n_edges == 0


def test_a_shuffled_grid_is_the_same_grid():
    plain, mixed = (generators.grid(30, 20, dropped=0.25, shuffle=s, seed=6) for s in (False, True))
    order = shuffle.order(600, 6)
    old = np.array([int(shuffle.restored(v, order)) for v in range(600)])
    assert pairs_of(Graph.from_edges(old[mixed.sources], old[mixed.targets], n_vertices=600)) == pairs_of(
        plain
    )
    assert (np.diff(mixed.sources.astype(np.int64)) >= 0).all()


def test_meshes_have_degree_three_and_holes():
    whole, holed = generators.mesh2d(100, 120, holes=0), generators.mesh2d(300, holes=0.3)
    assert (whole.n_vertices, whole.n_edges) == (12_000, 100 * 119 + 99 * 60)
    assert whole.degrees().max() == holed.degrees().max() == 3
    assert 0.65 < holed.n_vertices / 300**2 < 0.75
    largest = np.bincount(component_numbers(holed)[1]).max()
    assert largest > 0.99 * holed.n_vertices


@pytest.mark.parametrize("block", [1, 2, 3, 1000])
def test_meshes_with_odd_blocks(block):
    assert generators.mesh2d(20, block=block, holes=0.5).n_vertices <= 400


@pytest.mark.parametrize("points", [7, 19, 27])
@pytest.mark.parametrize("shape", [(1, 1, 1), (4, 3, 5), (1, 6, 2)])
@pytest.mark.parametrize("unknowns", [1, 2])
def test_stencils_join_all_nodes_about_a_node(points, shape, unknowns):
    nx, ny, nz = shape
    graph = generators.stencil3d(nx, ny, nz, points=points, unknowns=unknowns)
    most = {7: 1, 19: 2, 27: 3}[points]
    where = [(x, y, z) for z in range(nz) for y in range(ny) for x in range(nx) for _ in range(unknowns)]
    apart = np.abs(np.array(where)[:, None] - np.array(where)[None, :])
    joined = (apart.max(axis=2) <= 1) & (apart.sum(axis=2) <= most)
    expected = np.argwhere(np.triu(joined, 1))
    assert pairs_of(graph) == list(map(tuple, expected.tolist()))


def test_stencil_degrees_are_those_of_the_matrices_it_stands_for():
    assert generators.stencil3d(5).degrees().max() == 26
    assert generators.stencil3d(5, unknowns=3).degrees().max() == 80


# --- known components --------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"shuffle": True}, {"mean_size": 1}, {"mean_size": 40}])
def test_components_number_vertices_less_edges(options):
    graph = generators.components(30_000, **options)
    count = component_numbers(graph)[0]
    assert count == graph.n_vertices - graph.n_edges
    mean = options.get("mean_size", 3)
    assert abs(30_000 / count - mean) < 0.15 * mean


def test_paths_are_paths_and_branches_stay_on_them():
    plain, branched = (generators.paths(20_000, mean_length=500, branches=b) for b in (0, 0.05))
    assert plain.degrees().max() == 2
    assert component_numbers(plain)[0] == 20_000 - plain.n_edges
    np.testing.assert_array_equal(component_numbers(plain)[1], component_numbers(branched)[1])
    assert 0.04 < (branched.n_edges - plain.n_edges) / 20_000 < 0.055
    assert len(set(pairs_of(branched))) == branched.n_edges


@pytest.mark.parametrize("family", ["components", "paths"])
def test_a_shuffle_keeps_the_shape(family):
    plain, mixed = (getattr(generators, family)(5000, shuffle=s, seed=8) for s in (False, True))
    assert pairs_of(plain) != pairs_of(mixed)
    assert sorted(plain.degrees()) == sorted(mixed.degrees())
    sizes = [np.sort(np.bincount(component_numbers(graph)[1])) for graph in (plain, mixed)]
    np.testing.assert_array_equal(*sizes)


# --- pairs -------------------------------------------------------------------------------------------------


def test_pairs_are_strings_of_17_characters_and_scores():
    table = generators.pairs(5000)
    assert [(field.name, str(field.type)) for field in table.schema] == [
        ("left_id", "string"),
        ("right_id", "string"),
        ("score", "double"),
    ]
    table.validate(full=True)
    ids = set(table["left_id"].to_pylist() + table["right_id"].to_pylist())
    assert {len(name) for name in ids} == {17}
    assert 0.55 * 5000 < len(ids) < 0.65 * 5000
    scores = np.asarray(table["score"])
    assert scores.min() >= 0.3
    assert scores.max() <= 1.0
    assert 0.35 < (scores >= 0.9).mean() < 0.55
    assert (np.round(scores * 1000) / 1000 == scores).all()


def test_pairs_that_score_well_are_of_one_entity():
    m, records, cut = 3000, 2000, random.threshold(1 / 3)
    lefts, rights = np.empty(m, np.uint32), np.empty(m, np.uint32)
    scores = np.empty(m, np.int32)
    _pair(m, 0, records, cut, random.threshold(0.9), lefts, rights, scores)
    begins = np.array([v == 0 or before(np.uint64(v), np.uint64(1), 0, cut) == 0 for v in range(records)])
    entity = np.cumsum(begins)
    good = scores >= 900
    assert good.sum() > 1000
    np.testing.assert_array_equal(entity[lefts[good]], entity[rights[good]])
    assert (lefts[good] != rights[good]).all()
    assert (entity[lefts[scores < 850]] != entity[rights[scores < 850]]).mean() > 0.95


def test_records_have_ids_of_their_own():
    table = generators.pairs(20_000, records=100)
    assert len(set(table["left_id"].to_pylist() + table["right_id"].to_pylist())) == 100


# --- graphs from graphs ------------------------------------------------------------------------------------


def test_replicate_copies_edges_and_weights():
    graph = generators.with_weights(generators.grid(5), 1, 9)
    tripled = generators.replicate(graph, 3)
    assert (tripled.n_vertices, tripled.n_edges) == (75, 3 * graph.n_edges)
    assert component_numbers(tripled)[0] == 3
    np.testing.assert_array_equal(tripled.weights, np.tile(graph.weights, 3))
    shifted = [(u + 25 * k, v + 25 * k) for k in range(3) for u, v in pairs_of(graph)]
    assert pairs_of(tripled) == sorted(shifted)


def test_replicate_of_nothing_and_none():
    assert generators.replicate(generators.grid(0), 4).n_vertices == 0
    assert generators.replicate(generators.grid(4), 0).n_vertices == 0
    isolated = Graph.from_edges([], [], n_vertices=3)
    assert (generators.replicate(isolated, 2).n_vertices, generators.replicate(isolated, 2).n_edges) == (6, 0)


def test_replicate_drops_ids():
    ends = np.array([0, 1], np.uint32), np.array([1, 2], np.uint32)
    graph = generators.replicate(Graph(3, edges=(*ends, None), ids=np.array([5, 7, 9])), 2)
    assert graph.ids is None
    assert graph.n_vertices == 6


def test_weights_hang_on_the_ends_alone():
    graph = Graph.from_edges([0, 1, 2, 1], [1, 0, 1, 2], n_vertices=3)
    a, b, c, d = generators.with_weights(graph, 1, 10**6).weights.tolist()
    assert a == b
    assert c == d
    assert a != c


@interpreter
def test_weights_cover_their_range():
    graph = generators.uniform(100, 2000)
    weights = generators.with_weights(graph, -2, 2, seed=1).weights
    assert weights.dtype == np.int32
    assert set(weights.tolist()) == {-2, -1, 0, 1, 2}
    wide = generators.with_weights(graph, 2**40, 2**40 + 5).weights
    assert wide.dtype == np.int64
    assert set(wide.tolist()) == {2**40 + step for step in range(6)}


# --- names, options ----------------------------------------------------------------------------------------


def test_families_take_seed_and_device():
    for name, family in generators.FAMILIES.items():
        assert family is getattr(generators, name)
        parameters = inspect.signature(family).parameters
        assert (parameters["seed"].default, parameters["device"].default) == (0, "cpu")
        assert all(p.default is not p.empty or p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters.values())


def test_named_graphs_are_calls_of_their_families():
    for family, options in generators.NAMED.values():
        inspect.signature(family).bind(**options)
    assert generators.named("rmat20", scale=10).n_vertices == 1024
    assert generators.named("comps2M", n=300, seed=3).n_vertices == 300
    with pytest.raises(OptionError, match="no graph is named 'rmat99'; did you mean rmat2"):
        generators.named("rmat99")


@interpreter
@pytest.mark.parametrize(
    ("family", "options", "problem"),
    [
        ("uniform", {"n": -1, "m": 0}, "n=-1 is out of range; give 0 to 4294967294"),
        ("uniform", {"n": 2**32, "m": 0}, "n=4294967296 is out of range"),
        ("uniform", {"n": 2.5, "m": 0}, "n=2.5 is not a whole number"),
        ("uniform", {"n": "many", "m": 0}, "n='many' is not a whole number"),
        ("uniform", {"n": 0, "m": 5}, "m=5 edges need vertices"),
        ("uniform", {"n": 5, "m": 5, "seed": -1}, "seed=-1 is out of range"),
        ("uniform", {"n": 5, "m": 5, "seed": 2**63}, "seed=9223372036854775808 is out of range"),
        ("rmat", {"scale": 32}, "scale=32 is out of range; give 0 to 31"),
        ("rmat", {"scale": 4, "probabilities": (1.2, 0, 0, 0)}, "probabilities=1.2 is out of range"),
        ("rmat", {"scale": 4, "probabilities": (0.9, 0.3, 0.1, 0.1)}, "add up to 1.4; they must add up to 1"),
        ("rmat", {"scale": 4, "probabilities": (0.5, 0.5)}, "must be four numbers"),
        ("rmat", {"scale": 4, "probabilities": (float("nan"), 0, 0, 0)}, "probabilities=nan is out of range"),
        ("rmat", {"scale": 4, "edge_factor": -1}, "edge_factor=-1 is out of range"),
        ("rgg", {"n": 5, "radius": -0.1}, "radius=-0.1 is out of range"),
        ("rgg", {"n": 5, "radius": 0.1, "mean_degree": 3}, "radius and mean_degree are both given"),
        ("grid", {"rows": 5, "dropped": 1.01}, "dropped=1.01 is out of range"),
        ("grid", {"rows": 5, "dropped": "some"}, "dropped='some' is not a number"),
        ("grid", {"rows": 2**20}, r"rows \* columns=1099511627776 is out of range"),
        ("mesh2d", {"rows": 5, "holes": 0.6}, "holes=0.6 is out of range; give 0 to 0.5"),
        ("mesh2d", {"rows": 5, "block": 0}, "block=0 is out of range"),
        ("stencil3d", {"nx": 5, "points": 9}, "points=9 is no stencil; use 7, 19 or 27"),
        ("stencil3d", {"nx": 5000}, "nx .* is out of range"),
        (
            "scale_free",
            {"n": 1000, "mean_degree": 1},
            "mean_degree=1 is too low: the hubs alone bring 1,000 edges",
        ),
        ("components", {"n": 5, "mean_size": 0.5}, "mean_size=0.5 is out of range"),
        ("paths", {"n": 5, "branches": 2}, "branches=2 is out of range"),
        ("pairs", {"m": 5, "records": 0}, "records=0 leave nothing to pair"),
        ("delaunay", {"n": -3}, "n=-3 is out of range"),
    ],
)
def test_bad_options(family, options, problem):
    with pytest.raises(OptionError, match=problem):
        getattr(generators, family)(**options)


@pytest.mark.parametrize(
    ("family", "options"),
    [
        ("uniform", {"n": 10, "m": 10**15}),
        ("rmat", {"scale": 31, "edge_factor": 10**6}),
        ("pairs", {"m": 10**14, "records": 10}),
        ("scale_free", {"n": 10, "mean_degree": 10**9, "hubs": 1, "hub_degree": 10**9}),
    ],
)
def test_graphs_beyond_the_memory_are_refused(family, options):
    options = {**options, **({"mean_degree": 2.0**32} if family == "scale_free" else {})}
    with pytest.raises(OutOfMemoryError, match="bytes needed"):
        getattr(generators, family)(**options)


def test_bad_weights_and_copies():
    graph = generators.grid(3)
    with pytest.raises(OptionError, match="high=1 is out of range; give 2 to "):
        generators.with_weights(graph, 2, 1)
    with pytest.raises(OptionError, match="copies=-1 is out of range"):
        generators.replicate(graph, -1)
    with pytest.raises(OptionError, match="more than can be numbered"):
        generators.replicate(graph, 2**61)


@interpreter
@pytest.mark.parametrize("family", sorted(generators.FAMILIES))
def test_the_empty_graph(family):
    sizes = {"rmat": {"scale": 0, "edge_factor": 0}, "uniform": {"n": 0, "m": 0}}
    made = generators.FAMILIES[family](**sizes[family]) if family in sizes else generators.FAMILIES[family](0)
    assert (made.num_rows if family == "pairs" else made.n_edges) == 0


@interpreter
def test_docstrings_tell_all_parameters_and_no_others():
    for make in generators.FAMILIES.values():
        lines = [line.split(" : ") for line in make.__doc__.splitlines() if line[:1].isidentifier()]
        told = [name for line in lines if len(line) == 2 for name in line[0].split(", ")]
        parameters = inspect.signature(make).parameters.values()
        assert told == [one.name for one in parameters if one.kind is not one.VAR_KEYWORD]
