"""Answers: what gangs and their pods were told, what is promised to them, and whether there is anything to ask anew.

The rule       a session is due when anything came that it looks at (pods, nodes, queues, pod groups, classes, claims), when a
               node gained room, when the session before decided more than words (gang_session.py), when somebody has to go, for
               whomever, when a write was refused, and when a plug-in said that its answers change by then. Else it would end as
               the one before did, and isn't run.
Phase          a phase that was decided counts at once; a sight of the pod group from before its write takes nothing back.
Evicted        a pod that was evicted is on its way out, also while its object doesn't show it yet.
Promised       places that a gang was given and waits for the rest: nobody else takes them before the next session.
Cost           O(1) a change.
Not here       what is decided: rounds.py, gang_session.py.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kumi.engine.decisions import Assumed, EvictPod, GangPhase
from kumi.engine.gangs import PodGroup
from kumi.engine.journal import Journal
from kumi.engine.model import Pod
from kumi.engine.placement.tasks import Kept, Tasks

if TYPE_CHECKING:
    from kumi.engine.placement.line.asking import Held
    from kumi.engine.placement.rounds import Round


class Answers:
    """What is known of sessions of gangs that have been."""

    def __init__(self, journal: Journal, tasks: Tasks) -> None:
        self._journal, self._tasks = journal, tasks
        self.due = True
        self.nodes_seen = -1
        """the nodes' `changed` when the last session was"""
        self.wake_ms: int | None = None
        self.cleared_ms: int | None = None
        """when tasks last had to go whoever waited"""
        self.evicting: dict[str, Assumed] = {}
        """pod uid -> EvictPod"""
        self.phases: dict[str, Assumed] = {}
        """pod group -> GangPhase whose write isn't seen yet"""
        self.told: dict[str, GangPhase] = {}
        """pod group -> what was last decided of it"""
        self.last: Round | None = None
        """the last session"""
        self.promised: dict[str, str] = {}
        """pod uid -> the node that is kept for it"""
        self.reserved: dict[str, Held] = {}
        """gang -> what is kept for it from a time on, where the line of gangs keeps something"""

    def stir(self) -> None:
        """There is something that a session may answer otherwise."""
        if not self.due:
            self._journal.swap(self, "due", True)

    # what comes in

    def put(self, noun: Kept) -> None:
        """There is such a thing, or it changed."""
        known = self._tasks.known(noun)
        if isinstance(noun, PodGroup):
            noun = self._shown(noun)
        self._tasks.put(noun)
        if known != noun:
            self.stir()

    def remove(self, type_: type, key: str) -> None:
        """It is gone."""
        self._tasks.remove(type_, key)
        if type_ is PodGroup:
            self._journal.drop_all(key, self.phases, self.told)
        self.stir()

    # pod groups

    def _shown(self, group: PodGroup) -> PodGroup:
        """The pod group as it counts, were this sight of it the newest."""
        assumed = self.phases.get(group.key)
        if assumed is None or not isinstance(assumed.decision, GangPhase):
            return group
        if assumed.settled and group.revision >= assumed.revision:
            self._journal.drop(self.phases, group.key)
            return group
        return replace(group, phase=assumed.decision.phase)

    def say(self, said: GangPhase) -> None:
        """Decided, and true from now on."""
        self._journal.put(self.told, said.group, said)
        self._journal.put(self.phases, said.group, Assumed(said))
        self._set_phase(said)

    def settle_phase(self, said: GangPhase, ok: bool, revision: int) -> None:
        """Its write was acknowledged, or refused: then it is decided anew."""
        assumed = self.phases.get(said.group)
        if assumed is None or assumed.decision != said:
            return
        if ok:
            self._journal.put(self.phases, said.group, replace(assumed, settled=True, revision=revision))
            return
        self._journal.drop(self.phases, said.group)
        self._journal.drop(self.told, said.group)
        self._tasks.touch(said.group)
        self.stir()

    def _set_phase(self, said: GangPhase) -> None:
        job = self._tasks.jobs.get(said.group)
        if job is not None and job.group is not None and job.group.phase is not said.phase:
            self._tasks.set_phase(job, said.phase)

    # pods

    def leaving(self, pod: Pod) -> Pod:
        """The pod as it counts: one that was evicted is on its way out. The assumption ends when the pod shows it."""
        if pod.uid not in self.evicting:
            return pod
        if pod.terminating or pod.finished:
            self._journal.drop(self.evicting, pod.uid)
            return pod
        return replace(pod, terminating=True)

    def evict(self, decision: EvictPod) -> None:
        """Decided: its queue has less, and its node will have room."""
        self.stir()
        self._journal.put(self.evicting, decision.pod, Assumed(decision))

    def stays(self, decision: EvictPod) -> bool:
        """Its deletion was refused. True where it had counted."""
        assumed = self.evicting.get(decision.pod)
        if assumed is None or assumed.decision != decision:
            return False
        self._journal.drop(self.evicting, decision.pod)
        return True
