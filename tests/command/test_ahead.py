"""What commands do on a GPU: they launch the kernels of the list, and use no operators of CuPy."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from edgewise import tuning
from edgewise.command import run
from edgewise.device import ahead, arrays, launch
from edgewise.device.target import SIMULATED

pytestmark = [
    pytest.mark.simulator,
    pytest.mark.skipif(not SIMULATED, reason="needs the simulator's engine"),
]
COMMANDS = (
    ["components", "pairs.csv"],
    ["paths", "pairs.csv", "--bfs", "--source", "1"],
    ["paths", "weighted.csv", "--source", "1"],
    ["paths", "weighted.csv", "--all-pairs", "--method", "sssp"],  # that of larger graphs
    *(["cycles", "pairs.csv", "--length", length] for length in "345"),
    ["forest", "weighted.csv"],
    ["partition", "pairs.csv", "3"],
    ["strong", "pairs.csv"],
    ["cores", "pairs.csv"],
    ["generate", "rmat", "8", "-o", "made.npz"],
)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The current folder, with the input of the commands."""
    pairs = [(u, (u * 7 + 3) % 50) for u in range(80)]
    (tmp_path / "pairs.csv").write_text("source,target\n" + "".join(f"{u},{v}\n" for u, v in pairs))
    rows = "".join(f"{u},{v},{u % 9 + 1}\n" for u, v in pairs)
    (tmp_path / "weighted.csv").write_text("source,target,weight\n" + rows)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("words", COMMANDS, ids=[" ".join(words) for words in COMMANDS])
def test_commands_launch_usual_kernels_and_use_no_operator(words, monkeypatch):
    """CuPy compiles a kernel for each function of elements, and imports SciPy for ``array == 3``."""
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, ingest_few=0))  # as for large input
    usual = [(name, ahead.kinds_of(kinds)) for name, kinds in ahead.gpu_kernels()]
    launched, launch_one, by_operators = [], launch.Kernel.__call__, []

    def note_launch(self, count, arguments, device):
        launched.append((self.name, tuple(map(launch.kind_of, arguments))))
        return launch_one(self, count, arguments, device)

    def note(self, ufunc, method, *inputs, **options):
        if method == "__call__":
            frame = sys._getframe(1)
            by_operators.append((frame.f_code.co_filename, frame.f_lineno))
        inputs, options = plain(inputs), {name: plain(value) for name, value in options.items()}
        values = getattr(ufunc, method)(*inputs, **options)
        return values.view(arrays.Simulated) if isinstance(values, np.ndarray) else values

    def plain(one):
        if isinstance(one, tuple):
            return tuple(map(plain, one))
        return one.view(np.ndarray) if isinstance(one, np.ndarray) else one

    monkeypatch.setattr(launch.Kernel, "__call__", note_launch)
    monkeypatch.setattr(arrays.Simulated, "__array_ufunc__", note, raising=False)
    assert run([*words, "--device", "cuda"]) == 0
    assert launched
    assert [kernel for kernel in launched if kernel not in usual] == []
    assert by_operators == []
