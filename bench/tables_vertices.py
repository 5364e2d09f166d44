"""The tables of strong components and cores; see :mod:`tables`."""

from functools import partial
from pathlib import Path

from record import results, table

FOLDER = Path(__file__).resolve().parent
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


#: The problems whose scripts here compare such methods and peers.
PROBLEMS = [page.stem for page in FOLDER.glob("*.py") if "\nfrom vertex_peers import" in page.read_text()]
TABLES = {f"{problem}-cpu": partial(of_processor, f"{problem}-cpu") for problem in PROBLEMS}
