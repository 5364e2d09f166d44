"""``edgewise partition``: a graph in, a part for every vertex and a report out."""

from enum import StrEnum
from typing import Annotated, Any

import typer

import edgewise
from edgewise.command import options, report
from edgewise.command.outputs import check_outputs, check_writable, on_terminal, or_standard_output
from edgewise.command.stages import finish, stages
from edgewise.device import threads
from edgewise.errors import GraphError, OptionError, argument
from edgewise.files.destinations import goes_to_standard_output
from edgewise.files.inputs import name_of
from edgewise.files.mesh import GTYPES, is_mesh_file
from edgewise.partitions import METHODS, PRESETS
from edgewise.partitions.result import is_plain, read_numbers

EXAMPLES = (
    "edgewise partition mesh.graph 64 -o mesh.graph.part.64",
    "edgewise partition mesh.graph 64 --preset strong --seed 1",
    "edgewise partition --mesh wing.mesh 2 -o parts.csv",
    "edgewise partition pairs.parquet 8 --scale 1000 -o parts.parquet",
)
DOCUMENTATION = "partitions.md"

Method = options.choice("Method", "How to compute", METHODS)
Preset = StrEnum("Preset", {name: name for name in PRESETS})
GraphOfMesh = StrEnum("GraphOfMesh", {name: name for name in GTYPES})
Form = StrEnum("Form", {"text": "text", "json": "json"})
DEFAULT_PRESET, TEXT, DUAL = Preset("default"), Form("text"), GraphOfMesh("dual")
Parts = Annotated[int, typer.Argument(metavar="PARTS", help="Number of parts.", min=1)]
Output = options.output(
    "File to write: a name that ends in .part or .part.64 has one part a line, as gpmetis writes it; others "
    "are tables (Parquet, CSV, Arrow, JSON Lines); - is standard output."
)
To = options.format_of_output()
Plot = options.plot("weights of the parts")
Verify = options.verify("partition", "graph")
Imbalance = Annotated[
    float, typer.Option(metavar="SHARE", help="A part may be heavier than an even share by this much.")
]
PresetOption = Annotated[
    Preset, typer.Option("--preset", metavar="PRESET", help=f"Work for a small cut: {', '.join(PRESETS)}.")
]
Seed = Annotated[int, typer.Option(help="The same seed gives the same parts.")]
Tries = Annotated[int, typer.Option(help="Whole runs, of which the best is taken.")]
Initial = Annotated[
    str | None, typer.Option(metavar="FILE", help="Partition to improve, one part a line.", allow_dash=False)
]
Targets = Annotated[
    str | None, typer.Option("--target-weights", metavar="FILE", help="Share of each part, one a line.")
]
Scale = Annotated[
    float | None,
    typer.Option(metavar="FACTOR", help="Multiply weights that are no integers, and round them."),
]
Contiguous = Annotated[
    bool, typer.Option("--contiguous", help="Keep the vertices of each part connected inside of it.")
]
Mesh = Annotated[
    bool,
    typer.Option("--mesh", help="FILE is a mesh (VTK, VTU, Gmsh, Abaqus, METIS ...), and OUT has its parts."),
]
Gtype = Annotated[
    GraphOfMesh,
    typer.Option("--gtype", metavar="dual|nodal", help="Divide the elements of a mesh, or its nodes."),
]
Ncommon = Annotated[
    int | None,
    typer.Option("--ncommon", metavar="N", help="Nodes that neighbours share; by default those of a face."),
]
MetisVersion = Annotated[
    int | None,
    typer.Option("--metis-version", metavar="4|5", help="Version of METIS that a METIS mesh is of."),
]
Report = Annotated[Form, typer.Option("--report", metavar="text|json", help="Form of the report.")]


@options.with_reading
def partition(
    graph: options.Input,
    parts: Parts,
    reading,
    output: Output = None,
    to: To = None,
    imbalance: Imbalance = 0.03,
    preset: PresetOption = DEFAULT_PRESET,
    seed: Seed = 0,
    tries: Tries = 1,
    initial: Initial = None,
    target_weights: Targets = None,
    scale: Scale = None,
    contiguous: Contiguous = False,
    mesh: Mesh = False,
    gtype: Gtype = DUAL,
    ncommon: Ncommon = None,
    metis_version: MetisVersion = None,
    plot: Plot = None,
    verify: Verify = False,
    report_form: Report = TEXT,
    method: Method = "auto",
    device: options.Device = None,
    thread_count: options.Threads = None,
    profile: options.Profile = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
):
    """Read a graph, divide its vertices into parts of nearly equal weight, and report the cut."""
    json = json or str(report_form) == "json"
    output = or_standard_output(output, to, shown=False)
    of_mesh = _mesh_options(mesh, str(gtype), ncommon, metis_version)
    _check_outputs(output, plot, graph, to, json, mesh)
    threads.use(thread_count)
    team = options.team(device, None)
    with stages(quiet or json or on_terminal(output), team.synchronize) as (stage, clock):
        with stage("read", f"reading {name_of(graph)}") as progress:
            whole, read = _read(graph, progress, reading, of_mesh)
            more: dict[str, Any] = {"tries": tries, "scale": scale, "method": str(method)}
            more |= {"contiguous": contiguous} | _from_files(initial, read.n_vertices, target_weights, parts)
        with stage("compute", f"partitioning on {team[0].device}"):
            more |= {"imbalance": imbalance, "preset": str(preset), "seed": seed, "device": team[0].device}
            result = edgewise.partition(read, parts, **more)
        with stage("measure", "measuring the parts"):
            own = result.report()
        finish(stage, result, "checking every edge" if verify else "", plot=plot)
        if output is not None:
            with stage("write", f"writing {output}"):
                _write(result, output, to, whole, str(gtype))
    if json:
        own.pop("seconds")
        facts = report.facts(result, team, clock, own | report.devices(result, team), verify, output, plot)
        report.as_json(facts)
    elif not quiet:
        if output is None or not goes_to_standard_output(output):
            print_measures(own)
        report.closing_line(
            result, in_words(result), f"{result.method}, {report.device_in_words(team)}", clock, output
        )
    if profile:
        report.profile(clock)


def _mesh_options(mesh, gtype, ncommon, metis_version):
    """The options of a mesh, or ``None`` for a graph."""
    if not mesh and metis_version is not None:
        raise OptionError("--metis-version is for meshes; give --mesh too")
    if not mesh and (ncommon is not None or gtype != "dual"):
        raise OptionError("--gtype and --ncommon are for meshes; give --mesh too")
    if ncommon is not None and gtype == "nodal":
        raise OptionError("--ncommon is for the dual graph, not for --gtype nodal; leave it out")
    return (gtype, ncommon, metis_version) if mesh else None


def _read(graph, progress, reading, of_mesh):
    """The mesh, or ``None``, and the graph that is divided."""
    if of_mesh is not None:
        gtype, ncommon, metis_version = of_mesh
        if reading:
            raise OptionError(f"{argument(min(reading))} means nothing for a mesh; leave it out")
        whole = edgewise.read_mesh(graph, metis_version=metis_version)
        return whole, whole.nodal_graph() if gtype == "nodal" else whole.dual_graph(ncommon)
    read = edgewise.read(graph, progress=progress, **reading)
    if read.directed:
        raise GraphError(f"{name_of(graph)} is directed; --undirected takes its edges in both directions")
    return None, read


def _check_outputs(output, plot, graph, to, json, mesh):
    if output is not None and (is_plain(output) or (mesh and to is None and is_mesh_file(output))):
        check_writable(output, [graph])
        output = None
    check_outputs(output, plot, [graph], to=to, json=json)


def _from_files(initial, n_vertices, target_weights, parts):
    """The options that are files, as arrays."""
    found = {}
    if initial is not None:
        found["initial"] = read_numbers(initial, n_vertices, whole=True)
    if target_weights is not None:
        found["target_weights"] = read_numbers(target_weights, parts, whole=False)
    return found


def _write(result, output, to, whole, gtype):
    """Write the parts: of a mesh, one a line, or as a table."""
    if whole is not None and to is None and (is_plain(output) or is_mesh_file(output)):
        whole.write(output, result.on_host().parts, gtype=gtype)
    elif is_plain(output):
        result.write(output)
    else:
        edgewise.write(result.to_frame(), output, format=to)


def in_words(result):
    """The result in a few words."""
    cut = f"{result.edge_cut:,}" if isinstance(result.edge_cut, int) else f"{result.edge_cut:,.6g}"
    parts = report.counted(result.k, "part")
    return f"{parts}, cut {cut}, imbalance {100 * result.imbalance:.2f} %{result.why_unbalanced()}"


def print_measures(own):
    """Print the measures of a partition, one a line."""
    adjacent = f"{own['max_adjacent_parts']} at most, {own['min_adjacent_parts']} at least"
    lines = {
        "edge cut": f"{own['edge_cut']:,}",
        "communication volume": f"{own['communication_volume']:,}",
        "balance": f"{own['balance']:.3f} ({100 * own['imbalance']:.2f} % above an even share, rounded up)",
        "part weights": f"{own['min_part_weight']:,} to {own['max_part_weight']:,}",
        "empty parts": f"{own['empty_parts']:,}",
        "boundary vertices": f"{own['boundary_vertices']:,}",
        "largest cut of a part": f"{own['max_part_cut']:,}",
        "largest volume of a part": f"{own['max_part_volume']:,}",
        "adjacent parts": f"{adjacent}, {own['mean_adjacent_parts']:.1f} on average",
        "contiguous parts": f"{own['contiguous_parts']:,} of {own['parts']:,}",
        "components of a part": f"{own['max_components']:,} at most",
    }
    report.lines(lines)
