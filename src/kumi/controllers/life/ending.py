"""How a Workload ends: one that nobody owns, one that has been finished for long enough.

The rule   orphaned    it has no owner, and is being deleted: its finalizer goes, and with it the Workload. It has no owner, but
                       the label that says it had one (its job was deleted with `--cascade=orphan`): it is Finished,
                       OwnerNotFound, and its finalizer goes
           retained    Finished: nothing happens to it any more; after the time of retention it is deleted
           unowned     evicted, and nobody owns it: no job has to stop first, so it gives its quota back at once (in Kueue it
                       keeps it for ever)
Why        Nobody else would ever free the quota of a workload whose job let go of it.
Events     Deleted, on the Workload.
Source     Kueue: object retention policies; workloads of orphaned jobs.
Not here   a Workload with an owner: the owner's own loop (controllers/workload.py).
"""

from __future__ import annotations

from kumi.api import kueue
from kumi.api.meta import is_true
from kumi.api.scheme import SCHEME
from kumi.bridge.conditions import Wanted, set_all, status_patch, to_json
from kumi.controllers.finalizers import without
from kumi.controllers.life.look import Look
from kumi.controllers.workload_status import given_back
from kumi.runtime.reconcile import Delete, Outcome, Write


def orphaned(look: Look) -> Outcome | None:
    """See the module."""
    workload = look.workload
    if workload.metadata.owner_references:
        return None
    let_go = without(workload, kueue.IN_USE)
    freed: tuple[Write, ...] = (let_go,) if let_go is not None else ()
    if workload.metadata.deletion_timestamp is not None:
        return Outcome(freed)
    if not look.policy.orphans_finish or not workload.metadata.labels.get(kueue.JOB_UID_LABEL):
        return None
    if is_true(look.conditions, "Finished"):
        return Outcome(freed) if freed else None
    ended = Wanted("Finished", "True", "OwnerNotFound", "Its job let go of it: nobody owns it any more.")
    status = {"conditions": to_json(set_all(look.conditions, [ended], look.now_ms))}
    patch = status_patch(SCHEME.of(kueue.Workload), workload, status)
    keep = look.policy.keep_finished_ms
    return Outcome((patch, *freed), wake_at_ms=look.now_ms + keep if keep is not None else None)


def retained(look: Look) -> Outcome | None:
    """See the module."""
    if not is_true(look.conditions, "Finished"):
        return None
    keep = look.policy.keep_finished_ms
    if keep is None or look.workload.metadata.deletion_timestamp is not None:
        return Outcome()
    due_ms = look.since_ms("Finished") + keep
    if look.now_ms < due_ms:
        return Outcome(wake_at_ms=due_ms)
    meta = look.workload.metadata
    let_go = without(look.workload, kueue.IN_USE)
    gone = Delete(SCHEME.of(kueue.Workload), meta.namespace, meta.name, meta.uid)
    told = look.note("Deleted", "It was finished for as long as finished workloads are kept")
    return Outcome((*((let_go,) if let_go is not None else ()), gone), (told,))


def unowned(look: Look) -> Outcome | None:
    """See the module."""
    if look.workload.metadata.owner_references or not look.evicted:
        return None
    return Outcome((given_back(look.workload, look.now_ms),))
