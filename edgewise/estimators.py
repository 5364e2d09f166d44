"""Clustering of points in the style of scikit-learn: the edges of a graph of distances, and its components.

Both estimators cluster the rows of a table of coordinates, or a matrix of distances or similarities.  Two
points at most ``distance_threshold`` apart are in one cluster, and so are points that a chain of such steps
connects: these are the components of the graph of near points (:class:`ComponentsClustering`), and the
clusters of single linkage at this height (:class:`SingleLinkage`), which has the clusters at all heights.
Similarities are compared with ``similarity_threshold``, where both estimators return the same clusters.

scikit-learn is optional.  Where it is installed, the estimators are of its own kind: they can be cloned,
searched over and put into pipelines, and they check their input as all of its estimators do.
"""

from __future__ import annotations

import sys
from typing import Any, Self

import numpy as np

import edgewise
from edgewise.device import arrays
from edgewise.errors import GraphError, OptionError, OutOfMemoryError, argument, one_of
from edgewise.graph import Graph
from edgewise.ingest.matrices import entries_of
from edgewise.method import POSITIVE, Option, is_number

try:
    from sklearn.base import BaseEstimator, ClusterMixin
    from sklearn.utils.validation import validate_data
except ImportError:

    class BaseEstimator:  # type: ignore[no-redef]
        """Stands in for that of scikit-learn where it is not installed."""

    class ClusterMixin:  # type: ignore[no-redef]
        """Stands in for that of scikit-learn where it is not installed."""

        fit: Any

        def fit_predict(self, X, y=None):
            """Fit, and return the labels."""
            return self.fit(X).labels_

    def validate_data(estimator, X, **how):  # type: ignore[misc]
        """The input as an array, or as a matrix by rows, once checked."""
        sparse = hasattr(X, "tocsr")
        if sparse and not how["accept_sparse"]:
            needed = f"{argument('metric', PRECOMPUTED)} or {argument('similarity_threshold')}"
            raise GraphError(f"a sparse matrix needs {needed}; give coordinates as an array")
        X = X.tocsr() if sparse else np.asarray(X, np.float64)
        values = X.data if sparse else X
        finite = values.dtype.kind in "biuf" and np.isfinite(values).all()
        if X.ndim != 2 or X.shape[0] < how["ensure_min_samples"] or not finite:
            problem = "a table of finite numbers with two rows or more is needed"
            raise GraphError(f"{problem}, not one of shape {X.shape} with NaN, infinite or other values")
        estimator.n_features_in_ = X.shape[1]
        return X


#: Metrics, and the exponents of their norms.
METRICS = {"euclidean": 2.0, "cityblock": 1.0, "chebyshev": np.inf}
PRECOMPUTED = "precomputed"
#: Parameters that say which clusters are wanted: at most one of them is given.
CRITERIA = ("n_clusters", "distance_threshold", "similarity_threshold")
#: Bytes of a pair of points: its distance, the two points, and copies of these.
BYTES_PER_PAIR = 40


class _PointClustering(ClusterMixin, BaseEstimator):
    """What both estimators have: their input, thresholds, and labels in the order of the first members.

    Each clusters coordinates or distances (``_roots``).
    """

    metric: str
    distance_threshold: float | None
    similarity_threshold: float | None

    def __sklearn_tags__(self):
        """Tags of scikit-learn: a matrix of all pairs is square, and may be sparse."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.sparse = self._matrix_of is not None
        return tags

    @property
    def _matrix_of(self):
        """What the input has for pairs of points; ``None`` if it has coordinates."""
        if self.similarity_threshold is not None:
            return "similarities"
        return "distances" if self.metric == PRECOMPUTED else None

    def _check(self):
        """Refuse parameters that are out of range, or that exclude each other."""
        if self.metric not in (*METRICS, PRECOMPUTED):
            known = one_of(self.metric, (*METRICS, PRECOMPUTED))
            raise OptionError(f"{argument('metric', self.metric)} is unknown; {known}")
        given = [name for name in CRITERIA if getattr(self, name, None) is not None]
        if len(given) > 1:
            names = " and ".join(argument(name, getattr(self, name)) for name in given)
            raise OptionError(f"{names} exclude each other; give one of them")
        if self.distance_threshold is not None:
            _check_distance(self.distance_threshold)
        if self.similarity_threshold is not None:
            _check_similarity(self.similarity_threshold, self.metric)

    def _checked(self, X):
        """The coordinates or the matrix; entries that are stored twice are added up, as SciPy does."""
        kind = self._matrix_of
        X = validate_data(self, X, accept_sparse="csr" if kind else False, ensure_min_samples=2)
        if kind and X.shape[0] != X.shape[1]:
            raise GraphError(f"a matrix of {kind} is square, not {X.shape[0]} by {X.shape[1]}")
        if hasattr(X, "tocsr") and not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return X

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster points.

        Parameters
        ----------
        X : (n, features) or (n, n) array-like
            Coordinates; distances if the metric is ``'precomputed'``; similarities if there is a threshold of
            these.  Distances and similarities may be a sparse matrix or array of SciPy.
        y : ignored

        Returns
        -------
        ComponentsClustering or SingleLinkage
            Itself.

        Raises
        ------
        OptionError, ValueError
            A parameter or the input is out of range, NaN or infinite; two parameters exclude each other; or,
            for :class:`SingleLinkage`, the graph of the nearest neighbours has more components than clusters
            are wanted.
        OutOfMemoryError
            All distances need more memory than there is.

        Examples
        --------
        >>> import edgewise as ew
        >>> ew.SingleLinkage(n_clusters=2).fit([[0], [1], [5], [2]]).n_clusters_
        2
        """
        self._check()
        X = self._checked(X)
        if self.similarity_threshold is None:
            roots = self._roots(X)
        else:
            self.__dict__.pop("linkage_", None)  # of distances that were fitted before
            roots = _components(X.shape[0], _similar_pairs(X, self.similarity_threshold))
        roots, numbers = np.unique(np.asarray(roots), return_inverse=True)
        self.labels_ = numbers.reshape(-1).astype(np.int64)
        self.n_clusters_ = len(roots)
        return self

    def _roots(self, X):
        """The first member of each point's cluster."""
        raise NotImplementedError


class ComponentsClustering(_PointClustering):
    """Cluster points that chains of near points connect.

    This is DBSCAN where every point is a core point.  The pairs of near points are found by a k-d tree, so
    memory is proportional to their number.

    Parameters
    ----------
    distance_threshold : float, optional
        Largest distance of two near points; by default 0.5.
    metric : {'euclidean', 'cityblock', 'chebyshev', 'precomputed'}
        ``'precomputed'``: the input is a symmetric matrix of distances, dense or sparse; pairs that a sparse
        one does not store are far apart.
    similarity_threshold : float, optional
        Smallest similarity of two near points, in place of a distance: the input is a matrix of similarities
        (see :class:`SingleLinkage`).

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

    def __init__(self, *, distance_threshold=None, metric="euclidean", similarity_threshold=None):
        self.distance_threshold = distance_threshold
        self.metric = metric
        self.similarity_threshold = similarity_threshold

    def _roots(self, X):
        threshold = 0.5 if self.distance_threshold is None else self.distance_threshold
        if self.metric == PRECOMPUTED:
            graph = _graph_of_distances(X)
            near = graph.weights <= threshold
            return _components(X.shape[0], (graph.sources[near], graph.targets[near]))
        from scipy.spatial import cKDTree

        pairs = cKDTree(X).query_pairs(threshold, METRICS[self.metric], output_type="ndarray")
        return _components(X.shape[0], pairs.T)


class SingleLinkage(_PointClustering):
    """Cluster points by single linkage: the nearest clusters are joined first.

    The hierarchy is that of the minimum spanning forest of all distances, or of those to the nearest
    neighbours of each point, which need far less memory.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters; by default 2, unless there is a threshold.
    distance_threshold : float, optional
        Clusters at most this far apart are joined.
    metric : {'euclidean', 'cityblock', 'chebyshev', 'precomputed'}
        ``'precomputed'``: the input is a symmetric matrix of distances, dense or sparse; pairs that a sparse
        one does not store are not joined directly.
    n_neighbors : int, optional
        Use the distances of each point to so many nearest neighbours only.  Clusters that no such distance
        joins remain apart.
    similarity_threshold : float, optional
        Clusters at least this similar are joined.  The input is then a square matrix of similarities, dense
        or sparse, such as of ``cosine_similarity``: rows ``i`` and ``j`` are similar if the entry of either
        ``(i, j)`` or ``(j, i)`` is at least the threshold.  Pairs that a sparse matrix does not store are not
        similar, whatever the threshold.

    Attributes
    ----------
    labels_ : (n,) int64 array
        Number of each point's cluster; clusters are numbered in the order of their first members.
    n_clusters_ : int
        Number of clusters.
    linkage_ : (n - 1, 4) float64 array
        The hierarchy in the form of SciPy; see :func:`edgewise.single_linkage`.  There is none of
        similarities.

    Examples
    --------
    >>> import edgewise as ew
    >>> found = ew.SingleLinkage(n_clusters=2).fit([[0], [1], [5], [2]])
    >>> found.labels_.tolist(), found.linkage_[:, 2].tolist()
    ([0, 0, 1, 0], [1.0, 1.0, 3.0])
    >>> import scipy.sparse
    >>> similar = scipy.sparse.coo_array(([0.9, 0.7], ([0, 1], [2, 3])), shape=(4, 4))
    >>> ew.SingleLinkage(similarity_threshold=0.8).fit_predict(similar).tolist()
    [0, 1, 0, 2]
    """

    def __init__(
        self,
        *,
        n_clusters=None,
        distance_threshold=None,
        metric="euclidean",
        n_neighbors=None,
        similarity_threshold=None,
    ):
        self.n_clusters = n_clusters
        self.distance_threshold = distance_threshold
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.similarity_threshold = similarity_threshold

    def _roots(self, X):
        if self.metric == PRECOMPUTED:
            graph = _graph_of_distances(X)
        elif self.n_neighbors is None:
            graph = _graph_of_all(X, self.metric)
        else:
            graph = _graph_of_neighbours(X, METRICS[self.metric], self.n_neighbors)
        forest = edgewise.minimum_spanning_forest(graph)
        self.linkage_ = edgewise.single_linkage(forest)
        if self.distance_threshold is not None:
            return forest.components(self.distance_threshold).labels
        return forest.first(graph.n_vertices - self._count(forest)).labels

    def _check(self):
        super()._check()
        if self.n_clusters is not None:
            Option().check("n_clusters", self.n_clusters)
        if self.n_neighbors is not None:
            Option().check("n_neighbors", self.n_neighbors)
            if kind := self._matrix_of:
                raise OptionError(f"{argument('n_neighbors')} means nothing for given {kind}; leave it out")

    def _count(self, forest):
        """The number of clusters that are wanted, if there can be so many."""
        n, wanted = forest.graph.n_vertices, 2 if self.n_clusters is None else self.n_clusters
        if wanted > n:
            raise OptionError(f"{argument('n_clusters', wanted)} is more than the {n:,} points")
        if wanted < forest.count:
            problem = f"the points fall into {forest.count:,} components, which no distance joins"
            remedy = f"raise {argument('n_neighbors')} or {argument('n_clusters')}"
            raise OptionError(f"{problem}, and {argument('n_clusters', wanted)}; {remedy}")
        return wanted


def _check_distance(threshold):
    if threshold != 0 or isinstance(threshold, bool):
        POSITIVE.check("distance_threshold", threshold)


def _check_similarity(threshold, metric):
    if not is_number(threshold, whole=False) or not abs(_plain(threshold)) <= sys.float_info.max:
        raise OptionError(f"{argument('similarity_threshold', threshold)} must be a finite number")
    if metric not in ("euclidean", PRECOMPUTED):  # the first one is the default
        raise OptionError(f"{argument('metric', metric)} means nothing for given similarities; leave it out")


def _plain(number):
    """A number of Python, which unlike a scalar of NumPy takes the type of what it is compared with."""
    return np.asarray(number).item()


def _components(n_vertices, pairs):
    """The first member of each point's cluster, where pairs of points are joined."""
    near = Graph.from_edges(*map(np.ascontiguousarray, pairs), n_vertices=n_vertices)
    return edgewise.connected_components(near).labels


def _similar_pairs(X, threshold):
    """The pairs of points with a similarity of at least a threshold, which takes the type of the matrix."""
    threshold = _plain(threshold)
    with np.errstate(over="ignore"):
        if not hasattr(X, "tocsr"):
            return np.nonzero(X >= threshold)
        *pairs, similarities = entries_of(X)
        near = similarities >= threshold
        return [points[near] for points in pairs]


def _graph_of_distances(X):
    """The graph of a matrix of distances."""
    from scipy.sparse import issparse

    if issparse(X):
        graph = Graph.from_scipy(X, directed=False, weight=True)
        if graph.weights is not None and graph.weights.min(initial=0) < 0:
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
