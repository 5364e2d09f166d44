"""The kernels of refinement and balance compile to PTX without a GPU."""

from dataclasses import replace

import numpy as np
import pytest

import edgewise as ew
from edgewise import tuning
from edgewise.device import lanes, launch, loop, regions
from edgewise.partitions import refine
from edgewise.partitions.presets import Settings
from edgewise.partitions.ratings import rate_by_totals, rate_in_columns
from edgewise.partitions.refine import Refinement
from tests.partitions.test_phases import level_of, move_once, repair_once

pytestmark = pytest.mark.ptx
#: What only the CPU runs, and a kernel whose code another one has too.
LEFT_OUT = {
    "edgewise.partitions.coarsen.clustering.run_rounds",
    "edgewise.partitions.ratings.rate_by_rows",
    "edgewise.partitions.refine.jet.iterate",  # in run_iterations
}


def test_compiles_for_gpus(monkeypatch):
    """Every loop, with the types that it is launched with; some are left out."""
    seen, run, run_region = {}, loop.each.__call__, regions.parallel_region.run

    def spy(self, count, *arguments):
        if self.name not in LEFT_OUT:
            seen.setdefault(self.cuda.name, (self.cuda, arguments))
        return run(self, count, *arguments)

    def spy_rows(self, rows, *arguments, width="thread"):
        kernel = self.kernels["warp"]
        seen.setdefault(kernel.name, (kernel, arguments))
        for vertex in range(rows):
            self.body(vertex, 0, 1, *arguments)

    def spy_region(self, n_workers, arguments):
        if self.name not in LEFT_OUT:
            barrier = np.zeros(regions.BARRIER, np.int32)
            seen.setdefault(self.cuda.name, (self.cuda, (barrier, *arguments)))
        run_region(self, n_workers, arguments)

    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, primitives_few=0))
    monkeypatch.setattr(refine, "room_type", lambda most, where: np.int64)  # as on a GPU
    monkeypatch.setattr(regions.parallel_region, "run", spy_region)
    monkeypatch.setattr(loop.each, "__call__", spy)
    monkeypatch.setattr(lanes.each_row, "__call__", spy_rows)
    job = Refinement(
        level_of(ew.generate.grid(6, 6)), (np.arange(36) // 30).astype(np.uint32), np.full(2, 20), Settings()
    )
    moves = repair_once(job), job.rebalance_strongly(), move_once(job)
    assert moves[0] > 0
    growth = np.zeros(1, np.int64)
    rows, barrier = (36, job.memory.search.listed), np.zeros(regions.BARRIER, np.int32)
    given = barrier, rows, job.level, job.labels, job.memory.facts, growth
    seen["rate_in_columns"] = rate_in_columns.cuda, given
    given = barrier, rows, job.level, job.labels, job.memory.connections, job.memory.facts, growth
    seen["rate_by_totals"] = rate_by_totals.cuda, given
    assert len(seen) >= 11
    for name, (kernel, arguments) in seen.items():
        if "edgewise.partitions" in name or name in ("rate_by_totals", "rate_in_columns"):
            text = kernel.ptx(tuple(map(launch.kind_of, arguments)), (9, 0))
            assert launch.entry_name(text), name
