"""Orders: which thread goes on at each step.

Burckhardt, Kothari, Musuvathi and Nagarakatte, "A randomized scheduler with probabilistic guarantees of
finding bugs" (ASPLOS 2010): few preemptions at random places find most races (:class:`Priorities`).
Musuvathi and Qadeer, "Iterative context bounding for systematic testing of multithreaded programs" (PLDI
2007): most races show with two preemptions, and all interleavings with so few can be tried (:func:`explore`).
"""

import math
import random

#: How likely a thread is to go on at a step, for one seed after another.
STAY = (0.0, 0.9, 0.0, 0.5, 0.0, 0.8)
#: Every so many seeds have priorities; the steps of a run are not known before it.
EVERY, CHANGES, LENGTHS = 7, 3, (30, 300, 3_000)


def order_of(seed):
    """The order of a seed: mostly bursts, single steps for every second seed, and sometimes priorities."""
    return Priorities(seed) if seed % EVERY == EVERY - 1 else Bursts(seed, STAY[seed % len(STAY)])


class Order:
    """Which thread goes on after a step, and for how long."""

    def burst(self):
        """Further steps at which the thread goes on that :meth:`next` has chosen."""
        return 0


class Bursts(Order):
    """A thread goes on with probability ``stay`` at every step; otherwise any thread that can go on does.

    Without ``stay`` races between two neighbouring accesses show, with it those in which one thread does much
    while another one waits.
    """

    def __init__(self, seed, stay=0.0):
        self.draw, self.scale = random.Random(seed), 1 / math.log(stay) if stay else None

    def burst(self):
        """Further steps at which the thread goes on."""
        return 0 if self.scale is None else int(math.log(1 - self.draw.random()) * self.scale)

    def next(self, running, ready):
        """The thread that goes on after a step."""
        return ready[int(self.draw.random() * len(ready))]

    def pick(self, ready):
        """The thread that goes on where the running one cannot, or lets others go first."""
        return ready[int(self.draw.random() * len(ready))]


class Priorities(Order):
    """The thread of the highest priority goes on; at a few random steps the running one gets the lowest."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        length = LENGTHS[seed // EVERY % len(LENGTHS)]
        self.changes = {self.draw.randrange(length) for _ in range(CHANGES)}
        self.priorities, self.steps, self.lowest = {}, 0, 0

    def next(self, running, ready):
        """The thread that goes on after a step."""
        self.steps += 1
        if self.steps in self.changes:
            self.lower(running)
        return max(ready, key=self._priority)

    def pick(self, ready):
        """The thread that goes on where the running one cannot."""
        return max(ready, key=self._priority)

    def lower(self, thread):
        """Let all others go first from now on."""
        self.lowest -= 1
        self.priorities[thread] = self.lowest

    def _priority(self, thread):
        if thread not in self.priorities:
            self.priorities[thread] = self.draw.random()
        return self.priorities[thread]


class Decisions(Order):
    """An order given by numbers of choices, of which those that are not given are 0: go on.

    ``made`` has, for each decision, the choice and how many there were.  Once there have been
    ``preemptions`` switches of a thread that could go on, there is no choice at a step.
    """

    def __init__(self, given, preemptions):
        self.given, self.left, self.made = given, preemptions, []

    def next(self, running, ready):
        """The thread that goes on after a step: the running one, or another one instead."""
        if not self.left or len(ready) == 1:
            return running
        choice = self._choose(len(ready))
        if choice == 0:
            return running
        self.left -= 1
        return [one for one in ready if one is not running][choice - 1]

    def pick(self, ready):
        """The thread that goes on where the running one cannot."""
        return ready[self._choose(len(ready))] if len(ready) > 1 else ready[0]

    def _choose(self, n_choices):
        number = len(self.made)
        choice = self.given[number] if number < len(self.given) else 0
        self.made.append((choice, n_choices))
        return choice


def explore(run, preemptions=3, limit=1_000_000):
    """Run every interleaving with at most so many preemptions; return how many there are.

    Parameters
    ----------
    run : callable
        ``run(order)`` makes a case anew, runs it by ``Scheduler(order=order)`` and checks the outcome.
        It must do the same whenever the order does.
    preemptions : int
        Switches, at most, of a thread that could go on.  Where a thread waits or ends, any other one goes on.
    limit : int
        Interleavings after which :class:`OverflowError` is raised.

    Raises
    ------
    Exception
        What ``run`` raises, with a note of the choices that raise it again: ``run(Decisions(choices, n))``.
    """
    given: list = []
    count = 0
    while True:
        order = Decisions(given, preemptions)
        try:
            run(order)
        except Exception as error:
            error.add_note(f"choices {[choice for choice, _ in order.made]} of {preemptions} preemptions")
            raise
        count += 1
        made = order.made
        while made and made[-1][0] == made[-1][1] - 1:
            made.pop()
        if not made:
            return count
        if count == limit:
            raise OverflowError(f"there are more than {limit:,} interleavings; make the case smaller")
        given = [choice for choice, _ in made]
        given[-1] += 1
