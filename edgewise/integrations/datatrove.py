"""Stage 3 of datatrove's MinHash deduplication: files of duplicate pairs to clusters and documents to remove.

A ``.dups`` file holds records of four little-endian uint32: rank and position of a document, and of a
duplicate of it.  Written for each rank are ``.remove``, the positions to remove, and, on request,
``.clusters`` and ``.sizes``, records of a position and a number.  Positions ascend in all of them.

Clusters are numbered from 0 on in the order of their smallest document, by (rank, position), as datatrove
numbers them: ``.clusters`` and ``.sizes`` are the same bytes.  The document that is kept is the smallest one
of its cluster.  datatrove keeps the root of its unions by size, which depends on the order of the pairs; both
remove the same number of documents of each cluster.  Documents that are in the cluster of the index, whose
rank and position are both 2**32 - 1, are all removed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from datatrove.pipeline.dedup.minhash import MinhashDedupCluster as Step

from edgewise.components import connected_components
from edgewise.errors import FileError, GraphError
from edgewise.graph import Graph

__all__ = ["MinhashDedupCluster"]

#: Rank and position of what stands for all documents of an index, and both as one number.
SENTINEL = 0xFFFFFFFF
INDEX = np.uint64(2**64 - 1)
#: Bytes of a record: four numbers of 32 bits.
RECORD = 16


class MinhashDedupCluster(Step):
    """Stage 3 of a MinHash pipeline, in the place of datatrove's step of this name, with its arguments.

    Parameters
    ----------
    input_folder, output_folder : str, tuple or DataFolder
        Where the ``.dups`` files of stage 2 are, and where the files for stage 4 go.
    config : MinhashConfig, optional
        That of the other stages, whose number of buckets must divide the number of files.
    save_cluster_id, save_cluster_size : bool
        Write ``.clusters`` and ``.sizes``.
    ignore_index_matches : bool
        Leave out pairs with a document of an index.
    lines_to_buffer : int
        Not needed here: files are read whole.

    Raises
    ------
    FileError
        A file is not one of whole records, or the number of files does not fit the number of buckets.
    GraphError
        There are 2**32 clusters or more.
    """

    def run(self, data: Any = None, rank: int = 0, world_size: int = 1) -> None:
        """Read the pairs and write the files of all ranks, in one task."""
        if world_size != 1:
            raise GraphError(f"clusters are found by one task, not by {world_size}; use tasks=1")
        names = self.input_folder.list_files(glob_pattern="*.dups")
        if len(names) % self.config.num_buckets:
            problem = f"there are {len(names)} .dups files for {self.config.num_buckets} buckets"
            raise FileError(self.input_folder.path, f"{problem}; run stage 2 to its end")
        with self.track_time():
            pairs = [self._pairs(name) for name in names]
            self._write(np.concatenate(pairs) if pairs else np.empty((0, 2), np.uint64))

    def _pairs(self, name) -> np.ndarray:
        """The documents of the pairs in a file, rank above position: (pairs, 2) uint64."""
        with self.input_folder.open(name, "rb") as file:
            content = file.read()
        if len(content) % RECORD:
            raise FileError(name, f"{len(content):,} bytes are no whole records of {RECORD}; write it again")
        found = np.frombuffer(content, "<u4").reshape(-1, 2, 2).astype(np.uint64)
        documents = found[:, :, 0] << np.uint64(32) | found[:, :, 1]
        of_index = documents[:, 0] == INDEX
        return documents[~of_index] if self.ignore_index_matches else documents

    def _write(self, documents) -> None:
        """Write what stage 4 reads, for the clusters of pairs of documents."""
        graph = Graph.from_edges(documents[:, 0], documents[:, 1])
        clusters = connected_components(graph)
        if clusters.count > SENTINEL:
            raise GraphError(f"{clusters.count:,} clusters do not fit into 32 bits; split the documents")
        ids = np.asarray(
            graph.ids_of(np.arange(graph.n_vertices)), np.uint64
        )  # ascending, so roots are least
        numbers = np.searchsorted(clusters.roots, clusters.labels)
        keep = np.zeros(len(ids), bool)
        keep[clusters.roots] = True
        if len(ids) and ids[-1] == INDEX:
            keep[clusters.labels[-1]], keep[-1] = False, True
        self._write_ranks(ids, keep, {"clusters": numbers, "sizes": clusters.sizes()[numbers]})
        self.stat_update("duplicates", value=len(ids))
        self.stat_update("to_remove", value=int((~keep).sum()))
        if self.save_cluster_id:
            self.stat_update("clusters", value=clusters.count)

    def _write_ranks(self, ids, keep, columns) -> None:
        """Write the files of each rank, of documents in ascending order."""
        ranks, positions = ids >> np.uint64(32), (ids & np.uint64(SENTINEL)).astype("<u4")
        starts = np.flatnonzero(np.diff(ranks, prepend=~ranks[:1]))
        wanted = {"clusters": self.save_cluster_id, "sizes": self.save_cluster_size}
        for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(ids)]):
            part, name = slice(start, stop), f"{ranks[start]:06d}"
            removed = positions[part][~keep[part]]
            if len(removed):
                self._write_file(f"{name}.remove", removed)
            for kind, column in columns.items():
                if wanted[kind]:
                    pairs = np.stack([positions[part], column[part].astype("<u4")], 1)
                    self._write_file(f"{name}.{kind}", pairs)

    def _write_file(self, name, array) -> None:
        with self.output_folder.open(name, "wb") as file:
            file.write(array.tobytes())
