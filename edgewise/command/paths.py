"""``edgewise paths``: a graph in, distances and shortest paths out."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import edgewise
from edgewise.command import keyboard, options, report
from edgewise.command.job import Job
from edgewise.command.outputs import check_writable
from edgewise.command.path_jobs import ALL, ISOCHRONES, MEASURES, NEAREST, ONE, TABLE, Wanted, ids_in
from edgewise.command.stages import workers_of
from edgewise.device import arrays
from edgewise.errors import GraphError, OptionError
from edgewise.ingest.arrow import arrow_array
from edgewise.paths.apsp.output import check_path
from edgewise.paths.sssp.weights import spread_in

#: Rows of the table of all pairs that are made at a time.
BLOCK_ROWS = 1 << 20
#: Vertices of a center that the closing line names.
NAMED_VERTICES = 5


@options.subcommand(
    "paths.md",
    "edgewise paths roads.gr --source 1 --to 25",
    "edgewise paths friends.csv --source ann --bfs -o distances.csv",
    "edgewise paths roads.gr --isochrones 5,10 --source 1 --source 25",
    "edgewise paths roads.gr --nearest pharmacies.csv --k 3",
    "edgewise paths roads.gr --table --source 1 --targets pharmacies.csv",
    "edgewise paths roads.gr --table --source 1 --to 25 --prepare roads.routes",
    "edgewise paths roads.gr --all-pairs -o distances.npy",
    output="Table to write (Parquet, CSV, Arrow, JSON Lines), - is standard output; with --all-pairs or "
    "--table also a matrix (.npy or .zarr), which a repeated run continues after an interrupt. Otherwise a "
    "terminal shows the head of the table, and a pipe gets it whole.",
    verify="distances against the graph",
    certificate="distances",
    names={"to": "--output-format"},
)
def paths(graph: options.Input, reading, wanted: Wanted, goals: options.Goals, run: options.Run):
    """Read a graph, search it, and write or show the distances."""
    wanted.check(goals.output, run)
    if wanted.kind is MEASURES and (wanted.from_some or goals.verify):
        given = "verify" if not wanted.from_some else "source" if wanted.sources else "sources"
        raise OptionError(f"--{given} means nothing with --measures; leave it out")
    if goals.certificate is not None and wanted.kind not in (ONE, ALL, TABLE):
        raise OptionError(f"--certificate means nothing with --{wanted.kind}; leave it out")
    run = _on_device(wanted, run)
    matrix = wanted.matrix(goals.output)
    if matrix is not None:
        _check_matrix(matrix, graph)
    if wanted.prepare is not None and not Path(wanted.prepare).exists():
        check_writable(wanted.prepare, [graph])
    job = Job(
        [graph],
        goals if matrix is None else goals._replace(output=None),
        run,
        shown=matrix is None and not wanted.shows_paths,
        scheduler=wanted.scheduler,
        draws=False,
    )
    with job.steps() as stage:
        read = job.read(graph, reading, wanted.call(matrix), undirected=False)
        if wanted.kind not in (ALL, MEASURES) and not wanted.bfs and not read.is_weighted:
            remedy = "count edges with --bfs, or name their column with --weight"
            raise GraphError(f"{graph} has no weights; {remedy}")
        if wanted.bfs and wanted.kind is not ONE:
            read = read.without_weights()
        if wanted.prepare is not None:
            with stage("prepare", f"preparing {graph}"):
                _prepare(read, wanted.prepare)
        with stage("compute", f"searching on {job.where}") as progress, workers_of(job.scheduler) as client:
            result = _searched(wanted, read, job.places() | client, progress, matrix)
        whole = None if matrix or (run.json and job.output is None) else _table(wanted, result, job.output)
        job.finish(result, "checking every edge", whole)
    job.output = matrix or job.output
    targets: list[Any] = _targets(wanted, result.graph) if wanted.shows_paths and not run.json else []
    for target in targets:
        report.say(_path_in_words(wanted, result, target))

    def show():
        if not wanted.shows_paths:
            report.table(whole)
            if wanted.kind is ALL and len(result.sources) > report.SHOWN_ROWS + 1:
                report.say(f"... and rows of {len(result.sources) - report.SHOWN_ROWS - 1:,} more sources")

    job.close(result, lambda: _facts(wanted, result, job), _found_in_words(wanted, result), show=show)


def _on_device(wanted, run):
    """The run, on the CPU where only that searches, or is faster for small sets."""
    if wanted.kind is NEAREST and run.device not in (None, "cpu"):
        raise OptionError("--nearest is found on the CPU; leave out --device")
    return run._replace(device="cpu") if wanted.kind in (NEAREST, ISOCHRONES) and run.device is None else run


def _check_matrix(matrix, graph):
    """Raise an error if a matrix cannot be written."""
    path = check_path(matrix)
    if not (path.suffix == ".zarr" and path.is_dir()):  # which is continued
        check_writable(path, [graph])


def _prepare(graph, file):
    """Read from a file what makes searches fast, or make it and write the file."""
    if Path(file).exists():
        graph.load_prepared(file)
        return
    graph.prepare("routes").save_prepared(file)


def _searched(wanted, graph, places, progress, matrix):
    if wanted.kind is ONE:
        return _from_sources(wanted, graph.to(places["device"]))
    how = {"method": str(wanted.method), "dtype": wanted.dtype}
    if wanted.kind is MEASURES:
        del places["devices"]
        return edgewise.distance_measures(graph, progress=progress, **how, **places)
    if wanted.kind is ALL:
        return _all_pairs(wanted, graph, how | places, progress, matrix)
    return _between_places(wanted, graph, how | {"device": places["device"], "output": matrix}, progress)


def _sources(wanted, graph):
    return ids_in(graph, wanted.sources, wanted.sources_in, wanted.id_column)


def _targets(wanted, graph):
    return ids_in(graph, wanted.targets, wanted.targets_in, wanted.id_column)


def _between_places(wanted, graph, how, progress):
    """A table, isochrones, or the nearest places."""
    sources = _sources(wanted, graph)
    if wanted.kind is TABLE:
        return edgewise.distance_table(graph, sources, _targets(wanted, graph), progress=progress, **how)
    way: Any = {} if wanted.direction is None else {"direction": str(wanted.direction)}
    if wanted.kind is NEAREST:
        places = ids_in(graph, (), wanted.nearest, wanted.id_column)
        return edgewise.nearest(graph, places, wanted.k or 1, of=sources or None, cutoff=wanted.cutoff, **way)
    return edgewise.isochrones(graph, sources, wanted.cutoffs(), device=how["device"], **way)


def _from_sources(wanted, graph):
    sources, cutoff = _sources(wanted, graph), wanted.cutoff
    targets, method = _targets(wanted, graph), str(wanted.method)
    graph.vertices_of(targets)  # an unknown one is named before the search
    if wanted.bfs:
        if cutoff is not None:
            cutoff = int(min(cutoff, 2**31))
        return edgewise.bfs(graph, sources, cutoff=cutoff, method=method)
    ends = targets if targets and spread_in(graph).least >= 0 else None  # else nothing ends a search early
    return edgewise.shortest_paths(
        graph, sources, targets=ends, cutoff=cutoff, method=method, dtype=wanted.dtype
    )


def _all_pairs(wanted, graph, how, progress, matrix):
    """All pairs; at Ctrl-C say what is kept."""
    so_far: list[int] = []

    def note(done, blocks):
        so_far[:] = done, blocks
        progress(done, blocks)

    def kept():
        if matrix is None or not so_far:
            return None
        done, blocks = so_far
        return f"{done:,} of {blocks:,} blocks of {matrix} are kept; repeat the command to continue"

    sources = _sources(wanted, graph) or None
    with keyboard.remark(kept):
        return edgewise.all_pairs_shortest_paths(graph, sources=sources, output=matrix, progress=note, **how)


def _table(wanted, result, output):
    """The table to write or to show a part of."""
    if wanted.kind is ALL and output is not None:
        return _whole_table(result)
    if wanted.kind is ALL:
        return _rows(result, slice(0, report.SHOWN_ROWS + 1))
    frame = result.to_frame()
    return frame.append_column("parent", _parents(result)) if wanted.parents else frame


def _rows(result, some):
    """The table of all pairs from some of the sources."""
    return replace(result, sources=result.sources[some], distances=result.distances[some]).to_frame()


def _whole_table(result):
    """The table of all pairs, made for a few sources at a time."""
    import pyarrow as pa

    few = max(BLOCK_ROWS // max(result.graph.n_vertices, 1), 1)
    parts = (_rows(result, slice(first, first + few)) for first in range(0, len(result.sources), few))
    batches = (batch for part in parts for batch in part.to_batches())
    return pa.RecordBatchReader.from_batches(_rows(result, slice(0, 0)).schema, batches)


def _parents(result):
    """Ids of the parents of the vertices that were reached; null for a source."""
    reached = arrays.move(result.distances, "cpu") != result.unreached
    parents = arrays.move(result.parents, "cpu")[reached]
    ids, none = result.graph.ids, parents < 0
    if ids is None:
        return arrow_array(parents, none)
    if isinstance(ids, np.ndarray):
        return arrow_array(ids[np.maximum(parents, 0)], none)
    return ids.take(arrow_array(parents, none))


def _path_in_words(wanted, result, target):
    path = result.path_to(target)
    if not path:
        return f"{target}: no path" + ("" if wanted.cutoff is None else f" of at most {wanted.cutoff:g}")
    return f"{target}: {result.distance_to(target)} by {' -> '.join(map(str, path))}"


def _found_in_words(wanted, result):
    """The result in a few words."""
    if wanted.kind in (ISOCHRONES, NEAREST):
        return result._answer()
    if wanted.kind in (ALL, TABLE):
        height, width = result.distances.shape
        return f"{height:,} x {width:,} distances in {result.distances.dtype}"
    if wanted.kind is MEASURES:
        center = _listed(result.center)
        named = ", ".join(map(str, center[:NAMED_VERTICES])) or "none"
        more = " ..." * (len(center) > NAMED_VERTICES)
        return (
            f"diameter {result.diameter:g}, radius {result.radius:g}, center {named}{more}, "
            f"average distance {result.average_distance:.4g}"
        )
    source = f"{len(result.sources):,} sources"
    if len(result.sources) == 1:
        source = _listed(result.graph.ids_of(result.sources))[0]
    return (
        f"{report.counted(result.n_reached, 'vertex')} reached from {source}, "
        f"the furthest at {result.eccentricity}"
    )


def _facts(wanted, result, job):
    """The facts that other commands do not have."""
    own = {"weighted": result.weighted}
    if wanted.kind in (ALL, TABLE):
        own |= {"shape": list(result.distances.shape), "type": str(result.distances.dtype)}
    elif wanted.kind is MEASURES:
        for name in ("diameter", "radius", "average_distance"):
            value = getattr(result, name)
            own[name] = value if np.isfinite(value) else None
        own |= {"center": _listed(result.center), "periphery": _listed(result.periphery)}
    elif wanted.kind is ISOCHRONES:
        own |= {"sources": _listed(result.graph.ids_of(result.sources))}
        own |= {"cutoffs": result.cutoffs.tolist(), "counts": result.counts.tolist()}
    elif wanted.kind is NEAREST:
        found = result.nearest >= 0
        own |= {"places": len(result.places), "k": result.k, "cutoff": wanted.cutoff}
        own |= {"reached": int(found[:, 0].sum()), "furthest": result.distances[found].max(initial=0).item()}
    else:
        own |= {"sources": _sources(wanted, result.graph), "reached": result.n_reached}
        own |= {"furthest": result.eccentricity.item(), "cutoff": wanted.cutoff}
        if wanted.shows_paths:
            own["paths"] = [_path_fact(result, target) for target in _targets(wanted, result.graph)]
    return own | job.facts(result)


def _listed(ids):
    return ids.tolist() if isinstance(ids, np.ndarray) else ids.to_pylist()


def _path_fact(result, target):
    path = result.path_to(target)
    return {"to": target, "distance": result.distance_to(target).item() if path else None, "path": path}
