"""Clustering of points in the style of scikit-learn: the edges of a graph of distances, and its components.

Both estimators cluster the rows of a table of coordinates, or a matrix of distances.  Two points at most
``distance_threshold`` apart are in one cluster, and so are points that a chain of such steps connects: these
are the components of the graph of near points (:class:`ComponentsClustering`), and the clusters of single
linkage at this height (:class:`SingleLinkage`), which has the clusters at all heights.

scikit-learn is optional.  Where it is installed, the estimators are of its own kind: they can be cloned,
searched over and put into pipelines, and they check their input as all of its estimators do.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

import edgewise
from edgewise.device import arrays
from edgewise.errors import GraphError, OptionError, OutOfMemoryError, argument, one_of
from edgewise.graph import Graph
from edgewise.method import POSITIVE, Option

try:
    from sklearn.base import BaseEstimator, ClusterMixin
    from sklearn.utils.validation import validate_data
except ImportError:

    class BaseEstimator:  # type: ignore[no-redef]
        """Stands in for that of scikit-learn where it is not installed."""

    class ClusterMixin:  # type: ignore[no-redef]
        """Stands in for that of scikit-learn where it is not installed."""

        def fit_predict(self, X, y=None):
            """Fit, and return the labels."""
            return self.fit(X).labels_

    def validate_data(estimator, X, **how):  # type: ignore[misc]
        """Coordinates or distances as an array of finite floats, once checked."""
        if hasattr(X, "tocsr"):
            return X.tocsr()
        X = np.asarray(X, np.float64)
        if X.ndim != 2 or len(X) < how["ensure_min_samples"] or not np.isfinite(X).all():
            problem = "a table of finite numbers with two rows or more is needed"
            raise GraphError(f"{problem}, not an array of shape {X.shape} with NaN, or infinite numbers")
        estimator.n_features_in_ = X.shape[1]
        return X


#: Metrics, and the exponents of their norms.
METRICS = {"euclidean": 2.0, "cityblock": 1.0, "chebyshev": np.inf}
PRECOMPUTED = "precomputed"
#: Bytes of a pair of points: its distance, the two points, and copies of these.
BYTES_PER_PAIR = 40


class _PointClustering(ClusterMixin, BaseEstimator):
    """What both estimators have: their input, and labels in the order of the first members.

    Each checks its own parameters (``_check``) and clusters the input (``_roots``).
    """

    metric: str

    def __sklearn_tags__(self):
        """Tags of scikit-learn: a matrix of distances is square, and may be sparse."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.sparse = self.metric == PRECOMPUTED
        return tags

    def _checked(self, X):
        """The coordinates or distances, once they and the metric are checked."""
        if self.metric not in (*METRICS, PRECOMPUTED):
            known = one_of(self.metric, (*METRICS, PRECOMPUTED))
            raise OptionError(f"{argument('metric', self.metric)} is unknown; {known}")
        distances = self.metric == PRECOMPUTED
        X = validate_data(self, X, accept_sparse="csr" if distances else False, ensure_min_samples=2)
        if distances and X.shape[0] != X.shape[1]:
            raise GraphError(f"a matrix of distances is square, not {X.shape[0]} by {X.shape[1]}")
        return X

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster points.

        Parameters
        ----------
        X : (n, features) or (n, n) array-like
            Coordinates, or distances if the metric is ``'precomputed'``.
        y : ignored

        Returns
        -------
        ComponentsClustering or SingleLinkage
            Itself.

        Raises
        ------
        OptionError, ValueError
            A parameter or the input is out of range; or, for :class:`SingleLinkage`, the graph of the nearest
            neighbours has more components than clusters are wanted.
        OutOfMemoryError
            All distances need more memory than there is.

        Examples
        --------
        >>> import edgewise as ew
        >>> ew.SingleLinkage(n_clusters=2).fit([[0], [1], [5], [2]]).n_clusters_
        2
        """
        X = self._checked(X)
        self._check()
        roots, numbers = np.unique(np.asarray(self._roots(X)), return_inverse=True)
        self.labels_ = numbers.reshape(-1).astype(np.int64)
        self.n_clusters_ = len(roots)
        return self

    def _check(self):
        """Refuse parameters that are out of range."""
        raise NotImplementedError

    def _roots(self, X):
        """The first member of each point's cluster."""
        raise NotImplementedError


class ComponentsClustering(_PointClustering):
    """Cluster points that chains of near points connect.

    This is DBSCAN where every point is a core point.  The pairs of near points are found by a k-d tree, so
    memory is proportional to their number.

    Parameters
    ----------
    distance_threshold : float
        Largest distance of two near points.
    metric : {'euclidean', 'cityblock', 'chebyshev', 'precomputed'}
        ``'precomputed'``: the input is a symmetric matrix of distances, dense or sparse; pairs that a sparse
        one does not store are far apart.

    Attributes
    ----------
    labels_ : (n,) int64 array
        Number of each point's cluster; clusters are numbered in the order of their first members.
    n_clusters_ : int
        Number of clusters.

    Examples
    --------
    >>> import edgewise as ew
    >>> ew.ComponentsClustering(distance_threshold=1.5).fit([[0], [1], [5], [2]]).labels_.tolist()
    [0, 0, 1, 0]
    """

    def __init__(self, *, distance_threshold=0.5, metric="euclidean"):
        self.distance_threshold = distance_threshold
        self.metric = metric

    def _check(self):
        _check_threshold(self.distance_threshold)

    def _roots(self, X):
        if self.metric == PRECOMPUTED:
            graph = _graph_of_distances(X)
            near = graph.weights <= self.distance_threshold
            pairs = graph.sources[near], graph.targets[near]
        else:
            from scipy.spatial import cKDTree

            pairs = (
                cKDTree(X).query_pairs(self.distance_threshold, METRICS[self.metric], output_type="ndarray").T
            )
        near = Graph.from_edges(*map(np.ascontiguousarray, pairs), n_vertices=X.shape[0])
        return edgewise.connected_components(near).labels


class SingleLinkage(_PointClustering):
    """Cluster points by single linkage: the nearest clusters are joined first.

    The hierarchy is that of the minimum spanning forest of all distances, or of those to the nearest
    neighbours of each point, which need far less memory.

    Parameters
    ----------
    n_clusters : int or None
        Number of clusters; ``None`` if there is a threshold.
    distance_threshold : float, optional
        Clusters at most this far apart are joined; then ``n_clusters`` must be ``None``.
    metric : {'euclidean', 'cityblock', 'chebyshev', 'precomputed'}
        ``'precomputed'``: the input is a symmetric matrix of distances, dense or sparse; pairs that a sparse
        one does not store are not joined directly.
    n_neighbors : int, optional
        Use the distances of each point to so many nearest neighbours only.  Clusters that no such distance
        joins remain apart.

    Attributes
    ----------
    labels_ : (n,) int64 array
        Number of each point's cluster; clusters are numbered in the order of their first members.
    n_clusters_ : int
        Number of clusters.
    linkage_ : (n - 1, 4) float64 array
        The hierarchy in the form of SciPy; see :func:`edgewise.single_linkage`.

    Examples
    --------
    >>> import edgewise as ew
    >>> found = ew.SingleLinkage(n_clusters=2).fit([[0], [1], [5], [2]])
    >>> found.labels_.tolist(), found.linkage_[:, 2].tolist()
    ([0, 0, 1, 0], [1.0, 1.0, 3.0])
    """

    def __init__(self, *, n_clusters=2, distance_threshold=None, metric="euclidean", n_neighbors=None):
        self.n_clusters = n_clusters
        self.distance_threshold = distance_threshold
        self.metric = metric
        self.n_neighbors = n_neighbors

    def _roots(self, X):
        if self.metric == PRECOMPUTED:
            graph = _graph_of_distances(X)
        elif self.n_neighbors is None:
            graph = _graph_of_all(X, self.metric)
        else:
            graph = _graph_of_neighbours(X, METRICS[self.metric], self.n_neighbors)
        forest = edgewise.minimum_spanning_forest(graph)
        self.linkage_ = edgewise.single_linkage(forest)
        if self.n_clusters is None:
            return forest.components(self.distance_threshold).labels
        return forest.first(graph.n_vertices - self._count(forest)).labels

    def _check(self):
        """Refuse both a number of clusters and a threshold, or none."""
        if (self.n_clusters is None) == (self.distance_threshold is None):
            names = f"{argument('n_clusters')} and {argument('distance_threshold')}"
            raise OptionError(f"of {names} exactly one must be None")
        if self.n_clusters is None:
            _check_threshold(self.distance_threshold)
        else:
            Option().check("n_clusters", self.n_clusters)
        if self.n_neighbors is not None:
            Option().check("n_neighbors", self.n_neighbors)
            if self.metric == PRECOMPUTED:
                raise OptionError(
                    f"{argument('n_neighbors')} means nothing for given distances; leave it out"
                )

    def _count(self, forest):
        """The number of clusters that are wanted, if there can be so many."""
        n, wanted = forest.graph.n_vertices, self.n_clusters
        if wanted > n:
            raise OptionError(f"{argument('n_clusters', wanted)} is more than the {n:,} points")
        if wanted < forest.count:
            problem = f"the points fall into {forest.count:,} components, which no distance joins"
            remedy = f"raise {argument('n_neighbors')} or {argument('n_clusters')}"
            raise OptionError(f"{problem}, and {argument('n_clusters', wanted)}; {remedy}")
        return wanted


def _check_threshold(threshold):
    if threshold != 0 or isinstance(threshold, bool):
        POSITIVE.check("distance_threshold", threshold)


def _graph_of_distances(X):
    """The graph of a matrix of distances."""
    from scipy.sparse import issparse

    if issparse(X):
        graph = Graph.from_scipy(X, directed=False, weight=True)
        if len(graph.weights) and graph.weights.min() < 0:
            raise GraphError("a distance is negative; take the absolute values, or another metric")
        return graph
    if not np.allclose(X, X.T):
        raise GraphError("the matrix of distances is not symmetric; take the mean of it and its transpose")
    sources, targets = np.triu_indices(len(X), 1)
    return Graph.from_edges(sources, targets, weights=X[sources, targets], n_vertices=len(X))


def _graph_of_all(X, metric):
    """The graph of the distances of all pairs of points."""
    from scipy.spatial.distance import pdist

    n = len(X)
    pairs = n * (n - 1) // 2
    if pairs * BYTES_PER_PAIR > (free := arrays.free_memory("cpu")):
        sizes = f"{pairs * BYTES_PER_PAIR:,} bytes needed, {free:,} free"
        remedy = f"give {argument('n_neighbors')}"
        raise OutOfMemoryError(f"the distances of {n:,} points are too many: {sizes}; {remedy}")
    sources, targets = np.triu_indices(n, 1)
    return Graph.from_edges(sources, targets, weights=pdist(X, metric), n_vertices=n)


def _graph_of_neighbours(X, exponent, n_neighbors):
    """The graph of the distances of each point to its nearest neighbours."""
    from scipy.spatial import cKDTree

    n = len(X)
    if n_neighbors >= n:
        raise OptionError(f"{argument('n_neighbors', n_neighbors)} must be less than the {n:,} points")
    distances, neighbours = cKDTree(X).query(X, n_neighbors + 1, p=exponent, workers=-1)
    sources = np.repeat(np.arange(n), n_neighbors + 1)
    edges = {"weights": distances.reshape(-1), "n_vertices": n, "self_loops": "drop"}
    return Graph.from_edges(sources, neighbours.reshape(-1), **edges)
