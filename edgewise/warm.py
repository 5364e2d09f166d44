"""Compiling ahead: every command on tiny graphs, so that its kernels are on disk before they are wanted."""

from importlib import import_module

from edgewise.front import named
from edgewise.unfinished import temporary_folder

#: Methods of searches that ``auto`` takes; the others are left to the first who asks for them.
TAKEN = {
    "cpu": (
        "top-down",
        "direction-optimising",
        "delta-stepping",
        "bellman-ford",
        "floyd-warshall",
        "sssp",
        "multi-source",
        "johnson",
    ),
    "cuda": (
        "cooperative",
        "near-far",
        "contraction-hierarchy",
        "bellman-ford",
        "floyd-warshall",
        "sssp",
        "johnson",
    ),
}
#: Methods of forests that ``auto`` takes.
TAKEN_FORESTS = {"cpu": ("kruskal", "boruvka"), "cuda": ("boruvka",)}
#: Folders of problems with an option of their own; those of all others are compiled by ``cores``.
WITH_OPTIONS = ("components", "cycles", "forest", "partitions")
#: Length of cycles from which on there is one method for all.
LONGEST = 7
#: Sizes of the graphs for those kernels that no tiny graph needs: the scale of one that has hubs, the rows of
#: a grid, the scale of one with far more edges than vertices, and that from which on generators use loops.
SCALE, ROWS, MANY, LARGE = 12, 200, 15, 16
#: Side of the grid, and so of several levels, that is divided on CPU cores.
SIDE = 64
#: Side of a grid of which two levels have more vertices than NumPy gathers and scans alone.
BROAD = 640


@named
def warmup(
    *,
    device: str = "auto",
    components: bool = False,
    paths: bool = False,
    cycles: bool = False,
    forests: bool = False,
    partitions: bool = False,
    cores: bool = False,
) -> str:
    """Compile and keep the kernels of all commands, or those of some.

    Calls the public functions on tiny graphs, with the types of ids and weights that files have.  Kernels are
    kept on disk until edgewise changes.  Those that are there already are not compiled again.

    Parameters
    ----------
    device : str
        ``"cpu"``, ``"gpu"``, ``"cuda:1"`` or ``"auto"`` (a GPU if there is one).
    components : bool
        Compile the main job, pairs in and clusters out: every method of
        :func:`edgewise.connected_components`, for integer ids and string ids, from arrays and from files.
    paths : bool
        Compile the searches for shortest paths, without weights and for weights of type int64 and float64.
    cycles : bool
        Compile the counts of cycles: those that are taken for each length up to :data:`LONGEST`.
    forests : bool
        Compile spanning forests, and components at several thresholds, for weights of type int64 and float64.
    partitions : bool
        Compile partitions, for graphs with and without weights, and their measures.
    cores : bool
        Compile core numbers, strong components, stores of clusters, and all that has no option here.

    Returns
    -------
    str
        The device that is ready.

    Raises
    ------
    DeviceError
        The device is not there.

    Notes
    -----
    Where none of the options is given, all kernels are compiled.
    """
    from edgewise.device import arrays

    where = arrays.resolve(device)
    chosen = (components, paths, cycles, forests, partitions, cores)
    steps = _join_all_kinds, _search_all_kinds, _count_cycles, _grow_forests, _divide, _decompose
    for step, is_chosen in zip(steps, chosen):
        if is_chosen or not any(chosen):
            step(where)
    return where


def _join_all_kinds(where):
    """Run the main job on every kind of input."""
    with temporary_folder() as folder:
        for graph in _tiny_graphs(folder):
            _run_all_methods(graph.to(where))
        if where == "cpu":
            _join_larger()
        else:
            _join_many(where)
        _number_strings()
        _name_clusters()
        _stream_all_kinds(folder, where)


def _tiny_graphs(folder):
    """Graphs of each kind of id, from arrays and from each kind of file."""
    from edgewise.files import read, write
    from edgewise.graph import Graph

    numbers = Graph.from_edges([0, 1, 3], [1, 2, 4], n_vertices=5)
    yield numbers
    yield Graph.from_edges([0, 1, 0, 1, 0], [1, 0, 1, 0, 1], n_vertices=2)  # dense, in no order
    for column in ([10, 20, 40], [20, 30, 50]), (["a", "b", "d"], ["b", "c", "e"]):
        yield Graph.from_edges(*column)
    for ending in ("parquet", "csv", "el"):
        for graph in (numbers, _skewed()):
            file = folder / f"pairs.{ending}"
            write(graph, file)
            yield read(file)


def _skewed(directed=False):
    """A graph of a usual size that has hubs."""
    from edgewise.generators import rmat

    return rmat(SCALE, directed=True) if directed else rmat(SCALE, simple=True)


def _roads():
    """A graph of a usual size that has weights and no hubs."""
    import numpy as np

    from edgewise.generators import grid, with_weights
    from edgewise.graph import Graph

    roads = with_weights(grid(ROWS, dropped=0.2), 1, 100)
    weights = np.asarray(roads.weights, np.int64)  # as files have them
    return Graph.from_edges(roads.sources, roads.targets, n_vertices=roads.n_vertices, weights=weights)


def _run_all_methods(graph):
    from edgewise.components import METHODS, connected_components
    from edgewise.components.sizes import ComponentSizes

    for method in METHODS:
        result = connected_components(graph, method=method)
        result.to_frame()
        result.sizes()
    if graph.device == "cpu":
        result.verify()
        assert len(ComponentSizes(result.labels).members)  # which small results do without


def _join_larger():
    """Join lists and rows by the loops that no tiny graph needs: of scattered ids, and of many edges."""
    import numpy as np

    from edgewise import tuning
    from edgewise.components import connected_components
    from edgewise.graph import Graph

    n = tuning.CPU.components_cached
    ends, path = np.random.default_rng(1).integers(0, n, (2, 3 * n)).astype(np.uint32), np.arange(1000)
    sparse, dense = (Graph(n, edges=(*ends[:, :count], None)) for count in (n, 3 * n))
    rows, local = Graph.from_csr(dense.offsets, dense.neighbours), Graph.from_edges(path, path + 1)
    for graph, methods in (
        (sparse, ("rem",)),
        (dense, ("rem", "rem-sequential")),
        (rows, ("rem-sequential", "rem-sample")),
        (local, ("rem-ranges",)),
    ):
        for method in methods:
            connected_components(graph, method=method)


def _join_many(where):
    """Judge an edge list on a GPU, and run the methods whose kernels no tiny list needs."""
    import numpy as np

    from edgewise.components import connected_components
    from edgewise.components.edge_filter import MANY
    from edgewise.components.edge_order import order_of
    from edgewise.graph import Graph

    ends = np.random.default_rng(1).integers(0, MANY, (2, 1000)).astype(np.uint32)
    graph = Graph(MANY, edges=(*ends, None)).to(where)
    order_of(MANY, graph.sources, graph.targets)
    for method in ("edge-filter", "edge-reach"):
        connected_components(graph, method=method)


def _number_strings():
    """Number strings by the loops, which few strings do without."""
    import pyarrow as pa

    from edgewise.ingest.arrow import ColumnNumbers

    column = pa.array(["a", "b", "d"])
    numbers = ColumnNumbers(column.type, column.type)
    numbers.strings.enter_known()
    numbers.add_column(column)
    numbers.strings.grow()
    numbers.find(column, column)
    _copy_names(column)


def _copy_names(column):
    """Copy strings of some rows by the loops, which few strings do without."""
    import numpy as np

    from edgewise.ingest.string_rows import copy_rows, find_rows
    from edgewise.ingest.string_words import Strings, strings_of

    strings = strings_of(column)
    for kind in (np.int32, np.int64):
        rows = np.array([2, 0], kind)
        begins, starts = np.empty(len(rows), np.int64), np.empty(len(rows) + 1, strings.starts.dtype)
        size = find_rows(strings, rows, begins, starts)
        copy_rows(strings, begins, Strings(starts, np.empty(size, np.uint8)))


def _name_clusters():
    """Give every record a cluster, with names by the least id, for ids that are strings and integers."""
    from edgewise.components import connected_components
    from edgewise.graph import Graph

    for ids in (["c", "a", "b"], [5, 3, 9]):
        pairs = {"left_id": ids[:1], "right_id": ids[1:2]}
        for graph in (Graph.from_frame(pairs, vertices={"id": ids}), Graph.from_frame(pairs)):
            connected_components(graph).to_frame("min")


def _stream_all_kinds(folder, where):
    """Stream a file of each kind of id: numbers of each width, some that are no vertex numbers, strings."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    from edgewise.streams import stream_components

    columns = [pa.array([1, 2, 4], kind()) for kind in (pa.int64, pa.int32, pa.uint32)]
    for column in (*columns, pa.array([-1, 2, 4]), pa.array(["a", "b", "d"])):
        file = folder / "stream.parquet"
        parquet.write_table(pa.table({"source": column, "target": column.take(pa.array([1, 0, 2]))}), file)
        stream_components(file, device=where)
    _stream_larger(folder, where)
    _decode_strings(file)
    _encode_integers()


def _stream_larger(folder, where):
    """Stream files of a usual size, of ids that are integers and strings, for one threshold and several."""
    from edgewise.files import write
    from edgewise.generators import pairs, with_weights
    from edgewise.streams import READING, stream_components
    from edgewise.streams.file_stream import FileStream
    from edgewise.streams.nested import JoinNested
    from edgewise.workers.device_team import device_team

    reading = dict.fromkeys(READING) | {"null": "error", "threshold": 0.5}
    for name, table in (("integers", with_weights(_skewed(), 0, 1)), ("strings", pairs(1 << SCALE))):
        file = folder / f"{name}.parquet"
        write(table, file)
        stream_components(file, device=where).to_frame()
        if where == "cpu":
            problem = JoinNested((0.5, 0.9))
            FileStream(file, reading, problem, None, device_team(where)).run().to_frame()


def _decode_strings(file):
    """Decode a column of strings by the loops, which few strings do without."""
    import pyarrow as pa

    from edgewise.files.parquet_footer import string_chunks
    from edgewise.files.string_pages import string_column

    with open(file, "rb", buffering=0) as opened:
        string_column(opened, next(string_chunks(file))["source"], 3, True, pa.string())


def _encode_integers():
    """Encode columns of integers of both widths by the loops, which few rows do without."""
    import pyarrow as pa

    from edgewise.files.integer_pages import pages_of

    pages_of(pa.table({str(kind): pa.array([1, 2], kind) for kind in (pa.int32(), pa.int64())}), [])


def _decompose(device):
    """Run all methods but baselines of the problems without an option, such as core numbers."""
    from edgewise.errors import GraphError
    from edgewise.graph import Graph

    tiny = Graph.from_edges([0, 1, 3], [1, 2, 4], n_vertices=5, directed=True)
    for graph in (tiny.to(device), _skewed(directed=True).to(device)):
        for front, methods in _other_fronts():
            for name, method in methods.items():
                if method.baseline or device.partition(":")[0] not in method.devices:
                    continue
                try:
                    found = front(graph, method=name)
                except GraphError:  # it takes undirected graphs only
                    found = front(graph.undirected(), method=name)
                if device == "cpu":
                    found.verify()
    _generate(1 << LARGE)
    if device == "cpu":
        _change_clusters(4 << LARGE)


def _generate(n):
    """Make the graphs and tables that are usual, of so many vertices that loops make them."""
    from edgewise.generators import pairs, rgg, rmat, uniform

    rmat(LARGE)
    uniform(n, 4 * n)
    rgg(n)
    pairs(n)


def _change_clusters(n):
    """Change stores of clusters by batches for all threads, of ids that are strings and integers."""
    import numpy as np
    import pyarrow as pa

    from edgewise.clusters import ClusterStore
    from edgewise.generators import pairs

    strings, ends = pairs(n), np.random.default_rng(1).integers(0, n, (2, n))
    for given in strings, pa.table({"source": ends[0], "target": ends[1], "score": strings["score"]}):
        store = ClusterStore(threshold=0.9)
        store.apply(add=given)
        gone, first = store.pairs().select([0, 1]).slice(n // 4), store.to_frame()["id"][:2].to_pylist()
        store.apply(add=given.slice(n // 2), remove=gone, cannot=[first])
        store.apply(threshold=0.95, delete=first[:1], with_pairs=True)


def _other_fronts():
    """The public functions of the folders that have methods, and no option here, with their tables."""
    import edgewise

    for page, attribute in edgewise._HOMES.values():
        if page.count(".") == 1 and page.partition(".")[2] not in WITH_OPTIONS:
            home = import_module(page)
            if hasattr(home, "METHODS"):
                yield getattr(home, attribute), home.METHODS


def _search_all_kinds(device):
    """Run the searches that ``auto`` takes, without weights and with both kinds of them."""
    import numpy as np

    from edgewise.graph import Graph
    from edgewise.paths.apsp import METHODS as OF_ALL_PAIRS
    from edgewise.paths.apsp import all_pairs_shortest_paths
    from edgewise.paths.bfs import METHODS as OF_EDGES
    from edgewise.paths.bfs import bfs
    from edgewise.paths.measures import distance_measures
    from edgewise.paths.sssp import METHODS as OF_WEIGHTS
    from edgewise.paths.sssp import shortest_paths

    taken = TAKEN[device.partition(":")[0]]
    for kind in (None, np.int64, np.float64):
        weights = None if kind is None else np.array([2, 1, 3], kind)
        graph = Graph.from_edges([0, 1, 3], [1, 2, 4], weights=weights, n_vertices=5).to(device)
        search, table = (bfs, OF_EDGES) if kind is None else (shortest_paths, OF_WEIGHTS)
        for method in ("auto", *(name for name in taken if name in table)):
            if method == "auto" or kind is None or table[method].takes_weights(kind):
                search(graph, 0, method=method).path_to(2)
        if device == "cpu":
            _search_larger(search, kind)
        for method in taken:
            if method in OF_ALL_PAIRS and (kind is None or OF_ALL_PAIRS[method].weights != "none"):
                all_pairs_shortest_paths(graph, method=method)
        distance_measures(graph)
    all_pairs_shortest_paths(_skewed().to(device))


def _search_larger(search, kind):
    """Search a graph that is not small, where ``auto`` begins in another way, and towards a target."""
    import numpy as np

    from edgewise import tuning
    from edgewise.graph import Graph
    from edgewise.primitives import filled
    from edgewise.primitives.array_operations import COMPILED_BYTES, SHARED_BYTES

    path = np.arange(tuning.CPU.paths_alone)
    weights = None if kind is None else np.ones(len(path), kind)
    graph = Graph.from_edges(path, path + 1, weights=weights)
    distances = search(graph, 0).distances
    for n_bytes in (COMPILED_BYTES, SHARED_BYTES):
        filled(n_bytes // distances.itemsize, 0, distances.dtype)
    if kind is not None:
        search(graph, 0, targets=[1])


def _count_cycles(device):
    """Count cycles of every length for which another method is taken, in the smallest graph that has them."""
    from edgewise.cycles import cycle_counts
    from edgewise.generators import rmat
    from edgewise.graph import Graph

    clique = [(u, v) for u in range(LONGEST) for v in range(u)]
    graph = Graph.from_edges(*map(list, zip(*clique)), n_vertices=LONGEST).to(device)
    for length in range(3, LONGEST + 1):
        cycle_counts(graph, length)
    for length in (3, 4, 5):
        cycle_counts(_skewed().to(device), length)
        cycle_counts(_roads().to(device), length)
    cycle_counts(rmat(SCALE).to(device), 3)  # with repeated edges


def _grow_forests(device):
    """Find forests by the method that ``auto`` takes, what is made of them, and components at thresholds."""
    import numpy as np

    from edgewise.components import connected_components
    from edgewise.files import write
    from edgewise.forest import minimum_spanning_forest
    from edgewise.forest.best_links import best_links
    from edgewise.forest.single_linkage import single_linkage
    from edgewise.forest.trees import NO_EDGE, mark_kept
    from edgewise.generators import pairs
    from edgewise.graph import Graph
    from edgewise.streams import stream_forest

    for kind in (np.int64, np.float64):
        for ids in ([0, 1, 0, 3], ["a", "b", "a", "d"]):
            ends = ids, [1, 2, 2, 4] if ids[0] == 0 else ["b", "c", "c", "e"]
            graph = Graph.from_edges(*ends, weights=np.array([2, 1, 3, 1], kind)).to(device)
            thresholds = connected_components(graph, thresholds=[1, 2])
            thresholds.summary()
            thresholds.to_frame()
            thresholds.to_frame("min")
            for maximum in (False, True):
                forest = minimum_spanning_forest(graph, maximum=maximum)
                forest.split(max_size=2)
                parted = forest.split(max_size=2, cannot=[ids[:2]], must=[(ids[0], ends[1][3])]).verify()
                parted.explain(ids[0], ids[1])
                parted.review(), parted.cohesion()
                forest.explain(ids[0], ids[1])
        single_linkage(minimum_spanning_forest(graph))
        best_links(graph, datasets=[0, 1, 2, 0, 1]).verify()
        for method in TAKEN_FORESTS[device.partition(":")[0]]:
            minimum_spanning_forest(_many_weights(kind).to(device), method=method).components(1)
    mark_kept(2, np.array([0, NO_EDGE]), np.zeros(2, np.bool_))  # of larger graphs on the CPU
    if device == "cpu":
        with temporary_folder() as folder:
            write(pairs(1 << SCALE), folder / "pairs.parquet")
            stream_forest(folder / "pairs.parquet", maximum=True)


def _many_weights(kind):
    """A graph that has far more edges than vertices, with random weights."""
    import numpy as np

    from edgewise.graph import Graph

    chosen = np.random.default_rng(1)
    n, m = 1 << MANY, 16 << MANY
    ends, weights = chosen.integers(0, n, (2, m)), chosen.integers(1, 1000, m)
    return Graph.from_edges(*ends, n_vertices=n, weights=weights.astype(kind))


def _divide(device):
    """Divide small graphs of several levels, and measure the parts; and an improvement of each partition."""
    from functools import partial

    import numpy as np

    from edgewise import tuning
    from edgewise.generators import grid, with_weights
    from edgewise.graph import Graph
    from edgewise.partitions import partition

    side = SIDE if device == "cpu" else 1 + int(tuning.GPU.partitions_level**0.5)
    plain = grid(side, side)
    heavy = with_weights(plain, 1, 9, seed=1)
    n = plain.n_vertices
    for graph in (plain, heavy, Graph(n, rows=(heavy.offsets, heavy.neighbours, heavy.csr_weights))):
        divided = partial(partition, graph.to(device), 3, preset="fast", method="jet")
        found = divided(vertex_weights=np.arange(n) % 3 + 1)
        found.verify().report()
        divided(initial=found.parts, contiguous=True)
    for graph in (_roads(), _skewed()):
        partition(graph.to(device), 8)
    if device == "cpu":
        broad = grid(BROAD, BROAD)
        partition(Graph(broad.n_vertices, rows=(broad.offsets, broad.neighbours, None)), 8)
