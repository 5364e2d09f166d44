"""Nested scopes that say where the time went.

    with recording() as tree:
        with timer("read"):
            with timer("decode"):
                ...
    print(tree)

Scopes follow the rooms, and the same scope entered again adds to its line.  Nothing is measured, and next
to nothing spent, outside :func:`recording`.
"""

from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from time import perf_counter

_NOTHING = nullcontext()
_open_scope: ContextVar = ContextVar("open_scope", default=None)


class Scope:
    """A named stretch of time, and the scopes ``inside`` it by name, in order of first entry.

    ``seconds`` are the total over all ``entries``, the number of times that the scope was entered.
    """

    def __init__(self, name, settle=None):
        self.name, self.settle = name, settle
        self.seconds, self.entries, self.inside = 0.0, 0, {}

    def __getitem__(self, name) -> "Scope":
        """The scope ``name`` inside this one, made when first asked for."""
        return self.inside.setdefault(name, Scope(name, self.settle))

    def lines(self, depth=0):
        """Yield one line a scope, indented by depth, with seconds and, if above one, entries."""
        times = f"  x{self.entries}" if self.entries > 1 else ""
        yield f"{'  ' * depth + self.name:<32}{self.seconds:>10.3f} s{times}"
        for scope in self.inside.values():
            yield from scope.lines(depth + 1)

    def __str__(self):
        return "\n".join(self.lines())


def timer(name):
    """Context whose time is added to the scope ``name`` of the scope it stands in."""
    outer = _open_scope.get()
    return _NOTHING if outer is None else _entered(outer[name])


@contextmanager
def recording(name="total", settle=None):
    """Context in which :func:`timer` measures; gives the outermost :class:`Scope`.

    ``settle``, such as a wait for a GPU's queue, is called before a clock is read.
    """
    with _entered(Scope(name, settle)) as scope:
        yield scope


@contextmanager
def _entered(scope):
    token = _open_scope.set(scope)
    start = perf_counter()
    try:
        yield scope
    finally:
        if scope.settle is not None:
            scope.settle()
        scope.seconds += perf_counter() - start
        scope.entries += 1
        _open_scope.reset(token)
