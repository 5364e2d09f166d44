"""A store of clusters: records, scored pairs and decisions that come and go, and names that stay.

A store takes batches: pairs and records that come and go, decisions of people, and another threshold.
:mod:`~edgewise.clusters.request` reads what is asked, :mod:`~edgewise.clusters.batch` works out what that
changes, :mod:`~edgewise.clusters.naming` passes the names on, and :mod:`~edgewise.clusters.state` takes the
changes in.  :mod:`~edgewise.clusters.folder` has all of it on disk.
"""

from edgewise.clusters.store import ClusterStore

__all__ = ["ClusterStore"]
