"""Published experiments, repeated: presets by document, with tables and pictures like theirs.

    from edgewise import experiments
    print(experiments.run("baltzakis", size="small").text())

The graphs are generated stand-ins of the published sizes (``size="paper"``) or of a small fraction of them.
Every result is compared with the first one of its graph; a difference is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from edgewise.device import arrays
from edgewise.errors import OptionError, argument, one_of
from edgewise.experiments import (
    baltzakis,
    bank,
    cs406,
    fallin,
    harish,
    hellas,
    hellas_scaling,
    manoochehri,
    manoochehri_partitions,
)
from edgewise.experiments.graphs import BALTZAKIS, CS406, HELLAS, SIZES
from edgewise.experiments.measure import Stopwatch, time_limit
from edgewise.experiments.report import Report
from edgewise.workers import device_team

__all__ = ["PRESETS", "SIZES", "Preset", "Report", "run", "time_limit"]


@dataclass(frozen=True)
class Preset:
    """The experiments of one document: functions of a stopwatch that return a table, by name.

    ``graphs`` are the names of the graphs, ``room`` is what is measured: ``"components"``, ``"paths"``,
    ``"cycles"``, ``"forest"`` or ``"transactions"``; ``takes_files`` if graphs of other names can
    be measured, too.
    """

    document: str
    experiments: dict[str, Callable]
    graphs: Collection[str]
    room: str = "components"
    takes_files: bool = False


PRESETS = {
    "hellas-2018": Preset(
        "Y. Hellås, Computing Connected Components on Multiple GPUs, 2018",
        {
            "iterations": hellas.iterations,
            "hook-rem": hellas.hook_rem,
            "compress": hellas.compressing,
            "strong": hellas_scaling.strong,
            "weak": hellas_scaling.weak,
            "expanded": hellas_scaling.expanded,
            "streets": hellas.street_question,
            "host-link": hellas_scaling.host_link,
            "bulk": hellas_scaling.bulk,
        },
        HELLAS,
    ),
    "baltzakis": Preset(
        "M. Baltzakis, connected components by label propagation on GPU",
        {"widths": baltzakis.widths},
        BALTZAKIS,
    ),
    "harish": Preset(
        "P. Harish and P. J. Narayanan, Accelerating large graph algorithms on the GPU using CUDA, 2007",
        {
            "random": harish.random,
            "scale-free": harish.scale_free,
            "all-pairs": harish.all_pairs,
            "degree": harish.degree,
        },
        harish.graph_names(),
        "paths",
    ),
    "cs406": Preset(
        "A. E. Deveci, A. Giray, E. Şencan, G. Yar and Z. Ö. Ergin, CS 406 project, 2021",
        {
            "threads": cs406.threaded,
            "gpu": cs406.one_gpu,
            "gpus": cs406.several,
            "static": cs406.with_cpu,
            "queue": cs406.by_queue,
        },
        CS406,
        "cycles",
        takes_files=True,
    ),
    "ecl-mst": Preset(
        "A. Fallin et al., A High-Performance MST Implementation for GPUs, 2023",
        {"forests": fallin.forests},
        fallin.GRAPHS,
        "forest",
    ),
    "manoochehri-2017": Preset(
        "S. Manoochehri, Transactional-Memory-based Implementation of Morph Algorithms on GPU, 2017",
        {
            "forests": manoochehri.forests,
            "denser": manoochehri.denser,
            "sparser": manoochehri.sparser,
            "protocols": bank.protocols,
            "retries": bank.retries,
            "partitions": manoochehri_partitions.partitions,
        },
        (*manoochehri.GRAPHS, *bank.ACCOUNTS, *manoochehri_partitions.GRAPHS),
        "transactions",
    ),
}
#: Timed runs on a GPU, by default.
RUNS_ON_GPU = 7
#: Timed runs on a CPU, by default: fewer, since CPUs are slower.
RUNS_ON_CPU = 3


def run(
    preset: str,
    *,
    size: str | None = None,
    devices: str | Sequence[str] | None = None,
    runs: int | None = None,
    only: Sequence[str] = (),
    without: Sequence[str] = (),
    files: Sequence[str | Path] = (),
    report: Callable[[str], object] = lambda text: None,
) -> Report:
    """Run the experiments of a preset, a name in ``PRESETS``, and return their :class:`Report`.

    Under :func:`time_limit` it ends early, with what was measured until then.

    Parameters
    ----------
    size : {'paper', 'small', 'tiny'}, by default ``paper`` on GPUs and ``small`` on the CPU
    devices : str or list of str, as for :func:`edgewise.connected_components`
        Scaling is measured on the first, the first two, and so on.  By default every GPU, or two workers on
        the CPU where there is none.
    runs : int, timed runs, of which the median is reported; by default 7 on GPUs, 3 on the CPU
    only, without : sequences of str, experiments to run (by default all) and graphs to leave out
    files : sequence of path
        Graphs, each named by its file without suffixes.  A file with the name of a graph of the preset, such
        as ``europe_osm.mtx``, takes the place of the stand-in; ``cs406`` measures other files, too.
    report : callable, called with a short text before each step

    Raises
    ------
    OptionError
        An unknown preset, size, experiment or graph, a file of another name, or no runs.
    DeviceError, OutOfMemoryError
        A device is not there, or too small for the graphs.
    VerificationError
        Two methods disagree.

    Examples
    --------
    >>> report = run("baltzakis", size="tiny", devices="cpu:0", runs=1)
    >>> [row["rows"] for row in report.tables[0].rows[:5]]
    ['thread', 'warp', 'block', 'auto', 'not by labels']
    """
    _check("preset", preset, PRESETS)
    experiments = PRESETS[preset].experiments
    for name in only:
        _check("experiment", name, experiments)
    for name in without:
        _check("graph", name, PRESETS[preset].graphs)
    team = device_team(devices or ("all" if arrays.gpu_count() else "cpu:0,cpu:1"))
    on_gpu = team[0].device != "cpu"
    size = size or ("paper" if on_gpu else "small")
    _check("size", size, SIZES)
    runs = (RUNS_ON_GPU if on_gpu else RUNS_ON_CPU) if runs is None else runs
    if runs < 1:
        raise OptionError(f"{argument('runs', runs)} is too few; give 1 or more")
    named = {_graph_of(file, PRESETS[preset]): file for file in files}
    watch = Stopwatch(team, size, runs, report, without, named)
    with arrays.on(watch.device):
        tables = [make(watch) for name, make in experiments.items() if not only or name in only]
    tables = [table for table in tables if table.rows or not watch.left_out]
    unread = [Path(file).name for name, file in named.items() if name not in watch.made]
    return Report(preset, size, team.names, runs, watch.made, tables, watch.left_out, unread)


def _graph_of(file, preset):
    """The graph of a preset that a file is named after, or the name of the file where others are taken."""
    whole = Path(file).name
    known = [name for name in preset.graphs if whole == name or whole.startswith(f"{name}.")]
    name = max(known, key=len, default=whole.partition(".")[0])
    if not known and not preset.takes_files:
        _check("graph", name, preset.graphs)
    return name


def _check(what, name, known):
    if name not in known:
        raise OptionError(f"{what} {name!r} is unknown; {one_of(name, known)}")
