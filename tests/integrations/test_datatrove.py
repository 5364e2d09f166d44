"""Stage 3 of datatrove: the same bytes of clusters and sizes, and one document of each cluster is kept."""

import numpy as np
import pytest

from edgewise.errors import FileError, GraphError

minhash = pytest.importorskip("datatrove.pipeline.dedup.minhash", reason="there is no edgewise[datatrove]")
ours = pytest.importorskip("edgewise.integrations.datatrove")
ALL = 2**32 - 1


def write_pairs(folder, seed, index):
    rng = np.random.default_rng(seed)
    folder.mkdir()
    for bucket in range(2):
        records = np.stack([rng.integers(0, high, 40) for high in (3, 50, 3, 50)], 1).astype("<u4")
        records = records[(records[:, :2] != records[:, 2:]).any(1)]
        if index:
            records[rng.random(len(records)) < 0.2, :2] = ALL
        (folder / f"{bucket:05d}_00.dups").write_bytes(records.tobytes())


def written(step, folder, output, **how):
    config = minhash.MinhashConfig(num_buckets=2)
    step(str(folder), str(output), config, save_cluster_id=True, save_cluster_size=True, **how).run()
    files = {path.name: path.read_bytes() for path in output.iterdir()}
    return [{name: one for name, one in files.items() if name.endswith(kind)} for kind in ("s", "remove")]


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("index", "ignore"), [(False, False), (True, False), (True, True)])
@pytest.mark.parametrize("seed", range(4))
def test_files(tmp_path, seed, index, ignore):
    write_pairs(tmp_path / "pairs", seed, index)
    how = {"ignore_index_matches": ignore}
    numbers, removed = written(ours.MinhashDedupCluster, tmp_path / "pairs", tmp_path / "ours", **how)
    theirs, others = written(minhash.MinhashDedupCluster, tmp_path / "pairs", tmp_path / "theirs", **how)
    assert numbers == theirs
    assert sum(map(len, removed.values())) == sum(map(len, others.values()))
    members, gone = {}, set()
    for name, content in removed.items():
        gone |= {(int(name[:-7]), one) for one in np.frombuffer(content, "<u4").tolist()}
    for name, content in sorted(numbers.items()):
        if name.endswith("clusters"):
            for position, cluster in np.frombuffer(content, "<u4").reshape(-1, 2).tolist():
                members.setdefault(cluster, []).append((int(name[:-9]), position))
    for cluster in members.values():
        kept = max(cluster) if max(cluster) == (ALL, ALL) else min(cluster)
        assert {*cluster} - gone == {kept}


def test_errors(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "00000_00.dups").write_bytes(bytes(17))
    step = ours.MinhashDedupCluster(
        str(tmp_path / "in"), str(tmp_path / "out"), minhash.MinhashConfig(num_buckets=1)
    )
    with pytest.raises(
        FileError, match=r"00000_00.dups: 17 bytes are no whole records of 16; write it again"
    ):
        step.run()
    with pytest.raises(GraphError, match="clusters are found by one task, not by 2"):
        step.run(world_size=2)
    two = ours.MinhashDedupCluster(
        str(tmp_path / "in"), str(tmp_path / "out"), minhash.MinhashConfig(num_buckets=2)
    )
    with pytest.raises(FileError, match=r"there are 1 \.dups files for 2 buckets; run stage 2 to its end"):
        two.run()


def test_no_pairs(tmp_path):
    (tmp_path / "in").mkdir()
    for bucket in range(2):
        (tmp_path / "in" / f"{bucket:05d}_00.dups").write_bytes(b"")
    (tmp_path / "out").mkdir()
    assert written(ours.MinhashDedupCluster, tmp_path / "in", tmp_path / "out") == [{}, {}]
