"""Which tests run on which engine, and where the real graphs are.

===========  ==========================  ==================================================
engine       chosen by                   runs
===========  ==========================  ==================================================
CPU JIT      nothing                     every test; ``gpu`` needs a GPU, ``ptx`` a compiler
interpreter  ``NUMBA_DISABLE_JIT=1``     tests marked ``interpreter``
simulator    ``EDGEWISE_SIMULATOR=1``    tests marked ``simulator``, on a GPU of the explorer
fallbacks    ``EDGEWISE_PUBLIC_ONLY=1``  as the CPU JIT, without ``ptx``, by public interfaces of Numba
===========  ==========================  ==================================================

Tests marked ``release`` run on the CPU JIT with ``EDGEWISE_RELEASE=1`` only (``make release-tests``), and
on the other engines by their marks.
"""

import gc
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.how_tos import DATA

ROOT = Path(__file__).resolve().parent.parent

# Before anything imports edgewise: no notices among the dots, kernels kept apart from the user's, and the
# defaults of limits.
os.environ.setdefault("EDGEWISE_QUIET", "1")
os.environ["EDGEWISE_TUNED"] = "0"
os.environ.setdefault("EDGEWISE_CACHE_DIR", str(ROOT / ".pytest_cache" / "kernels"))
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads that spin in each process that imports NumPy
gc.set_threshold(50_000, 20, 20)  # with 700, garbage takes a fifth of the time in which tests are collected

#: Examples of a property: its code is the same on the engines that run it slowly.
EXAMPLES = {"jit": 30, "interpreter": 10, "simulator": 10}


def engine():
    """Name of the engine that this process runs on."""
    if os.environ.get("EDGEWISE_SIMULATOR", "0") not in ("", "0"):
        return "simulator"
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return "interpreter"
    return "jit"


settings.register_profile(
    "edgewise",
    deadline=None,
    max_examples=EXAMPLES[engine()],
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("edgewise")


def pytest_configure():
    """Let Ctrl-C work, also in children, where it was ignored, as it is after ``nohup`` or behind ``&``."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP"):  # which nohup ignores
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_collection_finish():
    """Look through what all tests share once, and not at each collection of garbage."""
    gc.collect()
    gc.freeze()


def pytest_report_header():
    return f"engine: {engine()}"


def pytest_ignore_collect(collection_path):
    """Import no file that has no test for this engine."""
    if collection_path.match("test_*.py") and engine() not in ("jit", *names_of_engines(collection_path)):
        return True
    return None


@cache
def names_of_engines(path):
    """The engines that a file of tests names, as those must do whose tests run on them."""
    text = path.read_text()
    return [name for name in ("interpreter", "simulator") if name in text]


def pytest_collection_modifyitems(config, items):
    here = engine()
    if here == "jit" and os.environ.get("EDGEWISE_RELEASE", "0") in ("", "0"):
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("release")])
        items[:] = [item for item in items if not item.get_closest_marker("release")]
    if here != "jit":
        config.hook.pytest_deselected(items=[item for item in items if not item.get_closest_marker(here)])
        items[:] = [item for item in items if item.get_closest_marker(here)]
        return
    for item in items:
        marked = {name for name in ("interpreter", "simulator") if item.get_closest_marker(name)}
        if not marked <= {*names_of_engines(item.path)}:
            raise pytest.UsageError(f"{item.nodeid}: its file must name the engines {sorted(marked)}")
    gpu = _reason_for_no_gpu() if any(item.get_closest_marker("gpu") for item in items) else None
    for item in items:
        if gpu and item.get_closest_marker("gpu"):
            item.add_marker(pytest.mark.skip(reason=f"needs a GPU: {gpu}"))
        if item.get_closest_marker("interpreted"):
            item.add_marker(pytest.mark.skip(reason="the same in the interpreter: set NUMBA_DISABLE_JIT=1"))
        if item.get_closest_marker("ptx") and os.environ.get("EDGEWISE_PUBLIC_ONLY", "0") not in ("", "0"):
            item.add_marker(pytest.mark.skip(reason="public interfaces compile for the current GPU only"))
        if item.get_closest_marker("ptx") and find_spec("numba_cuda") is None:
            item.add_marker(pytest.mark.skip(reason="needs the CUDA compiler: numba-cuda is not installed"))


def _reason_for_no_gpu():
    from edgewise.device import arrays

    return arrays.why_no_gpu()


@pytest.fixture(scope="session")
def data():
    """Folder of real graphs: ``$EDGEWISE_TEST_DATA``, or ``../shared/data`` beside the checkout."""
    if not DATA.is_dir():
        pytest.skip("real graphs are absent: set EDGEWISE_TEST_DATA to their folder")
    return DATA


@pytest.fixture(scope="session", autouse=True)
def small_tiles():
    """In the interpreter tiles of matrices are small, so that graphs of few vertices have several."""
    if engine() != "interpreter":
        yield
        return
    from edgewise.paths.apsp import floyd_warshall
    from edgewise.primitives import vectors

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(floyd_warshall, "TILE", 16)
        read, items_of = vectors.of_bytes(64)  # no more items than a tile has
        patch.setattr(floyd_warshall, "read", read)
        patch.setattr(floyd_warshall, "items_of", items_of)
        yield


@pytest.fixture(scope="module")
def threads():
    """Two threads, as the workers of ``client=``."""
    with ThreadPoolExecutor(2) as pool:
        yield pool


@pytest.fixture
def divided(monkeypatch):
    """Strings are divided among all slots of the workers, not only among their machines."""
    monkeypatch.setattr("edgewise.streams.sharded.MEMORY_SHARE", 0)


@pytest.fixture(scope="module")
def dask():
    """A client of a Dask cluster of two threads of this process."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed (edgewise[dask])")
    options = {"processes": False, "n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def dask_with_gpu():
    """A client of a Dask cluster of two workers, of which one has the resource of a GPU."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed (edgewise[dask])")
    spec = {
        "with": {"cls": distributed.Worker, "options": {"nthreads": 1, "resources": {"GPU": 1}}},
        "without": {"cls": distributed.Worker, "options": {"nthreads": 3}},
    }
    scheduler = {"cls": distributed.Scheduler, "options": {"dashboard_address": ":0"}}
    with distributed.SpecCluster(spec, scheduler) as cluster, distributed.Client(cluster) as client:
        yield client
