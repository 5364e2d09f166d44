"""What the benchmarks of the command line write: a folder of tables and pictures, or one HTML page."""

import datetime
import json
from pathlib import Path
from typing import Annotated

import typer

import edgewise
from edgewise import plots
from edgewise.command.info import machine
from edgewise.errors import FileError
from edgewise.experiments.web_page import page
from edgewise.files.atomic_write import atomic_write

Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Folder for tables, pictures and JSON, or one page (.html)."),
]
#: Suffix of the pictures in a folder.
PICTURE = ".png"


def check_output(output):
    """Refuse what cannot be written before anything is measured."""
    if output is None:
        return
    if not output.parent.is_dir():
        raise FileError(output, f"the folder {output.parent} does not exist; create it first")
    if _is_page(output):
        return
    plots.check(output / f"picture{PICTURE}")
    if output.exists() and not output.is_dir():
        raise FileError(output, "is a file; name a folder, or a page (.html)")


def write(reports, output, stage):
    """Write the reports into a folder or a page, if one is wanted."""
    if output is None:
        return
    with stage("write", f"writing {output}"):
        if _is_page(output):
            _write_text(output, page("edgewise bench", facts_of_machine(), reports))
            return
        output.mkdir(exist_ok=True)
        for report in reports:
            _write_into(output, report)


def _is_page(output):
    return output.suffix.lower() in (".html", ".htm")


def _write_into(folder, report):
    _write_text(folder / f"{report.preset}.json", json.dumps(as_dict(report), indent=1))
    tables = [f"## {table.title}\n\n{table.markdown()}" for table in report.tables]
    _write_text(folder / f"{report.preset}.md", "\n\n".join([*heading(report), *tables, ""]))
    for figure in report.figures:
        plots.experiment(figure, folder / f"{figure.name}{PICTURE}")


def _write_text(path, text):
    with atomic_write(path) as part:
        Path(part).write_text(text)


def as_dict(report):
    """A report with the machine and the version, for JSON."""
    here = {name: fact for name, fact in machine().items() if name != "kernels"}  # a path of this machine
    return report.as_dict() | {"machine": here, "version": edgewise.__version__}


def heading(report):
    """What stands above the tables of a report: the machine, and a note where graphs are smaller."""
    here = machine()
    gpus = [f"{gpu['name']} (cuda:{gpu['index']})" for gpu in here["gpus"]]
    where = "; ".join([f"{here['processor']}, {here['cores']} cores, {here['threads']} threads", *gpus])
    return [where, *([report.note] if report.note else [])]


def facts_of_machine():
    """What a page says above its tables."""
    here = machine()
    gpus = ", ".join(gpu["name"] for gpu in here["gpus"]) or "none"
    memory = f"{here['memory_bytes'] / 2**30:.0f} GiB"
    return {
        "date": datetime.date.today().isoformat(),
        "edgewise": here["edgewise"],
        "Python, NumPy, Numba": f"{here['python']}, {here['numpy']}, {here['numba']}",
        "CPU": f"{here['processor']}, {here['cores']} cores, {here['threads']} threads, {memory}",
        "GPU": gpus,
    }
