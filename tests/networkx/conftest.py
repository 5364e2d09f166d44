"""NetworkX knows the backend, also where edgewise is not installed with its entry points."""

from importlib.metadata import EntryPoint

import pytest

nx = pytest.importorskip("networkx", minversion="3.6", reason="NetworkX 3.6 or newer is not installed")

from _edgewise_nx import get_info  # noqa: E402

if "edgewise" not in nx.utils.backends.backends:
    entry_point = EntryPoint("edgewise", "edgewise.networkx.interface:BackendInterface", "networkx.backends")
    nx.utils.backends.backends["edgewise"] = entry_point
    nx.utils.backends.backend_info["edgewise"] = get_info()
    nx.config.backends = nx.utils.Config(edgewise=nx.utils.Config(), **nx.config.backends)
    kind = nx.utils.backends._dispatchable
    kind.__call__ = kind._call_if_any_backends_installed


@pytest.fixture(autouse=True)
def _silent_about_cached_graphs():
    with nx.config(warnings_to_ignore={"cache"}):
        yield
