"""The programs of other projects that run beside a benchmark: those of GAP in ``$GAPBS``, Wasp as ``$WASP``.

Each reads a file that edgewise has written, runs from given sources, and says its own time of each trial.
"""

import os
import re
import subprocess
from pathlib import Path

#: GAP's program of a call, and the file that it reads.
PROGRAMS = {
    "components rows": ("cc", ".sg"),
    "components edges": ("cc", ".sg"),
    "bfs": ("bfs", ".sg"),
    "sssp": ("sssp", ".wsg"),
    "triangles": ("tc", ".sg"),
}
#: Widths of the buckets among which a peer takes the best, for weights up to 255.
DELTAS = (2, 8, 32, 128, 1024)
SECONDS = 120


def is_there(name):
    """Whether ``GAPBS`` or ``WASP`` names programs."""
    return bool(os.environ.get(name))


def gapbs(call, file, *, threads, trials, source=None, delta=None):
    """Seconds of some trials of GAP's program for a call; none if it fails or takes too long."""
    command = [Path(os.environ["GAPBS"]) / PROGRAMS[call][0], "-f", file, "-n", trials]
    command += ["-r", source] if call in ("bfs", "sssp") else []
    command += ["-d", delta] if delta else []
    return said(command, threads, r"Trial Time:\s+([\d.]+)")


def wasp(file, *, threads, trials, source, delta):
    """Seconds of some trials of Wasp's search."""
    command = [os.environ["WASP"], "-f", file, "-r", source, "-n", trials, "-d", delta]
    return said(command, threads, r"Trial Time:\s+([\d.]+)")


def said(command, threads, pattern):
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    words = list(map(str, command))
    try:
        done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return []
    return [float(seconds) for seconds in re.findall(pattern, done.stdout)] if done.returncode == 0 else []


def best_delta(run, deltas=DELTAS):
    """The delta with which ``run(delta)`` gives the least time, tried from the middle while it falls."""
    times = {}

    def time_of(position):
        if position not in times:
            times[position] = min(run(deltas[position]), default=float("inf"))
        return times[position]

    at = len(deltas) // 2
    for step in (1, -1):
        while 0 <= at + step < len(deltas) and time_of(at + step) < time_of(at):
            at += step
    return deltas[at]
