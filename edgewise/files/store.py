"""Edges in shards on disk: a folder of Parquet files, and a manifest that says which belong to it.

A store is written shard by shard, so that memory holds one row group, into a folder with another name, which
is renamed when the manifest is written: there is no store of which a part is missing, whatever interrupts the
writer.  Readers take the shards of a folder with a manifest in its order, and compare their sizes with it.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from edgewise.errors import FileError
from edgewise.files.atomic_write import writing

MANIFEST, VERSION = "manifest.json", 1
#: Rows of a row group.
ROW_GROUP = 1 << 20


def write_store(tables: Iterable[Any], folder: str | os.PathLike, shards: int, rows: int) -> dict:
    """Write tables with the same columns to a new folder; return the manifest.

    There are ``shards`` shards if there are ``rows`` rows; the last one takes all further rows.
    """
    path = Path(os.path.abspath(folder))
    part = path.with_name(f".part-{os.getpid()}-{path.name}")
    with writing(path):
        if path.exists() and (not path.is_dir() or os.listdir(path)):
            raise FileError(path, "is there already; name a new folder")
        part.mkdir()
        try:
            manifest = _write_shards(tables, part, shards, max(1, -(-rows // shards)))
            (part / MANIFEST).write_text(json.dumps(manifest, indent=1))
            os.replace(part, path)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return manifest


def _write_shards(tables, folder, shards, rows_of_shard):
    """Write the shards; return what the manifest says."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    written: list[dict] = []
    writer = schema = None

    def begin():
        name = f"{len(written):05}.parquet"
        written.append({"name": name, "rows": 0})
        return parquet.ParquetWriter(folder / name, schema, compression="zstd", compression_level=1)

    try:
        for table in tables:
            table = pa.Table.from_batches([table]) if isinstance(table, pa.RecordBatch) else table
            schema = schema or table.schema
            table = table.cast(schema)
            writer = writer or begin()
            while table.num_rows:
                room = rows_of_shard - written[-1]["rows"]
                if room <= 0 and len(written) < shards:
                    writer.close()
                    writer = begin()
                    continue
                taken = table.slice(0, room if len(written) < shards else None)
                writer.write_table(taken, row_group_size=ROW_GROUP)
                written[-1]["rows"] += taken.num_rows
                table = table.slice(taken.num_rows)
    finally:
        if writer is not None:
            writer.close()
    for one in written:
        one["bytes"] = (folder / one["name"]).stat().st_size
    return {"edgewise_store": VERSION, "edges": sum(one["rows"] for one in written), "shards": written}


def shards_of(folder: Path) -> list[Path] | None:
    """Paths of the shards of a store, in order; ``None`` if a folder is no store.

    FileError if a shard is missing, or has another size than the one that was written.
    """
    manifest = folder / MANIFEST
    try:
        facts = json.loads(manifest.read_bytes())
        if not isinstance(facts, dict) or "edgewise_store" not in facts:
            return None
        version, shards = facts["edgewise_store"], [(one["name"], one["bytes"]) for one in facts["shards"]]
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, TypeError, KeyError):
        raise FileError(manifest, "is damaged; convert the edges again, or remove it") from None
    if version != VERSION:
        raise FileError(manifest, "was written by another version of edgewise; convert the edges again")
    for name, size in shards:
        try:
            found = (folder / name).stat().st_size
        except FileNotFoundError:
            raise FileError(folder / name, f"is missing, and {MANIFEST} names it; restore it") from None
        if found != size:
            problem = f"has {found:,} bytes, and {size:,} according to {MANIFEST}"
            raise FileError(folder / name, f"{problem}; restore it, or convert the edges again")
    return [folder / name for name, _ in shards]


def is_store(paths: Iterable[str | os.PathLike]) -> bool:
    """Whether files are all shards of one store, in order."""
    files = [Path(path) for path in paths]
    return len(files) > 1 and (files[0].parent / MANIFEST).is_file() and shards_of(files[0].parent) == files
