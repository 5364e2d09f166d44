"""Scenarios for planted faults: small runs of real kernels, whose outcomes are known.

Each scenario is a function of a seed that returns whether the outcome is right.  ``python -m
tests.campaigns.planted_scenarios NAME`` runs one by many seeds, until one finds a fault, and prints a line of
JSON.  Those of :data:`ON_GPU` call public functions on the explorer's GPU; those of :data:`BY_THREADS` run
device functions by threads, as race tests do.
"""

import argparse
import json
import sys
import time
import warnings
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from typing import NamedTuple
from unittest import mock

import numpy as np

import edgewise as ew
from edgewise.device import arrays
from tests import jitter, oracles

#: Scenarios by name: on a GPU, and by threads.
ON_GPU: dict = {}
BY_THREADS: dict = {}
#: Steps of a launch, of which a right one needs a tenth.
MOST_STEPS = 300_000


class Found(NamedTuple):
    """What a run by many seeds has found.

    ``seed`` is the first that finds a fault, ``-1`` if none does, of ``tried`` seeds; ``said`` says what.
    """

    seed: int
    tried: int
    said: str
    seconds: float


def drawn(n, m, seed, **options):
    """A random graph."""
    draw = np.random.default_rng(seed)
    sources, targets, weights = *draw.integers(0, n, (2, m)), draw.integers(1, 9, m)
    return ew.Graph.from_edges(sources, targets, weights=weights, n_vertices=n, **options)


def on_gpu(name, graph, call, oracle):
    """Make a scenario that compares ``call(graph)`` on a GPU with ``oracle(graph)`` on the host."""
    given = cache(graph)
    expected = cache(lambda: np.asarray(oracle(given())))

    def run(seed):
        return np.array_equal(np.asarray(call(given().to("cuda:0"))), expected())

    ON_GPU[name] = run


def by_threads(name, page, is_right):
    """Make a scenario of ``is_right(tests, seed)``, given a page of race tests."""

    def run(seed):
        return bool(is_right(import_module(f"tests.{page}"), seed))

    BY_THREADS[name] = run


# Public functions on a GPU

small = partial(drawn, 24, 40, 3)
plain = partial(drawn, 24, 40, 3)
directed = partial(drawn, 24, 60, 5, directed=True)
streets = partial(drawn, 40, 60, 6)


def simple():
    return small().without_weights().simplified()


def dense():
    return drawn(60, 300, 7).without_weights().simplified()


def labels_by(method):
    return lambda graph: ew.connected_components(graph, method=method).on_host().labels


for method in ("rem", "hook", "ecl-cc", "propagate", "afforest", "hook-rem"):
    on_gpu(method, small, labels_by(method), labels_by("rem-sequential"))
for method in ("boruvka", "transactional"):
    on_gpu(
        f"forest {method}",
        small,
        lambda graph, method=method: ew.minimum_spanning_forest(graph, method=method).on_host().edges,
        lambda graph: ew.minimum_spanning_forest(graph, method="kruskal").edges,
    )
for method in ("near-far", "bellman-ford"):
    on_gpu(
        method,
        directed,
        lambda graph, method=method: ew.shortest_paths(graph, 0, method=method).on_host().distances,
        lambda graph: ew.shortest_paths(graph, 0, method="dijkstra").distances,
    )
for method in ("floyd-warshall", "sssp", "phast"):
    on_gpu(
        f"apsp {method}",
        directed,
        lambda graph, method=method: ew.all_pairs_shortest_paths(graph, method=method).on_host().distances,
        lambda graph: ew.all_pairs_shortest_paths(graph, method="johnson").distances,
    )
on_gpu(
    "strong",
    lambda: directed().without_weights(),
    lambda graph: ew.strongly_connected_components(graph, method="signatures").on_host().labels,
    lambda graph: ew.strongly_connected_components(graph, method="tarjan").labels,
)
on_gpu(
    "cores",
    dense,
    lambda graph: ew.core_numbers(graph, method="peel").on_host().cores,
    lambda graph: oracles.core_numbers(graph.n_vertices, graph.sources.tolist(), graph.targets.tolist()),
)
for length, method in ((3, "triangles"), (4, "squares"), (5, "pentagons"), (6, "walks"), (6, "enumerate")):
    on_gpu(
        f"cycles {method} {length}",
        dense if length < 5 else simple,
        lambda graph, length=length, method=method: (
            ew.cycle_counts(graph, length, method=method).on_host().counts
        ),
        lambda graph, length=length: ew.cycle_counts(graph, length, method="dfs").counts,
    )
on_gpu(
    "betweenness",
    simple,
    lambda graph: np.round(ew.betweenness(graph, method="warps").on_host().scores, 6),
    lambda graph: np.round(ew.betweenness(graph, method="brandes").scores, 6),
)


def with_small(pages, **limits):
    """Context of smaller limits, with which small graphs take every way."""
    stack = ExitStack()
    for page in pages:
        module = import_module(page)
        if there := {one: limits[one] for one in limits if hasattr(module, one)}:
            stack.enter_context(mock.patch.multiple(module, **there))
    return stack


def hidden(name, pages, **limits):
    """Make a scenario on a GPU use small limits."""
    run = ON_GPU[name]

    def with_limits(seed):
        with with_small(pages, **limits):
            return run(seed)

    ON_GPU[name] = with_limits


QUEUES = "edgewise.paths.block_queues"
hidden("near-far", ("edgewise.paths.sssp.near_far", QUEUES), LOCAL=16, PIECE=4, WARP_ROW=8)


def searched(seed):
    """Distances in trees behind a path, where blocks go on by themselves."""
    tests = import_module("tests.paths.test_cooperative")
    with with_small(("edgewise.paths.bfs.cooperative", QUEUES), **tests.SMALL):
        for (n, sources, targets), _ in tests.SHAPES.values():
            graph = ew.Graph.from_edges(sources, targets, n_vertices=n)
            expected = ew.bfs(graph, 0, method="top-down").distances
            if not np.array_equal(tests.searched(graph, 0, dense_from=1000), expected):
                return False
    return True


ON_GPU["bfs"] = searched


def passed_on(seed, n_teams=1):
    """Words that the workers of a team write between its barriers."""
    page = import_module("tests.device.test_teams")
    words, first, wrong = (arrays.zeros(count, np.int64, "cuda:0") for count in (64, 2, 2))
    page.pass_on(3, n_teams, page.new_barriers(n_teams, "cuda:0"), words, first, wrong)
    return not arrays.move(wrong, "cpu").any() and int(arrays.move(words, "cpu").max()) == 3


ON_GPU["teams"] = passed_on


def filtered(seed):
    """Components of a dense list, by small filters."""
    page, draw = import_module("edgewise.components.edge_filter"), np.random.default_rng(1)
    ends = draw.integers(0, 130, (2, 400)).astype(np.uint32)
    with with_small((page.__name__, "edgewise.components.edge_samples"), MANY=20, BLOCK=4, FILTER_WORDS=4):
        found = page.edge_filter(130, *(arrays.move(end, "cuda:0") for end in ends))
    return arrays.move(found, "cpu").tolist() == components_of(130, ends)


def reached(seed):
    """Components of a star, each of whose vertices has one edge."""
    page, others = import_module("edgewise.components.edge_reach"), np.delete(np.arange(160), 80)
    ends = np.stack([np.full(159, 80), others]).astype(np.uint32)
    found = page.edge_reach(160, *(arrays.move(end, "cuda:0") for end in ends))
    return arrays.move(found, "cpu").tolist() == components_of(160, ends)


def components_of(n, ends):
    return import_module("tests.oracles").components(n, *ends.tolist())


def marked_triangles(seed):
    """Triangles by tables in shared memory."""
    tuning = import_module("edgewise.tuning")
    with mock.patch.object(tuning, "GPU", replace(tuning.GPU, cycles_marked=4)):
        return ON_GPU["cycles triangles 3"](seed)


def candidates(seed):
    """Candidates for a matching, which a CPU finds as well."""
    tests, rule = import_module("tests.partitions.test_transactional"), import_module(PARTITIONS).Rule
    levels, found = import_module("edgewise.partitions.levels"), []
    for place in ("cuda:0", "cpu"):
        level = tests.with_rows(levels.moved(tests.hubs(4), place))
        best = arrays.full(16, import_module(PARTITIONS).NOTHING, np.int64, place)
        mates = arrays.move(np.arange(16, dtype=level.neighbours.dtype), place)
        import_module(PARTITIONS).find_candidates(level, mates, rule(4, 77, 0), best)
        found.append(arrays.move(best, "cpu").tolist())
    return found[0] == found[1]


PARTITIONS = "edgewise.partitions.transactional"


def digits(seed):
    """Digits of the last keys of parts, which lanes choose."""
    tests, draw, parts, width = import_module("tests.partitions.test_lanes"), np.random.default_rng(2), 5, 2
    space = tests.new_room(parts, np.int64, "cuda:0")
    how = tests.Ranking(0, -1, 0, 1, 3, tests.rebalance.digit_bits_of(parts), 0)
    bins = space.bins.reshape(parts, -1)
    bins[:, : 1 << width] = draw.integers(1, 9, (parts, 1 << width))
    sums = bins.cumsum(axis=1)[:, : 1 << width]
    space.left[:], space.last[:] = sums[:, -1] // 2 + 1, 1
    left = np.array(space.left)
    tests.choose_digits(width, parts, space, how)
    chosen = [int(np.searchsorted(sums[one], left[one])) for one in range(parts)]
    return [int(one) for one in space.last] == [1 << width | digit for digit in chosen]


def positions(seed):
    """Positions of marks."""
    page, draw = import_module("edgewise.primitives.marks"), np.random.default_rng(3).random(200) < 0.3
    marks = page.new_marks(200, "cuda:0")
    marks[:200] = draw
    return arrays.move(page.marked(marks), "cpu").tolist() == np.flatnonzero(draw).tolist()


def refined(seed):
    """A mesh that transactions refine."""
    tests = import_module("tests.refinement.test_refine")
    points, triangles = import_module("tests.refinement.inputs").square(4)
    found = tests.refine(points, triangles, device="cuda:0")
    outline = tests.triangles_of(points, triangles)
    tests.check_refined(found, points, outline, 20.7, lambda array: arrays.move(array, "cpu"))
    return True


ON_GPU |= {
    "edge filter": filtered,
    "edge reach": reached,
    "marked triangles": marked_triangles,
    "candidates": candidates,
    "digits": digits,
    "marks": positions,
    "refinement": refined,
}


# Functions by threads


def protocol(name, seed):
    """Whether histories of a protocol are serializable."""
    from edgewise.errors import VerificationError
    from edgewise.transactions import check_protocol

    try:
        check_protocol(name, seeds=[seed])
    except VerificationError as error:
        raise AssertionError(str(error)) from None
    return True


for name in ("tl2", "wound-wait", "pessimistic", "invisible", "block", "priority", "block-nonblocking"):
    BY_THREADS[f"protocol {name}"] = partial(protocol, name)

COMPONENTS, ROUNDS = "components.test_races", "forest.test_races"
by_threads("union", COMPONENTS, lambda t, seed: (
    t.components_on(seed, t.with_jittery_cas(t.rem_union)) == t.EXPECTED))  # fmt: skip
by_threads("hook up", COMPONENTS, lambda t, seed: (
    t.components_on(seed, t.with_jittery_cas(t.hook_up)) == t.EXPECTED))  # fmt: skip
by_threads("shortened", COMPONENTS, lambda t, seed: t.shortened_by_three(
    seed, t.with_jittery_cas(t.union_or_shorten, union=t.with_jittery_cas(t.rem_union))
) == [0] * 8)  # fmt: skip
by_threads("ranges", COMPONENTS, lambda t, seed: t.in_ranges(seed) == [0] * 7)
by_threads("stream ranges", COMPONENTS, lambda t, seed: (
    t.ranges_contracted_by_three(seed) == ([6, 3], [24, 15])))  # fmt: skip
by_threads("names", COMPONENTS, lambda t, seed: t.named_by(seed) == 6)
by_threads("forest packed", ROUNDS, lambda t, seed: t.forest_by_threads(seed, True) == t.FOREST)
by_threads("forest", ROUNDS, lambda t, seed: t.forest_by_threads(seed, False) == t.FOREST)
by_threads("renumbering", ROUNDS, lambda t, seed: t.numbers_by_threads(
    seed, jitter.jittery(t.renumbering.spread_number.body)) == t.NUMBERS)  # fmt: skip
for way in ("push", "bitmap push", "pull", "mixed"):
    by_threads(f"bfs {way}", "paths.test_bfs_races", lambda t, seed, way=way: (
        t.distances_by(way, seed)[0] == t.EXPECTED))  # fmt: skip
by_threads("bins", "paths.test_sssp_races", lambda t, seed: t.distances_by_bins(seed) == t.EXPECTED)
by_threads("thresholds", "paths.test_sssp_races", lambda t, seed: (
    t.distances_by_thresholds(seed, 100) == t.EXPECTED))  # fmt: skip
by_threads("dense thresholds", "paths.test_sssp_races", lambda t, seed: (
    t.distances_by_thresholds(seed, 2) == t.EXPECTED))  # fmt: skip
by_threads("rounds", "paths.test_sssp_races", lambda t, seed: (
    t.queued_by_rounds(seed) == (t.EXPECTED, True)))  # fmt: skip
by_threads("bits", "paths.test_bit_parallel_races", lambda t, seed: t.found_by(seed, 0) == t.expected())
by_threads("gathered bits", "paths.test_bit_parallel_races", lambda t, seed: (
    t.found_by(seed, 0, True, GATHERED_PART=1 << 40) == t.expected()))  # fmt: skip
by_threads("scores", "paths.test_betweenness_races", lambda t, seed: (
    np.allclose(t.scores_by(seed), t.EXPECTED, rtol=1e-12)))  # fmt: skip
by_threads("credits", "cycles.test_races", lambda t, seed: t.counts_on(seed) == t.COUNTS)
by_threads("wedges", "cycles.test_races", lambda t, seed: (
    t.found_on(seed) == ew.cycle_counts(
        ew.Graph.from_edges(*np.unique(t.EDGES, axis=0).T, n_vertices=8), 4).counts.tolist()))  # fmt: skip
for few in (-1, 3):
    by_threads(f"cores {few}", "cores.test_races", lambda t, seed, few=few: (
        t.cores_by(seed, few) == (t.EXPECTED, list(range(t.N)))))  # fmt: skip
by_threads("strong labels", "strong.test_races", lambda t, seed: (
    t.labels_by(seed, (t.SOURCES, t.TARGETS)) == t.EXPECTED))  # fmt: skip
by_threads("strong cycles", "strong.test_races", lambda t, seed: (
    t.labels_by(seed, t.STREETS, SOON=0) == t.oracle(t.N, *t.STREETS.tolist())))  # fmt: skip
by_threads("strong sweep", "strong.test_races", lambda t, seed: t.least_arrives(seed))
by_threads("strong lists", "strong.test_races", lambda t, seed: t.listed_once(seed))
by_threads("strong rows", "strong.test_races", lambda t, seed: t.all_pushed(seed))
by_threads("loads", "partitions.test_transactional", lambda t, seed: (
    t.changed_by_threads(seed) == ([5, 25], 5)))  # fmt: skip
by_threads("table", "primitives.test_hash_table", lambda t, seed: t.right(*t.claimed(seed, jitter.cas)))
by_threads("strings", "ingest.test_string_races", lambda t, seed: t.numbered(seed) == t.EXPECTED)
for workers, teams in ((3, 1), (5, 2)):
    by_threads(f"team of {workers} by {teams}", "device.test_teams", lambda t, seed, given=(workers, teams): (
        not t.wrong_by(seed, *given)))  # fmt: skip


def run_seeds(run, seeds, seconds):
    """Run a scenario by seeds until one finds a fault, or until the time is over."""
    start, tried = time.process_time(), 0
    for seed in seeds:
        tried += 1
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", RuntimeWarning)
                said = "" if run(seed) else "the outcome is wrong"
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
        if said:
            return Found(seed, tried, said.splitlines()[0][:300], round(time.process_time() - start, 2))
        if time.process_time() - start > seconds:
            break
    return Found(-1, tried, "", round(time.process_time() - start, 2))


def in_explorer(run, memory, races):
    """A scenario with a model of memory, whose seeds determine the runs."""
    from edgewise.device import explorer

    def run_seed(seed):
        options = {"memory": memory or None, "races": races}
        with ExitStack() as stack:
            if run in BY_THREADS.values():
                made = partial(explorer.Scheduler, **options)
                for page in (jitter, import_module("edgewise.transactions.interleavings")):
                    stack.enter_context(mock.patch.object(page, "Scheduler", made))
            else:
                engine = import_module("edgewise.device.explorer.engine")
                stack.enter_context(
                    mock.patch.multiple(
                        engine, SEED=seed, WEAK=bool(memory), RACES=races, MAX_STEPS=MOST_STEPS
                    )
                )
            return run(seed)

    return run_seed


def main(arguments=None):
    """Run a scenario; print what is found."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("name", choices=[*ON_GPU, *BY_THREADS])
    parser.add_argument("--memory", default="", choices=["", "cpu", "gpu"])
    parser.add_argument("--races", action="store_true")
    parser.add_argument("--seeds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--plain", action="store_true", help="not by the explorer: as the engine runs it")
    given = parser.parse_args(arguments)
    run = {**ON_GPU, **BY_THREADS}[given.name]
    if given.plain:
        with suppress(ImportError):  # of states before the explorer
            import_module("tests.simulator").install()
    else:
        run = in_explorer(run, given.memory, given.races)
    seeds = range(given.seed, given.seed + given.seeds)
    print(json.dumps(run_seeds(run, seeds, given.seconds)._asdict()))


if __name__ == "__main__":
    sys.exit(main())
