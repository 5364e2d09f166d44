"""What is asked of a store: tables, files and lists of pairs and ids, to numbers of records.

Pairs are read as everywhere in edgewise, into a :class:`~edgewise.Graph`, so each distinct id of a table is
looked up once.
"""

import os
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from edgewise.clusters.batch import Request
from edgewise.clusters.ids import ids_of_kind, kind_and_type
from edgewise.clusters.state import SETTINGS, keys_of
from edgewise.device import each
from edgewise.device.threads import few_steps
from edgewise.errors import EdgewiseError, GraphError, OptionError, argument
from edgewise.files import read
from edgewise.files.records import records_of
from edgewise.graph import Graph
from edgewise.index_type import MAX_UINT32
from edgewise.ingest.arrow import arrow_array, numpy_array
from edgewise.ingest.columns import host_column, id_column
from edgewise.ingest.string_rows import take
from edgewise.method import is_number
from edgewise.primitives.counting_sort import gather, marked, scatter

#: What is asked of pairs, in this order.
OF_PAIRS = ("remove", "withdraw", "add", "must", "cannot")
PATHS = str | bytes | os.PathLike


class AskedPairs(NamedTuple):
    """Pairs of ids.

    Attributes
    ----------
    ids : pyarrow.Array
        Distinct ids.
    sources, targets : (m,) index arrays
        Positions in the ids.
    scores : (m,) float64 array or None
    """

    ids: Any
    sources: Any
    targets: Any
    scores: Any


def pairs_of(given, name, reading, is_scored=False):
    """Pairs in a table, a file, several files, a graph, or a list of tuples.

    ``reading`` are options of :func:`edgewise.read`.  ``is_scored`` says whether there are scores; ``None``
    if that is open.
    """
    reading = {key: value for key, value in reading.items() if value is not None}
    column = reading.pop("score", None)
    try:
        if is_scored is False:
            graph = _graph(given, reading | {"weight": False})
        elif column is not None:
            graph = _graph(given, reading | {"weight": True, "score": column})
        else:
            graph = _with_usual_scores(given, reading, is_scored)
    except GraphError as error:
        raise GraphError(f"{argument(name)}: {error.message}") from None
    ids = np.arange(graph.n_vertices) if graph.ids is None else graph.ids
    scores = None if is_scored is False or graph.weights is None else graph.weights.astype(np.float64)
    if is_scored and scores is None and graph.n_edges:
        raise GraphError(
            f"{argument(name)} has no scores, and the store has; name their column with {argument('score')}"
        )
    if scores is not None and np.isnan(scores).any():
        row = int(np.isnan(scores).argmax()) + 1
        raise GraphError(f"the score of pair {row:,} of {argument(name)} is not a number; leave the pair out")
    return AskedPairs(arrow_array(ids), graph.sources, graph.targets, scores)


def _with_usual_scores(given, reading, is_scored):
    """The graph with the column of the usual name as its weights, or with those that are taken by default."""
    try:
        return _graph(given, reading | {"weight": True})
    except EdgewiseError as error:
        graph = _graph(given, reading)
        if graph.weights is None and graph.n_edges and (is_scored or "may be in" in error.message):
            raise
        return graph


def _graph(given, reading):
    if isinstance(given, Graph):
        return given.to("cpu")
    if isinstance(given, PATHS) or (isinstance(given, list) and given and isinstance(given[0], PATHS)):
        return read(given, **reading)
    if not isinstance(given, list | tuple):
        return Graph.from_frame(given, **reading)
    wrong = next((one for one in given if not isinstance(one, tuple | list) or len(one) not in (2, 3)), None)
    if wrong is not None:
        raise GraphError(f"{wrong!r} is no pair of ids; give tuples of two ids, and perhaps a score")
    columns = list(zip(*given, strict=True)) if len({len(one) for one in given}) == 1 else None
    if given and columns is None:
        raise GraphError("some pairs have a score, and some have none; give all of them one")
    sources, targets, *weights = map(list, columns or ((), ()))
    wanted = bool(weights) and reading.get("weight") is not False
    return Graph.from_edges(sources, targets, weights=weights[0] if wanted else None)


def ids_of(given, name, id_column_name=None):
    """A column of ids: a list or an array, or that of a table or file."""
    try:
        if isinstance(given, PATHS | dict) or hasattr(given, "columns"):
            import pyarrow as pa

            records = records_of(given, id_column_name)
            kind = records.schema.field(records.id_column).type
            batches = records.batches([records.id_column])
            column = pa.chunked_array([batch.column(0) for batch in batches], kind).combine_chunks()
            if column.null_count:
                row = column.is_null().index(True).as_py() + 1
                raise GraphError(f"{records.id_column!r} is null in row {row:,}; give every record an id")
            return column
        if isinstance(given, list | tuple) and not given:
            return arrow_array(np.empty(0, np.int64))
        return arrow_array(id_column(host_column(given, name), name))
    except GraphError as error:
        raise GraphError(f"{argument(name)}: {error.message}") from None


def request_of(state, given, reading) -> Request:
    """What is asked of a state.

    ``given`` has the arguments of :meth:`~edgewise.ClusterStore.apply` that are not ``None``, and the
    settings that change.
    """
    facts = state.facts._replace(**checked_settings(given, state.facts))
    asked: dict[str, Any] = {}
    for name in OF_PAIRS:
        is_scored = (facts.is_scored or None) if name == "add" else False
        if name in given:
            asked[name] = pairs_of(given[name], name, reading, is_scored)
    listed = {
        name: ids_of(given[name], name, reading.get("vertex_id"))
        for name in ("records", "delete")
        if name in given
    }
    if "add" in asked and len(asked["add"].sources):
        has_scores = asked["add"].scores is not None
        if facts.is_scored is False and has_scores:
            raise GraphError(
                f"{argument('add')} has scores, and the pairs of the store have none; leave them out"
            )
        facts = facts._replace(is_scored=has_scores)
    columns = [*listed.items(), *((name, pairs.ids) for name, pairs in asked.items())]
    first = next(((name, column) for name, column in columns if len(column)), None)
    if facts.kind is None and first is not None:
        kind, written = kind_and_type(first[1], argument(first[0]))
        facts = facts._replace(kind=kind, type=written)
    look_up = LookUp(state, facts)
    records = look_up.enter(listed["records"], "records") if "records" in listed else _none()
    added = asked.get("add")
    numbers = look_up.enter(added.ids, "add") if added is not None else _none()
    look_up.check_count()
    keys = {}
    for name, pairs in asked.items():
        if name != "add":
            found = look_up.find(pairs.ids, name)
            keys[name] = keys_of(gather(found, pairs.sources), gather(found, pairs.targets))
    none = np.empty(0, np.uint64)
    return Request(
        facts,
        look_up.new_ids(),
        keys.get("remove", none),
        np.unique(look_up.find(listed["delete"], "delete")) if "delete" in listed else _none(),
        keys.get("withdraw", none),
        records,
        none if added is None else keys_of(gather(numbers, added.sources), gather(numbers, added.targets)),
        None if added is None else added.scores,
        np.unique(keys.get("must", none)),
        np.unique(keys.get("cannot", none)),
        bool(given.get("with_pairs")),
    )


def checked_settings(given, facts) -> dict[str, Any]:
    """The settings among what is given, after a check of each."""
    found = {name: given[name] for name in SETTINGS if name in given}
    for name, value in found.items():
        if value is None:
            continue
        asked = argument(name, value)
        if name == "threshold":
            if not is_number(value, whole=False) or value != value:
                raise OptionError(f"{asked} is no number; give the least score of a pair")
            if facts.is_scored is False:
                raise OptionError(f"{asked} needs scores, and the pairs of the store have none")
            found[name] = float(value)
        elif name == "max_size":
            if not is_number(value, whole=True) or value < 1:
                raise OptionError(f"{asked} is no whole number from 1 on; give the most records of a cluster")
            found[name] = int(value)
        elif value != "all":
            names = [] if isinstance(value, str) or not isinstance(value, Iterable) else list(value)
            if not names or not all(isinstance(one, str) for one in names):
                raise OptionError(f"{asked} is no list of datasets; give their names, or 'all'")
            found[name] = sorted(set(names))
    return found


def _none():
    return np.empty(0, np.int64)


@each
def find_unknown(item, numbers, clusters, is_old, found):
    """Mark a number of no record; one of a record before the batch is asked for if ``is_old``."""
    number = numbers[item]
    found[item] = number < 0
    if is_old and number >= 0:
        found[item] = number >= len(clusters) or clusters[number] < 0


class LookUp:
    """Numbers of ids in a state, and of those that a batch enters."""

    def __init__(self, state, facts):
        self.state, self.first, self.ids = state, state.n_records, state.ids
        self.entered: Any = []
        self.waiting: list[Any] = []
        if self.ids is None and facts.kind is not None:
            self.ids = ids_of_kind(facts.kind, facts.type)
        if self.ids is not None:
            self.entered = type(self.ids)(self.ids.type)

    def enter(self, column, name):
        """Numbers of a column, whose ids become records unless they are some."""
        if not len(column):
            return _none()
        plain = self.ids.plain(column, argument(name))
        numbers = self._numbers(plain)
        missing = marked(numbers < 0)
        if len(missing):
            new = take(plain, missing)
            ranks = np.arange(len(new))
            if name == "records":  # those of pairs are distinct
                coded = new.dictionary_encode()
                ranks, new = numpy_array(coded.indices), coded.dictionary
            scatter(numbers, missing, ranks + (self.first + self.n_entered))
            self.waiting.append(new)
        return numbers

    @property
    def n_entered(self):
        """Number of ids that were entered."""
        return len(self.entered) + sum(map(len, self.waiting))

    def _numbers(self, plain):
        numbers = self.ids.find(plain)
        if self.n_entered and (missing := np.flatnonzero(numbers < 0)).size:
            while self.waiting:  # they are looked up only if decisions name them
                self.entered.extend(self.waiting.pop(0))
            found = self.entered.find(plain.take(arrow_array(missing)))
            numbers[missing] = np.where(found < 0, found, found + self.first)
        return numbers

    def find(self, column, name):
        """Numbers of a column of ids that are records, or become some by the batch."""
        if not len(column):
            return _none()
        numbers, clusters = self._numbers(self.ids.plain(column, argument(name))), self.state["clusters"]
        unknown, is_old = np.empty(len(numbers), bool), name in ("delete", "remove", "records")
        with few_steps(len(numbers)):
            find_unknown(len(numbers), numbers, clusters, is_old, unknown)
        if unknown.any():
            one, count = column[int(unknown.argmax())].as_py(), int(unknown.sum())
            more = f" ({count:,} such ids)" if count > 1 else ""
            raise GraphError(
                f"{argument(name)} names {one!r}, which is no record of the store{more}; leave it out"
            )
        return numbers

    def check_count(self):
        """Raise if there would be more records than numbers."""
        count = self.first + self.n_entered
        if count > MAX_UINT32:
            raise GraphError(f"the store would have {count:,} records; {MAX_UINT32:,} are possible")

    def new_ids(self):
        """The ids that were entered, as they are numbered, or ``None``."""
        import pyarrow as pa

        if not self.n_entered:
            return None
        entered = [self.entered._column(None)] if len(self.entered) else []
        columns = entered + self.waiting
        if len(columns) == 1:
            return columns[0]
        kind = max((one.type for one in columns), key=lambda one: str(one).startswith("large"))
        return pa.concat_arrays([one.cast(kind) for one in columns])
