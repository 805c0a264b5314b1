"""get and list: pages of one list, revisions, selectors."""

from __future__ import annotations

import base64
from dataclasses import replace

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.api.errors import ApiError
from kumi.api.scheme import Scheme
from kumi.api.wire import JsonObject
from kumi.registry.objects import with_managers
from kumi.registry.registry import ListOptions

from .world import World, config, pod


async def five(world: World) -> None:
    for n, tier in enumerate("aabb", 1):
        await world.create("ConfigMap", {"metadata": {"name": f"c{n}", "labels": {"tier": tier}}})
    await world.create("ConfigMap", config("c5"))


@settings(max_examples=40, deadline=None)
@given(st.sets(st.text("abc-.", min_size=1, max_size=3), max_size=9), st.integers(1, 4), st.booleans(), st.data())
async def test_the_pages_of_a_list_are_the_list_whatever_is_written_meanwhile(
    scheme: Scheme, names: set[str], limit: int, selected: bool, data: st.DataObject
) -> None:
    world = World(scheme)
    target, kind = world.target("ConfigMap"), world.kind("ConfigMap")
    for name in sorted(names):
        body = {"metadata": {"name": name, "labels": {"odd": str(len(name) % 2)}}}
        await world.store.put(f"/core/configmaps/ns/{name}", orjson.dumps({**body, "kind": kind.kind}))
    options = ListOptions(labels="odd=1" if selected else "", limit=limit)
    whole = await world.registry.list(target, ListOptions(labels=options.labels))
    pages, token = [], ""
    while True:
        page = await world.registry.list(target, ListOptions(labels=options.labels, limit=limit, token=token))
        assert page.revision == whole.revision
        assert len(page.items) <= limit
        pages += page.items
        if not selected and page.token:
            assert page.remaining == len(whole.items) - len(pages)
        else:
            assert page.remaining is None
        token = page.token
        if not token:
            break
        victim = data.draw(st.sampled_from(sorted(names)))
        if world.store.get(f"/core/configmaps/ns/{victim}") is None:
            await world.store.put(f"/core/configmaps/ns/{victim}", b'{"metadata":{"labels":{"odd":"1"}}}')
        else:
            await world.store.put(f"/core/configmaps/ns/{victim}", None)
    assert pages == whole.items


async def test_what_is_not_there_is_not_found(world: World) -> None:
    with pytest.raises(ApiError) as refused:
        await world.get("ConfigMap", "nothing")
    assert refused.value.status()["details"] == {"name": "nothing", "kind": "configmaps"}


async def test_a_list_is_in_the_order_of_names_and_namespaces(world: World) -> None:
    await world.create("Namespace", {"metadata": {"name": "aa"}})
    for ns, name in (("ns", "b"), ("ns", "a"), ("aa", "z")):
        await world.create("ConfigMap", config(name), ns=ns)
    assert await world.names("ConfigMap") == ["a", "b"]
    assert await world.names("ConfigMap", ns="") == ["z", "a", "b"]


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"labels": "tier=a"}, ["c1", "c2"]),
        ({"labels": "tier"}, ["c1", "c2", "c3", "c4"]),
        ({"fields": "metadata.name=c3"}, ["c3"]),
        ({"fields": "metadata.name=c3", "labels": "tier=a"}, []),
        ({"fields": "metadata.name=none"}, []),
        ({"fields": "metadata.name!=c3,metadata.namespace=ns"}, ["c1", "c2", "c4", "c5"]),
        ({"fields": "metadata.name=c3,metadata.namespace=other"}, []),
    ],
)
async def test_selectors(world: World, options: dict, names: list[str]) -> None:
    await five(world)
    assert await world.names("ConfigMap", **options) == names


async def test_a_name_is_selected_in_every_namespace(world: World) -> None:
    await five(world)
    assert await world.names("ConfigMap", ns="", fields="metadata.name=c3") == ["c3"]


@pytest.mark.parametrize("fields", ["", "metadata.name=w", "metadata.name=w,metadata.namespace=ns"])
async def test_a_list_is_told_in_the_version_of_the_request_whatever_it_selects(world: World, fields: str) -> None:
    spec = {"podSets": [pod_set()], "queueName": "q"}
    await world.create("Workload", {"metadata": {"name": "w"}, "spec": spec})
    for version in ("v1beta1", "v1beta2"):
        target = world.target("Workload", version=version)
        page = await world.registry.list(target, ListOptions(fields=fields))
        one = await world.registry.get(replace(target, name="w"))
        assert page.items == [one]
        assert one["apiVersion"].endswith(f"/{version}")


async def test_a_limit_with_a_selector_has_no_remaining_count(world: World) -> None:
    await five(world)
    page = await world.registry.list(world.target("ConfigMap"), ListOptions(labels="tier=a", limit=1))
    assert (len(page.items), bool(page.token), page.remaining) == (1, True, None)


async def test_a_list_exactly_at_an_old_revision(world: World) -> None:
    await five(world)
    then = str(world.store.revision)
    await world.delete("ConfigMap", "c4")
    old = {"revision": then, "revision_match": "Exact"}
    assert await world.names("ConfigMap", **old) == ["c1", "c2", "c3", "c4", "c5"]
    assert len(await world.names("ConfigMap", revision=then, limit=9)) == 5
    assert len(await world.names("ConfigMap", revision=then, revision_match="NotOlderThan")) == 4
    assert len(await world.names("ConfigMap", revision=then)) == 4
    assert len(await world.names("ConfigMap", revision="0", limit=9)) == 4


FORBIDDEN = "resourceVersionMatch: Forbidden: "


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (
            {"revision_match": "Exact"},
            422,
            FORBIDDEN + "resourceVersionMatch is forbidden unless resourceVersion is provided",
        ),
        (
            {"revision_match": "Exact", "revision": "0"},
            422,
            FORBIDDEN + 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
        ),
        (
            {"revision_match": "Nearly", "revision": "1"},
            422,
            'resourceVersionMatch: Unsupported value: "Nearly": supported values: "Exact", "NotOlderThan", ""',
        ),
        (
            {"revision_match": "Exact", "revision": "1", "token": "x"},
            422,
            FORBIDDEN + "resourceVersionMatch is forbidden when continue is provided",
        ),
        ({"revision": "abc"}, 400, 'resourceVersion: Invalid value: "abc"'),
        ({"revision": "99999"}, 504, "Too large resource version: 99999"),
        ({"token": "zzz"}, 400, "invalid continue token"),
        ({"token": "e30"}, 400, "invalid continue token"),
        ({"token": "MQ"}, 400, "invalid continue token"),
        ({"token": "x", "revision": "5"}, 400, "specifying resource version is not allowed when using continue"),
        ({"labels": "==="}, 400, "unable to parse requirement"),
    ],
)
async def test_options_that_do_not_go_together(world: World, options: dict, code: int, message: str) -> None:
    await five(world)
    with pytest.raises(ApiError) as refused:
        await world.names("ConfigMap", **options)
    assert refused.value.code == code
    assert message in refused.value.message


async def test_a_revision_that_was_not_given_out_is_told_as_kubernetes_tells_it(world: World) -> None:
    with pytest.raises(ApiError) as refused:
        await world.names("ConfigMap", revision="99999")
    assert refused.value.status()["details"] == {
        "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
        "retryAfterSeconds": 1,
    }


async def test_a_compacted_revision_is_expired_and_its_token_goes_on_from_now(world: World) -> None:
    await five(world)
    first = await world.registry.list(world.target("ConfigMap"), ListOptions(limit=2))
    await world.delete("ConfigMap", "c4")
    await world.store.compact(world.store.revision)
    with pytest.raises(ApiError, match="continue parameter is too old") as refused:
        await world.names("ConfigMap", limit=2, token=first.token)
    assert (refused.value.code, refused.value.reason) == (410, "Expired")
    again = refused.value.status()["metadata"]["continue"]
    assert await world.names("ConfigMap", token=again) == ["c3", "c5"]
    with pytest.raises(ApiError, match="too old"):
        await world.names("ConfigMap", revision=first.revision, revision_match="Exact")


async def test_a_token_of_another_format_is_refused(world: World) -> None:
    token = base64.urlsafe_b64encode(orjson.dumps({"v": "other/v1", "rv": 1, "start": "a"})).decode()
    with pytest.raises(ApiError, match="invalid continue token"):
        await world.names("ConfigMap", token=token)


async def test_a_list_of_texts_says_what_a_list_says(world: World) -> None:
    await five(world)
    await world.create("Pod", pod("p"))
    for kind, taken in (("ConfigMap", ("apiVersion", "kind")), ("Pod", ("apiVersion", "kind")), ("Workload", ())):
        target = world.target(kind)
        if kind == "Workload":
            await world.create(kind, {"metadata": {"name": "w"}, "spec": {"podSets": [pod_set()], "queueName": "q"}})
        for options in (ListOptions(), ListOptions(limit=2)):
            texts, listing = world.registry.texts(target, options), await world.registry.list(target, options)
            assert texts is not None
            whole = [with_managers(item) for item in listing.items]
            expected = [{k: v for k, v in item.items() if k not in taken} for item in whole]
            assert [orjson.loads(text) for text in texts.items] == expected
            assert (texts.revision, texts.token, texts.remaining) == listing[1:]
            assert any(item["metadata"].get("managedFields") for item in whole)


@pytest.mark.parametrize("options", [{"labels": "tier=a"}, {"fields": "metadata.name=c1"}])
async def test_what_has_to_be_looked_at_is_no_list_of_texts(world: World, options: dict) -> None:
    assert world.registry.texts(world.target("ConfigMap"), ListOptions(**options)) is None


@pytest.mark.parametrize(("kind", "version"), [("Workload", "v1beta1"), ("Event", "")])
async def test_what_is_told_in_other_words_is_no_list_of_texts(world: World, kind: str, version: str) -> None:
    target = world.target(kind, version=version)
    if kind == "Event":
        target = replace(target, kind=next(k for k in world.scheme if k.kind == "Event" and k.twin is not None))
    assert world.registry.texts(target, ListOptions()) is None


async def test_a_list_of_texts_expires_as_a_list_does(world: World) -> None:
    await five(world)
    page = await world.registry.list(world.target("ConfigMap"), ListOptions(limit=2))
    await world.create("ConfigMap", config("c6"))
    await world.store.compact(world.store.revision)
    with pytest.raises(ApiError) as caught:
        world.registry.texts(world.target("ConfigMap"), ListOptions(limit=2, token=page.token))
    assert (caught.value.code, caught.value.reason) == (410, "Expired")


def pod_set() -> JsonObject:
    return {"name": "main", "count": 1, "template": {"spec": pod()["spec"]}}
