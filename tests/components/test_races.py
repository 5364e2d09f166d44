"""Device functions under a jittery interpreter: no race in ours, and a planted one is caught."""

from importlib import import_module
from types import FunctionType

import numpy as np
import pyarrow as pa
import pytest

from edgewise.components import naming, nested
from edgewise.components.edge_samples import hang
from edgewise.components.hook import hook_up
from edgewise.components.rem import shorten_and_splice, union_or_shorten
from edgewise.components.rem import union as rem_union
from edgewise.components.symmetric_csr import list_row
from edgewise.ingest.string_words import strings_of
from edgewise.streams import contraction
from tests import jitter
from tests.oracles import components as oracle

rem_ranges, sampling = (import_module(f"edgewise.components.{name}") for name in ("rem_ranges", "sampling"))
pytestmark = [pytest.mark.interpreter, pytest.mark.interpreted]
SEEDS = range(150)
SOURCES, TARGETS = np.array([4, 4, 3, 5, 1, 5, 2]), np.array([3, 2, 5, 1, 4, 0, 6])
#: Three vertices that each join another one with vertex 3.
FORK = np.array([4, 4, 5, 5, 6, 6]), np.array([0, 3, 1, 3, 2, 3])
EXPECTED = oracle(7, SOURCES.tolist(), TARGETS.tolist())


def with_jittery_cas(function, **others):
    """The function with its atomics handing over between threads."""
    names = {**function.__globals__, "cas": jitter.cas, **others}
    return FunctionType(function.__code__, names, function.__name__, function.__defaults__)


def components_on(seed, union):
    scheduler = jitter.Scheduler(seed)
    parent = jitter.Jittery(np.arange(7), scheduler)

    def thread(number):
        for edge in range(number, len(SOURCES), 3):
            union(parent, SOURCES[edge], TARGETS[edge])

    scheduler.run(*(lambda number=number: thread(number) for number in range(3)))
    return [root(parent.values, vertex) for vertex in range(7)]


def root(parent, vertex):
    while parent[vertex] != vertex:
        vertex = parent[vertex]
    return vertex


def careless_union(parent, one, other):
    """Rem's algorithm with the compare-and-swap taken apart: the planted race."""
    while parent[one] != parent[other]:
        if parent[one] > parent[other]:
            one, other = other, one
        above = parent[other]
        parent[other] = parent[one]
        if above == other:
            return
        other = above


def test_rem_loses_no_edge():
    union = with_jittery_cas(rem_union)
    for seed in SEEDS:
        assert components_on(seed, union) == EXPECTED, f"seed {seed}"


def test_hook_atomic_loses_no_edge():
    union = with_jittery_cas(hook_up)
    for seed in SEEDS:
        assert components_on(seed, union) == EXPECTED, f"seed {seed}"


def careless_shortening(parent, one, other):
    """As ``union_or_shorten``, but roots are written as well: the planted race."""
    above_one, above_other = parent[one], parent[other]
    top = parent[above_one]
    if top == parent[above_other]:
        parent[one], parent[other] = top, top
    else:
        with_jittery_cas(rem_union)(parent, one, other)


def shortened_by_three(seed, union):
    """Labels after edges inside the tree of 3, while its root is put below others."""
    parent = np.array([0, 1, 2, 3, 3, 4, 4, 5])
    edges = [(3, 5), (7, 4)], [(1, 3), (2, 6)], [(6, 3), (0, 5)]

    def thread(some):
        return lambda parent: [union(parent, one, other) for one, other in some]

    return labels_after(seed, parent, [thread(some) for some in edges])


def test_trees_are_shortened_while_they_grow():
    union = with_jittery_cas(union_or_shorten, union=with_jittery_cas(rem_union))
    for seed in SEEDS:
        assert components_on(seed, union) == EXPECTED, f"seed {seed}"
        assert shortened_by_three(seed, union) == [0] * 8, f"seed {seed}"
    with jitter.planted():
        assert any(shortened_by_three(seed, careless_shortening) != [0] * 8 for seed in SEEDS)


def sampled(seed, sources, targets):
    """Parents after plain writes that join each edge by a thread of its own."""
    splice, scheduler = jitter.jittery(shorten_and_splice), jitter.Scheduler(seed)
    parent = jitter.Jittery(np.arange(7), scheduler)
    edges = zip(sources, targets)
    scheduler.run(*(lambda one=one, other=other: splice(parent, one, other) for one, other in edges))
    return parent.values


def test_a_sample_joins_no_vertices_of_two_components():
    """Connections may be lost, but a parent is a smaller vertex of the component."""
    sources, targets = SOURCES[:4], TARGETS[:4]
    whole = np.array(oracle(7, sources.tolist(), targets.tolist()))
    for seed in SEEDS:
        parents = sampled(seed, sources, targets)
        assert (parents <= np.arange(7)).all()
        assert whole[parents].tolist() == whole.tolist(), f"seed {seed}"


def listed_by_three(seed, **replaced):
    """What three threads list, and how long they say the list is."""
    scheduler = jitter.Scheduler(seed)
    function = jitter.jittery(list_row, **replaced)
    listed = jitter.Jittery(np.full(9, -1), scheduler)
    counts = jitter.Jittery(np.zeros(2, np.int64), scheduler)

    def thread(number):
        for vertex in range(number, 9, 3):
            function(vertex, listed, counts, 1)

    scheduler.run(*(lambda number=number: thread(number) for number in range(3)))
    return sorted(listed.values.tolist()), counts.values.tolist()


def test_every_long_row_is_listed_once():
    for seed in SEEDS:
        assert listed_by_three(seed) == (list(range(9)), [0, 9]), f"seed {seed}"


def test_a_careless_list_loses_rows():
    assert any(listed_by_three(seed, fetch_add=jitter.careless_add)[1] != [0, 9] for seed in SEEDS)


def test_a_planted_race_is_caught():
    with jitter.planted():
        assert any(components_on(seed, careless_union) != EXPECTED for seed in SEEDS)


def labels_after(seed, parent, *phases):
    """Labels after phases of tasks: those of one phase run at the same time."""
    scheduler = jitter.Scheduler(seed)
    parent = jitter.Jittery(parent, scheduler)
    for tasks in phases:
        scheduler.run(*(lambda task=task: task(parent) for task in tasks))
    return [root(parent.values, vertex) for vertex in range(len(parent))]


def each_index(function, count, *arguments):
    """Tasks that run a body for one index each."""
    return [lambda parent, index=index: function(index, parent, *arguments) for index in range(count)]


def outside_the_giant(seed, **replaced):
    """Labels of FORK where {0, 1} is the giant component."""
    scheduler = jitter.Scheduler(seed)
    arrays = np.array([0, 0, 2, 3, 4, 5, 6]), np.arange(7) < 2
    parent, marks = (jitter.Jittery(values, scheduler) for values in arrays)
    join = jitter.jittery(sampling.unite_outside.body, **replaced)

    def thread(number):
        for edge in range(2 * number, 2 * number + 2):
            join(edge, parent, *FORK, marks)

    scheduler.run(*(lambda number=number: thread(number) for number in range(3)))
    return [root(parent.values, vertex) for vertex in range(7)]


def test_no_edge_is_lost_between_cores():
    for seed in SEEDS:
        assert outside_the_giant(seed) == [0] * 7, f"seed {seed}"
    assert any(outside_the_giant(seed, cas=jitter.careless_cas) != [0] * 7 for seed in SEEDS)


def in_ranges(seed, **replaced):
    """Labels of FORK by three parts, two of which have crossing edges only."""
    inside, crossing = (
        jitter.jittery(getattr(rem_ranges, name).body, **replaced)
        for name in ("splice_inside", "unite_crossing")
    )
    ranges = rem_ranges.ranges_of(7, FORK[0], 3)._replace(listed=np.zeros(12, np.int64), room=4)
    parts = (*FORK, ranges)
    return labels_after(seed, np.arange(7), each_index(inside, 3, *parts), each_index(crossing, 3, *parts))


def test_ranges_that_overlap_lose_edges():
    for seed in SEEDS:
        assert in_ranges(seed) == [0] * 7, f"seed {seed}"
    anywhere = {"crosses": lambda *_: False}
    assert any(in_ranges(seed, **anywhere) != [0] * 7 for seed in SEEDS)


def test_the_first_vertex_of_the_next_range_is_outside():
    """Part 0 must not join vertex 3, which part 1 begins with."""
    sources, targets, parent = np.array([0, 2, 3, 4]), np.array([1, 3, 4, 5]), np.empty(6, np.int64)
    ranges = rem_ranges.ranges_of(6, sources, 2)
    assert ranges.vertices.tolist() == [0, 3, 6]
    rem_ranges.splice_inside(2, parent, sources, targets, ranges)
    rem_ranges.unite_crossing(2, parent, sources, targets, ranges)
    assert [root(parent, vertex) for vertex in range(6)] == [0, 0, 2, 2, 2, 2]


def hung_and_joined(seed, join_early):
    """Components by three threads that hang all edges; one joins them by Rem, perhaps without waiting."""
    scheduler = jitter.Scheduler(seed)
    parent = jitter.Jittery(np.arange(7), scheduler)
    union = with_jittery_cas(rem_union)

    def hang_some(number):
        for edge in range(number, len(SOURCES), 2):
            hang.body(edge, (SOURCES[edge], TARGETS[edge]), None, parent, SOURCES, TARGETS)

    def join_all():
        for source, target in zip(SOURCES, TARGETS):
            union(parent, source, target)

    scheduler.run(*(lambda number=number: hang_some(number) for number in range(2)), *[join_all][:join_early])
    if not join_early:
        assert all(parent.values <= np.arange(7))
        scheduler.run(join_all)
    return [root(parent.values, vertex) for vertex in range(7)]


def test_writes_that_hanging_loses_are_joined_later():
    assert all(hung_and_joined(seed, 0) == EXPECTED for seed in SEEDS)
    assert not all(hung_and_joined(seed, 1) == EXPECTED for seed in SEEDS)  # the planted race


def named_by(seed, **replaced):
    """The vertex that names one cluster of seven parts, the least id of which comes last."""
    scheduler = jitter.Scheduler(seed)
    note = jitter.jittery(naming.note_least_of_parts.body, **replaced)
    strings = strings_of(pa.array(["g", "f", "e", "d", "c", "b", "a"]))
    least = jitter.Jittery(np.arange(7), scheduler)
    givers = np.arange(7), least

    def thread(number):
        for vertex in range(number, 7, 3):
            note(vertex, np.arange(7), np.zeros(7, np.int64), strings, givers)

    scheduler.run(*(lambda number=number: thread(number) for number in range(3)))
    return int(least.values[0])


def test_the_least_id_names_a_union_of_parts():
    assert {named_by(seed) for seed in SEEDS} == {6}
    assert any(named_by(seed, cas=jitter.careless_cas) != 6 for seed in SEEDS)


def grown_after(seed, giant, **replaced):
    """Sizes and what is found, of a component that three others join at the same time, by their vertices."""
    scheduler = jitter.Scheduler(seed)
    add = jitter.jittery(nested.add_joined.body, **replaced)
    levels = np.array([0, 2, 1, 1, 1], np.uint8)
    joined = levels.astype(np.uint64) << nested.LEVEL
    sizes = jitter.Jittery(np.array([5, 1, 1, 2, 3]), scheduler)
    result = jitter.Jittery(np.array([5, 1]), scheduler)
    growth = nested.Growth(joined, levels, sizes, result)
    scheduler.run(*(lambda at=at: add(at, 0, 1, 1, 1, giant, growth) for at in range(5)))
    return int(sizes.values[0]), result.values.tolist()


@pytest.mark.parametrize("giant", [-1, 0])
def test_components_that_join_at_once_are_all_added(giant):
    assert all(grown_after(seed, giant) == (11, [11, 4]) for seed in SEEDS)
    planted = {"fetch_add": jitter.careless_add}
    assert not all(grown_after(seed, giant, **planted) == (11, [11, 4]) for seed in SEEDS)


def grown_by_lists(seed, giant, **replaced):
    """The same of vertices that are listed, two for each thread: the size, and that of the largest."""
    scheduler = jitter.Scheduler(seed)
    add = jitter.jittery(nested.add_listed.body, **replaced)
    joined = np.array([0, 1, 1, 1, 1]).astype(np.uint64) << nested.LEVEL
    sizes = jitter.Jittery(np.array([5, 1, 1, 2, 3]), scheduler)
    result = jitter.Jittery(np.array([5, 1]), scheduler)
    growth = nested.Growth(joined, None, sizes, result)
    listed = np.array([1, 2, 3, 4])
    scheduler.run(*(lambda at=at: add(at, 2, listed, giant, growth) for at in range(2)))
    return int(sizes.values[0]), int(result.values[0])


@pytest.mark.parametrize("giant", [-1, 0])
def test_listed_components_that_join_at_once_are_all_added(giant):
    assert all(grown_by_lists(seed, giant) == (12, 12) for seed in SEEDS)
    planted = {"fetch_add": jitter.careless_add}
    assert not all(grown_by_lists(seed, giant, **planted) == (12, 12) for seed in SEEDS)


#: Edges with levels, of which later ones take the place of earlier ones.
SCORED = (
    np.array([4, 4, 3, 5, 1, 5, 2, 6]),
    np.array([3, 2, 5, 1, 4, 0, 6, 0]),
    np.array([1, 2, 3, 1, 2, 3, 1, 2]),
)


def nested_by_three(seed, **replaced):
    """Labels at three levels, of edges that three threads join while a fourth one points at roots."""
    scheduler = jitter.Scheduler(seed)
    join, settle = (jitter.jittery(one, **replaced) for one in (nested.join, nested.settle.body))
    words = jitter.Jittery(np.zeros(7, np.uint64), scheduler)

    def thread(number):
        for edge in range(number, len(SCORED[0]), 3):
            join(words, *(column[edge] for column in SCORED))

    scheduler.run(*(lambda number=number: thread(number) for number in range(3)))
    scheduler = jitter.Scheduler(seed)
    settled = jitter.Jittery(words.values, scheduler)
    scheduler.run(
        *(lambda first=first: [settle(vertex, settled) for vertex in range(first, 7, 2)] for first in (0, 1))
    )
    nested.check_nested(settled.values, 3)
    return [nested.labels_at(settled.values, level).tolist() for level in (1, 2, 3)]


def test_edges_that_take_the_place_of_others_are_not_lost():
    sources, targets, levels = SCORED
    expected = [
        oracle(7, *(one[levels >= level].tolist() for one in (sources, targets))) for level in (1, 2, 3)
    ]
    for seed in SEEDS:
        assert nested_by_three(seed) == expected, f"seed {seed}"
    careless = {"cas": jitter.careless_cas}
    assert any(nested_by_three(seed, **careless) != expected for seed in SEEDS)


def ranges_contracted_by_three(seed, **replaced):
    """Links of two components to a lower range, and the sizes of both, by three threads."""
    scheduler = jitter.Scheduler(seed)
    bodies = [getattr(contraction, name).body for name in ("lower", "lower_link", "add_size")]
    lower, lower_link, add_size = (jitter.jittery(body, **replaced) for body in bodies)
    add_own = jitter.jittery(contraction.add_own.body, STRETCH=2, **replaced)
    parent, first = np.array([0, 0, 0, 3, 3, 3]), 10
    highs, lows, links = np.arange(10, 16), np.array([9, 7, 8, 6, 4, 5]), np.array([8, 9, 6, 5, 7, 3])
    least = jitter.Jittery(np.full(6, 99), scheduler)
    total = jitter.Jittery(np.zeros(6, np.int64), scheduler)

    def thread(number):
        for index in range(number, 6, 3):
            lower(index, highs, lows, first, parent, least)
            lower_link(index, highs - first, links, parent, least)
            add_size(index, highs - first, lows, parent, total)
        add_own(number, np.ones(6, np.uint8), parent, total)

    scheduler.run(*(lambda number=number: thread(number) for number in range(3)))
    return least.values[[0, 3]].tolist(), total.values[[0, 3]].tolist()


def test_ranges_lose_no_link_and_no_size():
    expected = [6, 3], [27, 18]
    assert all(ranges_contracted_by_three(seed) == expected for seed in SEEDS)
    for planted in {"fetch_min": jitter.careless_min}, {"fetch_add": jitter.careless_add}:
        assert not all(ranges_contracted_by_three(seed, **planted) == expected for seed in SEEDS)
