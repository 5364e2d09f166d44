"""Forests of shards by tasks: the edges, positions and ties of one process."""

import numpy as np
import pyarrow as pa
import pytest

import edgewise as ew
from edgewise.errors import FileError, OptionError

pytestmark = [pytest.mark.interpreter, pytest.mark.usefixtures("divided")]


def stored(folder, kind, dtype=np.int64, ending="parquet"):
    """A new folder with shards of few distinct weights, so that ties are decided by positions."""
    folder.mkdir()
    draw = np.random.default_rng(len(kind))
    for number in range(5):
        ends = draw.integers(*{"sparse": (-(2**40), 2**40)}.get(kind, (0, 200)), (2, 300))
        ends[:, :250] %= 150
        ends[1, :4] = ends[0, :4]
        columns = [[f"v{value}" for value in one] for one in ends] if kind == "strings" else list(ends)
        weights = draw.integers(0, 4, 300).astype(dtype)
        ew.write(pa.table({"a": columns[0], "b": columns[1], "w": weights}), folder / f"{number}.{ending}")
    return folder


def assert_same(found, expected):
    assert found.to_frame() == expected.to_frame()
    for name in ("edges", "labels", "sources", "targets", "weights"):
        one, other = getattr(found, name), getattr(expected, name)
        assert one.dtype == other.dtype and (one == other).all(), name
    assert found.graph.n_edges == expected.graph.n_edges


@pytest.mark.parametrize("maximum", (False, True))
@pytest.mark.parametrize("kind", ("dense", "sparse", "strings"))
def test_forest_is_that_of_one_process(kind, maximum, threads, tmp_path):
    folder = stored(tmp_path / "shards", kind)
    options = {"weight": "w", "maximum": maximum, "where": "w != 1"}
    expected = ew.stream_forest(folder, **options)
    found = ew.stream_forest(folder, client=threads, **options)
    assert_same(found, expected)
    for threshold in (0, 2, 3):
        one, other = (forest.components(threshold) for forest in (found, expected))
        assert (one.labels == other.labels).all()


def test_text_and_a_shard_of_which_nothing_is_kept(threads, tmp_path):
    folder = stored(tmp_path / "shards", "strings", np.float64, "csv")
    (folder / "9.csv").write_text("a,b,w\nx,y,-7.5\n")
    options = {"weight": "w", "where": "w >= 0"}
    assert_same(ew.stream_forest(folder, client=threads, **options), ew.stream_forest(folder, **options))


def test_continued(threads, tmp_path):
    folder, state = stored(tmp_path / "shards", "strings"), tmp_path / "state"

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ew.stream_forest(folder, weight="w", client=threads, checkpoint=state, progress=stop)
    with pytest.raises(FileError, match=r"belongs to another run: maximum was False and is True now"):
        ew.stream_forest(folder, weight="w", maximum=True, client=threads, checkpoint=state)
    found = ew.stream_forest(folder, weight="w", client=threads, checkpoint=state)
    assert_same(found, ew.stream_forest(folder, weight="w"))
    assert not state.exists()


def test_options_that_mean_nothing(threads, tmp_path):
    folder = stored(tmp_path / "shards", "dense")
    with pytest.raises(OptionError, match=r"^every= is for one process"):
        ew.stream_forest(folder, weight="w", client=threads, every=2)
