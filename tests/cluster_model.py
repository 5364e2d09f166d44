"""A cluster store by brute force, in sets and dicts: every batch clusters and names everything again."""

from collections import Counter

import numpy as np


class Refused(Exception):
    """The batch is one that the store must refuse."""


class Model:
    """What a store holds; see :class:`edgewise.ClusterStore`.

    ``numbers`` are those of the ids that ever were records; new integers in pairs get them in ascending
    order.  ``clusters`` has the name of each record that is there.
    """

    def __init__(self, threshold=None, max_size=None, one_to_one=None):
        self.numbers, self.clusters, self.pairs = {}, {}, {}
        self.musts, self.cannots = set(), set()
        self.threshold, self.max_size, self.one_to_one = threshold, max_size, one_to_one
        self.n_names, self.log, self.states = 0, [], [{}]

    def pair(self, one, other):
        return tuple(sorted((one, other), key=self.numbers.get))

    def copy(self):
        twin = Model(self.threshold, self.max_size, self.one_to_one)
        for name in ("numbers", "clusters", "pairs", "musts", "cannots"):
            setattr(twin, name, getattr(self, name).copy())
        twin.n_names, twin.log, twin.states = self.n_names, list(self.log), list(self.states)
        return twin

    def applied(self, add=(), remove=(), records=(), delete=(), must=(), cannot=(), withdraw=(), **how):
        """A model after a batch; :class:`Refused` if that cannot be done."""
        new, before = self.copy(), dict(self.clusters)
        if any(score != score for *_, score in add):
            raise Refused("score")
        for setting in ("threshold", "max_size", "one_to_one"):
            setattr(new, setting, how.get(setting, getattr(self, setting)))
        for one in delete:
            if one not in new.clusters:
                raise Refused("delete")
        for pair in remove:
            if not set(pair) <= new.clusters.keys() or self.pair(*pair) not in self.pairs:
                raise Refused("remove")
        for pair in remove:
            new.pairs.pop(self.pair(*pair), None)
        known = set(new.numbers)
        ends = [one for pair in add for one in pair[:2]]
        for one in (*records, *(sorted(ends) if {type(end) for end in ends} == {int} else ends)):
            new.numbers.setdefault(one, len(new.numbers))
        for pair in withdraw:
            if not set(pair) <= known or not {new.pair(*pair)} & (self.musts | self.cannots):
                raise Refused("withdraw")
        for pair in withdraw:
            new.musts.discard(new.pair(*pair))
            new.cannots.discard(new.pair(*pair))
        new.delete(set(delete), how.get("with_pairs", False))
        for one in (*records, *(one for pair in add for one in pair[:2])):
            new.clusters.setdefault(one, None)
        added = {}
        for one, other, score in add:
            key = new.pair(one, other)
            added[key] = max(score, added.get(key, score))
        new.pairs |= added
        for pairs, kept in ((must, new.musts), (cannot, new.cannots)):
            for pair in pairs:
                if not set(pair) <= new.clusters.keys():
                    raise Refused("decision")
                kept.add(new.pair(*pair))
        new.name(before, set(delete), new.partition())
        new.states.append(dict(new.clusters))
        return new

    def delete(self, gone, with_pairs):
        named = [one for kept in (self.pairs, self.musts, self.cannots) for one in kept if gone & set(one)]
        if named and not with_pairs:
            raise Refused("named")
        for one in named:
            self.pairs.pop(one, None)
            self.musts.discard(one)
            self.cannots.discard(one)
        for one in gone:
            del self.clusters[one]

    def dataset(self, one):
        """The dataset of a record, if a cluster has one record of that at most, or ``None``."""
        if self.one_to_one is None:
            return None
        if not isinstance(one, str) or "-__-" not in one:
            raise Refused("no dataset")
        name = one.partition("-__-")[0]
        return name if self.one_to_one == "all" or name in self.one_to_one else None

    def partition(self):
        """Kruskal's rule over everything, and then the bound of the size: a list of sets."""
        cluster, joins = {one: {one} for one in self.clusters}, []
        datasets = {one: self.dataset(one) for one in self.clusters}

        def refused(one, other):
            held = [{datasets[member] for member in both} - {None} for both in (one, other)]
            return held[0] & held[1] or any(
                (a in one and b in other) or (b in one and a in other) for a, b in self.cannots
            )

        if any(a == b for a, b in self.cannots):
            raise Refused("contradiction")
        least = float("-inf") if self.threshold is None else self.threshold
        active = [
            (-score, *map(self.numbers.get, pair), pair)
            for pair, score in self.pairs.items()
            if score >= least
        ]
        for pairs, must in ((sorted(self.musts), True), ((pair for *_, pair in sorted(active)), False)):
            for one, other in pairs:
                first, second = cluster[one], cluster[other]
                if first is second:
                    continue
                if refused(first, second):
                    if must:
                        raise Refused("contradiction")
                    continue
                first |= second
                joins.append((one, other, len(first), must))
                for member in second:
                    cluster[member] = first
        if self.max_size is not None:
            cluster = self.cut(joins)
        return list({id(one): one for one in cluster.values()}.values())

    def cut(self, joins):
        """The cluster of each record by the joins whose clusters are small enough."""
        cluster = {one: {one} for one in self.clusters}
        for one, other, size, must in joins:
            if size > self.max_size and must:
                raise Refused("size")
            if size <= self.max_size:
                cluster[one] |= cluster[other]
                for member in cluster[other]:
                    cluster[member] = cluster[one]
        return cluster

    def name(self, before, gone, partition):
        """Pass the names on, and write the log."""
        old = {}
        for one, name in before.items():
            old.setdefault(name, set()).add(one)
        kept = {name: members - gone for name, members in old.items()}
        number = self.numbers.get
        partition.sort(key=lambda members: min(map(number, members)))
        claims, log = {}, []
        for name, members in kept.items():
            if not members:
                log.append(("retired", name, None, len(old[name]), 0))
                continue
            goal = min(
                (place for place, cluster in enumerate(partition) if cluster & members),
                key=lambda place: (
                    -len(partition[place] & members),
                    min(map(number, partition[place] & members)),
                ),
            )
            claims.setdefault(goal, []).append(name)
        names = {}
        for place, cluster in enumerate(partition):
            if place in claims:
                names[place] = min(claims[place], key=lambda name: (-len(kept[name] & cluster), name))
            else:
                names[place] = self.n_names
                self.n_names += 1
                shares = Counter({name: len(kept[name] & cluster) for name in kept if kept[name] & cluster})
                main = min(shares, key=lambda name: (-shares[name], name), default=None)
                change = ("born", None, 0) if main is None else ("split", main, len(old[main]))
                log.append((change[0], change[1], names[place], change[2], len(cluster)))
        for place, claiming in claims.items():
            cluster = partition[place]
            for name in claiming:
                row = (name, names[place], len(old[name]), len(cluster))
                if name != names[place]:
                    log.append(("merged", *row))
                    continue
                if cluster - kept[name]:
                    log.append(("grew", *row))
                if old[name] - (cluster & kept[name]):
                    log.append(("shrank", *row))
        self.clusters = {one: names[place] for place, cluster in enumerate(partition) for one in cluster}
        self.log.append(sorted(log, key=str))


def batch_after(entry):
    """The batch after an entry: pairs come, and the first ones of the entry before go."""
    ends = np.random.default_rng(entry).integers(0, 40, (8, 2)) + 40 * entry
    batch = {"add": [(f"r{one}", f"r{other + 1}", 0.9) for one, other in ends.tolist()]}
    if entry:
        gone = batch_after(entry - 1)["add"]
        batch["remove"] = [pair[:2] for pair in gone[:3]]
    return batch | {"cause": f"after {entry}"}
