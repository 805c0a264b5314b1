from __future__ import annotations

from kumi.api.core import ConfigMap
from kumi.api.wire import JsonObject
from kumi.controllers.root_authority import EVERYWHERE, NAME, SOURCE, RootAuthority
from kumi.runtime.reconcile import NOTHING, Create, Outcome, Patch
from kumi.testing.view import FakeView

from .made import NOW_MS, at, meta, namespace


def trust(where: str, pem: str = "PEM", **more: str) -> JsonObject:
    data = {"ca.crt": pem, **more}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta(NAME, where), "data": data}


def look(key: str, *objects: JsonObject) -> Outcome:
    return RootAuthority().reconcile(FakeView(namespace(SOURCE), *objects), key, NOW_MS)


def test_a_namespace_gets_what_the_server_said() -> None:
    (write,) = look("team", namespace(), trust(SOURCE)).writes
    assert isinstance(write, Create)
    assert (write.object["metadata"], write.object["data"]) == ({"name": NAME, "namespace": "team"}, {"ca.crt": "PEM"})


def test_while_the_server_said_nothing_nothing_is_made() -> None:
    assert look("team", namespace()) == NOTHING


def test_one_that_was_changed_is_put_right() -> None:
    (write,) = look("team", namespace(), trust(SOURCE), trust("team", "forged", more="x")).writes
    assert isinstance(write, Patch)
    assert (write.namespace, write.body) == ("team", {"data": {"more": None, "ca.crt": "PEM"}})


def test_a_right_one_a_going_namespace_and_the_source_itself_are_left_alone() -> None:
    assert look("team", namespace(), trust(SOURCE), trust("team")).writes == ()
    assert look("team", namespace(deletionTimestamp=at(0)), trust(SOURCE)).writes == ()
    assert look(SOURCE, trust(SOURCE)).writes == ()


def test_another_authority_reaches_every_namespace() -> None:
    writes = look(EVERYWHERE, namespace(), namespace("other"), trust(SOURCE, "new"), trust("team")).writes
    assert [type(write).__name__ for write in writes] == ["Create", "Patch"]


def test_which_config_maps_concern_whom() -> None:
    other = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta("x", "team")}
    view = FakeView(trust("team"), trust(SOURCE), other)
    keys = RootAuthority().watches.keys[ConfigMap]
    found = {(c.metadata.namespace, c.metadata.name): keys(c) for c in view.list(ConfigMap)}
    assert found == {("team", NAME): ("team",), (SOURCE, NAME): (EVERYWHERE,), ("team", "x"): ()}
