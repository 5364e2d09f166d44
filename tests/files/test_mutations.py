"""Whatever happens to the bytes of a file, it is read or refused with one line."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import edgewise as ew
from edgewise.errors import EdgewiseError
from edgewise.files import by_format, formats, gap, npz

TEXTS = {
    "el": "# c\n1 2 3\n2 3 0.5\n 7  1 2\n",
    "csv": "from,to\n1,2\n2,3\n",
    "mtx": "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 0.5\n3 2 1e3\n",
    "dense.mtx": "%%MatrixMarket matrix array integer general\n2 2\n0\n1\n1\n0\n",
    "graph": "3 2 011\n5 2 1\n4 1 1 3 7\n1 2 7\n",
    "gr": "c x\np sp 3 2\na 1 2 1\na 2 3 1\n",
    "vlg": "t 3 2\nv 0 0 1\nv 1 0 2\nv 2 0 1\ne 0 1\ne 1 2\n",
    "jlg": "3,2,u\n1,2\n2,3\n",
    "smat": "3 3 2\n0 1 5\n1 2 -1\n",
    "tntp": "<NUMBER OF NODES> 2\n<NUMBER OF LINKS> 1\n<END OF METADATA>\n~\ta\tb\tlength\t;\n\t1\t2\t5\t;\n",
    "ncol": "a b 1\nb c 2\n",
    "gml": "graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 value 2 ] ]\n",
}


class Memory(io.BytesIO):
    """Bytes that a page writes."""

    path, suffix = "memory", ".wsg"


def written(page):
    graph = ew.Graph.from_edges(
        np.array([0, 1, 2]), np.array([1, 2, 2]), weights=np.array([1, 2, 3]), n_vertices=4
    )
    memory = Memory()
    page.write(graph, memory)
    return memory.getvalue()


@pytest.fixture(scope="module")
def contents():
    texts = {name: text.encode() for name, text in TEXTS.items()}
    return texts | {"npz": written(npz), "wsg": written(gap)}


pieces = st.sampled_from(
    [
        b"0",
        b"-1",
        b"9" * 20,
        b" ",
        b"\n",
        b"\t",
        b",",
        b"#",
        b"%",
        b"a",
        b"1.5",
        b"nan",
        b"\r\n",
        b"\0",
        b"\xff",
        b'"',
        b"<",
    ]
)
change = st.tuples(st.floats(0, 1), st.integers(0, 12), st.one_of(st.just(b""), pieces))


@settings(max_examples=250)
@given(
    name=st.sampled_from([*TEXTS, "npz", "wsg"]),
    changes=st.lists(change, min_size=1, max_size=3),
    cut=st.one_of(st.none(), st.floats(0, 1)),
)
def test_read_or_refused(tmp_path, contents, name, changes, cut):
    content = contents[name]
    for place, length, piece in changes:
        at = int(place * len(content))
        content = content[:at] + piece + content[at + length :]
    if cut is not None:
        content = content[: int(cut * len(content))]
    path = tmp_path / f"graph.{name}"
    path.write_bytes(content)
    try:
        graph = ew.read(path)
    except EdgewiseError as error:
        assert "\n" not in str(error)
    else:
        assert len(graph.sources) == len(graph.targets) == graph.n_edges


def test_every_format_has_a_page():
    for form in formats.FORMATS.values():
        for entry in filter(None, (form.reader, form.writer)):
            assert callable(by_format.function_of(entry))
