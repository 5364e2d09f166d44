"""Edges and tables written as shards in a new folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from edgewise.errors import OptionError, argument
from edgewise.files import store
from edgewise.files.formats import named
from edgewise.files.npz import write_npz
from edgewise.files.store import Shape, write_store
from edgewise.files.write_tables import as_tables, write_parquet
from edgewise.graph import Graph


def write_folder(thing: Any, folder: str | os.PathLike, name: str | None = None) -> None:
    """Write a graph, a result or a table as shards in a new folder."""
    holds = "edges" if isinstance(thing, Graph) else "table"
    write_store(as_tables(thing), folder, Shape(store.SHARD_ROWS), shard_writer(name, holds), holds)


def shard_writer(name: str | None = None, holds: str = "edges") -> Callable:
    """What writes shards in a format: of edges Parquet or ``.npz``, of other tables Parquet."""
    writers = {"parquet": write_parquet} | ({"npz": write_npz} if holds == "edges" else {})
    name = named(name or "parquet")
    if name not in writers:
        given = argument("format", name)
        raise OptionError(f"{given} is not for a folder of shards; use {' or '.join(writers)}")
    return writers[name]
