"""The tables of strong components and cores; see :mod:`tables`."""

from functools import partial

from record import results, table

#: Names of the columns that are no methods of edgewise.
PEERS = {
    "scipy.sparse.csgraph": "SciPy",
    "igraph": "igraph",
    "networkit": "networkit",
    "networkx": "NetworkX",
}


def of_processor(name):
    """Processor time of every method and peer in milliseconds, the least in bold."""
    rows = results(name)["rows"]
    columns, body = list(rows[0]["ms"]), []
    for row in rows:
        medians = [row["ms"][column]["median"] for column in columns]
        cells = [f"**{one:.1f}**" if one == min(medians) else f"{one:,.1f}" for one in medians]
        body.append([row["graph"], f"{row['vertices']:,}", f"{row['edges'] / 1e6:.2f} M", *cells])
    return table(["graph", "vertices", "edges", *(PEERS.get(one, f"`{one}`") for one in columns)], body)


TABLES = {name: partial(of_processor, name) for name in ("strong-cpu", "cores-cpu")}
