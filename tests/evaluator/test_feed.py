"""Every write of a store as changes of a view."""

from __future__ import annotations

from kumi.api.apiextensions import CustomObject, CustomResourceDefinition
from kumi.api.core import ConfigMap, Pod
from kumi.api.wire import JsonObject
from kumi.evaluator.feed import Feed
from kumi.runtime.cache import Cache
from kumi.testing.stage import Stage


def config(name: str, **data: str) -> JsonObject:
    """A ConfigMap."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "default", "name": name}, "data": data}


def fed(stage: Stage, *types: type) -> tuple[Feed, Cache]:
    """A feed of what the stage writes, and its view."""
    cache = Cache(types)
    return Feed(stage.store, stage.registry.scheme, cache, types), cache


async def test_each_write_is_one_change_and_the_view_has_it() -> None:
    stage = Stage()
    await stage.open()
    feed, cache = fed(stage, ConfigMap)
    feed.take()
    await stage.make(config("a", x="1"))
    await stage.patch(ConfigMap, "default/a", {"data": {"x": "2"}})
    await stage.delete(ConfigMap, "default/a")
    await stage.make(config("a", x="3"))
    news = feed.take()
    assert [(n.key, n.old is not None, n.new is not None) for n in news] == [
        ("default/a", False, True),
        ("default/a", True, True),
        ("default/a", True, False),
        ("default/a", False, True),
    ]
    assert [n.revision for n in news] == sorted({n.revision for n in news})
    assert news[0].new is news[1].old
    assert news[3].new is cache.find(ConfigMap, "default/a")
    assert feed.take() == []


async def test_types_that_nobody_reads_are_passed_over() -> None:
    stage = Stage()
    await stage.open()
    feed, _ = fed(stage, Pod)
    await stage.make(config("a"))
    assert feed.take() == []


async def test_objects_of_other_people_s_kinds_are_custom_objects() -> None:
    stage = Stage()
    await stage.open()
    feed, cache = fed(stage, CustomObject, CustomResourceDefinition)
    schema = {"openAPIV3Schema": {"type": "object"}}
    await stage.make(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "things.example.com"},
            "spec": {
                "group": "example.com",
                "scope": "Namespaced",
                "names": {"plural": "things", "kind": "Thing"},
                "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
            },
        }
    )
    await stage.make(
        {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"namespace": "default", "name": "t"}}
    )
    news = [n for n in feed.take() if n.type is CustomObject]
    assert [n.key for n in news] == ["default/Thing.example.com/t"]
    assert cache.find(CustomObject, "default/Thing.example.com/t") is not None
