"""Malformed and odd files: clusters or a refusal, as the table says."""

import pytest

import edgewise as ew
from edgewise.errors import EdgewiseError, OptionError
from tests.files.fuzz import check_graph, check_labels, check_streamed
from tests.files.odd_inputs import odd_inputs

CASES = list(odd_inputs())


def test_there_are_many():
    assert len({case[:2] for case in CASES}) >= 300


@pytest.mark.parametrize(("name", "text", "outcome"), CASES, ids=lambda value: repr(value[:40]))
def test_each(tmp_path, name, text, outcome):
    path = tmp_path / name
    path.write_bytes(text.encode())
    if outcome.startswith("="):
        graph = ew.read(path)
        check_graph(graph)
        assert clusters(graph, weighted=";" in outcome) == outcome
        assert check_streamed(path, check_labels(graph)) == ("accepted", "")
        return
    with pytest.raises(EdgewiseError) as caught:
        ew.read(path)
    line, _, part = (
        outcome.partition(": ") if outcome[:1].isdigit() and ": " in outcome else ("", "", outcome)
    )
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert message.startswith(str(path)) or isinstance(caught.value, OptionError)
    assert len(message) < 600
    assert part in message
    assert not line or caught.value.line == int(line)


def clusters(graph, weighted):
    """Clusters of ids in order, and the weights, as the table writes them."""
    labels = ew.connected_components(graph).labels.tolist()
    ids = range(graph.n_vertices) if graph.ids is None else graph.ids.tolist()
    groups: dict = {}
    for one, label in zip(ids, labels, strict=True):
        groups.setdefault(label, []).append(one)
    text = "=" + "|".join(" ".join(map(str, sorted(group))) for group in groups.values())
    return f"{text}; {' '.join(map(str, graph.weights.tolist()))}" if weighted else text
