"""A process that holds a graph and times public calls on it, as other processes ask.

Requests and answers are lines of JSON.  The package is the one on ``PYTHONPATH``, so that two such processes
compare two states; this page therefore uses public names only.  See :class:`Served` for the other side.
"""

import json
import os
import subprocess
import sys
import time
import zlib
from pathlib import Path

CALLS = ("components rows", "components edges", "bfs", "sssp", "triangles", "cycles4", "cycles5")
CALLS += ("floyd-warshall", "all-pairs", "forest", "cores")
#: Lengths of the calls that count cycles.
LENGTHS = {"triangles": 3, "cycles4": 4, "cycles5": 5}
#: Calls on graphs with weights.
WEIGHTED = ("sssp", "all-pairs", "floyd-warshall", "forest")
#: Seconds that a burst of a call may take after its least number of runs, and that idle threads spin.
BURST, PAUSE, LEAST = 1.0, 0.01, 3


class Served:
    """A process that times calls on one state of the package, with its own default of threads if ``None``."""

    def __init__(self, state, threads, cache=None):
        path = os.pathsep.join([str(state), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        own = {"PYTHONPATH": path, "EDGEWISE_QUIET": "1"}
        own |= {"NUMBA_NUM_THREADS": str(threads)} if threads else {}
        own |= {"EDGEWISE_CACHE_DIR": str(cache)} if cache else {}
        self.process = subprocess.Popen(
            [sys.executable, "-P", __file__],
            env={**os.environ, **own},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, **request):
        """The answer to a request."""
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("a process of one state has failed; its error is above")
        return json.loads(line)

    def close(self):
        """End the process."""
        self.process.stdin.close()
        self.process.wait()


class Holder:
    """The graph that is held, on a device."""

    def __init__(self, device):
        self.device = device
        self.arrays, self.warm = {}, {}

    def load(self, place):
        """Read the arrays of a folder."""
        import numpy as np

        names = ("sources", "targets", "offsets", "neighbours", "weights")
        arrays = {name: np.load(Path(place) / f"{name}.npy") for name in names}
        if self.device != "cpu":
            import cupy

            arrays = {name: cupy.asarray(array) for name, array in arrays.items()}
        self._take(arrays)
        hub, elsewhere = np.load(Path(place) / "at.npy").tolist()
        return {"hub": hub, "elsewhere": elsewhere}

    def make(self, family, k, order):
        """Generate a graph on the device, which takes less time than to read it."""
        sys.path.insert(0, str(Path(__file__).parent))
        import families

        self._take({})
        graph = families.generate(family, k, order, self.device)
        arrays = {"sources": graph.sources, "targets": graph.targets, "offsets": graph.offsets}
        arrays |= {"neighbours": graph.neighbours, "weights": graph.csr_weights}
        self._take(arrays)
        return families.sources_of(graph)

    def _take(self, arrays):
        self.arrays = arrays
        self.warm.clear()

    def graph(self, call):
        """A new graph, in the form and with the weights that a call needs."""
        import edgewise as ew

        held = self.arrays
        n = len(held["offsets"]) - 1
        if call == "components edges":
            return ew.Graph(n, edges=(held["sources"], held["targets"], None))
        weights = held["weights"] if call in WEIGHTED else None
        return ew.Graph(n, rows=(held["offsets"], held["neighbours"], weights))

    def run(self, call, graph, source):
        """The result of a public call, and the name of its array."""
        import edgewise as ew

        if call.startswith("components"):
            return ew.connected_components(graph), "labels"
        if call in LENGTHS:
            return ew.cycle_counts(graph, LENGTHS[call]), "counts"
        if call == "bfs":
            return ew.bfs(graph, source), "distances"
        if call == "sssp":
            return ew.shortest_paths(graph, source), "distances"
        if call == "forest":
            return ew.minimum_spanning_forest(graph), "edges"
        if call == "cores":
            return ew.core_numbers(graph), "cores"
        how = {"method": "floyd-warshall"} if call == "floyd-warshall" else {}
        return ew.all_pairs_shortest_paths(graph, **how), "distances"

    def seconds(self, call, graph, source):
        """Seconds of a call and of its kernels, and what it has computed: an array."""
        start = time.perf_counter()
        result, name = self.run(call, graph, source)
        found = getattr(result, name)
        if hasattr(found, "get"):
            import cupy

            cupy.cuda.runtime.deviceSynchronize()
        return time.perf_counter() - start, result.seconds, found

    def time(self, call, source, runs, threads, prepared=False):
        """Seconds of calls on new graphs and on a warm one, of its kernels, and a digest of the answer.

        The warm one is ``prepared`` for searches, if that is wanted and the state has it.
        """
        if threads and self.device == "cpu":
            import numba

            numba.set_num_threads(threads)
        time.sleep(PAUSE)
        fresh, warm, kernel, prepare = [], [], [], []
        key = (call, threads)
        if key not in self.warm:
            self.warm[key] = self.graph(call)
            self.seconds(call, self.warm[key], source)  # compiles, if it is the first
            if prepared and hasattr(self.warm[key], "prepare"):
                start = time.perf_counter()
                self.warm[key].prepare("searches")
                prepare.append(time.perf_counter() - start)
                self.seconds(call, self.warm[key], source)
        while len(fresh) < LEAST and sum(fresh) < BURST:
            fresh.append(self.seconds(call, self.graph(call), source)[0])
        found = None
        while len(warm) < LEAST or (len(warm) < runs and sum(warm) < BURST):
            del found  # as GAP's programs free the answer of a trial before the next
            spent, inside, found = self.seconds(call, self.warm[key], source)
            warm.append(spent)
            kernel.append(inside)
            if spent > BURST:
                break
        found = {"digest": digest_of(found), "prepare": prepare}
        return {"fresh": fresh, "warm": warm, "kernel": kernel} | found


def digest_of(array):
    """A number that tells answers apart."""
    import numpy as np

    on_host = array if isinstance(array, np.ndarray) else array.get()
    return zlib.crc32(np.ascontiguousarray(on_host))


def serve():
    """Answer requests until there are no more."""
    holder = None
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what others print is no answer
    for line in sys.stdin:
        request = json.loads(line)
        act = request.pop("act")
        if act == "hold":
            holder = Holder(request["device"])
            answer = None
        elif act == "time":
            answer = holder.time(**request)
        else:
            found = holder.load(**request) if act == "load" else holder.make(**request)
            arrays = holder.arrays
            answer = {"sources": found, "vertices": len(arrays["offsets"]) - 1}
            answer["entries"] = len(arrays["neighbours"])
        print(json.dumps(answer), file=out, flush=True)


if __name__ == "__main__":
    serve()
