"""Pictures are drawn for any result, whole or not at all."""

import sys

import numpy as np
import pytest

import edgewise as ew
from edgewise import plots
from edgewise.cycles import Cycles
from edgewise.errors import FileError, OptionError

pytestmark = [pytest.mark.interpreter, pytest.mark.interpreted]


def components(n, *edges):
    sources, targets = zip(*edges) if edges else ((), ())
    graph = ew.Graph.from_edges(np.array(sources, np.int64), np.array(targets, np.int64), n_vertices=n)
    return ew.connected_components(graph)


@pytest.mark.parametrize("ending", ("png", "svg", "pdf"))
def test_sizes(ending, tmp_path):
    path = tmp_path / f"sizes.{ending}"
    components(9, (0, 1), (1, 2), (3, 4)).plot(str(path))
    assert path.stat().st_size > 1000
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("n", (0, 1, 5))
def test_sizes_of_graphs_without_edges(n, tmp_path):
    components(n).plot(tmp_path / "sizes.png")
    assert (tmp_path / "sizes.png").exists()


def test_sizes_are_counted_in_spans_that_grow_by_a_factor():
    assert plots._counts_in_spans(np.array([1, 1, 2, 3, 4, 7, 8]), 2).tolist() == [2, 2, 2, 1]
    assert plots._counts_in_spans(np.array([1, 9, 10, 999, 1000]), 10).tolist() == [2, 1, 1, 1]
    assert plots._counts_in_spans(np.array([2**62, 2**62 - 1]), 2).tolist() == [0] * 61 + [1, 1]
    assert plots._counts_in_spans(np.zeros(0, np.int64), 2).tolist() == [0]


@pytest.mark.parametrize("count", (0, 1, 7, 2**40, 2**62))
def test_counts_of_cycles(count, tmp_path):
    graph = ew.Graph.from_edges([0], [1], n_vertices=3)
    result = Cycles(graph, "by hand", 0.0, length=5, counts=np.array([count, count, 0], np.int64))
    result.plot(tmp_path / "counts.png")
    assert (tmp_path / "counts.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("count", "short"), [(7, "7"), (9_999, "9,999"), (12_345, "12 k"), (34_567_890, "35 M")]
)
def test_counts_are_shown_short(count, short):
    assert plots._short(count) == short


def test_unknown_ending(tmp_path):
    with pytest.raises(OptionError, match=r"use \.png"):
        components(2).plot(tmp_path / "sizes.xlsx")


def test_unwritable_place(tmp_path):
    with pytest.raises(FileError, match="nowhere"):
        components(2).plot(tmp_path / "nowhere" / "sizes.png")


def test_without_matplotlib(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(OptionError, match="pip install matplotlib"):
        components(2).plot(tmp_path / "sizes.png")


@pytest.mark.parametrize("values", ([], [3], [0, 1, 1, 5], [0.5, 2.25, 1e6], list(range(500))))
def test_histograms(values, tmp_path):
    labels = plots.Labels("distances", "distance", "vertices")
    plots.histogram(np.array(values), tmp_path / "distances.png", labels)
    assert (tmp_path / "distances.png").stat().st_size > 1000


@pytest.mark.parametrize("values", ([3], [0, 1, 1, 5], [-2, 7], [0.5, 2.25, 1e6], list(range(500))))
def test_every_value_is_in_a_bar(values, tmp_path, monkeypatch):
    axes, counts = pytest.importorskip("matplotlib.axes").Axes, []
    own = axes.hist
    monkeypatch.setattr(axes, "hist", lambda *of, **how: counts.append(own(*of, **how)[0]))
    plots.histogram(np.array(values), tmp_path / "a.png", plots.Labels("distances", "distance", "vertices"))
    assert counts[0].sum() == len(values)


def test_a_span_begins_at_a_power():
    assert plots._counts_in_spans(np.array([1, 2, 3, 4, 7, 8, 8]), 2).tolist() == [1, 2, 2, 2]
