"""Write the tables and charts of the documentation from the results.

    python bench/tables.py

Every ``<!-- bench: NAME -->`` ... ``<!-- /bench -->`` in README.md and docs/*.md is filled with what
:func:`declared` gives that name; tables of ``bench/notes`` are records of their states, and stay as they are.
Most tables have a row for each row of a result, and columns that are formats of it (:func:`listed`).
"""

import re
import string
import sys
from dataclasses import replace
from functools import cache, partial
from statistics import geometric_mean

import harness
import partitions
from harness import ROOT, groups, peers, plural
from pictures import PICTURES, Panel, dots

from edgewise.experiments.report import Figure, Table
from edgewise.plots import experiment_as_svg

#: Names of the results that were read, so that a table can say where its figures are from.
USED: list[str] = []
#: Functions by the names of tables.
TABLES: dict = {}
#: The graph in which a search reaches 19 vertices.
SMALL = "comps2M"
METIS = "METIS k-way"


# -- Results, rows and cells ---------------------------------------------------------------------------------


def declared(*names, **options):
    """Enter a function as the table of some names; ``options`` are given to it."""

    def enter(function):
        TABLES.update(dict.fromkeys(names, partial(function, **options)))
        return function

    return enter


def results(name):
    """What ``results/NAME.json`` holds."""
    USED.append(name)
    return harness.results(name)


def rows_of(name, **wanted):
    """Rows of a result that have some values."""
    return pick(results(name)["rows"], **wanted)


def pick(rows, **wanted):
    """The rows that have some values."""
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def unique(rows, key):
    """The values of a column, each once, in their order."""
    return list(dict.fromkeys(row[key] for row in rows))


def by(rows, key):
    """Rows by the value of a column, which all differ."""
    return {row[key]: row for row in rows}


def origin(name, *, drawn=False):
    """A line that says of which state and command the figures, or a picture, of ``results/NAME.json`` are."""
    found = harness.results(name)
    figures = f"; figures in `bench/results/{name}.json`" if drawn else ""
    return f"*`{found['command']}`, state {found['state']}, {found['date']}{figures}*"


def table(header, rows):
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


class Cells(string.Formatter):
    """Formats of cells: ``{x:three}`` in three digits or so, ``{x:M.1f}`` in millions, ``{x:len}`` counts."""

    def format_field(self, value, spec):
        if spec == "three":
            return three(value)
        if spec == "len":
            return str(len(value))
        unit = {"M": 1e6, "G": 1e9}.get(spec[:1])
        return super().format_field(value / unit, spec[1:]) if unit else super().format_field(value, spec)


def listed(rows, text, **more):
    """A table with columns ``heading: format of a row | ...``; ``more`` are functions of a row."""
    columns = dict(re.match(r" ?(.*?): (.*?) ?$", column, re.DOTALL).groups() for column in text.split("|"))
    rows = [{**row, **{name: function(row) for name, function in more.items()}} for row in rows]
    return table(
        list(columns), [[Cells().vformat(cell, (), row) for cell in columns.values()] for row in rows]
    )


def listing(name, text, **more):
    """Enter a table of the rows of a result; see :func:`listed`."""
    return lambda: listed(rows_of(name), text, **more)


def bold(text, yes=True):
    """Text in bold, if so."""
    return f"**{text}**" if yes else text


def three(value):
    """A number in three digits or so."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def least_of(rows):
    """The row of the least median."""
    return min(rows, key=lambda row: row["ms"]["median"])


# -- Components ----------------------------------------------------------------------------------------------


@declared("gpu-peers")
def gpu_peers():
    """The method for each edge list as it is made, beside the peers of the same graphs."""
    theirs = {peer["name"]: peer["ms"] for peer in peers("gpu-components")}
    rows = rows_of("components-gpu-edges", order="as made")
    found = [row for row in rows if all(row["graph"] in ms for ms in theirs.values())]
    text = "graph: {graph} | method: `{method}` | edgewise: **{own:.3f}** | "
    text += "its whole call, warm: {call_ms[warm][median]:.3f} | "
    text += " | ".join(f"{name}: {{{name}}}" for name in theirs)
    more = {name: lambda row, ms=ms: ms[row["graph"]] for name, ms in theirs.items()}
    return listed(found, text, own=lambda row: row["ms"][row["method"]]["median"], **more)


@declared("cpu")
def components_cpu():
    """Milliseconds (medians) of `auto` and its peers on the CPU graphs."""
    others, body = ["networkit", "scipy", "igraph", "rustworkx"], []
    for graph, rows in groups(rows_of("components-cpu"), "graph"):
        for count in sorted(unique(rows, "threads")):
            found = by(pick(rows, threads=count), "method")
            auto, gapbs = next(row for row in found.values() if row["auto"]), found["gapbs"]
            cells = [graph, count, auto["method"], bold(cell_of(auto)), cell_of(gapbs)]
            ratio = auto["ms"]["median"] / gapbs["ms"]["median"]
            body.append([*cells, f"{ratio:.2f}", *(cell_of(found.get(peer)) for peer in others)])
    return table(["graph", "threads", "method", "`auto`", "GAPBS", "ratio", *others], body)


def cell_of(row):
    """Milliseconds of a row, if there is one."""
    return f"{row['ms']['median']:.1f}" if row else ""


@declared("several-gpus")
def several_gpus():
    """Speed-up over one GPU of each merge on the large graphs, on two GPUs and on four."""
    rows = rows_of("several-gpu", part="speedup", form="edges")
    alone = {row["graph"]: row["ms"]["median"] for row in pick(rows, gpus=1)}
    panels = []
    for gpus in (2, 4):
        cells = {graph: {} for graph in alone}
        for row in pick(rows, gpus=gpus):
            cells[row["graph"]][row["merge"]] = alone[row["graph"]] / row["ms"]["median"]
        panels.append(Panel(f"{gpus} GPUs", "times as fast as one GPU", cells, "linear", 1))
    return dots("several-gpus", "Speed-up of each merge on two and four GPUs", panels)


TABLES["pairs"] = listing(
    "pairs-cpu",
    "from file to file: {program} | seconds (median): {seconds[median]:.1f} | peak memory, MB: {mb:.0f}",
)
TABLES["streams-gpu"] = listing(
    "streams-gpu",
    "edges: {edges:,} | memory: {memory} | GPUs: {devices:len} | seconds (median): {seconds[median]:.3f} | "
    "GB/s: {gb_per_s:.1f} | share of the link: {share_of_link:.0%} | on a GPU, GB: {device_gb:.2f}",
)


TABLES["streams-inserts"] = listing(
    "streams-inserts-gpu",
    "graph: {graph} | edges a batch: {batch:,} | whole graph, ms (median): {ms:.1f} | "
    "G edges/s: {inserts_per_s:G.1f}",
    ms=lambda row: 1e3 * row["seconds"]["median"],
)


TABLES["streams-strings"] = listing(
    "streams-strings",
    "pairs: {edges:,} | strings: {vertices:,} | limit: {limit} | cores: {threads} | seconds: {seconds:.0f} | "
    "processor seconds: {cpu_seconds:.0f} | peak memory, MB: {mb:.0f} | disk, GB: {disk_gb:.1f} | "
    "written, bytes a pair: {written_bytes_a_pair:.0f} | read: {read_bytes_a_pair:.0f}",
    limit=lambda row: row["memory"] or "none, in memory",
)


@declared("streams-cpu")
def streams_cpu():
    """Shards to clusters on CPU cores."""
    found = results("streams-cpu")
    text = "edges: {edges:,} | files: {files} | ids up to: {ids:,} | seconds: {seconds:.0f} | "
    text += "M edges/s: {edges_per_s:M.1f} | peak memory, MB: {mb:.0f} | bytes an id: {bytes_a_vertex:.1f}"
    return listed(found["rows"], text, ids=lambda row: found["ids"])


@declared("streams-rmat")
def streams_of_rmat():
    """Shards of R-MAT to clusters on four cores, 16 cores, and a GPU, beside bare reading."""
    names = {
        "4 cores": "streams-rmat-cpu-4",
        "16 cores": "streams-rmat-cpu-16",
        "GPU, 16 cores": "streams-rmat-gpu",
    }
    body = []
    for where, name in names.items():
        row = rows_of(name)[0]
        times = (f"{row[key]:.1f}" for key in ("seconds", "bare_seconds"))
        body.append([where, *times, f"{row['of_bare']:.2f}", f"{row['cpu_seconds']:.0f}", f"{row['mb']:.0f}"])
    header = ["on", "seconds", "bare reading", "ratio", "processor seconds", "peak memory, MB"]
    return table(header, body)


TABLES["forest-large"] = listing(
    "forest-large-several",
    "edges: {edges:,} | vertices: {vertices:,} | edges are: {held} | GPUs: {devices:len} | "
    "seconds (median): {seconds[median]:.3f} | G edges/s: {rate:G.1f} | : {remark}",
    held=lambda row: "on the host" if row["place"] == "cpu" else "on a GPU",
    rate=lambda row: row["edges"] / row["seconds"]["median"],
    remark=lambda row: f"{row['speedup']:.2f} times as fast as one" if "speedup" in row else "",
)


@declared("forest-gpu")
def forest_gpu():
    """The public call beside ECL-MST."""
    theirs = {peer["name"]: peer["ms"] for peer in peers("gpu-forest")}["ECL-MST"]
    body, ratios = [], []
    for graph, rows in groups(rows_of("forest-gpu"), "graph"):
        found = by(rows, "form")
        held, edges = found["rows"], found["edges"]
        ratios.append(theirs[graph] / held["ms"]["median"])
        cells = [bold(f"{held['ms']['median']:.2f}"), f"{held['with_edges_ms']['median']:.2f}"]
        cells += [f"{edges['ms']['median']:.2f}", theirs[graph], f"{ratios[-1]:.1f}"]
        body.append([graph, *cells, f"{held['x_floor']:.0f}"])
    body.append(["geometric mean", "", "", "", "", f"{geometric_mean(ratios):.2f}", ""])
    header = ["graph", "rows, ms", "and `.edges`", "edge list, ms", "ECL-MST, ms", "ratio", "call / floor"]
    return table(header, body)


LIBRARIES = ("rustworkx", "networkit", "scipy", "igraph")


@declared("forest-cpu")
def forest_cpu():
    """The public call beside other libraries of Python: milliseconds, and the means of the ratios."""
    rows, ways = rows_of("forest-cpu"), ("edgewise", *LIBRARIES)
    panels = [
        Panel(
            weights,
            "ms",
            {
                row["graph"]: {way: ms["median"] for way, ms in row["ms"].items() if way in ways}
                for row in found
            },
        )
        for weights, found in groups(rows, "weights")
    ]
    picture = dots("forest-cpu", "Milliseconds of spanning forests beside other libraries", panels)
    means = []
    for peer in LIBRARIES:
        over = geometric_mean(row["ms"][peer]["median"] / row["ms"]["edgewise"]["median"] for row in rows)
        means.append(f"{over:.1f} times ({peer})")
    return f"{picture}\n\nThe geometric means of their times over ours: {', '.join(means)}."


#: Names that methods had when the results were written, and have now.
RENAMED = {"triangles-warps": "triangles", "squares-tables": "squares", "pentagons-tables": "pentagons"}
TABLES["cycles-gpu"] = listing(
    "cycles-gpu",
    "graph: {graph} | k: {length} | method: `{named}` | cycles: {total:,} | ms: **{ms[median]:three}** | "
    "spread: {ms[least]:three} to {ms[largest]:three} | G2Miner, total only: {peer} | x floor: {over:.0f} | "
    "preparing, ms: {ready_ms:three} | ranking, ms: {ranking_ms:three}",
    named=lambda row: RENAMED.get(row["method"], row["method"]),
    peer=lambda row: row["g2miner_ms"] or "",
    over=lambda row: row["ms"]["median"] / row["floor_ms"],
)


@declared("cycles-cpu-triangles")
def triangles_on_cpu():
    """Milliseconds of the whole call beside other libraries, the least of all runs."""
    rows = rows_of("cycles-cpu-triangles")
    text = "graph: {graph} | threads: {threads} | edgewise: **{ms[rows]:three}** | "
    peers = [way for way in rows[0]["ms"] if way not in ("rows", "ranked")]
    text += "".join(f"{peer}: {{{peer}}} | " for peer in peers) + "over the fastest: {ratio:.2f}"
    more = {
        peer: lambda row, peer=peer: three(row["ms"][peer]) if peer in row["ms"] else "" for peer in peers
    }
    return listed(rows, text, **more)


@declared("cycles-cpu-lengths")
def lengths_on_cpu():
    """Seconds of counting alone for com-DBLP by method and threads."""
    rows = [row for row in rows_of("cycles-cpu-lengths") if row["method"] != "command"]
    panel = Panel("", "seconds", {})
    for row in sorted(rows, key=lambda row: (row["length"], row["seconds"])):
        times = panel.rows.setdefault("{method}, {length}: {total:,} cycles".format(**row), {})
        times[plural(row["threads"], "thread")] = row["seconds"]
    return dots("cycles-cpu", "Seconds of counting the cycles of com-DBLP", [panel])


#: Names of libraries by their modules.
MODULES = {
    "scipy.sparse.csgraph": "SciPy",
    "igraph": "igraph",
    "networkit": "networkit",
    "networkx": "NetworkX",
}


@declared("strong-cpu", name="strong-cpu")
@declared("cores-cpu", name="cores-cpu")
def of_processor(name):
    """Processor time of every method and peer in milliseconds, the least in bold."""
    rows, body = rows_of(name), []
    columns = list(rows[0]["ms"])
    for row in rows:
        medians = [row["ms"][column]["median"] for column in columns]
        cells = [f"**{one:.1f}**" if one == min(medians) else f"{one:,.1f}" for one in medians]
        body.append([row["graph"], f"{row['vertices']:,}", f"{row['edges'] / 1e6:.2f} M", *cells])
    return table(["graph", "vertices", "edges", *(MODULES.get(one, f"`{one}`") for one in columns)], body)


@declared("strong-every-cpu", name="strong-every-cpu-16")
@declared("strong-every-gpu", name="strong-every-gpu")
def strong_on_all(name):
    """Milliseconds of the public call by method, on new graphs and on warm ones, beside a program."""
    rows, body = rows_of(name), []
    kinds = {"fresh_ms": "new", "ms": "warm", "both_ms": "both rows"}
    columns = [(one, key) for one in rows[0]["ms"] for key in kinds if one in rows[0].get(key, ())]
    for row in rows:
        cells = [three(row[key][method]["median"]) for method, key in columns]
        cells += [three(spent["median"]) for spent in row["peers"].values()]
        sizes = (f"{row[key] / 1e6:.2f} M" for key in ("vertices", "entries"))
        body.append([row["graph"], *sizes, *cells])
    named = (f"`{method}`, {kinds[key]}" for method, key in columns)
    return table(["graph", "vertices", "edges", *named, *rows[0]["peers"]], body)


@declared("paths-bfs-gpu", problem="bfs")
@declared("paths-sssp-gpu", problem="sssp")
def searches(problem):
    """Milliseconds of every method of a search on the GPU graphs, and the peers' best."""
    rows, body = rows_of("paths-gpu", problem=problem), []
    methods = unique(rows, "method")
    for graph, mine in groups(rows, "graph"):
        found, best = by(mine, "method"), least_of(mine)
        cells = [graph]
        for method in methods:
            ms = found[method]["ms"]["median"] if method in found else None
            text = "" if ms is None else f"{ms:.3g}" if ms >= 100 else f"{ms:.2f}"
            cells.append(bold(text, ms == best["ms"]["median"]))
        cells += [f"{fastest_peer(problem, graph)['ms'][graph]:g}", f"{best['floor_ms']:.2f}"]
        body.append([*cells, f"{best['first_s']:.1f}"])
    return table(["graph", *(f"`{m}`" for m in methods), "best peer", "bytes' floor", "first call, s"], body)


def fastest_peer(problem, graph):
    """The peer with the least time of a search."""
    mine = [peer for peer in peers("gpu-searches") if peer["problem"] == problem and graph in peer["ms"]]
    return min(mine, key=lambda one: one["ms"][graph])


@declared("all-pairs-gpu")
def all_pairs_gpu():
    """Seconds of all pairs on GPUs: a dense matrix on one and on two, a sparse graph, and a peer."""
    dense = "`floyd-warshall`, int32, {vertices:,} vertices"
    peer = peers("gpu-all-pairs")[0]

    def cells(row):
        rate = f"{row['updates_per_second'] / 1e12:.1f}"
        return [dense.format(**row), row["gpus"], f"{row['seconds']['median']:.2f}", rate]

    body = [cells(row) for row in rows_of("apsp-gpu-tiles", type="int32", vertices=32768, symmetric=False)]
    body.append([f"{peer['name']}, {peer['vertices']:,} vertices", 1, "", peer["updates_per_second"] / 1e12])
    body += map(cells, rows_of("apsp-gpu-several"))
    for row in rows_of("apsp-gpu-lanes"):
        name = "`sssp`, {vertices:,} vertices, {edges:,} edges".format(**row)
        body.append([name, row["gpus"], f"{row['seconds']['median']:.2f}", ""])
    return table(["all pairs", "GPUs", "seconds", "T updates/s"], body)


@declared("searches-cpu")
def searches_cpu():
    """Milliseconds of `auto` over those of GAP's programs, and the geometric means of the ratios."""
    bfs = rows_of("bfs-cpu", method="auto")
    times = {(row["graph"], "BFS"): (row["ms"], row["gapbs_ms"]) for row in bfs}
    for (graph, weights), rows in groups(rows_of("sssp-cpu"), "graph", "weights"):
        if weights in (10, 255):
            least = {row["method"]: row["ms"]["least"] for row in rows}
            times[graph, f"weights 1-{weights}"] = least["auto"], least["gapbs"]
    found, body = unique([{"search": search} for _, search in times], "search"), []
    for graph in dict.fromkeys(graph for graph, _ in times):
        both = [times[graph, search] for search in found]
        body.append([graph, *(f"{mine:.3g} / {theirs:.3g} = {mine / theirs:.2g}" for mine, theirs in both)])
    for name, without in (("geometric mean", ""), (f"geometric mean without {SMALL}", SMALL)):
        ratios = [
            [
                mine / theirs
                for (graph, one), (mine, theirs) in times.items()
                if one == search and graph != without
            ]
            for search in found
        ]
        body.append([name, *(f"{geometric_mean(one):.2f}" for one in ratios)])
    return table(["graph", *found], body)


# -- Partitions ----------------------------------------------------------------------------------------------

#: Presets, by which our own rows are named.
OURS = ("fast", "default", "strong")


@declared("partitions-meshes")
def partitions_meshes():
    """Cuts over those of METIS, geometric means over the numbers of parts and the seeds."""
    rows = rows_of("partitions-meshes-cpu")
    found, graphs, body = partitions.ratios(rows), unique(rows, "graph"), []
    for method in unique(rows, "method"):
        if method != METIS:
            cuts = [
                [cut for (g, _, m), (cut, _) in found.items() if (g, m) == (graph, method)]
                for graph in graphs
            ]
            means = [geometric_mean(one) for one in cuts]
            name = f"`{method}`" if method in OURS else method
            body.append([name, *(f"{mean:.3f}" for mean in means), bold(f"{geometric_mean(means):.3f}")])
    return table(["cut / METIS", *graphs, "all four"], body)


@declared("partitions-times")
def partitions_times():
    """Time and cut over those of METIS on graphs of more than a million edges, on two cores."""
    rows = [*rows_of("partitions-time-cpu"), *rows_of("partitions-large-cpu-2")]
    found, body = partitions.ratios(rows), []
    for graph, mine in groups(rows, "graph"):
        cells = []
        for method in ("fast", "KaMinPar"):
            pairs = [pair for (g, _, m), pair in found.items() if (g, m) == (graph, method)]
            means = [f"{geometric_mean(column):.2f}" for column in zip(*pairs)] or ["", ""]
            cells += reversed(means)
        parts = ", ".join(map(str, sorted(unique(mine, "k"))))
        body.append([graph, f"{mine[0]['edges'] / 1e6:.1f} M", parts, *cells])
    names = ["`fast`: time / METIS", "cut / METIS", "KaMinPar: time / METIS", "cut / METIS"]
    return table(["graph", "edges", "parts", *names], body)


@declared("overview")
def overview():
    """One figure of each kind of problem, beside the fastest other program."""
    ours, *others = sorted(rows_of("pairs-cpu"), key=lambda row: row["program"] != "edgewise")
    best = min(others, key=lambda row: row["seconds"]["median"])
    cells = [
        bold(f"{ours['seconds']['median']:.1f} s"),
        f"{best['seconds']['median']:.1f} s ({best['program']})",
    ]
    body = [["10 M pairs of strings, from file to file, two cores", *cells]]
    named = by(rows_of("components-cpu", threads=2, graph="rmat20"), "method")
    auto = next(row for row in named.values() if row["auto"])
    cells = [bold(f"{cell_of(auto)} ms"), f"{cell_of(named['gapbs'])} ms (GAP)"]
    body.append(["components of R-MAT, 2<sup>20</sup> vertices, two cores", *cells])
    for problem, graph, name in (
        ("bfs", "rmat22", "breadth-first search of R-MAT, 2<sup>22</sup> vertices, H200"),
        ("sssp", "rmat22", "shortest paths of the same, H200"),
        ("sssp", "rgg21", "shortest paths of a geometric graph, 2<sup>21</sup> vertices, H200"),
    ):
        ms = least_of(rows_of("paths-gpu", problem=problem, graph=graph))["ms"]["median"]
        peer = fastest_peer(problem, graph)
        body.append([name, bold(f"{ms:.3g} ms"), f"{peer['ms'][graph]:g} ms ({peer['name']})"])
    (row,), peer = rows_of("cycles-gpu", graph="com-DBLP", length=5), peers("gpu-cycles")[0]["ms"]["5"]
    name = "pentagons through every vertex of com-DBLP, H200"
    body.append([name, bold(f"{row['ms']['median']:.3g} ms"), f"{peer:g} ms (G2Miner, the total only)"])
    return table(["problem", "edgewise", "fastest other program"], body)


@declared("scaling-ratios")
def scaling_ratios():
    """The time of each call over that of GAP's program on 16 threads."""
    rows, body = rows_of("two-states-quiet-cpu-32", threads=16), []
    for call, found in groups([row for row in rows if "gapbs_ms" in row], "call"):
        times = [row["ms"]["median"] / row["gapbs_ms"]["median"] for row in found]
        body.append([call, len(times), *(f"{of(times):.2f}" for of in (geometric_mean, min, max))])
    return table(["call", "graphs", "geometric mean", "least", "largest"], body)


#: Settings of ``busy.py``, in the order of their table.
SETTINGS_IN_WORDS = {
    "alone": "alone",
    "busy": "beside 8 busy processes",
    "together": "four processes at once",
    "limit": "container of 4 cores",
    "fewer": "4 threads",
}


@declared("busy")
def busy():
    """Milliseconds of calls in all settings, and a chart of their ratios beside those of the state before."""
    body, panels = [], []
    for graph, found in groups(rows_of("busy-cpu-16-peers", way="edgewise"), "graph"):
        panels.append(Panel(graph, "time of a call over that alone", {}, "log", 1))
        for call, mine in groups(found, "call"):
            now, cells = by(mine, "setting"), []
            before = by(rows_of("busy-cpu-16-before", graph=graph, call=call), "setting")
            for setting in SETTINGS_IN_WORDS:
                old = f" ({before[setting]['ms']['median']:.3g})" if setting in before else ""
                cells.append(f"{now[setting]['ms']['median']:.3g}{old}")
            body.append([graph, call, *cells])
            for setting in ("busy", "together"):
                ratios = {"now": now[setting]["ratio"], "before": before[setting]["ratio"]}
                panels[-1].rows[f"{call}, {setting}"] = ratios
    chart = dots("busy-cpu-16", "Calls beside busy processes, and four processes at once", panels)
    return table(["graph", "call", *SETTINGS_IN_WORDS.values()], body) + "\n\n" + chart


@declared("busy-peers")
def busy_peers():
    """Milliseconds of calls and of programs alone, beside busy processes, and several at once."""
    body, settings = [], ("alone", "busy", "together")
    for (graph, call), found in groups(rows_of("busy-cpu-16-peers"), "graph", "call"):
        for way, mine in groups(found, "way"):
            now = by(mine, "setting")
            if all(setting in now for setting in settings):
                body.append([graph, call, way, *(three(now[one]["ms"]["median"]) for one in settings)])
    return table(["graph", "call", "program", *(SETTINGS_IN_WORDS[one] for one in settings)], body)


@declared("first-use")
def first_use():
    """Seconds of each command with an empty cache of kernels and with a full one."""
    cpu, gpu = (by(rows_of(f"first-use-{device}"), "command") for device in ("cpu", "cuda"))
    body = [
        [name, *(f"{found[name][use]['seconds']:.2f}" for found in (cpu, gpu) for use in ("first", "second"))]
        for name in cpu
    ]
    return table(["command", "CPU, first", "CPU, second", "GPU, first", "GPU, second"], body)


@declared("first-minute")
def first_minute():
    """Seconds of the processor of README's commands: first and second process, compiled and by a wheel."""
    body = []
    for name, mine in groups(rows_of("first-minute"), "command"):
        ways = by(mine, "way")
        cells = [ways[way][use]["cpu_s"] for way in ("compiled", "wheel") for use in ("first", "second")]
        body.append([name, *(f"{cell:.2f}" for cell in cells)])
    return table(["command", "checkout, first", "second", "wheel, first", "second"], body)


@declared("public-calls")
def public_calls():
    """Milliseconds (medians) of whole calls on one GPU, on a new graph and on a warm one."""
    rows = rows_of("surface-cuda", order="natural")
    largest = max(row["size"] for row in rows)
    rows = [row for row in rows if row["size"] == largest and row["source"] in ("", "hub")]
    calls, body = unique(rows, "call"), []
    for graph, mine in groups(rows, "family"):
        found = by(mine, "call")
        cells = "{fresh_ms[median]:.3g} / **{ms[median]:.3g}**"
        body.append([graph, *(cells.format(**found[call]) if call in found else "" for call in calls)])
    return table(["graph", *calls], body)


@declared("surface-gpu-picture", name="surface-cuda", text="Time per entry on a GPU")
def picture(name, text):
    """A picture of a surface, drawn anew."""
    import pictures

    pictures.surface(results(name), pictures.PICTURES / f"{name}.png")
    return f"![{text}](pictures/{name}.png)"


#: The functions of the guide, one of each kind.
FEW = """
    connected_components has_path single_source_shortest_path_length single_source_dijkstra
    single_source_bellman_ford minimum_spanning_edges triangles clustering core_number
    strongly_connected_components descendants all_pairs_dijkstra_path_length diameter from_pandas_edgelist
"""
#: Names of the columns of other backends.
BACKENDS = {"rustnx": "rustnx", "rustworkx": "nx-rustworkx"}


def in_digits(seconds, limit):
    """Seconds with two significant digits; in milliseconds where they are few."""
    if seconds is None:
        return f"> {limit:.0f} s"
    return f"{seconds:.2g} s" if seconds >= 0.1 else f"{1000 * seconds:.2g} ms"


@declared("networkx-backend-few", names=FEW.split())
def networkx_calls(names):
    """Processor time of functions by NetworkX and by the backends, the least of first calls in bold."""
    found = results("networkx-backend")
    limit, body = found["limit"], []
    for row in found["rows"]:
        if row["call"] not in names:
            continue
        theirs, ours = row["networkx"]["cached"], row["edgewise"]
        firsts = {name: row[name].get("first") for name in ("edgewise", *BACKENDS) if name in row}
        least = min((one for one in [theirs, *firsts.values()] if one is not None), default=None)
        cells = [in_digits(theirs, limit)]
        for name in ("edgewise", *BACKENDS):
            absent = name not in row or "error" in row[name]  # a backend that lacks it, or declines
            text = "" if absent else in_digits(firsts[name], limit if name == "edgewise" else 3 * limit)
            cells.append(bold(text, bool(text) and firsts[name] == least))
        is_table = row["graph"] in ("table", "matrix")
        cells.insert(2, "" if is_table else in_digits(ours["cached"], limit))
        body.append([f"`{row['call']}`", row["graph"], *cells])
    head = [
        "function",
        "graph",
        "NetworkX",
        "edgewise, first call",
        "edgewise, converted",
        *BACKENDS.values(),
    ]
    return table(head, body)


def experiment(name, part):
    """One table of the result of a preset."""
    return next(found for found in results(name)["tables"] if found["name"] == part)


@declared("transactions-protocols-gpu", name="manoochehri-2017-protocols", where="an H200")
def protocols(name, where):
    """Transfers a second and abort rates by protocol, for three numbers of accounts: a chart and a table."""
    from edgewise.transactions import PROTOCOLS

    rows = experiment(name, "protocols")["rows"]
    words = [(row["protocol"], "{case}: {accounts:,} accounts".format(**row), row) for row in rows]
    chart = dots(f"transactions-{name}", f"Transfers a second on {where}", rate_panels(words))
    cases, body = unique(rows, "case"), []
    for way, mine in groups(rows, "protocol"):
        cells = {row["case"]: rate_and_aborts(row) for row in mine}
        body.append([f"`{way}`" if way in PROTOCOLS else way, *(cells.get(case, "") for case in cases)])
    heads = [f"{case}, million a second (abort rate)" for case in cases]
    return f"{chart}\n\n{table(['protocol', *heads], body)}"


def rate_and_aborts(row):
    """Million transfers a second, and in brackets the share of attempts that failed."""
    rate = f"{row['rate']:,.1f}" if row["rate"] < 100 else f"{row['rate']:,.0f}"
    return rate if row.get("abort_rate") is None else f"{rate} ({row['abort_rate']:.2f})"


@cache
def tables_of(name):
    """The tables of a preset, as its experiments have made them."""
    tables = [
        Table(**{**one, "figures": [Figure(**each) for each in one["figures"]]})
        for one in harness.results(name)["tables"]
    ]
    return [one for one in tables if one.rows]


def published(*names):
    """All tables of a preset, and the first picture of each, from the results of its runs.

    Tables of one title become one, in which a later run replaces rows and makes up for what was left out.
    """
    lines, late, parts = [], [], {}
    for name in names:
        found = results(name)
        here = found["machine"]
        gpus = [gpu["name"] for gpu in here["gpus"]] if "gpus" in here else [here["gpu"]]
        where = ", ".join([f"{here['cores']} cores", *gpus])
        late = [missing for missing in late if re.split("[ ,]", missing)[0] not in found["graphs"]]
        late += found.get("left_out", [])
        for number, one in enumerate(tables_of(name)):
            how = f"{one.source}; {where}; medians of {found['runs']} runs."
            parts.setdefault((one.title, how), []).append((f"published-{name}-{number}.svg", one))
    for (title, how), found in parts.items():
        one = joined([one for _, one in found])
        lines += [f"### {title}", how, one.markdown()]
        lines += ["\n".join(f"* published: {words}" for words in one.published)] if one.published else []
        for figure in one.figures[:1]:
            (PICTURES / found[0][0]).write_text(experiment_as_svg(figure))
            lines.append(f"![{figure.title}](pictures/{found[0][0]})")
    if late:
        lines.append(f"Left out for lack of time: {'; '.join(dict.fromkeys(late))}.")
    return "\n\n".join(lines)


def joined(parts):
    """One table of several of the same experiment, with the curves of all in its pictures."""
    first, *others = parts
    for other in others:
        figures = [
            replace(mine, series=extended(mine.series, its.series))
            for mine, its in zip(first.figures, other.figures)
        ]
        rows = {subject(row): row for row in [*first.rows, *other.rows]}
        first = replace(first, rows=list(rows.values()), figures=figures)
    return first


def subject(row):
    """What a row of an experiment is about: its words, and the sizes that were asked for."""
    return tuple(
        (key, one) for key, one in row.items() if isinstance(one, str) or key in ("vertices", "parts")
    )


def extended(series, others):
    """Curves with the points of others; of two points at one place, the later one counts."""
    return series | {
        label: sorted((dict(series.get(label, ())) | dict(points)).items())
        for label, points in others.items()
    }


#: The results of each preset, on the page of tables.
PUBLISHED = {
    "hellas-2018": ["hellas-2018"],
    "baltzakis": ["baltzakis"],
    "harish": ["harish", "harish-all-pairs", "harish-all-pairs-large"],
    "cs406": ["cs406-amazon", *(f"cs406-dblp-{part}" for part in ("gpu", "static", "queue")), "cs406-gpus"],
    "ecl-mst": ["ecl-mst"],
    "manoochehri-2017": [
        f"manoochehri-2017-{part}"
        for part in ("forests", "denser", "sparser", "protocols", "retries", "partitions", "partitions-rmat")
    ],
}
TABLES.update({f"published-{preset}": partial(published, *names) for preset, names in PUBLISHED.items()})


def rate_panels(words):
    """Panels of rates and of abort rates; ``words`` are the names of a row and of a dot, and the row."""
    panels = []
    for title, key, scale in (
        ("million transfers a second", "rate", "log"),
        ("abort rate", "abort_rate", "linear"),
    ):
        panels.append(Panel(title, "", {}, scale))
        for label, dot, row in words:
            panels[-1].rows.setdefault(label, {})[dot] = row.get(key)
    return panels


def fill(path):
    """Fill the marks of a page."""
    text = path.read_text()

    def replace(match):
        if match[1] not in TABLES:
            sys.exit(f"{path.name}: no table is named {match[1]}")
        USED.clear()
        made = TABLES[match[1]]()
        origins = "\n".join(origin(name, drawn="](pictures/" in made) for name in dict.fromkeys(USED))
        return f"<!-- bench: {match[1]} -->\n{made}\n\n{origins}\n<!-- /bench -->"

    filled = re.sub(r"<!-- bench: ([\w-]+) -->.*?<!-- /bench -->", replace, text, flags=re.DOTALL)
    if filled != text:
        path.write_text(filled)
        print(f"{path.name}: tables written")


if __name__ == "__main__":
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        fill(page)
