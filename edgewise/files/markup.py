"""GML and GraphML: formats for exchange, not for size.

See Himsolt, "GML: a portable graph file format" (1997), and http://graphml.graphdrawing.org.  Of the
attributes only the weight of edges is read; a GML file is undirected unless it says ``directed 1``.
"""

import re
from collections import Counter

import numpy as np

from edgewise.errors import argument
from edgewise.files.contents import Edges
from edgewise.files.streams import reading

#: Attributes taken as weight, the first that every edge has.
WEIGHTS = ("weight", "value")
#: A comment, a bracket, a string or a word of GML.
TOKEN = re.compile(r'#[^\n]*|[\[\]]|"[^"]*"|[^\s\[\]"]+|"')
REAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
#: Types of GraphML's attributes that are numbers.
NUMBERS = {"int": int, "long": int, "float": float, "double": float}


def read_gml(source, options) -> Edges:
    """Read GML; the ids are the ``id`` of the nodes."""
    options.only("GML and GraphML", "weight")
    with reading(source.path), source.seekable() as stream:
        text = stream.read().decode("utf-8", "replace")

    def refusal(problem, position):
        return source.error(f"{problem}; correct the file", text.count("\n", 0, position) + 1)

    graph = [value for key, value, _ in _gml_items(text, refusal) if key == "graph"]
    if not graph or not isinstance(graph[0], list):
        raise source.error("there is no 'graph [ ... ]' in it; is this GML?")
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
            elif nodes.setdefault(record["id"], position) != position:
                raise refusal(f"node {record['id']!r} is there twice", position)
    for first, second, _, position in edges:
        for node in (first, second):
            if node not in nodes:
                raise refusal(f"this edge has the node {node!r}, which is undefined", position)
    return _edges(source, list(nodes), [edge[:3] for edge in edges], directed, options.weight)


def _gml_items(text, refusal):
    """Items of GML text as nested lists of key, value and position."""
    items, enclosing, key = [], [], None
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
    try:
        return int(word)
    except ValueError:  # a word, a fraction, or thousands of digits
        return float(word) if REAL.fullmatch(word) and not word.isdecimal() else word


def read_graphml(source, options) -> Edges:
    """Read GraphML; the ids are the ``id`` of the nodes."""
    from xml.etree import ElementTree

    options.only("GML and GraphML", "weight")
    try:
        with reading(source.path, passing=(ElementTree.ParseError, LookupError)), source.open() as stream:
            root = ElementTree.parse(stream).getroot()
    except ElementTree.ParseError as error:
        raise source.error(f"{error}; correct the file", error.position[0]) from error
    except LookupError as error:  # an encoding that Python does not know
        raise source.error(f"{error}; convert the file to UTF-8", 1) from error
    graph = root.find("{*}graph")
    if graph is None:
        raise source.error("there is no <graph> in it; is this GraphML?")
    if graph.find("{*}hyperedge") is not None:
        raise source.error("hyperedges are no edges between two vertices; remove them")
    directed = graph.get("edgedefault") == "directed"
    keys = {
        key.get("id"): (key.get("attr.name"), NUMBERS.get(key.get("attr.type", ""), str))
        for key in root.iterfind("{*}key")
    }
    nodes = {_attribute(source, node, "id"): None for node in graph.iterfind("{*}node")}
    edges = []
    for edge in graph.iterfind("{*}edge"):
        if edge.get("directed", str(directed).lower()) != str(directed).lower():
            raise source.error("directed and undirected edges are mixed; make them one kind")
        pair = [_attribute(source, edge, name) for name in ("source", "target")]
        nodes.update(dict.fromkeys(pair))
        edges.append((*pair, _graphml_record(source, edge, keys)))
    return _edges(source, list(nodes), edges, directed, options.weight)


def _attribute(source, element, name):
    value = element.get(name)
    if value is None:
        kind = element.tag.rpartition("}")[2]
        raise source.error(f"a <{kind}> has no attribute {name}=; correct the file")
    return value


def _graphml_record(source, edge, keys):
    """Attributes of an edge by name."""
    record = {}
    for data in edge.iterfind("{*}data"):
        name, kind = keys.get(data.get("key"), (None, str))
        try:
            record[name] = kind(data.text or "")
        except ValueError:
            problem = f"attribute {name!r} is {data.text!r}, which is no number"
            raise source.error(f"{problem}; correct the file") from None
    return record


def _edges(source, nodes, edges, directed, wanted):
    """Edges of nodes, which are numbered in ascending order if all are integers, else in that of the file."""
    import pyarrow as pa

    kind = next((kind for kind in (np.int64, np.uint64) if _fit(nodes, kind)), None)
    nodes = nodes if kind is None else sorted(nodes)
    number = {node: position for position, node in enumerate(nodes)}
    pairs = np.array([(number[first], number[second]) for first, second, _ in edges], np.int64)
    pairs = pairs.reshape(-1, 2)
    name, weights = _weights(source, [record for *_, record in edges], wanted)
    names = [str(node) for node in nodes]
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise source.error(f"two nodes have the id {twice}, once in quotes; rename one of them")
    ids = pa.array(names, pa.string()) if kind is None else np.array(nodes, kind)
    named = {"weight_name": name, "is_assumed": wanted is None}
    return Edges(pairs[:, 0], pairs[:, 1], weights, len(nodes), directed, ids, **named)


def _fit(nodes, kind):
    """Whether all ids are integers of a type."""
    limits = np.iinfo(kind)
    return all(isinstance(node, int) and limits.min <= node <= limits.max for node in nodes)


def _weights(source, records, wanted):
    """Name and values of the attribute that is wanted, or of one that every edge has as a number."""
    if wanted is False or not records:
        return None, None
    for name in (wanted,) if wanted else WEIGHTS:
        values = [record.get(name) for record in records]
        if all(isinstance(value, int | float) for value in values):
            return name, np.array(values)
    if wanted:
        choice = argument("weight")
        raise source.error(f"not every edge has a number {wanted!r}; choose another {choice}")
    return None, None
