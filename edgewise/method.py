"""What a method of any problem is, and the checks that every public function makes before it runs one.

Each problem has a table ``METHODS`` of these records.  Tests, the command line, the documentation and the
benchmarks are derived from the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays
from edgewise.errors import GraphError, OptionError, argument, closest, one_of
from edgewise.graph import Graph
from edgewise.needs import Term

#: Whole numbers given as options are smaller than this.
MAX_WHOLE = 2**31
#: What makes a graph of other things, by the names of their types or libraries.
MAKERS = dict.fromkeys(("pandas", "polars", "pyarrow", "duckdb", "dict"), "Graph.from_frame")
MAKERS |= dict.fromkeys(("numpy", "torch", "list", "tuple"), "Graph.from_edges")
MAKERS |= dict.fromkeys(("str", "PosixPath", "WindowsPath"), "edgewise.read")
MAKERS |= {name: f"Graph.from_{name}" for name in ("networkx", "igraph", "scipy")}
#: The kinds of device in words, for messages.
DEVICES = {"cpu": "the CPU", "cuda": "a GPU"}


class Option(NamedTuple):
    """One option of a method: a number, or one of several names.

    Attributes
    ----------
    least : int
        Smallest value of a number; 0 for a real number means: larger than 0.
    whole : bool
        Whether the number must be an integer.
    choices : tuple of str or bool
        Values to choose from; a number is wanted if there are none.
    below : int
        Whole numbers must be smaller than this.
    """

    least: int = 1
    whole: bool = True
    choices: tuple[str | bool, ...] = ()
    below: int = MAX_WHOLE

    def check(self, name: str, value: Any) -> None:
        """Raise :class:`~edgewise.errors.OptionError` unless ``value`` is allowed."""
        if self.choices:
            if value not in self.choices:
                choices = map(str, self.choices)
                raise OptionError(f"{argument(name, value)} is unknown; {one_of(value, choices)}")
            return
        if not is_number(value, self.whole) or not (value >= self.least if self.whole else value > 0):
            wanted = (
                f"a whole number, {self.least} or more"
                if self.whole and self.least != 1
                else f"a {'whole ' * self.whole}number larger than 0"
            )
            raise OptionError(f"{argument(name, value)} must be {wanted}")
        if self.whole and value >= self.below:
            raise OptionError(
                f"{argument(name, value)} must be smaller than 2**{self.below.bit_length() - 1}"
            )


#: A real number larger than 0.
POSITIVE = Option(0, whole=False)


@dataclass(frozen=True)
class Driver:
    """A function that an entry of a table names by its page, which the first call imports.

    Attributes
    ----------
    name : str
        The page and the function, as in ``"edgewise.forest.kruskal:kruskal"``.
    """

    name: str

    def load(self) -> Callable[..., Any]:
        """Import the page, and return the function."""
        page, _, function = self.name.partition(":")
        return getattr(import_module(page), function)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Call the function."""
        return self.load()(*arguments, **options)


@dataclass(frozen=True)
class Method:
    """One way to solve a problem: how it is run, what it is, where it comes from, what it can do.

    Attributes
    ----------
    run : callable
        The driver, usually a :class:`Driver`; each problem documents its signature.  It takes arrays and
        validates nothing.
    summary : str
        The idea in a few words.
    source : str
        Publication that it comes from.
    devices : tuple of str
        Kinds of device it runs on: ``"cpu"``, ``"cuda"``.
    options : mapping of str to Option
        Its keyword arguments.
    baseline : bool
        Whether it is kept for comparison only: the method of a publication that other methods beat
        everywhere.
    memory : callable or None
        ``memory(size)`` is the bytes that it takes at its peak beside what it reads, the result included,
        by the :class:`~edgewise.needs.Size` of the graph; ``None`` where that is not known.
    """

    run: Callable[..., Any]
    summary: str
    source: str
    devices: tuple[str, ...] = field(default=("cpu", "cuda"), kw_only=True)
    options: Mapping[str, Option] = field(default_factory=dict, kw_only=True)
    baseline: bool = field(default=False, kw_only=True)
    memory: Term | None = field(default=None, kw_only=True)


def check_graph(graph: Any, kinds: type | tuple[type, ...] = Graph) -> None:
    """Refuse what is no graph, and say what makes one of it."""
    if isinstance(graph, kinds):
        return
    kind, library = type(graph), type(graph).__module__.partition(".")[0]
    name = f"{library}.{kind.__name__}" if library in MAKERS else kind.__name__
    maker = MAKERS.get(kind.__name__) or MAKERS.get(library, "Graph.from_edges and Graph.from_frame")
    raise OptionError(f"a Graph is needed, not {name}; see {maker}")


def check_method(name: str, methods: Mapping[str, Method], options: Mapping[str, Any]) -> None:
    """Refuse a name that is not in ``methods``, and options that the method does not have."""
    if name == "auto":
        for option in options:
            owners = [method for method, one in methods.items() if option in one.options]
            choice = argument("method", owners[0]) if owners else "the method it belongs to, if any"
            raise OptionError(f"auto has no option {option!r}; name {choice}")
        return
    if name not in methods:
        raise OptionError(f"{argument('method', name)} is unknown; {one_of(name, ('auto', *methods))}")
    known = methods[name].options
    for option, value in options.items():
        if option not in known:
            meant = f"; did you mean {near}?" if (near := closest(option, known)) else ""
            raise OptionError(
                f"method {name} has no option {option!r} (it has: {', '.join(known) or 'none'}){meant}"
            )
        known[option].check(option, value)


def kind_of(device: str) -> str:
    """Kind of a device: ``"cpu"`` or ``"cuda"``."""
    return device.partition(":")[0]


def check_device(name: str, device: str, methods: Mapping[str, Method]) -> None:
    """Refuse a method that does not run on ``device``."""
    if name != "auto" and kind_of(device) not in methods[name].devices:
        (needed,) = methods[name].devices
        raise OptionError(
            f"method {name} runs on {DEVICES[needed]} only, not on {device}; "
            f"use {argument('device', needed)} or another method"
        )


def check_one_or_several(device: Any, devices: Any) -> None:
    """Refuse ``device=`` beside ``devices=``."""
    if device is not None and devices is not None:
        raise OptionError(
            f"{argument('device')} is for one device and {argument('devices')} for several; "
            "use one of the two"
        )


def refuse_client(options: Mapping[str, Any], instead: str) -> None:
    """Refuse a client for a graph, which one process holds; ``instead`` reads tables."""
    if options.get("client") is not None:
        given = f"{argument('client')} is for tables, whose rows its workers read"
        raise OptionError(f"{given}, not for a graph in memory; use edgewise.{instead}(path, client=...)")


def is_number(value: Any, whole: bool) -> bool:
    """Whether ``value`` is a number, and an integer if ``whole``."""
    kinds = (int, np.integer) if whole else (int, float, np.integer, np.floating)
    return isinstance(value, kinds) and not isinstance(value, bool)


def check_whole(name: str, value: Any, least: int) -> None:
    """Raise :class:`~edgewise.errors.OptionError` unless an argument is an integer of ``least`` or more."""
    if not is_number(value, whole=True) or value < least:
        raise OptionError(f"{argument(name, value)} must be a whole number, {least} or more")


def worker_names(device: str) -> tuple[str, ...]:
    """What :attr:`Result.devices` says of a call on one device: ``("cpu:0",)`` or ``("cuda:1",)``."""
    return ("cpu:0",) if device == "cpu" else (device,)


def on_device(graph: Graph, device: str | None) -> Graph:
    """``graph`` on the requested device; itself if none is requested."""
    return graph if device is None else graph.to(arrays.resolve(device))


def is_of_rows(graph: Graph) -> bool:
    """Whether the edges are read from the rows of a graph, not from its edge list, whatever is derived."""
    return graph.made_of == ("rows",)


def check_weights(graph: Graph, ends: tuple[Any, Any], weights: Any) -> None:
    """Raise :class:`~edgewise.errors.GraphError` if a weight is NaN, which has no order.

    ``ends`` are the sources and targets beside the weights; the sources are empty where the targets are the
    neighbours of all rows.
    """
    if weights.dtype.kind != "f" or not len(weights):
        return
    from edgewise.primitives.array_operations import count

    weights = arrays.on_host_if_small(weights)
    bad = arrays.namespace(weights).isnan(weights)
    if not count(bad):
        return
    entry, (sources, targets) = int(bad.argmax()), ends
    source = sources[entry] if len(sources) else int((graph.offsets > entry).argmax()) - 1
    one, other = graph.ids_of(np.array([int(source), int(targets[entry])])).tolist()
    where = "the edge" if is_of_rows(graph) else f"edge {entry}"
    raise GraphError(
        f"{where} between {one!r} and {other!r} weighs NaN, which has no order; fill or drop such edges first"
    )
