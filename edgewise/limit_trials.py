"""How the limits of :mod:`edgewise.tuning` are measured on the user's machine.

A limit that time decides has a :class:`Trial`: sizes on either side of it, in its unit, and a call on an
input of each size.  The call runs with a limit just above the size, and with one just below it, each time on
a new graph; from both times the crossover follows (:mod:`edgewise.crossover`).  Every other limit has a
reason instead.  A limit changes no result, apart from the last bits of sums of floats: all pairs by
``floyd-warshall`` add the weights of a path in another order than searches do.
"""

from __future__ import annotations

import errno
import json
import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

import edgewise
from edgewise import crossover, tuning
from edgewise.components import connected_components
from edgewise.components.result import component_sizes
from edgewise.device import arrays, cache, threads
from edgewise.errors import DeviceError, OptionError, argument, one_of
from edgewise.files.atomic_write import atomic_write, writing
from edgewise.forest import minimum_spanning_forest
from edgewise.front import named
from edgewise.generators import grid
from edgewise.graph import Graph
from edgewise.partitions import partition
from edgewise.paths.apsp import all_pairs_shortest_paths
from edgewise.paths.sssp import shortest_paths
from edgewise.strong import strongly_connected_components

#: Vertices of lists for CPU cores, in trials whose size is a ratio.
LIST_VERTICES = 1 << 18
#: Vertices of lists for a GPU, in trials whose size is a ratio.
GPU_VERTICES = 1 << 21
#: Vertices of graphs for all pairs, in trials whose size is a ratio.
PAIR_VERTICES = 400
#: Vertices and entries of the graph for several numbers of threads.
ENTRIES = 1 << 20
#: Largest weight.
HEAVIEST = 255
#: Seconds for which other programs are watched.
SLEEP = 0.2
#: Percentage of all processors that other programs may use.
MOST_BUSY = 10
#: Why a measurement counts for nothing.
BUSY = "not reliable: the machine is busy"


class Trial(NamedTuple):
    """How a limit is measured.

    Attributes
    ----------
    sizes : sequence of float
        Ascending, in the unit of the limit.
    inputs : callable
        ``inputs(size, device)`` returns what makes new inputs of a size.
    call : callable
        What takes one of two ways, called with an input.
    others : dict
        Values of other limits, so that only this one decides.
    """

    sizes: Sequence[float]
    inputs: Callable[[float, str], Callable[[], Any]]
    call: Callable[[Any], Any]
    others: dict[str, int] = {}


class Finding(NamedTuple):
    """What is found about a limit.

    Attributes
    ----------
    device : str
        ``"cpu"`` or ``"cuda"``.
    limit, unit : str
        Its name, and what is counted.
    default : float
        Its value where it is not tuned.
    measured : float or None
        The value that was measured; ``None`` if none was.
    gain : float
        What that gains: 0.25 if a call took 25 % longer with the default.
    kept : bool
        Whether the measured value takes the place of the default.
    note : str
        Why nothing was measured, or why it is not kept.
    """

    device: str
    limit: str
    unit: str
    default: float
    measured: float | None
    gain: float
    kept: bool
    note: str


# -- inputs --------------------------------------------------------------------------------------------------


def powers(low: int, high: int, step: int = 1) -> list[float]:
    """Powers of two by their exponents, both ends included."""
    return [1 << exponent for exponent in range(low, high + 1, step)]


def _random(vertices, edges, device):
    """Random edges in random order, with weights."""
    random = np.random.default_rng(1)
    ends = random.integers(0, vertices, (2, edges)).astype(np.uint32)
    columns = (*ends, random.integers(1, HEAVIEST, edges))
    return tuple(arrays.move(column, device) for column in columns)


def lists(shape):
    """Inputs that are edge lists; ``shape(size)`` returns the numbers of vertices and edges."""

    def inputs(size, device):
        vertices, edges = map(int, shape(size))
        sources, targets, _ = _random(vertices, edges, device)
        return partial(Graph, vertices, edges=(sources, targets, None))

    return inputs


def rows(shape):
    """Inputs that are rows with weights."""

    def inputs(size, device):
        vertices, edges = map(int, shape(size))
        whole = Graph(vertices, edges=_random(vertices, edges, device))
        return partial(Graph, vertices, rows=(whole.offsets, whole.neighbours, whole.csr_weights))

    return inputs


def both_forms(size, device):
    """Inputs that are a list and rows, whose vertices and edges or entries are so many."""
    makes = lists(lambda size: (size / 5, size / 5 * 4))(size, device), rows(_entries)(size, device)
    return lambda: [make() for make in makes]


def labels(size, device):
    """Inputs that are labels of components."""
    found = connected_components(lists(lambda size: (size, size / 2))(size, device)()).labels
    return lambda: found


def grids(size, device):
    """Inputs that are grids."""
    whole = grid(math.isqrt(int(size)), device=device)
    return partial(Graph, whole.n_vertices, rows=(whole.offsets, whole.neighbours, None))


def of_threads(size, device):
    """Inputs that are a graph and a number of threads."""
    make = rows(_entries)(ENTRIES, device)
    return lambda: (make(), size)


def _entries(size):
    """Vertices and edges of a graph whose vertices and entries of rows are so many: 8 entries a vertex."""
    return size / 9, size / 9 * 4


def _both_ways(graph):
    """A new directed graph with the rows of an undirected one."""
    return Graph(graph.n_vertices, rows=(graph.offsets, graph.neighbours, None), directed=True)


# -- the limits ----------------------------------------------------------------------------------------------

OF_A_GRAPH = "a share of a graph, not a size that time decides"
OF_A_PROCESS = "work of NumPy against the import of the compiler or its work, once a process"
OF_FILES = "how a command reads files, not what a call computes"
OF_A_SEARCH = "what a search that is given up may cost"
OF_SEVERAL = "what several devices of one call may cost"

#: All pairs of few vertices, and those of few edges.
MATRIX = Trial(powers(4, 9), rows(lambda size: (size, size)), all_pairs_shortest_paths, {"paths_pairs": 0})
PAIRS = Trial(
    [5, 10, 20, 40, 80, 160],
    rows(lambda size: (PAIR_VERTICES, PAIR_VERTICES**2 / size / 2)),
    all_pairs_shortest_paths,
    {"paths_matrix": 0},
)
#: How each limit is measured, or why it is not, by kind of device.
TRIALS: dict[str, dict[str, Trial | str]] = {
    "cpu": {
        "command_streamed": OF_FILES,
        "components_alone": Trial(
            powers(10, 19), both_forms, lambda graphs: [*map(connected_components, graphs)]
        ),
        "components_many": Trial(powers(15, 20), lists(lambda size: (size, 8 * size)), connected_components),
        "components_dense": Trial(
            [2, 3, 4, 6, 8, 16],
            lists(lambda size: (LIST_VERTICES, size * LIST_VERTICES)),
            connected_components,
            {"components_many": 0},
        ),
        "components_sparse": "three pairs of loops, which one measurement does not decide",
        "components_cached": Trial(
            powers(14, 20), lists(lambda size: (size, 3 * size)), partial(connected_components, method="rem")
        ),
        "components_close": OF_A_GRAPH,
        "components_counted": Trial(powers(12, 20), labels, component_sizes),
        "cycles_hubs": "steps that hubs cost, which the graph decides and not the machine",
        "files_zeros": OF_A_PROCESS,
        "forest_threads": Trial(
            [count for count in powers(0, 6) if count <= threads.most()],
            of_threads,
            lambda given: minimum_spanning_forest(given[0], threads=given[1]),
            {"forest_entries": 0},
        ),
        "forest_entries": Trial(
            powers(16, 22), rows(lambda size: (size / 8, size / 2)), minimum_spanning_forest
        )
        if threads.most() >= tuning.CPULimits.forest_threads
        else "there are fewer threads than forest_threads",
        "ingest_few": Trial(powers(8, 16), lists(lambda size: (size / 4, size)), lambda graph: graph.offsets),
        "ingest_first": OF_A_PROCESS,
        "ingest_strings": OF_A_PROCESS,
        "partitions_small": "the parts depend on it",
        "partitions_few": OF_A_PROCESS,
        "partitions_short": "it saves memory",
        "paths_alone": Trial(powers(12, 20), rows(_entries), partial(shortest_paths, source=0)),
        "paths_nearby": OF_A_SEARCH,
        "paths_narrow": OF_A_SEARCH,
        "paths_matrix": MATRIX,
        "paths_pairs": PAIRS,
        "primitives_few": OF_A_PROCESS,
        "strong_sweeps": "sweeps over a graph, which decides how many there are",
        "strong_threads": Trial(
            [count for count in powers(0, 6) if count <= threads.most()],
            of_threads,
            lambda given: strongly_connected_components(_both_ways(given[0]), threads=given[1]),
        ),
    },
    "cuda": {
        "components_judged": Trial(
            powers(19, 25), lists(lambda size: (size / 8, size)), connected_components
        ),
        "components_dense": Trial(
            [1, 2, 4, 8, 12],
            lists(lambda size: (GPU_VERTICES, size * GPU_VERTICES)),
            connected_components,
            {"components_judged": 0},
        ),
        "components_close": OF_A_GRAPH,
        "components_skewed": OF_A_GRAPH,
        "cycles_share": OF_SEVERAL,
        "cycles_joined": OF_SEVERAL,
        "cycles_marked": "a length of rows, of which a graph has many",
        "paths_core": OF_A_GRAPH,
        "paths_matrix": MATRIX,
        "paths_pairs": PAIRS,
        "partitions_level": Trial(powers(12, 18), grids, partial(partition, parts=8, preset="fast")),
        "primitives_sent": "a copy from the host, which calls on graphs of a GPU do not make",
    },
}


# -- measuring, and keeping what was found -------------------------------------------------------------------


@named
def tune(
    *,
    device: str = "auto",
    only: str = "",
    seconds: float = 90.0,
    dry_run: bool = False,
    reset: bool = False,
    report: Callable[[int, int, str], Any] | None = None,
) -> list[Finding]:
    """Measure the limits of ``method="auto"`` on this machine, and keep those that gain from it.

    A limit is kept if a call on some size takes 10 % longer with the default.  What is kept is read by later
    processes on this machine, with the same number of threads and the same limits.  No result depends on it,
    apart from the last bits of all-pairs distances of floats.

    Parameters
    ----------
    device : str
        ``"cpu"``, ``"cuda"``, or ``"auto"``: the CPU cores, and the GPU if there is one.
    only : str
        Only these limits, with commas in between, such as ``"paths_alone,ingest_few"``; all by default.
    seconds : float
        Seconds for the measurements; the kernels that are compiled for them come on top.
    dry_run : bool
        Measure, and keep nothing.
    reset : bool
        Remove what was kept on this machine, and measure nothing.
    report : callable, optional
        Called before each measurement with the number of those that are done, with that of all, and with
        words about it.

    Returns
    -------
    list of Finding
        What was found about each limit; none after a reset.

    Raises
    ------
    DeviceError
        The device is not there, or the machine is busy.
    FileError
        The file of tuned limits is damaged, or cannot be read or written.
    OptionError
        A name of no limit, or seconds that are not positive.
    """
    kinds = _kinds(device)
    if reset:
        for kind in kinds:
            _keep(kind, {}, [])
        return []
    chosen = _chosen(kinds, only)
    if not seconds > 0:
        raise OptionError(f"{argument('seconds', seconds)} must be larger than 0")
    known = {kind: tuning.tuned(kind) for kind in kinds}
    if not dry_run:
        for kind in kinds:
            _check_writable(tuning.tuned_file(kind))
    if (used := others_use()) > MOST_BUSY:
        raise DeviceError(
            f"the machine is busy: other programs use {used:.0f} % of the processors, so measurements are "
            "not reliable, and the limits stay as they are"
        )
    done, total, found = 0, sum(isinstance(how, Trial) for *_, how in chosen), []
    for kind, name, how in chosen:
        if isinstance(how, Trial):
            if report is not None:
                report(done, total, f"measuring {name}")
            done += 1
            found.append(_measured(kind, name, how, seconds / total))
        else:
            found.append(_finding(kind, name, how))
    if not dry_run:
        for kind in kinds:
            _keep(kind, known[kind], [one for one in found if one.device == kind])
    return found


def _kinds(device):
    """Kinds of devices of a name, whose driver is there."""
    if device == "auto":
        return ["cpu", "cuda"] if arrays.gpu_count() else ["cpu"]
    return ["cpu" if arrays.resolve(device) == "cpu" else "cuda"]


def _chosen(kinds, only):
    """The limits of some names, or all, with their trials."""
    listed = [(kind, name, how) for kind in kinds for name, how in TRIALS[kind].items()]
    names = [name.strip() for name in only.split(",") if name.strip()]
    for name in names:
        if name not in (known := [name for _, name, _ in listed]):
            raise OptionError(
                f"{argument('only', name)} is no limit of {' and '.join(kinds)}; {one_of(name, known)}"
            )
    return [one for one in listed if not names or one[1] in names]


def others_use():
    """The percentage of all processors that other programs use while this one sleeps."""
    import psutil

    return psutil.cpu_percent(SLEEP)


def _finding(kind, name, note, measured=None, gain=0.0, kept=False):
    of = tuning.limits_of(kind)[name]
    return Finding(kind, name, of.unit, of.default, measured, gain, kept, note)


def _measured(kind, name, trial, seconds):
    """Measure a limit within some seconds."""
    default = tuning.limits_of(kind)[name].default
    if others_use() > MOST_BUSY:
        return _finding(kind, name, BUSY)
    times = crossover.measure(partial(pair_of, kind, name, trial), trial.sizes, seconds)
    if not times:
        return _finding(kind, name, "not enough seconds")
    if others_use() > MOST_BUSY or not crossover.is_steady(times):
        return _finding(kind, name, BUSY)
    limit, gain = crossover.crossover(times, default)
    if limit == default:
        return _finding(kind, name, "the default is best", default)
    limit = float(f"{limit:.2g}")
    limit, kept = max(1, round(limit)) if isinstance(default, int) else limit, gain >= crossover.LEAST_GAIN
    return _finding(kind, name, "" if kept else "gains less than 10 %", limit, gain, kept)


def pair_of(kind, name, trial, size):
    """What runs the one way and the other on a size, by a limit just above it and one just below it."""
    device = "cpu" if kind == "cpu" else "cuda:0"
    make, others = trial.inputs(size, device), replace(tuning.RECORDS[kind](), **trial.others)
    limits = math.ceil(1.1 * size), math.floor(0.9 * size)
    one, other = (replace(others, **{name: limit}) for limit in limits)
    return tuple(partial(_seconds, kind, record, trial.call, make, device) for record in (one, other))


def _seconds(kind, record, call, make, device):
    given = make()
    with _in_force(kind, record):
        arrays.synchronize(device)
        start = perf_counter()
        call(given)
        arrays.synchronize(device)
        return perf_counter() - start


@contextmanager
def _in_force(kind, record) -> Iterator[None]:
    """Context in which a record takes the place of that of a kind of device."""
    name, before = tuning.NAMES[kind], tuning.in_force(kind)
    setattr(tuning, name, record)
    try:
        yield
    finally:
        setattr(tuning, name, before)


def _check_writable(file):
    """Find out before anything is measured whether a file can be written."""
    cache.folder()  # makes the folder around it
    with writing(file):
        file.parent.mkdir(cache.FOLDER_MODE, parents=True, exist_ok=True)
        if not os.access(file.parent, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _keep(kind, known, found):
    """Write what is known and what was found, or remove the file if that is nothing."""
    for one in found:
        if one.measured is not None:
            known.pop(one.limit, None)
        if one.kept:
            known[one.limit] = tuning.Tuned(one.measured, round(one.gain, 3), date.today().isoformat())
    file = tuning.tuned_file(kind)
    if known:
        facts = {
            "machine": tuning.machine(kind),
            "edgewise": edgewise.__version__,
            "limits": {name: one._asdict() for name, one in sorted(known.items())},
        }
        with atomic_write(file) as part:
            part.write_text(json.dumps(facts, indent=2) + "\n")
    else:
        with writing(file):
            file.unlink(missing_ok=True)
    vars(tuning).pop(tuning.NAMES[kind], None)  # to be read anew
