"""What every public function takes beside its own arguments: threads, progress, a GPU by its plain name."""

import inspect
import sys
from types import SimpleNamespace

import numba
import pytest

import edgewise as ew
from edgewise import notices
from edgewise.device import arrays, threads
from edgewise.errors import DeviceError, OptionError
from edgewise.front import CallOptions, front, reporter

pytestmark = pytest.mark.interpreter

FRONTS = [
    "all_pairs_shortest_paths",
    "bfs",
    "clustering",
    "connected_components",
    "cycle_counts",
    "diameter",
    "distance_measures",
    "estimate_closeness",
    "distance_table",
    "estimate_cycles",
    "minimum_spanning_forest",
    "partition",
    "read",
    "shortest_paths",
    "stream_components",
    "stream_forest",
    "update_components",
]


@front
def add(one, other=0, **options: "Unpack[CallOptions]"):  # noqa: F821
    """Add two numbers.

    Parameters
    ----------
    one, other : int

    Returns
    -------
    tuple
        The sum, the number of threads, and what hears of the progress.
    """
    return one + other, threads.count(), reporter()


@pytest.mark.parametrize("name", FRONTS)
def test_every_front_takes_them_and_says_so(name):
    function = getattr(ew, name)
    parameters = inspect.signature(function).parameters
    for added in CallOptions.__annotations__:
        assert parameters[added].kind is inspect.Parameter.KEYWORD_ONLY
        assert parameters[added].default is None
        assert function.__doc__.count(f"\n{added} : ") == 1
    with pytest.raises(OptionError, match="progress='yes' must be True, False or a callable"):
        function(*[None] * 2 if name in ("update_components", "cycle_counts") else [None], progress="yes")


def test_a_signature_shows_the_options_of_methods():
    for name, options in (("bfs", {"dense_from"}), ("cycle_counts", {"cap", "schedule"}), ("read", {"null"})):
        parameters = inspect.signature(getattr(ew, name)).parameters
        assert options <= parameters.keys()
        assert all(one.kind is not one.VAR_KEYWORD for one in parameters.values())
    shown = inspect.signature(ew.minimum_spanning_forest).parameters
    assert "client" not in shown, "which is accepted to be refused in words"
    graph = ew.Graph.from_edges([0, 1], [1, 2], n_vertices=3)
    assert ew.bfs(graph, 0, dense_from=None).n_reached == 3, "as if it were not given"


@pytest.mark.interpreter
def test_threads_are_those_of_the_call():
    before = threads.count()
    assert add(1, 2)[:2] == (3, before)
    assert add(1, other=2, threads=1)[:2] == (3, 1)
    assert threads.count() == before
    with pytest.raises(OptionError, match="threads=True must be a whole number"):
        add(1, threads=True)
    for wrong in (0, numba.config.NUMBA_NUM_THREADS + 1):
        with pytest.raises(OptionError, match=f"{wrong} threads are not available"):
            add(1, threads=wrong)
    with pytest.raises(TypeError, match=r"add\(\) has no option 'thread'; did you mean threads"):
        add(1, thread=1)
    assert threads.count() == before


@pytest.mark.interpreter
def test_progress_of_a_callable():
    graph, heard = ew.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], n_vertices=4), []
    assert ew.connected_components(graph, progress=lambda *work: heard.append(work)).count == 1
    assert heard == [(1, 1)]
    heard.clear()
    ew.all_pairs_shortest_paths(graph, method="sssp", progress=lambda *work: heard.append(work))
    assert heard[-1][0] == heard[-1][1]
    assert reporter() is None


def test_progress_passes_through_a_front():
    graph, heard = ew.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], n_vertices=4), []
    ew.clustering(graph, progress=lambda *work: heard.append(work))
    assert heard
    assert heard[-1][0] == pytest.approx(heard[-1][1])


def test_a_bar_is_shown_on_a_terminal_only(monkeypatch, capsys):
    assert add(1, progress=True)[0] == 1
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)

    @front
    def count_sheep(number, **options: "Unpack[CallOptions]"):  # noqa: F821
        notices.listener("jump")
        notices.listener("")
        reporter()(number, 4)
        reporter()(number, None)
        return number

    monkeypatch.setattr("edgewise.front.PAUSE", 0.0)
    assert count_sheep(2, progress=True) == 2
    shown = capsys.readouterr().err
    assert "\rcount sheep, compiling jump" in shown
    assert "[############            ]  50 %" in shown
    assert "\rcount sheep 2 " in shown
    assert shown.split("\r")[-2].strip() == "", "the line is cleared"
    assert notices.listener is None


@pytest.mark.interpreter
def test_a_gpu_by_its_plain_name(monkeypatch):
    monkeypatch.setattr(arrays, "gpu_count", lambda: 2)
    assert [arrays.resolve(name) for name in ("gpu", "gpu:1", "cuda")] == ["cuda:0", "cuda:1", "cuda:0"]
    from edgewise.workers import device_team

    assert device_team("gpu:1,gpu:0").names == ("cuda:1", "cuda:0")
    with pytest.raises(DeviceError, match="device 'gpu:7' is not there"):
        arrays.resolve("gpu:7")


@pytest.mark.interpreter
@pytest.mark.parametrize("is_interpreted", [False, True])
def test_a_gpu_is_not_used_where_kernels_are_interpreted(is_interpreted, monkeypatch):
    runtime = SimpleNamespace(getDeviceCount=lambda: 1, CUDARuntimeError=RuntimeError)
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=SimpleNamespace(runtime=runtime)))
    monkeypatch.setitem(sys.modules, "numba_cuda", SimpleNamespace())
    monkeypatch.setattr(arrays, "SIMULATED", False)
    monkeypatch.setattr(arrays, "INTERPRETED", is_interpreted)
    assert arrays.resolve("auto") == ("cpu" if is_interpreted else "cuda:0")
    if is_interpreted:
        with pytest.raises(DeviceError, match="0 usable GPUs: NUMBA_DISABLE_JIT is set"):
            arrays.resolve("cuda")


@pytest.mark.interpreter
def test_warnings_are_at_the_line_of_the_caller(tmp_path):
    """However deep inside a call: a partition, one by pymetis' arguments, a file, a frame."""
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("source,target,score\na,b,0.5\n")
    edges = {"source": ["a"], "target": ["b"], "score": [0.5]}
    for call in (
        lambda: ew.partition(ew.Graph.from_edges([0], [1]), 3, seed=1),
        lambda: ew.part_graph(3, adjacency=[[1], [0]]),
        lambda: ew.read(pairs, where="score > 0.9"),
        lambda: ew.Graph.from_frame(edges, where="score > 0.9"),
    ):
        with pytest.warns(ew.errors.EdgewiseWarning) as seen:
            call()
        assert {one.filename for one in seen} == {__file__}
