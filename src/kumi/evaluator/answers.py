"""Answers: whether a scheduler in another process has settled: each of its pods is bound, or it said of it that it can't be.

The rule   its pods     name it, have no node, no gate, and are not on their way out
           an answer    the condition PodScheduled is False, by a write of the pod; or an Event FailedScheduling about it
           it counts    while nothing has happened since that could help: a node came or is another one, a pod with a node ended
                        or went. That another pod came helps nobody
           settled      each of its pods has an answer that counts
Why        schedulers repeat an answer only if they have looked again: one from before the last change says nothing.
Source     Kubernetes: pod conditions; events of kube-scheduler.
Not here   how long is waited: external.py.
"""

from __future__ import annotations

from kumi.api.core import Event, Node, Pod
from kumi.api.errors import KumiError
from kumi.api.meta import find_condition
from kumi.bridge.into.node import node as noun_of
from kumi.evaluator.feed import News
from kumi.kubelet.pod_state import FINAL

FAILED = "FailedScheduling"
GATED = "SchedulingGated"


class Answers:
    """See the module. `name`: what pods name their scheduler."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.given = 0
        """how many answers came, bindings among them"""
        self._waiting: dict[str, Pod] = {}
        """uid -> a pod without a node"""
        self._said: dict[str, int] = {}
        """uid -> revision of its last answer"""
        self._helped = 0
        """revision of the last change that could help anybody"""

    @property
    def settled(self) -> bool:
        """See the module."""
        return all(self._said.get(uid, -1) > self._helped for uid in self._waiting)

    def why(self, uid: str) -> str:
        """What it last said of a pod; "": nothing."""
        pod = self._waiting.get(uid)
        said = find_condition(pod.status.conditions, "PodScheduled") if pod is not None else None
        return said.message if said is not None and said.status == "False" else ""

    def seen(self, news: News) -> None:
        """That was written."""
        if news.type is Pod:
            self._pod(news.old, news.new, news.revision)
        elif news.type is Node and not _alike(news.old, news.new):
            self._helped = news.revision
        elif isinstance(news.new, Event) and news.new.reason == FAILED:
            uid = str(news.new.involved_object.get("uid", ""))
            if uid in self._waiting:
                self._answered(uid, news.revision)

    def _pod(self, old: object, new: object, revision: int) -> None:
        pod = new if isinstance(new, Pod) else old
        assert isinstance(pod, Pod)
        uid = pod.metadata.uid
        held = isinstance(old, Pod) and bool(old.spec.node_name) and old.status.phase not in FINAL
        if held and (new is None or pod.status.phase in FINAL):
            self._helped = revision
        was_waiting = uid in self._waiting
        if new is None or not self._is_its_own(pod):
            self._waiting.pop(uid, None)
            self._said.pop(uid, None)
            self.given += was_waiting and new is not None and bool(pod.spec.node_name)
            return
        self._waiting[uid] = pod
        said = find_condition(pod.status.conditions, "PodScheduled")
        if was_waiting and said is not None and said.status == "False" and said.reason != GATED:
            self._answered(uid, revision)

    def _is_its_own(self, pod: Pod) -> bool:
        waits = not pod.spec.node_name and pod.metadata.deletion_timestamp is None and pod.status.phase not in FINAL
        return waits and pod.spec.scheduler_name == self._name and not pod.spec.scheduling_gates

    def _answered(self, uid: str, revision: int) -> None:
        self._said[uid] = revision
        self.given += 1


def _alike(old: object, new: object) -> bool:
    """Is a node the same to whoever places pods?"""
    if not isinstance(old, Node) or not isinstance(new, Node):
        return False
    try:
        return noun_of(old) == noun_of(new)
    except KumiError:
        return False
