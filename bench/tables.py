"""Write the tables of the documentation from the results.

    python bench/tables.py

Every ``<!-- bench: NAME -->`` ... ``<!-- /bench -->`` in README.md, docs/*.md and bench/notes/*.md is filled
with the table of that name.
"""

import re
import sys
from functools import partial
from pathlib import Path
from statistics import geometric_mean

import components
import record
import tables_cycles
import tables_experiments
import tables_forest
import tables_networkx
import tables_partitions
import tables_paths
import tables_transactions
import tables_vertices
from charts import Panel, dots
from record import origin, results, table

from edgewise.experiments import PRESETS
from edgewise.experiments.report import Table, shown

ROOT = Path(__file__).resolve().parent.parent
NOTES = ROOT / "bench" / "notes"


def gpu_methods():
    """Milliseconds of every method on the GPU graphs."""
    rows = results("components-gpu")["rows"]
    methods = list(dict.fromkeys(row["method"] for row in rows))
    body = []
    for graph in dict.fromkeys(row["graph"] for row in rows):
        found = {row["method"]: row for row in rows if row["graph"] == graph}
        auto = next(row for row in found.values() if row["auto"])
        cells = [bold(f"{found[m]['ms']['median']:.3f}", found[m]["auto"]) for m in methods]
        body.append([graph, *cells, f"{auto['x_floor']:.1f}", f"{auto['coo_to_csr_g_per_s']:.1f}"])
    return table(["graph", *methods, "auto / floor", "COO to CSR, G entries/s"], body)


def gpu_edges():
    """Milliseconds of the methods for edge lists alone, and of whole calls."""
    rows = results("components-gpu-edges")["rows"]
    header = ["list", "order", *components.FOR_LISTS, "call, fresh", "call, warm"]
    body = []
    for row in rows:
        cells = [
            bold(f"{row['ms'][method]['median']:.3f}", method == row["method"])
            for method in components.FOR_LISTS
        ]
        calls = [f"{row['call_ms'][state]['median']:.3f}" for state in ("fresh", "warm")]
        body.append([row["graph"], row["order"], *cells, *calls])
    return table(header, body)


def gpu_peers():
    """The method for each edge list as it is made, beside the peers of the same graphs."""
    rows = [row for row in results("components-gpu-edges")["rows"] if row["order"] == "as made"]
    header = ["graph", "method", "edgewise", "its whole call, warm", *components.PEERS]
    body = [
        [row["graph"], f"`{row['method']}`", bold(f"{row['ms'][row['method']]['median']:.3f}", True)]
        + [f"{row['call_ms']['warm']['median']:.3f}"]
        + [ms[row["graph"]] for ms in components.PEERS.values()]
        for row in rows
        if all(row["graph"] in ms for ms in components.PEERS.values())
    ]
    return table(header, body)


def cpu():
    """Milliseconds (medians) of `auto` and its peers on the CPU graphs."""
    rows = results("components-cpu")["rows"]
    others = ["networkit", "scipy", "igraph", "rustworkx"]
    body = []
    for graph in dict.fromkeys(row["graph"] for row in rows):
        for count in sorted({row["threads"] for row in rows}):
            found = {row["method"]: row for row in rows if row["graph"] == graph and row["threads"] == count}
            auto = next(row for row in found.values() if row["auto"])
            peers = [median(found.get(peer)) for peer in others]
            ratio = auto["ms"]["median"] / found["gapbs"]["ms"]["median"]
            body.append(
                [
                    graph,
                    count,
                    auto["method"],
                    bold(median(auto), True),
                    median(found["gapbs"]),
                    f"{ratio:.2f}",
                ]
                + peers
            )
    return table(["graph", "threads", "method", "`auto`", "GAPBS", "ratio", *others], body)


def pairs():
    """Seconds and memory from file to file."""
    rows = results("pairs-cpu")["rows"]
    header = ["from file to file", "seconds (median)", "peak memory, MB"]
    return table(
        header, [[row["program"], f"{row['seconds']['median']:.1f}", f"{row['mb']:.0f}"] for row in rows]
    )


def thresholds():
    """Ten thresholds in one run against one, from file to file."""
    found = results("thresholds-cpu")
    header = ["thresholds", "names", "seconds (median)", "over one threshold", "peak memory, MB"]
    body = []
    for row in found["rows"]:
        ratio = found["ratios"][row["names"]] if row["thresholds"] > 1 else 1
        seconds = f"{row['seconds']['median']:.1f}"
        body.append([row["thresholds"], f"`{row['names']}`", seconds, f"{ratio:.2f}", f"{row['mb']:.0f}"])
    return table(header, body)


def propagate():
    """Label propagation at each width on the graphs of Baltzakis."""
    rows = results("propagate-gpu")["rows"]
    header = [
        "graph",
        "rows by",
        "rounds",
        "ms",
        "ms a round",
        "over a thread",
    ]
    body = []
    for graph in dict.fromkeys(row["graph"] for row in rows):
        mine = [row for row in rows if row["graph"] == graph]
        thread = min(row["ms"]["median"] for row in mine if row["rows"] == "thread")
        ways = [row for row in mine if "rounds" in row]
        best = min(row["ms"]["median"] for row in ways)
        for row in (*ways, *(row for row in mine if "rounds" not in row)):
            ms = row["ms"]["median"]
            counted = "rounds" in row
            body.append(
                [
                    f"{graph}, degree {row['degree']:.1f}",
                    row["rows"] if counted else f"no labels: `{row['method']}`",
                    row["rounds"] if counted else "",
                    bold(shown(ms), counted and ms == best),
                    shown(row["ms_a_round"]) if counted else "",
                    shown(thread / ms),
                ]
            )
    return table(header, body)


def of_preset(preset, name):
    """A table of ``edgewise bench components``, whose JSON file lies among the results."""
    found = next(t for t in results(preset)["tables"] if t["name"] == name)
    return Table(found["name"], found["title"], found["source"], found["columns"], found["rows"]).markdown()


def several_gpus():
    """Speed-up over one GPU of each merge on the large graphs, on two GPUs and on four."""
    rows = [
        row for row in results("several-gpu")["rows"] if row["part"] == "speedup" and row["form"] == "edges"
    ]
    alone = {row["graph"]: row["ms"]["median"] for row in rows if row["gpus"] == 1}
    panels = [
        Panel(f"{gpus} GPUs", "times as fast as one GPU", {graph: {} for graph in alone}, "linear", 1)
        for gpus in (2, 4)
    ]
    for row in rows:
        for panel, gpus in zip(panels, (2, 4)):
            if row["gpus"] == gpus:
                panel.rows[row["graph"]][row["merge"]] = alone[row["graph"]] / row["ms"]["median"]
    return dots("several-gpus", "Speed-up of each merge on two and four GPUs", panels)


def several_weak():
    """Weak scaling of every merge that goes with the graph's split."""
    rows = [row for row in results("several-gpu")["rows"] if row["part"] == "weak"]
    body = []
    for graph in dict.fromkeys(row["graph"] for row in rows):
        mine = [row for row in rows if row["graph"] == graph]
        for merge in dict.fromkeys(row["merge"] for row in mine if row["merge"]):
            found = {row["gpus"]: row for row in mine if row["merge"] in (None, merge)}
            cells = [
                f"{found[g]['ms']['median']:.2f} ms ({found[g]['efficiency']:.0%})" for g in sorted(found)
            ]
            body.append([graph, merge, *cells])
    gpus = sorted({row["gpus"] for row in rows})
    return table(["graph", "merge", *(f"{count} GPU" + "s" * (count > 1) for count in gpus)], body)


def streams_cpu():
    """Shards to clusters on CPU cores."""
    found = results("streams-cpu")
    header = ["edges", "files", "ids up to", "seconds", "M edges/s", "peak memory, MB", "bytes an id"]
    body = [
        [
            f"{row['edges']:,}",
            row["files"],
            f"{found['ids']:,}",
            f"{row['seconds']:.0f}",
            f"{row['edges_per_s'] / 1e6:.1f}",
            f"{row['mb']:.0f}",
            f"{row['bytes_a_vertex']:.1f}",
        ]
        for row in found["rows"]
    ]
    return table(header, body)


def streams_gpu():
    """Edges of host memory through GPUs."""
    header = ["edges", "memory", "GPUs", "seconds (median)", "GB/s", "share of the link", "on a GPU, GB"]
    body = [
        [
            f"{row['edges']:,}",
            row["memory"],
            len(row["devices"]),
            f"{row['seconds']['median']:.3f}",
            f"{row['gb_per_s']:.1f}",
            f"{row['share_of_link']:.0%}",
            f"{row['device_gb']:.2f}",
        ]
        for row in results("streams-gpu")["rows"]
    ]
    return table(header, body)


def forest_large(*cases):
    """Spanning forests of a billion edges and more."""
    header = ["edges", "vertices", "edges are", "GPUs", "seconds (median)", "G edges/s", ""]
    body = []
    for case in cases:
        for row in results(f"forest-large-{case}")["rows"]:
            seconds, remark = row["seconds"]["median"], ""
            if case == "host":
                remark = f"{row['share_of_link']:.0%} of the link"
            elif "speedup" in row:
                remark = f"{row['speedup']:.2f} times as fast as one"
            elif "segments" in row["method"]:
                remark = row["method"].partition(", ")[2]
            cells = [
                f"{row['edges']:,}",
                f"{row['vertices']:,}",
                "on the host" if row["place"] == "cpu" else "on a GPU",
            ]
            body.append(
                [*cells, len(row["devices"]), f"{seconds:.3f}", f"{row['edges'] / seconds / 1e9:.1f}", remark]
            )
    return table(header, body)


def overview():
    """One figure of each kind of problem, beside the fastest other program."""
    programs = results("pairs-cpu")["rows"]
    ours, *others = sorted(programs, key=lambda row: row["program"] != "edgewise")
    best = min(others, key=lambda row: row["seconds"]["median"])
    body = [
        [
            "10 M pairs of strings, from file to file, two cores",
            bold(f"{ours['seconds']['median']:.1f} s", True),
            f"{best['seconds']['median']:.1f} s ({best['program']})",
        ]
    ]
    rows = [row for row in results("components-cpu")["rows"] if row["threads"] == 2]
    named = {row["method"]: row for row in rows if row["graph"] == "rmat20"}
    auto = next(row for row in named.values() if row["auto"])
    cells = [bold(f"{median(auto)} ms", True), f"{median(named['gapbs'])} ms (GAP)"]
    body.append(["components of R-MAT, 2<sup>20</sup> vertices, two cores", *cells])
    for problem, graph, name in (
        ("bfs", "rmat22", "breadth-first search of R-MAT, 2<sup>22</sup> vertices, H200"),
        ("sssp", "rmat22", "shortest paths of the same, H200"),
        ("sssp", "rgg21", "shortest paths of a geometric graph, 2<sup>21</sup> vertices, H200"),
    ):
        ms, peer = tables_paths.beside_peer(problem, graph)
        cells = [bold(f"{ms:.3g} ms", True), f"{peer['ms'][graph]:g} ms ({peer['name']})"]
        body.append([name, *cells])
    ms, peer = tables_cycles.beside_g2miner(5)
    name = "pentagons through every vertex of com-DBLP, H200"
    body.append([name, bold(f"{ms:.3g} ms", True), f"{peer:g} ms (G2Miner, the total only)"])
    return table(["problem", "edgewise", "fastest other program"], body)


def beside_gapbs():
    """Medians of whole calls on two threads over those of GAP's programs, geometric means over the graphs."""
    names = {
        "components rows": "components, graphs held as rows, as GAP's `cc` has them",
        "components edges": "components, graphs held as edges alone",
        "bfs": "breadth-first search, GAP's `bfs`",
        "sssp": "shortest paths, weights 1 to 255, GAP's `sssp` at its best delta",
    }
    rows = [row for row in results("named-cpu")["rows"] if row["threads"] == 2 and "gapbs_ms" in row]
    body = []
    for call, name in names.items():
        ratios = {
            row["graph"]: row["edgewise_ms"]["median"] / row["gapbs_ms"]["median"]
            for row in rows
            if row["call"] == call
        }
        means = (
            geometric_mean(ratio for graph, ratio in ratios.items() if graph != without)
            for without in ("", tables_paths.SMALL)
        )
        body.append([name, *(f"{mean:.2f}" for mean in means), f"{max(ratios.values()):.2f}"])
    return table(["problem", "six graphs", f"without {tables_paths.SMALL}", "largest"], body)


def scaling():
    """Milliseconds (medians) of ours and of other programs, a panel for each call."""
    rows = results("scaling-cpu-16")["rows"]
    most = max(row["threads"] for row in rows)
    sides = {"edgewise_ms": "edgewise", "gapbs_ms": "GAP", "wasp_ms": "Wasp"}
    panels = {}
    for row in (row for row in rows if row["threads"] == most):
        panel = panels.setdefault(row["call"], Panel(row["call"], f"ms, {most} threads", {}))
        graph = row["graph"].replace("_osm", "").removeprefix("road-")
        panel.rows[graph] = {name: row[side]["median"] for side, name in sides.items() if side in row}
    halves = [list(panels.values())[start : start + 2] for start in (0, 2)]
    return "\n\n".join(
        dots(f"scaling-{number}", f"Times of {half[0].title} and {half[1].title}", half)
        for number, half in enumerate(halves)
    )


def scaling_ratios():
    """The time of each call over that of GAP's program on 16 threads."""
    ratios = {}
    for row in results("scaling-cpu-32-h100")["rows"]:
        if row["threads"] == 16 and "gapbs_ms" in row:
            ratio = row["edgewise_ms"]["median"] / row["gapbs_ms"]["median"]
            ratios.setdefault(row["call"], []).append(ratio)
    body = [
        [call, len(found), *(f"{of(found):.2f}" for of in (geometric_mean, min, max))]
        for call, found in ratios.items()
    ]
    return table(["call", "graphs", "geometric mean", "least", "largest"], body)


def first_use():
    """Seconds of each command with an empty cache of kernels and with a full one."""
    found = {
        device: {row["command"]: row for row in results(f"first-use-{device}")["rows"]}
        for device in ("cpu", "cuda")
    }
    columns = [rows for device in found.values() for rows in (device, device)]
    body = [
        [command]
        + [f"{rows[command][use]['seconds']:.2f}" for rows, use in zip(columns, ("first", "second") * 2)]
        for command in found["cpu"]
    ]
    return table(["command", "CPU, first", "CPU, second", "GPU, first", "GPU, second"], body)


def public_calls():
    """Milliseconds (medians) of whole calls on one GPU, on a new graph and on a warm one."""
    rows = results("surface-cuda")["rows"]
    largest = max(row["size"] for row in rows)
    rows = [row for row in rows if row["size"] == largest and row["order"] == "natural"]
    rows = [row for row in rows if row["source"] in ("", "hub")]
    calls = list(dict.fromkeys(row["call"] for row in rows))
    body = []
    for graph in dict.fromkeys(row["family"] for row in rows):
        found = {row["call"]: row for row in rows if row["family"] == graph}
        cells = (
            f"{found[call]['fresh_ms']['median']:.3g} / **{found[call]['ms']['median']:.3g}**"
            if call in found
            else ""
            for call in calls
        )
        body.append([graph, *cells])
    return table(["graph", *calls], body)


def picture(kind, name, text):
    """A picture of a result, drawn anew."""
    import pictures

    pictures.KINDS[kind](results(name), pictures.PICTURES / f"{name}.png")
    return f"![{text}](pictures/{name}.png)"


def median(row):
    return f"{row['ms']['median']:.1f}" if row else ""


def bold(text, yes):
    return f"**{text}**" if yes else text


def faults():
    """Runs of each job of Dask, kills of workers in them, and the answers that are those of one process."""
    names = {"integers": "components, integer ids", "strings": "components, string ids"}
    names["strings, divided"] = "components, string ids, divided among the workers of a machine"
    rows, body = results("faults")["rows"], []
    for kind in dict.fromkeys(row["kind"] for row in rows):
        runs = [row for row in rows if row["kind"] == kind]
        body.append([names.get(kind, kind), len(runs), *_killed(runs)])
    return table(["job", "runs", "kills", "equal answers"], [*body, ["all", len(rows), *_killed(rows)]])


def _killed(runs):
    return [sum(run[name] for run in runs) for name in ("kills", "same")]


def cluster():
    """A billion edges by one process that streams, and by workers."""
    body = []
    for row in results("cluster-cpu")["rows"]:
        memory = f"{row['mb'] / 1e3:.2f}", f"{row['mb_of_one_process'] / 1e3:.2f}"
        traffic = f"{row['gb_read']:.1f}", f"{row['gb_written']:.1f}"
        rate = f"{row['edges_per_s'] / 1e6:.1f}"
        times = f"{row['seconds']:.0f}", rate, f"{row['cpu_seconds']:.0f}"
        body.append([f"`{row['how']}`", *times, *memory, *traffic])
    memory = ["memory, GB", "of one process"]
    return table(["", "s", "M edges/s", "CPU s", *memory, "read, GB", "written, GB"], body)


def cluster_strings():
    """Components of strings by workers of a running cluster on 16 cores, beside one process."""
    body = [
        [
            f"{found['pairs'] // 10**6} million",
            f"{row['workers']} worker{'s' * (row['workers'] > 1)}" if row["workers"] else "one process",
            f"{row['s']:.2f}",
            f"{row['of_one_process']:.1f}",
            f"{row['cpu_s']:.1f}",
        ]
        for found in map(results, ("cluster-strings-cpu", "cluster-strings-50M-cpu"))
        for row in found["rows"]
    ]
    return table(["pairs", "", "s", "of one process", "CPU s"], body)


TABLES = {
    "cluster": cluster,
    "cluster-strings": cluster_strings,
    "faults": faults,
    "gpu-methods": gpu_methods,
    "gpu-edges": gpu_edges,
    "gpu-peers": gpu_peers,
    "cpu": cpu,
    "pairs": pairs,
    "thresholds": thresholds,
    "overview": overview,
    "beside-gapbs": beside_gapbs,
    "scaling": scaling,
    "scaling-ratios": scaling_ratios,
    "first-use": first_use,
    "scaling-picture": partial(picture, "scaling", "scaling-cpu", "Speed-up by number of threads"),
    "surface-cpu-picture": partial(picture, "surface", "surface-cpu", "Time per entry on CPU cores"),
    "surface-gpu-picture": partial(picture, "surface", "surface-cuda", "Time per entry on a GPU"),
    "public-calls": public_calls,
    "several-gpus": several_gpus,
    "several-weak": several_weak,
    "propagate": propagate,
    "streams-cpu": streams_cpu,
    "streams-gpu": streams_gpu,
    "forest-large": partial(forest_large, "several"),
    "forest-segments": partial(forest_large, "resident", "host"),
    **tables_cycles.TABLES,
    **tables_forest.TABLES,
    **tables_partitions.TABLES,
    **tables_networkx.TABLES,
    **tables_vertices.TABLES,
    **tables_paths.TABLES,
    **tables_transactions.TABLES,
    **{
        f"{preset}-{name}": partial(of_preset, preset, name)
        for preset, found in PRESETS.items()
        for name in found.experiments
    },
    **tables_experiments.TABLES,
}


def fill(path):
    text = path.read_text()

    def replace(match):
        if match[1] not in TABLES:
            sys.exit(f"{path.name}: no table is named {match[1]}")
        record.USED.clear()
        try:
            made = TABLES[match[1]]()
        except FileNotFoundError as absent:
            print(f"{path.name}: {match[1]} left as it is, since {Path(absent.filename).name} is not there")
            return match[0]
        origins = "\n".join(origin(name, drawn="](pictures/" in made) for name in dict.fromkeys(record.USED))
        if path.parent == NOTES:
            made = made.replace("](pictures/", "](../../docs/pictures/")
        return f"<!-- bench: {match[1]} -->\n{made}\n\n{origins}\n<!-- /bench -->"

    filled = re.sub(r"<!-- bench: ([\w-]+) -->.*?<!-- /bench -->", replace, text, flags=re.DOTALL)
    if filled != text:
        path.write_text(filled)
        print(f"{path.name}: tables written")


if __name__ == "__main__":
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted(NOTES.glob("*.md"))]:
        fill(page)
    sys.exit()
