"""Figures that the documents print in their text; their diagrams are pictures without numbers."""

from typing import Any

#: Hellås (2018), 6.3.3: by how many percent Hook is slower than Rem, by graph and number of GPUs.
HOOK_SLOWER: dict[str, dict[int, float]] = {
    "hugebubbles-00000": {1: 269, 2: 97},
    "hugebubbles-00010": {1: 63},
    "hugebubbles-00020": {1: 50},
    "delaunay_n23": {1: 17, 2: 269},
    "delaunay_n24": {1: 17, 2: 395, 7: 2, 8: 4},
    "rgg_n_2_22_s0": {1: 26},
    "rgg_n_2_23_s0": {1: 46},
    "rgg_n_2_24_s0": {1: 57},
    "af_shell10": {1: 9},
    "audikw_1": {1: 114, 8: 49.5},
    "kron_g500-logn20": {1: 33},
}
#: The same where a range is given.
HOOK_SLOWER_LATER = {
    "hugebubbles-00000": "about 60 % from five GPUs",
    "hugebubbles-00010": "25 to 30 % on many GPUs",
    "hugebubbles-00020": "15 to 20 % on many GPUs",
    "coPapersCiteseer": "31 to 51 %",
    "coPapersDBLP": "52 to 87 %",
    "delaunay_n23": "8 to 14 % from five GPUs",
    "rgg_n_2_22_s0": "about 15 % on several GPUs",
    "rgg_n_2_23_s0": "about 23 % on several GPUs",
    "rgg_n_2_24_s0": "16 to 30 % on several GPUs",
    "af_shell10": "18 to 33 % on two to six GPUs",
    "nlpkkt120 to nlpkkt240": "50 to 60 % on one GPU, more than twice the time on several",
    "street networks": "0 to 6 %, either way",
    "kron_g500-logn20": "about 20 % on several GPUs",
}
#: Hellås (2018), 6.3.6: the best speed-up, and the number of GPUs it was reached on.
BEST_SPEEDUP = {"rgg_n_2_24_s0": (2.6, 5)}
#: Hellås (2018), 6.3.4: strong scaling efficiency on two GPUs, in percent.
EFFICIENCY_ON_TWO = 70
#: Hellås (2018), 6.3.7: how many times faster Rem is than Hook on one GPU.
REM_FASTER = {"nlpkkt240": 3.85, "nlpkkt240exp4": 16.75}
#: Hellås (2018), 6.5: by how many percent the server with the faster GPU and the slower host is slower.
SLOWER_BY_HOST = (20, 27, 32)
#: Baltzakis: how many times faster warp and block are than thread per row.
WIDER_FASTER = {"rgg_n_2_24_s0": 2.5, "Queen_4147": 50}
#: Harish and Narayanan (2007), as cited by Fusi: how many times faster a search is on the GPU than on the
#: CPU.
HARISH_ON_GPU = {"BFS": "20-50", "SSSP": "70"}
#: The same for all pairs, against 22 minutes on one core for 100,000 vertices of degree 6.
HARISH_PAIRS = {"floyd-warshall-simple": "3", "harish in turn": "17"}
#: CS406, Tables 1 to 5: seconds by graph and length, in Table 1 also by number of threads.
#: ``gpus`` were four, two of them faster; with them went 28 threads in the last two tables.
CS406: dict[str, dict[str, Any]] = {
    "threads": {
        "amazon": {
            3: {1: 0.603501, 2: 0.310298, 4: 0.156428, 8: 0.0786051, 16: 0.0402396},
            4: {1: 4.55978, 2: 2.29525, 4: 1.19381, 8: 0.578946, 16: 0.287246},
            5: {1: 43.1156, 2: 21.9676, 4: 10.9534, 8: 5.42065, 16: 2.86459},
        },
        "dblp": {
            3: {1: 1.8533, 2: 1.12785, 4: 0.659231, 8: 0.353933, 16: 0.178739},
            4: {1: 66.5606, 2: 34.1796, 4: 20.5717, 8: 12.5448, 16: 9.59927},
            5: {32: 977.0},
        },
    },
    "gpu": {"amazon": {3: 0.045381, 4: 0.514845, 5: 6.447344}, "dblp": {3: 0.487654, 4: 44.543335}},
    "gpus": {"amazon": {3: 0.030755, 4: 0.372918, 5: 5.285642}, "dblp": {3: 0.49196, 4: 57.406826}},
    "static": {
        "amazon": {3: 0.037041, 4: 0.274205, 5: 4.201431},
        "dblp": {3: 0.239933, 4: 22.658237, 5: 2200.0},
    },
    "queue": {"amazon": {3: 2.076866, 4: 5.658017, 5: 8.319901}, "dblp": {3: 3.700613, 4: 10.617888}},
}
#: Manoochehri (2017), Table 3.2: milliseconds on a Tesla K40, serial on a Core i7-6700, and by the
#: transactions of Kang and Bader on it, which "failed to produce results" for some graphs; and abort rates.
MANOOCHEHRI = {
    "USA": (13407, 60546, 36064, 0.38),
    "W": (3451, 14568, 7980, 0.38),
    "E": (1959, 6581, 4157, 0.37),
    "FLA": (736, 1346, 1082, 0.72),
    "NY": (217, 278, 301, 0.77),
    "RND1": (8133, 47220, None, 0.01),
    "R-MAT1": (6786, 46678, None, 0.03),
    "RND2": (5538, 19360, None, 0.01),
    "R-MAT2": (4791, 19141, None, 0.03),
}
