"""What numba-cuda-mlir would compile to wrong results without the corrections of ``cuda_by_mlir``."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from edgewise.device import each, fetch_max, fetch_min, launch
from edgewise.device.atomics import cas, fence, load, store
from edgewise.device.target import IS_MLIR, device
from edgewise.device.warps import inclusive_scan, shuffle

pytestmark = [
    pytest.mark.ptx,
    pytest.mark.skipif(not IS_MLIR, reason="EDGEWISE_CUDA_COMPILER=mlir chooses this compiler"),
]
VERTICES, WORDS, NUMBERS = "uint32[]", "uint64[]", "int64[]"


class Labels(NamedTuple):
    """Labels, and the least of them."""

    labels: Any
    least: Any


@device
def with_least(labels, least):
    return Labels(labels, least)


@each
def lower(vertex, labels, values):
    fetch_min(labels, vertex, values[vertex])


@each
def raise_it(vertex, labels, values):
    fetch_max(labels, vertex, values[vertex])


@each
def at_label(vertex, labels, values):
    values[labels[vertex]] = values[vertex]


@each
def at_label_atomically(vertex, labels, values):
    fetch_min(values, labels[vertex], 0)


@each
def smaller(vertex, labels, values):
    labels[vertex] = min(labels[vertex], values[vertex])


@each
def compare(vertex, labels, values):
    labels[vertex] = cas(labels, vertex, values[vertex], values[0])


@each
def of_first_lane(vertex, labels, values):
    labels[vertex] = shuffle(values[vertex], 0)


@each
def scan(vertex, labels, values):
    labels[vertex] = inclusive_scan(values[vertex], vertex % 32)


@each
def publish(vertex, labels, values):
    store(labels, vertex, values[vertex])
    fence()
    labels[0] = load(values, vertex)


@each
def record(vertex, labels, values):
    made = with_least(labels, values[vertex])
    made.labels[vertex] = made.least


@pytest.mark.parametrize(
    ("loop", "kinds", "instructions"),
    [
        (lower, (VERTICES, VERTICES), {"atom.global.min.u32": 1}),
        (lower, (WORDS, WORDS), {"atom.global.min.u64": 1}),
        (lower, (NUMBERS, NUMBERS), {"atom.global.min.s64": 1}),
        (raise_it, (VERTICES, VERTICES), {"atom.global.max.u32": 1}),
        (at_label, (VERTICES, NUMBERS), {"ld.global.u32 \t%rd": 1, "ld.global.s32": 0}),
        (at_label_atomically, (VERTICES, NUMBERS), {"ld.global.u32 \t%rd": 1, "ld.global.s32": 0}),
        (smaller, (VERTICES, VERTICES), {"min.u32": 1}),
        (smaller, (NUMBERS, NUMBERS), {"min.s64": 1}),
        (compare, (VERTICES, VERTICES), {"atom.global.cas.b32": 1, "bra": 1}),
        (of_first_lane, (NUMBERS, NUMBERS), {"shfl.sync.idx.b32": 2}),
        (of_first_lane, (WORDS, WORDS), {"shfl.sync.idx.b32": 2}),
        (of_first_lane, ("float64[]", "float64[]"), {"shfl.sync.idx.b32": 2}),
        (of_first_lane, (VERTICES, VERTICES), {"shfl.sync.idx.b32": 1}),
        (scan, (NUMBERS, NUMBERS), {"shfl.sync.up.b32": 10}),
        (publish, (NUMBERS, NUMBERS), {"atom.global.exch": 1, "fence.acq_rel.gpu": 1, "ld.relaxed.gpu": 1}),
        (record, (NUMBERS, NUMBERS), {"st.global.u64": 1}),
    ],
)
def test_instructions(loop, kinds, instructions):
    text = loop.cuda.ptx(kinds, (9, 0))
    body = text.partition(".entry")[2].partition("\n}")[0]  # device functions follow, which it does not call
    assert {one: body.count(one) for one in instructions} == instructions
    assert launch.n_parameters(text) == 1 + 5 * len(kinds)


def test_a_thread_counts_beyond_32_bits():
    """The number of a thread is a 64-bit product."""
    text = lower.cuda.ptx((NUMBERS, NUMBERS), (9, 0))
    assert "mad.lo.s32" not in text
    assert np.iinfo(np.int32).max < launch.GRID_BLOCKS * launch.BLOCK
