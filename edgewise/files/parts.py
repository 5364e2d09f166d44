"""The tables in a folder, by their names."""

from pathlib import PurePath

from edgewise.files.magic import DUPS
from edgewise.files.streams import SUFFIXES

#: Endings of the parts in a folder, before one that names a compression.
PARTS = (".parquet", ".pq", ".arrow", ".feather", ".ipc", ".csv", ".tsv", ".jsonl", ".ndjson", DUPS)


def is_shown(part, folder):
    """Whether what is in a folder is a file that is not hidden, nor in a hidden folder such as ``_tmp``."""
    inside = part.relative_to(folder).parts
    return not (any(name.startswith((".", "_")) for name in inside) or part.is_dir())


def is_part(path: PurePath) -> bool:
    """Whether a file in a folder of tables is one of them, by its name."""
    suffix = path.suffix.lower()
    return (PurePath(path.stem).suffix.lower() if suffix in SUFFIXES else suffix) in PARTS
