"""The kernels that commands launch on a GPU, for ``edgewise/device/usual_kernels.json``.

    NUMBA_ENABLE_CUDASIM=1 python bench/usual_kernels.py

The commands of ``bench/first_use.py`` run in the simulator, which launches the same kernels with the same
types of arguments.  The slowest to compile come first, by the time that the compiler takes here.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace

import first_use

from edgewise import tuning
from edgewise.device import ahead, each_row, launch, warps

# So that small files take the kernels of large ones.
tuning.CPU = replace(tuning.CPULimits(), ingest_few=0)
tuning.GPU = replace(tuning.GPULimits(), cycles_marked=2)
#: Wedges up to which a warp, a block, and a block with a table outside count the vertices of these files.
LIMITS = 1, 2, 4


class WarpWidth(str):
    """The width of a row that has a warp on a GPU and a thread in the simulator."""


warps.WARP_WIDTH = WarpWidth(warps.WARP_WIDTH)  # before another page takes it
from edgewise.command import run  # noqa: E402
from edgewise.cycles.counting import apex  # noqa: E402

#: Run in a process with the compiler: the seconds of the kernels that are read from standard input.
COMPILE = """
import json, sys, time
from edgewise.device import ahead, launch
seconds = []
for name, kinds in json.load(sys.stdin):
    begun = time.perf_counter()
    launch._compile(ahead.kernel_named(name).source(), ahead.kinds_of(kinds), (9, 0))
    seconds.append(time.perf_counter() - begun)
print(json.dumps(seconds))
"""


def launched(words):
    """Kernels that a command launches, with the types of their arguments as the file has them."""
    found, widths = [], ["thread"]
    launch_one, launch_rows = launch.Kernel.__call__, each_row.__call__

    def note(self, count, arguments, device):
        name = self.name
        if isinstance(widths[-1], WarpWidth):
            name = f"{name.removesuffix('.thread')}.warp"
        kernel = [name, ahead.written_as(map(launch.kind_of, arguments))]
        if kernel not in found:
            found.append(kernel)
        return launch_one(self, count, arguments, device)

    def note_rows(self, rows, *arguments, width="thread"):
        widths.append(width)
        launch_rows(self, rows, *arguments, width=width)
        widths.pop()

    launch.Kernel.__call__, each_row.__call__ = note, note_rows
    apex.ApexCounter._limits = lambda self, *given: LIMITS
    try:
        with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing):
            if run([*words, "--device", "cuda", "-q"]):
                sys.exit(f"{' '.join(words)} failed")
    finally:
        launch.Kernel.__call__, each_row.__call__ = launch_one, launch_rows
    return found


def main():
    by_command, known = {}, []
    with tempfile.TemporaryDirectory() as folder:
        first_use.make_files(folder)
        os.chdir(folder)
        for name, words in first_use.COMMANDS.items():
            if name not in first_use.WITHOUT_DEVICE:
                begun = time.perf_counter()
                new = [kernel for kernel in launched(words) if kernel not in known]
                known += new
                by_command.setdefault(words[0], []).extend(new)
                print(f"{name}: {len(new)} kernels, {time.perf_counter() - begun:.1f} s")
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_ENABLE_CUDASIM"}
    done = subprocess.run(
        [sys.executable, "-c", COMPILE],
        input=json.dumps(known),
        cwd=ahead.USUAL.parent,
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    seconds = dict(zip(map(json.dumps, known), json.loads(done.stdout)))
    for kernels in by_command.values():
        kernels.sort(key=lambda kernel: -seconds[json.dumps(kernel)])
    lines = [
        f'  "{command}": [\n' + ",\n".join(f"    {json.dumps(one)}" for one in kernels) + "\n  ]"
        for command, kernels in by_command.items()
    ]
    ahead.USUAL.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
