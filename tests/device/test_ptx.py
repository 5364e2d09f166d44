"""Every kernel that the methods and builders launch compiles to PTX without a GPU."""

from itertools import cycle

import numpy as np
import pytest

import edgewise as ew
from edgewise.components import MERGES, METHODS
from edgewise.device import lanes, launch, loop
from edgewise.ingest import csr
from tests.zoo import ZOO

pytestmark = pytest.mark.ptx
CAPABILITIES = [(8, 0), (9, 0)]


@pytest.fixture(scope="module")
def launched():
    """Every kernel with the argument types it was launched with, learnt from runs on the CPU."""
    seen = {}
    with pytest.MonkeyPatch.context() as patch:
        run, run_rows = loop.each.__call__, lanes.each_row.__call__

        def spy(self, count, *arguments):
            seen[self.cuda.name, tuple(map(launch.kind_of, arguments))] = self.cuda
            return run(self, count, *arguments)

        def spy_rows(self, rows, *arguments, width="thread"):
            for kernel in self.kernels.values():
                seen[kernel.name, tuple(map(launch.kind_of, arguments))] = kernel
            return run_rows(self, rows, *arguments, width=width)

        patch.setattr(loop.each, "__call__", spy)
        patch.setattr(lanes.each_row, "__call__", spy_rows)
        vertices, sources, targets = ZOO["dense"]
        graph = ew.Graph(vertices, edges=(sources.astype(np.uint32), targets.astype(np.uint32), None))
        for name in METHODS:
            ew.connected_components(graph, method=name).verify()
        for merge in MERGES:
            ew.connected_components(graph, devices="cpu:0,cpu:1,cpu:2", merge=merge).verify()
        weights = np.arange(len(sources)) % 4
        ew.connected_components(graph, thresholds=[1, 3], weight=weights).summary()
        stream = ew.ComponentsStream(vertices)
        stream.add(graph.sources, graph.targets)
        assert stream.connected(0, 0)
        stream.result()
        csr._by_radix_sort(vertices, sources.astype(np.uint32), targets.astype(np.uint32), True, True)
    return seen


def test_kernels_compile(launched):
    assert len(launched) > 20
    for ((name, kinds), kernel), capability in zip(launched.items(), cycle(CAPABILITIES)):
        text = kernel.ptx(kinds, capability)
        assert launch.entry_name(text), name
        assert f".target sm_{capability[0]}{capability[1]}" in text, name


def test_a_text_of_another_form_is_refused():
    for read in (launch.entry_name, launch.n_parameters):
        with pytest.raises(ew.errors.DeviceError, match="makes other PTX"):
            read("no kernel")
