"""The experiments of publications, as ``edgewise bench --preset`` runs them: a result for each preset.

    python bench/publications.py --presets harish [--devices cuda:0] [--only random degree] [--runs 3]
    python bench/publications.py --presets cs406 --devices cuda:0,cuda:1 --file com-dblp.ungraph.txt.gz
    python bench/publications.py --minutes 5

A result is ``PRESET.json``, or has the name of ``--name``.  Nothing new is begun in a preset after
``--minutes``; what was measured until then is kept, and ``left_out`` says what is missing.
"""

from functools import partial

from harness import main, part, write

from edgewise import experiments
from edgewise.command.bench_outputs import as_dict
from edgewise.device import threads


def tables(given):
    """Tables of presets."""
    options = {"size": given.size or None, "runs": given.runs or None, "devices": given.devices or None}
    options |= {"only": given.only, "without": given.without, "report": partial(print, flush=True)}
    for preset in given.presets or experiments.PRESETS:
        files = given.file if experiments.PRESETS[preset].takes_files else ()
        with experiments.time_limit(given.minutes or None):
            found = experiments.run(preset, files=files, **options)
        print(found.text(), found.note, sep="\n\n")
        write(given.name or preset, [], **as_dict(found), threads=threads.count())
    return ()


OPTIONS = {
    "presets": str,
    "devices": "",
    "size": "",
    "runs": 0,
    "minutes": 0.0,
    "only": str,
    "without": str,
    "file": str,
}
PART = part("publications", tables, **OPTIONS)

if __name__ == "__main__":
    main(__doc__, PART)
