"""DaemonSet: one pod on every node that its template is meant for.

The rule, one look, the first of these that has something to do:
    1 pods         adopt and let go (adoption.py)
    2 revision     an object holds the template under its number (controller_revisions.py)
    3 nodes        a node that is wanted and has no pod, not even one that stops, gets one, BURST at a time
                   a node that is not kept loses its pods; of several of a kind all but the oldest go
                   a pod that has ended goes, and another one comes: one that failed only ENDED_MS after its end
    4 replaced     RollingUpdate: one step (daemon_rollout.py); OnDelete: whoever deletes a pod gets a new one
    5 history      revisions that no pod is of, beyond the limit
    and always the status: nodes by how their oldest pod is.
Safety     Every pod has a name that a repetition finds taken; a deletion names the uid.
Cost       O(nodes + pods of the namespace) a look.
Source     Kubernetes: DaemonSet.
Not here   which nodes, and the pod of a node: daemon_pods.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kumi.api.apps import ControllerRevision, DaemonSet, DaemonSetStatus
from kumi.api.core import Node, Pod
from kumi.api.meta import Object, parse_time
from kumi.api.scheme import SCHEME
from kumi.api.shares import share_of
from kumi.controllers.adoption import claim
from kumi.controllers.availability import available_at_ms
from kumi.controllers.controller_revisions import HASH, kept, revision_of, surplus
from kumi.controllers.daemon_pods import Selection, node_of, pod_for
from kumi.controllers.daemon_rollout import Place, Turn, replaced, surged
from kumi.controllers.own_status import written
from kumi.controllers.owners import owner_keys, reference, takers
from kumi.jobs.templates import FINISHED, is_live, is_ready
from kumi.runtime.reconcile import NOTHING, Create, Delete, Keys, Note, Outcome, Watches, Write, no_keys, own_key
from kumi.runtime.view import View

BURST = 250
ENDED_MS = 10_000
"""how long a pod that failed stands in the way of the next one"""


class DaemonSetController:
    """See the module."""

    name = "daemonset-controller"

    @property
    def watches(self) -> Watches:
        """See Controller."""
        owned = owner_keys("apps", "DaemonSet")
        keys: dict[type[Object], Keys] = {DaemonSet: own_key, Pod: owned, ControllerRevision: owned, Node: no_keys}
        return Watches(keys, related={Pod: takers(DaemonSet), Node: _all})

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """See the module."""
        namespace, _, name = key.partition("/")
        found = view.get(DaemonSet, namespace, name)
        if found is None:
            return NOTHING
        pods, claims = claim(found, found.spec.selector, view.list(Pod, namespace))
        if claims:
            return Outcome(tuple(claims))
        return _Look(found, pods, view, now_ms).outcome()


class _Here(NamedTuple):
    """A node with its pods, the oldest first."""

    node: str
    wanted: bool
    kept: bool
    pods: list[Pod]


class _Look:
    """One look at a set, its pods and all nodes."""

    def __init__(self, found: DaemonSet, pods: Sequence[Pod], view: View, now_ms: int) -> None:
        self._found, self._now_ms = found, now_ms
        self._pods = sorted(pods, key=lambda pod: (pod.metadata.creation_timestamp or "", pod.metadata.name))
        self._revisions = list(view.owned(ControllerRevision, found.metadata.uid))
        self._update = revision_of(found, found.spec.template, self._revisions)
        self._nodes = _places(found, self._pods, view.list(Node))
        self._writes: list[Write] = []
        self._notes: list[Note] = []
        self._wakes: list[int] = []

    def outcome(self) -> Outcome:
        """See the module."""
        found = self._found
        if found.metadata.deletion_timestamp is None:
            lacking = kept(self._update, found, self._revisions, {HASH: self._update.hash})
            if lacking is not None:
                return Outcome((lacking,))
            for step in (self._placed, self._replaced, self._history):
                step()
                if self._writes:
                    break
        self._writes += written(found, found.status, self._status())
        return Outcome(tuple(self._writes), tuple(self._notes), min(self._wakes, default=None))

    def _placed(self) -> None:
        lacking = []
        for here in self._nodes:
            if not here.kept:
                self._delete(here.pods)
            elif not here.pods:
                lacking.extend([here.node] if here.wanted else [])
            else:
                self._tidy(here)
        self._create(lacking[:BURST])

    def _tidy(self, here: _Here) -> None:
        """Removes pods of a node that have ended, and those that are too many."""
        live = []
        for pod in here.pods:
            if pod.status.phase == "Failed" and (due_ms := _ended_ms(pod) + ENDED_MS) > self._now_ms:
                self._wakes.append(due_ms)
            elif pod.status.phase in FINISHED:
                if pod.status.phase == "Failed" and pod.metadata.deletion_timestamp is None:
                    text = f"Found failed daemon pod {pod.key} on node {here.node}, will try to kill it"
                    self._notes.append(Note(reference(self._found), "FailedDaemonPod", text, "Warning"))
                self._delete([pod])
            elif is_live(pod):
                live.append(pod)
        for pods in (self._of(live, new=True), self._of(live, new=False)) if self._surge() else (live,):
            self._delete(pods[1:])

    def _replaced(self) -> None:
        if self._found.spec.update_strategy.type != "RollingUpdate":
            return
        places, pods = [], {}
        for here in self._nodes:
            if here.wanted:
                live = [pod for pod in here.pods if is_live(pod)]
                old, new = self._of(live, new=False)[:1], self._of(live, new=True)[:1]
                pods[here.node] = old
                places.append(Place(here.node, *(self._is_available(p[0]) if p else None for p in (old, new))))
        surge = self._surge()
        turn = surged(places, surge) if surge else replaced(places, self._missing())
        self._act(turn, pods)

    def _act(self, turn: Turn, old: dict[str, list[Pod]]) -> None:
        for node in turn.removed:
            self._delete(old[node])
        self._create(turn.added[:BURST])

    def _history(self) -> None:
        used = {pod.metadata.labels.get(HASH, "") for pod in self._pods}
        names = {each.metadata.name for each in self._revisions if each.metadata.name.rpartition("-")[2] in used}
        self._writes += surplus(self._revisions, names | {self._update.name}, self._found.spec.revision_history_limit)

    def _of(self, pods: Sequence[Pod], *, new: bool) -> list[Pod]:
        return [pod for pod in pods if (pod.metadata.labels.get(HASH) == self._update.hash) is new]

    def _surge(self) -> int:
        rolling = self._found.spec.update_strategy.rolling_update
        return share_of(rolling.max_surge, self._wanted(), up=True) if rolling else 0

    def _missing(self) -> int:
        rolling = self._found.spec.update_strategy.rolling_update
        return share_of(rolling.max_unavailable, self._wanted(), up=True) if rolling else 1

    def _wanted(self) -> int:
        return sum(here.wanted for here in self._nodes)

    def _create(self, nodes: Sequence[str]) -> None:
        taken = {pod.metadata.name for pod in self._pods}
        for node in nodes:
            made = pod_for(self._found, node, self._update, taken)
            name = made["metadata"]["name"]
            taken.add(name)
            self._writes.append(Create(made))
            self._notes.append(Note(reference(self._found), "SuccessfulCreate", f"Created pod: {name}"))

    def _delete(self, pods: Sequence[Pod]) -> None:
        for pod in pods:
            meta = pod.metadata
            if meta.deletion_timestamp is None:
                self._writes.append(Delete(SCHEME.of(Pod), meta.namespace, meta.name, meta.uid))
                self._notes.append(Note(reference(self._found), "SuccessfulDelete", f"Deleted pod: {meta.name}"))

    def _is_available(self, pod: Pod) -> bool:
        at = available_at_ms(pod, self._found.spec.min_ready_seconds)
        if at is not None and at > self._now_ms:
            self._wakes.append(at)
        return at is not None and at <= self._now_ms

    def _status(self) -> DaemonSetStatus:
        oldest = [here.pods[0] for here in self._nodes if here.wanted and here.pods]
        available = sum(self._is_available(pod) for pod in oldest if is_ready(pod))
        return DaemonSetStatus(
            observed_generation=self._found.metadata.generation,
            desired_number_scheduled=self._wanted(),
            current_number_scheduled=len(oldest),
            number_misscheduled=sum(bool(here.pods) for here in self._nodes if not here.wanted),
            updated_number_scheduled=len(self._of(oldest, new=True)),
            number_ready=sum(is_ready(pod) for pod in oldest),
            number_available=available,
            number_unavailable=self._wanted() - available,
            collision_count=self._found.status.collision_count,
            conditions=self._found.status.conditions,
        )


def _places(found: DaemonSet, pods: Sequence[Pod], nodes: Sequence[Node]) -> list[_Here]:
    """The nodes that there are, by name, with their pods; then those that are gone and still have some."""
    by_node: dict[str, list[Pod]] = {}
    for pod in pods:
        by_node.setdefault(node_of(pod), []).append(pod)
    selection, places = Selection(found), []
    for node in nodes:
        fit = selection.fit(node)
        places.append(_Here(node.metadata.name, fit.wanted, fit.kept, by_node.pop(node.metadata.name, [])))
    return [*places, *(_Here(name, False, False, by_node[name]) for name in sorted(by_node))]


def _ended_ms(pod: Pod) -> int:
    ends = [each.state.terminated.finished_at for each in pod.status.container_statuses if each.state.terminated]
    return max((parse_time(end) or 0 for end in ends), default=parse_time(pod.metadata.creation_timestamp) or 0)


def _all(_: Object, view: View) -> list[str]:
    """A change of a node concerns every set."""
    return [found.key for found in view.list(DaemonSet)]
