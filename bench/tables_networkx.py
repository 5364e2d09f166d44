"""The tables of the NetworkX backend; see :mod:`tables`."""

from functools import partial

from record import results, table

#: The functions of the guide, one of each kind.
FEW = (
    "connected_components",
    "has_path",
    "single_source_shortest_path_length",
    "single_source_dijkstra",
    "single_source_bellman_ford",
    "minimum_spanning_edges",
    "triangles",
    "clustering",
    "core_number",
    "strongly_connected_components",
    "descendants",
    "all_pairs_dijkstra_path_length",
    "diameter",
    "from_pandas_edgelist",
)
#: Names of the columns of other backends.
PEERS = {"rustnx": "rustnx", "rustworkx": "nx-rustworkx"}


def shown(seconds, limit):
    """Seconds with two significant digits; in milliseconds where they are few."""
    if seconds is None:
        return f"> {limit:.0f} s"
    return f"{seconds:.2g} s" if seconds >= 0.1 else f"{1000 * seconds:.2g} ms"


def calls(names=None):
    """Processor time of functions by NetworkX and by the backends, the least of first calls in bold."""
    found = results("networkx-backend")
    limit, body = found["limit"], []
    for row in found["rows"]:
        if names and row["call"] not in names:
            continue
        theirs, ours = row["networkx"]["cached"], row["edgewise"]
        firsts = {name: row[name].get("first") for name in ("edgewise", *PEERS) if name in row}
        least = min((one for one in [theirs, *firsts.values()] if one is not None), default=None)
        cells = [shown(theirs, limit)]
        for name in ("edgewise", *PEERS):
            absent = name not in row or "error" in row[name]  # a backend that lacks it, or declines
            over = limit if name == "edgewise" else 3 * limit
            text = "" if absent else shown(firsts[name], over)
            cells.append(f"**{text}**" if text and firsts[name] == least else text)
        is_table = row["graph"] in ("table", "matrix")
        cells.insert(2, "" if is_table else shown(ours["cached"], limit))
        body.append([f"`{row['call']}`", row["graph"], *cells])
    head = ["function", "graph", "NetworkX", "edgewise, first call", "edgewise, converted", *PEERS.values()]
    return table(head, body)


def outcomes():
    """Outcomes of NetworkX's own tests, and how many of them call functions of the backend."""
    body = []
    for name in ("networkx-suite-3.6", "networkx-suite-3.7"):
        found = results(name)
        got = found["outcomes"]
        versions = found["versions"]["networkx"], found["versions"]["python"]
        counts = [got.get(key, 0) for key in ("passed", "failed", "skipped", "expected failures")]
        used = found["tests of the backend"], len(found["functions"])
        body.append([*versions, *(f"{count:,}" for count in (*counts, *used))])
    head = ["NetworkX", "Python", "passed", "failed", "skipped", "expected failures", "tests of the backend"]
    return table([*head, "functions called"], body)


def expected_failures():
    """Reasons of expected failures, with their numbers by version."""
    runs = [results(name)["expected failures"] for name in ("networkx-suite-3.6", "networkx-suite-3.7")]
    body = [[reason, *(run.get(reason, 0) for run in runs)] for reason in sorted({*runs[0], *runs[1]})]
    return table(["reason", "3.6.1", "3.7"], body)


def tests_of_functions():
    """Number of NetworkX's tests that really ran each function of the backend, by version."""
    runs = [results(name)["functions"] for name in ("networkx-suite-3.6", "networkx-suite-3.7")]
    names = sorted({*runs[0], *runs[1]})
    body = [[f"`{name}`", *(run.get(name, {"tests": 0})["tests"] for run in runs)] for name in names]
    return table(["function", "tests of 3.6.1", "tests of 3.7"], body)


TABLES = {
    "networkx-backend": calls,
    "networkx-backend-few": partial(calls, FEW),
    "networkx-suite": outcomes,
    "networkx-suite-expected": expected_failures,
    "networkx-suite-functions": tests_of_functions,
}
