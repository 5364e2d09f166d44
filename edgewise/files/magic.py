"""Binary formats, which are known by their first bytes, and files of duplicates, known by their ending."""

#: First bytes of an ``.npy`` file, and the ending of files of duplicates.
NPY, DUPS = b"\x93NUMPY", ".dups"
#: First bytes of an ``.npz`` file.
ZIP = b"PK\x03\x04"
#: First bytes of binary formats.
MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow", ZIP: "npz"}
MAGIC[NPY] = "npy"
BINARY = {*MAGIC.values(), "gap", "dups"}
#: First bytes of files that are no graphs, and what to do with them.
FOREIGN = {
    b"FEA1": "is a Feather file of version 1; write it again with pyarrow.feather.write_feather",
    b"\x89HDF": "is HDF5; write the edges to Parquet or CSV",
    b"7z\xbc\xaf": "is a 7-Zip archive; unpack it first",
    b"%PDF": "is a PDF document, not a graph",
    b"\x80\x04\x95": "is a Python pickle; write the edges to Parquet or .npz",
    b"\x80\x05\x95": "is a Python pickle; write the edges to Parquet or .npz",
    b"SQLite": "is an SQLite database; export the edges to CSV",
}


def magic(source):
    """Name of the binary format that the first bytes are of, or ``None``."""
    if source.suffix == DUPS:
        return "dups"
    for start, problem in FOREIGN.items():
        if source.head.startswith(start):
            raise source.error(problem)
    return next((name for start, name in MAGIC.items() if source.head.startswith(start)), None)
