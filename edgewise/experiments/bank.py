"""What transactions cost: transfers between accounts by every protocol, by locks, and by plain atomics.

A transfer takes an amount from one random account and gives it to another.  With many accounts hardly any two
transfers meet; with few, nearly all do.  Beside the protocols stand

* *atomics*: two atomic additions, which nobody sees together, and which cannot refuse a transfer;
* *sorted locks*: a lock for each account, taken in ascending order, as one would write it by hand.

The estimate is that of the threaded many-core memory model (:mod:`~edgewise.experiments.machine_model`), from
the memory transfers of a transfer without conflicts.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, cas, device, each, fence, fetch_add, launch, load, store, threads
from edgewise.device.spin import relax
from edgewise.errors import VerificationError
from edgewise.experiments.graphs import SIZES
from edgewise.experiments.machine_model import machine_of, seconds
from edgewise.experiments.report import Figure, Table, curves, headings
from edgewise.transactions import PROTOCOLS, TransactionalMemory, read, write

#: Accounts of the cold, warm and hot cases, and transfers of each.
ACCOUNTS = {"cold": 10_000_000, "warm": 100_000, "hot": 1_000}
TRANSFERS = {"cold": 4_000_000, "warm": 4_000_000, "hot": 400_000}
#: Protocols whose retries are measured.
RETRIED = ("wound-wait", "tl2")
#: Looks at a word before an attempt fails.
PATIENCE = (0, 32, 1000)
#: Numbers by which the default number of slots is divided.
SLOTS = (1, 8, 64)
#: Money of an account at first.
BALANCE = 1000
#: Money that a transfer moves.
AMOUNT = 3
#: Looks at a lock before a thread gives up.
LOOKS = 10_000_000
#: Memory transfers of a transfer between two accounts.
MOVED = {"atomics": 4, "sorted locks": 12, "wound-wait": 12, "pessimistic": 12}


class Transfers(NamedTuple):
    """From which account to which, (count,) int64 arrays."""

    sources: Any
    targets: Any


def transfer(tx, number, transfers):
    """Transaction: move the amount unless the account has too little."""
    source, target = transfers.sources[number], transfers.targets[number]
    balance = read(tx, source)
    if balance >= AMOUNT:
        write(tx, source, balance - AMOUNT)
        write(tx, target, read(tx, target) + AMOUNT)


@each
def add_both(number, transfers, accounts):
    """Two atomic additions, which are no transaction."""
    fetch_add(accounts, transfers.sources[number], -AMOUNT)
    fetch_add(accounts, transfers.targets[number], AMOUNT)


@device
def lock(locks, account, timed_out):
    """Take a lock; whether it was free within LOOKS."""
    for _ in range(LOOKS):
        if load(locks, account) == 0 and cas(locks, account, 0, 1) == 0:
            fence()
            return True
        relax()
    store(timed_out, 0, 1)
    return False


@each
def with_locks(number, transfers, accounts, locks, timed_out):
    """A transfer under the locks of both accounts."""
    source, target = transfers.sources[number], transfers.targets[number]
    first, second = min(source, target), max(source, target)
    if lock(locks, first, timed_out):
        if first == second or lock(locks, second, timed_out):
            balance = load(accounts, source)
            if balance >= AMOUNT:
                store(accounts, source, balance - AMOUNT)
                store(accounts, target, load(accounts, target) + AMOUNT)
            fence()
            if first != second:
                store(locks, second, 0)
        store(locks, first, 0)


class Bank(NamedTuple):
    """Accounts at the beginning, and transfers; on one device."""

    name: str
    n_accounts: int
    n_transfers: int
    transfers: Transfers
    device: str

    def accounts(self):
        """A new array of balances."""
        return arrays.full(self.n_accounts, BALANCE, np.int64, self.device)


def bank_of(watch, name):
    """The bank of a case, smaller at smaller sizes."""
    divisor, fewest = SIZES[watch.size]
    shrink = 1 if name == "hot" else divisor
    n_accounts = max(ACCOUNTS[name] // shrink, fewest)
    count = max(TRANSFERS[name] // divisor, fewest)
    rng = np.random.default_rng(1)
    ends = (arrays.move(rng.integers(0, n_accounts, count), watch.device) for _ in range(2))
    return Bank(name, n_accounts, count, Transfers(*ends), watch.device)


def timed(watch, bank, what, run):
    """Milliseconds of ``run(accounts)``, after which no money may be missing."""

    def solve():
        accounts = bank.accounts()
        clocked = watch.clocked(lambda: run(accounts))
        _, seconds = clocked()
        total = int(arrays.move(accounts, "cpu").sum())
        if total != BALANCE * bank.n_accounts:
            raise VerificationError(
                f"{what}: {total} instead of {BALANCE * bank.n_accounts}; report this as a bug"
            )
        return accounts[:0], seconds

    return watch.time(f"bank, {bank.name}", what, solve)["ms"]


def run_with_locks(bank, locks, accounts):
    """All transfers under locks; locks[-1] is set if a thread has given up."""
    with_locks(bank.n_transfers, bank.transfers, accounts, locks, locks[bank.n_accounts :])


def by_protocol(watch, bank, protocol, **options):
    """Milliseconds and statistics of the transfers by a protocol."""
    last = []

    def run(accounts):
        memory = TransactionalMemory(accounts, protocol=protocol, log=2, **options)
        last.append(memory.run(transfer, bank.n_transfers, bank.transfers))

    shown = " ".join(f"{key}={value}" for key, value in options.items())
    ms = timed(watch, bank, f"{protocol} {shown}".strip(), run)
    return ms, last[-1]


def protocols(watch):
    """Commits a second and abort rates of every protocol, beside atomics and sorted locks."""
    rows = []
    for name in watch.wanted(*ACCOUNTS):
        bank = bank_of(watch, name)
        locks = arrays.zeros(bank.n_accounts + 1, np.int32, bank.device)
        plain = {
            "atomics": partial(add_both, bank.n_transfers, bank.transfers),
            "sorted locks": partial(run_with_locks, bank, locks),
        }
        times = {what: (timed(watch, bank, what, run), None) for what, run in plain.items()}
        if int(locks[-1]):  # some transfers have not been made, so the time means nothing
            del times["sorted locks"]
        for protocol in PROTOCOLS:
            if name != "hot" or protocol != "reservations":
                times[protocol] = by_protocol(watch, bank, protocol)
        rows += [_row(bank, what, ms, done, times["atomics"][0]) for what, (ms, done) in times.items()]
    return Table(
        "protocols",
        "Transfers between two of many, some and few accounts",
        "beyond the thesis; bank benchmark of CSMV and PR-STM",
        headings(
            "case | accounts | protocol | rate: M commits/s | slower: over atomics, x | "
            "abort_rate: abort rate | first: aborted at first, % | wounds | launches | "
            "model: estimate, M/s | off: estimate/measured, x"
        ),
        rows,
        [],
        [
            Figure(
                "protocols",
                "Transfers a second",
                "accounts",
                "M commits/s",
                curves(rows, "case", "rate", lambda row: row["protocol"]),
                steep=True,
            ),
            Figure(
                "aborts",
                "Attempts that fail",
                "accounts",
                "abort rate",
                curves(
                    [row for row in rows if "wounds" in row],
                    "case",
                    "abort_rate",
                    lambda row: row["protocol"],
                ),
            ),
        ],
    )


def _row(bank, what, ms, done, atomics):
    row = {
        "case": bank.name,
        "accounts": bank.n_accounts,
        "protocol": what,
        "rate": bank.n_transfers / ms / 1e3,
        "slower": ms / atomics,
        "model": model(what, bank.device) if bank.name == "cold" else None,
    }
    if row["model"]:
        row["off"] = row["model"] / row["rate"]
    if done is not None:
        row |= {
            "abort_rate": done.abort_rate,
            "first": 100 * done.first_attempt_aborts / bank.n_transfers,
            "wounds": done.wounds,
            "launches": done.launches,
        }
    return row


def model(what, device):
    """Millions of transfers a second by the model, without conflicts; ``None`` if unknown."""
    machine = machine_of(device)
    if machine is None or what not in MOVED:
        return None
    return 1e-6 / seconds(machine, transfers=MOVED[what])


def retries(watch):
    """Abort rates by retry policy: an abort rate without its policy means nothing."""
    rows = []
    for name in watch.wanted("warm", "hot"):
        bank = bank_of(watch, name)
        full = threads.count() if bank.device == "cpu" else launch.processors(bank.device) * 512
        for protocol in RETRIED:
            for fraction in SLOTS:
                for patience in PATIENCE if fraction == 1 else PATIENCE[:1]:
                    slots = max(1, full // fraction)
                    options = {"slots": slots, "patience": patience}
                    ms, done = by_protocol(watch, bank, protocol, **options)
                    row = _row(bank, protocol, ms, done, ms) | options
                    rows.append(row | {"longest": int(done.tried.max())})
    return Table(
        "retries",
        "Abort rates by retry policy",
        "Manoochehri 2017 reports abort rates without one",
        headings(
            "case | accounts | protocol | slots | patience | rate: M commits/s | abort_rate: abort rate | "
            "first: aborted at first, % | longest: most attempts | launches"
        ),
        rows,
        ["abort rates of the thesis: 0.01 to 0.77, tried again at once, of an unknown number at a time"],
    )
