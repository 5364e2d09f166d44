"""Work ahead of the caller, in order: items of one iterable, of several at once, or of a function.

Errors are raised where the item would be, and the threads stop when the caller does.
"""

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from math import inf
from queue import Empty, Queue
from threading import Thread

#: Items that are made ahead, besides the one in the making.
AHEAD = 1
#: The same in each of several threads, of which the caller uses one at a time.
AHEAD_IN_PIECE = 4
#: Pieces for each thread that are begun before the first one is through, if any number of items may wait.
PIECES_AHEAD = 4


def in_order(function, items, workers, name):
    """Yield ``function(item)`` of the items in order, which ``workers`` threads compute at the same time.

    One worker is the caller, and nothing is ahead.
    """
    if workers == 1:
        yield from map(function, items)
        return
    pool = ThreadPoolExecutor(workers, name)
    waiting: deque = deque()
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > workers + 1:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def read_ahead(items, meanwhile=lambda: None):
    """Yield the items of an iterable that a thread makes while the caller uses the last one.

    The iterable's errors are raised here.  If the caller stops early, this waits for the thread's item, and
    the thread closes a generator.  While the first item is made, ``meanwhile`` is called.
    """
    made: Queue = Queue(AHEAD)
    stopped: list[bool] = []
    thread = Thread(target=_make, args=(items, made, stopped), name="edgewise-ahead", daemon=True)
    thread.start()
    try:
        meanwhile()
        while True:
            item, error = made.get()
            if error is not None:
                raise error
            if item is None:
                return
            yield item
    finally:
        stopped.append(True)
        while thread.is_alive():
            try:
                made.get_nowait()
            except Empty:
                thread.join(0.01)


def read_in_parallel(pieces, workers, meanwhile=lambda: None, ahead=AHEAD_IN_PIECE, most_bytes=inf):
    """Yield the items of several iterables in order, while threads run through ``workers`` of them at once.

    ``pieces`` are pairs: the bytes that a piece holds while it is read, and a function that returns the
    iterable.  No further piece is begun while those that are would hold more than ``most_bytes`` with it.
    Errors are raised where the item would be, and the threads stop if the caller does.  Once so many pieces
    are begun, ``meanwhile`` is called.  Of a piece at most ``ahead`` items wait for the caller; any number of
    them if that is 0.
    """
    pool = ThreadPoolExecutor(workers, "edgewise-ahead")
    most = workers if ahead else PIECES_AHEAD * workers
    waiting: deque = deque()
    stopped: list[bool] = []
    number = held = 0
    try:
        for number, (size, piece) in enumerate(pieces, 1):
            while waiting and (len(waiting) > most or held + size > most_bytes):
                yield from _items(waiting[0][0])
                held -= waiting.popleft()[2]
            made: Queue = Queue(ahead)
            waiting.append((made, pool.submit(_make_piece, piece, made, stopped), size))
            held += size
            if number == workers:
                meanwhile()
        if number < workers:
            meanwhile()
        while waiting:
            yield from _items(waiting[0][0])
            waiting.popleft()
    finally:
        stopped.append(True)
        pool.shutdown(wait=False, cancel_futures=True)
        for made, future, _ in waiting:
            while not future.done():
                with suppress(Empty):
                    made.get(timeout=0.01)
        pool.shutdown()


def _items(made):
    while True:
        item, error = made.get()
        if error is not None:
            raise error
        if item is None:
            return
        yield item


def _make_piece(piece, made, stopped):
    try:
        items = piece()
    except BaseException as error:
        made.put((None, error))
    else:
        _make(items, made, stopped)


def _make(items, made, stopped):
    try:
        for item in items:
            made.put((item, None))
            if stopped:
                break
        if hasattr(items, "close"):
            items.close()
        made.put((None, None))
    except BaseException as error:
        made.put((None, error))
