"""Components of edges that flow past: from Parquet shards on CPU cores, from host memory through GPUs.

    python bench/streams.py files --folder DIRECTORY      1 G edges over 100 M vertices in 40 shards
    python bench/streams.py files --folder DIRECTORY --edges 40000 --shards 4 --vertices 10000
    python bench/streams.py files --folder DIRECTORY --rmat 26 --edges 1073741824
    python bench/streams.py strings --folder DIRECTORY --edges 100000000 --memory 6GB --threads 4
    python bench/streams.py strings --folder DIRECTORY --edges 100000000 --memory "" --add     in memory
    python bench/streams.py gpu                           1 G and 4 G edges over 2**26 vertices
    python bench/streams.py inserts --device cuda         batches of edges on the device, R-MAT and uniform

The shards are written once, by processes of their own, with pyarrow's defaults: two columns of int64 ids,
drawn uniformly, or of R-MAT with ids in random order.  They are streamed by ``edgewise components --stream``
in a fresh process, from the start of Python to the end of the written table; memory is its largest resident
set, and bytes a vertex are what that set has beyond the one of a run over as many rows a row group whose ids
are below 1,000.  The floor is bare reading: pyarrow decodes the row groups in as many threads, and nothing
is done with them.

Strings are the same command with ``--memory``: ids of 17 characters, half as many as there are pairs, which
are numbered on disk.  A row has the largest resident set, the most that the folder of the run held on disk,
and the bytes that the process wrote and read for each pair.

From host memory to a GPU the yardstick is the rate of plain copies from page-locked memory, and an edge is 8
bytes.  The labels of the first case are compared with those of the graph resident on the GPU.

Inserts are batches of edges that are on the device already, added to a ``ComponentsStream`` with nothing in
it; their yardstick is GConn (arXiv:2008.11839), which reports up to 48.23 G inserts a second on a
V100.  The labels at the end are compared with those of the whole graph.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import chain
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from harness import free, main, part, process, spread, timed

BLOCK = 1 << 26
#: Rows of a batch of bare reading.
BATCH_ROWS = 1 << 20
#: Vertices of the edges of host memory.
GPU_VERTICES = 1 << 26


def uniform(size, vertices, draw):
    """The ends of edges over so many vertices."""
    return [draw.integers(0, vertices, size) for _ in range(2)]


def rmat(size, scale, draw):
    """The ends of edges of R-MAT, in an order of the ids that is the same for all shards."""
    import edgewise as ew
    from edgewise.device import threads

    threads.use(1)  # each core has a process
    seed = int(draw.integers(1 << 31))
    graph = ew.generate.rmat(scale, edge_factor=size / 2**scale, shuffle=False, seed=seed)
    return [scattered(column.astype(np.int64), scale) for column in (graph.sources, graph.targets)]


def scattered(numbers, bits):
    """Numbers of so many bits in another order: multiplication and shifts that can be undone."""
    for factor in (0x9E3779B1, 0x85EBCA77):
        numbers = (numbers * factor) & ((1 << bits) - 1)
        numbers ^= numbers >> (bits // 2)
    return numbers


def write_shard(path, edges, ends, seed):
    """Write one shard, a few row groups at a time; ``ends(size, draw=...)`` draws edges, and their scores."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    draw, part = np.random.default_rng(seed), path.with_suffix(".part")
    sizes = [min(1 << 22, edges - start) for start in range(0, edges, 1 << 22)]
    columns = (ends(size, draw=draw) for size in sizes)
    tables = (pa.table(found, ["source", "target", "score"][: len(found)]) for found in columns)
    first = next(tables)
    with parquet.ParquetWriter(part, first.schema) as writer:
        for table in chain([first], tables):
            writer.write_table(table)
    part.rename(path)


def make_shards(given, of_strings=False, scored=False):
    """The folder of shards; those that are there are kept."""
    above = Path(given.folder)
    if of_strings:
        name, ends = f"names-{given.vertices}", partial(named, vertices=given.vertices, scored=scored)
        name += "-scored" if scored else ""
    elif given.rmat:
        name, ends = f"rmat{given.rmat}", partial(rmat, scale=given.rmat)
    else:
        name, ends = f"{given.vertices}", partial(uniform, vertices=given.vertices)
    folder = above / f"shards-{name}-{given.edges}-{given.shards}"
    folder.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        missing = [
            number for number in range(given.shards) if not (folder / f"{number:03d}.parquet").exists()
        ]
        each = given.edges // given.shards
        jobs = [pool.submit(write_shard, folder / f"{one:03d}.parquet", each, ends, one) for one in missing]
        few = partial(uniform, vertices=1000)
        jobs.append(pool.submit(write_shard, above / "small.parquet", min(1 << 23, given.edges), few, 0))
        for job in jobs:
            job.result()
    return folder


def names_of(numbers):
    """Ids of 17 characters: a letter, and 16 digits that numbers are scattered to."""
    import pyarrow as pa

    values = scattered(numbers.astype(np.uint64) + np.uint64(1), 64).astype(">u8").view(np.uint8)
    digits = np.frombuffer(b"0123456789abcdef", np.uint8)
    text = np.empty((len(numbers), 17), np.uint8)
    text[:, 0] = ord("r")
    text[:, 1::2], text[:, 2::2] = (digits[part].reshape(-1, 8) for part in (values >> 4, values & 15))
    starts = np.arange(0, text.size + 1, 17, dtype=np.int32)
    return pa.Array.from_buffers(pa.string(), len(numbers), [None, pa.py_buffer(starts), pa.py_buffer(text)])


def named(size, vertices, draw, scored=False):
    """The ends of edges over so many vertices with ids of 17 characters, and scores from 0.5 to 1."""
    found = [names_of(column) for column in uniform(size, vertices, draw)]
    return [*found, 0.5 + draw.random(size) / 2] if scored else found


def read_bare(folder, threads):
    """Decode all row groups by pyarrow in some threads; return the number of rows."""
    import pyarrow.parquet as parquet

    def rows(path, metadata, group):
        file = parquet.ParquetFile(path, metadata=metadata)
        batches = file.iter_batches(BATCH_ROWS, [group], ["source", "target"], use_threads=False)
        return sum(batch.num_rows for batch in batches)

    footers = [(path, parquet.ParquetFile(path).metadata) for path in sorted(folder.glob("*.parquet"))]
    groups = [(path, footer, group) for path, footer in footers for group in range(footer.num_row_groups)]
    with ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(rows, *zip(*groups)))


def stream(source, target, threads, device):
    """What the command on shards takes in a process of its own, with the facts that it tells."""
    words = ["components", "--stream", source, "-o", target, "--json", "--device", device]
    found = process([sys.executable, "-m", "edgewise", *words], NUMBA_NUM_THREADS=str(threads))
    return found | {"facts": json.loads(found.pop("output").splitlines()[-1])}


def files(given):
    """Components of Parquet shards, decoded by CPU cores and joined there or on a GPU."""
    vertices = 1 << given.rmat if given.rmat else given.vertices
    given.facts |= {"threads": given.threads, "ids": vertices, "rmat": given.rmat}
    folder, above = make_shards(given), Path(given.folder)
    run = partial(stream, target=above / "clusters.parquet", threads=given.threads, device=given.device)
    run(above / "small.parquet")  # compiles
    buffers = run(above / "small.parquet")["mb"] * 1024**2
    for _ in range(given.runs):
        rows, bare = timed(partial(read_bare, folder, given.threads))
        found = run(folder)
        facts, memory = found["facts"], found["mb"] * 1024**2
        row = {key: facts[key] for key in ("edges", "vertices", "components", "files")}
        row |= {"seconds": found["seconds"], "cpu_seconds": found["cpu"], "stages": facts["seconds"]}
        row |= {"bare_seconds": bare, "of_bare": found["seconds"] / bare, "right": rows == facts["edges"]}
        row |= {"edges_per_s": facts["edges"] / found["seconds"], "mb": memory / 1e6}
        yield row | {"buffers_mb": buffers / 1e6, "bytes_a_vertex": (memory - buffers) / vertices}


def strings(given):
    """Components of Parquet shards of string ids within a limit of memory."""
    given.vertices = given.vertices or given.edges // 2
    folder, above = make_shards(given, of_strings=True), Path(given.folder)
    words = [sys.executable, "-m", "edgewise", "components", folder, "--json", "--device", "cpu"]
    for _ in range(given.runs):
        state, target = above / "state", above / "clusters"
        for one in (state, target):
            shutil.rmtree(one, ignore_errors=True)
        Path(f"{target}.parquet").unlink(missing_ok=True)
        options = ["--stream", "-o", f"{target}.parquet"]
        if given.memory:
            options = ["--memory", given.memory, "--checkpoint", state, "-o", f"{target}/"]
        found, moved = watched([*words, *options], state, NUMBA_NUM_THREADS=str(given.threads))
        facts = json.loads(found["output"].splitlines()[-1])
        row = {key: facts[key] for key in ("edges", "vertices", "components", "files")}
        row |= {"memory": given.memory, "threads": given.threads, "seconds": found["seconds"]}
        row |= {"cpu_seconds": found["cpu"], "mb": found["mb"] * 1.048576, "stages": facts["seconds"]}
        row |= {"input_gb": sum(one.stat().st_size for one in folder.iterdir()) / 1e9}
        yield (
            row
            | {"disk_gb": moved["held"] / 1e9}
            | {f"{way}_bytes_a_pair": moved[way] / given.edges for way in ("written", "read")}
        )


def watched(command, folder, **environment):
    """What a command takes in a process of its own, and what it moved and held in a folder at most."""
    start, moved = time.perf_counter(), {"held": 0, "written": 0, "read": 0}
    environment = os.environ | {"EDGEWISE_QUIET": "1"} | environment
    with subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, env=environment) as child:
        while (ended := os.wait4(child.pid, os.WNOHANG))[0] == 0:
            with suppress(OSError):  # of files that are renamed or removed meanwhile
                held = sum(512 * one.stat().st_blocks for one in folder.glob("*"))
                moved["held"] = max(moved["held"], held)
            with suppress(OSError):
                lines = Path(f"/proc/{child.pid}/io").read_text().splitlines()
                counts = {name: int(count) for name, count in (line.split(": ") for line in lines)}
                moved |= {"written": counts["wchar"], "read": counts["rchar"]}
            time.sleep(0.05)
        child.returncode = os.waitstatus_to_exitcode(ended[1])
        output = child.stdout.read().decode()
    if child.returncode:
        sys.exit(f"the command failed with status {child.returncode}")
    usage = ended[2]
    found = {"seconds": time.perf_counter() - start, "cpu": usage.ru_utime + usage.ru_stime}
    return found | {"mb": usage.ru_maxrss / 1024, "output": output}, moved


# -- GPUs ----------------------------------------------------------------------------------------------------


def gpu(given):
    """Components of edges of host memory through GPUs."""
    from forest import link_rate

    from edgewise.device import arrays, streams
    from edgewise.workers import device_team

    rate, gpus = link_rate(), arrays.gpu_count()
    given.facts |= {"gb_per_s": rate / 1e9, "vertices": GPU_VERTICES, "gpus": gpus}
    columns = [streams.pinned(given.more, np.uint32, "cuda:0") for _ in range(2)]
    fill(columns)
    few = [column[: given.edges] for column in columns]
    expected, one = resident_labels(few), device_team("cuda:0")
    yield case("page-locked", few, one, rate, given.runs, expected)
    yield case("pageable", [column.copy() for column in few], one, rate, given.runs, expected)
    for count in (1, 2, 4, 8):
        if count <= gpus:
            team = device_team([f"cuda:{number}" for number in range(count)])
            yield case("page-locked", columns, team, rate, 3)


def fill(columns):
    """Draw vertices uniformly on the GPU and bring them to the host."""
    import cupy

    from edgewise.device import streams

    draw = cupy.random.default_rng(1)
    for column in columns:
        for start in range(0, len(column), BLOCK):
            part = column[start : start + BLOCK]
            streams.copy(part, draw.integers(0, GPU_VERTICES, len(part), dtype=np.uint32))
            cupy.cuda.get_current_stream().synchronize()
    free()


def resident_labels(columns):
    """Labels by the method ``rem`` with all edges on the GPU."""
    import edgewise as ew

    graph = ew.Graph(GPU_VERTICES, edges=(*columns, None)).to("cuda")
    labels = ew.connected_components(graph, method="rem").labels.get()
    del graph
    free()
    return labels


def case(memory, columns, team, rate, runs, expected=None):
    """A row of one way, the first run apart."""
    import cupy

    from edgewise.components.segments import components_by_segments
    from edgewise.device import arrays

    times, peaks, right = [], [], True
    for run in range(runs + 1):
        free()
        (labels, segments), spent = timed(partial(components_by_segments, GPU_VERTICES, *columns, team))
        times += [spent] if run else []
        if expected is not None and not run:
            right = np.array_equal(arrays.move(labels, "cpu").view(expected.dtype), expected)
        with arrays.on(team[0].device):
            peaks.append(cupy.get_default_memory_pool().total_bytes())
        del labels
    edges, seconds = len(columns[0]), spread(times)
    row = {"memory": memory, "edges": edges, "devices": list(team.names), "segments": segments}
    row |= {"seconds": seconds, "gb_per_s": 8 * edges / seconds["median"] / 1e9, "right": right}
    return row | {"share_of_link": 1e9 * row["gb_per_s"] / rate, "device_gb": max(peaks) / 1e9}


# -- Batches -------------------------------------------------------------------------------------------------


def inserts(given):
    """Edges a second that a stream takes in batches of several sizes, from arrays on its device."""
    import edgewise as ew

    for kind in given.kinds:
        n, m = 1 << given.scale, given.factor << given.scale
        if kind == "rmat":
            graph = ew.generate.rmat(given.scale, edge_factor=given.factor, seed=1, device=given.device)
        else:
            graph = ew.generate.uniform(n, m, seed=1, device=given.device)
        ends, expected = (graph.sources, graph.targets), ew.connected_components(graph).count
        for batch in given.batches:
            times = []
            for run in range(given.runs + 1):
                found, spent = timed(partial(inserted, ends, min(batch, m), n, given.device))
                times += [spent] if run else []
            row = {"graph": kind, "vertices": n, "edges": len(ends[0]), "batch": min(batch, m)}
            row |= {"seconds": spread(times), "right": found == expected}
            yield row | {"inserts_per_s": row["edges"] / row["seconds"]["median"]}


def inserted(ends, batch, n, device):
    """The number of components after all edges have been added in batches."""
    import edgewise as ew

    stream = ew.ComponentsStream(n, device=device)
    for start in range(0, len(ends[0]), batch):
        stream.add(*(column[start : start + batch] for column in ends))
    return stream.result().count


PARTS = {
    "inserts": part(
        "streams-inserts-{place}",
        inserts,
        device="cpu",
        scale=24,
        factor=16,
        kinds=["rmat", "uniform"],
        batches=[10**5, 10**6, 10**7, 1 << 40],
        runs=7,
    ),
    "files": part(
        "streams-{kind}",
        files,
        folder="shards",
        edges=10**9,
        vertices=10**8,
        rmat=0,
        shards=40,
        threads=2,
        device="cpu",
        runs=1,
    ),
    "strings": part(
        "streams-strings",
        strings,
        key=("edges", "memory", "threads"),
        folder="shards",
        edges=10**8,
        vertices=0,
        shards=32,
        memory="6GB",
        threads=4,
        runs=1,
    ),
    "gpu": part("streams-gpu", gpu, edges=1 << 30, more=1 << 32, runs=7),
}

if __name__ == "__main__":
    main(__doc__, PARTS)
