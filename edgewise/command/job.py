"""The run of a subcommand on a graph: its devices, its steps, what it writes and prints."""

from contextlib import contextmanager

import edgewise
from edgewise.command import options, report
from edgewise.command.outputs import check_outputs, check_writable, on_terminal, or_standard_output
from edgewise.command.stages import stages
from edgewise.device import threads
from edgewise.errors import GraphError
from edgewise.files.destinations import name_of as name_of_output
from edgewise.files.inputs import name_of
from edgewise.method import check_device


class Job:
    """A run, whose outputs are checked and whose devices are found when it is made.

    Parameters
    ----------
    inputs : sequence of str
        Files, which no output may replace.
    goals : Goals
        What is written.
    run : Run
        Where is computed, and what is printed.
    shown : bool
        Whether the table goes to standard output if it is a pipe and no output is named.
    plain : bool
        Whether the output is no table.
    method, methods : str, mapping
        A method, which is refused where a device has none of its name in the table.
    scheduler : str or None
        What computes instead of the devices.
    draws : bool
        Whether the subcommand has a picture.
    """

    def __init__(
        self,
        inputs,
        goals,
        run,
        *,
        shown=True,
        plain=False,
        method="auto",
        methods=None,
        scheduler=None,
        draws=True,
    ):
        self.goals, self.run, self.scheduler, self.draws = goals, run, scheduler, draws
        self.output = or_standard_output(goals.output, goals.to, shown=shown and not run.json)
        self.name = in_messages(inputs)
        if plain:
            check_writable(self.output, inputs)
        check_outputs(None if plain else self.output, goals.plot, inputs, to=goals.to, json=run.json)
        if goals.certificate is not None:
            check_writable(goals.certificate, inputs)
        threads.use(run.threads)
        self.team = options.team("cpu", None) if scheduler else options.team(run.device, run.devices)
        for one in self.team.devices if methods else ():
            check_device(method, one, methods)

    @property
    def device(self):
        """The one device."""
        return self.team[0].device

    @property
    def where(self):
        """What messages call what computes."""
        return self.scheduler or self.run.devices or self.device

    @contextmanager
    def steps(self):
        """Context of the run that yields ``stage``: see :func:`~edgewise.command.stages.stages`."""
        silent = self.run.quiet or self.run.json or on_terminal(self.output)
        with stages(silent, self.team.synchronize) as (self.stage, self.clock):
            yield self.stage

    def check_room(self, files, reading, call, *, undirected=True):
        """Refuse a job that needs more memory than there is: see :func:`~edgewise.command.expected.check`."""
        from edgewise.command import expected

        if expected.is_planning() or (self.scheduler is None and self.team.devices == ("cpu",)):
            expected.check(files, reading, call, undirected=undirected, json=self.run.json)

    def read(self, file, reading, call=None, *, undirected=True):
        """Read the graph for a call: a problem and its options, as of :meth:`Graph.estimate`."""
        if call is not None:
            self.check_room([file], reading, call, undirected=undirected)
        with self.stage("read", f"reading {self.name}") as progress:
            graph = edgewise.read(file, progress=progress, **reading)
            if undirected:
                check_undirected(graph, self.name)
        return graph

    def finish(self, result, checking, table=None):
        """Check the result, as ``checking`` says, write a table of it, and draw it, as far as is wanted."""
        self.check(result, checking)
        if self.output is not None and table is not None:
            self.write(table)
        if self.goals.plot is not None:
            with self.stage("plot", f"drawing {self.goals.plot}"):
                result.plot(self.goals.plot)

    def check(self, result, checking):
        """Check the result, as ``checking`` says, and write its certificate, as far as is wanted."""
        if self.goals.verify:
            with self.stage("verify", checking):
                result.verify()
        if self.goals.certificate is not None:
            with self.stage("prove", f"writing {self.goals.certificate}"):
                result.certificate().save(self.goals.certificate)

    def write(self, table):
        """Write a table to the output."""
        with self.stage("write", f"writing {name_of_output(self.output)}"):
            edgewise.write(table, self.output, format=self.goals.to)

    def close(self, result, facts, found, *, how="", show=None, aside=False):
        """Print the end of a run.

        That is the JSON object with ``facts()``, or what ``show()`` prints unless there is an output, and the
        closing line, which says what was ``found`` and ``how``,
        on standard error if ``aside``; then a profile.
        """
        run = self.run
        written = (self.output, self.goals.plot) if self.draws else (self.output,)
        if run.json:
            report.as_json(report.facts(result, self.team, self.clock, facts(), self.goals.verify, *written))
        elif show is not None and self.output is None:
            show()
        if not (run.json or run.quiet):
            how = how or f"{result.method}, {self.devices_in_words(result)}"
            report.closing_line(result, found, how, self.clock, "-" if aside else self.output)
        if run.profile:
            report.profile(self.clock)

    def devices_in_words(self, result):
        """What the closing line says of the devices."""
        if self.scheduler is not None:
            return report.counted(len(result.devices), "worker")
        return report.device_in_words(self.team)

    def facts(self, result):
        """What the JSON object says of the method and the devices."""
        return {"method": result.method, **report.devices(result, self.team), **self.workers(result)}

    def workers(self, result):
        """What the JSON object says of the workers of a scheduler."""
        return {} if self.scheduler is None else {"workers": len(result.devices)}

    def places(self):
        """The devices as arguments of a public function."""
        one = self.run.device if self.run.devices or self.scheduler else self.device
        return {"device": one, "devices": self.run.devices}


def in_messages(inputs):
    """What messages call the inputs."""
    return name_of(inputs[0]) if len(inputs) == 1 else f"{len(inputs)} files"


def check_undirected(graph, name):
    """Refuse a directed graph."""
    if graph.directed:
        raise GraphError(f"{name} is directed; --undirected takes its edges in both directions")
