"""Graph analytics on every core of a CPU and on NVIDIA GPUs.

Importing edgewise imports nothing heavy: each public name brings its room when it is first used.
"""

from importlib import import_module

TYPE_CHECKING = False  # type checkers know the name; typing would take time to import

__version__ = "0.1.0"

#: Where each public name lives; an empty attribute means the module itself.
_HOMES = {
    "ClusterStore": ("edgewise.clusters", "ClusterStore"),
    "ComponentsClustering": ("edgewise.estimators", "ComponentsClustering"),
    "ComponentsStream": ("edgewise.streams.batches", "ComponentsStream"),
    "ForestStream": ("edgewise.streams.batches", "ForestStream"),
    "Graph": ("edgewise.graph", "Graph"),
    "SingleLinkage": ("edgewise.estimators", "SingleLinkage"),
    "all_pairs_shortest_paths": ("edgewise.paths.apsp", "all_pairs_shortest_paths"),
    "best_links": ("edgewise.forest.best_links", "best_links"),
    "betweenness": ("edgewise.paths.betweenness", "betweenness"),
    "bfs": ("edgewise.paths.bfs", "bfs"),
    "clustering": ("edgewise.cycles.clustering", "clustering"),
    "connected_components": ("edgewise.components", "connected_components"),
    "core_numbers": ("edgewise.cores", "core_numbers"),
    "cycle_counts": ("edgewise.cycles", "cycle_counts"),
    "diameter": ("edgewise.paths.measures.diameter", "diameter"),
    "distance_measures": ("edgewise.paths.measures", "distance_measures"),
    "distance_table": ("edgewise.paths.tables", "distance_table"),
    "errors": ("edgewise.errors", ""),
    "estimate_closeness": ("edgewise.paths.measures.estimate", "estimate_closeness"),
    "estimate_cycles": ("edgewise.cycles.search.estimate", "estimate_cycles"),
    "evaluate_partition": ("edgewise.partitions.check", "evaluate_partition"),
    "generate": ("edgewise.generators", ""),
    "has_path": ("edgewise.paths.bfs", "has_path"),
    "isochrones": ("edgewise.paths.places.isochrones", "isochrones"),
    "largest_component": ("edgewise.strong.largest", "largest_component"),
    "minimum_spanning_forest": ("edgewise.forest", "minimum_spanning_forest"),
    "nearest": ("edgewise.paths.places.nearest", "nearest"),
    "part_graph": ("edgewise.partitions.compatible", "part_graph"),
    "part_mesh": ("edgewise.partitions.mesh", "part_mesh"),
    "partition": ("edgewise.partitions", "partition"),
    "read": ("edgewise.files", "read"),
    "read_mesh": ("edgewise.files.mesh", "read_mesh"),
    "routes": ("edgewise.paths.hierarchy.routes", "routes"),
    "shortest_paths": ("edgewise.paths.sssp", "shortest_paths"),
    "single_linkage": ("edgewise.forest.single_linkage", "single_linkage"),
    "stream_components": ("edgewise.streams", "stream_components"),
    "stream_forest": ("edgewise.streams", "stream_forest"),
    "strongly_connected_components": ("edgewise.strong", "strongly_connected_components"),
    "tune": ("edgewise.limit_trials", "tune"),
    "update_components": ("edgewise.components.update", "update_components"),
    "warmup": ("edgewise.warm", "warmup"),
    "write": ("edgewise.files", "write"),
}

__all__ = [
    "ClusterStore",
    "ComponentsClustering",
    "ComponentsStream",
    "ForestStream",
    "Graph",
    "SingleLinkage",
    "__version__",
    "all_pairs_shortest_paths",
    "best_links",
    "betweenness",
    "bfs",
    "clustering",
    "connected_components",
    "core_numbers",
    "cycle_counts",
    "diameter",
    "distance_measures",
    "distance_table",
    "errors",
    "estimate_closeness",
    "estimate_cycles",
    "evaluate_partition",
    "generate",
    "has_path",
    "isochrones",
    "largest_component",
    "minimum_spanning_forest",
    "nearest",
    "part_graph",
    "part_mesh",
    "partition",
    "read",
    "read_mesh",
    "routes",
    "shortest_paths",
    "single_linkage",
    "stream_components",
    "stream_forest",
    "strongly_connected_components",
    "tune",
    "update_components",
    "warmup",
    "write",
]

if TYPE_CHECKING:
    from edgewise import errors as errors
    from edgewise import generators as generate
    from edgewise.clusters import ClusterStore as ClusterStore
    from edgewise.components import connected_components as connected_components
    from edgewise.components.update import update_components as update_components
    from edgewise.cores import core_numbers as core_numbers
    from edgewise.cycles import cycle_counts as cycle_counts
    from edgewise.cycles.clustering import clustering as clustering
    from edgewise.cycles.search.estimate import estimate_cycles as estimate_cycles
    from edgewise.estimators import ComponentsClustering as ComponentsClustering
    from edgewise.estimators import SingleLinkage as SingleLinkage
    from edgewise.files import read as read
    from edgewise.files import write as write
    from edgewise.files.mesh import read_mesh as read_mesh
    from edgewise.forest import minimum_spanning_forest as minimum_spanning_forest
    from edgewise.forest.best_links import best_links as best_links
    from edgewise.forest.single_linkage import single_linkage as single_linkage
    from edgewise.graph import Graph as Graph
    from edgewise.limit_trials import tune as tune
    from edgewise.partitions import partition as partition
    from edgewise.partitions.check import evaluate_partition as evaluate_partition
    from edgewise.partitions.compatible import part_graph as part_graph
    from edgewise.partitions.mesh import part_mesh as part_mesh
    from edgewise.paths.apsp import all_pairs_shortest_paths as all_pairs_shortest_paths
    from edgewise.paths.betweenness import betweenness as betweenness
    from edgewise.paths.bfs import bfs as bfs
    from edgewise.paths.bfs import has_path as has_path
    from edgewise.paths.hierarchy.routes import routes as routes
    from edgewise.paths.measures import distance_measures as distance_measures
    from edgewise.paths.measures.diameter import diameter as diameter
    from edgewise.paths.measures.estimate import estimate_closeness as estimate_closeness
    from edgewise.paths.places.isochrones import isochrones as isochrones
    from edgewise.paths.places.nearest import nearest as nearest
    from edgewise.paths.sssp import shortest_paths as shortest_paths
    from edgewise.paths.tables import distance_table as distance_table
    from edgewise.streams import stream_components as stream_components
    from edgewise.streams import stream_forest as stream_forest
    from edgewise.streams.batches import ComponentsStream as ComponentsStream
    from edgewise.streams.batches import ForestStream as ForestStream
    from edgewise.strong import strongly_connected_components as strongly_connected_components
    from edgewise.strong.largest import largest_component as largest_component
    from edgewise.warm import warmup as warmup


def __getattr__(name):
    if name not in _HOMES:
        from edgewise.errors import closest

        meant = None if name.startswith("_") else closest(name, __all__)
        ending = f"; did you mean {meant}?" if meant else ""
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{ending}")
    module, attribute = _HOMES[name]
    value = import_module(module)
    if attribute:
        value = getattr(value, attribute)
    globals()[name] = value
    return value


def __dir__():
    return __all__
