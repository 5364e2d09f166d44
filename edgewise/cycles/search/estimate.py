"""Estimates of the number of cycles of one length in a graph, by sampling."""

from __future__ import annotations

from time import perf_counter
from typing import Unpack

import numpy as np

from edgewise.cycles.counting.ranked import check_undirected
from edgewise.cycles.counting.ranking import ranked_of
from edgewise.cycles.result import CycleEstimate
from edgewise.cycles.search.sampling import estimate_from, sample
from edgewise.device import arrays
from edgewise.errors import OptionError, argument
from edgewise.front import CallOptions, front
from edgewise.graph import Graph
from edgewise.method import is_number, on_device
from edgewise.workers import device_team


@front
def estimate_cycles(
    graph: Graph,
    length: int,
    *,
    samples: int = 200_000,
    confidence: float = 0.95,
    seed: int = 0,
    device: str | None = None,
    **options: Unpack[CallOptions],
) -> CycleEstimate:
    """Estimate how many simple cycles of one length a graph has, by sampling.

    Parameters
    ----------
    graph : Graph
        An undirected one; weights do not matter, self-loops and repeated edges are ignored.
    length : int
        Vertices of a cycle, 3 or more.
    samples : int
        Walks to draw; four times as many halve the interval, or better.
    confidence : float
        Share of such intervals that should hold the number, between 0 and 1.
    seed : int
        The same seed gives the same estimate.
    device : str, optional
        ``"cpu"``, ``"gpu"``, ``"cuda:1"`` or ``"auto"`` (a GPU if there is one); by default the device of
        the graph.  The graph is copied there for this call.

    Returns
    -------
    CycleEstimate

    Raises
    ------
    GraphError
        The graph is directed, or has too many walks of this length for a float.
    OptionError
        A length below 3, no samples, a confidence that is no share, a seed that is no whole number.
    DeviceError, OutOfMemoryError
        The device is not there, or too small.

    Examples
    --------
    >>> import edgewise as ew
    >>> graph = ew.Graph.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 0, 2], n_vertices=4)
    >>> estimate = ew.estimate_cycles(graph, 3)
    >>> round(estimate.total), estimate.low < 2 < estimate.high
    (2, True)
    """
    check_undirected(graph)
    for name, value, least in (("length", length, 3), ("samples", samples, 1), ("seed", seed, 0)):
        if not is_number(value, whole=True) or value < least:
            raise OptionError(f"{argument(name, value)} must be a whole number, {least} or more")
    if not isinstance(confidence, (float, np.floating)) or not 0 < confidence < 1:
        raise OptionError(
            f"{argument('confidence', confidence)} must be a share between 0 and 1, such as 0.95"
        )
    graph = on_device(graph, device)
    start = perf_counter()
    with arrays.guard(graph.device):
        shares, scale = sample(ranked_of(graph), int(length), int(samples), int(seed))
    found = estimate_from(shares, scale, float(confidence))
    seconds, devices = perf_counter() - start, device_team(graph.device).names
    facts = {"confidence": float(confidence), "samples": int(samples), "seed": int(seed), **found._asdict()}
    return CycleEstimate(graph, "sampling", seconds, int(length), devices=devices, **facts)
