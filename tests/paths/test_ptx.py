"""The searches of one launch compile for GPUs without one; rows have wider vertices from 2**32 on only."""

from importlib import import_module

import pytest

from edgewise.device import launch
from edgewise.paths.csr import CSR

pytestmark = pytest.mark.ptx
near_far = import_module("edgewise.paths.sssp.near_far")
hierarchies = import_module("edgewise.paths.sssp.contraction_hierarchy")
cooperative = import_module("edgewise.paths.bfs.cooperative")
warps = import_module("edgewise.paths.betweenness.warps")
bit_parallel = import_module("edgewise.paths.measures.bit_parallel_gpu")


def near_far_kinds(weight, index):
    number = "float64" if weight.startswith("float") else "int64"
    weights, ids, words = f"{weight}[]", f"{index}[]", "uint32[]"
    graph = CSR, ("int64[]", ids, weights)
    search = near_far.Search, (graph, weights, weights, "uint8[]", words, ids, "int32[]")
    limits = near_far.Limits, ("int64", "int64[]", ids, "int64", number, number, number)
    return "int32[]", search, limits


def cooperative_kinds(index):
    rows = CSR, ("int64[]", f"{index}[]", "int32[]")
    search = cooperative.Search, (rows, rows, "int32[]", f"{index}[]", "int64[]")
    return "int32[]", search, (cooperative.Limits, ("int64", "int64[]", *5 * ("int64",)))


@pytest.mark.parametrize(
    "weight, index, capability",
    [
        ("int32", "uint32", (8, 0)),
        ("float64", "int64", (9, 0)),
    ],
)
def test_near_far(weight, index, capability):
    check(near_far.search_near_far, near_far_kinds(weight, index), capability)


def hierarchy_kinds(weight, index):
    ids, weights = f"{index}[]", f"{weight}[]"
    rows = CSR, ("int64[]", ids, weights)
    remaining = hierarchies.Remaining, (ids, "uint8[]", "int64[]", ids, weights)
    ranked = hierarchies.Ranked, (ids, "int64[]", ids, weights, "int64[]")
    hierarchy = hierarchies.Hierarchy, (ids, rows, "int64[]", "float64")
    contract = "int32[]", rows, remaining, ranked, "int64[]", "int64", "int64"
    return contract, ("int32[]", hierarchy, weights, "int64", weights)


def test_contraction_hierarchy():
    contract, descend = hierarchy_kinds("int64", "uint32")
    check(hierarchies.contract, contract, (9, 0))
    check(hierarchies.descend, descend, (9, 0))


def test_cooperative():
    check(cooperative.run, cooperative_kinds("uint32"), (8, 0))


def warps_kinds(index):
    ids, words, longs, floats = f"{index}[]", "uint32[]", "int64[]", "float64[]"
    rows = warps.Rows, (longs, ids, longs, longs, "int64", "int64")
    search = warps.BatchSearch, (rows, rows, longs, floats, "int64", "int64")
    state = floats, words, words, words, ids, words, longs, longs, longs, floats, floats, floats, "int32[]"
    return "int32[]", search, (warps.Scratch, state)


def test_betweenness():
    check(warps.search_batches, warps_kinds("uint32"), (9, 0))


def bit_parallel_kinds(index):
    ids = f"{index}[]"
    rows = CSR, ("int64[]", ids, "int32[]")
    memory = bit_parallel.Memory, ("uint32[]", "uint32[]", "int32[]", ids, "uint32[]", "int64[]", "int32[]")
    totals = bit_parallel.Totals, ("int64[]", "int64[]", "int64[]", "int32[]")
    share = bit_parallel.Share, (*("int64",) * 4, "boolean")
    return "int32[]", (bit_parallel.Rows, (rows, rows, "int64[]")), memory, totals, share


def test_bit_parallel():
    check(bit_parallel.search_batches, bit_parallel_kinds("uint32"), (8, 0))


def check(region, kinds, capability):
    text = region.cuda.ptx(kinds, capability)
    assert launch.entry_name(text)
    assert f".target sm_{capability[0]}{capability[1]}" in text
    assert "ld.local" not in text  # all in registers
