"""Names of methods for tests: those of a table, and ``auto`` twice, once where no graph counts as small."""

from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

from edgewise import tuning

LARGE = "auto, no graph small"


@contextmanager
def method_named(name):
    """Context with the argument ``method`` for a name."""
    if name != LARGE:
        yield name
        return
    with patch.object(tuning, "CPU", replace(tuning.CPU, paths_alone=0)):
        yield "auto"


def takes(methods, name, directed, dtype="int32"):
    """Whether a method of a table, or ``auto``, takes such a graph with weights of a type."""
    if name not in methods:
        return True
    return (methods[name].directed or not directed) and methods[name].takes_weights(dtype)
