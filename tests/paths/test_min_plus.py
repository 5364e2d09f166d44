"""Floyd-Warshall by min-plus products of tiles: against NumPy in the simulator and on a GPU, and as PTX."""

import numpy as np
import pytest

from edgewise.device import arrays, launch
from edgewise.paths.apsp import floyd_warshall_gpu
from edgewise.paths.apsp.search import ceiling_of
from edgewise.primitives import min_plus

TYPES = (np.int32, np.int64, np.float32, np.float64)


def matrix_of(n, kind, seed, *, symmetric=False, signed=False, density=0.15):
    """A padded matrix of edges, and the distances that NumPy finds in it."""
    rng, stride = np.random.default_rng(seed), min_plus.padded(n)
    ceiling = ceiling_of(kind)
    edges = np.full((stride, stride), ceiling, kind)
    there = rng.random((n, n)) < density
    weights = rng.integers(0, 100, (n, n)).astype(kind)
    if signed:  # a potential makes edges negative, but no cycle
        height = rng.integers(0, 40, n).astype(kind)
        weights = weights + height - height[:, None]
    edges[:n, :n][there] = weights[there]
    if symmetric:
        edges = np.minimum(edges, edges.T)
    np.fill_diagonal(edges, 0)
    return edges, oracle(edges)


def oracle(edges):
    """Floyd-Warshall in wide numbers."""
    wide = edges.astype(np.float64)
    wide[edges == ceiling_of(edges.dtype)] = np.inf
    for k in range(len(wide)):
        np.minimum(wide, wide[:, k : k + 1] + wide[k], out=wide)
    reached = np.isfinite(wide)
    return np.where(
        reached, np.where(reached, wide, 0).astype(edges.dtype), edges.dtype.type(ceiling_of(edges.dtype))
    )


def solved(edges, n, **options):
    matrix = arrays.move(edges.reshape(-1).copy(), "cuda:0")
    negative = floyd_warshall_gpu.solve(matrix, n, len(edges), **options)
    arrays.synchronize("cuda:0")
    return arrays.move(matrix, "cpu").reshape(edges.shape), negative


def signed_whole(kind, way):
    """Whether what is no path may have been lowered."""
    return way == "signed" and np.dtype(kind).kind == "i"


@pytest.mark.simulator
@pytest.mark.gpu
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("way", ["directed", "symmetric", "signed"])
def test_distances(kind, way):
    sizes = (13,) if launch.SIMULATED else (1, 100, 128, 300, 1000)
    options = {} if way == "directed" else {way: True}
    for n in sizes:
        edges, expected = matrix_of(n, kind, n, density=min(1, 4 / n), **options)
        found, negative = solved(edges, n, **options)
        assert not negative
        if signed_whole(kind, way):
            found[found > ceiling_of(kind) // 2] = ceiling_of(kind)
        assert np.array_equal(found, expected)


@pytest.mark.simulator
@pytest.mark.gpu
@pytest.mark.parametrize("kind", [np.int32, np.float32])
def test_negative_cycles_are_found(kind):
    n = 12 if launch.SIMULATED else 400
    edges, _ = matrix_of(n, kind, 5, density=0.3)
    edges[2, n - 1], edges[n - 1, 2] = 3, -4
    found, negative = solved(edges, n, signed=True)
    assert negative
    assert np.flatnonzero(np.diagonal(found)).tolist() in ([2], [n - 1])


@pytest.mark.gpu
@pytest.mark.parametrize("kind", TYPES)
def test_paths_of_fractions(kind):
    """Float sums may be made in another order, so they agree to rounding only."""
    if np.dtype(kind).kind == "i":
        pytest.skip("whole numbers")
    n = 700
    edges, _ = matrix_of(n, kind, 3, density=0.01)
    edges = np.where(np.isinf(edges), edges, edges * kind(0.1)).astype(kind)
    found, _ = solved(edges, n)
    assert np.allclose(found, oracle(edges), rtol=64 * np.finfo(kind).eps)


@pytest.mark.interpreter
@pytest.mark.parametrize(("high", "wide"), [(1, 1), (3, 5), (8, 2), (19, 4), (32, 3)])
def test_blocks_have_each_tile_once(high, wide):
    """Blocks that follow one another are in the same few rows of tiles."""
    tile_of = min_plus._tiles()._tile_of()
    tiles = [tile_of(block, high, wide) for block in range(high * wide)]
    assert sorted(tiles) == [(row, column) for row in range(high) for column in range(wide)]
    assert [row // 8 for row, _ in tiles] == sorted(row // 8 for row, _ in tiles)


@pytest.mark.ptx
@pytest.mark.parametrize("kind", (pytest.param(np.int64, marks=pytest.mark.release), np.float32))
def test_kernels_keep_their_values_in_registers(kind):
    name, capability = np.dtype(kind).name, (9, 0) if kind is np.int32 else (8, 0)
    for signed in (False, True) if kind is np.float32 else (False,):
        tiles = min_plus.min_plus(np.dtype(kind), signed)
        seen = "int32" if tiles.by_bits else name
        numbers = lambda count: ("int64",) * count  # noqa: E731
        panel = lambda kind: (min_plus.Panel, (f"{kind}[]", "int64", "int64"))  # noqa: E731
        text = tiles._relax.ptx((panel(seen),) * 3 + numbers(3), capability)
        assert "ld.local" not in text and "st.local" not in text
        assert ".maxntid 256" in text and "cp.async" in text
        if np.dtype(kind).itemsize == 4:
            assert text.count("ld.shared.v4") == 8
        if signed:  # the other kernels are the same
            continue
        text = tiles._close.ptx((panel(name), f"{name}[]", "int64[]", "int64"), capability)
        assert "ld.local" not in text
        assert tiles._transpose.ptx((panel(name), panel(name), "int64"), capability)
