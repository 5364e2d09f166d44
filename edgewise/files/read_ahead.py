"""Working ahead: a thread makes the next items while the caller uses the last one."""

from queue import Empty, Queue
from threading import Thread

#: Items made ahead, besides the one in the making.
AHEAD = 1


def ahead(items):
    """Yield the items of an iterable that a thread runs through.

    An error of the iterable is raised here.  When the caller stops early, the thread stops after the item it
    is at, and this waits for it.
    """
    made, given_up = Queue(AHEAD), []
    thread = Thread(target=_make, args=(items, made, given_up), name="edgewise-ahead", daemon=True)
    thread.start()
    try:
        while True:
            item, error = made.get()
            if error is not None:
                raise error
            if item is None:
                return
            yield item
    finally:
        given_up.append(True)
        while thread.is_alive():
            try:
                made.get_nowait()
            except Empty:
                thread.join(0.01)


def _make(items, made, given_up):
    try:
        for item in items:
            made.put((item, None))
            if given_up:
                return
        made.put((None, None))
    except BaseException as error:
        made.put((None, error))
