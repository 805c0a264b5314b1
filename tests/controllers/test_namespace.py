from __future__ import annotations

import msgspec

from kumi.api.apiextensions import CustomObject
from kumi.api.core import Namespace, Pod
from kumi.api.scheme import load
from kumi.controllers.namespace import AT_ONCE, LOOK_MS, NamespaceController
from kumi.runtime.reconcile import NOTHING, Delete, Outcome, Patch
from kumi.testing.view import FakeView

from .made import NOW_MS, at, body_of, local_queue, namespace, pod

GOING = namespace(deletionTimestamp=at(0))


def look(*manifests: dict[str, object]) -> Outcome:
    return NamespaceController(load()).reconcile(FakeView(*manifests), "team", NOW_MS)


def test_one_that_stays_is_left_alone() -> None:
    assert look(namespace(), pod()) == NOTHING
    assert look() == NOTHING


def test_one_that_goes_is_emptied_of_every_kind() -> None:
    outcome = look(GOING, pod("a"), local_queue("q"), pod("other", namespace="elsewhere"))
    assert sorted((w.kind.kind, w.name, w.uid) for w in outcome.writes if isinstance(w, Delete)) == [
        ("LocalQueue", "q", "uid-q"),
        ("Pod", "a", "uid-a"),
    ]
    assert outcome.wake_at_ms == NOW_MS + LOOK_MS


def test_what_is_being_deleted_is_waited_for_and_told() -> None:
    held = pod("a", deletionTimestamp=at(0), finalizers=["example.com/hold"])
    outcome = look(GOING, held)
    assert outcome.wake_at_ms == NOW_MS + LOOK_MS
    conditions = body_of(outcome)["status"]["conditions"]
    assert [(c["type"], c["status"]) for c in conditions] == [
        ("NamespaceDeletionDiscoveryFailure", "False"),
        ("NamespaceDeletionGroupVersionParsingFailure", "False"),
        ("NamespaceDeletionContentFailure", "False"),
        ("NamespaceContentRemaining", "True"),
        ("NamespaceFinalizersRemaining", "True"),
    ]
    assert conditions[3]["message"].endswith("pods. has 1 resource instances")
    assert conditions[4]["message"].endswith("example.com/hold in 1 resource instances")
    told = look({**GOING, "status": {"phase": "Terminating", "conditions": conditions}}, held)
    assert told.writes == ()


def test_what_no_finalizer_holds_is_told_so() -> None:
    outcome = look(GOING, pod("a", deletionTimestamp=at(0)))
    last = body_of(outcome)["status"]["conditions"][-1]
    assert (last["type"], last["status"]) == ("NamespaceFinalizersRemaining", "False")


def test_a_full_one_is_emptied_some_at_a_time() -> None:
    assert len(look(GOING, *(pod(f"p{i}") for i in range(AT_ONCE + 1))).writes) == AT_ONCE


def test_an_empty_one_is_let_go() -> None:
    outcome = look(GOING)
    (patch,) = outcome.writes
    assert isinstance(patch, Patch)
    assert patch.subresource == "finalize"
    assert body_of(outcome) == {"metadata": {"resourceVersion": "1"}, "spec": {"finalizers": []}}


def test_one_that_was_let_go_is_not_touched_again() -> None:
    assert look({**GOING, "spec": {"finalizers": ["theirs"]}}) == NOTHING


def test_only_namespaces_are_looked_at() -> None:
    keys = NamespaceController(load()).watches.keys
    view = FakeView(GOING, pod())
    assert keys[Namespace](view.list(Namespace)[0]) == ("team",)
    assert keys[Pod](view.list(Pod)[0]) == ()


def test_objects_of_kinds_that_others_define_go_too() -> None:
    names = {"apiVersion": "example.com/v1", "kind": "Gadget", "plural": "gadgets"}
    gadget = msgspec.convert(names | {"metadata": {"name": "g", "namespace": "team", "uid": "uid-g"}}, CustomObject)
    view = FakeView(GOING)
    view.put(gadget)
    outcome = NamespaceController(load()).reconcile(view, "team", NOW_MS)
    (delete,) = [write for write in outcome.writes if isinstance(write, Delete)]
    assert (delete.kind.resource, delete.kind.version, delete.name, delete.uid) == (
        "gadgets.example.com",
        "v1",
        "g",
        "uid-g",
    )
