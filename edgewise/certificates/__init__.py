"""Certificates: answers together with proofs that a page of plain NumPy checks in one pass.

Each problem has a page whose function ``check(graph, certificate)`` raises
:class:`~edgewise.errors.VerificationError` unless the answer is right.  The pages import NumPy, the errors
and the page of the record alone, so that a mistake in a solver cannot hide in its checker.  They trust no
array: one of another kind or length, or with numbers that are out of range, is refused like a wrong answer.
Proofs are made by the rooms of the problems, in their pages ``certificate``.
"""

from importlib import import_module

from edgewise.certificates.record import Certificate, GraphArrays, are_within, expect

__all__ = ["CHECKERS", "Certificate", "GraphArrays", "check"]

#: The page that checks the certificates of each problem; the first check of a problem imports it.
CHECKERS = {
    "components": "edgewise.certificates.components",
    "strong": "edgewise.certificates.strong",
    "cores": "edgewise.certificates.cores",
    "forest": "edgewise.certificates.forest",
    "distances": "edgewise.certificates.distances",
    "partition": "edgewise.certificates.partition",
    "cycles": "edgewise.certificates.cycles",
    "routes": "edgewise.certificates.routes",
}


def check(graph: GraphArrays, certificate: Certificate) -> None:
    """Raise :class:`~edgewise.errors.VerificationError` unless a certificate proves its answer.

    Parameters
    ----------
    graph : GraphArrays
        The edges, as the user gave them.
    certificate : Certificate
        Trusted in nothing.
    """
    known = certificate.problem in CHECKERS
    expect(known, f"the certificate is of the unknown problem {certificate.problem!r:.40}")
    for name, count in (("n_vertices", graph.n_vertices), ("n_edges", len(graph.sources))):
        given = certificate.facts.get(name)
        noun = name.removeprefix("n_")
        is_same = type(given) is int and given == count
        expect(is_same, f"the certificate is of a graph with {given!r:.40} {noun}, and this one has {count}")
    for ends in (graph.sources, graph.targets):
        is_inside = are_within(ends, 0, graph.n_vertices)
        expect(is_inside, "the graph has edges to vertices that it does not have; read it again")
    import_module(CHECKERS[certificate.problem]).check(graph, certificate)
