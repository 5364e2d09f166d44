"""The how-tos of the documentation, and the real graphs that they read."""

import gzip
import os
from pathlib import Path

DATA = Path(os.environ.get("EDGEWISE_TEST_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
#: The files of each page: the name there, and where the graph is among the real ones.
HOW_TOS = {
    "nightly": {},
    "cluster-store": {},
    "roads": {
        "rome99.gr": "rome99/rome99.gr.gz",
        "luxembourg_osm.mtx": "luxembourg_osm/luxembourg_osm.mtx.gz",
    },
    "meshes": {},
    "social": {"facebook_combined.txt.gz": "ego-Facebook/facebook_combined.txt.gz"},
}


def has_data(name):
    """Whether the graphs of a page are there."""
    return all((DATA / source).exists() for source in HOW_TOS[name].values())


def put_data(name, folder):
    """Put the graphs of a page into a folder, uncompressed where the page has them so."""
    for target, source in HOW_TOS[name].items():
        content = (DATA / source).read_bytes()
        (folder / target).write_bytes(content if target.endswith(".gz") else gzip.decompress(content))
