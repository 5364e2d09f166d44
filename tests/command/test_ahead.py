"""The list of usual kernels is what commands launch on a GPU, with these types of arguments."""

import pytest

from edgewise.command import run
from edgewise.device import ahead, launch
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
    ["generate", "rmat", "8", "-o", "made.npz"],
)


def without_width(name):
    """The name of a kernel, whose rows have a thread each in the simulator, and a warp each on a GPU."""
    return name.removesuffix(".thread").removesuffix(".warp")


@pytest.mark.parametrize("words", COMMANDS, ids=[" ".join(words) for words in COMMANDS])
def test_commands_launch_usual_kernels(words, tmp_path, monkeypatch):
    pairs = [(u, (u * 7 + 3) % 50) for u in range(80)]
    (tmp_path / "pairs.csv").write_text("source,target\n" + "".join(f"{u},{v}\n" for u, v in pairs))
    rows = "".join(f"{u},{v},{u % 9 + 1}\n" for u, v in pairs)
    (tmp_path / "weighted.csv").write_text("source,target,weight\n" + rows)
    monkeypatch.chdir(tmp_path)
    usual = [(without_width(name), kinds) for name, kinds in ahead.usual_kernels()]
    launched, launch_one = [], launch.Kernel.__call__

    def note(self, count, arguments, device):
        launched.append((without_width(self.name), ahead.written_as(map(launch.kind_of, arguments))))
        return launch_one(self, count, arguments, device)

    monkeypatch.setattr(launch.Kernel, "__call__", note)
    assert run([*words, "--device", "cuda", "-q"]) == 0
    assert launched
    assert [kernel for kernel in launched if kernel not in usual] == []
