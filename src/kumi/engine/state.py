"""State: the compiled cluster, the only thing in the engine that changes.

    apply(delta)            an object came, changed or went; in any order, what is missing is found again when it comes
    assume(decision)        the engine's own decision counts from now on
    settle(decision, ok)    its write was acknowledged, or refused
    trial()                 a block whose changes are taken back unless it commits (journal.py)

Assumed       All but Hold and Unplaced is assumed when it is decided. A Put that still shows the object as it was before takes
              nothing back. Refused, the assumption is undone and the object is decided anew. Acknowledged, it holds until
              the object itself shows it (an admission, an eviction, a node), finishes or goes; where revisions are known, also
              no longer than a sight of the object at or after the revision of the write.
Kept          every aggregate that a rule reads is kept as things change: usage (admission/quota.py), who holds it
              (holdings.py), room of nodes (placement/nodes.py), promises (reservations.py), lines (queues.py), pods (pods.py).
Attention     what a decision has to look at is noted when it happens: `untold` (pending, without a current record), `to_check`
              (holding, perhaps to be stopped), `gangs` and `newcomers` (pods that may be bound), `queues.freed` and the
              nodes' `changed` (room for those who wait). An idle decision costs nothing.
Units         int64 base units, milliseconds.
Not here      any decision.
"""

from __future__ import annotations

from dataclasses import replace

from kumi.engine import comings, tree
from kumi.engine.admission.door_shares import DoorShares
from kumi.engine.admission.order import kind, place
from kumi.engine.admission.quota import FlavorResource, Quotas
from kumi.engine.admission.requests import held
from kumi.engine.admission.usage import PastUsage
from kumi.engine.catalog import Catalog
from kumi.engine.claims import Claims
from kumi.engine.decisions import (
    Admit,
    Assumable,
    Assumed,
    Bind,
    Decision,
    Evict,
    EvictPod,
    Finish,
    GangPhase,
    Hold,
    Nominate,
    Unplaced,
)
from kumi.engine.gangs import DisruptionBudget, NamespaceQuota, PodGroup, PriorityClass, Queue
from kumi.engine.holdings import Holdings, standing_of, usage_of
from kumi.engine.journal import Journal, Trial
from kumi.engine.model import (
    Admission,
    AdmissionCheck,
    Amounts,
    ClusterQueue,
    Cohort,
    Delta,
    Flavor,
    LocalQueue,
    Namespace,
    Node,
    NodeUsage,
    NumaTopology,
    Pod,
    Profile,
    Put,
    Topology,
    VolumeClaim,
    VolumeLimits,
    Workload,
)
from kumi.engine.placement.answers import Answers
from kumi.engine.placement.best import Best
from kumi.engine.placement.budgets import spend
from kumi.engine.placement.crowd import Crowd
from kumi.engine.placement.gang import Site
from kumi.engine.placement.layers import Layers
from kumi.engine.placement.nodes import ONE_POD, PODS, Nodes
from kumi.engine.placement.nominations import Nominations
from kumi.engine.placement.plugins import looks_at_mix
from kumi.engine.placement.plugins import of as plugins_of
from kumi.engine.placement.tasks import KEPT, Tasks, best_effort, nobody
from kumi.engine.pods import pods_for
from kumi.engine.queues import Queues, Spot
from kumi.engine.reasons import Code, Reason, Record
from kumi.engine.reservations import Reservations
from kumi.engine.settings import QueueOrder


class State:
    """The compiled cluster. One thread, no clock."""

    def __init__(self, profile: Profile | None = None) -> None:
        self.profile = profile or Profile()
        self.journal = Journal()
        self.catalog = Catalog(self.journal, self.profile.name)
        self.quotas = Quotas(self.journal)
        self.nodes = Nodes(self.journal)
        self.pods = pods_for(self.journal, self.nodes, self.profile)
        self.holdings = Holdings(self.journal, self.quotas, self.pods)
        self.reservations = Reservations(self.journal, self.nodes)
        self.past = PastUsage(self.journal, self.profile.settings.by_usage)
        self.door_shares = _door_shares(self)
        """of LocalQueues, where they make an order"""
        self.queues = Queues(
            self.journal, self.past.value, self.door_shares.share if self.door_shares is not None else None
        )
        self.claims = Claims(self.journal)
        self.tasks = Tasks(self.journal, best_effort if self.profile.name == "volcano" else nobody, self.pods.ends)
        self.answers = Answers(self.journal, self.tasks)
        self.layers = Layers(self.journal, self.nodes, self.pods)
        self.nominations = Nominations(self.journal, self.nodes)
        self.nodes.devices.mix = {} if looks_at_mix(self.profile) else None
        self.site = Site(self.nodes, self.journal, plugins_of(self.profile))
        self.best = Best(self.nodes, self.site.plugins)
        self.crowd = Crowd(self.nodes, self.site.plugins.filter, self.best)
        self.workloads: dict[str, Workload] = {}
        self.of_local_queue: dict[str, dict[str, None]] = {}
        self.of_namespace: dict[str, dict[str, None]] = {}
        self.assumed: dict[str, Assumed] = {}
        """workload -> Admit"""
        self.stopping: dict[str, Assumed] = {}
        """workload -> Evict"""
        self.finishing: dict[str, Assumed] = {}
        """workload -> Finish"""
        self.binding: dict[str, Assumed] = {}
        """pod uid -> Bind"""
        self.aside: dict[str, Reason] = {}
        """pending workloads that wait in no line, and why"""
        self.rested: dict[str, int] = {}
        """the back-off of each workload that is over"""
        self.unready: dict[str, None] = {}
        """holders whose pods are not all ready"""
        self.records: dict[str, Record] = {}
        """what was last said of a pending workload, without its time"""
        self.refusals: dict[str, tuple[Reason, ...]] = {}
        """what was last said of a pod"""
        self.untold: dict[str, None] = {}
        self.to_check: dict[str, None] = {}
        self.gangs: dict[str, None] = {}
        self.crowded: dict[str, None] = {}
        """workloads with pods for which no room was left"""
        self.newcomers: dict[str, None] = {}
        self.nodes_seen = 0
        """the nodes' `changed` when pods on their own were last looked at"""

    # what comes in

    def apply(self, delta: Delta) -> None:
        """An object came or changed (Put), or went (Remove)."""
        self._begin()
        if isinstance(delta, Put):
            self._put(delta)
        else:
            self._remove(delta.type, delta.key)
        self._end()

    def settle(self, decision: Decision, ok: bool, revision: int = 0) -> None:
        """The decision's write was acknowledged, as that revision of the object where it is known; or refused."""
        self._begin()
        match decision:
            case Admit() | Evict() | Finish():
                self._settle_workload(decision, ok, revision)
            case Bind():
                comings.settle(self, decision, ok)
            case Hold() if not ok:
                self.journal.drop(self.records, decision.workload)
                if decision.workload in self.workloads and decision.workload not in self.holdings.admission:
                    self.journal.put(self.untold, decision.workload, None)
            case Unplaced() if not ok:
                self.journal.drop(self.refusals, decision.pod)
                self.tasks.untell(decision.pod)
                comings.notice(self, decision.pod)
            case GangPhase():
                self.answers.settle_phase(decision, ok, revision)
            case EvictPod() if not ok and self.answers.stays(decision):
                self.journal.drop(self.tasks.spent, decision.pod)
                comings.reseat(self, replace(self.pods.by_uid[decision.pod], terminating=False))
                comings.notice(self, decision.pod)
        self._end()

    def assume(self, decision: Assumable) -> None:
        """The engine decided this: it counts from now on."""
        match decision:
            case Admit():
                self.claims.take_up(self, decision.workload)
                self.journal.put(self.assumed, decision.workload, Assumed(decision))
                self._refresh(decision.workload)
            case Evict():
                self.journal.put(self.stopping, decision.workload, Assumed(decision))
                self._stand(decision.workload)
                self.journal.put(self.gangs, decision.workload, None)
            case Finish():
                self.journal.put(self.finishing, decision.workload, Assumed(decision))
                self._refresh(decision.workload)
            case Bind():
                self.journal.put(self.binding, decision.pod, Assumed(decision))
                self.journal.drop_all(decision.pod, self.refusals, self.newcomers)
                comings.reseat(self, self.pods.by_uid[decision.pod])
            case EvictPod():
                self.answers.evict(decision)
                spend(self.tasks, self.journal, self.pods.by_uid[decision.pod])
                comings.reseat(self, self.pods.by_uid[decision.pod])
            case Nominate():
                self.nominations.put(self.pods.by_uid[decision.pod], decision.node)
            case GangPhase():
                self.answers.say(decision)
        self.nodes.notice()

    def trial(self) -> Trial:
        """Changes inside the block are taken back unless it commits."""
        return self.journal.trial()

    def wake_at_ms(self) -> int | None:
        """When the next back-off is over, or a session of gangs may end otherwise: decide then, also if nothing comes in. None:
        only input changes anything."""
        later = self.queues.later[0][0] if self.queues.later else None
        gangs, alone = self.answers.wake_ms, self.pods.waiting.wake_ms
        if later is None and gangs is None and alone is None:
            return None
        return min(ms for ms in (later, gangs, alone) if ms is not None)

    # what rules ask

    def counted(self, workload: Workload, admission: Admission) -> dict[FlavorResource, int]:
        """What the admission counts for in quota, pods that have ended aside."""
        reclaimable = self.profile.settings.reclaimable
        given = (held(workload, given, reclaimable=reclaimable) for given in admission.pod_sets)
        return usage_of(replace(admission, pod_sets=tuple(given)))

    def is_stopping(self, key: str) -> bool:
        """Is this holder being evicted?"""
        workload = self.workloads.get(key)
        shown = workload is not None and workload.evicted and workload.admission is not None
        return key in self.stopping or shown

    def takes_turns(self, queue: str) -> bool:
        """Do the LocalQueues of this ClusterQueue take turns by usage?"""
        known = self.catalog.cluster_queues.get(queue)
        return known is not None and known.by_usage and self.profile.settings.by_usage is not None

    def bring_back(self, now_ms: int) -> None:
        """Back-offs that are over by now: their workloads may be queued. What was used lately is as of now."""
        self.past.sample(now_ms)
        while self.queues.later and self.queues.later[0][0] <= now_ms:
            until, key = self.queues.later[0]
            self.queues.unpostpone(key, until)
            self.journal.put(self.rested, key, until)
            self._refresh(key)

    # objects

    def _begin(self) -> None:
        self.quotas.touched.clear()
        self.nodes.touched.clear()

    def _end(self) -> None:
        self.quotas.inherit()
        self.nodes.inherit()

    def _put(self, delta: Put) -> None:
        match delta.noun:
            case Workload() as workload:
                self._put_workload(workload)
            case Pod() as pod:
                comings.put(self, pod)
            case Node() as node:
                self._put_node(node)
            case ClusterQueue() | Cohort() | Flavor() | Topology() | AdmissionCheck() as noun:
                tree.set_up(self, type(noun), noun.name, noun)
            case LocalQueue() as local:
                if self.catalog.local_queues.get(local.key) != local:
                    self.catalog.put_local_queue(local)
                    self.past.meet(local)
                    self.refresh_all(self.of_local_queue.get(local.key, ()))
            case Queue() | PodGroup() | PriorityClass() | DisruptionBudget() | NamespaceQuota() as noun:
                self.answers.put(noun)
            case VolumeClaim() as claim:
                self.answers.stir()
                self.nodes.put_claim(claim)
            case NodeUsage() | NumaTopology() | VolumeLimits() as fact:
                if self.nodes.put_fact(fact):
                    self.answers.stir()
            case Namespace() as namespace:
                self._put_namespace(namespace)

    def _put_namespace(self, namespace: Namespace) -> None:
        if self.catalog.namespaces.get(namespace.name) == namespace:
            return
        self.journal.put(self.catalog.namespaces, namespace.name, namespace)
        if self.nodes.residents.put_namespace(namespace):
            self.nodes.gain_all()
        self.refresh_all(self.of_namespace.get(namespace.name, ()))
        self.queues.wake_each(self.of_namespace.get(namespace.name, ()))

    def _remove(self, type_: type, key: str) -> None:
        if type_ is Workload:
            self._remove_workload(key)
        elif type_ is Pod:
            comings.remove(self, key)
        elif type_ is Node:
            for uid in self.pods.on_node.get(key, ()):
                self.nodes.residents.seat(self.pods.by_uid[uid], key, -1)
            self.reservations.clear(key)
            self.layers.clear(key)
            self.nominations.clear(key)
            self.nodes.remove(key)
            self._notice_node(key)
        elif type_ in KEPT:
            self.answers.remove(type_, key)
        elif type_ is VolumeClaim:
            self.nodes.volume_claims.remove(key)
        elif type_ in (NodeUsage, NumaTopology, VolumeLimits):
            self.nodes.drop_fact(type_, key)
            self.answers.stir()
        elif type_ is LocalQueue:
            self.catalog.remove_local_queue(key)
            self.past.part(key)
            self.refresh_all(self.of_local_queue.get(key, ()))
        elif type_ is Namespace:
            self.journal.drop(self.catalog.namespaces, key)
            if self.nodes.residents.remove_namespace(key):
                self.nodes.gain_all()
            self.refresh_all(self.of_namespace.get(key, ()))
        elif issubclass(type_, ClusterQueue | Cohort | Flavor | Topology | AdmissionCheck):
            tree.set_up(self, type_, key, None)

    # workloads

    def _put_workload(self, workload: Workload) -> None:
        key = workload.key
        old = self.workloads.get(key)
        self.journal.put(self.workloads, key, workload)
        shown = self._show(workload)
        if old == workload and not shown:
            return
        if old is not None and (old.queue, old.namespace) != (workload.queue, workload.namespace):
            self._unindex(old)
        if key in self.holdings.admission and old is not None and old.pod_sets != workload.pod_sets:
            self._release(key)
        for table, name in ((self.of_local_queue, workload.queue), (self.of_namespace, workload.namespace)):
            if name not in table:
                self.journal.put(table, name, {})
            self.journal.put(table[name], key, None)
        self._refresh(key)

    def _remove_workload(self, key: str) -> None:
        workload = self.workloads.get(key)
        if workload is None:
            return
        if key in self.holdings.admission:
            self._release(key)
        self._unqueue(key)
        self._unindex(workload)
        self.journal.drop_all(
            key, self.workloads, self.assumed, self.stopping, self.finishing, self.rested, self.records
        )
        self.journal.drop_all(key, self.untold, self.to_check, self.crowded)
        self.journal.put(self.gangs, key, None)

    def _unindex(self, workload: Workload) -> None:
        for table, name in ((self.of_local_queue, workload.queue), (self.of_namespace, workload.namespace)):
            self.journal.drop(table[name], workload.key)
            if not table[name]:
                self.journal.drop(table, name)

    def _show(self, workload: Workload) -> bool:
        """Ends the assumptions that this sight of the workload makes true, or untrue. True where one ended."""
        ended = False
        assumed, stopping = self.assumed.get(workload.key), self.stopping.get(workload.key)
        if assumed is not None and (workload.admission is not None or workload.finished or _newer(workload, assumed)):
            self.journal.drop(self.assumed, workload.key)
            assumed, ended = None, True
        if stopping is not None:
            gone = (assumed is None and workload.admission is None) or workload.finished
            if gone or (workload.evicted and workload.admission is not None) or _newer(workload, stopping):
                self.journal.drop(self.stopping, workload.key)
                ended = True
        finishing = self.finishing.get(workload.key)
        if finishing is not None and (workload.finished or _newer(workload, finishing)):
            self.journal.drop(self.finishing, workload.key)
            ended = True
        return ended

    def _settle_workload(self, decision: Admit | Evict | Finish, ok: bool, revision: int) -> None:
        tables = {Admit: self.assumed, Evict: self.stopping, Finish: self.finishing}
        table = tables[type(decision)]
        assumed = table.get(decision.workload)
        if assumed is None or assumed.decision != decision:
            return
        if ok:
            self.journal.put(table, decision.workload, replace(assumed, settled=True, revision=revision))
            if not self._show(self.workloads[decision.workload]):
                return
        else:
            self.journal.drop(table, decision.workload)
        self._refresh(decision.workload)

    def _refresh(self, key: str) -> None:
        """What the workload holds, and where it waits, from what is known of it now."""
        workload = self.workloads[key]
        held, due = self.holdings.admission.get(key), self._due(workload)
        if held is not None and held != due:
            self._release(key)
        if due is not None:
            if due != self.holdings.admission.get(key):
                self._take(workload, due)
            self._stand(key)
            self.journal.put(self.to_check, key, None)
            self.journal.put(self.gangs, key, None)
        elif key in self.stopping:
            self.journal.drop(self.stopping, key)
        if key in self.claims.spoken and not self.is_stopping(key):
            self.claims.stays(self, key)
        if due is None or workload.pods_ready:
            self.journal.drop(self.unready, key)
        else:
            self.journal.put(self.unready, key, None)
        self._requeue(workload, due is None and not workload.finished and key not in self.finishing)

    def refresh_all(self, keys: dict[str, None] | tuple[()]) -> None:
        """The same for all of them."""
        for key in sorted(keys):
            self._refresh(key)

    def _due(self, workload: Workload) -> Admission | None:
        """What it holds by right."""
        if workload.finished or workload.key in self.finishing:
            return None
        assumed = self.assumed.get(workload.key)
        if assumed is not None and isinstance(assumed.decision, Admit):
            return assumed.decision.admission
        return workload.admission

    def _take(self, workload: Workload, admission: Admission) -> None:
        placed: Amounts = {}
        if self.profile.places:
            self.reservations.promise(workload, admission)
            shapes = {s.name: s.shape.requests for s in workload.pod_sets}
            for given in admission.pod_sets:
                pods = sum(n for _, n in given.nodes)
                for resource, amount in ((PODS, ONE_POD), *shapes.get(given.name, ())):
                    if amount * pods:
                        placed[resource] = placed.get(resource, 0) + amount * pods
        self.holdings.take(workload.key, admission, self.counted(workload, admission), placed)

    def _stand(self, key: str) -> None:
        """A holder's place among those who may be evicted."""
        workload = self.workloads.get(key)
        if workload is None or key not in self.holdings.admission:
            return
        door = workload.queue if self.profile.settings.by_usage is not None else ""
        if self.takes_turns(self.holdings.admission[key].cluster_queue):
            admitted = workload.admitted and workload.admission is not None
            self.past.hold(key, door, self.holdings.usage[key], admitted=admitted)
        if self.door_shares is not None:
            self.door_shares.hold(key, workload.queue, self.holdings.usage[key])
        self.holdings.stand(key, standing_of(workload, stays=not self.is_stopping(key)), door)

    def _release(self, key: str) -> None:
        self.claims.gone(key)
        admission = self.holdings.drop(key)
        self.past.forget(key)
        if self.door_shares is not None:
            self.door_shares.forget(key)
        self.reservations.release(key, admission)
        self.queues.renew(admission.cluster_queue)
        self.journal.put(self.queues.freed, admission.cluster_queue, None)
        self.journal.put(self.gangs, key, None)

    def _requeue(self, workload: Workload, pending: bool) -> None:
        """The workload's place: a line, a back-off, aside, or none."""
        key = workload.key
        target: Spot | int | Reason | None = self._target(workload) if pending else None
        if target is not None and target == self._standing(workload):
            return
        self._unqueue(key)
        if target is None:
            self.journal.drop_all(key, self.records, self.untold)
            return
        match target:
            case Spot():
                self.queues.enter(key, target)
            case int():
                self.queues.postpone(key, target)
                self.journal.put(self.aside, key, Reason(Code.BACKING_OFF, need=target))
            case Reason():
                self.journal.put(self.aside, key, target)
        self.journal.put(self.untold, key, None)

    def _target(self, workload: Workload) -> Spot | int | Reason:
        until = workload.requeue_at_ms
        if until and workload.active and self.rested.get(workload.key) != until:
            return until
        route = self.catalog.route(workload)
        if isinstance(route, Reason):
            return route
        lane = workload.queue if self.door_shares is not None or self.takes_turns(route) else ""
        return Spot(route, place(workload), kind(workload), workload.queue, lane)

    def _standing(self, workload: Workload) -> Spot | int | Reason | None:
        aside = self.aside.get(workload.key)
        if aside is not None:
            return aside.need if aside.code is Code.BACKING_OFF else aside
        return self.queues.spot.get(workload.key)

    def _unqueue(self, key: str) -> None:
        self.claims.drop(self, key)
        self.queues.leave(key)
        aside = self.aside.get(key)
        if aside is not None:
            if aside.code is Code.BACKING_OFF:
                self.queues.unpostpone(key, aside.need)
            self.journal.drop(self.aside, key)

    # nodes and pods

    def _put_node(self, node: Node) -> None:
        if self.nodes.node_by_name.get(node.name) == node:
            return
        if self.nodes.put(node):
            for uid in self.pods.on_node.get(node.name, ()):
                pod = self.pods.by_uid[uid]
                self.nodes.use(node.name, pod.shape.requests, 1)
                self.nodes.residents.seat(pod, node.name, 1)
                self.layers.seat(pod, node.name, 1)
                if pod.terminating:
                    self.nodes.release(node.name, pod.shape.requests, 1)
                comings.seat_devices(self, pod, node.name)
            self.reservations.charge(node.name)
        self._notice_node(node.name)

    def _notice_node(self, name: str) -> None:
        """Those who hold something there may have lost it, or may go on."""
        self.answers.stir()
        holders = [workload for workload, _ in self.reservations.on_node.get(name, ())]
        holders += [self.pods.by_uid[uid].workload for uid in self.pods.on_node.get(name, ())]
        for key in holders:
            if key in self.holdings.admission:
                self.journal.put(self.to_check, key, None)
                self.journal.put(self.gangs, key, None)


def _door_shares(state: State) -> DoorShares | None:
    return DoorShares(state.journal, state.quotas) if state.profile.settings.order is QueueOrder.FAIR else None


def _newer(workload: Workload, assumed: Assumed) -> bool:
    """Was the object seen at or after the decision's own write?"""
    return assumed.settled and 0 < assumed.revision <= workload.revision
