"""Figures that the documents print in their text; their diagrams are pictures without numbers."""

#: Hellås (2018), 6.3.3: by how many percent Hook is slower than Rem, by graph and number of GPUs.
HOOK_SLOWER = {
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
#: Harish and Narayanan (2007), as told by Fusi: how many times faster a search is on the GPU than on the CPU.
HARISH_ON_GPU = {"BFS": "20-50", "SSSP": "70"}
#: The same for all pairs, against 22 minutes on one core for 100,000 vertices of degree 6.
HARISH_PAIRS = {"floyd-warshall-simple": "3", "harish in turn": "17"}
