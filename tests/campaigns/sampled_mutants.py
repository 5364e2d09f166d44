"""Faults drawn at random over all rooms: which part of them the tests find, the mutation score.

``python tests/campaigns/sampled_mutants.py --cases 150 --seed 1 --processes 32 --output sample.json``

A fault changes one operator, constant, condition or statement of the package.  Every room gives as many
faults as the others, at places drawn by the seed.  The whole suite runs once on every engine without a fault,
and :mod:`tests.campaigns.entered_lines` keeps which tests enter the lines of the faults; those tests run with
the fault, short ones of the same room first, until one fails.  Compiled kernels do not report their lines, so
a fault in a kernel that survives in the interpreter and the simulator is tried with the same tests, compiled;
``--engines interpreter simulator`` leaves those out.
Faults that survive are listed: each is equivalent, by a reason that a reader must give, or asks for a test in
``mutants.toml``.
"""

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.campaigns.mutants import ENGINES, ROOT, by_copies, write

COMPARISONS = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
}
ARITHMETIC = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.FloorDiv: ("//", "*"),
    ast.Div: ("/", "*"),
    ast.Mod: ("%", "//"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.BitXor: ("^", "&"),
}
NAMES = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "fetch_min": "fetch_max",
    "fetch_max": "fetch_min",
}
#: What a copy of the tree does not have.
LEFT_OUT = (".*", "__pycache__", "_build", "dist", "build")
#: Tests that run with a fault on one engine at most, how many compiled, and their seconds without it.
MOST_TESTS, MOST_COMPILED, MOST_SECONDS = 150, 40, 90


class Fault(NamedTuple):
    """A fault at a place.

    Attributes
    ----------
    file : str
    line : int
        Where the fault is, from 1.
    start, end : int
        The characters of the file that are replaced.
    new : str
        What replaces them.
    """

    file: str
    line: int
    start: int
    end: int
    new: str

    @property
    def room(self):
        """The folder below the package, or the page."""
        return Path(self.file).parts[1]

    def planted(self, text):
        """The text of the file with the fault."""
        return text[: self.start] + self.new + text[self.end :]

    def shown(self, text):
        """The changed line before and after."""
        first = text.rfind("\n", 0, self.start) + 1
        last = text.find("\n", self.end)
        return text[first:last].strip(), (text[first : self.start] + self.new + text[self.end : last]).strip()


class Places(ast.NodeVisitor):
    """Collects the faults of one page."""

    def __init__(self, name, text):
        self.name, self.text = name, text
        self.starts = [0]
        for line in text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.faults = []

    def add(self, node, start, end, new):
        """Keep a fault."""
        self.faults.append(Fault(self.name, node.lineno, start, end, new))

    def begin(self, node):
        """Position of the first character of a node."""
        return self.starts[node.lineno - 1] + node.col_offset

    def end(self, node):
        """Position behind the last character of a node."""
        return self.starts[node.end_lineno - 1] + node.end_col_offset

    def operator(self, node, left, right, old, new):
        """Exchange the operator between two nodes."""
        start = self.text.find(old, self.end(left), self.begin(right))
        if start >= 0:
            self.add(node, start, start + len(old), new)

    def visit_FunctionDef(self, node):
        for part in node.body:
            self.visit(part)
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if default is not None:
                self.visit(default)

    def visit_AnnAssign(self, node):
        if node.value is not None:
            self.visit(node.value)

    def visit_ClassDef(self, node):
        for part in node.body:
            self.visit(part)

    def visit_If(self, node):
        if "TYPE_CHECKING" not in ast.unparse(node.test):
            self.condition(node.test)
            self.generic_visit(node)

    def visit_While(self, node):
        self.condition(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node):
        self.condition(node.test)
        self.generic_visit(node)

    def condition(self, test):
        """Negate a condition that is no comparison, whose operator is exchanged instead."""
        if isinstance(test, ast.Name | ast.Call | ast.Attribute | ast.Subscript):
            start, end = self.begin(test), self.end(test)
            self.add(test, start, end, f"(not {self.text[start:end]})")

    def visit_Compare(self, node):
        if len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
            self.operator(node, node.left, node.comparators[0], *COMPARISONS[type(node.ops[0])])
        self.generic_visit(node)

    def visit_BinOp(self, node):
        texts = [side for side in (node.left, node.right) if isinstance(side, ast.JoinedStr | ast.Constant)]
        if type(node.op) in ARITHMETIC and not any(
            isinstance(side, ast.JoinedStr) or isinstance(side.value, str) for side in texts
        ):
            self.operator(node, node.left, node.right, *ARITHMETIC[type(node.op)])
        self.generic_visit(node)

    def visit_BoolOp(self, node):
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        self.operator(node, node.values[0], node.values[1], old, new)
        self.generic_visit(node)

    def visit_UnaryOp(self, node):
        if isinstance(node.op, ast.Not):
            self.add(
                node,
                self.begin(node),
                self.end(node),
                self.text[self.begin(node.operand) : self.end(node.operand)],
            )
        self.generic_visit(node)

    def visit_Constant(self, node):
        if isinstance(node.value, bool):
            self.add(node, self.begin(node), self.end(node), str(not node.value))
        elif isinstance(node.value, int):
            self.add(node, self.begin(node), self.end(node), f"({node.value} + 1)")

    def visit_Call(self, node):
        if isinstance(node.func, ast.Name) and node.func.id in NAMES:
            self.add(node, self.begin(node.func), self.end(node.func), NAMES[node.func.id])
        self.generic_visit(node)

    def visit_Expr(self, node):
        if isinstance(node.value, ast.Call):
            self.add(node, self.begin(node), self.end(node), "pass")
            self.generic_visit(node)

    def visit_AugAssign(self, node):
        self.add(node, self.begin(node), self.end(node), "pass")
        self.generic_visit(node)

    def visit_Raise(self, node):
        """Texts of errors have no faults here."""

    def visit_JoinedStr(self, node):
        """Nor have formatted texts."""


def drawn(cases, seed):
    """So many different faults, from each room in turn; pages are drawn in proportion to their places."""
    places = defaultdict(list)
    for path in sorted((ROOT / "edgewise").rglob("*.py")):
        text = path.read_text()
        if text.isascii():
            visitor = Places(str(path.relative_to(ROOT)), text)
            visitor.visit(ast.parse(text))
            for fault in visitor.faults:
                places[fault.room if "." not in fault.room else "edgewise"].append(fault)
    source = random.Random(seed)
    for faults in places.values():
        source.shuffle(faults)
    rooms = sorted(places)
    return [places[rooms[number % len(rooms)]][number // len(rooms)] for number in range(cases)]


def survivors(path):
    """The faults that have survived by a file of a sample, if their lines are still the same."""
    faults = []
    for row in json.loads(path.read_text()):
        fault = Fault(*(row[name] for name in Fault._fields))
        if row["outcome"] != "survived":
            continue
        if fault.shown((ROOT / fault.file).read_text()) == (row["before"], row["after"]):
            faults.append(fault)
        else:
            print(f"changed since: {fault.file}:{fault.line}: {row['before']}", flush=True)
    return faults


def environment_of(engine, folder):
    """The variables of a run of tests."""
    dropped = ("NUMBA_DISABLE_JIT", "EDGEWISE_SIMULATOR", "EDGEWISE_PUBLIC_ONLY")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    path = os.pathsep.join([str(folder), *filter(None, [kept.get("PYTHONPATH")])])
    own = {
        "PYTHONPATH": path,
        "EDGEWISE_CACHE_DIR": str(folder / "kernels"),
        "CI": "1",
        "NUMBA_NUM_THREADS": "2",
    }
    return kept | own | ENGINES[engine]


def entered(faults, copy, given):
    """Which tests enter the line of each fault, ``[(engine, test, seconds)]``, and all tests by engine."""
    folder = copy.parent
    places = folder / "places.json"
    places.write_text(json.dumps([(str(copy / fault.file), fault.line) for fault in faults]))
    tests = [[] for _ in faults]
    known = {engine: set() for engine in given.engines}
    for engine in known:
        kept = folder / engine
        kept.mkdir()
        own = {"ENTERED_PLACES": str(places), "ENTERED_FOLDER": str(kept)}
        options = ["-q", "-n", str(given.processes), "-p", "entered_lines", "-p", "no:cacheprovider"]
        options.append("--continue-on-collection-errors")
        if engine != "compiled":
            options += ["-m", engine]
        start = time.monotonic()
        said = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *given.tests],
            cwd=copy,
            env=environment_of(engine, copy) | own,
            capture_output=True,
            text=True,
            check=False,
        ).stdout
        if not any(file.stat().st_size for file in kept.iterdir()):
            raise SystemExit(f"no test passes without a fault ({engine}):\n{said[-2000:]}")
        print(f"{engine}: {said.splitlines()[-1:]} {time.monotonic() - start:.0f} s", flush=True)
        for file in kept.iterdir():
            for line in file.read_text().splitlines():
                test, seconds, numbers = json.loads(line)
                known[engine].add((test, seconds))
                for number in numbers:
                    tests[number].append((engine, test, seconds))
    return tests, known


def chosen(fault, tests, engine, known):
    """The tests of an engine that run with a fault, the likeliest first, and their seconds.

    No test enters a line that runs when its page is imported, and no compiled test one of a kernel: all tests
    of the engine are asked then.
    """
    room = fault.room.removesuffix(".py")
    own = f"/{room}/", f"/test_{room}"
    entering = [(test, seconds) for here, test, seconds in tests if here == engine] or known[engine]
    rows = {(not any(name in test for name in own), seconds, test) for test, seconds in entering}
    names, total = [], 0.0
    for _, seconds, test in sorted(rows)[: MOST_TESTS if engine != "compiled" else MOST_COMPILED]:
        total += seconds
        if names and total > MOST_SECONDS:
            break
        names.append(test)
    return names, total


def ran(folder, names, engine, most):
    """Run tests with a fault: ``passed``, ``failed``, ``stopped`` or ``broken``, and what pytest said."""
    listed = folder / "tests.txt"
    listed.write_text("\n".join(names) + "\n")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", f"@{listed}"]
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        child = subprocess.Popen(
            command,
            cwd=folder,
            env=environment_of(engine, folder),
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
        try:
            status = child.wait(most)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, 9)
            child.wait()
            return "stopped", f"after {most:.0f} s"
        said.seek(0)
        lines = said.read().splitlines()
    told = [line for line in lines if line.startswith(("FAILED", "ERROR"))] or lines[-1:]
    told = "".join(told[:1])[:200]
    if status in (0, 5):
        return "passed", told
    return "broken" if told.startswith("ERROR: ") else "failed", told


def judged(folder, fault, tests, known):
    """Whether a fault is killed, on which engine, by what; a page that cannot be imported kills too."""
    path, tried = folder / fault.file, []
    text = path.read_text()
    try:
        write(path, fault.planted(text))
        for engine in known:
            names, seconds = chosen(fault, tests, engine, known)
            if not names:
                continue
            found, said = ran(folder, names, engine, 3 * seconds + 90)
            if found != "passed":
                return "broken" if found == "broken" else "killed", engine, said
            tried.append(f"{len(names)} {engine}")
    finally:
        write(path, text)
    return "survived", ", ".join(tried) or "no test enters it", ""


def copy_whole_tree(folder):
    """Copy the tree, with all that a test may read."""
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*LEFT_OUT))


def campaign(faults, given):
    """Judge all faults; return a row for each."""
    lent = by_copies(given.processes, copy_whole_tree)
    with tempfile.TemporaryDirectory() as name, lent as each_by_copy:
        copy = Path(name, "tree")
        copy_whole_tree(copy)
        shutil.copy(Path(__file__).with_name("entered_lines.py"), copy)
        tests, known = entered(faults, copy, given)

        def one(own, row):
            fault, entering = row
            outcome, engine, said = judged(own, fault, entering, known)
            before, after = fault.shown((ROOT / fault.file).read_text())
            print(f"{outcome}: {fault.file}:{fault.line}: {before} -> {after} ({engine} {said})", flush=True)
            told = {"before": before, "after": after, "outcome": outcome, "by": engine, "said": said}
            return fault._asdict() | told

        return [row for _, row in each_by_copy(one, list(zip(faults, tests)))]


def main(arguments=None):
    """Run the campaign; return the counts by outcome."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--again", type=Path, help="the output of a sample, whose survivors are judged again")
    parser.add_argument("--only", default="", help="only faults in files whose names contain this")
    parser.add_argument("--engines", nargs="+", choices=list(ENGINES), default=list(ENGINES))
    parser.add_argument("--tests", nargs="+", default=["tests"], help="the tests that may find the faults")
    parser.add_argument("--output", type=Path, help="a JSON file of all faults")
    given = parser.parse_args(arguments)
    if not hasattr(sys, "monitoring"):
        raise SystemExit("the lines that tests enter are known from Python 3.12 on; run this with that")
    start = time.monotonic()
    faults = survivors(given.again) if given.again else drawn(given.cases, given.seed)
    faults = [one for one in faults if given.only in one.file]
    rows = campaign(faults, given)
    counts = dict(Counter(row["outcome"] for row in rows))
    seconds = round(time.monotonic() - start, 1)
    if given.output:
        given.output.write_text(json.dumps(rows, indent=1) + "\n")
    print(json.dumps({"campaign": "sampled mutants", "cases": len(rows), **counts, "seconds": seconds}))
    return counts


if __name__ == "__main__":
    main()
