"""Symmetry by a sum of hashes agrees with looking at every arc."""

from collections import Counter
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgewise import tuning
from edgewise.ingest import symmetry
from edgewise.ingest.symmetry import first_unmatched, is_symmetric

end = st.integers(0, 4)
arcs = st.lists(st.tuples(end, end, st.sampled_from([0, 1, -2, 2**40])), max_size=10)


@given(arcs, st.booleans(), st.booleans())
def test_symmetry(arcs, both, weighted):
    arcs = arcs + [(v, u, w) for u, v, w in arcs] if both else arcs
    sources, targets, weights = np.array(arcs, np.int64).reshape(-1, 3).T
    values = weights if weighted else None
    keys = Counter((u, v, w if weighted else 0) for u, v, w in arcs)
    symmetric = all(keys[v, u, w] == count for (u, v, w), count in keys.items())
    floats = None if values is None else values * 0.5
    for few in (0, 1 << 12):  # by the kernel, and by NumPy
        limits = replace(tuning.CPU, ingest_few=few, ingest_first=few)
        with mock.patch.object(tuning, "CPU", limits):
            assert is_symmetric(sources, targets, values) == symmetric
            assert is_symmetric(sources * 2**33, targets * 2**33, floats) == symmetric
            assert is_symmetric(sources.astype(np.uint32), targets.astype(np.uint32), values) == symmetric
    lonely = first_unmatched(sources, targets, values)
    assert (lonely is None) == symmetric
    if lonely:
        assert any(keys[lonely[::-1] + (w,)] != keys[lonely + (w,)] for w in weights.tolist() + [0])


@pytest.mark.interpreter
def test_signs_of_zero_are_one_weight():
    for few in (0, 1 << 12):
        limits = replace(tuning.CPU, ingest_few=few, ingest_first=few)
        with mock.patch.object(tuning, "CPU", limits):
            assert is_symmetric(np.array([0, 1]), np.array([1, 0]), np.array([0.0, -0.0]))


@given(st.lists(st.tuples(st.integers(0, 2**40), st.integers(0, 2**40), st.floats()), max_size=20))
def test_both_ways_make_the_same_sums(arcs):
    sources, targets = np.array([one[:2] for one in arcs], np.int64).reshape(-1, 2).T
    bits = np.array([one[2] for one in arcs], np.float64).view(np.uint64)
    for given_bits in (bits, bits[:0]):
        sums = np.zeros(2, np.int64)
        ends = np.ascontiguousarray(sources), np.ascontiguousarray(targets)
        symmetry._sum_hashes(1, np.empty(0, np.int64), *ends, given_bits, 1, sums)
        assert sums.tolist() == symmetry._sum_few(sources, targets, given_bits, True).tolist()


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(1, 3)), max_size=60), st.booleans()
)
def test_rows_are_symmetric_as_their_arcs_are(arcs, both):
    """The kernel for rows, some of which are empty, finds what the one for arcs finds."""
    arcs = arcs + [(j, i, w) for i, j, w in arcs if i != j] if both else arcs
    sources, targets, weights = np.array(sorted(arcs), np.int64).reshape(-1, 3).T.copy()
    offsets = np.searchsorted(sources, np.arange(11))
    limits = replace(tuning.CPU, ingest_few=-1, ingest_first=-1)
    with mock.patch.object(tuning, "CPU", limits):
        found = symmetry.first_unmatched_entry(offsets, targets, weights)
    assert (found is None) == is_symmetric(sources, targets, weights)
    assert found == symmetry.first_unmatched(sources, targets, weights)
