"""GML and GraphML: formats for exchange, not for size.

See Himsolt, "GML: a portable graph file format" (1997), and http://graphml.graphdrawing.org.  Of the
attributes only the weight of edges is read; a GML file is undirected unless it says ``directed 1``.  In
GraphML an edge without the attribute has the default of its key.  Weights that only some edges have are an
error, since nobody can tell what the others weigh.
"""

import re
import sys
from collections import Counter
from typing import NamedTuple

import numpy as np

from edgewise.errors import argument
from edgewise.files.contents import Edges
from edgewise.files.streams import read_fully, reading
from edgewise.ingest.numerals import about_number, is_integer

#: Attributes taken as weight, the first that an edge has; the first of them is never anything else.
WEIGHTS = ("weight", "value")
#: A comment, a bracket, a string or a word of GML.
TOKEN = re.compile(r'#[^\n]*|[\[\]]|"[^"]*"|[^\s\[\]"]+|"')
#: Digits of an integer; longer ones are words.
NUMBER_DIGITS = 4000
#: What to do about an id in another encoding.
NO_UTF8 = f"an id here is not UTF-8; name the encoding of the file, such as {argument('encoding', 'latin-1')}"
#: Values of attributes without a byte of UTF-8, as ``surrogateescape`` decodes it.
UNDECODED = re.compile("[\udc80-\udcff]")
#: Types of GraphML's attributes that are integers.
WHOLE = ("int", "long")
#: Types of GraphML's attributes that are floats.
FRACTIONS = ("float", "double")


def read_gml(source, options) -> Edges:
    """Read GML; the ids are the ``id`` of the nodes."""
    options.only("GML and GraphML", "weight")
    with reading(source.path), source.open() as stream:
        text = read_fully(stream, sys.maxsize).decode("utf-8", "surrogateescape")

    def refusal(problem, position):
        return source.error(f"{problem}; correct the file", text.count("\n", 0, position) + 1)

    graph = [value for key, value, _ in _gml_items(text, refusal) if key == "graph"]
    if not graph or not isinstance(graph[0], list):
        raise source.error("there is no 'graph [ ... ]' in it; is this GML?")
    if len(graph) > 1:
        raise source.error(f"holds {len(graph)} graphs; write each to a file of its own")
    nodes: dict = {}
    edges, directed = [], False
    for key, value, position in graph[0]:
        if key == "directed":
            directed = value == 1
        elif key in ("node", "edge") and isinstance(value, list):
            record = {name: content for name, content, _ in value}
            names = ("id",) if key == "node" else ("source", "target")
            if any(isinstance(record.get(name), list | None) for name in names):
                raise refusal(f"this {key} has no {' or no '.join(names)}", position)
            if key == "edge":
                edges.append((record["source"], record["target"], record, position))
            elif UNDECODED.search(str(record["id"])):
                raise source.error(NO_UTF8, text.count("\n", 0, position) + 1)
            elif nodes.setdefault(record["id"], position) != position:
                raise refusal(f"node {record['id']!r} is there twice", position)
    for first, second, _, position in edges:
        for node in (first, second):
            if node not in nodes:
                raise refusal(f"this edge has the node {node!r}, which is undefined", position)
    records = [record for _, _, record, _ in edges]
    name, weights = None, None
    for name in _names(options.weight):
        if any(name in record for record in records):
            weights = _weights(source, name, [record.get(name) for record in records], edges)
        elif records and options.weight is not None:
            raise source.error(f"no edge has {name!r}; choose another {argument('weight')}")
        if weights is not None:
            break
    ends = [edge[:2] for edge in edges]
    return _edges(source, list(nodes), ends, directed, (name, weights, options.weight is None))


def _names(wanted):
    """Names of the attributes that may be the weight."""
    return () if wanted is False else WEIGHTS if wanted is None else (wanted,)


def _gml_items(text, refusal):
    """Items of GML text as nested lists of key, value and position."""
    items: list = []
    enclosing: list = []
    key = None
    for token in TOKEN.finditer(text):
        word = token[0]
        if word[0] == "#":
            continue
        if key is None and word == "]" and enclosing:
            items = enclosing.pop()
        elif key is None:
            if not word[0].isalpha():
                raise refusal(f"a name expected, but found {word[:60]!r}", token.start())
            key, start = word, token.start()
        elif word == "]" or word == '"':
            raise refusal(f"the value of {key!r} is missing or not complete", token.start())
        else:
            value = [] if word == "[" else _gml_value(word)
            items.append((key, value, start))
            if word == "[":
                enclosing.append(items)
                items = value
            key = None
    if enclosing or key is not None:
        raise refusal("the file ends within an item", len(text))
    return items


def _gml_value(word):
    if word[0] == '"':
        return word[1:-1]
    number = None if word.isalpha() else _number(word)
    return word if number is None else number


def read_graphml(source, options) -> Edges:
    """Read GraphML; the ids are the ``id`` of the nodes."""
    from xml.etree import ElementTree

    options.only("GML and GraphML", "weight")
    try:
        with reading(source.path, passing=(ElementTree.ParseError, LookupError)), source.open() as stream:
            decoded = None if source.encoding is None else "utf-8"  # whatever the file itself states
            root = ElementTree.parse(stream, ElementTree.XMLParser(encoding=decoded)).getroot()
    except ElementTree.ParseError as error:
        raise source.error(f"{error}; correct the file", error.position[0]) from error
    except LookupError as error:  # an encoding that Python does not know
        raise source.error(f"{error}; convert the file to UTF-8", 1) from error
    graph = root.find("{*}graph")
    if graph is None:
        raise source.error("there is no <graph> in it; is this GraphML?")
    if (count := len(list(root.iterfind(".//{*}graph")))) > 1:
        raise source.error(f"holds {count} graphs, beside or inside each other; write each to its own file")
    if graph.find("{*}hyperedge") is not None:
        raise source.error("hyperedges are no edges between two vertices; remove them")
    directed = graph.get("edgedefault") == "directed"
    nodes = {_attribute(source, node, "id"): None for node in graph.iterfind("{*}node")}
    edges, elements = [], list(graph.iterfind("{*}edge"))
    for edge in elements:
        if edge.get("directed", str(directed).lower()) != str(directed).lower():
            raise source.error("directed and undirected edges are mixed; make them one kind")
        pair = [_attribute(source, edge, name) for name in ("source", "target")]
        nodes.update(dict.fromkeys(pair))
        edges.append(pair)
    weights = _graphml_weights(source, root, elements, edges, options.weight)
    return _edges(source, list(nodes), edges, directed, (*weights, options.weight is None))


def _attribute(source, element, name):
    value = element.get(name)
    if value is None:
        kind = element.tag.rpartition("}")[2]
        raise source.error(f"a <{kind}> has no attribute {name}=; correct the file")
    return value


class Key(NamedTuple):
    """A key of GraphML, which declares an attribute of edges; ``default`` is text or ``None``."""

    id: str
    name: str
    type: str
    default: str | None


def _edge_keys(root):
    """The keys that edges may have, which are those for edges and for all elements."""
    keys = []
    for key in root.iterfind("{*}key"):
        if key.get("for", "all") in ("edge", "all"):
            name, default = key.get("id", ""), key.find("{*}default")
            text = None if default is None else (default.text or "").strip()
            keys.append(Key(name, key.get("attr.name", name), key.get("attr.type", "string"), text))
    return keys


def _graphml_weights(source, root, elements, edges, wanted):
    """Name and values of the attribute that is wanted, or of one that is the weight by its name."""
    if wanted is False or not elements:
        return None, None
    keys = _edge_keys(root)
    for name in _names(wanted):
        named = [key for key in keys if key.name == name] or [key for key in keys if key.id == name]
        if len(named) > 1:
            ids = " and ".join(repr(key.id) for key in named)
            raise source.error(
                f"the keys {ids} are both called {name!r}; choose one with {argument('weight')}"
            )
        if not named:
            if any(data.get("key") == name for edge in elements for data in edge.iterfind("{*}data")):
                raise source.error(f"no <key> declares the attribute {name!r}; add it to the file")
            continue
        values = [_graphml_value(edge, named[0]) for edge in elements]
        if any(value is not None for value in values):
            weights = _weights(source, name, values, edges, named[0].type)
            if weights is not None:
                return name, weights
    if wanted is not None:
        known = ", ".join(key.name for key in keys) or "none"
        raise source.error(
            f"no edge has {wanted!r}; attributes of edges are {known}: choose one with {argument('weight')}"
        )
    return None, None


def _graphml_value(edge, key):
    """The text of an attribute of an edge, or the default, or ``None``."""
    for data in edge.iterfind("{*}data"):
        if data.get("key") == key.id:
            return (data.text or "").strip()
    return key.default


def _edges(source, nodes, edges, directed, weighted):
    """Edges of nodes, which are numbered in ascending order if all are integers, else in that of the file.

    ``weighted`` are the name and the values of the weights, and whether the caller did not name them.
    """
    import pyarrow as pa

    kind = next((kind for kind in (np.int64, np.uint64) if _fit(nodes, kind)), None)
    nodes = nodes if kind is None else sorted(nodes)
    number = {node: position for position, node in enumerate(nodes)}
    pairs = np.array([(number[first], number[second]) for first, second in edges], np.int64)
    pairs = pairs.reshape(-1, 2)
    names = [str(node) for node in nodes]
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise source.error(f"two nodes have the id {twice}, once in quotes; rename one of them")
    ids = pa.array(names, pa.string()) if kind is None else np.array(nodes, kind)
    name, weights, is_assumed = weighted
    named = {"weight_name": None if weights is None else name, "is_assumed": is_assumed}
    return Edges(pairs[:, 0], pairs[:, 1], weights, len(nodes), directed, ids, **named, is_stated=True)


def _fit(nodes, kind):
    """Whether all ids are integers of a type."""
    limits = np.iinfo(kind)
    return all(isinstance(node, int) and limits.min <= node <= limits.max for node in nodes)


def _weights(source, name, values, edges, kind=""):
    """Values of an attribute as numbers; ``None`` if it is not called a weight, and no value is a number.

    ``edges`` begin with their two nodes, and ``kind`` is the type that the file states for the attribute.
    """
    numbers = [value if isinstance(value, int | float) else _number(value) for value in values]
    if kind == "boolean":
        numbers = [None] * len(values)
    if name == WEIGHTS[1] and all(number is None for number in numbers):
        return None
    leaving = f"pass {argument('weight', False)}"
    for (first, second, *_), value, number in zip(edges, values, numbers):
        where = f"the edge from {first!r} to {second!r}"
        if value is None:
            missing = sum(one is None for one in values)
            problem = f"{missing:,} of {len(values):,} edges lack {name!r}, the first is {where}"
            raise source.error(f"{problem}; give it to every edge, or {leaving}")
        problem = f"{name!r} of {where}:"
        if number is None:
            reason = about_number(value) if isinstance(value, str) else "it is not a number; correct it"
            reason = reason or f"{value!r} is of the type {kind}; declare it as a number"
            raise source.error(f"{problem} {reason}, or {leaving}")
        if kind in WHOLE and not is_integer(str(value)):
            raise source.error(f"{problem} {value!r} is not of the type {kind}; correct it, or {leaving}")
        if isinstance(number, int) and not -(2**63) <= number < 2**63:
            raise source.error(f"{problem} {number!s:.40} is beyond 64 bits; correct it, or {leaving}")
    whole = kind not in FRACTIONS and all(isinstance(number, int) for number in numbers)
    return np.array(numbers, np.int64 if whole else np.float64)


def _number(text):
    """The number that a text is by the rule, or ``None``."""
    if not isinstance(text, str) or len(text) > NUMBER_DIGITS or about_number(text):
        return None
    return int(text) if is_integer(text) else float(text)
