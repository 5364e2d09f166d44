"""Other tools with edgewise inside: Splink's SQL against it in DuckDB, and memory of frames and databases.

python bench/integrations.py splink [--pairs 10000000] [--ids integers]    seconds of both; do they agree?
python bench/integrations.py memory --tool polars [--pairs 10000000] [--ids strings]

Records form groups of eight; a pair is a record and another one of its group, with a probability by chance.
Of four calls of edgewise the best one counts.
``memory`` prints the resident memory that one call adds at most, read every 3 ms, in the size of the columns
of ids in Arrow; the same call on fewer pairs is before it.
"""

import argparse
import gc
import logging
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa

import edgewise as ew

TOOLS = ("arrow", "polars", "pandas", "duckdb")
TEXT = "'person-' || lpad((hash(i) % 1000000000000)::VARCHAR, 12, '0') || '-' || i"
PAIRS = """
CREATE TABLE pairs AS WITH chosen AS (
    SELECT (random() * {n})::BIGINT % {n} AS a, (1 + random() * 6)::BIGINT AS step, random() AS r
    FROM range({m})
), ends AS (SELECT a, (a - a % 8 + (a + step) % 8) % {n} AS b, r FROM chosen)
SELECT l.unique_id AS unique_id_l, r.unique_id AS unique_id_r, 0.2 + 0.8 * ends.r AS match_probability
FROM ends JOIN nodes l ON l.i = ends.a JOIN nodes r ON r.i = ends.b WHERE ends.a <> ends.b
"""


def splink(pairs, ids):
    """Print the seconds of edgewise and of Splink's SQL, for two thresholds."""
    from splink import DuckDBAPI
    from splink.internals import clustering

    from edgewise.integrations import splink as ours

    logging.getLogger("splink").setLevel(logging.ERROR)
    api, n = DuckDBAPI(), pairs // 2
    database = api.duckdb_con
    column = TEXT if ids == "strings" else "i"
    database.execute(f"CREATE TABLE nodes AS SELECT {column} AS unique_id, i FROM range({n}) t(i)")
    database.execute("SELECT setseed(0.5)")
    database.execute(PAIRS.format(n=n, m=pairs))
    tables = api.register("nodes"), api.register("pairs")
    name = "cluster_pairwise_predictions_at_threshold"

    def timed(module, threshold):
        start = time.perf_counter(), time.process_time()
        found = getattr(module, name)(*tables, api, "unique_id", threshold_match_probability=threshold)
        spent = time.perf_counter() - start[0], time.process_time() - start[1]
        return found.physical_name, np.array(spent)

    for threshold in (0.9, 0.5):
        own, seconds = min((timed(ours, threshold) for _ in range(4)), key=lambda one: one[1][1])
        theirs, others = timed(clustering, threshold)
        same = f"SELECT count(*) FROM {own} JOIN {theirs} USING (unique_id, cluster_id)"
        same = database.sql(same).fetchall()[0][0] == n
        for clock, one, other in zip(("the clock", "the processor"), seconds, others):
            print(f"{ids}, {threshold}, {clock}: {one:.2f} s, Splink {other:.1f} s, {other / one:.1f}")
        print(f"same: {same}")


def table_of(pairs, ids):
    """Arrow columns of ids of pairs."""
    rng = np.random.default_rng(1)
    first = rng.integers(0, pairs // 2, pairs)
    ends = first, (first // 8 * 8 + rng.integers(0, 8, pairs)) % (pairs // 2)
    if ids == "integers":
        return pa.table({"l": ends[0] * 7919, "r": ends[1] * 7919})
    import pyarrow.compute as pc

    texts = (pc.utf8_lpad(pa.array(end).cast(pa.string()), 14, "0") for end in ends)
    return pa.table({name: pc.binary_join_element_wise("person-", one, "") for name, one in zip("lr", texts)})


def call_of(tool, table):
    """A call that finds the clusters of a table with a tool."""
    if tool == "polars":
        import polars

        import edgewise.integrations.polars

        frame = polars.from_arrow(table)
        return lambda: frame.edgewise.clusters("l", "r")
    if tool == "pandas":
        import edgewise.integrations.pandas  # noqa: F401

        frame = table.to_pandas()
        return lambda: frame.edgewise.clusters("l", "r")
    if tool == "arrow":
        return lambda: clusters(table)
    import duckdb

    database = duckdb.connect()
    database.execute('CREATE TABLE pairs AS FROM "table"')
    return lambda: clusters(database.table("pairs"))


def clusters(table):
    """Clusters as every tool asks for them."""
    return ew.connected_components(ew.Graph.from_frame(table, "l", "r", weight=False)).to_frame("first")


def memory(tool, pairs, ids):
    """Print the memory that a call adds at most."""
    call_of(tool, table_of(600_000, ids))()
    table = table_of(pairs, ids)
    size, call = table.nbytes, call_of(tool, table)
    del table
    gc.collect()
    pa.default_memory_pool().release_unused()
    process, peak, ended = psutil.Process(), [0], threading.Event()
    before = process.memory_info().rss

    def watch():
        while not ended.wait(0.003):
            peak[0] = max(peak[0], process.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    call()
    ended.set()
    watcher.join()
    added = peak[0] - before
    print(f"{tool}, {ids}: columns {size / 2**20:.0f} MiB, added {added / 2**20:.0f} MiB, {added / size:.2f}")


def main():
    """Measure what the arguments say."""
    parser = argparse.ArgumentParser(prog=Path(__file__).name)
    parser.add_argument("what", choices=["splink", "memory"])
    parser.add_argument("--pairs", type=int, default=10**7)
    parser.add_argument("--ids", choices=["integers", "strings"], default="integers")
    parser.add_argument("--tool", choices=TOOLS, default="arrow")
    given = parser.parse_args()
    if given.what == "splink":
        splink(given.pairs, given.ids)
    else:
        memory(given.tool, given.pairs, given.ids)


if __name__ == "__main__":
    main()
