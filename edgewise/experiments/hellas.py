"""Hellås (2018), "Computing Connected Components on Multiple GPUs": plain hooks, Rem, compressing.

The experiments of sections 6.3.1 to 6.3.3, on stand-ins for the graphs of Table 6.1, and the question that
they leave open: why do street networks gain from one round of Hook-non-atomic?  Scaling is in
:mod:`~edgewise.experiments.hellas_scaling`.
"""

from functools import partial

from edgewise.experiments.graphs import HELLAS, ONE_A_FAMILY, STREETS
from edgewise.experiments.published import HOOK_SLOWER, HOOK_SLOWER_LATER
from edgewise.experiments.report import Figure, Table, curves, curves_of_columns, headings
from edgewise.experiments.streets import relabelled, without_lower_neighbour

ITERATIONS = range(5)
#: Parts in which edges are joined where compressing between parts is measured.
SEGMENTS = 8
#: Share of vertices without a lower neighbour below which a round of plain hooks should pay.
MAX_WITHOUT_LOWER = 0.1
#: The merges of the thesis: labels of other devices are joined by the method itself.
MERGES = {"rem": "pairwise-rem", "hook": "pairwise-hook"}
METHODS = {method: method for method in MERGES}
#: The methods that take a number of rounds.
WITH_ROUNDS = {"rem": "hook-rem", "hook": "hook"}


def iterations(watch):
    """Figures 6.4 to 6.6: 0 to 4 rounds of Hook-non-atomic before Hook-atomic and Rem, on one device."""
    rows = [row for name in watch.wanted(*ONE_A_FAMILY, *STREETS) for row in _iterations(watch, name)]
    rows.sort(key=lambda row: row["method"])
    ms = {f"ms_{count}": f"{count}, ms" for count in ITERATIONS}
    percent = {f"percent_{count}": f"{count}, %" for count in ITERATIONS}
    return Table(
        "iterations",
        "Rounds of Hook-non-atomic on one device",
        "Hellås 2018, 6.3.1, Fig. 6.4-6.6",
        {"method": "method", "graph": "stand-in for"} | ms | percent | {"best": "best"},
        rows,
        [
            "Hook: graphs best with one round fall below 80 % with none or more",
            "Hook: graphs best with none stay above 90 % with one",
            "Rem: best with none, slower with every further round",
            "Rem on streets: best with one round; none gives 40 to 70 %, two below 80 %",
        ],
        [
            Figure(
                f"iterations-{method}-{key}",
                f"Rounds of Hook-non-atomic before {method.title()}",
                "rounds",
                words,
                {
                    row["graph"]: [(count, row[f"{key}_{count}"]) for count in ITERATIONS]
                    for row in rows
                    if row["method"] == method
                },
                steep=key == "ms",
            )
            for method in MERGES
            for key, words in (("ms", "milliseconds"), ("percent", "% of the best"))
        ],
    )


def _iterations(watch, name):
    graph = watch.stand_in(name, HELLAS)
    for method in MERGES:
        run = partial(watch.components, name, graph, method=WITH_ROUNDS[method])
        ms = [run(iterations=count)["ms"] for count in ITERATIONS]
        yield {
            "graph": name,
            "family": HELLAS[name].family,
            "method": method,
            **{f"ms_{count}": ms[count] for count in ITERATIONS},
            **{f"percent_{count}": 100 * min(ms) / ms[count] for count in ITERATIONS},
            "best": ms.index(min(ms)),
        }


def hook_rem(watch):
    """Figures 6.10 to 6.39: Hook against Rem on 1 to all devices, each with the better of 0 and 1 round."""
    rows = [row for name in watch.wanted(*HELLAS) for row in _hook_rem(watch, name)]
    families = dict.fromkeys(row["family"] for row in rows)
    return Table(
        "hook-rem",
        "Rem against Hook, each with the better number of rounds, merged as in the thesis",
        "Hellås 2018, 6.3.3, Fig. 6.10-6.39",
        headings(
            "family | graph: stand-in for | devices | rem: Rem, ms | rem_iterations: rounds | "
            "hook: Hook, ms | hook_iterations: rounds | slower: Hook slower by, % | published: published, %"
        ),
        rows,
        [f"{name}: Hook slower by {words}" for name, words in HOOK_SLOWER_LATER.items()],
        [
            Figure(
                f"hook-rem-{family.replace(' ', '-')}",
                f"Rem against Hook: {family}",
                "devices",
                "milliseconds",
                curves_of_columns(
                    [row for row in rows if row["family"] == family], "devices", METHODS, "{graph}, {}"
                ),
            )
            for family in families
        ],
    )


def _hook_rem(watch, name):
    graph = watch.stand_in(name, HELLAS)
    alone = {
        method: [watch.components(name, graph, method=run, iterations=count) for count in (0, 1)]
        for method, run in WITH_ROUNDS.items()
    }
    better = {method: int(one["ms"] < none["ms"]) for method, (none, one) in alone.items()}
    for count in watch.counts():
        split = watch.split(graph, count)
        ms = {
            method: alone[method][better[method]]["ms"]
            if count == 1
            else watch.components(name, split, method=run, iterations=better[method], merge=MERGES[method])[
                "ms"
            ]
            for method, run in WITH_ROUNDS.items()
        }
        yield {
            "family": HELLAS[name].family,
            "graph": name,
            "devices": count,
            **ms,
            **{f"{method}_iterations": rounds for method, rounds in better.items()},
            "slower": 100 * (ms["hook"] / ms["rem"] - 1),
            "published": HOOK_SLOWER.get(name, {}).get(count),
        }


def compressing(watch):
    """Figure 6.9: Rem with and without compressing between segments of the edges."""
    rows = [row for name in watch.wanted("rgg_n_2_24_s0", "nlpkkt160") for row in _compressing(watch, name)]
    kinds = {key: f"{key} compressing" for key in ("with", "without")}
    series = curves_of_columns(rows, "devices", kinds, "{graph}, {}")
    return Table(
        "compress",
        f"Rem in {SEGMENTS} segments, with and without compressing between them",
        "Hellås 2018, 6.3.2, Fig. 6.9",
        headings(
            "graph: stand-in for | devices | without: without, ms | with: with, ms | "
            "saved: saved by not compressing, % | published: published, %"
        ),
        rows,
        [
            "nlpkkt160: 13 % faster without on one and two GPUs, 1 to 6 % from three",
            "rgg_n_2_24_s0: no difference",
        ],
        [Figure("compress", "Compressing between segments", "devices", "milliseconds", series)],
    )


def _compressing(watch, name):
    graph = watch.stand_in(name, HELLAS)
    published = {"rgg_n_2_24_s0": {1: 0, 2: 0}, "nlpkkt160": {1: 13, 2: 13}}
    options = {"method": "hook-rem", "iterations": 0, "segments": SEGMENTS}
    for count in watch.counts():
        split = watch.split(graph, count)
        run = partial(watch.components, name, split, **options, **merged(count, "rem"))
        ms = [run(compress_between=yes)["ms"] for yes in (0, 1)]
        yield {
            "graph": name,
            "devices": count,
            "without": ms[0],
            "with": ms[1],
            "saved": 100 * (1 - ms[0] / ms[1]),
            "published": published[name].get(count),
        }


def merged(count, method):
    """The option ``merge`` where there is something to merge."""
    return {"merge": MERGES[method]} if count > 1 else {}


def street_question(watch):
    """Every family as it is and relabelled at random, to tell the shape of a graph from its numbers."""
    rows = []
    for name in watch.wanted(*ONE_A_FAMILY, *STREETS):
        graph = watch.stand_in(name, HELLAS)
        rows.append(_one_round(watch, name, name, graph, "as they are"))
        other = f"{name}, relabelled"
        at_random = watch.graph(other, lambda graph=graph: relabelled(graph))
        rows.append(_one_round(watch, name, other, at_random, "at random"))
    return Table(
        "streets",
        "What one round of plain hooks gains, with the ids as they are and at random",
        "the open question of Hellås 2018, 6.3.1",
        headings(
            "graph: stand-in for | order: ids | without_lower: no lower neighbour, % | rem_0: Rem, ms | "
            "rem_1: Rem after one round, ms | rem_gain: gain, x | hook_0: Hook, ms | "
            "hook_1: Hook after one round, ms | hook_gain: gain, x | foretold: selector right for Rem"
        ),
        rows,
        ["street networks: Rem with no round reaches 40 to 70 % of Rem with one"],
        [
            Figure(
                f"streets-{method}",
                f"Gain of {method.title()} from one round of plain hooks",
                "graph",
                "time without over time with one round",
                curves(rows, "graph", f"{method}_gain", lambda row: f"ids {row['order']}"),
            )
            for method in MERGES
        ],
    )


def _one_round(watch, name, labelled, graph, order):
    ms = {
        f"{method}_{count}": watch.components(labelled, graph, method=run, iterations=count)["ms"]
        for method, run in WITH_ROUNDS.items()
        for count in (0, 1)
    }
    share = without_lower_neighbour(graph)
    gains = {f"{method}_gain": ms[f"{method}_0"] / ms[f"{method}_1"] for method in MERGES}
    return {
        "graph": name,
        "family": HELLAS[name].family,
        "order": order,
        "without_lower": 100 * share,
        **ms,
        **gains,
        "foretold": (share < MAX_WITHOUT_LOWER) == (gains["rem_gain"] > 1),
    }
