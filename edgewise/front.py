"""What every public function takes beside its own arguments: threads, memory, and a display of progress.

The decorator :func:`front` adds them to the signature and to the documentation of a function, and acts on
them, so that no function repeats them.  For type checkers a function declares them as
``**options: Unpack[CallOptions]``, or by a class that derives from :class:`CallOptions` and has the options
of its methods, which the signature then shows too.  What is done inside reports to :func:`reporter`, through
any number of calls.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from importlib import import_module
from time import perf_counter
from typing import Any, ParamSpec, TypedDict, TypeVar

from edgewise import memory, notices
from edgewise.errors import OptionError, argument, check_names, warn

P = ParamSpec("P")
R = TypeVar("R")

#: Called with the work that is done, and all of it (``None`` if that is not known).
Progress = Callable[[float, float | None], Any]
#: Vertices and edges of a graph from which a call is asked what it needs though no limit is given.
MANY = 1 << 20
#: Seconds between two states of a bar.
PAUSE = 0.1
#: Width of a bar in characters.
WIDTH = 24


class CallOptions(TypedDict, total=False):
    """What every public function takes beside its own arguments.

    Attributes
    ----------
    threads : int or None
    memory : number, str or None
    progress : bool, callable or None
    """

    threads: int | None
    memory: float | str | None
    progress: bool | Progress | None


DESCRIPTION = """\
threads : int, optional
    Threads of the CPU for this call; by default those that Numba has, one per core.
memory : number or str, optional
    Bytes, or text such as ``"4 GB"``: what the process may hold in all.  A call of which
    :meth:`Graph.estimate` says that it needs more raises OutOfMemoryError before it begins.
progress : bool or callable, optional
    ``True`` shows a bar while the call runs, on a terminal or in a notebook.  A callable is called with the
    work that is done and with all of it, or once, with ``(1, 1)``, where the work has no parts to count."""

_NAMES = CallOptions.__optional_keys__
_reporter: ContextVar[Progress | None] = ContextVar("reporter", default=None)


def front(function: Callable[P, R], choose_weights: Callable[..., Any] | None = None) -> Callable[P, R]:
    """Give a public function the arguments of :class:`CallOptions`.

    If ``weight`` is given, ``choose_weights(*args, weight, **kwargs)`` returns the arguments with the graph
    that has these weights (:func:`edgewise.weights.weighted_front`).

    Examples
    --------
    >>> @front
    ... def double(number, **options: Unpack[CallOptions]):
    ...     "Double a number."
    ...     return 2 * number
    >>> double(3, threads=1)
    6
    >>> list(inspect.signature(double).parameters)
    ['number', 'threads', 'memory', 'progress']
    """
    own = inspect.signature(function)
    shown = list(own.parameters.values())
    others = shown.pop() if shown[-1].kind is inspect.Parameter.VAR_KEYWORD else None
    kind = CallOptions if others is None else _kind_of(function, others)
    given = {parameter.name for parameter in shown}
    added = [one for one in _parameters_of(kind or CallOptions) if one.name not in given]
    call_options = [one for one in added if one.name in _NAMES]
    of_methods = [one for one in added if one.name not in _NAMES]
    shown = [*shown, *of_methods, *call_options]
    unset = frozenset(one.name for one in of_methods)
    known = {parameter.name: None for parameter in shown}
    accepted = known.keys() | (kind.__optional_keys__ if kind else set())

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if kind is not None and not kwargs.keys() <= accepted:
            check_names(function.__name__, [name for name in kwargs if name not in accepted], known)
        for name in unset & kwargs.keys():
            if kwargs[name] is None:
                del kwargs[name]
        if choose_weights is not None and "weight" in kwargs:
            args, kwargs = choose_weights(*args, **kwargs)
        if not kwargs.keys() & _NAMES:
            return _checked(function, args, kwargs)
        n_threads, most, progress = (kwargs.pop(name, None) for name in ("threads", "memory", "progress"))
        with _limited(n_threads), memory.limited(most), _reporting(progress, function.__name__):
            return _checked(function, args, kwargs)

    tail = [others] if others is not None and kind is None else []
    call.__signature__ = own.replace(parameters=[*shown, *tail])  # type: ignore[attr-defined]
    if function.__doc__ is not None:
        call.__doc__ = described(inspect.cleandoc(function.__doc__), DESCRIPTION)
    return call


def named(function: Callable[P, R]) -> Callable[P, R]:
    """Give a public function without :class:`CallOptions` an error that suggests the argument that was meant.

    Examples
    --------
    >>> @named
    ... def half(number=1):
    ...     return number / 2
    >>> half(numbr=3)
    Traceback (most recent call last):
    edgewise.errors.ArgumentError: half() has no option 'numbr'; did you mean number? It has number
    """
    known = {name: None for name in inspect.signature(function).parameters if name != "cls"}

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if not kwargs.keys() <= known.keys():
            check_names(function.__name__, kwargs, known)
        return function(*args, **kwargs)

    return call


def reporter() -> Progress | None:
    """What the work of the current call is reported to, or ``None``."""
    return _reporter.get()


def described(text: str, added: str) -> str:
    """A docstring with the description of arguments behind the function's own ones, before its options."""
    lines = text.split("\n")
    if "Parameters" not in lines:
        return text
    start = lines.index("Parameters") + 2
    titles = [row for row in range(start, len(lines)) if lines[row].startswith("---")]
    end = titles[0] - 2 if titles else len(lines)
    place = next((row for row in range(start, end) if lines[row].startswith("**")), end)
    return "\n".join([*lines[:place], *added.split("\n"), *lines[place:]])


def _parameters_of(kind):
    """The options of a class as parameters, without those that are there to be refused."""
    for name, of in kind.__annotations__.items():
        words = getattr(of, "__forward_arg__", of)
        if words != "Never":
            shown = words if "None" in words else f"{words} | None"
            yield inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=shown)


def _kind_of(function, others):
    """The class of the options ``**others`` of a function; ``None`` if it checks their names itself."""
    name = str(others.annotation).removeprefix("Unpack[").removesuffix("]")
    kind = inspect.unwrap(function).__globals__.get(name)
    return kind if hasattr(kind, "__optional_keys__") else None


def _checked(function, args, kwargs):
    """Call a function, unless it is known that it needs more memory for a graph than the limit allows.

    Calls for small graphs are asked only if a limit was given.  An estimate that fails stops no call.
    """
    if memory.given() is None and not _is_large(args[0] if args else kwargs.get("graph")):
        return function(*args, **kwargs)
    fault = import_module("edgewise.needs").check_call(function.__name__, args, kwargs)
    result = function(*args, **kwargs)
    if fault is not None:  # of the estimate, since the call has had none
        warn(
            f"what {function.__name__}() needs in memory could not be estimated ({fault!r}); please report it"
        )
    return result


def _is_large(graph):
    """Whether a graph has so many vertices and edges that a call is asked though no limit is given."""
    columns = getattr(graph, "_edges", None) or getattr(graph, "_rows", None)
    return columns is not None and graph.n_vertices + len(columns[1]) >= MANY


@contextmanager
def _limited(n_threads: Any) -> Iterator[None]:
    """Context in which loops of this thread use so many threads."""
    if n_threads is None:
        yield
        return
    from edgewise.device import threads

    with threads.limited(n_threads):
        yield


@contextmanager
def _reporting(progress: Any, name: str) -> Iterator[None]:
    """Context whose work is reported to a callable, or to a bar."""
    if progress is None or progress is False:
        yield
        return
    if progress is not True and not callable(progress):
        raise OptionError(f"{argument('progress', progress)} must be True, False or a callable")
    with _bar(name.replace("_", " ")) if progress is True else _completed(progress) as report:
        token = _reporter.set(report)
        try:
            yield
        finally:
            _reporter.reset(token)


@contextmanager
def _completed(progress: Progress) -> Iterator[Progress]:
    """Context that calls a callable at its end if nothing else has called it."""
    calls = 0

    def report(done: float, total: float | None) -> None:
        nonlocal calls
        calls += 1
        progress(done, total)

    yield report
    if not calls:
        progress(1, 1)


@contextmanager
def _bar(text: str) -> Iterator[Progress]:
    """Context that shows a bar on stderr; nothing if that is neither a terminal nor a notebook."""
    if not (sys.stderr.isatty() or "ipykernel" in sys.modules):
        yield lambda done, total: None
        return
    line, others, drawn_at = _Line(), notices.listener, perf_counter()

    def show_kernel(kernel: str) -> None:
        line.draw(f"{text}, compiling {kernel}" if kernel else text)

    def report(done: float, total: float | None) -> None:
        nonlocal drawn_at
        if (now := perf_counter()) - drawn_at >= PAUSE:
            drawn_at = now
            line.draw(f"{text} {done:,}" if total is None else f"{text} {bar_of(done, total)}")

    notices.listener = show_kernel
    line.draw(text)
    try:
        yield report
    finally:
        notices.listener = others
        line.draw("")


class _Line:
    """A line of stderr that is drawn again and again."""

    length = 0

    def draw(self, text: str) -> None:
        """Replace the line by ``text``, and leave the cursor at its start if there is no text."""
        sys.stderr.write(f"\r{text.ljust(self.length)}" + "\r" * (not text))
        sys.stderr.flush()
        self.length = len(text)


def bar_of(done: float, total: float) -> str:
    """A bar, and the share in percent.

    Examples
    --------
    >>> bar_of(1, 4)
    '[######                  ]  25 %'
    """
    share = min(1.0, done / total) if total else 1.0
    return f"[{'#' * int(share * WIDTH):<{WIDTH}}] {share:4.0%}".replace("%", " %")
