"""Hellås (2018) on several devices: scaling, expanded graphs, the link to the host, the program in CUDA.

The thesis measures from the host's memory: edges are copied while kernels run.  Here the two are separate:
scaling is measured with the edges on the devices, and the cost of the link has a table of its own.
"""

from functools import partial

import numpy as np

from edgewise.components import connected_components
from edgewise.components.hook import join_by_hook
from edgewise.components.merge import choose_merge
from edgewise.components.segments import components_by_segments, join_by_rem
from edgewise.device import arrays, streams
from edgewise.experiments.graphs import HELLAS, ONE_A_FAMILY
from edgewise.experiments.hellas import WITH_ROUNDS, merged
from edgewise.experiments.published import BEST_SPEEDUP, EFFICIENCY_ON_TWO, REM_FASTER, SLOWER_BY_HOST
from edgewise.experiments.report import Figure, Table, curves, curves_of_columns, headings
from edgewise.generators import replicate
from edgewise.graph import Graph

#: Six graphs, as in Figures 6.40 and 6.43, and the one whose copies grow with the devices.
STRONG = ("hugebubbles-00020", "coPapersDBLP", "delaunay_n23", "rgg_n_2_24_s0", "nlpkkt240", "europe_osm")
WEAK = "rgg_n_2_22_s0"
EXPANDED = {"rgg_n_2_24_s0": 10, "nlpkkt240": 4}
#: Four graphs of Figures 6.50 to 6.59, and what joins the edges of a segment that is streamed.
BULK = ("europe_osm", "rgg_n_2_24_s0", "nlpkkt240", "coPapersDBLP")
JOINS = {"rem": join_by_rem, "hook": join_by_hook}


def strong(watch):
    """Figures 6.40 and 6.43: efficiency and speed-up of Rem, merged as in the thesis and as ``auto`` does."""
    graphs = ((name, watch.stand_in(name, HELLAS)) for name in watch.wanted(*STRONG))
    rows = [row for name, graph in graphs for row in _strong(watch, name, graph)]
    return Table(
        "strong",
        "Strong scaling and speed-up of Rem, edges on the devices",
        "Hellås 2018, 6.3.4 and 6.3.6, Fig. 6.40 and 6.43",
        SCALING | {"published": "published speed-up"},
        rows,
        [
            f"efficiency about {EFFICIENCY_ON_TWO} % on two GPUs, falling with more",
            "best speed-up 2.6, on five GPUs with rgg_n_2_24_s0; most graphs decline after three",
        ],
        _figures("strong", rows),
    )


SCALING = headings(
    "graph: stand-in for | devices | ms: pairwise merge, ms | speedup: speed-up | "
    "efficiency: efficiency, % | auto: auto merge, ms | auto_speedup: speed-up | "
    "auto_efficiency: efficiency, % | merge: merge taken"
)


def _strong(watch, name, graph):
    first = None
    for count in watch.counts():
        split = watch.split(graph, count)
        ms = watch.components(name, split, method="rem", **merged(count, "rem"))["ms"]
        auto, taken = _by_auto(watch, name, graph, count) if count > 1 else (ms, None)
        first = first or ms
        fastest, on = BEST_SPEEDUP.get(name, (None, None))
        yield {
            "graph": name,
            "devices": count,
            **_gains(first, ms, count),
            "auto": auto,
            **{f"auto_{key}": value for key, value in _gains(first, auto, count).items() if key != "ms"},
            "merge": taken,
            "published": fastest if count == on else None,
        }


def _by_auto(watch, name, graph, count):
    """Milliseconds with split and merge selected by ``auto``, and the name of that merge."""
    split = watch.split(graph, count, by="auto")
    return watch.components(name, split, method="rem")["ms"], choose_merge(split)


def _gains(first, ms, count):
    return {"ms": ms, "speedup": first / ms, "efficiency": 100 * first / (count * ms)}


def _figures(name, rows):
    """Speed-up and efficiency over the devices, for both ways of merging."""
    return [
        Figure(
            f"{name}-{prefix}{key}".replace("_", "-"),
            f"{words}, {how} merge",
            "devices",
            words,
            curves(rows, "devices", f"{prefix}{key}", lambda row: row["graph"]),
        )
        for key, words in (("speedup", "speed-up"), ("efficiency", "efficiency, %"))
        for prefix, how in (("", "pairwise"), ("auto_", "auto"))
    ]


def weak(watch):
    """Figures 6.41 and 6.42: as many copies of one graph as devices, for Rem and for Hook after one round."""
    rows, first = [], None
    for count in watch.counts() if any(watch.wanted(WEAK)) else ():
        graph, name = _copies(watch, WEAK, count)
        split = watch.split(graph, count)
        rem = watch.components(name, split, method="rem", **merged(count, "rem"))["ms"]
        hook = watch.components(name, split, method="hook", iterations=1, **merged(count, "hook"))["ms"]
        auto = _by_auto(watch, name, graph, count)[0] if count > 1 else rem
        first = first or (rem, hook)
        rows.append(
            {
                "graph": name,
                "devices": count,
                "edges": graph.n_edges,
                "rem": rem,
                "hook": hook,
                "auto": auto,
                "rem_efficiency": 100 * first[0] / rem,
                "hook_efficiency": 100 * first[1] / hook,
                "hook_by_rem": 100 * first[0] / hook,
                "auto_efficiency": 100 * first[0] / auto,
            }
        )
    kinds = {"rem": "Rem", "hook": "Hook", "auto": "Rem, auto merge"}
    columns = {f"{kind}_efficiency": f"{words}, %" for kind, words in kinds.items()}
    series = curves_of_columns(rows, "devices", {f"{kind}_efficiency": kinds[kind] for kind in kinds})
    return Table(
        "weak",
        "Weak scaling: as many copies as devices",
        "Hellås 2018, 6.3.5, Fig. 6.41 and 6.42",
        {"devices": "devices", "edges": "edges"}
        | {kind: f"{words}, ms" for kind, words in kinds.items()}
        | columns
        | {"hook_by_rem": "Hook by Rem's time on one, %"},
        rows,
        [
            "Groute: good on two and three GPUs, falling from four",
            "the thesis' own CUDA program: 60 % on two GPUs (6.4.4)",
        ],
        [Figure("weak", "Weak scaling", "devices", "efficiency, %", series)],
    )


def _copies(watch, name, copies):
    """The stand-in, replicated, and its name."""
    once = watch.stand_in(name, HELLAS)
    if copies == 1:
        return once, name
    expanded = f"{name}exp{copies}"
    return watch.graph(expanded, lambda: replicate(once, copies)), expanded


def expanded(watch):
    """Figures 6.44 to 6.47: graphs of more than a billion edges, copies of two others."""
    rows = []
    for name in watch.wanted(*EXPANDED):
        graph, called = _copies(watch, name, EXPANDED[name])
        hook = watch.components(called, graph, method="hook", iterations=1)["ms"]
        for row in _strong(watch, called, graph):
            alone = row["devices"] == 1
            faster = {"hook": hook, "faster": hook / row["ms"]} if alone else {}
            rows.append(row | faster | {"published": REM_FASTER.get(called) if alone else None})
    columns = SCALING | {"hook": "Hook on one, ms", "faster": "Rem faster, x", "published": "published, x"}
    return Table(
        "expanded",
        "Expanded graphs: Rem, edges on the devices",
        "Hellås 2018, 6.3.7, Fig. 6.44-6.47",
        columns,
        rows,
        ["efficiency 70 to 80 % on two GPUs, falling with more; the best speed-up is reached on seven GPUs"],
        _figures("expanded", rows),
    )


def host_link(watch):
    """Section 6.5: the same labelling with the edges on the device, and with the edges on the host."""
    rows = [row for name in watch.wanted(*ONE_A_FAMILY) for row in _host_link(watch, name)]
    low, mean, high = SLOWER_BY_HOST
    places = {"resident": "on the device", "host": "on the host"}
    series = curves_of_columns([row for row in rows if row["devices"] == 1], "graph", places)
    return Table(
        "host-link",
        "Edges on the device and edges on the host",
        "Hellås 2018, 6.5, Fig. 6.63 and 6.64",
        headings(
            "graph: stand-in for | devices | megabytes: MB of edges | resident: resident, ms | "
            "host: from the host, ms | rate: GB/s | times: from the host / resident"
        ),
        rows,
        [
            f"the server with the faster GPU takes {mean} % longer on the average ({low} to {high} %)",
            "the thesis suspects the way from the host",
        ],
        [Figure("host-link", "Location of the edges", "graph", "milliseconds", series, steep=True)],
    )


def _host_link(watch, name):
    graph = watch.stand_in(name, HELLAS)
    resident = watch.components(name, graph, method="rem")["ms"]
    columns = [_page_locked(column, watch.device) for column in (graph.sources, graph.targets)]
    bytes_sent = sum(column.nbytes for column in columns)
    for count in watch.counts():
        team = watch.first(count)
        solve = partial(components_by_segments, graph.n_vertices, columns[0], columns[1], team)
        run = watch.clocked(lambda solve=solve: solve()[0], team.devices)
        host = watch.time(name, f"from the host, {count} devices", run)["ms"]
        yield {
            "graph": name,
            "devices": count,
            "megabytes": bytes_sent / 1e6,
            "resident": resident if count == 1 else None,
            "host": host,
            "rate": bytes_sent / host / 1e6,
            "times": host / resident,
        }


def bulk(watch):
    """Section 6.4: all edges are sent first and joined ``n`` at a time, against edges that are streamed."""
    rows = [row for name in watch.wanted(*BULK) for row in _bulk(watch, name)]
    ways = {"bulk": "all edges first", "streamed": "streamed"}
    return Table(
        "bulk",
        "All edges sent first (the program in CUDA) against streamed edges (Groute)",
        "Hellås 2018, chapter 5 and 6.4, Fig. 6.48-6.62",
        headings(
            "graph: stand-in for | method | devices | bulk: all edges first, ms | launches | "
            "speedup: speed-up | streamed: streamed, ms | slower: all first / streamed, x"
        ),
        rows,
        [
            "europe_osm and rgg_n_2_24_s0: 3 to 4 times slower than Groute on one GPU, 10 to 11 on eight",
            "nlpkkt240 and coPapersDBLP: 3 to 6 times slower on one to eight GPUs; hardly any speed-up",
        ],
        [
            Figure(
                f"bulk-{method}",
                f"All edges first, or streamed: {method}",
                "devices",
                "milliseconds",
                curves_of_columns(
                    [row for row in rows if row["method"] == method], "devices", ways, "{graph}, {}"
                ),
                steep=True,
            )
            for method in JOINS
        ],
    )


def _bulk(watch, name):
    """Rows of a graph whose edges and labels are on the host before and after."""
    graph = watch.stand_in(name, HELLAS)
    n = graph.n_vertices
    columns = [_page_locked(column, watch.device) for column in (graph.sources, graph.targets)]
    on_host = Graph(n, edges=(*columns, None))
    for method, join in JOINS.items():
        first = None
        for count in watch.counts():
            team, launches = watch.first(count), -(-len(columns[0]) // (count * n))
            merge = merged(count, method)
            how = {"method": WITH_ROUNDS[method], "iterations": 0, "segments": launches, **merge}
            send_first = partial(_send_first, on_host, team, **how)
            stream = partial(components_by_segments, n, columns[0], columns[1], team, join=join, **merge)
            run = watch.clocked(send_first, team.devices)
            ms = watch.time(name, f"all edges first, {method}, {count} devices", run)["ms"]
            run = watch.clocked(lambda stream=stream: arrays.move(stream()[0], "cpu"), team.devices)
            streamed = watch.time(name, f"streamed, {method}, {count} devices", run)["ms"]
            first = first or ms
            yield {
                "graph": name,
                "method": method,
                "devices": count,
                "bulk": ms,
                "launches": launches,
                "speedup": first / ms,
                "streamed": streamed,
                "slower": ms / streamed,
            }


def _send_first(graph, team, **how):
    """Labels on the host: the program in CUDA of the thesis (Algorithm 10)."""
    placed = graph.split(team, by="edges") if len(team) > 1 else graph.to(team.devices[0])
    return arrays.move(connected_components(placed, **how).labels, "cpu")


def _page_locked(column, device):
    """A copy on the host from which ``device`` can read at the full rate of the link."""
    locked = streams.pinned(len(column), column.dtype, device)
    np.copyto(locked, arrays.move(column, "cpu"))
    return locked
