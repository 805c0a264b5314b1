"""Admission at the node: the last word on whether a pod fits.

The rule   for each resource that the node offers, and each extended one that the pod asks for:
               asked + asked by the pods that are not over <= allocatable,   and one of `pods` for each
           else the pod fails with OutOf<resource>: a scheduler that knew better would not have sent it.
Leaving    a pod that the API has no longer (its deletion was forced), or has as over, while its processes die: it keeps nobody
           from being admitted, for who bound the next one knew that it is gone. But nothing starts beside it that hasn't room
           beside it: what is admitted waits until it is dead.
No wait for ever: those that are admitted fit together, so each has room when the last that leaves is dead.
Units      base units of kumi.api.quantity.
Source     Kubernetes: the kubelet's admission (OutOfcpu, OutOfmemory, OutOfpods).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kumi.api.pod_requests import pod_requests
from kumi.api.quantity import MILLI
from kumi.api.wire import JsonObject


class Refusal(NamedTuple):
    """Why a pod does not fit."""

    reason: str
    message: str

    @property
    def rejection(self) -> str:
        """As the pod's status says it."""
        return f"Pod was rejected: {self.message}"


class Room:
    """What a node offers, what the pods ask for that are bound to it, and what those hold that have processes."""

    def __init__(self, allocatable: Mapping[str, int]) -> None:
        self.allocatable = dict(allocatable)
        self._bound = _Sum()
        self._held = _Sum()

    def refusal(self, pod: JsonObject) -> Refusal | None:
        """Why the pod does not fit beside those that are bound here; None if it does."""
        return self._refusal(pod, self._bound)

    def hindrance(self, pod: JsonObject) -> Refusal | None:
        """Why it can't start beside those that hold something, the leaving ones among them; None if it can."""
        return self._refusal(pod, self._held)

    @property
    def leaving(self) -> bool:
        """Whether a pod still holds something that is bound here no longer."""
        return any(uid not in self._bound.asked for uid in self._held.asked)

    def add(self, uid: str, pod: JsonObject) -> None:
        """The pod is bound here; a second time nothing happens."""
        self._bound.add(uid, asks_of(pod))

    def hold(self, uid: str, pod: JsonObject) -> None:
        """The pod has, or is about to have, processes; a second time nothing happens."""
        self._held.add(uid, asks_of(pod))

    def leave(self, uid: str) -> None:
        """The API has it no longer, or has it as over."""
        self._bound.remove(uid)

    def remove(self, uid: str) -> None:
        """The pod is over, and has no process."""
        self._bound.remove(uid)
        self._held.remove(uid)

    def _refusal(self, pod: JsonObject, beside: _Sum) -> Refusal | None:
        for resource, amount in asks_of(pod).items():
            if resource not in self.allocatable and "/" not in resource:
                continue
            have, used = self.allocatable.get(resource, 0), beside.total.get(resource, 0)
            if amount and used + amount > have:
                message = (
                    f"Node didn't have enough resource: {resource}, "
                    f"requested: {_count(amount, resource)}, used: {_count(used, resource)}, capacity: {_count(have, resource)}"
                )
                return Refusal(f"OutOf{resource}", message)
        return None


class _Sum:
    """What several pods ask for, by uid and in all."""

    def __init__(self) -> None:
        self.asked: dict[str, dict[str, int]] = {}
        self.total: dict[str, int] = {}

    def add(self, uid: str, asks: dict[str, int]) -> None:
        if uid in self.asked:
            return
        self.asked[uid] = asks
        for resource, amount in asks.items():
            self.total[resource] = self.total.get(resource, 0) + amount

    def remove(self, uid: str) -> None:
        for resource, amount in self.asked.pop(uid, {}).items():
            self.total[resource] -= amount


def asks_of(pod: JsonObject) -> dict[str, int]:
    """What a pod asks for, its place among the pods included."""
    return {"pods": MILLI, **pod_requests(pod["spec"])}


def _count(amount: int, resource: str) -> int:
    """cpu in thousandths, everything else in whole units, as kubelets say it."""
    return amount // MILLI if resource == "pods" or "/" in resource else amount
