"""Estimators in the style of scikit-learn, with and without it: SciPy's hierarchies, DBSCAN's clusters."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist, squareform

import edgewise as ew
from edgewise import estimators
from edgewise.errors import EdgewiseError, GraphError, OptionError, OutOfMemoryError


@pytest.fixture(scope="module")
def points():
    return np.random.default_rng(4).random((60, 3))


def numbered(labels):
    """Labels numbered in the order of the first members."""
    first = {}
    return [first.setdefault(one, len(first)) for one in np.asarray(labels).tolist()]


@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "chebyshev"])
def test_single_linkage_is_that_of_scipy(points, metric):
    theirs = linkage(pdist(points, metric), "single")
    for count in (1, 2, 7, 60):
        ours = ew.SingleLinkage(n_clusters=count, metric=metric).fit(points)
        assert np.array_equal(ours.linkage_[:, 2], theirs[:, 2])
        assert ours.labels_.tolist() == numbered(fcluster(theirs, count, "maxclust"))
        assert ours.n_clusters_ == count
    for height in (0.05, 0.2, 0.5):
        how = {"distance_threshold": height, "metric": metric}
        expected = numbered(fcluster(theirs, height, "distance"))
        assert ew.SingleLinkage(n_clusters=None, **how).fit_predict(points).tolist() == expected
        assert ew.ComponentsClustering(**how).fit_predict(points).tolist() == expected


@pytest.mark.interpreter
def test_distances_may_be_given(points):
    square = squareform(pdist(points))
    sparse = csr_array(np.where(square < 0.3, square, 0))
    expected = ew.SingleLinkage(n_clusters=None, distance_threshold=0.2).fit(points).labels_.tolist()
    for distance, labels in (2, [0, 0]), (1.99, [0, 1]):
        how = {"distance_threshold": distance, "metric": "precomputed"}
        assert ew.ComponentsClustering(**how).fit_predict([[0, 2], [2, 0]]).tolist() == labels
    for distances in (square, sparse):
        how = {"distance_threshold": 0.2, "metric": "precomputed"}
        assert ew.ComponentsClustering(**how).fit_predict(distances).tolist() == expected
        assert ew.SingleLinkage(n_clusters=None, **how).fit_predict(distances).tolist() == expected


@pytest.mark.interpreter
def test_nearest_neighbours_are_enough(points):
    for metric in ("euclidean", "cityblock", "chebyshev"):
        whole = ew.SingleLinkage(n_clusters=5, metric=metric).fit(points)
        near = ew.SingleLinkage(n_clusters=5, n_neighbors=12, metric=metric).fit(points)
        assert near.labels_.tolist() == whole.labels_.tolist()
        assert sorted(near.linkage_[:, 2]) == pytest.approx(sorted(whole.linkage_[:, 2]))
    apart = np.concatenate([points, points + 100])
    with pytest.raises(OptionError, match="the points fall into 2 components, which no distance joins"):
        ew.SingleLinkage(n_clusters=1, n_neighbors=12).fit(apart)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"n_clusters": None}, "exactly one must be None"),
        ({"distance_threshold": 1.0}, "exactly one must be None"),
        ({"n_clusters": 0}, "n_clusters=0 must be a whole number"),
        ({"n_clusters": 61}, "more than the 60 points"),
        ({"n_clusters": None, "distance_threshold": -1.0}, "distance_threshold=-1.0 must be a number"),
        ({"metric": "cosine"}, "metric='cosine' is unknown"),
        ({"n_neighbors": 60}, "less than the 60 points"),
        ({"n_neighbors": 2, "metric": "precomputed"}, "square|means nothing"),
    ],
)
def test_wrong_options(points, options, problem):
    with pytest.raises(EdgewiseError, match=problem):
        ew.SingleLinkage(**options).fit(points)


def test_wrong_input(points, monkeypatch):
    for wrong in ([[1.0]], [[np.nan], [1.0]], [1.0, 2.0]):
        with pytest.raises(ValueError, match=r"."):
            ew.SingleLinkage().fit(wrong)
    with pytest.raises(GraphError, match="square, not 60 by 3"):
        ew.ComponentsClustering(metric="precomputed").fit(points)
    with pytest.raises(GraphError, match="not symmetric"):
        ew.ComponentsClustering(metric="precomputed").fit([[0.0, 1.0], [2.0, 0.0]])
    with pytest.raises(GraphError, match="negative"):
        ew.SingleLinkage(metric="precomputed").fit(csr_array([[0.0, -1.0], [-1.0, 0.0]]))
    monkeypatch.setattr(estimators.arrays, "free_memory", lambda device: 1000)
    with pytest.raises(OutOfMemoryError, match=r"distances of 60 points are too many.*n_neighbors"):
        ew.SingleLinkage().fit(points)


@pytest.mark.parametrize("name", ["SingleLinkage", "ComponentsClustering"])
def test_scikit_learn_accepts_them(name):
    pytest.importorskip("sklearn", minversion="1.6")
    from sklearn.utils import estimator_checks

    for result in estimator_checks.check_estimator(getattr(ew, name)(), on_skip=None):
        assert result["status"] != "failed"
