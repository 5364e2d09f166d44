"""Every method on every engine labels every small graph as the oracle does."""

import os
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import edgewise as ew
from edgewise import tuning
from edgewise.components import METHODS
from edgewise.components.certificate import verify
from edgewise.components.sizes import ComponentSizes
from edgewise.device import threads
from edgewise.device.target import SIMULATED
from edgewise.errors import DeviceError, GraphError, OptionError, VerificationError
from tests.oracles import components as oracle
from tests.zoo import ZOO

sizes = import_module("edgewise.components.result")
rem_ranges = import_module("edgewise.components.rem_ranges")
selection = import_module("edgewise.components.selection")
pytestmark = [pytest.mark.interpreter, pytest.mark.simulator]
PLACE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda" if SIMULATED else "cpu")
NAMES = ["auto", *METHODS]


def test_one_core_reads_either_form(monkeypatch):
    """Lists with few edges and with many, in order or not, and rows, whatever has been derived of them."""
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, components_cached=10))
    for made in ew.generate.grid(9, 9, dropped=0.4), ew.generate.uniform(60, 300, seed=1):
        of_rows = ew.Graph.from_csr(made.offsets, made.neighbours)
        expected = oracle(made.n_vertices, made.sources.tolist(), made.targets.tolist())
        for graph in of_rows, made, made.prepare("components"):
            found = ew.connected_components(graph.to(PLACE), method="rem-sequential")
            assert found.on_host().labels.tolist() == expected
        assert not of_rows.has_edges


def labels_of(name, vertices, sources, targets, device=PLACE, **options):
    graph = ew.Graph.from_edges(sources, targets, n_vertices=vertices).to(device)
    return ew.connected_components(graph, method=name, **options).on_host().labels.tolist()


@pytest.mark.parametrize("shape", ZOO)
@pytest.mark.parametrize("name", NAMES)
def test_labels_are_the_oracles(name, shape):
    assert labels_of(name, *ZOO[shape]) == oracle(*ZOO[shape])


@pytest.mark.parametrize("iterations", [0, 1, 2, 4])
def test_hook_with_any_number_of_plain_rounds(iterations):
    for shape in ("grid", "sparse", "star from its last"):
        assert labels_of("hook", *ZOO[shape], iterations=iterations) == oracle(*ZOO[shape])


@pytest.mark.parametrize("name", ["afforest", "rem-sample"])
@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_sampling_with_any_number_of_rounds(name, rounds):
    for shape in ("grid", "dense", "two cliques"):
        assert labels_of(name, *ZOO[shape], rounds=rounds) == oracle(*ZOO[shape])


def stars(count, leaves):
    """Stars in random order: rows too long for a thread of a GPU, none of them in a giant component."""
    n = count * (leaves + 1)
    order = np.random.default_rng(5).permutation(n)
    return n, order[np.repeat(np.arange(count), leaves)], order[np.arange(count, n)]


@pytest.mark.parametrize("name", ["auto", "afforest", "rem-sample", "ecl-cc"])
def test_long_rows_outside_the_giant(name):
    graph = stars(5, 80)
    assert labels_of(name, *graph) == oracle(*graph)


def test_result_counts_sizes_and_verifies():
    graph = ew.Graph.from_edges([0, 1, 5], [1, 2, 6], n_vertices=8).to(PLACE)
    result = ew.connected_components(graph).verify().on_host()
    assert result.count == 5
    assert result.roots.tolist() == [0, 3, 4, 5, 7]
    assert result.sizes().tolist() == [3, 1, 1, 2, 1]
    assert result.largest == 3


def test_directed_edges_count_both_ways():
    graph = ew.Graph.from_edges([2, 2], [0, 1], n_vertices=3, directed=True).to(PLACE)
    for name in METHODS:
        assert ew.connected_components(graph, method=name).on_host().labels.tolist() == [0, 0, 0]


def test_unknown_names_are_refused():
    graph = ew.Graph.from_edges([0], [1], n_vertices=2)
    with pytest.raises(
        OptionError, match=r"method='rems' is unknown; did you mean rem[?] The choices are auto, rem,"
    ):
        ew.connected_components(graph, method="rems")
    with pytest.raises(OptionError, match="method rem has no option 'rounds'"):
        ew.connected_components(graph, method="rem", rounds=2)
    with pytest.raises(OptionError, match="auto has no option"):
        ew.connected_components(graph, rounds=2)
    with pytest.raises(OptionError, match="iterations=-1 must be a whole number, 0 or more"):
        ew.connected_components(graph, method="hook", iterations=-1)
    with pytest.raises(OptionError, match="device= is for one device and devices= for several"):
        ew.connected_components(graph, device="cpu", devices="cpu")
    for device in ("tpu", 0, "cuda:²"):
        with pytest.raises(DeviceError, match="is unknown"):
            ew.connected_components(graph, device=device)
    with pytest.raises(OptionError, match="a Graph is needed, not list"):
        ew.connected_components([(0, 1)])


@pytest.mark.parametrize(
    "labels, complaint",
    [
        ([0, 0, 0, 3], "edge 1 joins"),
        ([0, 0, 0, 0], "vertices 0 and 2 have the label 0, but are in two trees"),
        ([1, 1, 2, 2], "vertex 0 is larger"),
        ([0, 2, 2, 2], "edge 0 joins"),
        ([0, 0, 1, 2], "edge 1 joins"),
    ],
)
def test_verifier_rejects(labels, complaint):
    graph = ew.Graph.from_edges([0, 2], [1, 3], n_vertices=4)
    with pytest.raises(VerificationError, match=complaint):
        verify(graph, np.array(labels, np.uint32))


def test_verifier_wants_the_same_graph():
    result = ew.connected_components(ew.Graph.from_edges([0], [1], n_vertices=2))
    with pytest.raises(GraphError, match="2 vertices, the graph 3"):
        result.verify(ew.Graph.from_edges([0], [1], n_vertices=3))


@st.composite
def edge_lists(draw):
    vertices = draw(st.integers(1, 40))
    ends = st.lists(st.integers(0, vertices - 1), min_size=0, max_size=60)
    sources = draw(ends)
    targets = draw(st.lists(st.integers(0, vertices - 1), min_size=len(sources), max_size=len(sources)))
    return vertices, np.array(sources, np.int64), np.array(targets, np.int64)


@given(edge_lists())
def test_methods_agree_on_made_up_graphs(graph):
    if SIMULATED:
        pytest.skip("a minute of Python threads would add nothing to the zoo")
    expected = oracle(*graph)
    for name in METHODS:
        assert labels_of(name, *graph) == expected


def test_the_method_does_not_depend_on_what_was_read():
    """Reading a property does not change what ``auto`` selects; counting the edges derives no form."""
    made = ew.generate.uniform(40, 200, seed=1)
    of_rows = ew.Graph.from_csr(made.offsets, made.neighbours)
    both = ew.generate.uniform(40, 200, seed=1).prepare("components")
    for graph in (of_rows.to(PLACE), both, made):
        expected, forms = selection.select_method(graph), (graph.has_edges, graph.has_rows)
        assert graph.n_edges == 200
        assert (graph.has_edges, graph.has_rows) == forms
        for name in ("offsets", "neighbours", "csr_weights", "sources", "targets", "weights", "n_edges"):
            getattr(graph, name)
        assert selection.select_method(graph) == expected == ew.connected_components(graph).method
        assert graph.to("cpu").made_of == graph.made_of


@pytest.mark.parametrize("n, m", [(1, 9), (40, 30), (40, 300), (300, 900) if SIMULATED else (3000, 9000)])
def test_dense_lists_are_joined_by_way_of_the_grandparents(n, m):
    """In random order, with loops and repeated edges, and in ascending order."""
    ends = np.random.default_rng(m).integers(0, n, (2, m)).astype(np.uint32)
    for sources, targets in (ends, np.sort(ends), ends.astype(np.int64)):
        expected = oracle(n, sources.tolist(), targets.tolist())
        for name in ("rem-sequential", "rem-edge-sample", "rem", "rem-ranges"):
            assert labels_of(name, n, sources, targets) == expected


@pytest.mark.parametrize("room", [1, 8, 10**6])
@pytest.mark.parametrize("count", [1, 3])
def test_ranges_of_any_list_lose_no_edge(monkeypatch, count, room):
    """Also of a list in random order, whose parts have more crossing edges than are listed."""
    monkeypatch.setattr(threads, "count", lambda: count)
    monkeypatch.setattr(rem_ranges, "EDGES_PER_LISTED", room)
    for made in (ew.generate.grid(30, 40, dropped=0.4), ew.generate.uniform(600, 900, seed=2)):
        assert labels_of("rem-ranges", made.n_vertices, made.sources, made.targets) == oracle(
            made.n_vertices, made.sources.tolist(), made.targets.tolist()
        )


@pytest.mark.parametrize("scattered", [False, True])
@pytest.mark.parametrize("name", ["rem", "rem-sample", "rem-edge-sample"])
def test_memory_that_is_fetched_ahead_changes_nothing(monkeypatch, name, scattered):
    limits = replace(tuning.CPU, components_cached=0 if scattered else 1 << 60)
    monkeypatch.setattr(tuning, "CPU", limits)
    vertices = 300 if SIMULATED else 3000
    made = ew.generate.uniform(vertices, 3 * vertices, seed=2)
    sources, targets = made.sources, made.targets
    assert labels_of(name, vertices, sources, targets) == oracle(vertices, sources.tolist(), targets.tolist())


def test_many_vertices_are_counted_in_the_same_way(monkeypatch):
    graph = ew.Graph.from_edges(*ZOO["sparse"][1:], n_vertices=40)
    labels = ew.connected_components(graph).labels
    expected = sizes.component_sizes(labels)
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, components_counted=10))
    for one, other in zip(expected, sizes.component_sizes(labels)):
        assert (one.dtype, one.tolist()) == (other.dtype, other.tolist())


@pytest.mark.parametrize("shape", ZOO)
def test_all_cores_count_the_members(shape):
    graph = ew.Graph.from_edges(*ZOO[shape][1:], n_vertices=ZOO[shape][0])
    labels = ew.connected_components(graph).labels
    roots, counts = np.unique(labels, return_counts=True)
    found = ComponentSizes(labels).members
    assert (found[0].tolist(), found[1].tolist()) == (roots.tolist(), counts.tolist())
    assert (found[0].dtype, found[1].dtype) == (labels.dtype, np.int64)
