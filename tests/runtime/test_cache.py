"""The cache: indexes always agree with a scan."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.meta import ObjectMeta, OwnerReference
from kumi.runtime.cache import Cache

from .kinds import Pod, Thing, Zone

NAMES = st.sampled_from(["a", "b", "c-1", "c"])
CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["ns", "ns-2", "n"]), NAMES, st.sampled_from(["u1", "u2", ""]), st.sampled_from(["x", "y", ""]),
        st.booleans(),
    ),
    max_size=25,
)  # fmt: skip


def pod(namespace: str, name: str, owner: str = "", label: str = "") -> Pod:
    owners = [OwnerReference(uid=owner, controller=True)] if owner else []
    labels = {"job": label} if label else {}
    return Pod(metadata=ObjectMeta(name=name, namespace=namespace, owner_references=owners, labels=labels))


@given(CHANGES)
def test_every_way_to_look_equals_a_scan_in_key_order(changes: list[tuple[str, str, str, str, bool]]) -> None:
    cache, model = Cache([Pod], ["job"]), {}
    for namespace, name, owner, label, gone in changes:
        obj = pod(namespace, name, owner, label)
        if gone:
            assert cache.remove(Pod, obj.key) is model.pop(obj.key, None)
        else:
            assert cache.set(obj) is model.get(obj.key)
            model[obj.key] = obj
        in_order = [model[key] for key in sorted(model)]
        assert list(cache.list(Pod)) == in_order
        for ns in ("ns", "ns-2", "n", "none"):
            assert list(cache.list(Pod, ns)) == [o for o in in_order if o.metadata.namespace == ns]
        for uid in ("u1", "u2", "u3"):
            wanted = [o for o in in_order if o.metadata.controller and o.metadata.controller.uid == uid]
            assert list(cache.owned(Pod, uid)) == wanted
        for value in ("x", "y", "z"):
            wanted = [o for o in in_order if o.metadata.labels.get("job") == value]
            assert list(cache.labelled(Pod, "job", value)) == wanted
        assert cache.get(Pod, namespace, name) is model.get(obj.key)


def test_a_label_that_nobody_declared_is_found_by_a_scan() -> None:
    cache = Cache([Pod])
    cache.set(pod("ns", "a", label="x"))
    assert [o.key for o in cache.labelled(Pod, "job", "x")] == ["ns/a"]


def test_a_label_that_is_declared_later_is_indexed_with_what_is_there() -> None:
    cache = Cache([Pod])
    cache.set(pod("ns", "b", label="x"))
    cache.set(pod("ns", "a", label="x"))
    cache.declare(Pod, ["job"])
    assert [o.key for o in cache.labelled(Pod, "job", "x")] == ["ns/a", "ns/b"]


def test_what_was_returned_does_not_change_afterwards() -> None:
    cache = Cache([Pod])
    cache.set(pod("ns", "a"))
    before, here = cache.list(Pod), cache.list(Pod, "ns")
    cache.set(pod("ns", "b"))
    assert len(before) == len(here) == 1


def test_an_object_without_a_namespace_is_found_by_its_name() -> None:
    cache = Cache([Zone])
    zone = Zone(metadata=ObjectMeta(name="z"))
    cache.set(zone)
    assert cache.get(Zone, "", "z") is zone


def test_a_type_that_was_not_declared_is_a_mistake_that_names_it() -> None:
    with pytest.raises(LookupError, match="Thing is not in the view"):
        Cache([Pod]).get(Thing, "ns", "a")
