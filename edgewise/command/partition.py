"""``edgewise partition``: a graph in, a part for every vertex and a report out.

``edgewise partition-eval`` measures the parts of any program.
"""

from typing import NamedTuple

import edgewise
from edgewise.command import expected, options, report
from edgewise.command.job import Job, check_undirected
from edgewise.command.stages import stages
from edgewise.errors import OptionError, argument
from edgewise.files.destinations import goes_to_standard_output
from edgewise.files.inputs import name_of
from edgewise.files.mesh import GTYPES, is_mesh_file
from edgewise.partitions import METHODS, PRESETS
from edgewise.partitions.result import is_plain, read_numbers, read_parts

Method = options.choice("Method", "How to compute", METHODS)
Preset = options.names_of("Preset", PRESETS)
GraphOfMesh = options.names_of("GraphOfMesh", GTYPES)
Form = options.names_of("Form", ("text", "json"))
OWN = options.of(edgewise.partition, "imbalance", "seed", "tries", "scale", "contiguous")


class OfMesh(NamedTuple):
    """How a mesh is read."""

    mesh: options.option(
        bool, "FILE is a mesh (VTK, VTU, Gmsh, Abaqus, METIS ...), and OUT has its parts."
    ) = False
    gtype: options.option(
        GraphOfMesh, "Divide the elements of a mesh, or its nodes.", "--gtype", metavar="dual|nodal"
    ) = "dual"
    ncommon: options.option(
        int, "Nodes that neighbours share; by default those of a face.", "--ncommon", metavar="N"
    ) = None
    metis_version: options.option(
        int, "Version of METIS that a METIS mesh is of.", "--metis-version", metavar="4|5"
    ) = None

    def check(self, reading):
        """Refuse options that mean nothing together."""
        nodal = str(self.gtype) == "nodal"
        if not self.mesh and self.metis_version is not None:
            raise OptionError("--metis-version is for meshes; give --mesh too")
        if not self.mesh and (self.ncommon is not None or nodal):
            raise OptionError("--gtype and --ncommon are for meshes; give --mesh too")
        if self.ncommon is not None and nodal:
            raise OptionError("--ncommon is for the dual graph, not for --gtype nodal; leave it out")
        if self.mesh and reading:
            raise OptionError(f"{argument(min(reading))} means nothing for a mesh; leave it out")

    def read(self, file):
        """The mesh, and its graph."""
        whole = edgewise.read_mesh(file, metis_version=self.metis_version)
        return whole, whole.nodal_graph() if str(self.gtype) == "nodal" else whole.dual_graph(self.ncommon)


@options.subcommand(
    "partitions.md",
    "edgewise partition mesh.graph 64 -o mesh.graph.part.64",
    "edgewise partition mesh.graph 64 --preset strong --seed 1",
    "edgewise partition --mesh wing.mesh 2 -o parts.csv",
    "edgewise partition pairs.parquet 8 --scale 1000 -o parts.parquet",
    leave_out=("devices",),
    output="File to write: a name that ends in .part or .part.64 has one part a line, as gpmetis writes it; "
    "others are tables (Parquet, CSV, Arrow, JSON Lines); - is standard output.",
    plot="weights of the parts",
    verify="partition against the graph",
    certificate="partition",
)
def partition(
    graph: options.Input,
    parts: options.argument(int, "PARTS", "Number of parts.", min=1),
    reading,
    goals: options.Goals,
    of_mesh: OfMesh,
    run: options.Run,
    more=OWN,
    preset: options.option(
        Preset, f"Work for a small cut: {', '.join(PRESETS)}.", "--preset", metavar="NAME"
    ) = "default",
    initial: options.option(str, "Partition to improve, one part a line or a table.", metavar="FILE") = None,
    target_weights: options.option(str, "Share of each part, one a line.", metavar="FILE") = None,
    report_form: options.option(Form, "Form of the report.", "--report", metavar="text|json") = "text",
    method: Method = "auto",
):
    """Read a graph, divide its vertices into parts of nearly equal weight, and report the cut."""
    of_mesh.check(reading)
    run = run._replace(json=run.json or str(report_form) == "json")
    plain = goals.output is not None and is_plain(goals.output)
    plain |= of_mesh.mesh and goals.output is not None and goals.to is None and is_mesh_file(goals.output)
    job = Job([graph], goals, run, shown=False, plain=plain)
    with job.steps() as stage:
        if of_mesh.mesh:
            with stage("read", f"reading {job.name}"):
                whole, read = of_mesh.read(graph)
        else:
            call = "partition", {"parts": parts, "preset": str(preset), "method": str(method)}
            whole, read = None, job.read(graph, reading, call)
        if initial is not None:
            more["initial"] = read_parts(initial, read)
        if target_weights is not None:
            more["target_weights"] = read_numbers(target_weights, parts, whole=False)
        with stage("compute", f"partitioning on {job.device}"):
            how = {"preset": str(preset), "method": str(method), "device": job.device}
            result = edgewise.partition(read, parts, **how, **more)
        with stage("measure", "measuring the parts"):
            measures = result.report()
        job.finish(result, "checking every edge")
        if job.output is not None:
            with stage("write", f"writing {job.output}"):
                _write(result, job, whole, str(of_mesh.gtype))
    if not (run.json or run.quiet) and (job.output is None or not goes_to_standard_output(job.output)):
        print_measures(measures)
    del measures["seconds"]
    job.close(result, lambda: measures | report.devices(result, job.team), in_words(result))


def _write(result, job, whole, gtype):
    """Write the parts: of a mesh, one a line, or as a table."""
    if whole is not None and job.goals.to is None and (is_plain(job.output) or is_mesh_file(job.output)):
        whole.write(job.output, result.on_host().parts, gtype=gtype)
    elif is_plain(job.output):
        result.write(job.output)
    else:
        edgewise.write(result.to_frame(), job.output, format=job.goals.to)


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


@options.subcommand(
    "partitions.md", "edgewise partition-eval mesh.graph mesh.graph.part.64", leave_out=("profile",)
)
def partition_eval(
    graph: options.Input,
    parts: options.argument(str, "PARTS", "File with one part a line, from 0 on, or a table of parts."),
    reading,
    shown: options.Shown,
):
    """Read a graph and a partition of its vertices, from any program, and measure the partition."""
    with stages(shown.quiet or shown.json) as (stage, clock):
        with stage("read", f"reading {name_of(graph)}") as progress:
            expected.check([graph], reading, None, undirected=True)
            read = edgewise.read(graph, progress=progress, **reading)
            check_undirected(read, name_of(graph))
            numbers = read_parts(parts, read)
        with stage("measure", "measuring the parts"):
            own = edgewise.evaluate_partition(read, numbers).report()
    if shown.json:
        report.as_json({"vertices": read.n_vertices, "edges": read.n_edges, **own})
        return
    print_measures(own)
    if not shown.quiet:
        found = report.counted(own["parts"], "part")
        report.say(f"{report.graph_in_words(read)}: {found}; {report.times(clock)}")
