from __future__ import annotations

from kumi.api.kueue import IN_USE
from kumi.controllers.life.ending import orphaned, retained, unowned
from kumi.controllers.life.look import Policy
from kumi.runtime.reconcile import Delete, Outcome, Patch
from tests.controllers.made import NOW_MS, admitted, at, condition

from .made import look, said, status_of

OWNER = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u", "controller": True}
HAD_ONE = {"labels": {"kueue.x-k8s.io/job-uid": "u"}, "finalizers": [IN_USE]}
OVER = {"conditions": [condition("Finished", "True", seconds=-30)]}


def kinds(outcome: Outcome | None) -> list[str]:
    assert outcome is not None
    return [f"{type(w).__name__} {getattr(w, 'type', '')}".strip() for w in outcome.writes]


def test_one_that_nobody_owns_goes_when_it_is_deleted() -> None:
    assert kinds(orphaned(look(deletionTimestamp=at(0), finalizers=[IN_USE]))) == ["Patch json"]
    assert orphaned(look(deletionTimestamp=at(0), finalizers=[IN_USE], ownerReferences=[OWNER])) is None


def test_one_whose_job_let_go_of_it_is_over() -> None:
    outcome = orphaned(look(**HAD_ONE, policy=Policy(keep_finished_ms=45_000)))
    assert outcome is not None
    assert kinds(outcome) == ["Patch merge", "Patch json"]
    (told, _) = outcome.writes
    assert isinstance(told, Patch)
    assert isinstance(told.body, dict)
    assert [c["reason"] for c in told.body["status"]["conditions"]] == ["OwnerNotFound"]
    assert outcome.wake_at_ms == NOW_MS + 45_000


def test_one_that_never_had_an_owner_is_nobodys_orphan() -> None:
    assert orphaned(look()) is None
    assert orphaned(look(**HAD_ONE, policy=Policy(orphans_finish=False))) is None


def test_an_orphan_that_is_over_only_loses_its_finalizer() -> None:
    assert kinds(orphaned(look(OVER, **HAD_ONE))) == ["Patch json"]
    assert orphaned(look(OVER, labels=HAD_ONE["labels"])) is None


def test_what_is_over_is_left_alone_and_goes_after_its_time() -> None:
    assert retained(look()) is None
    assert retained(look(OVER)) == Outcome()
    assert retained(look(OVER, Policy(keep_finished_ms=45_000))) == Outcome(wake_at_ms=NOW_MS + 15_000)
    gone = retained(look(OVER, Policy(keep_finished_ms=30_000), finalizers=[IN_USE]))
    assert gone is not None
    assert kinds(gone) == ["Patch json", "Delete"]
    assert isinstance(gone.writes[1], Delete)
    assert gone.writes[1].uid == "uid-w"
    assert [n.reason for n in gone.notes] == ["Deleted"]


def test_what_nobody_owns_gives_its_quota_back_as_soon_as_it_is_evicted() -> None:
    evicted = admitted(conditions=[condition("Evicted", "True", "Preempted")])
    outcome = unowned(look(evicted))
    assert status_of(outcome)["admission"] is None
    assert said(outcome)["Requeued"] == ("True", "Preempted")
    assert unowned(look(admitted())) is None
    assert unowned(look(evicted, ownerReferences=[OWNER])) is None
