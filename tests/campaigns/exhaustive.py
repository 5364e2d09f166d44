"""Every interleaving of small cases with up to three preemptions: union-find, wound-wait, matching.

``python tests/campaigns/exhaustive.py --preemptions 3``

Each case runs real device functions by threads that may be preempted before every access of what they share
(:func:`edgewise.device.explorer.explore`), and checks the outcome of each interleaving.  The tests run the
small cases; this campaign runs the large ones as well, and prints how many interleavings there are.
"""

import argparse
import json
import sys
import time
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

import numpy as np

from edgewise.components.ecl_cc import hang_below_first, join_smaller
from edgewise.components.hook import hook_up
from edgewise.components.rem import union, union_or_shorten
from edgewise.components.trees import put_below_root
from edgewise.device.explorer import Scheduler, Shared, explore, preemptible
from edgewise.ingest.csr import rows_from_edges
from edgewise.partitions.transactional import pair
from edgewise.primitives.mixing import mix
from edgewise.transactions import read, runner, write
from edgewise.transactions.interleavings import Interleaved
from tests.oracles import components as oracle

#: Edges of each thread, over a path, a star from its last vertex, and a cycle.
PAIR = [[(2, 1)], [(2, 0)]]
CROSSED = [[(3, 1)], [(3, 2)], [(2, 0)]]
CYCLE = [[(3, 2), (1, 0)], [(2, 1), (3, 0)]]
#: Orders of words in which transactions add to them.
OPPOSITE = [(0, 1), (1, 0)]
AROUND = [(0, 1), (1, 2), (2, 0)]
#: Vertices and the mates that they want.
PATH = [(0, 1), (1, 2)]
STAR = [(1, 0), (2, 0), (3, 0)]

_ours = {one: preemptible(one) for one in (union, union_or_shorten, hook_up, put_below_root)}
_hang, _join = preemptible(hang_below_first.body), preemptible(join_smaller.body)


def root(parent, vertex):
    """The root above a vertex."""
    while parent[vertex] != vertex:
        vertex = parent[vertex]
    return vertex


def check_components(parent, edges):
    """Whether the trees are the components of the edges, and parents are smaller."""
    n = len(parent)
    ends = np.array([edge for some in edges for edge in some]).T
    assert (parent <= np.arange(n)).all(), parent
    found = [int(root(parent, vertex)) for vertex in range(n)]
    assert found == oracle(n, *ends.tolist()), found


def join(function, edges, order):
    """Threads join the ends of their edges."""
    n, scheduler, call = (
        1 + max(max(edge) for some in edges for edge in some),
        Scheduler(order=order),
        _ours[function],
    )
    parent = Shared(np.arange(n), scheduler)

    def work(some):
        for one, other in some:
            call(parent, one, other)

    scheduler.run(*(partial(work, some) for some in edges))
    check_components(parent.values, edges)


def compress(edges, order):
    """One thread joins two trees while another puts the vertices of a path below its root."""
    scheduler = Scheduler(order=order)
    parent = Shared(np.array([0, 1, 1, 2]), scheduler)

    def shorten(vertex):
        above = parent[vertex]
        _ours[put_below_root](vertex, above, parent[above], parent)

    scheduler.run(*(partial(shorten, vertex) for vertex in edges), lambda: _ours[union](parent, 3, 0))
    check_components(parent.values, [[(2, 1), (3, 2), (3, 0)]])


def join_rows(edges, order):
    """Threads join the vertices of rows with their smaller neighbours, as ecl-cc does."""
    ends = np.array([edge for some in edges for edge in some]).T
    n, scheduler = int(ends.max()) + 1, Scheduler(order=order)
    offsets, neighbours, _ = rows_from_edges(n, *ends, True)
    parent = np.arange(n)
    for vertex in range(n):
        first, end = offsets[vertex], offsets[vertex + 1]
        seen = end - first, neighbours[min(first, len(neighbours) - 1)]
        hang_below_first.body(vertex, seen, parent, offsets, neighbours, len(neighbours))
    parent = Shared(parent, scheduler)
    given = parent, offsets, neighbours, n, None, None
    scheduler.run(*(partial(_join, vertex, *given) for vertex in range(n - 1, 0, -1)))
    check_components(parent.values, edges)


def add_in_order(tx, number, orders):
    """Transaction: add to words in an order."""
    for word in orders[number]:
        write(tx, word, read(tx, word) + 1)


_slots = dict.fromkeys((add_in_order, pair))


def slot_of(body, kind):
    """The loop of a slot, of which a copy is kept."""
    if _slots[body] is None:
        _slots[body] = preemptible(runner.slot_of(body, kind))
    return _slots[body]


def add(orders, order):
    """Transactions by wound-wait add to words in different orders: no sum is lost, and all end."""
    words = np.zeros(1 + max(map(max, orders)), np.int64)
    memory = Interleaved(words, Scheduler(order=order), slot_of, protocol="wound-wait", log=len(words))
    statistics = memory.run(add_in_order, len(orders), np.array(orders))
    assert statistics.commits == len(orders)
    assert words.tolist() == [sum(word in one for one in orders) for word in range(len(words))]


def match(wanted, order):
    """Vertices that want the same mate: those that have one have each other, and one pair is matched."""
    n, salt = 1 + max(map(max, wanted)), 5
    mates, best, vertices = np.arange(n), np.zeros(n, np.int64), np.array([one for one, _ in wanted])
    for one, other in wanted:
        best[one] = mix(other, salt) ^ mix(one, salt)
    memory = Interleaved(mates, Scheduler(order=order), slot_of, protocol="wound-wait", log=2)
    memory.run(pair, len(vertices), vertices, best, salt)
    assert all(mates[mates[vertex]] == vertex for vertex in range(n)), mates
    assert sum(mates[one] == other for one, other in wanted) == 1, mates


#: Cases by name: what runs, on what, and whether it is a small one.
CASES = {
    "Rem's union, two threads": (partial(join, union, PAIR), True),
    "Rem's union, a cycle": (partial(join, union, CYCLE), True),
    "Rem's union, three threads": (partial(join, union, CROSSED), False),
    "Rem's union with shortening, two threads": (partial(join, union_or_shorten, PAIR), True),
    "Rem's union with shortening, three threads": (partial(join, union_or_shorten, CROSSED), False),
    "hooking, two threads": (partial(join, hook_up, PAIR), True),
    "hooking, three threads": (partial(join, hook_up, CROSSED), False),
    "put_below_root beside a union": (partial(compress, [3]), True),
    "put_below_root twice beside a union": (partial(compress, [3, 2]), False),
    "ecl-cc, rows of a diamond": (partial(join_rows, [[(2, 0), (2, 1)], [(3, 1), (3, 2)]]), True),
    "ecl-cc, rows of a cycle": (partial(join_rows, CYCLE), False),
    "wound-wait, two transactions": (partial(add, OPPOSITE), True),
    "wound-wait, three transactions": (partial(add, AROUND), False),
    "matching, a path": (partial(match, PATH), True),
    "matching, a star": (partial(match, STAR), False),
}


def main(arguments=None):
    """Run all cases; print how many interleavings each has."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--preemptions", type=int, default=3)
    parser.add_argument("--only", default="", help="only cases whose names contain this")
    parser.add_argument("--limit", type=int, default=1_000_000, help="interleavings of a case, at most")
    parser.add_argument("--small", action="store_true", help="only the cases of the tests")
    given, total = parser.parse_args(arguments), 0
    for name, (run, is_small) in CASES.items():
        if given.only in name and (is_small or not given.small):
            start = time.process_time()
            try:
                count = explore(run, given.preemptions, given.limit)
            except OverflowError:
                count = f"more than {given.limit}"
            else:
                total += count
            print(json.dumps({"case": name, "interleavings": count,
                              "seconds": round(time.process_time() - start, 2)}), flush=True)  # fmt: skip
    print(json.dumps({"campaign": "exhaustive", "preemptions": given.preemptions, "interleavings": total}))


if __name__ == "__main__":
    main()
