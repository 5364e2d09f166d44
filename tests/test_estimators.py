"""Estimators in the style of scikit-learn, with and without it: SciPy's hierarchies, DBSCAN's clusters."""

import importlib.util
import re
import sys

import numpy as np
import pytest
import scipy.sparse
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
        (
            {"n_clusters": 2, "distance_threshold": 1.0},
            "n_clusters=2 and distance_threshold=1.0 exclude each",
        ),
        ({"n_clusters": 2, "similarity_threshold": 0.5}, "n_clusters=2 and similarity_threshold=0.5 exclude"),
        ({"distance_threshold": 0.0, "similarity_threshold": 0.5}, "exclude each other; give one of them"),
        ({"similarity_threshold": np.nan}, "similarity_threshold=nan must be a finite number"),
        ({"similarity_threshold": -np.inf}, "similarity_threshold=-inf must be a finite number"),
        ({"similarity_threshold": 10**400}, "must be a finite number"),
        ({"similarity_threshold": True}, "similarity_threshold=True must be a finite number"),
        ({"similarity_threshold": "0.5"}, "similarity_threshold='0.5' must be a finite number"),
        (
            {"similarity_threshold": 0.5, "metric": "cityblock"},
            "metric='cityblock' means nothing for given sim",
        ),
        (
            {"similarity_threshold": 0.5, "n_neighbors": 2},
            "n_neighbors= means nothing for given similarities",
        ),
        ({"similarity_threshold": 0.5}, "a matrix of similarities is square, not 60 by 3"),
        ({"n_clusters": 0}, "n_clusters=0 must be a whole number"),
        ({"n_clusters": 61}, "more than the 60 points"),
        ({"n_clusters": None, "distance_threshold": -1.0}, "distance_threshold=-1.0 must be a number"),
        ({"metric": "cosine"}, "metric='cosine' is unknown"),
        ({"n_neighbors": 60}, "less than the 60 points"),
        ({"n_neighbors": 2, "metric": "precomputed"}, "n_neighbors= means nothing for given distances"),
    ],
)
def test_wrong_options(points, options, problem):
    with pytest.raises(EdgewiseError, match=problem):
        ew.SingleLinkage(**options).fit(points)


@pytest.fixture(params=["scikit-learn", "without"])
def module(request, monkeypatch):
    """The estimators, also as they are where scikit-learn is not installed."""
    if request.param == "scikit-learn":
        pytest.importorskip("sklearn", minversion="1.6")
        return estimators
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    spec = importlib.util.spec_from_file_location("estimators_without", estimators.__file__)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def clusters_by_hand(n, similarities, threshold):
    """Labels of the clusters that similar pairs join, in the order of the first members."""
    cluster = list(range(n))
    for (row, column), similarity in similarities.items():
        if similarity >= threshold:
            one, other = cluster[row], cluster[column]
            cluster = [min(one, other) if now in (one, other) else now for now in cluster]
    return numbered(cluster)


KINDS = [(form, kind) for form in ("csr", "csc", "coo", "lil", "dok") for kind in ("array", "matrix")]


@pytest.mark.interpreter
@pytest.mark.parametrize(("form", "kind"), KINDS)
def test_similarities_are_clustered(module, form, kind):
    random = np.random.default_rng(KINDS.index((form, kind)))
    for case in range(12):
        n = int(random.integers(2, 14))
        ends = random.integers(0, n, (int(random.integers(0, 2 * n)), 2)).tolist()
        similar = {(row, column): float(random.integers(-4, 9)) / 8 for row, column in ends}
        if case % 2:
            similar |= {ends[::-1]: value for ends, value in similar.items()}
        entries = list(similar.values()), tuple(np.array(list(similar), int).reshape(-1, 2).T)
        given = getattr(scipy.sparse, f"coo_{kind}")(entries, shape=(n, n))
        given = given.asformat(form)
        stored = None if form == "coo" else given.copy()
        for threshold in (-0.5, 0.0, 0.125, 0.75, np.float32(0.5), 1):
            expected = clusters_by_hand(n, similar, threshold)
            for name in ("SingleLinkage", "ComponentsClustering"):
                for metric in ("euclidean", "precomputed"):
                    estimator = getattr(module, name)(similarity_threshold=threshold, metric=metric)
                    assert estimator.fit_predict(given).tolist() == expected
                    assert estimator.n_clusters_ == len(set(expected))
        assert stored is None or (stored != given).nnz == 0


@pytest.mark.interpreter
def test_what_a_matrix_of_similarities_stores(module):
    def labels(matrix, threshold):
        return module.SingleLinkage(similarity_threshold=threshold).fit_predict(matrix).tolist()

    assert labels([[1, 0.2, 0], [0.9, 1, 0], [0, 0, 1]], 0.5) == [0, 0, 1]  # dense, and one direction
    assert labels([[1, 0], [0, 1]], 0) == [0, 0]  # a dense matrix has all pairs
    assert labels(csr_array((2, 2)), 0) == labels(csr_array((2, 2)), -1) == [0, 1]
    zero = csr_array(([0.0], [1], [0, 1, 1]), shape=(2, 2))
    assert labels(zero, 0) == [0, 0] and labels(zero, 1e-300) == [0, 1]
    twice = csr_array(([0.25, 0.25], [1, 1], [0, 2, 2]), shape=(2, 2))
    assert labels(twice, 0.5) == labels(twice.tocoo(), 0.5) == [0, 0] and twice.nnz == 2
    narrow = csr_array(np.array([[0, 0.7], [0, 0]], np.float32))
    assert labels(narrow, 0.7) == labels(narrow, np.float64(0.7)) == [0, 0]  # less than 0.7 in float64
    assert labels(narrow, 0.71) == labels(narrow, 1e300) == [0, 1] and labels(narrow, -1e300) == [0, 0]
    assert labels(narrow > 0, 1) == labels((narrow * 10).astype(np.int8), 7) == [0, 0]
    for wrong in (np.nan, np.inf, -np.inf, 1j):
        for matrix in (csr_array(np.array([[0, wrong], [0, 0]])), [[0, wrong], [wrong, 0]]):
            with pytest.raises((ValueError, TypeError), match=r"."):
                labels(matrix, 0.5)
    for shape in ((2, 3), (0, 0), (1, 1)):
        with pytest.raises(ValueError, match=r"."):
            labels(csr_array(shape), 0.5)
    with pytest.raises((ValueError, TypeError), match=r"."):  # coordinates are no sparse matrix
        module.SingleLinkage().fit(narrow)


@pytest.mark.interpreter
def test_there_is_no_hierarchy_of_similarities(points):
    square = squareform(pdist(points))
    by_distance = ew.SingleLinkage(metric="precomputed", distance_threshold=0.2).fit(square)
    assert by_distance.linkage_.shape == (59, 4)
    both = by_distance.labels_.tolist()
    by_similarity = by_distance
    by_similarity.distance_threshold, by_similarity.similarity_threshold = None, -0.2
    assert by_similarity.fit(-square).labels_.tolist() == both
    assert not hasattr(by_similarity, "linkage_")


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
    similar = getattr(ew, name)(similarity_threshold=0.5)
    for result in estimator_checks.check_estimator(similar, on_skip=None, on_fail=None):
        if result["status"] == "failed":  # a check that has coordinates, or a number of clusters, of its own
            assert re.search("is square|exclude each other", str(result["exception"]))
