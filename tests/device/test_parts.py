"""Device functions are compiled as parts of others, and what no part can do is refused."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numba.core.errors import TypingError

from edgewise.device import device, each
from edgewise.device.target import INTERPRETED, SIMULATED

pytestmark = pytest.mark.skipif(INTERPRETED or SIMULATED, reason="it is the compiler that makes parts")

FILL = """
from numba.core import codegen
{before}
import numpy as np
from edgewise.device import each, numba_internals
from edgewise.components.rem import union

values = np.zeros(3000, np.int64)
each(lambda index, values: union(values, index, 0))(3000, values)
print(numba_internals.HAS_PARTS, values.any())
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


def compiled_by(before, **settings):
    """Which compiler device functions get in a new process, and whether they do wrong."""
    text = FILL.format(before=before)
    found = subprocess.run(
        [sys.executable, "-c", text],
        env={**os.environ, **settings},
        capture_output=True,
        check=True,
        text=True,
    )
    return found.stdout.split()


def test_without_private_names_parts_are_compiled_as_any_function():
    assert compiled_by("", EDGEWISE_PUBLIC_ONLY="0") == ["True", "False"]
    assert compiled_by("codegen.JITCodeLibrary = object") == ["False", "False"]
    assert compiled_by("", EDGEWISE_PUBLIC_ONLY="1") == ["False", "False"]
