"""Named tuples, nested ones too, are arguments of loops, rows, regions and compiled calls on every engine."""

import os
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import njit

from edgewise.device import arrays, barrier_wait, compiled, each, each_row, fetch_add, launch, parallel_region
from edgewise.device.target import INTERPRETED, SIMULATED
from edgewise.errors import DeviceError

pytestmark = [pytest.mark.interpreter, pytest.mark.simulator]
DEVICE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda:0" if SIMULATED else "cpu")


class Rows(NamedTuple):
    """Rows of values with a common factor."""

    offsets: Any
    values: Any
    factor: float


class Job(NamedTuple):
    """Rows, what to add to each entry, and the sums."""

    rows: Rows
    added: int
    sums: Any


def job_of(rows=4, length=5, device=DEVICE):
    offsets = arrays.move(np.arange(rows + 1) * length, device)
    values = arrays.move(np.arange(rows * length), device)
    return Job(Rows(offsets, values, 0.5), 3, arrays.zeros(rows, np.float64, device))


def expected(rows=4, length=5):
    return (np.arange(rows * length).reshape(rows, length) * 0.5 + 3).sum(axis=1).tolist()


def sums_of(job):
    return np.asarray(arrays.move(job.sums, "cpu")).tolist()


@each
def sum_each(row, job, scale):
    total = 0.0
    for entry in range(job.rows.offsets[row], job.rows.offsets[row + 1]):
        total += job.rows.values[entry] * job.rows.factor + job.added
    job.sums[row] = total * scale


@each.prefetch(lambda row, job: job.rows.offsets[row])
def sum_prefetched(row, first, job):
    total = 0.0
    for entry in range(first, job.rows.offsets[row + 1]):
        total += job.rows.values[entry] * job.rows.factor + job.added
    job.sums[row] = total


@each_row
def sum_rows(row, lane, lanes, job):
    for entry in range(job.rows.offsets[row] + lane, job.rows.offsets[row + 1], lanes):
        fetch_add(job.sums, row, job.rows.values[entry] * job.rows.factor + job.added)


@parallel_region
def sum_in_region(worker, job, halves):
    for row in range(worker.id, len(job.sums), worker.count):
        halves[row] = 0.0
        for entry in range(job.rows.offsets[row], job.rows.offsets[row + 1]):
            halves[row] += job.rows.values[entry] * job.rows.factor
    barrier_wait(worker)
    for row in range(worker.id, len(job.sums), worker.count):
        length = job.rows.offsets[row + 1] - job.rows.offsets[row]
        job.sums[row] = halves[row] + job.added * length


@parallel_region.by(shared_words=2)
def sum_with_shared_memory(worker, job):
    for row in range(worker.id, len(job.sums), worker.count):
        total = 0.0
        for entry in range(job.rows.offsets[row], job.rows.offsets[row + 1]):
            total += job.rows.values[entry] * job.rows.factor + job.added
        job.sums[row] = total


@compiled
def sum_compiled(job):
    for row in range(len(job.sums)):
        for entry in range(job.rows.offsets[row], job.rows.offsets[row + 1]):
            job.sums[row] += job.rows.values[entry] * job.rows.factor + job.added


def test_loops():
    job = job_of()
    sum_each(4, job, 2.0)
    assert sums_of(job) == [2 * total for total in expected()]
    job = job_of(rows=300)
    sum_prefetched(300, job)
    assert sums_of(job) == expected(300)


@pytest.mark.parametrize("width", ["thread", "warp", "block"])
def test_rows(width):
    job = job_of()
    sum_rows(4, job, width=width)
    assert sums_of(job) == expected()


def test_regions():
    job = job_of()
    sum_in_region(job, arrays.zeros(4, np.float64, DEVICE))
    assert sums_of(job) == expected()
    job = job_of()
    sum_with_shared_memory(job)
    assert sums_of(job) == expected()


def test_compiled_calls():
    job = job_of(device="cpu")
    sum_compiled(job)
    assert sums_of(job) == expected()


class Box(NamedTuple):
    """Anything."""

    value: Any


class OtherBox(NamedTuple):
    """Anything, in another class."""

    value: Any


def frozen(values):
    values.flags.writeable = False
    return values


#: Values whose Numba types differ, and several of each type; then pairs of records.
VALUES = (
    *(
        1,
        2**40,
        np.int64(3),
        np.uint64(1),
        np.int32(1),
        np.uint8(1),
        True,
        np.True_,
        0.5,
        np.float64(2),
        None,
    ),
    *(np.float32(1), np.zeros(3), np.ones(1), np.zeros(6)[1:3], np.zeros(6)[::2], np.zeros(3, np.int32)),
    *(np.zeros((2, 2)), frozen(np.zeros(3)), frozen(np.zeros(6)[::2]), (1, 2.0), (1, (2.0,)), (1, 2, 3)),
)
PAIRS = [
    *((Box(value), OtherBox(1)) for value in VALUES),
    *((Box((Box(1), 2)), 3), (Box((Box(1),)), 2), (Box(Box((1, 2))), 3), (Box(1), 2), (1, Box(2))),
    *((Box(Box(1)), OtherBox(2)), (Box(Box(1)), Box(2)), (Box(1), OtherBox(Box(2)))),
]


@pytest.mark.skipif(INTERPRETED or SIMULATED, reason="it is the compiler that types arguments")
def test_calls_with_records_type_values_as_numba_does():
    def take_both(first, second):
        return 0

    from edgewise.device.numba_arrays import contiguous
    from edgewise.device.numba_internals import WHOLE

    ours, numbas = compiled(take_both), njit(nogil=True, **WHOLE)(take_both)
    function = getattr(ours.function, "dispatcher", ours.function)
    for _ in range(2):
        for pair in PAIRS:
            ours(*pair), numbas(*pair)
    compiled_for = {tuple(map(contiguous, signature)) for signature in numbas.overloads}
    assert {*function.overloads} == {*numbas.overloads} | compiled_for
    assert len(numbas.overloads) > 20


@pytest.mark.skipif(INTERPRETED or SIMULATED, reason="it is the compiler that types arguments")
def test_calls_with_records_reach_the_code_for_their_types():
    @compiled
    def describe(first, second):
        return first.value / second.value

    numbers = 7, 7.5, np.uint8(200)
    for _ in range(2):
        for one in numbers:
            for other in numbers:
                expected = np.float64(one) / np.float64(other)
                for classes in ((Box, Box), (Box, OtherBox), (OtherBox, OtherBox)):
                    assert describe(classes[0](one), classes[1](other)) == pytest.approx(expected)


def test_slices_are_fields():
    job = job_of()
    sum_each(2, job._replace(rows=job.rows._replace(offsets=job.rows.offsets[2:]), sums=job.sums[2:]), 1.0)
    assert sums_of(job)[2:] == expected()[2:]


def test_errors_name_the_field():
    job = job_of()
    strided = job.rows._replace(values=arrays.move(np.arange(40), DEVICE)[::2])
    with pytest.raises(DeviceError, match=r"rows\.values of argument 0 \(Job\) is not contiguous"):
        sum_each(4, job._replace(rows=strided), 1.0)
    with pytest.raises(DeviceError, match="argument 1 is not contiguous"):
        sum_in_region(job, arrays.zeros(8, np.float64, DEVICE)[::2])
    if DEVICE != "cpu":
        elsewhere = job.rows._replace(offsets=np.arange(5))
        with pytest.raises(DeviceError, match=r"several devices .*rows\.values of argument 0 \(Job\)"):
            sum_each(4, job._replace(rows=elsewhere), 1.0)


@pytest.mark.ptx
@pytest.mark.skipif(INTERPRETED or SIMULATED, reason="it is the compiler that makes PTX")
@pytest.mark.parametrize("capability", [(8, 0), (9, 0)])
def test_kernels_take_one_parameter_for_each_word(capability):
    job, scratch = job_of(device="cpu"), np.zeros(4)
    barrier = "int32[]"
    kernels = {
        sum_each.cuda: (launch.kind_of(job), "float64"),
        sum_prefetched.cuda: (launch.kind_of(job),),
        sum_rows.kernels["warp"]: (launch.kind_of(job),),
        sum_rows.kernels["block"]: (launch.kind_of(job),),
        sum_in_region.cuda: (barrier, launch.kind_of(job), launch.kind_of(scratch)),
        sum_with_shared_memory.cuda: (barrier, launch.kind_of(job)),
    }
    for kernel, kinds in kernels.items():
        assert launch.n_parameters(kernel.ptx(kinds, capability)) == 1 + n_words(kinds), kernel.name


def n_words(kinds):
    """Words of arguments: seven for an array, one for a number."""
    return sum(n_words(kind[1]) if isinstance(kind, tuple) else 7 if "[" in kind else 1 for kind in kinds)


@pytest.mark.skipif(INTERPRETED or SIMULATED or DEVICE != "cpu", reason="needs the CPU compiler")
def test_read_only_arrays_are_no_second_compilation(monkeypatch):
    job = job_of()
    sum_each(4, job, 1.0)
    compiler, signatures = type(sum_each.cpu.dispatcher._compiler), []
    compile_as = compiler.compile
    monkeypatch.setattr(
        compiler, "compile", lambda self, *kinds: signatures.append(kinds) or compile_as(self, *kinds)
    )
    for array in job.rows[:2]:
        array.flags.writeable = False
    sum_each(4, job, 1.0)
    assert sums_of(job) == expected()
    assert not signatures
