"""Sphinx configuration."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import edgewise

project = "edgewise"
author = "The edgewise developers"
version = release = edgewise.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

autodoc_typehints = "none"
autosummary_generate = True
autosummary_ignore_module_all = False
numpydoc_show_class_members = False

html_theme = "pydata_sphinx_theme"
html_title = "edgewise"
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
}
html_copy_source = False
