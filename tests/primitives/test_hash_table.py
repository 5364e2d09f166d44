"""The hash table holds what a dictionary holds, on every engine, and loses nothing to races."""

import os
from types import FunctionType

import numpy as np
import pytest

from edgewise.device import arrays, compiled, each, fetch_add
from edgewise.device.target import INTERPRETED, SIMULATED
from edgewise.primitives import hash_table
from edgewise.primitives.hash_table import (
    EMPTY,
    UPPER_HALF,
    WHOLE_WORD,
    HashTable,
    claim,
    find_present,
    home_slot,
    insert,
    probe,
)
from tests import jitter

pytestmark = [pytest.mark.interpreter, pytest.mark.simulator]
DEVICE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda:0" if SIMULATED else "cpu")
UPPER = -(1 << 32)

FAMILIES = {
    "random": lambda draw: draw.integers(0, 2**63, 300).astype(np.uint64) * np.uint64(2),
    "repeated": lambda draw: draw.integers(0, 9, 300).astype(np.uint64),
    "progression": lambda draw: np.arange(300, dtype=np.uint64) * np.uint64(1024),
    "upper half": lambda draw: np.arange(300, dtype=np.uint64) << np.uint64(32),
    "zero and largest": lambda draw: np.array([0, 2**64 - 2, 0, 1, 2**64 - 2], np.uint64),
}


@compiled
def insert_all(keys, words, slots, new):
    table = HashTable(words, EMPTY, WHOLE_WORD)
    for item in range(len(keys)):
        slots[item], new[item] = insert(table, home_slot(keys[item], table), keys[item])


@compiled
def look_up_all(keys, words, slots, absent):
    table = HashTable(words, EMPTY, WHOLE_WORD)
    for item in range(len(keys)):
        slots[item], held = probe(table, home_slot(keys[item], table), keys[item])
        absent[item] = held == EMPTY


@each
def claim_all(item, keys, table, slots, n_new):
    slot, is_new = claim(table, home_slot(keys[item], table), keys[item])
    slots[item] = slot
    if is_new:
        fetch_add(n_new, 0, 1)


@each
def count_all(item, vertices, words, n_new):
    """Count vertices: the upper half of a word is the vertex plus one, the lower half its count."""
    table, key = HashTable(words, 0, UPPER), np.int64(vertices[item]) + 1
    slot, is_new = claim(table, home_slot(key, table), (key << 32) + 1)
    if is_new:
        fetch_add(n_new, 0, 1)
    else:
        fetch_add(words, slot, 1)


def keys_of(family):
    return FAMILIES[family](np.random.default_rng(5))


@pytest.mark.parametrize("family", FAMILIES)
def test_one_thread(family):
    keys, words = keys_of(family), np.full(512, EMPTY)
    slots, new = np.empty(len(keys), np.int64), np.empty(len(keys), bool)
    insert_all(keys, words, slots, new)
    assert np.array_equal(words[slots], keys)
    assert np.array_equal(np.sort(words[words != EMPTY]), np.unique(keys))
    assert new.sum() == len(np.unique(keys))
    again, absent = np.empty_like(slots), np.empty_like(new)
    look_up_all(keys, words, again, absent)
    assert np.array_equal(again, slots)
    assert not absent.any()
    others = np.setdiff1d(np.arange(7, 10_000, 131, dtype=np.uint64), keys)
    slots, absent = np.empty(len(others), np.int64), np.empty(len(others), bool)
    look_up_all(others, words, slots, absent)
    assert absent.all()
    assert (words[slots] == EMPTY).all()


@pytest.mark.skipif(DEVICE != "cpu", reason="tables of unsigned words are built on the CPU")
@pytest.mark.parametrize("family", FAMILIES)
def test_several_threads(family):
    keys = np.tile(keys_of(family), 2 if INTERPRETED else 40)
    words, n_new, slots = np.full(512, EMPTY), np.zeros(1, np.int64), np.empty(len(keys), np.int64)
    claim_all(len(keys), keys, HashTable(words, EMPTY, WHOLE_WORD), slots, n_new)
    assert np.array_equal(np.sort(words[words != EMPTY]), np.unique(keys))
    assert n_new[0] == len(np.unique(keys))
    assert np.array_equal(words[slots], keys)


@pytest.mark.parametrize("n", [1, 50])
def test_counts_beside_keys(n):
    vertices = np.random.default_rng(n).integers(0, n, 400).astype(np.uint32)
    words, n_new = arrays.zeros(64, np.int64, DEVICE), arrays.zeros(1, np.int64, DEVICE)
    count_all(len(vertices), arrays.move(vertices, DEVICE), words, n_new)
    words = np.asarray(arrays.move(words, "cpu"))
    counts = {int(word >> 32) - 1: int(word) & (2**32 - 1) for word in words if word}
    distinct, times = np.unique(vertices, return_counts=True)
    assert counts == dict(zip(distinct.tolist(), times.tolist()))
    assert int(np.asarray(arrays.move(n_new, "cpu"))[0]) == len(distinct)


def test_the_slot_of_a_present_key():
    keys, words = keys_of("random"), np.full(512, EMPTY)
    slots, new = np.empty(len(keys), np.int64), np.empty(len(keys), bool)
    insert_all(keys, words, slots, new)
    table = HashTable(words, EMPTY, WHOLE_WORD)
    assert [int(find_present(table, home_slot(key, table), key)) for key in keys] == slots.tolist()
    assert words[find_present(table, home_slot(EMPTY, table), EMPTY)] == EMPTY


def test_tags_in_the_upper_half():
    table, tag = HashTable(np.full(8, EMPTY), EMPTY, UPPER_HALF), np.uint64(7 << 32)
    slot, is_new = insert(table, np.uint64(7), tag | np.uint64(3))
    assert (int(slot), is_new) == (7, True)
    assert insert(table, np.uint64(7), tag | np.uint64(4)) == (7, False)
    assert probe(table, np.uint64(7), tag)[1] == tag | np.uint64(3)
    assert insert(table, np.uint64(7), np.uint64(8 << 32)) == (0, True)  # probing continues at slot 0


@pytest.mark.ptx
@pytest.mark.skipif(INTERPRETED or SIMULATED, reason="it is the compiler that makes PTX")
@pytest.mark.parametrize("capability", [(8, 0), (9, 0)])
def test_it_compiles_for_gpus(capability):
    assert "atom" in count_all.cuda.ptx(("uint32[]", "int64[]", "int64[]"), capability)
    kinds = "uint64[]", (HashTable, ("uint64[]", "int64", "int64")), "int64[]", "int64[]"
    assert "atom" in claim_all.cuda.ptx(kinds, capability)


def claimed(seed, cas):
    """Enter keys that share a home slot by three threads; return the words and how many were new."""
    scheduler = jitter.Scheduler(seed)
    words = jitter.Jittery(np.full(8, EMPTY), scheduler)
    table, results = HashTable(words, EMPTY, WHOLE_WORD), []
    function = FunctionType(claim.__code__, {**claim.__globals__, "cas": cas}, "claim")

    def work(keys):
        for key in keys:
            results.append(function(table, np.uint64(6), np.uint64(key)))

    scheduler.run(lambda: work([1, 2, 3]), lambda: work([3, 2, 1]), lambda: work([2, 4]))
    return words.values, results


def right(words, results):
    entered = sorted(int(word) for word in words if word != EMPTY)
    return entered == [1, 2, 3, 4] and sum(is_new for _, is_new in results) == 4


@pytest.mark.parametrize("seed", range(60))
def test_no_key_is_lost_or_entered_twice(seed):
    assert right(*claimed(seed, jitter.cas))


def test_a_planted_race_is_caught():
    assert not all(right(*claimed(seed, jitter.careless_cas)) for seed in range(60))


def test_the_home_slots_of_neighbouring_keys_differ():
    table = HashTable(np.full(1024, EMPTY), EMPTY, WHOLE_WORD)
    for shift in (0, 10, 32, 40):
        homes = {int(home_slot(np.uint64(key << shift), table)) for key in range(256)}
        assert len(homes) > 160
    assert hash_table.home_slot(5, table) == home_slot(np.int64(5), table)
