"""The harness of all benchmarks: options, clocks, rounds in turn, processes, and the record of a result.

A page such as ``components.py`` declares parts by :func:`part`: the name of the result, a function that
yields rows, and the defaults of the options.  :func:`main` reads the options, prints every row, writes the
rows that are there to ``results/NAME.json`` (or ``$OUT/NAME.json``) with the machine, the versions, the
command and the state, and fails if a row is not ``right``.  ``--add`` keeps the rows of earlier runs that are
not measured again, and ``--show`` measures nothing.
"""

import argparse
import json
import os
import platform
import re
import shlex
import statistics
import subprocess
import sys
import time
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import SimpleNamespace

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
PEERS = ROOT / "bench" / "peers"
PACKAGES = "numpy scipy numba numba-cuda cupy-cuda13x pyarrow igraph networkit rustworkx"
#: Timed runs of a call on a GPU.
RUNS = 9
#: Ways of :func:`in_turn` that return seconds.
CLOCKED = ("gapbs", "wasp")
#: Options that are words without a name.
WORDS = ("graphs",)
#: Help of options that several parts have.
HELP = {
    "busy": "processes that compute without end",
    "cores": "cores whose time a limit allows",
    "together": "processes at the same time",
    "against": "folder with the package of a state before",
    "add": "keep the rows of the result that are not measured again",
    "cache": "folder that keeps the kernels",
    "device": "cpu, cuda or cuda:0",
    "file": "file of a graph",
    "folder": "folder that keeps graphs and files",
    "limit": "seconds after which nothing more begins",
    "longest": "seconds of a call and its turns, about",
    "name": "name of the result",
    "named": "graphs by name, such as rmat20 or grid-10",
    "rounds": "turns of each side",
    "runs": "timed runs of a call",
    "show": "print the summary of this file of results, and measure nothing",
    "size": "about the binary logarithm of the number of vertices",
    "threads": "numbers of threads",
    "without": "what is left out",
}


# -- Parts of a benchmark and their options ------------------------------------------------------------------


def part(result, rows, /, *, key=(), summary=lambda rows: (), **options):
    """A part of a benchmark.

    ``result`` is its name, a format of the ``kind`` of device (``cpu`` or ``cuda``) and of the ``place``
    (``cpu`` or ``gpu``).  ``rows(options)`` yields rows; what the result has beside them goes to ``facts`` of
    the options.  ``key`` has the columns that tell rows apart: a later row takes the place of an earlier one.
    ``summary(rows)`` returns lines that are printed at the end.  Options are given by their defaults: a bool
    is a flag, a list takes several values of the type of the first one, and a type several of its values.
    """
    return SimpleNamespace(result=result, rows=rows, key=key, summary=summary, options=options)


def main(text, parts):
    """Run the part that the command line names; ``parts`` is one part, or a dictionary of them."""
    given = parsed(text, parts)
    chosen, kind = given.chosen, getattr(given, "device", "cpu").partition(":")[0]
    places = {"kind": kind, "place": "cpu" if kind == "cpu" else "gpu"}
    name = given.name or chosen.result.format(**places)
    rows, is_right = {}, True
    file = Path(given.show or folder() / f"{name}.json")
    if given.show or (given.add and file.exists()):
        earlier = json.loads(file.read_text())["rows"]
        rows = {key_of(chosen, row, number): row for number, row in enumerate(earlier)}
    for row in () if given.show else chosen.rows(given):
        print(shown(row), flush=True)
        rows[key_of(chosen, row, len(rows))] = row
        is_right = is_right and row.get("right", True)
        write(name, list(rows.values()), **given.facts)
    for line in chosen.summary(list(rows.values())):
        print(line)
    if not is_right:
        sys.exit("some answers are WRONG")


def key_of(chosen, row, number):
    """What tells a row apart: the columns of the key, or its number."""
    return tuple(str(row.get(column)) for column in chosen.key) or number


def parsed(text, parts):
    """The options of the command line, with the part as ``chosen``."""
    parser = parser_of(text)
    if isinstance(parts, SimpleNamespace):
        add_options(parser, parts)
        return parser.parse_args()
    below = parser.add_subparsers(required=True, metavar="{" + ",".join(parts) + "}")
    for name, one in parts.items():
        add_options(below.add_parser(name, help=getattr(one.rows, "func", one.rows).__doc__), one)
    return parser.parse_args()


def parser_of(text):
    """A parser of options, whose help is the text of a page."""
    return argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)


def add_options(parser, chosen):
    """Add the options of a part."""
    parser.set_defaults(chosen=chosen, facts={})
    for name, default in ({"name": None, "add": False, "show": None} | chosen.options).items():
        words = {"default": default, "help": HELP.get(name)}
        if default is True or default is False:
            words |= {"action": "store_true"}
        elif isinstance(default, type):
            words |= {"nargs": "*", "type": default, "default": []}
        elif isinstance(default, list):
            words |= {"nargs": "*", "type": type(default[0])}
        elif default is not None:
            words |= {"type": type(default)}
        option = name if name in WORDS else "--" + name.replace("_", "-")
        parser.add_argument(option, **words)


def shown(row):
    """A row on a line: spreads are their medians, with the least and the largest."""
    return "  ".join(f"{key} {in_words(value)}" for key, value in row.items() if value is not None)


def in_words(value):
    """A value of a row."""
    if isinstance(value, dict) and "median" in value:
        return f"{value['median']:.4g} ({value['least']:.4g} to {value['largest']:.4g})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} {in_words(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(in_words, value[:8])) + "]"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


# -- Clocks --------------------------------------------------------------------------------------------------


def spread(times):
    """Median, least and largest of a list of times."""
    return {
        "median": statistics.median(times),
        "least": min(times),
        "largest": max(times),
        "runs": len(times),
    }


def ms_of(times):
    """Spread in milliseconds of times in seconds."""
    return spread([1e3 * one for one in times])


def settle(give_back=False):
    """Wait until all GPUs have nothing to do; give the memory that CuPy keeps back, if so."""
    if "cupy" not in sys.modules:
        return
    import cupy

    for number in range(cupy.cuda.runtime.getDeviceCount()):
        with cupy.cuda.Device(number):
            cupy.cuda.runtime.deviceSynchronize()
            if give_back:
                cupy.get_default_memory_pool().free_all_blocks()


free = partial(settle, give_back=True)


def timed(action):
    """What an action returns, and its seconds until all GPUs are done."""
    settle()
    start = time.perf_counter()
    found = action()
    settle()
    return found, time.perf_counter() - start


def seconds(action):
    """Seconds of an action."""
    return timed(action)[1]


def repeated(action, runs=RUNS, warm=1):
    """Spread of the milliseconds of an action, after runs that warm it up."""
    for _ in range(warm):
        action()
    return ms_of([seconds(action) for _ in range(runs)])


def device_ms(action, runs=RUNS):
    """Spread of the milliseconds of an action by events of the GPU, after two warm runs."""
    import cupy

    action(), action()
    times = []
    for _ in range(runs):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        cupy.cuda.runtime.deviceSynchronize()
        begin.record()
        action()
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(begin, end))
    return spread(times)


def in_turn(ways, rounds, *, runs=1, clock=time.perf_counter, same=None, once=(), long=float("inf")):
    """Lists of the seconds of each way, all run in turn, so that a busy machine troubles all alike.

    A way is a pair: what solves, which is timed, and what reads what was found, or None.  All that is read
    must be the ``same`` (by default equal arrays).  Those of :data:`CLOCKED` are programs with clocks of
    their own: actions that return seconds.  All others run once before, which compiles.  A way of ``once`` is
    not repeated at all, and one with a run longer than ``long`` seconds not any more.
    """
    times, known = {name: [] for name in ways}, []

    def compare(name, found):
        if ways[name][1]:
            known.append(ways[name][1](found))
            if not (same or np.array_equal)(known[0], known[-1]):
                sys.exit(f"{name} finds another answer than {next(iter(ways))}")
            del known[1:]

    for name in ways:
        if name not in (*CLOCKED, *once):
            compare(name, ways[name][0]())
    for _ in range(rounds):
        for name, way in ways.items():
            if name in CLOCKED:
                times[name] += way()
                continue
            for _ in range(runs):
                if times[name] and (name in once or min(times[name]) > long):
                    break
                settle()
                start = clock()
                found = way[0]()
                settle()
                times[name].append(clock() - start)
                compare(name, found)
    return times


def compared(title, pairs, limit=1.0, beyond=0.0):
    """Lines about ratios of two times, given as (name, ours, theirs), and those above a limit.

    A difference of up to ``beyond`` is not counted as above.
    """
    found = [(ours / theirs, ours - theirs, name) for name, ours, theirs in pairs if ours and theirs]
    if not found:
        return
    every = [ratio for ratio, *_ in found]
    over = sorted((one for one in found if one[0] > limit and one[1] > beyond), reverse=True)
    mean = f"geometric mean {statistics.geometric_mean(every):.2f}, {min(every):.2f} to {max(every):.2f}"
    yield f"{title}: {mean} of {len(every)}, above {limit}: {len(over)}"
    yield from (f"    {ratio:.2f}  {name}" for ratio, _, name in over)


def median_of(row, column="ms"):
    """The median of a column, or None."""
    return row[column]["median"] if column in row else None


def plural(count, word):
    """A number of things."""
    return f"{count} {word}" + "s" * (count > 1)


def groups(rows, *keys):
    """Pairs of the values of some columns, and of the rows that have them."""
    found = {}
    for row in rows:
        found.setdefault(tuple(row[key] for key in keys), []).append(row)
    return [(values if len(keys) > 1 else values[0], rows) for values, rows in found.items()]


# -- Processes -----------------------------------------------------------------------------------------------


def process(command, cwd=None, **environment):
    """Run a command in a process of its own, and return what it took and what it has written.

    Seconds are from its start to its end, ``mb`` is its largest resident set in MiB, ``read_mb`` and
    ``written_mb`` are what the system moved from and to disks for it.  A command that fails raises
    CalledProcessError.
    """
    start = time.perf_counter()
    environment = {**os.environ, "EDGEWISE_QUIET": "1", **environment}
    child = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, env=environment, cwd=cwd)
    output = child.stdout.read().decode()
    _, status, usage = os.wait4(child.pid, 0)
    spent = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, shlex.join(map(str, command)))
    moved = {"read_mb": usage.ru_inblock / 2048, "written_mb": usage.ru_oublock / 2048}  # blocks of 512 bytes
    cpu = usage.ru_utime + usage.ru_stime
    return {"seconds": spent, "cpu": cpu, "mb": usage.ru_maxrss / 1024, "output": output, **moved}


# -- Results -------------------------------------------------------------------------------------------------


@cache
def machine():
    """Processor, cores and GPU, without anything that names the host."""
    info = Path("/proc/cpuinfo")
    named = re.search(r"model name\s*: (.*)", info.read_text() if info.exists() else "")
    facts = {"processor": named[1] if named else platform.processor()}
    facts |= {"cores": os.cpu_count(), "system": platform.system()}
    try:
        import cupy

        facts["gpu"] = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
        facts["driver"] = cupy.cuda.runtime.driverGetVersion()
    except Exception:
        facts["gpu"] = None
    return facts


@cache
def versions():
    """Versions of Python and of the packages that are measured."""
    found = {"python": platform.python_version()}
    for name in PACKAGES.split():
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def folder():
    """Where results are written."""
    return Path(os.environ.get("OUT") or RESULTS)


def write(name, rows, **facts):
    """Write rows to the result of a name, and return the path."""
    path = folder() / f"{name}.json"
    origin = {"command": command(), "state": state(), "date": time.strftime("%Y-%m-%d")}
    found = {**origin, "machine": machine(), "versions": versions(), **facts, "rows": rows}
    path.write_text(json.dumps(found, indent=1))
    return path


def command():
    """The command line of this process, without the folders of this machine."""
    words = (Path(word).name if word.startswith("/") else shlex.quote(word) for word in sys.argv[1:])
    return " ".join(["python", "bench/" + Path(sys.argv[0]).name, *words])


@cache
def state():
    """The commit that is measured, or ``$EDGEWISE_STATE`` where the copy has no history.

    A tree with other changes than those of results is called dirty.
    """
    if "EDGEWISE_STATE" in os.environ:
        return os.environ["EDGEWISE_STATE"]
    commit = git("describe", "--always")
    changed = git("status", "--porcelain", "--untracked-files=no", ":/", ":!/bench/results")
    return (f"{commit}-dirty" if changed else commit) or "unknown"


def git(*words):
    """What a command of Git says; nothing where it fails."""
    return subprocess.run(["git", *words], cwd=RESULTS, capture_output=True, text=True).stdout.strip()


def results(name):
    """What ``results/NAME.json`` holds."""
    return json.loads((RESULTS / f"{name}.json").read_text())


def peers(name):
    """What ``peers/NAME.json`` holds: a list of peers, each with its version, command and figures."""
    return json.loads((PEERS / f"{name}.json").read_text())["peers"]
