"""Calls by an executor: again where one is lost, and messages where they cannot be finished."""

from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import edgewise as ew
from edgewise.device import threads
from edgewise.errors import FileError, OptionError, WorkerError
from edgewise.workers import calls
from edgewise.workers.calls import LONGEST_PAUSE, SECONDS_WHEN_GONE, Call, CallRun, run_call
from edgewise.workers.executors import Completed, PoolExecutor, Shared, Stored, stored_value


class LostError(Exception):
    """What a future raises whose worker died."""


class GoneError(Exception):
    """What a future raises whose arguments are gone."""


class ClosedError(Exception):
    """What a future raises when no worker is there any more."""


class Inline:
    """An executor that does calls at once, and remembers how many were begun before the first ended."""

    slots, sharing, machines, memory = 2, 1, 1, 0
    lost, gone, closed = (LostError,), (GoneError,), (ClosedError,)

    def __init__(self):
        self.submitted = 0

    def submit(self, function, *arguments):
        self.submitted += 1
        future = Future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future

    def gather(self, calls):
        return [call.result() for call in calls]

    def as_completed(self, calls):
        return Completed(calls)


def calls_of(function, count=6):
    return [Call(number, function, (number,), f"call {number}") for number in range(count)]


def failing(error, times, at=3):
    """A function that raises so many times at one number, and the numbers it was called with."""
    seen = []

    def function(number):
        seen.append(number)
        if number == at and seen.count(at) <= times:
            raise error("no luck")
        return number**2

    return function, seen


@pytest.fixture
def seconds(monkeypatch):
    """A clock that only pauses move."""
    now = [0.0]
    monkeypatch.setattr(calls, "monotonic", lambda: now[0])
    monkeypatch.setattr(calls, "sleep", lambda pause: now.append(now.pop() + pause))
    return now


@pytest.mark.parametrize("error, times", ((ValueError, 1), (LostError, 1), (GoneError, 12)))
def test_a_call_is_done_again(error, times, seconds):
    function, seen = failing(error, times)
    run = CallRun(Inline(), "start again")
    found = {call.name: result for call, result in run.results(calls_of(function))}
    assert found == {number: number**2 for number in range(6)}
    assert len(seen) == 6 + times


def test_calls_whose_arguments_are_gone_together_pause_once(seconds):
    gone, seen = set(), []

    def function(number):
        seen.append(number)
        if number not in gone:
            gone.add(number)
            raise GoneError("no luck")
        return number**2

    run = CallRun(Inline(), "start again")
    found = {call.name: result for call, result in run.results(calls_of(function))}
    assert found == {number: number**2 for number in range(6)} and len(seen) == 12
    assert seconds[0] < 0.1 * len(found)


@pytest.mark.parametrize(
    "error, words",
    (
        (ValueError, r"^call 3 failed 2 times \(ValueError: no luck\); start again$"),
        (LostError, r"^workers died again and again while they did call 3, probably of too little memory; "),
        (GoneError, r"^workers died again and again while they did call 3, "),
        (ClosedError, r"^the workers cannot be reached any more \(no luck\); start again$"),
    ),
)
def test_a_call_that_fails(error, words, seconds):
    with pytest.raises(WorkerError, match=words):
        list(CallRun(Inline(), "start again").results(calls_of(failing(error, 99)[0])))
    waited = SECONDS_WHEN_GONE if error is GoneError else 0
    assert waited <= seconds[0] <= waited + LONGEST_PAUSE


def test_errors_of_edgewise_and_final_ones():
    def damaged(number):
        raise FileError("part.npy", "is damaged")

    with pytest.raises(FileError, match=r"part\.npy: is damaged") as caught:
        list(CallRun(Inline(), "start again").results(calls_of(damaged)))
    assert caught.value.__notes__ == ["call 0 failed 2 times; start again"]
    for error, final in ((OptionError, ()), (KeyError, (KeyError,))):
        function, seen = failing(error, 9)
        with pytest.raises(error):
            list(CallRun(Inline(), "start again", final).results(calls_of(function)))
        assert seen.count(3) == 1


def test_calls_begin_when_they_are_ready_and_few_at_a_time():
    executor, done = Inline(), []
    results = CallRun(executor, "").results(calls_of(abs), lambda call: call.name - 1 <= len(done))
    next(results)
    assert executor.submitted == 2  # 0 and 1
    done.append(0)
    next(results)
    assert executor.submitted == 3
    done += range(9)
    assert len(list(results)) == 4


def test_a_run_that_is_given_up_cancels_its_calls():
    class Slow(Inline):
        """An executor that does the first call only."""

        def __init__(self):
            self.futures = []

        def submit(self, function, *arguments):
            self.futures.append(super().submit(function, *arguments) if not self.futures else Future())
            return self.futures[-1]

        submitted = 0

    executor = Slow()
    results = CallRun(executor, "").results(calls_of(abs, 20))
    assert next(results)[1] == 0
    results.close()
    assert [future.cancelled() for future in executor.futures] == [False, True, True, True]


def test_another_version_is_refused():
    with pytest.raises(WorkerError, match=r"has edgewise .*, and the caller 0\.0\.1"):
        run_call("0.0.1", 1, abs, -3)
    assert run_call(ew.__version__, 1, abs, -3) == 3


def test_arrays_are_usable_wherever_they_arrive():
    class Rows(Shared):
        def __init__(self, arrays):
            self.arrays, self.pair = arrays, Call("rows", abs, arrays, "")

    odd = np.frombuffer(bytes(25), np.uint8)[1:].view(np.int64)
    assert not (odd.flags.aligned or odd.flags.writeable)
    right, rows = np.arange(3), Rows((odd,))
    rows.__setstate__({"arrays": (odd, right, None), "pair": rows.pair, "name": "x"})
    assert rows.arrays[1] is right and rows.arrays[2] is None and rows.name == "x"
    assert isinstance(rows.pair, Call) and rows.pair.arguments[0].flags.aligned
    assert rows.arrays[0].flags.aligned and rows.arrays[0].flags.writeable and not rows.arrays[0].any()


def total(array, factor):
    return factor * int(array.sum()), id(array)


def test_processes_read_a_value_once():
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        executor = PoolExecutor(pool)
        value = executor.scatter(np.arange(1000))
        assert isinstance(value, Stored)
        found = executor.gather([executor.submit(total, value, factor) for factor in (1, 2)])
        assert [one[0] for one in found] == [499500, 999000]
        assert found[0][1] == found[1][1]  # the same array, as it is read once
    path = Path(value.path)
    assert stored_value(value.path)[-1] == 999
    del value
    assert not path.exists()
    with ThreadPoolExecutor(1) as pool:
        array = np.arange(3)
        assert PoolExecutor(pool).scatter(array) is array


def test_few_calls_share_all_cores():
    shared = []

    class Sharing(Inline):
        slots, sharing, machines, memory = 4, 4, 1, 0

        def submit(self, function, *arguments):
            shared.append(arguments[1])
            return super().submit(function, *arguments)

    before = threads.count()
    for count in (1, 3, 6):
        list(CallRun(Sharing(), "").results(calls_of(int, count)))
    assert shared == [1] + 3 * [3] + 6 * [4]
    assert threads.count() == before
