"""Every engine makes the same bytes from the same seed: they are held against digests.

The digests also promise that a graph stays what it was from release to release.  A deliberate change of a
family changes its digest, and the change note says so.
"""

import hashlib
from importlib.util import find_spec

import numpy as np
import pytest

from edgewise import generators
from edgewise.device import arrays, each
from edgewise.device.target import SIMULATED
from edgewise.generators.emit import EdgeOutput
from edgewise.generators.geometric import Points
from edgewise.generators.grids import Box
from edgewise.generators.random_graphs import Quadrants
from edgewise.generators.shuffle import Shuffle

#: Family, sizes and options, digest.
MADE = [
    ("components", {"n": 150}, "8f6087ed3ce961b3"),
    ("components", {"n": 150, "mean_size": 5, "shuffle": True}, "19bffe36ad880565"),
    ("grid", {"rows": 9, "columns": 12, "dropped": 0.3}, "2984e5cecc3fb611"),
    ("grid", {"rows": 9, "columns": 12, "dropped": 0.3, "shuffle": True}, "351b960b5e88e495"),
    ("mesh2d", {"rows": 14, "block": 7}, "86315e8f3abb881d"),
    ("pairs", {"m": 40}, "f6c8a9335eb91a38"),
    ("paths", {"n": 150, "mean_length": 30, "branches": 0.3}, "a08690e6e6dc4617"),
    ("paths", {"n": 150, "shuffle": True}, "0dcf0bbb5d882f35"),
    ("rgg", {"n": 120}, "803ae1b385115849"),
    ("rgg", {"n": 120, "mean_degree": 20}, "3febae7bf96750bd"),
    ("rmat", {"scale": 7, "edge_factor": 200 / 128}, "ae82bfc20f09d079"),
    ("rmat", {"scale": 6, "edge_factor": 4, "shuffle": False, "simple": True}, "c204c620703f02f8"),
    ("scale_free", {"n": 100, "hubs": 0.03, "hub_degree": 25}, "1c6ad1fe4167a90b"),
    ("stencil3d", {"nx": 3, "ny": 4, "nz": 2, "unknowns": 2}, "54c195c2693722eb"),
    ("stencil3d", {"nx": 4, "points": 7}, "da208c485791c240"),
    ("uniform", {"n": 100, "m": 200}, "a5c1ffbbba8a4e86"),
]
NAMES = [f"{family}-{number}" for number, (family, _, _) in enumerate(MADE)]
SEED = 2**40 + 7


def digest(made):
    """Of a graph: its size and edges in order.  Of a table: its rows."""
    state = hashlib.sha256()
    if hasattr(made, "n_vertices"):
        state.update(np.int64(made.n_vertices).tobytes())
        for column in (made.sources, made.targets):
            state.update(arrays.move(column, "cpu").astype("<i8").tobytes())
    else:
        state.update(repr(made.to_pylist()).encode())
    return state.hexdigest()[:16]


def make(family, sizes, **options):
    return digest(getattr(generators, family)(**sizes, **{"seed": SEED, **options}))


@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize(("family", "sizes", "expected"), MADE, ids=NAMES)
def test_same_bytes_on_every_engine(family, sizes, expected):
    assert make(family, sizes, device="cuda" if SIMULATED else "cpu") == expected


@pytest.mark.gpu
@pytest.mark.parametrize(("family", "sizes", "expected"), MADE, ids=NAMES)
def test_same_bytes_on_a_gpu(family, sizes, expected):
    assert make(family, sizes, device="cuda") == expected


@pytest.mark.gpu
def test_same_bytes_on_a_gpu_at_scale():
    for family, sizes in (("rgg", {"n": 10**5}), ("rmat", {"scale": 16}), ("mesh2d", {"rows": 500})):
        assert make(family, sizes, device="cuda") == make(family, sizes)


@pytest.mark.interpreter
@pytest.mark.simulator
def test_weights_on_every_engine():
    graph = generators.uniform(50, 80, seed=3, device="cuda" if SIMULATED else "cpu")
    weights = generators.with_weights(graph, -5, 5, seed=SEED).weights
    assert hashlib.sha256(arrays.move(weights, "cpu").tobytes()).hexdigest()[:16] == "dcff56dda0bda349"


@pytest.mark.parametrize(("family", "sizes", "_"), MADE, ids=NAMES)
def test_the_seed_decides(family, sizes, _):
    assert make(family, sizes) == make(family, sizes)
    assert (make(family, sizes, seed=1) != make(family, sizes, seed=2)) == (family != "stencil3d")


def test_the_number_of_threads_does_not_matter():
    from numba import get_num_threads, set_num_threads

    threads = get_num_threads()
    many = make("rgg", {"n": 20_000}), make("rmat", {"scale": 14})
    set_num_threads(1)
    try:
        assert (make("rgg", {"n": 20_000}), make("rmat", {"scale": 14})) == many
    finally:
        set_num_threads(threads)


def kernels():
    """Every loop of the package with the types of its arguments, as the families call it."""
    u32, i64, number = "uint32[]", "int64[]", "int64"
    edges = (u32, u32)
    output = (EdgeOutput, (i64, *edges))
    shuffle = (Shuffle, (number,) * 3)
    yield "chains", "_attach", (number, number, shuffle, output)
    yield "chains", "_extend", (number, number, number, shuffle, output)
    yield "derived", "_copy", (*edges, number, number, *edges)
    yield "derived", "_weigh", (*[number] * 3, *edges, "int32[]")
    yield "geometric", "_cell_key", (number, number, "uint64[]")
    yield "geometric", "_join_near", (number, number, (Points, (*edges, i64)), output)
    yield "geometric", "_locate", (number, "uint64[]", *edges)
    yield "grids", "_couple", ((Box, (number,) * 3), number, number, output)
    yield "grids", "_keep", (*[number] * 5, "int8[]")
    yield "grids", "_link_cell", (*[number] * 4, shuffle, output)
    yield "grids", "_link_site", (number, i64, output)
    yield "chains", "_pair", (*[number] * 4, *edges, "int32[]")
    yield "chains", "_spell", (number, number, u32, "uint8[]")
    yield "random_graphs", "_descend", (number, number, (Quadrants, (number,) * 3), *edges)
    yield "random_graphs", "_draw_hubs", (*[number] * 3, shuffle, *edges)
    yield "random_graphs", "_draw_uniform", (number, number, *edges)
    yield "random_graphs", "_number", (*[number] * 3, *edges)


@pytest.mark.ptx
@pytest.mark.skipif(find_spec("numba_cuda") is None, reason="needs the CUDA compiler")
@pytest.mark.parametrize(("page", "loop", "kinds"), [pytest.param(*k, id=k[0] + k[1]) for k in kernels()])
def test_kernels_compile_for_gpus(page, loop, kinds):
    from importlib import import_module

    kernel = getattr(import_module(f"edgewise.generators.{page}"), loop)
    assert isinstance(kernel, each)
    text = kernel.cuda.ptx(kinds, (9, 0))
    assert ".entry" in text and ".f32" not in text and ".f64" not in text


def test_every_loop_is_compiled_for_gpus():
    from importlib import import_module
    from pkgutil import iter_modules

    pages = [
        import_module(f"{generators.__name__}.{page.name}") for page in iter_modules(generators.__path__)
    ]
    loops = {
        (page.__name__.rpartition(".")[2], name)
        for page in pages
        for name, value in vars(page).items()
        if isinstance(value, each) and value.body.__module__ == page.__name__
    }
    assert loops == {(page, loop) for page, loop, _ in kernels()}
