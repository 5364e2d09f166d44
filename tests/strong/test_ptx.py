"""Signatures compile for GPUs without one."""

from importlib import import_module

import pytest

from edgewise.device import launch
from edgewise.strong.tarjan import Rows

signatures = import_module("edgewise.strong.signatures")
pytestmark = pytest.mark.ptx


def test_signatures(index="uint32", capability=(9, 0)):
    ids = f"{index}[]"
    edges = signatures.Edges, (ids, ids)
    state = signatures.Signatures, (ids, ids, ids, (Rows, ("int64[]", ids)), "int64[]", "int64")
    text = signatures.run.cuda.ptx(("int32[]", edges, edges, edges, state), capability)
    assert launch.entry_name(text)
    assert f".target sm_{capability[0]}{capability[1]}" in text
    assert "ld.local" not in text  # all in registers
