"""Label propagation at every width, rows told apart by length, and rounds of plain hooks before Rem."""

import os
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import edgewise as ew
from edgewise.components import ROWS
from edgewise.components.propagate import lower_at_once, lower_in_turn, propagate_and_count
from edgewise.components.symmetric_csr import symmetric_csr
from edgewise.device import arrays
from edgewise.device.target import INTERPRETED, SIMULATED
from edgewise.errors import OptionError
from tests.components.test_components import PLACE, edge_lists, labels_of
from tests.oracles import components as oracle
from tests.zoo import ZOO

rows_page = import_module("edgewise.components.symmetric_csr")
pytestmark = [pytest.mark.interpreter, pytest.mark.simulator]
ON_GPU = "cuda" in os.environ.get("EDGEWISE_TEST_PLACE", "cuda" if SIMULATED else "cpu")


@pytest.fixture
def short_bins(monkeypatch):
    """Bounds so low that small graphs have rows for all three widths."""
    monkeypatch.setattr(rows_page, "MAX_THREAD_ROW", 2)
    monkeypatch.setattr(rows_page, "MAX_WARP_ROW", 5)
    monkeypatch.setattr(rows_page, "NEARLY_EMPTY", 0)


def wheel():
    """Rows of one entry and of two, one of five, one of eight, and a vertex alone."""
    sources = [9, 9, 9, 9, 9, 9, 9, 9, 4, 4, 4, 4, 0, 1]
    targets = [0, 1, 2, 3, 4, 5, 6, 7, 5, 6, 7, 3, 8, 10]
    return 12, np.array(sources), np.array(targets)


@pytest.mark.parametrize("width", ROWS)
@pytest.mark.parametrize("shape", ["empty", "isolated", "path, reversed ids", "star from its last", "dense"])
def test_every_width(shape, width):
    if width in ("warp", "block") and SIMULATED and shape.startswith("path"):
        pytest.skip("thousands of Python threads would add nothing to the star")
    assert labels_of("propagate", *ZOO[shape], rows=width) == oracle(*ZOO[shape])


@pytest.mark.parametrize("shape", ["wheel", "star from its last", "two cliques and a bridge", "sparse"])
def test_rows_of_all_lengths(shape, short_bins):
    graph = wheel() if shape == "wheel" else ZOO[shape]
    assert labels_of("propagate", *graph) == oracle(*graph)


def test_bins_hold_every_row_with_entries_once(short_bins):
    graph = graph_of(*wheel())
    bins = symmetric_csr(graph).by_length
    assert bins is symmetric_csr(graph).by_length
    if graph.device == "cpu":
        assert [width for width, _ in bins] == ["thread"]
        return
    assert [width for width, _ in bins] == ["block", "warp", "thread"]
    chosen = [np.asarray(arrays.move(rows, "cpu")).tolist() for _, rows in bins]
    assert sorted(row for rows in chosen for row in rows) == list(range(11))
    degrees = np.asarray(arrays.move(graph.degrees(), "cpu"))
    assert all(degrees[row] > 5 for row in chosen[0])
    assert all(2 < degrees[row] <= 5 for row in chosen[1])
    assert all(0 < degrees[row] <= 2 for row in chosen[2])


@pytest.mark.skipif(not ON_GPU, reason="the CPU has one width")
@pytest.mark.parametrize(
    ("degree", "width"),
    [(rows_page.MAX_THREAD_ROW, "thread"), (rows_page.MAX_THREAD_ROW + 1, "warp"), (60, "warp")],
)
def test_one_width_where_one_bin_holds_nearly_everything(degree, width):
    n = 4 * degree
    ring = np.arange(n)
    graph = graph_of(n, np.repeat(ring, degree // 2), (np.repeat(ring, degree // 2) + step(n, degree)) % n)
    ((found, chosen),) = symmetric_csr(graph).by_length
    assert (found, len(chosen)) == (width if degree % 2 == 0 else "thread", 0)


def step(n, degree):
    return np.tile(np.arange(1, degree // 2 + 1), n)


def graph_of(vertices, sources, targets):
    return ew.Graph.from_edges(sources, targets, n_vertices=vertices).to(PLACE)


def test_rounds_are_counted_to_the_first_without_a_change():
    apart = graph_of(5, [0], [0])
    assert propagate_and_count(5, symmetric_csr(apart))[1] == 1
    if not ON_GPU:
        star = graph_of(*ZOO["star from its last"])
        assert (
            propagate_and_count(20, symmetric_csr(star))[1] == 3
        )  # the hub comes last: it learns, tells, and nothing happens


@pytest.mark.parametrize("lanes", [2, 3, 5])
@pytest.mark.parametrize("shape", ["star from its last", "clique", "dense", "two cliques and a bridge"])
def test_rows_longer_than_their_team(shape, lanes):
    """The body as it stands, one lane after the other; a row has up to ten times as many entries as lanes."""
    vertices, sources, targets = ZOO[shape]
    rows = symmetric_csr(ew.Graph.from_edges(sources, targets, n_vertices=vertices))
    labels = np.arange(vertices, dtype=np.uint32)
    changed = True
    while changed:
        flags = np.array([1, 0], np.int32)
        for row in range(vertices):
            for lane in range(lanes):
                every_row = rows.neighbours[:0]
                lower_in_turn.body(row, lane, lanes, every_row, labels, rows.offsets, rows.neighbours, flags)
        changed = flags[1]
    assert labels.tolist() == oracle(*ZOO[shape])


@pytest.mark.ptx
@pytest.mark.skipif(SIMULATED or INTERPRETED, reason="compiles")
def test_lanes_of_a_warp_meet_in_registers():
    kinds = ("uint32[]", "uint32[]", "int64[]", "uint32[]", "int32[]")
    wide = (lower_at_once.kernels["warp"], *lower_in_turn.kernels.values())
    for kernel, shuffles in ((lower_in_turn.single_lane.cuda, 0), *((team, 5) for team in wide)):
        text = kernel.ptx(kinds, (9, 0))
        assert text.count("shfl.sync") >= shuffles
        assert shuffles or "shfl.sync" not in text
        assert ("atom.global.min" in text) == (shuffles > 0)


def test_unknown_rows_are_refused():
    with pytest.raises(OptionError, match="rows='grid' is unknown; use one of auto, thread, warp, block"):
        labels_of("propagate", *ZOO["grid"], rows="grid")
    with pytest.raises(OptionError, match=r"no option 'row'; did you mean rows[?]"):
        labels_of("propagate", *ZOO["grid"], row="warp")
    with pytest.raises(OptionError, match=r"no option 'iterations' \(it has: rows\)"):
        labels_of("propagate", *ZOO["grid"], iterations=1)


@given(edge_lists(), st.sampled_from(ROWS))
def test_made_up_graphs(graph, width):
    if SIMULATED:
        pytest.skip("a minute of Python threads would add nothing to the zoo")
    assert labels_of("propagate", *graph, rows=width) == oracle(*graph)


@pytest.mark.parametrize("segments", [1, 3])
@pytest.mark.parametrize("iterations", [0, 2])
@pytest.mark.parametrize("compress_between", [0, 1])
def test_rem_after_plain_hooks_and_in_segments(iterations, segments, compress_between):
    options = {"iterations": iterations, "segments": segments, "compress_between": compress_between}
    for shape in ("grid", "sparse", "star from its last"):
        assert labels_of("hook-rem", *ZOO[shape], **options) == oracle(*ZOO[shape])


@pytest.mark.parametrize("segments", [1, 3])
@pytest.mark.parametrize("iterations", [0, 2])
def test_hooks_in_segments(iterations, segments):
    for shape in ("grid", "sparse", "star from its last"):
        options = {"iterations": iterations, "segments": segments}
        assert labels_of("hook", *ZOO[shape], **options) == oracle(*ZOO[shape])


def test_plain_hooks_in_a_second_segment_read_stars_only():
    sources, targets = [5, 3, 6, 6, 5, 1, 4, 0], [6, 3, 0, 3, 2, 1, 5, 1]
    options = {"iterations": 1, "segments": 2, "compress_between": 0}
    assert labels_of("hook-rem", 7, sources, targets, **options) == [0] * 7
