"""Conditions of a kubeflow.org/v1 job: an ordered list, of which `kubectl get` shows the last.

The rule   a job that is Failed=True never changes its conditions again;
           same type, status and reason as the one there: nothing happens, it keeps its place;
           otherwise the old one of that type is dropped and the new one is appended;
           adding Running drops Restarting, adding Restarting drops Running (dropped, not set False), whatever status;
           adding Succeeded or Failed as True turns a Running that is there to False, in its place, with its reason.
Reason     the kind and the type: `PyTorchJobRunning`. A condition that turns False takes the reason of what turned it:
           Suspended=False says PyTorchJobResumed, Running=False by a suspension PyTorchJobSuspended.
Times      lastTransitionTime changes with the status only, lastUpdateTime with everything.
Law        no type twice.
Source     Kubeflow training operator 1.9.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from kumi.api.meta import Condition, find_condition, format_time, is_true

_DROPS = {"Running": "Restarting", "Restarting": "Running"}


def with_condition(conditions: Sequence[Condition], new: Condition, now_ms: int) -> list[Condition]:
    """The list after adding `new` (its times are set here)."""
    out = list(conditions)
    if is_true(out, "Failed"):
        return out
    old = find_condition(out, new.type)
    if old is not None and (old.status, old.reason) == (new.status, new.reason):
        return out
    now = format_time(now_ms)
    since = old.last_transition_time if old is not None and old.status == new.status else now
    dropped = {new.type, _DROPS.get(new.type, "")}
    out = [c for c in out if c.type not in dropped]
    if new.type in ("Succeeded", "Failed") and new.status == "True":
        out = [_turned_off(c, now) if c.type == "Running" and c.status == "True" else c for c in out]
    return [*out, msgspec.structs.replace(new, last_update_time=now, last_transition_time=since)]


def _turned_off(condition: Condition, now: str) -> Condition:
    return msgspec.structs.replace(condition, status="False", last_update_time=now, last_transition_time=now)
