"""Residents: which pods are on which node, as far as other pods look at them.

The rule   a pod is told from others by its kind: its namespace, its labels, and whether it is on its way out
           Target          which pods a term means: a selector and namespaces
           matched(T, n)   how many pods on n all targets of the group T mean                 (what a pod that looks at T
                           counts)
           owned(O, n)     how many pods on n have the term O themselves                      (what a pod that O means has to
                           heed)
           ports(p, n)     how many pods on n listen on port p of the host
           little(n)       what containers on n count for in scores beyond what they ask for (cpu, memory)
Why            the tables hold what anybody looks at and nothing else: they are added to as pods come and go, and read as
               arrays. A pod that nobody looks at costs one look at its kind.
Life           a group and an owned term are kept as long as a pod is known that has them (`meet`, `part`). One that is asked
               for without (a pod set whose pods don't exist yet) is counted then, and forgotten with the trial.
Stamps         which groups and terms a kind falls under is kept for one `stamp` of the tables, as in nodes.py.
Cost           O(1) a pod that nobody looks at; O(groups and terms that mean it) for others; O(kinds with a label that the
               selector asks for) for a new group.
Source         Kubernetes scheduler: InterPodAffinity, PodTopologySpread, NodePorts, NodeResourcesFit.
Not here       what follows from the counts: plugins/pod_affinity.py, plugins/spread.py, plugins/ports.py, plugins/nodeorder.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from kumi.engine.journal import Journal
from kumi.engine.model import HostPort, Namespace, Pod, PodShape, PodTerm, Requirement
from kumi.engine.selectors import all_hold

if TYPE_CHECKING:
    from kumi.engine.placement.nodes import Ints, Nodes

Labels: TypeAlias = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Target:
    """Which pods are meant; see model.PodTerm. `staying`: not those on their way out."""

    selector: tuple[Requirement, ...] | None
    namespaces: tuple[str, ...]
    namespace_selector: tuple[Requirement, ...] | None = None
    staying: bool = False


Group: TypeAlias = tuple[Target, ...]
"""all of them mean the pod"""


@dataclass(frozen=True, slots=True)
class Owned:
    """A term that pods have. `weight` 0: they must not be near what the term means; else how much better or worse that is."""

    target: Target
    topology: str
    weight: int = 0


class Kind(NamedTuple):
    """What others tell a pod by."""

    namespace: str
    labels: Labels
    leaving: bool = False


class _Counter:
    """How many pods of something each row has."""

    __slots__ = ("counts", "users")

    def __init__(self, counts: Ints) -> None:
        self.counts = counts
        self.users = 0
        """known pods that look at it, or have it"""


@dataclass(slots=True)
class _Met:
    """Pods of one kind that are somewhere: row -> how many. What they fall under is as of `stamp`."""

    rows: dict[int, int]
    stamp: int = -1
    groups: tuple[Group, ...] = ()
    owned: tuple[Owned, ...] = ()


def target(term: PodTerm, namespace: str) -> Target:
    """Whom the term of a pod of that namespace means."""
    own = not term.namespaces and term.namespace_selector is None
    return Target(term.selector, (namespace,) if own else term.namespaces, term.namespace_selector)


class Residents:
    """See the module. `nodes` has the rows."""

    def __init__(self, journal: Journal, nodes: Nodes) -> None:
        self._journal, self._nodes = journal, nodes
        self._stamps = count(1)
        self._namespaces: dict[str, Labels] = {}
        self._kinds: dict[Kind, _Met] = {}
        self._by_label: dict[tuple[str, str], dict[Kind, None]] = {}
        self._groups: dict[Group, _Counter] = {}
        self._owned: dict[Owned, _Counter] = {}
        self._asking: dict[tuple[str, str], dict[Group | Owned, None]] = {}
        """label -> groups and terms that ask for it, among others"""
        self._open: dict[Group | Owned, None] = {}
        """those that ask for no label's value"""
        self._ports: dict[HostPort, _Counter] = {}
        self._little: Ints = np.zeros((2, 0), dtype=np.int64)
        self._falls_under: dict[Kind, tuple[int, tuple[Group, ...], tuple[Owned, ...]]] = {}
        self.stamp = 0

    # what comes in

    def put_namespace(self, namespace: Namespace) -> bool:
        """There is such a namespace, or its labels changed. True where that may matter to where pods go."""
        return self._relabel(namespace.name, namespace.labels)

    def remove_namespace(self, name: str) -> bool:
        """It is gone. The same."""
        return self._relabel(name, None)

    def meet(self, pod: Pod, times: int = 1) -> None:
        """The pod is known from now on (-1: not any more): what it looks at, and has, is kept."""
        if pod.shape.neighbours is None:
            return
        groups, owned = asked(pod.shape, pod.namespace), had(pod.shape, pod.namespace)
        for group in groups:
            counter = self._group(group)
            self._journal.swap(counter, "users", counter.users + times)
            if not counter.users:
                self._journal.drop(self._groups, group)
                self._forget(group, group)
        for term in owned:
            counter = self._term(term)
            self._journal.swap(counter, "users", counter.users + times)
            if not counter.users:
                self._journal.drop(self._owned, term)
                self._forget(term, (term.target,))

    def move(self, old: Pod | None, was: str, new: Pod | None, node: str) -> bool:
        """What was known as `old`, on the node `was`, is `new` now, on `node` (None: nothing; "": nowhere). True where somebody
        may look at that: for such pods, or at the terms of this one."""
        if old is not None and new is not None and was == node and _is_like(old, new):
            return False
        if new is not None:
            self.meet(new, 1)
        if old is not None:
            self.seat(old, was, -1)
        if new is not None:
            self.seat(new, node, 1)
        looked_at = bool(old is not None and was and self.is_looked_at(old))
        looked_at = looked_at or bool(new is not None and node and self.is_looked_at(new))
        if old is not None:
            self.meet(old, -1)
        return looked_at

    def is_looked_at(self, pod: Pod) -> bool:
        """Does it matter to others where the pod is?"""
        means = bool(self._groups) and bool(self._looked_up(kind_of(pod))[0])
        return means or bool(pod.shape.neighbours or pod.shape.ports)

    def seat(self, pod: Pod, node: str, times: int) -> None:
        """The pod is on that node (-1: not any more). A node that isn't there is passed over."""
        row = self._nodes.row_by_name.get(node)
        if row is not None:
            self.seat_row(pod, row, times)

    def seat_row(self, pod: Pod, row: int, times: int) -> None:
        """The same."""
        kind = kind_of(pod)
        met = self._kinds.get(kind)
        if met is None:
            met = self._begin(kind)
        left = met.rows.get(row, 0) + times
        if left:
            self._journal.put(met.rows, row, left)
        else:
            self._journal.drop(met.rows, row)
            if not met.rows:
                self._end(kind)
        self._look(pod, self._under(kind, met)[0], row, times)

    def seat_rows(self, pod: Pod, rows: list[int], times: list[int]) -> None:
        """So many more pods like this one are on each of these different rows."""
        kind = kind_of(pod)
        met = self._kinds.get(kind)
        if met is None:
            met = self._begin(kind)
        self._journal.put_many(met.rows, {row: met.rows.get(row, 0) + n for row, n in zip(rows, times, strict=True)})
        self._look(pod, self._under(kind, met)[0], np.array(rows), np.array(times))

    def _look(self, pod: Pod, groups: tuple[Group, ...], row: Any, times: Any) -> None:
        """So many more such pods are on the row, or on each of several; the groups mean them."""
        for group in groups:
            self._add(self._groups[group], row, times)
        shape = pod.shape
        if shape.neighbours is not None:
            for term in had(shape, pod.namespace):
                self._add(self._term(term), row, times)
        for port in shape.ports:
            if port not in self._ports:
                self._journal.put(self._ports, port, _Counter(self._zeros()))
            self._add(self._ports[port], row, times)
        if shape.scored is not None:
            self._add_little(shape, row, times)

    # what rules ask

    def matched(self, group: Group) -> Ints:
        """How many pods each row has that all targets of the group mean. Not to be changed."""
        counter = self._group(group)
        return self._whole(counter)

    def over(self, kind: Kind) -> list[tuple[Owned, Ints]]:
        """The terms that pods have which mean a pod of this kind, and how many pods of each row have them."""
        if not self._owned:
            return []
        _, owned = self._looked_up(kind)
        return [(term, self._whole(self._owned[term])) for term in owned]

    def means(self, group: Group, kind: Kind) -> bool:
        """Do all targets of the group mean a pod of this kind?"""
        return all(self._holds(one, kind) for one in group)

    def alike(self, one: Pod, other: Pod) -> bool:
        """Two pods of one shape: does all that is kept here see them as equal?"""
        return (one.labels == other.labels and one.namespace == other.namespace) or self.seen_as(one) == self.seen_as(
            other
        )

    def seen_as(self, pod: Pod) -> tuple[tuple[Owned, ...], tuple[Group, ...]]:
        """The terms of other pods that mean this one, and which of what it looks at it is part of itself."""
        kind = kind_of(pod)
        return self.heeds(pod), tuple(g for g in asked(pod.shape, pod.namespace) if self.means(g, kind))

    @property
    def has_terms(self) -> bool:
        """Has anybody a term that others have to heed?"""
        return bool(self._owned)

    def heeds(self, pod: Pod) -> tuple[Owned, ...]:
        """The terms of other pods that mean this one."""
        return self._looked_up(kind_of(pod))[1] if self._owned else ()

    def listening(self, port: HostPort) -> Ints:
        """How many pods of each row listen on a port that is in the way of this one."""
        total = self._zeros()
        for other, counter in self._ports.items():
            if in_the_way(port, other):
                total = total + self._whole(counter)
        return total

    def little(self) -> Ints:
        """(2, rows): what containers count for beyond what they ask for, of cpu and memory."""
        if self._little.shape[1] < self._nodes.used.shape[1]:
            self._grow_little()
        return self._little

    # kinds

    def _begin(self, kind: Kind) -> _Met:
        met = _Met({})
        self._journal.put(self._kinds, kind, met)
        for label in kind.labels:
            if label not in self._by_label:
                self._journal.put(self._by_label, label, {})
            self._journal.put(self._by_label[label], kind, None)
        return met

    def _end(self, kind: Kind) -> None:
        self._journal.drop(self._kinds, kind)
        for label in kind.labels:
            self._journal.drop(self._by_label[label], kind)
            if not self._by_label[label]:
                self._journal.drop(self._by_label, label)

    def _under(self, kind: Kind, met: _Met) -> tuple[tuple[Group, ...], tuple[Owned, ...]]:
        if met.stamp != self.stamp:
            met.groups, met.owned = self._search(kind)
            met.stamp = self.stamp
        return met.groups, met.owned

    def _looked_up(self, kind: Kind) -> tuple[tuple[Group, ...], tuple[Owned, ...]]:
        met = self._kinds.get(kind)
        if met is not None:
            return self._under(kind, met)
        kept = self._falls_under.get(kind)
        if kept is None or kept[0] != self.stamp:
            if len(self._falls_under) > _KEPT_AT_MOST:
                self._falls_under.clear()
            kept = (self.stamp, *self._search(kind))
            self._falls_under[kind] = kept
        return kept[1], kept[2]

    def _search(self, kind: Kind) -> tuple[tuple[Group, ...], tuple[Owned, ...]]:
        """The groups and terms that mean the kind."""
        found = dict(self._open)
        for label in kind.labels:
            found.update(self._asking.get(label, {}))
        groups = tuple(one for one in found if isinstance(one, tuple) and self.means(one, kind))
        owned = tuple(one for one in found if isinstance(one, Owned) and self._holds(one.target, kind))
        return groups, owned

    def _holds(self, one: Target, kind: Kind) -> bool:
        if one.selector is None or (one.staying and kind.leaving):
            return False
        if kind.namespace not in one.namespaces:
            labels = self._namespaces.get(kind.namespace)
            if one.namespace_selector is None or labels is None or not all_hold(one.namespace_selector, dict(labels)):
                return False
        return all_hold(one.selector, dict(kind.labels))

    # counters

    def _group(self, group: Group) -> _Counter:
        counter = self._groups.get(group)
        if counter is None:
            counter = _Counter(self._counted(group))
            self._journal.put(self._groups, group, counter)
            self._note(group, group)
        return counter

    def _term(self, term: Owned) -> _Counter:
        """Made empty: pods that have a term are known before they are anywhere."""
        counter = self._owned.get(term)
        if counter is None:
            counter = _Counter(self._zeros())
            self._journal.put(self._owned, term, counter)
            self._note(term, (term.target,))
        return counter

    def _counted(self, group: Group) -> Ints:
        counts = self._zeros()
        for kind in self._candidates(group):
            if self.means(group, kind):
                for row, pods in self._kinds[kind].rows.items():
                    counts[row] += pods
        return counts

    def _candidates(self, group: Group) -> Iterable[Kind]:
        """Kinds among which are all that the group means."""
        label = _first_values(group)
        if label is None:
            return self._kinds
        return dict.fromkeys(kind for one in label for kind in self._by_label.get(one, ()))

    def _note(self, one: Group | Owned, targets: Group) -> None:
        labels = _first_values(targets)
        if labels is None:
            self._journal.put(self._open, one, None)
        for label in labels or ():
            if label not in self._asking:
                self._journal.put(self._asking, label, {})
            self._journal.put(self._asking[label], one, None)
        self._journal.swap(self, "stamp", next(self._stamps))

    def _forget(self, one: Group | Owned, targets: Group) -> None:
        labels = _first_values(targets)
        if labels is None:
            self._journal.drop(self._open, one)
        for label in labels or ():
            self._journal.drop(self._asking[label], one)
            if not self._asking[label]:
                self._journal.drop(self._asking, label)
        self._journal.swap(self, "stamp", next(self._stamps))

    def _relabel(self, name: str, labels: Labels | None) -> bool:
        if self._namespaces.get(name) == labels:
            return False
        if labels is None:
            self._journal.drop(self._namespaces, name)
        else:
            self._journal.put(self._namespaces, name, labels)
        self._journal.swap(self, "stamp", next(self._stamps))
        for group, counter in self._groups.items():
            if any(one.namespace_selector is not None for one in group):
                self._journal.swap(counter, "counts", self._counted(group))
        return True

    def _add(self, counter: _Counter, row: Any, times: Any) -> None:
        self._whole(counter)
        self._journal.add(counter.counts, row, times)

    def _whole(self, counter: _Counter) -> Ints:
        """Its counts, of every row that there is by now."""
        missing = self._nodes.used.shape[1] - counter.counts.size
        if missing > 0:
            grown = np.concatenate([counter.counts, np.zeros(missing, dtype=np.int64)])
            self._journal.swap(counter, "counts", grown)
        return counter.counts

    def _zeros(self) -> Ints:
        return np.zeros(self._nodes.used.shape[1], dtype=np.int64)

    def _add_little(self, shape: PodShape, row: Any, times: Any) -> None:
        if self._little.shape[1] < self._nodes.used.shape[1]:
            self._grow_little()
        self._nodes.stir(row)
        for line, amount in enumerate(beyond_requests(shape)):
            self._journal.add(self._little, (line, row), amount * times)

    def _grow_little(self) -> None:
        grown = np.zeros((2, self._nodes.used.shape[1]), dtype=np.int64)
        grown[:, : self._little.shape[1]] = self._little
        self._journal.swap(self, "_little", grown)


_KEPT_AT_MOST = 4096


def kind_of(pod: Pod) -> Kind:
    """What others tell the pod by."""
    return Kind(pod.namespace, pod.labels, pod.terminating)


def _is_like(one: Pod, other: Pod) -> bool:
    return one is other or (kind_of(one) == kind_of(other) and one.shape == other.shape)


def asked(shape: PodShape, namespace: str) -> tuple[Group, ...]:
    """What a pod of the shape in that namespace looks at."""
    said = shape.neighbours
    if said is None:
        return ()
    near: tuple[Group, ...] = (tuple(target(t, namespace) for t in said.near),) if said.near else ()
    single = [*said.apart, *(t for _, t in (*said.rather_near, *said.rather_apart))]
    spread = [(Target(t.selector, (namespace,), staying=True),) for t in said.spread]
    return tuple(dict.fromkeys((*near, *((target(t, namespace),) for t in single), *spread)))


def had(shape: PodShape, namespace: str) -> tuple[Owned, ...]:
    """The terms of such a pod that others have to heed; one that it has twice is there twice."""
    said = shape.neighbours
    if said is None:
        return ()
    apart = (Owned(target(t, namespace), t.topology) for t in said.apart)
    near = (Owned(target(t, namespace), t.topology, weight) for weight, t in said.rather_near if weight)
    far = (Owned(target(t, namespace), t.topology, -weight) for weight, t in said.rather_apart if weight)
    return (*apart, *near, *far)


def in_the_way(one: HostPort, other: HostPort) -> bool:
    """Can't two pods listen on both?"""
    if (one.port, one.protocol) != (other.port, other.protocol):
        return False
    return one.ip == other.ip or ANY_ADDRESS in (one.ip, other.ip)


ANY_ADDRESS = "0.0.0.0"


def beyond_requests(shape: PodShape) -> tuple[int, int]:
    """What of cpu and memory the shape counts for beyond what it asks for."""
    if shape.scored is None:
        return 0, 0
    asked_for = dict(shape.requests)
    return shape.scored[0] - asked_for.get("cpu", 0), shape.scored[1] - asked_for.get("memory", 0)


def _first_values(group: Group) -> tuple[tuple[str, str], ...] | None:
    """Labels of which every pod that the group means has one; None: it needs none in particular."""
    for one in group:
        for requirement in one.selector or ():
            if requirement.operator == "In":
                return tuple((requirement.key, value) for value in requirement.values)
    return None
