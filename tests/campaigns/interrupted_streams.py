"""Streams with checkpoints that are killed and interrupted: every resume must give what a whole run gives.

``python tests/campaigns/interrupted_streams.py --cases 300 --seed 1 --processes 16``, and for interrupts of
workers ``--stream "components by tasks" --signal SIGINT``.

In each case a stream (of components or of a forest, of integers or of strings, in one process or by tasks on
the workers of a scheduler) is started with a checkpoint, and gets a signal, SIGKILL, SIGTERM or SIGINT, after
a time that is drawn; then it is started again, and again, up to three signals.  Half of the signals come at a
call that is drawn, while the checkpoint is read or written: there an interrupt must not be taken for damage.
Half of those for tasks go to the workers, too, as Ctrl-C in a terminal does.
The last run gets no signal.  It must write, byte for byte, what a run without any signal writes.  A run that
gets a signal must end with its status or be finished, and say nothing but that and how to continue.  It must
leave no part of a file, no process, and, unless it was killed, nothing in the folder for temporary files.

The last line is one of JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Lock
from uuid import uuid4

import psutil

ROOT = Path(__file__).resolve().parents[2]
#: Rows of the inputs, in so many shards and row groups; seconds that a run may take, and until most signals.
ROWS, SHARDS, GROUP = 6_000, 6, 100
WATCHDOG, LATEST, LATEST_BY_TASKS = 180, (1.0, 2.0, 4.0), (2.0, 4.0, 8.0)
#: Seconds that the last process may take to end after the command.
GRACE = 30
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
WORDS = {signal.SIGTERM: "terminated", signal.SIGINT: "interrupted"}
#: Runs the command with a checkpoint after every batch, and sends the process a signal at the call of a
#: number (0 for none) within what reads and writes checkpoints.  Python itself does not expect a signal.
RUN = """
import os, signal, sys
from edgewise import __main__ as start
start.expect_signals()
os.write(1, b"begun\\n")
number, count = int(sys.argv[1]), int(sys.argv[2])
sys.argv[1:3] = []
from edgewise.streams import checkpoint, file_stream
calls = 0

def watch(frame, event, argument):
    global calls
    if event in ("call", "c_call"):
        calls += 1
        if calls == count:
            os.kill(os.getpid(), number)

def watched(function):
    def call(*given, **named):
        sys.setprofile(watch)
        try:
            return function(*given, **named)
        finally:
            sys.setprofile(None)
    return call

made = file_stream.FileStream.__init__

def make(self, *given, **named):
    made(self, *given, **named)
    self.every = 0.0

file_stream.FileStream.__init__ = make
owners = (checkpoint, "load_state"), (checkpoint, "save_state"), (file_stream.FileStream, "_resume")
for owner, name in owners if count else ():
    setattr(owner, name, watched(getattr(owner, name)))
from edgewise.command import main
main(sys.argv[1:])
"""
#: Calls by which a signal comes: within the reading of a checkpoint, the first few writings, and restoring.
CALLS = (1_000, 3_000, 12_000)
KINDS = ("dense", "sparse", "strings")
STREAMS = {
    "components": ("components", "--stream", "-q"),
    "forest": ("forest", "--stream", "--weight", "weight", "-q"),
    "components by tasks": ("components", "--scheduler", "local:2", "-q"),
}


def make_inputs(folder):
    """Shards of every kind of ids."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as parquet

    draw = np.random.default_rng(1)
    for kind in KINDS:
        (folder / kind).mkdir(parents=True)
        for shard in range(SHARDS):
            ends = draw.integers(0, ROWS, (2, ROWS // SHARDS))
            columns = [[f"v{one}" for one in side] for side in ends] if kind == "strings" else list(ends)
            if kind == "sparse":
                columns = [side * 10**9 - 5 for side in ends]
            weights = draw.integers(1, 99, ends.shape[1])
            table = pa.table({"source": columns[0], "target": columns[1], "weight": weights})
            parquet.write_table(table, folder / kind / f"{shard}.parquet", row_group_size=GROUP)


def command(stream, shards, folder):
    words = list(STREAMS[stream])
    words[1:1] = [str(shards)]
    return [*words, "--checkpoint", str(folder / "so-far"), "-o", str(folder / "out.csv")]


def start(words, at_call=(0, 0), **marks):
    """Start the command; ``at_call`` is a signal, and the call at which it comes.

    ``marks`` are variables of its environment, and of that of its workers.
    """
    script = ["-c", RUN, *map(str, map(int, at_call))]
    paths = filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))
    settings = {"PYTHONPATH": os.pathsep.join(paths), "EDGEWISE_QUIET": "1", "NUMBA_NUM_THREADS": "2"}
    settings |= {"NUMBA_DISABLE_JIT": "1"} | marks  # starts sooner
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "start_new_session": True, "text": True}
    # a signal between the end of open() and the beginning of its with block leaves the file to Python
    warnings = ["-W", "error", "-W", "ignore::ResourceWarning"]
    return subprocess.Popen([sys.executable, *warnings, *script, *words], env=os.environ | settings, **how)


def end(process):
    """Wait for the end of a process; return its status and messages, or ``"hang"``."""
    try:
        _, messages = process.communicate(timeout=WATCHDOG)
        return process.returncode, messages
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return "hang", ""


def problem_with(status, number, messages):
    """What is wrong with a run that got a signal, or ``None``."""
    expected = {0, -number} | ({128 + number} if number != signal.SIGKILL else set())
    if status not in expected:
        return f"status {status} after {signal.Signals(number).name}: {messages[-500:]}"
    lines = messages.splitlines()
    if lines and lines[0].startswith("edgewise: ") and "repeat the command to continue" in lines[0]:
        del lines[0]
    said = [f"edgewise: {WORDS[number]}"] if status == 128 + number else []
    if lines != said and not (status == 0 and lines in ([], [f"edgewise: {WORDS.get(number)}"])):
        return f"messages after {signal.Signals(number).name}: {messages[-800:]}"
    return None


def left_behind(mark, temporary, number):
    """Processes with a mark that do not end, and temporary files after a signal, in words; or ``None``."""
    end = time.monotonic() + GRACE
    while (processes := marked(mark)) and time.monotonic() < end:
        time.sleep(0.1)
    for one in processes:
        one.kill()
    files = [] if number == signal.SIGKILL else [str(path) for path in temporary.rglob("*")]
    shutil.rmtree(temporary)
    temporary.mkdir()
    return f"{len(processes)} processes and {files} were left" if processes or files else None


def marked(mark):
    """Processes whose environment has a mark, unless they have ended."""
    found = []
    for one in psutil.process_iter():
        with suppress(psutil.Error):
            if one.environ().get("MARK") == mark and one.status() != psutil.STATUS_ZOMBIE:
                found.append(one)
    return found


def try_case(number, given, inputs, expected):
    """Interrupt a stream and resume it; return what was done, and what is wrong or ``None``."""
    draw = random.Random(f"{given.seed} {number}")
    stream = draw.choice(("components", "components", "forest", "forest", "components by tasks"))
    stream = given.stream or stream
    kind = draw.choice(KINDS)
    name, signals, mark = f"{stream}, {kind}", [], uuid4().hex
    by_tasks = stream == "components by tasks"
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as temporary:
        folder, temporary = Path(folder), Path(temporary)
        marks = {"MARK": mark, "TMPDIR": str(temporary)}
        words = command(stream, inputs / kind, folder)
        for _ in range(draw.randrange(1, 4)):
            chosen = draw.choice(SIGNALS)
            chosen = signal.Signals[given.signal] if given.signal else chosen
            at_call = draw.random() < 0.5 and not by_tasks
            place = (chosen, draw.randrange(1, draw.choice(CALLS))) if at_call else (0, 0)
            process = start(words, place, **marks)
            process.stdout.readline()
            if not at_call:
                time.sleep(draw.random() * draw.choice(LATEST_BY_TASKS if by_tasks else LATEST))
                to_group = by_tasks and draw.random() < 0.5  # as a terminal does
                os.killpg(process.pid, chosen) if to_group else process.send_signal(chosen)
            status, messages = end(process)
            signals.append(signal.Signals(chosen).name)
            left = left_behind(mark, temporary, chosen)
            problem = problem_with(status, chosen, messages) or left
            if problem is not None:
                return name, signals, problem
        status, messages = end(start(words))
        if status != 0:
            return name, signals, f"the last run ended with {status}: {messages[-500:]}"
        if (folder / "out.csv").read_bytes() != expected(stream.partition(" ")[0], kind):
            return name, signals, "the last run wrote something else"
        left = sorted(one.name for one in folder.iterdir())
        return name, signals, None if left == ["out.csv"] else f"was left: {left}"


def whole_run(stream, kind, folder):
    """What a run without a signal writes, for a stream of components (also by tasks) or of a forest."""
    place = folder / f"{stream}, {kind}"
    place.mkdir()
    status, messages = end(start(command(stream, folder / "inputs" / kind, place)))
    assert status == 0, messages
    return (place / "out.csv").read_bytes()


def main(arguments=None):
    """Run the campaign; return the counts by outcome."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=max(1, (os.cpu_count() or 2) // 2))
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--stream", choices=tuple(STREAMS), help="this kind of stream only")
    parser.add_argument("--signal", choices=[one.name for one in SIGNALS], help="this signal only")
    given = parser.parse_args(arguments)
    begun = time.monotonic()
    sys.path.insert(0, str(ROOT))
    folder = Path(tempfile.mkdtemp())
    try:
        make_inputs(folder / "inputs")
        lock, known = Lock(), {}
        numbers = range(given.first, given.first + given.cases)
        outcomes, kinds, sent = Counter(), Counter(), Counter()

        def expected(stream, kind):
            with lock:
                if (stream, kind) not in known:
                    known[stream, kind] = whole_run(stream, kind, folder)
            return known[stream, kind]

        def one(number):
            name, signals, problem = try_case(number, given, folder / "inputs", expected)
            outcomes["equal" if problem is None else "bad"] += 1
            kinds[name] += 1
            sent.update(signals)
            if problem is not None:
                print(
                    f"--seed {given.seed} --first {number} --cases 1: {name}, {signals}: {problem}",
                    flush=True,
                )

        with ThreadPoolExecutor(given.processes) as pool:
            list(pool.map(one, numbers))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    facts = {"campaign": "interrupted streams", "cases": given.cases, "outcomes": outcomes, "signals": sent}
    print(json.dumps(facts | {"kinds": kinds, "seconds": round(time.monotonic() - begun, 1)}))
    return dict(outcomes)


if __name__ == "__main__":
    sys.exit(set(main()) != {"equal"})
