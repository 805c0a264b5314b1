"""Predicates: which nodes take a pod, and why the others don't.

The rule, for a node n and a pod p: n takes p when                                                else
    fewer pods are on n than it takes                                                             unschedulable
    n is ready, and takes new pods or p endures that                  (node_masks.py)             unresolvable
    p's node selector and required affinity hold on n's labels        (node_masks.py)             unresolvable
    p endures the blocking taints of n                                (node_masks.py)             unresolvable
    no port of p on the host is taken on n                            (ports.py)                  unschedulable
    p is near whom it must be                                         (pod_affinity.py)           unresolvable
    nobody is near who must not be                                    (pod_affinity.py)           unschedulable
    p is spread as it says                                            (spread.py)                 either
    p's volumes are in n's zone                                       (volume_zone.py)            unresolvable
    p has its volumes there                                           (volumes.py)                unresolvable, or in use: not
    n takes as many volumes                                           (volume_limits.py)          unschedulable
Unresolvable   evicting pods of n doesn't help. They are asked in this order, the number of pods before the rest; the first
               that is unresolvable ends it.
Before         a claim that no node could serve as it is makes every node an error.
Room           for what p asks for is looked at by whoever places it; `refusals` counts it, for people.
Causes         a claim that stands in the way everywhere, alone; else each node is counted under the first of: not ready,
               taint, selector, affinity, zone, volume, volume limit, ports, pods, spread, too small (empty it would not fit
               either), full, no single GPU with enough (../devices.py).
Switches       predicate.NodeAffinityEnable, .NodePortsEnable, .TaintTolerationEnable, .PodAffinityEnable,
               .PodTopologySpreadEnable, .VolumeBindingEnable, .VolumeZoneEnable and .NodeVolumeLimitsEnable, each true.
Cost           O(nodes) a pod that says nothing of others; see the files for the rest.
Source         Volcano: predicates plug-in; Kubernetes scheduler: filter plug-ins.
Not here       the rule for one value, one taint: ../../selectors.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from kumi.engine.model import Exclusive, Pod, PodShape
from kumi.engine.placement.devices import GPU, asked
from kumi.engine.placement.hooks import Fit, Fits, also
from kumi.engine.placement.nodes import HAS_AT_MOST, NOWHERE, PODS, Ints, Mask, Nodes
from kumi.engine.placement.plugins import (
    node_masks,
    pod_affinity,
    ports,
    spread,
    volume_limits,
    volume_zone,
    volumes,
)
from kumi.engine.reasons import Code, Reason

if TYPE_CHECKING:
    from kumi.engine.placement.conf import Option
    from kumi.engine.placement.framework import Framework


@dataclass(frozen=True, slots=True)
class Predicates:
    """The filters of the Kubernetes scheduler. A switch that is off leaves its rule out."""

    affinity: bool = True
    ports: bool = True
    taints: bool = True
    pods: bool = True
    spread: bool = True
    volumes: bool = True
    zones: bool = True
    limits: bool = True

    @classmethod
    def configured(cls, option: Option) -> Predicates:
        """See hooks.Configured."""

        def is_on(name: str) -> bool:
            return option.arguments.switch(f"predicate.{name}Enable", default=True)

        option.arguments.unused("predicate.CacheEnable")
        return cls(
            affinity=is_on("NodeAffinity"),
            ports=is_on("NodePorts"),
            taints=is_on("TaintToleration"),
            pods=is_on("PodAffinity"),
            spread=is_on("PodTopologySpread"),
            volumes=is_on("VolumeBinding"),
            zones=is_on("VolumeZone"),
            limits=is_on("NodeVolumeLimits"),
        )

    def open(self, session: Framework) -> _Predicates:
        """See hooks.Plugin."""
        return _Predicates(self, session)

    # what one pod may have

    def mask(self, nodes: Nodes, pod: Pod) -> Mask:
        """True on the rows that take the pod, room aside."""
        mask: Mask = self.fits(nodes, pod) == Fit.OK
        return mask

    def standing(self, nodes: Nodes, pod: Pod) -> Mask:
        """The same whatever pods are on the nodes: by what nodes are, and where volumes can be reached."""
        passes: Mask = self._by_node(nodes, pod.shape) == Fit.OK
        if not pod.shape.volume_claims:
            return passes
        if self.zones:
            passes = passes & volume_zone.mask(nodes, pod.shape)
        if not self.volumes:
            return passes
        if volumes.refusal(nodes, pod.shape) is not None:
            return np.zeros_like(passes)
        return passes & volumes.reached(nodes, pod.shape)

    def fits(self, nodes: Nodes, pod: Pod, full: Mask | None = None) -> Fits:
        """What each row says, room aside; a row without a node is unresolvable. `full`: where no more pods may go."""
        shape = pod.shape
        fits = self._by_node(nodes, shape)
        if full is not None and full.any():
            crowd = np.where(full, Fit.UNSCHEDULABLE, Fit.OK).astype(np.int8)
            fits = also(crowd, fits == Fit.UNRESOLVABLE, Fit.UNRESOLVABLE)
        if self.ports and shape.ports:
            fits = also(fits, ports.taken(nodes, shape), Fit.UNSCHEDULABLE)
        if self.pods:
            if (lonely := pod_affinity.lonely(nodes, pod)) is not None:
                fits = also(fits, lonely, Fit.UNRESOLVABLE)
            if (crowded := pod_affinity.crowded(nodes, pod)) is not None:
                fits = also(fits, crowded, Fit.UNSCHEDULABLE)
        if self.spread and (said := spread.fits(nodes, pod)) is not None:
            fits = also(fits, said == Fit.UNRESOLVABLE, Fit.UNRESOLVABLE)
            fits = also(fits, said == Fit.UNSCHEDULABLE, Fit.UNSCHEDULABLE)
        return self._by_volumes(nodes, shape, fits) if shape.volume_claims else fits

    def _by_volumes(self, nodes: Nodes, shape: PodShape, fits: Fits) -> Fits:
        if self.limits and (within := volume_limits.mask(nodes, shape)) is not None:
            fits = also(fits, ~within, Fit.UNSCHEDULABLE)
        if self.zones:
            fits = also(fits, ~volume_zone.mask(nodes, shape), Fit.UNRESOLVABLE)
        if self.volumes:
            fits = also(fits, ~volumes.reached(nodes, shape), Fit.UNRESOLVABLE)
            fits = also(fits, ~volumes.mask(nodes, shape), Fit.UNSCHEDULABLE)
        return fits

    def is_steady(self, nodes: Nodes, pod: Pod) -> bool:
        """Does placing one such pod leave what the other nodes say to the next?"""
        if self.pods and not pod_affinity.is_steady(nodes, pod):
            return False
        if self.spread and not spread.is_steady(nodes, pod, hard=True):
            return False
        known = nodes.volume_claims.by_key
        claims = [known[key] for key in pod.shape.volume_claims if key in known] if self.volumes else []
        return all(claim.exclusive is Exclusive.NO for claim in claims)

    def is_local(self, nodes: Nodes, pod: Pod) -> bool:
        """See plugins.Filter: what a node is, and nothing of the pods on it."""
        shape = pod.shape
        return not (shape.ports or shape.volume_claims or (shape.neighbours is not None and shape.neighbours.binds))

    def most(self, nodes: Nodes, pod: Pod) -> Ints | None:
        """How many such pods each row takes, of those that take one, room aside; None: any number."""
        if self.ports and pod.shape.ports:
            return np.ones(nodes.used.shape[1], dtype=np.int64)
        shunning = pod_affinity.shunning(nodes, pod) if self.pods else None
        return None if shunning is None else np.where(shunning, 1, HAS_AT_MOST)

    def refusals(self, nodes: Nodes, pod: Pod) -> tuple[Reason, ...]:
        """A reason a cause, in the order of the module's list; `nodes` says how many, `have` the most that one has."""
        rows, shape = nodes.by_name(), pod.shape
        if not rows.size:
            return (Reason(Code.NO_NODES, pods=1),)
        if (reason := volumes.refusal(nodes, shape)) is not None:
            return (reason,)
        if self.is_local(nodes, pod) and not nodes.residents.heeds(pod):
            key = ("refusals", shape, nodes.size_stamp, nodes.table_stamp, nodes.devices.shared)
            known, left, small = nodes.cached(key, lambda: _unfit(nodes, pod))
        else:
            known, left, small = _unfit(nodes, pod)
        reasons, has = list(known), nodes.has(shape.requests, left)
        full = left[~has]
        if small.size:
            resource, need, have = scarcest(nodes, shape, small, empty=True)
            said = Reason(Code.NODE_TOO_SMALL, resource, need=need, have=have, pods=1, nodes=small.size)
            reasons.append(replace(said, permanent=not full.size))
        if full.size:
            resource, need, have = scarcest(nodes, shape, full, empty=False)
            reasons.append(Reason(Code.NODES_FULL, resource, need=need, have=have, pods=1, nodes=full.size))
        if not nodes.devices.concern(shape):
            return tuple(reasons)
        left = left[has]
        split = left[~nodes.devices.takes(shape, left)]
        if split.size:
            reasons.append(gpus_split(nodes, shape, split, nodes=split.size))
        return tuple(reasons)

    def _by_node(self, nodes: Nodes, shape: PodShape) -> Fits:
        key = (self, shape.node_selector, shape.tolerations, shape.affinity)
        made: Fits = nodes.cached(key, lambda: self._static(nodes, shape))
        return made

    def _static(self, nodes: Nodes, shape: PodShape) -> Fits:
        passes = node_masks.ready(nodes) & node_masks.cordon(nodes, shape)
        if self.affinity:
            passes = passes & node_masks.selected(nodes, shape) & node_masks.affine(nodes, shape)
        if self.taints:
            passes = passes & node_masks.enduring(nodes, shape.tolerations)
        fits: Fits = np.where(passes, Fit.OK, Fit.UNRESOLVABLE).astype(np.int8)
        fits.flags.writeable = False
        return fits


@dataclass(frozen=True, slots=True)
class _Predicates:
    rule: Predicates
    session: Framework

    def pre_predicate(self, task: Pod) -> Fit:
        """See hooks.PrePredicate."""
        if not self.rule.volumes or not task.shape.volume_claims:
            return Fit.OK
        reason = volumes.refusal(self.session.nodes, task.shape)
        return Fit.OK if reason is None or reason.code is Code.CLAIM_IN_USE else Fit.ERROR

    def predicate(self, task: Pod) -> Fits:
        """See hooks.Predicate."""
        nodes = self.session.nodes
        return self.rule.fits(nodes, task, self.session.seen(0) >= nodes.allocatable[0])

    def refusals(self, task: Pod) -> tuple[Reason, ...]:
        """See hooks.Refusals."""
        return self.rule.refusals(self.session.nodes, task)

    def steady(self, task: Pod) -> bool:
        """See hooks.Predicate."""
        return self.rule.is_steady(self.session.nodes, task)

    def most(self, task: Pod) -> Ints | None:
        """See hooks.Predicate."""
        return self.rule.most(self.session.nodes, task)

    def seated(self, task: Pod, row: int, times: int) -> None:
        """See hooks.Seated."""
        nodes = self.session.nodes
        nodes.residents.seat_row(task, row, times)
        if task.shape.volume_claims:
            nodes.volume_claims.seat(task, nodes.name_by_row()[row] if times > 0 else "")

    def seated_run(self, tasks: Sequence[Pod], rows: Sequence[int]) -> None:
        """See hooks.SeatedRun."""
        if tasks[0].shape.volume_claims:
            for task, row in zip(tasks, rows, strict=True):
                self.seated(task, row, 1)
            return
        at = Counter(rows)
        self.session.nodes.residents.seat_rows(tasks[0], list(at), list(at.values()))


def _unfit(nodes: Nodes, pod: Pod) -> tuple[tuple[Reason, ...], Ints, Ints]:
    """What keeps the pod from nodes, room aside; the rows that are left and large enough; those that are too small, were they
    empty."""
    left = np.zeros(nodes.used.shape[1], dtype=np.bool_)
    left[nodes.by_name()] = True
    reasons = []
    for detail, passes in _causes(nodes, pod):
        refused = left & ~passes
        if refused.any():
            reasons.append(Reason(Code.NODE_NOT_MATCHED, nodes=int(refused.sum()), detail=detail, pods=1))
        left &= passes
    small = left & (nodes.places_empty(pod.shape, left) == 0)
    return tuple(reasons), np.flatnonzero(left & ~small), np.flatnonzero(small)


def gpus_split(table: Nodes, shape: PodShape, rows: Ints, pods: int = 1, nodes: int = 0) -> Reason:
    """The no of these rows that have GPUs enough together, and no single ones."""
    need, have = asked(shape), table.devices.most_free(shape, rows)
    detail = "share" if shape.share else ""
    return Reason(Code.GPUS_SPLIT, GPU, need=need, have=have, pods=pods, nodes=nodes, detail=detail)


def scarcest(nodes: Nodes, shape: PodShape, rows: Ints, *, empty: bool) -> tuple[str, int, int]:
    """The resource of which the fewest of the rows have enough for one pod, how much that is, and the most that one of
    them has (free, or in all where `empty`). Ties: the one whose best node is shortest of it, then pods, then the
    order of requests."""
    names = [PODS, *(r for r, amount in shape.requests if amount > 0 and r != PODS)]
    each = zip(names, nodes.asked(shape.requests), strict=True)
    best: tuple[tuple[int, float, int], str, int, int] | None = None
    for number, (resource, (line, amount)) in enumerate(each):
        have = nodes.allocatable[line].take(rows) if line != NOWHERE else np.zeros(rows.size, dtype=np.int64)
        if line != NOWHERE and not empty:
            have -= nodes.used[line].take(rows)
        most = max(0, int(have.max(initial=0)))
        found = ((int((have >= amount).sum()), most / amount, number), resource, amount, most)
        if best is None or found < best:
            best = found
    assert best is not None
    return best[1:]


def _causes(nodes: Nodes, pod: Pod) -> list[tuple[str, Mask]]:
    """What may be in the way, in order, and the rows where it isn't."""
    shape = pod.shape
    every = np.ones(nodes.used.shape[1], dtype=np.bool_)
    lonely, crowded, spreads = (
        pod_affinity.lonely(nodes, pod),
        pod_affinity.crowded(nodes, pod),
        spread.fits(nodes, pod),
    )
    near, within = every if lonely is None else ~lonely, volume_limits.mask(nodes, shape)
    return [
        ("not ready", node_masks.ready(nodes)),
        ("cordoned", node_masks.cordon(nodes, shape)),
        ("taint", node_masks.enduring(nodes, shape.tolerations)),
        ("selector", node_masks.selected(nodes, shape)),
        ("affinity", node_masks.affine(nodes, shape)),
        ("zone", volume_zone.mask(nodes, shape)),
        ("volume", volumes.reached(nodes, shape)),
        ("volume in use", volumes.mask(nodes, shape)),
        ("volume limit", every if within is None else within),
        ("ports", ~ports.taken(nodes, shape)),
        ("pod affinity", near if crowded is None else near & ~crowded),
        ("spread", every if spreads is None else spreads == Fit.OK),
    ]
