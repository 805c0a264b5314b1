"""What objects share: nobody can tell, but by identity."""

from __future__ import annotations

import copy
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.core import ConfigMap, Pod
from kumi.api.meta import Object
from kumi.runtime.sharing import Sharing

TEXTS = st.sampled_from(["", "a", "b"])
MAPS = st.dictionaries(TEXTS, TEXTS, max_size=2)
OWNERS = st.lists(st.fixed_dictionaries({"uid": TEXTS, "controller": st.sampled_from([None, False, True])}), max_size=2)
METADATA = st.fixed_dictionaries(
    {"name": TEXTS, "uid": TEXTS},
    optional={
        "namespace": TEXTS,
        "generateName": TEXTS,
        "creationTimestamp": TEXTS,
        "labels": MAPS,
        "annotations": MAPS,
        "ownerReferences": OWNERS,
        "finalizers": st.lists(TEXTS, max_size=2),
    },
)
CONFIG_MAPS = st.fixed_dictionaries({"metadata": METADATA}, optional={"kind": TEXTS, "apiVersion": TEXTS, "data": MAPS})


def config_map(raw: dict[str, Any]) -> ConfigMap:
    return msgspec.convert(copy.deepcopy(raw), ConfigMap)


@given(st.lists(CONFIG_MAPS, max_size=5))
def test_every_object_says_what_it_said(raws: list[dict[str, Any]]) -> None:
    sharing = Sharing()
    shared = [sharing.shared(config_map(raw)) for raw in raws]
    assert shared == [config_map(raw) for raw in raws]


def pod(name: str, **labels: str) -> Pod:
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u", "controller": True}
    meta = {"name": name, "namespace": "ns", "labels": labels, "ownerReferences": [owner]}
    return msgspec.convert(copy.deepcopy({"apiVersion": "v1", "kind": "Pod", "metadata": meta}), Pod)


def test_siblings_have_their_labels_and_owners_in_common() -> None:
    sharing = Sharing()
    one, two, other = (sharing.shared(each) for each in (pod("a", job="j"), pod("b", job="j"), pod("c", job="k")))
    assert one.metadata.labels is two.metadata.labels
    assert one.metadata.owner_references is two.metadata.owner_references is other.metadata.owner_references
    assert one.metadata.finalizers is other.metadata.finalizers
    assert other.metadata.labels == {"job": "k"}


def test_what_is_not_empty_stays_an_objects_own() -> None:
    sharing = Sharing()
    raw = {"metadata": {"name": "a"}, "data": {"k": "v"}}
    one, two = sharing.shared(config_map(raw)), sharing.shared(config_map(raw))
    assert one.data is not two.data
    assert one.binary_data is two.binary_data


def test_an_object_of_another_type_shares_nothing() -> None:
    sharing = Sharing()
    one: Object = sharing.shared(config_map({"metadata": {"name": "a"}}))
    two: Object = sharing.shared(pod("a"))
    assert one.metadata.annotations is not two.metadata.annotations
