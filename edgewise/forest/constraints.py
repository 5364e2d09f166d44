"""Clusters under decisions: pairs of records that must be together, and pairs that cannot be.

Edges come in the order of a forest (:mod:`~edgewise.forest.order`), pairs that must be together before all of
them.  An edge joins the clusters of its ends unless a decision keeps a record of one apart from a record of
the other: then it is refused, for good, because clusters only grow.  This is Kruskal's algorithm with a
condition, and the agglomerative clustering with must-link and cannot-link constraints of I. Davidson and
S. S. Ravi, "Agglomerative hierarchical clustering with constraints" (PKDD 2005), by single linkage.

Clusters are defined by all pairs in their order.  Mostly the edges of the forest are all that has to be
read, and of the path between two records that cannot be together the weakest edge is refused.  For a pair
outside of the forest comes after a path between its ends: if all edges of the path have joined, it is inside
a cluster, and if one of them was refused, it is between the same two clusters and refused as well.  If *two*
edges of the path were refused, it may join what is before the first one and behind the last one: of three
records, two decisions may part one from both others, which are a pair themselves.  So the trees in which two
edges or more are refused (:func:`parted_twice`) are done again with all of their pairs.

Every cluster has a list of the decisions that name a record of it, and the shorter list of two clusters is
read for one that names a record of the other.  Lists are circles, so that two of them are joined by
exchanging one link at each.  An edge that joins reads a list that becomes part of one at least twice as long.
Edges of a forest that are refused form a forest of clusters, so all of them together read every list about
once.  Hence ``d`` decisions cost ``O(d log d)`` reads, whatever the number of edges.

Datasets of which a cluster has one record at most are as decisions about each two of their records.  A
cluster has bits for them instead of a list.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import compiled, device
from edgewise.errors import GraphError, OptionError, argument
from edgewise.forest.linkage import sizes_of_merges
from edgewise.forest.trees import halve

#: No decision.
NONE = -1
#: What becomes of an edge that would bring two records of one dataset together.
BY_DATASETS = 2


class Decisions(NamedTuple):
    """Pairs of vertices that must be together, and pairs that cannot be: index arrays.

    Attributes
    ----------
    must : two (k,) arrays
    cannot : two (d,) arrays
    """

    must: Any
    cannot: Any


class Constrained(NamedTuple):
    """What decisions make of edges in their order.

    Attributes
    ----------
    labels : (n,) array of the type of the edges
        The smallest vertex of each vertex's cluster.
    kept : (m,) bool array
        Whether an edge has joined two clusters.
    refused_by : (m,) int64 array
        The first decision, by its position in ``cannot``, that has refused an edge; -1 for the others.
    must_kept : (k,) bool array
        Whether a pair that must be together has joined two clusters, rather than come after others that have.
    """

    labels: Any
    kept: Any
    refused_by: Any
    must_kept: Any


class Opposed(NamedTuple):
    """For each cluster the decisions that part it from others, in a circular list.

    Decision ``d`` has the entries ``2 * d`` and ``2 * d + 1``.

    Attributes
    ----------
    records : (2 * decisions,) array
        The vertex that an entry is of.
    after : (2 * decisions,) int64 array
        The next entry of the list.
    first : (n,) int64 array
        An entry of the list of a root; -1 if it has none.
    counts : (n,) int64 array
        Number of the entries of a root.
    """

    records: Any
    after: Any
    first: Any
    counts: Any


@device
def parting_decision(opposed, parent, one, other):
    """The first decision that keeps two roots apart, or -1."""
    if opposed.counts[one] > opposed.counts[other]:
        one, other = other, one
    found, entry = np.int64(NONE), opposed.first[one]
    for _ in range(opposed.counts[one]):
        decision = entry >> np.int64(1)
        if found < 0 or decision < found:
            partner = np.int64(opposed.records[entry ^ np.int64(1)])
            if np.int64(halve(parent, partner)) == other:
                found = decision
        entry = opposed.after[entry]
    return found


@device
def join_lists(opposed, root, joined):
    """Append the list of a cluster to that of the root that it was joined to."""
    first, second = opposed.first[root], opposed.first[joined]
    if second >= 0:
        if first < 0:
            opposed.first[root] = second
        else:
            opposed.after[first], opposed.after[second] = opposed.after[second], opposed.after[first]
        opposed.counts[root] += opposed.counts[joined]


@device
def have_one_dataset(held, words, one, other):
    """Whether two roots have a bit in common."""
    clash = np.uint64(0)
    for word in range(words):
        clash |= held[one * words + word] & held[other * words + word]
    return clash != 0


@compiled
def join_unless_opposed(sources, targets, parent, opposed, held, joined_by):
    """Join clusters by edges in order, unless a decision keeps them apart, or both hold a set bit.

    ``held`` are the bits of the datasets of each cluster at its root, in as many words for each vertex as are
    needed.  ``joined_by`` becomes 1 where an edge joins, 0 where it leads from a cluster to itself,
    :data:`BY_DATASETS` where bits refuse it, and -1 less the decision where one does.  ``parent`` holds the
    smallest vertex of each vertex's cluster in the end.
    """
    words = len(held) // max(len(parent), 1)
    for entry in range(len(opposed.records)):
        record = np.int64(opposed.records[entry])
        opposed.after[entry] = entry
        if opposed.first[record] < 0:
            opposed.first[record] = entry
        else:
            first = opposed.first[record]
            opposed.after[entry], opposed.after[first] = opposed.after[first], entry
        opposed.counts[record] += 1
    for edge in range(len(sources)):
        one = np.int64(halve(parent, np.int64(sources[edge])))
        other = np.int64(halve(parent, np.int64(targets[edge])))
        joined_by[edge] = 0
        if one != other:
            refusing = parting_decision(opposed, parent, one, other)
            if refusing >= 0:
                joined_by[edge] = -1 - refusing
            elif have_one_dataset(held, words, one, other):
                joined_by[edge] = BY_DATASETS
            else:
                root, joined = min(one, other), max(one, other)
                parent[joined] = root
                join_lists(opposed, root, joined)
                for word in range(words):
                    held[root * words + word] |= held[joined * words + word]
                joined_by[edge] = 1
    for vertex in range(len(parent)):
        parent[vertex] = parent[parent[vertex]]


def constrained(n_vertices, sources, targets, decisions, name=str, bits=None) -> Constrained:
    """Join clusters by edges in order, as far as decisions and datasets allow it.

    Parameters
    ----------
    n_vertices : int
    sources, targets : (m,) index arrays
        The ends of the edges on the host, the strongest first: those of a forest, or all of its trees.
    decisions : Decisions
    name : function, optional
        What a vertex is called in a message.
    bits : (n_vertices, words) uint64 array, optional
        Datasets of which no cluster has two records (:class:`~edgewise.ingest.datasets.Datasets`).

    Returns
    -------
    Constrained

    Raises
    ------
    GraphError
        Decisions contradict each other, perhaps through others, or datasets; both are named.
    """
    (ones, others), parted = decisions
    kind, n_must = sources.dtype, len(ones)
    same = np.flatnonzero(np.asarray(parted[0]) == np.asarray(parted[1]))
    if len(same):
        vertex = name(parted[0][same[0]])
        raise GraphError(f"'cannot' parts {vertex} from itself; withdraw this decision")
    records = np.empty(2 * len(parted[0]), kind)
    records[::2], records[1::2] = parted
    opposed = Opposed(
        records,
        np.empty(len(records), np.int64),
        np.full(n_vertices, NONE),
        np.zeros(n_vertices, np.int64),
    )
    ends = tuple(
        np.concatenate([np.asarray(first, kind), second]) if n_must else second
        for first, second in ((ones, sources), (others, targets))
    )
    parent, joined_by = np.arange(n_vertices, dtype=kind), np.empty(len(ends[0]), np.int64)
    held = np.empty(0, np.uint64) if bits is None else bits.ravel().copy()
    n_steps = n_vertices + len(joined_by) + len(records)
    join_unless_opposed.with_steps(n_steps, *ends, parent, opposed, held, joined_by)
    contradicted = np.flatnonzero((joined_by[:n_must] < 0) | (joined_by[:n_must] == BY_DATASETS))
    if len(contradicted):
        raise GraphError(_contradiction(decisions, contradicted[0], -1 - joined_by[contradicted[0]], name))
    of_edges = joined_by[n_must:]
    refused_by = np.where(of_edges < 0, -1 - of_edges, NONE)
    return Constrained(parent, of_edges == 1, refused_by, joined_by[:n_must] == 1)


def small_enough(n_vertices, ends, n_must, max_size):
    """Whether the cluster that each edge of a forest makes has at most ``max_size`` vertices: (m,) bool.

    The edges are in order; the first ``n_must`` are pairs that must be together.  OptionError if these make
    larger clusters.
    """
    sizes = sizes_of_merges(n_vertices, *ends)
    largest = sizes[:n_must].max(initial=0)
    if largest > max_size:
        problem = f"{argument('must')} joins {largest:,} records, more than {argument('max_size', max_size)}"
        raise OptionError(f"{problem}; give a larger size, or withdraw decisions")
    return sizes <= max_size


def parted_twice(n_vertices, sources, targets, decisions, refused_by):
    """Whether each vertex is in a tree two edges of which were refused: (n,) bool array, or ``None``.

    The arguments are those of :func:`constrained`, for the edges of a forest, and what it found.
    """
    refused = np.flatnonzero(refused_by >= 0)
    if len(refused) < 2:
        return None
    none = np.empty(0, sources.dtype)
    trees = constrained(n_vertices, sources, targets, Decisions(decisions.must, (none, none))).labels
    several = np.bincount(trees[sources[refused]], minlength=n_vertices) > 1
    return several[trees] if several.any() else None


def _contradiction(decisions, must, cannot, name):
    """The message of a pair that must be together, by which a pair would be that cannot be.

    ``cannot`` is negative if not a decision but a dataset forbids it.
    """
    together = [name(side[must]) for side in decisions.must]
    if cannot < 0:
        problem = f"'must' joins {together[0]} and {together[1]}, and so two records of one dataset"
        return f"{problem}, which {argument('one_to_one')} forbids; withdraw the decision"
    apart = [name(side[cannot]) for side in decisions.cannot]
    through = "" if set(together) == set(apart) else ", with what else must be together,"
    problem = (
        f"'must' joins {together[0]} and {together[1]}{through} but 'cannot' parts {apart[0]} and {apart[1]}"
    )
    return f"{problem}; withdraw one of the decisions"
