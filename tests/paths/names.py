"""Names of methods for tests: those of a table, and ``auto`` twice, once where no graph counts as small."""

from contextlib import contextmanager
from unittest.mock import patch

from edgewise.paths import csr

LARGE = "auto, no graph small"


@contextmanager
def method_named(name):
    """Context with the argument ``method`` for a name."""
    if name != LARGE:
        yield name
        return
    with patch.object(csr, "FEW_ITEMS", -1):
        yield "auto"


def takes(methods, name, directed, dtype="int32"):
    """Whether a method of a table, or ``auto``, takes such a graph with weights of a type."""
    if name not in methods:
        return True
    return (methods[name].directed or not directed) and methods[name].takes_weights(dtype)
