"""The explorer itself: what its memories allow, what it reports, and that a seed gives the same run again."""

import re
from itertools import pairwise, permutations

import numpy as np
import pytest

from edgewise.device import atomics, warps
from edgewise.device.explorer import (
    CPU,
    GPU,
    Barrier,
    Bursts,
    Fault,
    NoProgress,
    Priorities,
    Scheduler,
    Shared,
    barrier_wait,
    explore,
    fetch_add,
    gpu,
    preemptible,
    run_region,
)
from edgewise.device.explorer.operations import cas, fence, load, store
from edgewise.device.explorer.orders import Decisions
from edgewise.device.explorer.reports import OutOfRange
from edgewise.device.regions import Worker
from edgewise.device.regions import barrier_wait as library_barrier

pytestmark = [pytest.mark.interpreter, pytest.mark.interpreted]
SEEDS, MEMORIES = range(150), (None, CPU, GPU)


@pytest.fixture(autouse=True)
def small_warps(monkeypatch):
    """Warps of four lanes on every engine."""
    monkeypatch.setattr(gpu, "WARP", 4)


def outcomes(threads, memory=None, races=False, seeds=SEEDS):
    """What threads over four words return by all seeds."""
    found = set()
    for seed in seeds:
        scheduler = Scheduler(seed, memory=memory, races=races)
        words, returned = Shared(np.zeros(4, np.int64), scheduler), [None] * len(threads)

        def run(number, words=words, returned=returned):
            returned[number] = threads[number](words)

        scheduler.run(*(lambda number=number: run(number) for number in range(len(threads))))
        found.add(tuple(returned))
    return found


def passing(writer_fences, reader_fences, read):
    """Message passing: a word, and a flag that says that the word is there."""

    def write(words):
        words[0] = 7
        if writer_fences:
            fence()
        store(words, 1, 1)

    def look(words):
        is_there = load(words, 1)
        if reader_fences:
            fence()
        return int(is_there), int(read(words, 0))

    return write, look


@pytest.mark.parametrize("read", [load, lambda words, index: words[index]], ids=["load", "plain"])
@pytest.mark.parametrize("fences", [(False, False), (False, True), (True, False), (True, True)])
@pytest.mark.parametrize("memory", MEMORIES)
def test_message_passing(memory, fences, read):
    """Without both fences a GPU may show the flag, but not the word behind it."""
    found = outcomes(passing(*fences, read), memory)
    assert (None, (1, 7)) in found and (None, (0, 0)) in found
    assert ((None, (1, 0)) in found) == (memory == GPU and fences != (True, True))


def buffering(write, fences):
    """Store buffering: each of two threads writes its word, and reads that of the other."""

    def task(number):
        def run(words):
            write(words, number)
            if fences:
                fence()
            return int(load(words, 1 - number))

        return run

    return task(0), task(1)


WRITES = {
    "plain": lambda words, number: words.__setitem__(number, 1),
    "store": lambda words, number: store(words, number, 1),
    "fetch_add": lambda words, number: fetch_add(words, number, 1),
}


@pytest.mark.parametrize("fences", [False, True])
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("memory", MEMORIES)
def test_store_buffering(memory, write, fences):
    """A fence of the CPU orders no store with a later read; an exchange of a processor does."""
    found = outcomes(buffering(WRITES[write], fences), memory)
    assert (1, 1) in found
    allowed = {None: False, CPU: write != "fetch_add", GPU: not fences}
    assert ((0, 0) in found) == allowed[memory]


@pytest.mark.parametrize("read", [load, lambda words, index: words[index]], ids=["load", "plain"])
@pytest.mark.parametrize("memory", MEMORIES)
def test_no_value_is_seen_backwards(memory, read):
    def write(words):
        for value in range(1, 5):
            words[0] = value

    def look(words):
        return tuple(int(read(words, 0)) for _ in range(5))

    found = {seen for _, *several in outcomes((write, look, look), memory) for seen in several}
    assert all(list(seen) == sorted(seen) for seen in found)
    assert len(found) > 5


def test_a_thread_sees_its_own_stores_and_all_see_the_last_one():
    def write(words):
        for value in range(1, 4):
            words[0] = value
            assert words[0] >= value
        assert words.view(np.int32)[0] == words[0]

    for memory in MEMORIES:
        for seed in SEEDS:
            scheduler = Scheduler(seed, memory=memory)
            words = Shared(np.zeros(1, np.int64), scheduler)
            scheduler.run(lambda words=words: write(words))
            assert words.values[0] == 3


def test_views_of_two_types_share_their_words():
    """Bytes and words of one array: a thread sees what it has written by the other view."""

    def write(words):
        halves = words.view(np.int32)
        halves[1] = 1
        assert words[0] == 1 << 32
        words[0] = 5
        assert (int(halves[0]), int(halves[1])) == (5, 0)

    for seed in SEEDS:
        scheduler = Scheduler(seed, memory=GPU)
        words = Shared(np.zeros(2, np.int64), scheduler)
        scheduler.run(lambda words=words: write(words))


def test_an_atomic_operation_sees_the_last_value():
    for memory in MEMORIES:
        threads = [lambda words: [fetch_add(words, 0, 1) for _ in range(3)] and None] * 3
        scheduler = None
        for seed in SEEDS:
            scheduler = Scheduler(seed, memory=memory)
            words = Shared(np.zeros(4, np.int64), scheduler)
            scheduler.run(*(lambda task=task, words=words: task(words) for task in threads))
            assert words.values[0] == 9


def write_word(words):
    words[0] = 1


def read_word(words):
    return words[0]


def race_of(*threads, memory=None):
    """The race that is reported first, if there is one."""
    scheduler = Scheduler(0, races=True, memory=memory)
    words = Shared(np.zeros(4, np.int64), scheduler)
    try:
        scheduler.run(*(lambda task=task: task(words) for task in threads))
    except Fault as fault:
        return str(fault)
    return None


def test_a_race_is_reported_with_both_lines():
    told = race_of(write_word, read_word)
    lines = [function.__code__.co_firstlineno + 1 for function in (read_word, write_word)]
    found = re.findall(r"test_explorer\.py:(\d+) \((\w+)\)", told)
    assert sorted(found) == sorted(zip(map(str, lines), ("read_word", "write_word")))
    assert "an array of 4 int64" in told


def documented_at_the_line(words):
    words[0] = 2  # race: the test says so


def documented_above(words):
    # The value is one of two.
    # race: any of them will do
    words[0] = 3


def documented_elsewhere(words):
    # race: not directly above
    words[1] = 0
    words[0] = 4


def test_documented_races_are_none():
    assert race_of(documented_at_the_line, read_word) is None
    assert race_of(documented_above, write_word) is None
    assert race_of(documented_elsewhere, read_word) is not None


def add_one(words):
    fetch_add(words, 0, 1)


def load_word(words):
    return load(words, 0)


def test_what_races():
    assert race_of(add_one, read_word) is None  # reads one of the values
    assert race_of(add_one, add_one) is None
    assert "write_word" in race_of(add_one, write_word)
    assert "write_word" in race_of(load_word, write_word)
    assert race_of(lambda words: words.__setitem__(0, 0), read_word) is None  # the value is there already
    assert race_of(write_word, lambda words: words.__setitem__(1, 1)) is None


def publish(words):
    words[0] = 1
    fence()
    store(words, 1, 1)


def wait_and_read(words):
    while load(words, 1) == 0:
        pass
    fence()
    return words[0]


def wait_and_read_at_once(words):
    while load(words, 1) == 0:
        pass
    return words[0]


def test_fences_order_accesses_on_a_gpu():
    for memory in (CPU, GPU):
        assert race_of(publish, wait_and_read, memory=memory) is None
    assert "wait_and_read_at_once" in race_of(publish, wait_and_read_at_once, memory=GPU)
    assert race_of(publish, wait_and_read_at_once, memory=CPU) is None


def test_runs_of_one_scheduler_are_one_after_the_other():
    for memory in MEMORIES:
        for seed in range(20):
            scheduler = Scheduler(seed, memory=memory, races=True)
            words = Shared(np.zeros(1, np.int64), scheduler)
            scheduler.run(lambda words=words: write_word(words))
            found = []
            scheduler.run(lambda words=words, found=found: found.append(read_word(words)))
            assert found == [1]


@pytest.mark.parametrize(
    "access", [lambda w: w[4], lambda w: w[-1], lambda w: load(w, 9), lambda w: fetch_add(w, -2, 1)]
)
def test_indices_out_of_range(access):
    with pytest.raises(OutOfRange, match=r"test_explorer\.py:\d+ .*: index -?\d of an array of 4 int64"):
        outcomes([access], seeds=range(1))


def test_indices_out_of_range_of_two_dimensions():
    scheduler = Scheduler(0)
    table = Shared(np.zeros((2, 3)), scheduler)
    with pytest.raises(OutOfRange, match=r"index \(1, 3\) of an array of 2 x 3 float64"):
        scheduler.run(lambda: table[1, 3])


# Launches of kernels, of two blocks with two warps of four lanes


def launched(body, *arguments, seed=0, n_blocks=2, memory=None, races=False):
    """Run a kernel; its arguments are arrays."""
    scheduler = Scheduler(seed, 100_000, order=Bursts(seed, 0.5), memory=memory, races=races)
    copy, given = gpu.on_gpu(body), gpu.shared(arguments, scheduler)
    gpu.Launch(lambda: copy(*given), n_blocks, 8, cooperative=True).run(scheduler)
    return arguments


cuda = gpu.cuda


def sum_of_neighbours(values, sums):
    shared, thread = cuda.shared.array(8, np.int64), cuda.threadIdx.x
    shared[thread] = values[cuda.grid(1)]
    cuda.syncthreads()
    sums[cuda.grid(1)] = shared[thread] + shared[(thread + 1) % 8]


def sum_without_barrier(values, sums):
    shared, thread = cuda.shared.array(8, np.int64), cuda.threadIdx.x
    shared[thread] = values[cuda.grid(1)]
    sums[cuda.grid(1)] = shared[thread] + shared[(thread + 1) % 8]


def test_shared_memory_has_no_values_at_first():
    values = np.arange(16)
    expected = values + np.roll(values.reshape(2, 8), -1, axis=1).ravel()
    for memory in (None, GPU):
        for seed in range(20):
            _, sums = launched(sum_of_neighbours, values, np.zeros(16, np.int64), seed=seed, memory=memory)
            assert np.array_equal(sums, expected)
    with pytest.raises(Fault, match=r"nothing has been stored at index \d of shared memory"):
        for seed in range(20):
            launched(sum_without_barrier, values, np.zeros(16, np.int64), seed=seed)


def miss_a_barrier(out):
    if cuda.threadIdx.x != 3:
        cuda.syncthreads()


def meet_at_two_lines(out):
    if cuda.threadIdx.x == 3:
        cuda.syncthreads()
    else:
        cuda.syncthreads()


def exchange_apart(out):
    lane = cuda.threadIdx.x % 4
    out[cuda.grid(1)] = warps.ballot(True) if lane < 2 else warps.shuffle(1, 0)


def exchange_and_end(out):
    if cuda.threadIdx.x % 4 < 3:
        out[cuda.grid(1)] = warps.ballot(True)


@pytest.mark.parametrize("kernel, words", [
    (miss_a_barrier, r"thread 3 of block \d has ended while thread \d of block \d waits at .*miss_a_barrier"),
    (meet_at_two_lines, r"waits at .*meet_at_two_lines.* while .* waits at .*meet_at_two_lines"),
    (exchange_apart, r"waits at .*exchange_apart.* while .* waits at .*exchange_apart"),
    (exchange_and_end, r"thread \d of block \d has ended while .* waits at .*exchange_and_end"),
])  # fmt: skip
def test_missed_barriers_and_exchanges(kernel, words):
    told = set()
    for seed in range(30):
        with pytest.raises((Fault, NoProgress)) as caught:
            launched(kernel, np.zeros(16, np.int64), seed=seed)
        told.add(re.search(words, str(caught.value)) is not None)
    assert True in told


def exchange_values(out, sums):
    lane, number = cuda.threadIdx.x % 4, cuda.grid(1)
    out[number] = warps.shuffle(number, 3 - lane) + 100 * warps.ballot(lane % 2 == 1)
    sums[number] = warps.inclusive_scan(lane, lane) + 100 * warps.match(lane // 2)


def test_exchanges_of_a_warp():
    out, sums = launched(exchange_values, np.zeros(16, np.int64), np.zeros(16, np.int64))
    lanes, first = np.arange(16) % 4, np.arange(16) // 4 * 4
    assert np.array_equal(out, first + 3 - lanes + 1000)
    assert np.array_equal(sums, np.cumsum(np.arange(4))[lanes] + 100 * np.where(lanes < 2, 3, 12))


def tell_by_memory(words, out):
    lane, number = cuda.threadIdx.x % 4, cuda.grid(1)
    words[number] = number
    warps.ballot(True)
    out[number] = words[number - lane + (lane + 1) % 4]


def tell_behind_a_barrier(words, out):
    lane, number = cuda.threadIdx.x % 4, cuda.grid(1)
    words[number] = number
    warps.warp_barrier()
    out[number] = words[number - lane + (lane + 1) % 4]


def test_an_exchange_orders_no_memory_but_a_barrier_does():
    expected = np.arange(16) // 4 * 4 + (np.arange(16) + 1) % 4

    def is_right(kernel, seed):
        zeros = [np.zeros(16, np.int64) for _ in range(2)]
        return np.array_equal(launched(kernel, *zeros, seed=seed, memory=GPU)[1], expected)

    assert all(is_right(tell_behind_a_barrier, seed) for seed in range(60))
    assert not all(is_right(tell_by_memory, seed) for seed in range(60))
    with pytest.raises(Fault, match=r"race: .*tell_by_memory.* and .*tell_by_memory"):
        launched(tell_by_memory, *(np.zeros(16, np.int64) for _ in range(2)), memory=GPU, races=True)


# Waits


def wait_for_each_other(words, index):
    while atomics.cas(words, index, 0, 1) != 0:
        pass


def test_what_makes_no_progress_is_told():
    scheduler = Scheduler(0, 500)
    words = Shared(np.ones(1, np.int64), scheduler)
    with pytest.raises(NoProgress, match="have not ended after 500 steps"):
        scheduler.run(lambda: preemptible(wait_for_each_other)(words, 0))

    def leave_early(worker):
        if worker.id:
            barrier_wait(worker)

    scheduler = Scheduler(0)
    with pytest.raises(NoProgress, match=r"all threads wait: thread 1 waits at a barrier at .*leave_early"):
        barrier = Barrier(scheduler)
        scheduler.run(*(lambda n=n: leave_early(Worker(n, 3, barrier)) for n in range(3)))


def rounds(worker, words):
    for turn in range(3):
        words[worker.id] = turn
        library_barrier(worker)
        assert words[(worker.id + 1) % worker.count] == turn
        library_barrier(worker)


@pytest.mark.parametrize("memory", MEMORIES)
def test_barriers_of_regions(memory):
    region = preemptible(rounds)
    for seed in range(30):
        scheduler = Scheduler(seed, memory=memory, races=True)
        words = Shared(np.full(3, 9), scheduler)

        def start(number, barrier, words=words):
            region(Worker(number, 3, barrier), words)

        assert run_region(scheduler, 3, start)


# Orders


def trace(**options):
    """The order in which three threads add to a word."""
    scheduler, order = Scheduler(**options), []
    words = Shared(np.zeros(1, np.int64), scheduler)

    def run(number):
        for _ in range(4):
            fetch_add(words, 0, 1)
            order.append(number)

    scheduler.run(*(lambda number=number: run(number) for number in range(3)))
    return tuple(order)


def test_a_seed_gives_the_same_run_again():
    for memory in MEMORIES:
        for seed in range(21):
            assert trace(seed=seed, memory=memory) == trace(seed=seed, memory=memory)
    assert len({trace(seed=seed) for seed in range(60)}) > 40


def test_priorities_run_one_thread_until_its_priority_falls():
    runs = {trace(order=Priorities(seed)) for seed in range(60)}
    changes = [sum(one != other for one, other in pairwise(run)) for run in runs]
    assert min(changes) == 2 and 2 < max(changes) <= 2 + 3  # two ends, and three changes of priorities


def merges(lengths, preemptions):
    """How often sequences can be merged with so many switches from one that has not ended, by brute force."""
    letters = [number for number, length in enumerate(lengths) for _ in range(length)]
    count = 0
    for merge in set(permutations(letters)):
        left, switches = list(lengths), 0
        for one, other in zip(merge, (*merge[1:], None)):
            left[one] -= 1
            switches += other is not None and other != one and left[one] > 0
        count += switches <= preemptions
    return count


@pytest.mark.parametrize("lengths", [(1, 1), (2, 2), (1, 3), (1, 1, 1), (2, 1, 1)])
@pytest.mark.parametrize("preemptions", [0, 1, 2, 9])
def test_interleavings_are_those_of_brute_force(lengths, preemptions):
    """A thread of n accesses is a sequence of n + 1 parts, since it may be preempted before each of them."""
    seen = []

    def run(order):
        scheduler, done = Scheduler(order=order), []
        words = Shared(np.zeros(1, np.int64), scheduler)

        def task(number, length):
            done.append(number)
            for _ in range(length):
                fetch_add(words, 0, 1)
                done.append(number)

        scheduler.run(*(lambda n=n, length=length: task(n, length) for n, length in enumerate(lengths)))
        seen.append(tuple(done))

    count = explore(run, preemptions)
    assert count == len(seen) == len(set(seen)) == merges([length + 1 for length in lengths], preemptions)


def lost_update(order):
    """Two threads add to a word without an atomic operation."""
    scheduler = Scheduler(order=order)
    words = Shared(np.zeros(1, np.int64), scheduler)

    def task():
        words[0] = words[0] + 1

    scheduler.run(task, task)
    assert words.values[0] == 2


def test_the_choices_of_an_error_give_it_again():
    assert explore(lost_update, preemptions=0) == 2
    with pytest.raises(AssertionError) as caught:
        explore(lost_update, preemptions=1)
    (note,) = caught.value.__notes__
    choices, preemptions = re.fullmatch(r"choices (\[.*\]) of (\d+) preemptions", note).groups()
    with pytest.raises(AssertionError):
        lost_update(Decisions([int(one) for one in re.findall(r"\d+", choices)], int(preemptions)))
    with pytest.raises(OverflowError, match="more than 3 interleavings; make the case smaller"):
        explore(lambda order: trace(order=order), preemptions=2, limit=3)


def test_operations_outside_of_runs():
    """Arrays that nobody shares, and shared ones before and after a run."""
    words = np.zeros(2, np.int64)
    store(words, 0, 3)
    assert (load(words, 0), fetch_add(words, 0, 2), cas(words, 0, 5, 1), words[0]) == (3, 3, 5, 1)
    for memory in MEMORIES:
        shared = Shared(words, Scheduler(memory=memory))
        shared[1] = 4
        store(shared, 0, 2)
        assert (shared[1], load(shared, 0), fetch_add(shared, 0, 1), words[0]) == (4, 2, 2, 3)
        fence()
