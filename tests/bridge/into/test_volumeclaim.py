"""Claims, volumes and classes as what placement has to know of claims."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.claims import PersistentVolume, StorageClass
from kumi.api.core import Pod
from kumi.api.errors import KumiError
from kumi.api.meta import Object
from kumi.bridge.into.volumeclaim import VolumeClaims, allowed, reachable, terms_of, union, zones_of
from kumi.engine.model import Delta, Exclusive, Put, Remove, Requirement, VolumeClaim
from kumi.engine.selectors import affinity_holds
from kumi.testing.view import decoded

KEY = "ns/data"
HOST = "kubernetes.io/hostname"


def class_(name: str = "local", mode: str = "Immediate", provisioner: str = "kumi.dev/local") -> Object:
    made = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name}}
    return decoded({**made, "provisioner": provisioner, "volumeBindingMode": mode})


def claim(name: str = "data", phase: str = "Bound", **fields: Any) -> Object:
    meta = {"name": name, "namespace": "ns", "uid": f"uid-{name}", **fields.pop("meta", {})}
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": "local", **fields}
    if phase == "Bound":
        spec.setdefault("volumeName", "pv")
    return decoded(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": meta,
            "spec": spec,
            "status": {"phase": phase},
        }
    )


def volume(name: str = "pv", node: str = "", **fields: Any) -> Object:
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": "local", **fields}
    if node:
        term = {"matchExpressions": [{"key": HOST, "operator": "In", "values": [node]}]}
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [term]}}
    status = {"phase": "Available"}
    return decoded(
        {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec, "status": status}
    )


def on(node: str) -> tuple[Requirement, ...]:
    return (Requirement(HOST, "In", (node,)),)


def told(*objects: Object) -> VolumeClaim | None:
    """What is known of the claim after all that."""
    claims, found = VolumeClaims(), None
    for one in objects:
        for delta in claims.deltas(None, one):
            if isinstance(delta, Put) and isinstance(delta.noun, VolumeClaim) and delta.noun.key == KEY:
                found = delta.noun
    return found


@given(st.permutations([class_(), volume(node="n1", claimRef={"namespace": "ns", "name": "data"}), claim()]))
def test_the_order_in_which_they_come_does_not_matter(order: list[Object]) -> None:
    assert told(*order) == VolumeClaim(KEY, "", (on("n1"),), Exclusive.NODE)


@pytest.mark.parametrize(
    ("modes", "exclusive"),
    [
        (["ReadWriteOncePod"], Exclusive.POD),
        (["ReadWriteOnce"], Exclusive.NODE),
        (["ReadWriteMany"], Exclusive.NO),
        (["ReadWriteOnce", "ReadOnlyMany"], Exclusive.NO),
    ],
)
def test_a_bound_claim_is_as_its_volume_is(modes: list[str], exclusive: Exclusive) -> None:
    assert told(volume(accessModes=modes), claim()) == VolumeClaim(KEY, "", None, exclusive)


def test_why_a_claim_is_waited_for() -> None:
    going = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    assert told(class_(), claim(phase="Pending")) == VolumeClaim(KEY, "unbound")
    assert told(claim(phase="Pending", storageClassName="none")) == VolumeClaim(KEY, "unbound")
    assert told(volume(), claim(phase="Lost")) == VolumeClaim(KEY, "lost")
    assert told(claim()) == VolumeClaim(KEY, "lost")
    assert told(volume(), claim(meta=going)) == VolumeClaim(KEY, "deleted", None, Exclusive.NODE)


def test_one_that_waits_for_its_first_consumer_is_not_waited_for() -> None:
    waits = class_(mode="WaitForFirstConsumer")
    assert told(waits, claim(phase="Pending")) == VolumeClaim(KEY, "", None, Exclusive.NODE, driver="kumi.dev/local")


def test_without_a_provisioner_it_is_where_the_volumes_are_that_it_may_get() -> None:
    waits = class_(mode="WaitForFirstConsumer", provisioner="kubernetes.io/no-provisioner")
    there = [volume("a", "n1"), volume("b", "n2"), volume("c", "n3", storageClassName="other")]
    pending = claim(phase="Pending")
    assert told(waits, pending, *there) == VolumeClaim(KEY, "", (on("n1"), on("n2")), Exclusive.NODE)
    assert told(waits, pending) == VolumeClaim(KEY, "", (), Exclusive.NODE)
    assert told(waits, pending, *there, volume("d")) == VolumeClaim(KEY, "", None, Exclusive.NODE)


def test_what_is_gone_is_gone() -> None:
    claims = VolumeClaims()
    claims.deltas(None, volume(claimRef={"namespace": "ns", "name": "data"}))
    claims.deltas(None, claim())
    expected: list[Delta] = [Remove(VolumeClaim, KEY)]
    assert claims.deltas(claim(), None) == expected
    assert claims.deltas(volume(), None) == []
    with pytest.raises(TypeError):
        claims.deltas(None, Pod())


def test_terms() -> None:
    assert union([None, (on("a"),)]) is None
    assert union([(on("a"),), (on("b"), on("a"))]) == (on("a"), on("b"))
    assert union([]) == ()
    at = volume(node="n1")
    assert terms_of(at) == (on("n1"),)  # type: ignore[arg-type]
    assert reachable(at, {HOST: "n1"})  # type: ignore[arg-type]
    assert not reachable(at, {HOST: "n2"})  # type: ignore[arg-type]
    assert reachable(volume(), {})  # type: ignore[arg-type]


ZONE, OLD = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
WHERE = st.dictionaries(st.sampled_from([ZONE, OLD, REGION]), st.sampled_from("ab"))


def labelled(**labels: str) -> PersistentVolume:
    found = volume()
    assert isinstance(found, PersistentVolume)
    found.metadata.labels = labels
    return found


@given(WHERE, st.dictionaries(st.sampled_from([ZONE, OLD, REGION]), st.sampled_from(["a", "b", "a__b"])))
def test_a_node_is_where_the_labels_of_a_volume_say_or_says_nothing(node: dict[str, str], said: dict[str, str]) -> None:
    terms = zones_of(labelled(**said))
    if not said:
        assert terms is None
        return
    other = {ZONE: OLD, OLD: ZONE}
    there = [node.get(key, node.get(other.get(key, ""), "")) in value.split("__") for key, value in said.items()]
    assert affinity_holds(terms, node) is (not node or all(there))


def test_a_bound_claim_says_its_zone_and_what_is_attached() -> None:
    made = volume(csi={"driver": "x.csi", "volumeHandle": "v-1"})
    assert isinstance(made, PersistentVolume)
    made.metadata.labels = {ZONE: "a"}
    found = told(made, claim())
    assert found is not None
    assert (found.zones, found.driver, found.handle) == (zones_of(made), "x.csi", "v-1")


def allowing(*terms: dict[str, Any]) -> StorageClass:
    made = class_(mode="WaitForFirstConsumer", provisioner="x.csi")
    assert isinstance(made, StorageClass)
    made.allowed_topologies = [*terms]
    return made


def bad_terms() -> dict[str, Any]:
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"operator": "Exists"}]}]}}


def test_a_claim_that_gets_its_volume_later_is_attached_by_who_makes_it_where_its_class_allows() -> None:
    class_of = class_(mode="WaitForFirstConsumer", provisioner="x.csi")
    assert told(class_of, claim(phase="Pending")) == VolumeClaim(KEY, "", None, Exclusive.NODE, None, "x.csi")
    terms: list[dict[str, Any]] = [{"matchLabelExpressions": [{"key": ZONE, "values": ["a", "b"]}]}, {}]
    found = told(allowing(*terms), claim(phase="Pending"))
    assert found is not None
    assert found.nodes == ((Requirement(ZONE, "In", ("a", "b")),),)


@pytest.mark.parametrize("terms", [[{}], [{"matchLabelExpressions": []}, {}]])
def test_topologies_that_say_nothing_are_no_place(terms: list[dict[str, Any]]) -> None:
    found = told(allowing(*terms), claim(phase="Pending"))
    assert found is not None
    assert found.nodes == ()
    assert allowed(allowing()) is None


def test_what_cannot_be_read_is_an_error_and_changes_nothing() -> None:
    claims = VolumeClaims()
    for one in (volume(node="n1", claimRef={"namespace": "ns", "name": "data"}), claim(), allowing()):
        claims.deltas(None, one)
    for bad in (volume(nodeAffinity=bad_terms()), allowing({"matchLabelExpressions": [{"values": ["a"]}]})):
        with pytest.raises(KumiError):
            claims.deltas(None, bad)
    assert claims.deltas(None, claim()) == [Put(VolumeClaim(KEY, "", (on("n1"),), Exclusive.NODE))]
    assert not reachable(volume(nodeAffinity=bad_terms()), {})  # type: ignore[arg-type]


def test_the_claim_of_a_volume_that_goes_or_is_anothers_is_told() -> None:
    kept, other = ({"namespace": "ns", "name": name} for name in ("data", "other"))
    claims = VolumeClaims()
    claims.deltas(None, volume(claimRef=kept))
    claims.deltas(None, claim())
    assert claims.deltas(volume(claimRef=kept), volume(node="n1", claimRef=other)) == [
        Put(VolumeClaim(KEY, "", (on("n1"),), Exclusive.NODE))
    ]
    claims.deltas(None, volume(claimRef=kept))
    assert claims.deltas(volume(claimRef=kept), None) == [Put(VolumeClaim(KEY, "lost"))]


def test_nobody_attaches_a_volume_that_is_there_before_its_claim() -> None:
    found = told(
        class_(mode="WaitForFirstConsumer", provisioner="kubernetes.io/no-provisioner"), claim(phase="Pending")
    )
    assert found is not None
    assert (found.driver, found.handle) == ("", "")
