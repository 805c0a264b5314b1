"""Admission at the node: the last word on whether a pod fits.

The rule   for each resource that the node offers, and each extended one that the pod asks for:
               asked + asked by the pods that are not over <= allocatable,   and one of `pods` for each
           else the pod fails with OutOf<resource>: a scheduler that knew better would not have sent it.
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


class Room:
    """What a node offers and what its pods ask for."""

    def __init__(self, allocatable: Mapping[str, int]) -> None:
        self.allocatable = dict(allocatable)
        self._used: dict[str, int] = {}
        self._asked: dict[str, dict[str, int]] = {}

    def refusal(self, pod: JsonObject) -> Refusal | None:
        """Why the pod does not fit beside those that are there; None if it does."""
        for resource, amount in asks_of(pod).items():
            if resource not in self.allocatable and "/" not in resource:
                continue
            have, used = self.allocatable.get(resource, 0), self._used.get(resource, 0)
            if amount and used + amount > have:
                message = (
                    f"Node didn't have enough resource: {resource}, "
                    f"requested: {_count(amount, resource)}, used: {_count(used, resource)}, capacity: {_count(have, resource)}"
                )
                return Refusal(f"OutOf{resource}", message)
        return None

    def add(self, uid: str, pod: JsonObject) -> None:
        """The pod is there; a second time nothing happens."""
        if uid in self._asked:
            return
        self._asked[uid] = asks_of(pod)
        for resource, amount in self._asked[uid].items():
            self._used[resource] = self._used.get(resource, 0) + amount

    def remove(self, uid: str) -> None:
        """The pod is over."""
        for resource, amount in self._asked.pop(uid, {}).items():
            self._used[resource] -= amount


def asks_of(pod: JsonObject) -> dict[str, int]:
    """What a pod asks for, its place among the pods included."""
    return {"pods": MILLI, **pod_requests(pod["spec"])}


def _count(amount: int, resource: str) -> int:
    """cpu in thousandths, everything else in whole units, as kubelets say it."""
    return amount // MILLI if resource == "pods" or "/" in resource else amount
