"""The programs of other projects that run beside a benchmark.

Those of GAP are in the folder ``$GAPBS``, those of PASGAL (``bfs``, ``sssp``, ``scc``) in ``$PASGAL``, those
of GBBS (``cc``, ``msf``) in ``$GBBS``, and Wasp is ``$WASP``.  Each reads a file that edgewise has written,
runs from given sources, and says its own time of each trial.
"""

import os
import re
import subprocess
from pathlib import Path
from tempfile import gettempdir

#: GAP's program of a call, and the file that it reads.
PROGRAMS = {
    "components rows": ("cc", ".sg"),
    "components edges": ("cc", ".sg"),
    "bfs": ("bfs", ".sg"),
    "sssp": ("sssp", ".wsg"),
    "triangles": ("tc", ".sg"),
}
#: A program beside PASGAL's that repeats both what ``scc`` does before its clock starts, ``Transpose``, and
#: the solving, and says the time of both: ``SCC: new: seconds``.
NEW = "scc_new"
#: Programs whose threads are those of ParlayLib, by call: the variable that names the folder, the program,
#: its options, and how it says the time of a trial.
PARLAY = {
    "components rows": ("GBBS", "cc", ["-s", "-rounds", "{trials}", "{file}"], r"Running Time: ([\d.]+)"),
    "forest": ("GBBS", "msf", ["-s", "-w", "-rounds", "{trials}", "{file}"], r"Running Time: ([\d.]+)"),
    "bfs": ("PASGAL", "bfs", ["-s", "-i", "{file}", "-r", "{source}"], r"Round \d+: ([\d.]+)"),
    "sssp": ("PASGAL", "sssp", ["-s", "-i", "{file}", "-r", "{source}"], r"Round \d+: ([\d.]+)"),
    "strong": ("PASGAL", "scc", ["-i", "{file}"], r"SCC: scc: ([\d.]+)"),
    "strong, new": ("PASGAL", NEW, ["-i", "{file}", "-t", "{trials}"], r"SCC: new: ([\d.]+)"),
}
#: Widths of the buckets among which a peer takes the best, for weights up to 255.
DELTAS = (2, 8, 32, 128, 1024)
SECONDS = 120


def is_there(name):
    """Whether a variable, such as ``GAPBS``, names programs."""
    return bool(os.environ.get(name))


def gapbs(call, file, *, threads, trials, source=None, delta=None):
    """Seconds of some trials of GAP's program for a call; none if it fails or takes too long."""
    command = [Path(os.environ["GAPBS"]) / PROGRAMS[call][0], "-f", file, "-n", trials]
    command += ["-r", source] if call in ("bfs", "sssp") else []
    command += ["-d", delta] if delta else []
    return said(command, threads, r"Trial Time:\s+([\d.]+)")


def wasp(file, *, threads, trials, source, delta):
    """Seconds of some trials of Wasp's search."""
    command = [Path(os.environ["WASP"]), "-f", file, "-r", source, "-n", trials, "-d", delta]
    return said(command, threads, r"Trial Time:\s+([\d.]+)")


def parlay(call, file, *, threads, trials, source=None):
    """Seconds of some trials of the program of PASGAL or GBBS for a call, without its first one."""
    where, program, options, pattern = PARLAY[call]
    command = [Path(os.environ[where]) / program]
    values = {"trials": trials + 1, "file": Path(file).resolve(), "source": source}
    command += [one.format(**values) for one in options]
    times = said(command, threads, pattern)
    return times[1:] if where == "GBBS" or program == NEW else times


def said(command, threads, pattern):
    """The seconds that a program says; it runs in a folder for what it leaves."""
    environment = os.environ | dict.fromkeys(("OMP_NUM_THREADS", "PARLAY_NUM_THREADS"), str(threads))
    how = {"env": environment, "cwd": gettempdir(), "capture_output": True, "text": True}
    words = [str(one.resolve() if isinstance(one, Path) else one) for one in command]
    try:
        done = subprocess.run(words, timeout=SECONDS, **how)
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
