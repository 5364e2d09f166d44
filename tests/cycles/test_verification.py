"""The verifier accepts what is right, and sees what is wrong."""

from dataclasses import replace

import numpy as np
import pytest

import edgewise as ew
from edgewise.cycles import verification
from edgewise.errors import VerificationError
from tests.oracles import count_by_hand
from tests.zoo import ZOO


def counted(shape, length, **asked):
    n, sources, targets = ZOO[shape]
    return ew.cycle_counts(ew.Graph.from_edges(sources, targets, n_vertices=n), length, **asked)


@pytest.mark.interpreter
@pytest.mark.parametrize("shape", ZOO)
def test_recounts_of_one_vertex_are_the_oracles(shape):
    n, sources, targets = ZOO[shape]
    rows = verification._simple_rows(ew.Graph.from_edges(sources, targets, n_vertices=n))
    for length in (3, 4, 5, 6, 7):
        answer = count_by_hand(n, sources, targets, length).tolist() if shape != "dense" else None
        for vertex in range(n if answer else 0):
            if length <= 5:
                assert verification._by_formula(rows, vertex, length) == answer[vertex]
            assert verification._by_search(rows, vertex, length)[0] == answer[vertex]


@pytest.mark.interpreter
@pytest.mark.parametrize("shape", ["empty", "isolated", "repeated edges", "grid", "two cliques and a bridge"])
def test_right_counts_are_accepted(shape):
    for length in (3, 4, 5, 6, 7):
        for both in (False, True):
            found = counted(shape, length, count_directions=both)
            assert found.verify() is found


@pytest.mark.interpreter
@pytest.mark.parametrize(
    "change, message",
    [
        ({3: -1}, "the count -1 of vertex 3 is negative"),
        ({0: 1}, "all counts add up to no multiple of 4"),
        ({0: 2, 6: 2}, r"vertex \d is on \d cycles of length 4, not on"),
    ],
)
def test_wrong_counts_are_seen(change, message):
    found = counted("grid", 4)
    wrong = found.counts.copy()
    for vertex, count in change.items():
        wrong[vertex] = count if count < 0 else wrong[vertex] + count
    with pytest.raises(VerificationError, match=message):
        replace(found, counts=wrong).verify()


@pytest.mark.interpreter
def test_cycles_where_there_can_be_none_are_seen():
    found = counted("path", 3)
    wrong = np.zeros(33, np.int64)
    wrong[0] = 3
    with pytest.raises(
        VerificationError, match="the count 3 of vertex 0 is not zero, but it has less than two"
    ):
        replace(found, counts=wrong).verify()
    odd = replace(counted("clique", 3), count_directions=True)
    with pytest.raises(VerificationError, match="the count 21 of vertex 0 is odd, but both directions count"):
        odd.verify()
    with pytest.raises(VerificationError, match="vertex 0 is on 21 cycles of length 3, not on 42"):
        replace(odd, counts=4 * odd.counts).verify()


@pytest.mark.interpreter
@pytest.mark.parametrize("length", [3, 4, 5, 6])
def test_every_vertex_of_a_small_graph_is_counted_again(length):
    found = counted("two cliques and a bridge", length)
    for vertex in range(10):
        wrong = found.counts.copy()
        wrong[vertex] += length
        with pytest.raises(VerificationError, match=f"vertex {vertex} is on"):
            replace(found, counts=wrong).verify()


def test_a_search_that_would_be_long_is_cut_short():
    n = 90
    graph = ew.Graph.from_edges(*np.triu_indices(n, 1), n_vertices=n)
    rows = verification._simple_rows(graph)
    again, whole, steps = verification._by_search(rows, 0, 6)
    assert not whole
    assert 0 < again <= 89 * 88 * 87 * 86 * 85 // 2
    assert steps <= verification.STEPS + 2
    ew.cycle_counts(graph, 6).verify()
    found = verification._by_formula(rows, 0, 5)
    assert found == 89 * 88 * 87 * 86 // 2


@pytest.mark.parametrize("length, shift", [(6, 6), (6, -6), (7, 0)])
def test_falsified_counts_of_longer_cycles(length, shift):
    """Of six edges to the last one; beyond, a search that is cut short finds that there are some."""
    ends = np.triu_indices(40 if length == 6 else 15, 1)
    found = ew.cycle_counts(ew.Graph.from_edges(*ends), length)
    found.verify()
    wrong = found.counts + shift if shift else found.counts * 0
    with pytest.raises(VerificationError, match="cycles of length"):
        replace(found, counts=wrong).verify()


@pytest.mark.interpreter
@pytest.mark.parametrize("length", [3, 9])
def test_a_sample_has_vertices_on_cycles_and_on_none(length):
    graph = ew.generate.grid(20)
    counts = np.zeros(graph.n_vertices, np.int64)
    counts[:3] = 1
    sample = verification._sample(verification._simple_rows(graph), counts, length)
    assert {0, 1, 2} <= set(sample) and len(sample) == verification.SAMPLE
