"""Peeling compiles for GPUs without one."""

from importlib import import_module

import pytest

from edgewise.device import launch

peel, rows = import_module("edgewise.cores.peel"), import_module("edgewise.primitives.rows")
pytestmark = pytest.mark.ptx


def test_peel(index="uint32", degree="int32", capability=(9, 0)):
    csr = peel.Rows, ("int64[]", f"{index}[]")
    peeling = peel.Peeling, (csr, f"{degree}[]", f"{index}[]", f"{index}[]", "int64[]")
    check(peel.run.cuda.ptx(("int32[]", peeling), capability), capability)


def test_check_row():
    text = rows.check_row.cuda.ptx(("int64[]", "uint32[]", "int32[]"), (9, 0))
    check(text, (9, 0))


def test_simplified_rows():
    csr = "int64[]", "uint32[]"
    check(rows.count_kept.kernels["warp"].ptx((*csr, "int64[]"), (9, 0)), (9, 0))
    check(rows.write_kept.kernels["warp"].ptx((*csr, "int64[]", "uint32[]"), (9, 0)), (9, 0))


def test_row_numbers():
    text = rows.number_tile.kernels["warp"].ptx(("int64[]", "uint32[]"), (9, 0))
    check(text, (9, 0))


def check(text, capability):
    assert launch.entry_name(text)
    assert f".target sm_{capability[0]}{capability[1]}" in text
    assert "ld.local" not in text  # all in registers
