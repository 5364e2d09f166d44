"""The problems of the package, derived from the public names, for what the tests check of every problem."""

import inspect
from importlib import import_module
from typing import NamedTuple

import edgewise


class Problem(NamedTuple):
    """A public function with methods: its folder, such as ``edgewise.paths.bfs``, and the table."""

    page: str
    methods: dict

    @property
    def name(self):
        """The name of the folder, by which the documentation marks the table."""
        return self.page.rpartition(".")[2]


def problems():
    """The problems by the names of their public functions."""
    found = {}
    for name, (page, attribute) in edgewise._HOMES.items():
        home = import_module(page)
        if "METHODS" not in getattr(home, "__all__", ()):
            continue
        if "method" in inspect.signature(getattr(home, attribute)).parameters:
            found[name] = Problem(page, home.METHODS)
    return found


PROBLEMS = problems()
