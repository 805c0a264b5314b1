from __future__ import annotations

from kumi.api.core import Namespace, ServiceAccount
from kumi.api.wire import JsonObject
from kumi.controllers.service_accounts import ServiceAccounts
from kumi.runtime.reconcile import NOTHING, Create
from kumi.testing.view import FakeView

from .made import NOW_MS, at, meta, namespace


def account(name: str = "default") -> JsonObject:
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta(name, "team")}


def test_a_namespace_without_default_gets_it() -> None:
    (write,) = ServiceAccounts().reconcile(FakeView(namespace(), account("robot")), "team", NOW_MS).writes
    assert isinstance(write, Create)
    assert (write.object["kind"], write.object["metadata"]) == (
        "ServiceAccount", {"name": "default", "namespace": "team"},
    )  # fmt: skip


def test_one_that_has_it_is_left_alone() -> None:
    assert ServiceAccounts().reconcile(FakeView(namespace(), account()), "team", NOW_MS) == NOTHING


def test_one_that_goes_or_is_gone_gets_nothing() -> None:
    going = namespace(deletionTimestamp=at(0))
    assert ServiceAccounts().reconcile(FakeView(going), "team", NOW_MS) == NOTHING
    assert ServiceAccounts().reconcile(FakeView(), "team", NOW_MS) == NOTHING


def test_only_default_concerns_its_namespace() -> None:
    view = FakeView(namespace(), account(), account("robot"))
    keys = ServiceAccounts().watches.keys
    assert [keys[ServiceAccount](a) for a in view.list(ServiceAccount)] == [("team",), ()]
    assert [keys[Namespace](n) for n in view.list(Namespace)] == [("team",)]
