"""Families of graphs with so few vertices that the number of their edges is known."""

from tests.campaigns.sliced_cases import edges_of


def families(made, a, b, graph, seed):
    """The families: how each is called, its vertices, and its edges where their number is not random.

    ``made`` is the module of the families, ``a`` and ``b`` are 0 to 3.
    """
    few, n = min(a, b), graph.n_vertices
    grid = a * max(b - 1, 0) + max(a - 1, 0) * b
    bricks = a * max(b - 1, 0) + sum((row + at) % 2 == 0 for row in range(a - 1) for at in range(b))
    return {
        "components": (lambda: made.components(a, mean_size=1 + b, seed=seed), a, None),
        "delaunay": (lambda: made.delaunay(a, seed=seed), a, a * (a - 1) // 2),
        "grid": (lambda: made.grid(a, b, seed=seed), a * b, grid),
        "mesh2d": (lambda: made.mesh2d(a, b, holes=0, seed=seed), a * b, bricks),
        "named": (lambda: made.named("road1500", rows=a, seed=seed), a * a, None),
        "paths": (lambda: made.paths(a, mean_length=2.0**32, branches=0, seed=seed), a, max(a - 1, 0)),
        "replicate": (lambda: made.replicate(graph, b), n * b, graph.n_edges * b),
        "rgg": (lambda: made.rgg(a, radius=2, seed=seed), a, a * (a - 1) // 2),
        "rmat": (lambda: made.rmat(a, edge_factor=b, seed=seed), 2**a, b * 2**a),
        "scale_free": (
            lambda: made.scale_free(a, mean_degree=b, hubs=few / 8, hub_degree=1, seed=seed),
            a,
            round(b * a / 2),
        ),
        "stencil3d": (lambda: made.stencil3d(a, b, 1, points=7, seed=seed), a * b, grid),
        "uniform": (lambda: made.uniform(a, b if a else 0, seed=seed), a, b if a else 0),
        "with_weights": (lambda: made.with_weights(graph, few, b, seed=seed), n, graph.n_edges),
    }


def generate(case):
    """Every family has the vertices and edges that it should, and the same ones again."""
    import edgewise as ew

    made, (a, b), seed = ew.generate, (case.draw.randint(0, 3) for _ in range(2)), case.draw.randint(0, 9)
    calls = families(made, a, b, case.graph, seed)
    yield set(calls) | {"pairs"} == set(made.__all__)
    for name, (make, n, m) in calls.items():
        graph = make()
        if graph.n_vertices != n or m not in (None, graph.n_edges) or edges_of(graph) != edges_of(make()):
            raise AssertionError(
                f"{name} of {a}, {b} and seed {seed}: {graph!r}, not {n} vertices, {m} edges"
            )
        ew.connected_components(graph).verify()
    weights = made.with_weights(case.graph, a, a + b, seed=seed).weights
    yield not len(weights) or a <= weights.min() <= weights.max() <= a + b
    table = made.pairs(a, records=1 + b, seed=seed)
    ids = {*table["left_id"].to_pylist(), *table["right_id"].to_pylist()}
    yield table.num_rows == a and len(ids) <= 1 + b and all(len(one) == 17 for one in ids)
