"""Private names of Numba may be missing; device functions are compiled as parts of other functions."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numba import njit, types
from numba.core.errors import TypingError
from numba.core.registry import cpu_target
from numba.extending import overload

from edgewise.device import compiled, device, each, numba_pipeline
from edgewise.device.target import INTERPRETED, SIMULATED

pytestmark = pytest.mark.skipif(INTERPRETED or SIMULATED, reason="it is the compiler that makes parts")

FILL = """
from numba.core import codegen
{before}
import numpy as np
from numba import types
from edgewise.device import each, launch, numba_internals, numba_lowering, numba_pipeline
from edgewise.components.rem import union

values = np.zeros(3000, np.int64)
each(lambda index, values: union(values, index, 0))(3000, values)
external = numba_internals.external("usleep", types.int32(types.uint32))
features = {{**vars(numba_lowering), **vars(numba_pipeline), **vars(numba_internals), "EXTERNAL": external}}
features["PASSES_WORDS"] = launch.PASSES_WORDS
print(*(bool(features[name]) for name in {names}), values.any())
"""


@device
def show(values, index):
    print("value", values[index])


@each
def show_all(index, values):
    show(values, index)


def test_parts_that_need_an_environment_are_refused():
    with pytest.raises(TypingError, match="show: device functions print fixed texts only"):
        show_all(2, np.zeros(2))


@each
def say(index, values):
    if index == 0:
        print("a fixed text")
    values[index] = 1


def test_parts_may_print_fixed_texts(capfd):
    values = np.zeros(3000)
    say(3000, values)
    assert values.all()


def extremes_of(first, a, b, c, d, e, f):
    """Those of one number and each of six: to compile a function for each pair takes three times as long."""
    return (
        (min(first, a), max(first, a), min(first, a, 1), max(max(first, 2), a)),
        (min(first, b), max(first, b), min(first, b, 1), max(max(first, 2), b)),
        (min(first, c), max(first, c), min(first, c, 1), max(max(first, 2), c)),
        (min(first, d), max(first, d), min(first, d, 1), max(max(first, 2), d)),
        (min(first, e), max(first, e), min(first, e, 1), max(max(first, 2), e)),
        (min(first, f), max(first, f), min(first, f, 1), max(max(first, 2), f)),
    )


OURS, NUMBAS = compiled(extremes_of), njit(extremes_of)
NUMBERS = np.int32(-3), np.int64(7), np.uint32(2**31), np.uint64(2**40), np.float64(-2.5), np.float64("nan")


@pytest.mark.parametrize("first", NUMBERS, ids=str)
def test_minima_and_maxima_are_those_of_numba(first):
    for ours, numbas in zip(OURS(first, *NUMBERS), NUMBAS(first, *NUMBERS), strict=True):
        np.testing.assert_array_equal(ours, numbas)
        assert [type(one) for one in ours] == [type(one) for one in numbas]


@device
def twice(value):
    return doubled(value)


@device
def doubled(value):
    return 2 * value


def test_functions_of_users_call_device_functions():
    assert compiled(twice)(3) == 6  # registers them
    assert njit(lambda value: twice(value) + 1)(np.int32(20)) == 41


FEATURES = "HAS_PARTS", "HAS_CACHE", "HAS_ENTRIES", "IS_SHORT", "BARE", "PASSES_WORDS", "EXTERNAL"
OPTIONS = """from numba.core.cpu import CPUTargetOptions
mixin = CPUTargetOptions.__mro__[1]
del mixin._nrt, mixin.no_cfunc_wrapper"""
#: Private names that can be removed while the rest of Numba works, and what depends on them.
MISSING = {
    "codegen.JITCodeLibrary = object": {"HAS_PARTS", "HAS_ENTRIES"},
    OPTIONS: {"BARE", "HAS_ENTRIES"},
}


def features_after(before, folder, public_only="0"):
    """What a new process has of the features; its kernels must be right."""
    done = subprocess.run(
        [sys.executable, "-c", FILL.format(before=before, names=FEATURES)],
        env={**os.environ, "EDGEWISE_CACHE_DIR": str(folder), "EDGEWISE_PUBLIC_ONLY": public_only},
        capture_output=True,
        check=True,
        text=True,
    )
    *features, wrong = done.stdout.split()
    assert wrong == "False"
    return {name for name, there in zip(FEATURES, features) if there == "True"}


@pytest.mark.release  # of Numba; each fallback is forced below
@pytest.mark.parametrize("removal", MISSING, ids=["library", "options"])
def test_without_a_private_name_its_fallback_serves(removal, tmp_path):
    assert features_after(removal, tmp_path) == set(FEATURES) - MISSING[removal]


def test_every_fallback_can_be_forced(tmp_path):
    assert features_after("", tmp_path, public_only="1") == set()
    assert features_after("", tmp_path) == set(FEATURES)


def test_types_are_found_where_nothing_is_compiled():
    """As a thread of a user may while another one compiles."""

    def doubled(number):
        return 2 * number

    overload(doubled)(lambda number: lambda number: 2 * number)
    context = cpu_target.typing_context
    context.refresh()
    with numba_pipeline.answers_kept():
        kind = context.resolve_value_type(doubled)
        found = context.resolve_function_type(kind, (types.float64,), {})
    assert found.return_type == types.float64
