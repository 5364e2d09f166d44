"""The protocols under the deterministic scheduler, and broken ones, every one of which is caught."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from edgewise.device.explorer import preemptible
from edgewise.errors import OptionError, VerificationError
from edgewise.transactions import PROTOCOLS, Protocol, check_body, check_protocol, read, runner, write
from edgewise.transactions import interleavings as page
from edgewise.transactions.workloads import WORKLOADS
from tests import jitter
from tests.transactions.broken import BROKEN
from tests.transactions.variants import RIGHT

pytestmark = [pytest.mark.interpreter, pytest.mark.interpreted]
LONGER = [name for name in WORKLOADS if name not in page.HOT]


def name_of(protocol):
    return protocol.name


@pytest.mark.parametrize("protocol", [*PROTOCOLS.values(), *RIGHT], ids=name_of)
def test_right_protocols_pass(protocol):
    checked = check_protocol(protocol, seeds=range(page.SEEDS // 3))
    assert checked.histories == 3 * checked.seeds and checked.commits == page.COUNT * checked.histories
    assert checked.aborts > 0
    check_protocol(protocol, seeds=range(4), workloads=LONGER)


@pytest.mark.parametrize("protocol", BROKEN, ids=name_of)
def test_broken_protocols_are_caught(protocol):
    with pytest.raises(VerificationError, match=r"seed \d+, workload '.*': ") as caught:
        check_protocol(protocol)
    _, seed, _, workload = str(caught.value).partition(":")[0].replace(",", "").split(maxsplit=3)
    with pytest.raises(VerificationError) as again:
        check_protocol(protocol, seeds=[int(seed)], workloads=[workload.strip("'")])
    assert str(again.value) == str(caught.value)


@pytest.mark.parametrize("protocol", ["wound-wait", "pessimistic"])
def test_a_careless_operation_is_caught(protocol, monkeypatch):
    def careless(body, kind):
        return preemptible(runner.slot_of(body, kind), cas=jitter.careless_cas)

    monkeypatch.setattr(page, "_slot_of", careless)
    with pytest.raises(VerificationError):
        check_protocol(protocol)


def sell(tx, number, wanted, sold):
    """Sell seats of one of two trains, if both trains together have that many."""
    left = read(tx, 0) + read(tx, 1)
    sold[number] = 0
    if left >= wanted[number]:
        train = number % 2
        write(tx, train, read(tx, train) - wanted[number])
        sold[number] = wanted[number]


def is_not_oversold(words, wanted, sold):
    return words.sum() >= 0 and words.sum() + sold.sum() == 8


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_bodies_of_users(dtype):
    words, wanted, sold = np.full(2, 4, dtype), np.arange(9) % 3 + 1, np.zeros(9, np.int64)
    for protocol in PROTOCOLS:
        checked = check_body(
            sell, words, 9, wanted, sold, protocol=protocol, holds=is_not_oversold, seeds=range(8)
        )
        assert (checked.histories, checked.seeds, checked.commits) == (8, 8, 72)
    assert words.tolist() == [4, 4] and not sold.any()
    with pytest.raises(VerificationError, match=r"^seed 0: "):
        check_body(sell, words, 9, wanted, sold, protocol=BROKEN[0])
    with pytest.raises(VerificationError, match=r"^seed 0: holds\(\) is false"):
        check_body(sell, words, 9, wanted, sold, holds=lambda words, wanted, sold: words.sum() > 8)


def overflow(tx, number):
    write(tx, 0, read(tx, 0) + 2**31)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: check_protocol("tl3"), "protocol='tl3' is unknown"),
        (lambda: check_protocol("tl2", workloads=["bank"]), "workload='bank' is unknown"),
        (lambda: check_protocol("tl2", seeds=()), "give some"),
        (lambda: check_body(overflow, np.zeros(1, np.int64), 1), "2147483648 has more than 32 bits"),
        (lambda: check_body(overflow, np.full(1, 2**40), 1), "1099511627776 has more than 32 bits"),
        (lambda: check_body(overflow, np.zeros(1, np.int64), -1), "count=-1 "),
        (lambda: check_body(overflow, np.zeros(1, np.int64), 1.5), "count=1.5 "),
        (lambda: check_body(overflow, [1], 1), "words are a one-dimensional array"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(OptionError, match=message):
        call()


def wait_for_ever(tx, number):
    while read(tx, 0) == 0:
        pass


def fall(tx, number, values):
    values[read(tx, 0) + len(values)] = 1


def test_what_never_ends_and_what_raises_is_told():
    words = np.zeros(1, np.int64)
    with pytest.raises(
        VerificationError, match=r"seed 3: NoProgress: transaction . has made 10,000 accesses"
    ):
        check_body(wait_for_ever, words, 2, protocol="tl2", seeds=[3])
    with pytest.raises(VerificationError, match="seed 3: IndexError"):
        check_body(fall, words, 2, np.zeros(2), seeds=[3])


class Begun(NamedTuple):
    memory: Any
    log: Any
    slot: Any
    number: Any


def test_a_protocol_without_operations_is_told():
    with pytest.raises(VerificationError, match="TypeError: begin has no implementation for Begun"):
        check_protocol(Protocol("none", "", "", Begun, 0))
