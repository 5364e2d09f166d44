"""What ``edgewise paths`` computes and tells: distances from a source, of all pairs, measures of a graph."""

import sys
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

import numpy as np

import edgewise
from edgewise.command import report
from edgewise.command.stages import seconds
from edgewise.device import arrays, threads
from edgewise.errors import GraphError
from edgewise.graph import Graph
from edgewise.paths.apsp import all_pairs_shortest_paths
from edgewise.paths.bfs import bfs
from edgewise.paths.measures import distance_measures
from edgewise.paths.sssp import shortest_paths
from edgewise.paths.sssp.weights import spread_in

Kind = StrEnum("Kind", {"ONE": "source", "ALL": "all-pairs", "MEASURES": "measures"})
ONE, ALL, MEASURES = Kind

#: Vertices of a center that the closing line names.
MOST_NAMED = 5


@dataclass(frozen=True)
class Wanted:
    """What was asked for on the command line."""

    file: Path
    kind: Kind
    sources: list[str]
    targets: list[str]
    cutoff: float | None
    bfs: bool
    parents: bool
    method: str
    dtype: str | None
    devices: str | None
    output: Path | None
    verify: bool


def searched(wanted, graph, where, progress):
    """Search the graph that was read, on the devices that were asked for."""
    if wanted.kind is ONE:
        return _from_sources(wanted, graph.to(where))
    if wanted.bfs and graph.csr_weights is not None:
        rows = graph.offsets, graph.neighbours
        graph = Graph.from_csr(*rows, directed=graph.directed, ids=graph.ids)
    if wanted.kind is MEASURES:
        return distance_measures(
            graph, method=wanted.method, device=where, dtype=wanted.dtype, progress=progress
        )
    return _all_pairs(wanted, graph, where, progress)


def _from_sources(wanted, graph):
    sources, cutoff = _ids(graph, wanted.sources), wanted.cutoff
    targets = _ids(graph, wanted.targets)
    graph.vertices_of(targets)  # an unknown one is named before the search
    if wanted.bfs:
        if cutoff is not None:
            cutoff = int(min(cutoff, 2**31))
        return bfs(graph, sources, cutoff=cutoff, method=wanted.method)
    if graph.csr_weights is None:
        raise GraphError(
            f"{wanted.file} has no weights; count edges with --bfs, or name their column with --weight"
        )
    ends = targets if targets and spread_in(graph).least >= 0 else None  # else nothing ends a search early
    return shortest_paths(
        graph, sources, targets=ends, cutoff=cutoff, method=wanted.method, dtype=wanted.dtype
    )


def _all_pairs(wanted, graph, where, progress):
    """All pairs; at Ctrl-C say what is kept."""
    so_far = []

    def note(done, blocks):
        so_far[:] = done, blocks
        progress(done, blocks)

    where = {"device": where} if wanted.devices is None else {"devices": wanted.devices}
    try:
        return all_pairs_shortest_paths(
            graph,
            sources=_ids(graph, wanted.sources) or None,
            method=wanted.method,
            dtype=wanted.dtype,
            output=wanted.output,
            progress=note,
            **where,
        )
    except KeyboardInterrupt:
        if wanted.output is not None and so_far:
            done, blocks = so_far
            print(
                f"edgewise: {done:,} of {blocks:,} blocks of {wanted.output} are kept; "
                "repeat the command to continue",
                file=sys.stderr,
            )
        raise


def _ids(graph, words):
    """Ids in the type that the graph's have."""
    if graph.ids is not None and not isinstance(graph.ids, np.ndarray):
        return list(words)
    for word in words:
        if not word.removeprefix("-").isdecimal():
            raise GraphError(f"vertex {word!r} is not in the graph: its ids are integers")
    return [int(word) for word in words]


def table(wanted, result):
    """The table to write or to show a part of."""
    if wanted.kind is ALL:
        few = slice(0, report.SHOWN_ROWS + 1)
        return replace(result, sources=result.sources[few], distances=result.distances[few]).to_frame()
    frame = result.to_frame()
    return frame.append_column("parent", _parents(result)) if wanted.parents else frame


def _parents(result):
    """Ids of the parents of the vertices that were reached; null for a source."""
    import pyarrow as pa

    reached = arrays.move(result.distances, "cpu") != result.unreached
    parents = arrays.move(result.parents, "cpu")[reached]
    ids, none = result.graph.ids, parents < 0
    if ids is None:
        return pa.array(parents, mask=none)
    if isinstance(ids, np.ndarray):
        return pa.array(ids[np.maximum(parents, 0)], mask=none)
    return ids.take(pa.array(parents, mask=none))


def tell(wanted, result, table, team, clock, *, json, quiet):
    """Print what was found: paths or the head of a table, and a closing line; or one JSON object."""
    if json:
        report.as_json(_facts(wanted, result, team, clock))
        return
    for target in wanted.targets:
        print(_path_in_words(wanted, result, target))
    if wanted.output is None and not wanted.targets:
        report.table(table)
        if wanted.kind is ALL and len(result.sources) > report.SHOWN_ROWS + 1:
            print(f"... and rows of {len(result.sources) - report.SHOWN_ROWS - 1:,} more sources")
    if not quiet:
        print(
            f"{report.graph_in_words(result.graph)}: {_found_in_words(wanted, result)}; "
            f"{report.times(clock)} ({result.method}, {report.device_in_words(team)})"
            + (f" -> {wanted.output}" if wanted.output else "")
        )


def _path_in_words(wanted, result, word):
    (target,) = _ids(result.graph, [word])
    path = result.path_to(target)
    if not path:
        return f"{word}: no path" + ("" if wanted.cutoff is None else f" of at most {wanted.cutoff:g}")
    return f"{word}: {result.distance_to(target)} by {' -> '.join(map(str, path))}"


def _found_in_words(wanted, result):
    """The result in a few words."""
    if wanted.kind is ALL:
        height, width = result.distances.shape
        return f"{height:,} x {width:,} distances in {result.distances.dtype}"
    if wanted.kind is MEASURES:
        center = (
            result.center.tolist() if isinstance(result.center, np.ndarray) else result.center.to_pylist()
        )
        named = ", ".join(map(str, center[:MOST_NAMED])) + (" ..." if len(center) > MOST_NAMED else "")
        return (
            f"diameter {result.diameter:g}, radius {result.radius:g}, center {named or 'none'}, "
            f"average distance {result.average_distance:.4g}"
        )
    source = wanted.sources[0] if len(result.sources) == 1 else f"{len(result.sources):,} sources"
    return (
        f"{report.counted(result.n_reached, 'vertex')} reached from {source}, "
        f"the furthest at {result.eccentricity}"
    )


def _facts(wanted, result, team, clock):
    graph = result.graph
    return {
        "vertices": graph.n_vertices,
        "edges": graph.n_edges,
        "weighted": result.weighted,
        **_facts_of(wanted, result),
        "method": result.method,
        "device": team[0].device if len(team) == 1 else None,
        "devices": list(team.names) if len(team) > 1 else None,
        "threads": threads.count() if "cpu" in team.devices else None,
        "verified": wanted.verify,
        "seconds": seconds(clock),
        "output": None if wanted.output is None else str(wanted.output),
        "version": edgewise.__version__,
    }


def _facts_of(wanted, result):
    """What is told of this kind of search and of no other."""
    if wanted.kind is ALL:
        return {"shape": list(result.distances.shape), "type": str(result.distances.dtype)}
    if wanted.kind is MEASURES:
        numbers = {
            "diameter": result.diameter,
            "radius": result.radius,
            "average_distance": result.average_distance,
        }
        named = {"center": _listed(result.center), "periphery": _listed(result.periphery)}
        return {name: value if np.isfinite(value) else None for name, value in numbers.items()} | named
    facts = {
        "sources": _ids(result.graph, wanted.sources),
        "reached": result.n_reached,
        "furthest": result.eccentricity.item(),
        "cutoff": wanted.cutoff,
    }
    if wanted.targets:
        facts["paths"] = [_path_fact(result, target) for target in _ids(result.graph, wanted.targets)]
    return facts


def _listed(ids):
    return ids.tolist() if isinstance(ids, np.ndarray) else ids.to_pylist()


def _path_fact(result, target):
    path = result.path_to(target)
    return {"to": target, "distance": result.distance_to(target).item() if path else None, "path": path}
