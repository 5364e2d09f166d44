"""The arguments, options and values of pymetis: each option of METIS is honoured or refused by name."""

import warnings
from collections import Counter

import numpy as np
import pytest

import edgewise as ew
from edgewise.device.target import INTERPRETED
from edgewise.errors import GraphError, ImbalanceWarning, OptionError
from edgewise.partitions.balance import limits_of
from edgewise.partitions.metis_options import (
    AS_IT_IS,
    HONOURED,
    NESTED_DISSECTION,
    OPTIONS,
    REFUSED,
    requested,
)

pytestmark = [pytest.mark.interpreter]
TRIANGLES = [[1, 2], [0, 2], [0, 1, 3], [2, 4, 5], [3, 5], [3, 4]]


def grid(rows, columns):
    """The neighbours of the vertices of a grid."""
    graph = ew.generate.grid(rows, columns)
    return [graph.neighbours[a:b].tolist() for a, b in zip(graph.offsets, graph.offsets[1:])]


def csr(adjacency):
    rows = np.cumsum([0] + [len(row) for row in adjacency])
    return rows, np.concatenate([np.array(row, np.int64) for row in adjacency])


def test_arguments_of_pymetis():
    adjacency = [[1, 2], [0, 2], [0, 1, 3], [2, 4, 5], [3, 5], [3, 4]]
    cut, parts = ew.part_graph(2, adjacency=adjacency)
    assert cut == 1 and sorted((tuple(parts[:3]), tuple(parts[3:]))) == [(0, 0, 0), (1, 1, 1)]
    xadj = np.cumsum([0] + [len(row) for row in adjacency])
    adjncy = np.concatenate(adjacency)
    assert ew.part_graph(2, xadj=xadj, adjncy=adjncy, vweights=[1] * 6, eweights=[1] * 14) == (cut, parts)
    assert ew.part_graph(2, adjacency=[[1], [], [1]], symmetrize=True, imbalance=0.5)[0] == 1
    with pytest.raises(
        GraphError, match="vertex 0 lists 1, but not the other way round; correct it, or leave"
    ):
        ew.part_graph(2, adjacency=[[1], [], [1]], symmetrize=False)
    with pytest.raises(OptionError, match="give either adjacency, or xadj and adjncy"):
        ew.part_graph(2)
    with pytest.raises(OptionError, match="no option 'weights'; did you mean vweights"):
        ew.part_graph(2, adjacency=adjacency, weights=[1])
    assert ew.part_graph(2, adjacency=adjacency, contiguous=True) == (cut, parts)
    with pytest.raises(GraphError, match="2 components, so its parts cannot all be contiguous"):
        ew.part_graph(2, adjacency=[[1], [0], []], contiguous=True)


def test_result_has_names():
    found = ew.part_graph(2, TRIANGLES)
    cut, parts = found
    assert (cut, parts) == (found.edge_cuts, found.vertex_part) == (1, found[1])
    assert isinstance(parts, list) and type(parts[0]) is int


def test_forms_of_a_graph():
    """Sequences, arrays, iterators, a mapping, rows: one answer."""

    class Rows:
        adj_starts, adjacent = csr(TRIANGLES)

    wanted = ew.part_graph(2, TRIANGLES)
    for adjacency in (
        [np.array(row, np.int32) for row in TRIANGLES],
        [iter(row) for row in TRIANGLES],
        dict(reversed(list(enumerate(TRIANGLES)))),
        Rows(),
        [set(row) for row in TRIANGLES],
    ):
        assert ew.part_graph(2, adjacency) == wanted
    for adjacency, problem in (
        ({0: [1], 2: [0]}, "adjacency has 2 vertices, but no 1; number them from 0"),
        ([[1.5], [0]], "the neighbours of vertex 0 are float64"),
        ([["a"], [0]], "the neighbours of vertex 0 are <U1"),
        ([[[1]], [0]], "one sequence of neighbours for each vertex"),
        ([[2], [0]], "2"),
    ):
        with pytest.raises(GraphError, match=problem):
            ew.part_graph(2, adjacency)


def test_edges_in_one_row():
    """Such an edge is an edge; two weights of one edge are not."""
    xadj, adjncy = [0, 1, 2, 2], [1, 2]
    assert ew.part_graph(1, xadj=xadj, adjncy=adjncy).edge_cuts == 0
    assert ew.part_graph(3, xadj=xadj, adjncy=adjncy, eweights=[4, 5]).edge_cuts == 9
    both = {"xadj": [0, 1, 2], "adjncy": [1, 0], "eweights": [4, 5]}
    with pytest.raises(
        GraphError, match="the edge between vertices 0 and 1 has two weights; correct eweights="
    ):
        ew.part_graph(2, **both)
    assert ew.part_graph(2, **both, symmetrize=True).edge_cuts == 5
    with pytest.raises(
        GraphError, match="vertex 0 lists 1, but not the other way round with the same weight"
    ):
        ew.part_graph(2, **both, symmetrize=False)


def test_weights_of_pymetis():
    xadj, adjncy = csr(TRIANGLES)
    rows = {"xadj": xadj, "adjncy": adjncy}
    assert ew.part_graph(2, **rows, eweights=[0] * 14).edge_cuts == 0
    assert ew.part_graph(2, **rows, vweights=[0, 1, 0, 0, 1, 0]).edge_cuts == 1
    for more, error, problem in (
        (
            {"vweights": [0.5] * 6},
            GraphError,
            "vweights= are float64, and METIS has integers; round multiples",
        ),
        (
            {"eweights": [0.5] * 14},
            GraphError,
            "eweights= are float64, and METIS has integers; round multiples",
        ),
        ({"vweights": [-1] + [1] * 5}, GraphError, "the weight of vertex 0 is -1; use 0 or more"),
        ({"vweights": np.ones((6, 2), int)}, GraphError, r"ncon=2 in METIS"),
        ({"vweights": [1] * 12}, GraphError, r"ncon=2 in METIS"),
        ({"vsize": [1] * 6}, OptionError, "vsize= counts for the communication volume alone"),
        ({"ncon": 2}, OptionError, "no option 'ncon'"),
        ({"vweigths": [1] * 6}, OptionError, "did you mean vweights"),
    ):
        with pytest.raises(error, match=problem):
            ew.part_graph(2, **rows, **more)


def test_what_is_no_argument_of_pymetis():
    """Values of a wrong kind are errors with the name of the argument."""
    for adjacency in (5, [None, None], [1, 0], [[[1], [0, 1]], [0]]):
        with pytest.raises(GraphError, match="adjacency is one sequence of neighbours for each vertex"):
            ew.part_graph(2, adjacency)
    for nparts in ("2", None, 2.0, True, 0):
        with pytest.raises(OptionError, match=f"nparts={nparts!r} must be a whole number"):
            ew.part_graph(nparts, TRIANGLES)
    with pytest.raises(OptionError, match="METIS numbering"):
        ew.part_graph(2, 5, options={"numbering": 1})  # before the graph is looked at
    for more, problem in (
        ({"tpwgts": 5}, "tpwgts= mismatches the parts; it must be one number for each of 2 parts"),
        ({"vweights": 3}, "vweights=3 is one value; give one for each"),
        ({"eweights": 3}, "eweights=3 is one value; give one for each"),
        ({"vweights": [[1], [1, 2], [1], [1], [1], [1]]}, "vweights= are not one integer each"),
        ({"contiguous": "no"}, "contiguous='no' must be True or False"),
        ({"recursive": "x"}, "recursive='x' must be True or False"),
        ({"symmetrize": "x"}, "symmetrize='x' must be True or False"),
    ):
        with pytest.raises((GraphError, OptionError), match=problem):
            ew.part_graph(2, TRIANGLES, **more)


def test_large_options():
    """Limits and iterations that no partition reaches are no limits."""
    for options in ({"ufactor": 10**30}, {"niter": 10**30}, {"seed": 2**70}):
        assert ew.part_graph(2, TRIANGLES, options=options).edge_cuts <= 1
    assert limits_of(100, np.ones(2) / 2, 1e300).tolist() == [2**53] * 2
    assert limits_of(100, np.array([0.8, 0.2]), 1e300).tolist() == [2**53] * 2


def test_warn_on_copies():
    starts, adjacent = csr(TRIANGLES)
    for rows, wanted in (
        ((starts.tolist(), adjacent), "xadj is converted from list"),
        ((starts.astype(np.int16), adjacent), "xadj is converted from int16"),
        ((starts, adjacent.tolist()), "adjncy is converted from list"),
    ):
        with pytest.warns(BytesWarning, match=wanted) as seen:
            ew.part_graph(2, xadj=rows[0], adjncy=rows[1], warn_on_copies=True)
        assert seen[0].filename == __file__
        ew.part_graph(2, xadj=rows[0], adjncy=rows[1])
    ew.part_graph(2, xadj=starts, adjncy=adjacent.astype(np.int32), warn_on_copies=True)


@pytest.mark.skipif(INTERPRETED, reason="takes long in the interpreter")
def test_balance_is_that_of_metis():
    """0.1 % by recursive bisection, which pymetis takes for up to 8 parts, and 3 % otherwise."""
    adjacency = grid(10, 10)
    assert Counter(ew.part_graph(2, adjacency, tpwgts=[0.8, 0.2]).vertex_part) == {0: 80, 1: 20}
    assert Counter(ew.part_graph(2, adjacency, tpwgts=[]).vertex_part) == {0: 50, 1: 50}
    asked, given = requested(None), requested({"ufactor": 50})
    imbalances = [(asked, (None, True)), (asked, (None, False)), (asked, (0.2, True)), (given, (None, True))]
    imbalances += [(requested({"ptype": 1}), (None, True)), (requested({"ptype": 0}), (None, False))]
    found = [one.arguments(*how)["imbalance"] for one, how in imbalances]
    assert found == [0.001, 0.03, 0.2, 0.05, 0.03, 0.001]
    limits = []
    for more in ({"recursive": False}, {"options": {"ufactor": 200}}, {"imbalance": 0.2}):
        limits.append(max(Counter(ew.part_graph(3, adjacency, **more).vertex_part).values()))
    assert limits[0] <= 35 and max(limits[1:]) <= 40


#: A value of each option that is honoured, and what of the call it changes.
MEANINGS = {
    "contig": (1, {"contiguous": True}),
    "ncuts": (5, {"tries": 5}),
    "niter": (100, {"patience": 120}),
    "ptype": (1, {"recursive": False}),
    "seed": (7, {"seed": 7}),
    "ufactor": (100, {"imbalance": 0.1}),
}
#: A value of each option that is refused.
WRONG = {name: [0, 1, 7] for name in REFUSED}
WRONG |= {name: [7, 10] for name in AS_IT_IS}
WRONG |= {
    "objtype": [1, 2],
    "minconn": [1],
    "numbering": [1],
    "iptype": [1, 2, 3],
    "dbglvl": [1],
    "ondisk": [1],
}


def test_no_option_of_metis_is_ignored():
    """Each is honoured, asks for what is done anyway, is of nested dissection, or is refused by name."""
    assert set(MEANINGS) == set(HONOURED) and set(WRONG) == {*REFUSED, *AS_IT_IS}
    assert len(OPTIONS) == len(set(OPTIONS))
    plain = requested(None)
    for name, (value, meaning) in MEANINGS.items():
        assert requested({name: value}) == plain._replace(**meaning)
        for wrong in (-2, 0.5, "1", None, -1):
            if wrong in (None, -1):
                assert requested({name: wrong}) == plain
            else:
                with pytest.raises(OptionError, match=f"the option {name}="):
                    requested({name: wrong})
    for name, values in WRONG.items():
        for value in values:
            with pytest.raises(OptionError, match=f"the option {name}={value} of METIS is refused: "):
                ew.part_graph(2, TRIANGLES, options={name: value})
    for name, (values, _) in AS_IT_IS.items():
        assert [requested({name: value}) for value in values] == [plain] * len(values)
    for name in NESTED_DISSECTION:
        assert requested({name: 1}) == requested({name: 100}) == plain
    with pytest.raises(OptionError, match="METIS has no option 'contgi'; did you mean contig"):
        ew.part_graph(2, TRIANGLES, options={"contgi": 1})
    for wrong in ([1, 2], "seed", 5, np.zeros(40, int)):
        with pytest.raises(OptionError, match=r"use pymetis\.Options or a mapping"):
            ew.part_graph(2, TRIANGLES, options=wrong)


def test_options_that_contradict():
    for more, problem in (
        ({"contiguous": True, "options": {"contig": 0}}, "contiguous=True and the option contig=0"),
        ({"imbalance": 0.1, "options": {"ufactor": 30}}, "imbalance=0.1 and ufactor=30 differ; give one"),
    ):
        with pytest.raises(OptionError, match=problem):
            ew.part_graph(2, TRIANGLES, **more)
    assert ew.part_graph(2, TRIANGLES, contiguous=True, options={"contig": 1}).edge_cuts == 1


def test_contig_makes_contiguous_parts():
    """A tree, whose parts are scattered otherwise; the options are attributes of a class or of an object."""

    class Options:
        contig, seed = 1, -1

    draw = np.random.default_rng(1)
    parents = [draw.integers(0, child) for child in range(1, 120)]
    tree = ew.Graph.from_edges(np.arange(1, 120), parents)
    adjacency = [tree.neighbours[a:b] for a, b in zip(tree.offsets, tree.offsets[1:])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImbalanceWarning)
        for options in (Options, Options(), {"contig": True}):
            parts = ew.part_graph(6, adjacency, options=options).vertex_part
            assert ew.evaluate_partition(tree, parts).components.tolist() == [1] * 6
            assert parts == ew.part_graph(6, adjacency, contiguous=True).vertex_part


def test_every_option_of_pymetis_is_known():
    pymetis = pytest.importorskip("pymetis")
    indices = pytest.importorskip("pymetis._internal").options_indices
    names = {name.lower() for name in dir(indices) if not name.startswith("_")}
    assert len(names) > 20 and names <= set(OPTIONS)
    assert requested(pymetis.Options()) == requested(None)
    for name in sorted(names):
        value = MEANINGS[name][0] if name in MEANINGS else WRONG[name][0] if name in WRONG else 1
        options = pymetis.Options(**{name: value})
        if name in REFUSED or name in AS_IT_IS:
            with pytest.raises(OptionError, match=f"the option {name}={value} of METIS is refused"):
                ew.part_graph(2, TRIANGLES, options=options)
        else:
            assert ew.part_graph(2, TRIANGLES, options=options).edge_cuts == 1
