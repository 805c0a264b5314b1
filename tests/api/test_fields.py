from __future__ import annotations

from typing import Any

import msgspec
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kumi.api import fields, scheme
from kumi.api.batch import Job
from kumi.api.coordination import Lease
from kumi.api.errors import ApiError
from kumi.api.shapes import Shape, shape_of
from kumi.api.wire import JsonObject

SCHEME = scheme.load()
KINDS = list(SCHEME)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 5), st.floats(0, 2), st.sampled_from(["", "a", "1", "x y"])
)
RIGHT: dict[str, st.SearchStrategy[Any]] = {
    "string": st.sampled_from(["", "a", "main", "None"]),
    "integer": st.integers(-2, 5),
    "number": st.floats(0, 2),
    "boolean": st.booleans(),
    "quantity": st.sampled_from(["1", "1024Mi", 2, 0.5, "0.5"]),
    "int-or-string": st.sampled_from([1, "http"]),
    "any": SCALARS,
}


def values(shape: Shape, depth: int = 5) -> st.SearchStrategy[Any]:
    """Values mostly as the shape has them; now and then null, a wrong type, or an unknown member."""
    if shape.type == "object":
        names = sorted(shape.members) if depth else []
        if shape.any_member is not None and depth:
            right: st.SearchStrategy[Any] = st.dictionaries(
                st.sampled_from(["a", "b/c", "Master"]), values(shape.any_member, depth - 1), max_size=2
            )
        elif names:
            some = st.lists(st.sampled_from(names), max_size=4, unique=True)
            right = some.flatmap(
                lambda picked: st.fixed_dictionaries({n: values(shape.members[n], depth - 1) for n in picked})
            )
        else:
            right = st.just({})
        right = st.one_of(right, right.map(lambda found: {**found, "unknown": 1}))
    elif shape.type == "array" and shape.items is not None:
        right = st.lists(values(shape.items, depth - 1), max_size=2) if depth else st.just([])
    else:
        right = RIGHT[shape.type]
    return st.one_of(right, right, right, right, right, SCALARS)


@st.composite
def objects(draw: st.DrawFn) -> tuple[scheme.Kind, JsonObject]:
    kind = draw(st.sampled_from(KINDS))
    found = draw(values(shape_of(kind)))
    return kind, found if isinstance(found, dict) else {}


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=300, deadline=None)
@given(objects())
def test_whatever_passes_is_pruned_once_and_for_all_and_decodes_into_its_view(
    case: tuple[scheme.Kind, JsonObject],
) -> None:
    kind, obj = case
    before = orjson.dumps(obj)
    checked = fields.check(kind, "", obj)
    again = fields.check(kind, "", checked.object)
    assert orjson.dumps(obj) == before
    assert (again.object, again.unknown) == (checked.object, [])
    if not checked.errors:
        assert again.errors == []
        msgspec.convert(checked.object, kind.type)


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=200, deadline=None)
@given(objects(), st.data())
def test_what_passed_before_need_not_be_looked_at_again(
    case: tuple[scheme.Kind, JsonObject], data: st.DataObject
) -> None:
    kind, obj = case
    right = fields.check(kind, "", obj)
    if right.errors:
        return
    kept = data.draw(st.sets(st.sampled_from(sorted(right.object)))) if right.object else set()
    changed = {**obj, **{key: right.object[key] for key in kept}}
    assert fields.check(kind, "", changed, right.object) == fields.check(kind, "", changed)


def test_a_number_in_the_place_of_a_truth_is_looked_at_although_python_takes_them_for_equal() -> None:
    checked = fields.check(kind_of("ConfigMap"), "", {"immutable": 1}, {"immutable": True})
    assert [str(error.path) for error in checked.errors] == ["immutable"]


def kind_of(name: str, group: str = "") -> scheme.Kind:
    found = SCHEME.find(group, name)
    assert found is not None
    return found


POD = kind_of("Pod")
JOB = kind_of("PyTorchJob", "kubeflow.org")
QUEUE = kind_of("ClusterQueue", "kueue.x-k8s.io")


def errors(kind: scheme.Kind, obj: JsonObject, version: str = "") -> list[tuple[str, str]]:
    return [(error.path, error.type.removeprefix("FieldValue")) for error in fields.check_types(kind, version, obj)]


def test_unknown_fields_have_their_path_and_are_left_out() -> None:
    template = {"metadata": {"label": {}}, "spec": {"containers": [{"name": "c", "imagee": "x", "image": "y"}]}}
    obj = {"spec": {"pytorchReplicaSpecs": {"Master": {"template": template}}, "foo": 1}, "x/y": 2}
    pruned, unknown = fields.prune(JOB, "", obj)
    assert unknown == [
        "spec.pytorchReplicaSpecs.Master.template.metadata.label",
        "spec.pytorchReplicaSpecs.Master.template.spec.containers[0].imagee",
        "spec.foo",
        "[x/y]",
    ]
    assert unknown == fields.unknown_fields(JOB, "", obj)
    spec = pruned["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]
    assert spec == {"containers": [{"name": "c", "image": "y"}]}


def test_versions_have_fields_of_their_own() -> None:
    old = {"spec": {"cohort": "all", "flavorFungibility": {"whenCanBorrow": "Borrow"}}}
    assert fields.unknown_fields(QUEUE, "v1beta1", old) == []
    assert fields.unknown_fields(QUEUE, "", old) == ["spec.cohort"]
    assert errors(QUEUE, old) == [("spec.flavorFungibility.whenCanBorrow", "NotSupported")]


def test_wrong_types_say_what_was_expected_and_what_came() -> None:
    spec = {"containers": "c", "priority": 1.5, "hostNetwork": "yes", "nodeName": 7, "activeDeadlineSeconds": True}
    told = [f"{e.path}: {e.detail}" for e in fields.check_types(POD, "", {"spec": spec})]
    assert told == [
        "spec.containers: expected array, got string",
        "spec.priority: expected integer, got number",
        "spec.hostNetwork: expected boolean, got string",
        "spec.nodeName: expected string, got integer",
        "spec.activeDeadlineSeconds: expected integer, got boolean",
    ]


def test_numbers_that_do_not_fit_and_quantities_that_are_none_are_told() -> None:
    container = {"resources": {"limits": {"cpu": "lots", "memory": True}}, "ports": [{"containerPort": 2**31}]}
    told = {e.path: e.detail for e in fields.check_types(POD, "", {"spec": {"containers": [container]}})}
    assert "'lots' is not a quantity" in told["spec.containers[0].resources.limits.cpu"]
    assert told["spec.containers[0].resources.limits.memory"] == "expected quantity, got boolean"
    assert told["spec.containers[0].ports[0].containerPort"] == "must fit in 32 bits"


def test_what_must_be_there_and_what_may_be_said_is_enforced_for_kumi_s_own_kinds() -> None:
    group = {"coveredResources": ["cpu"], "flavors": [{"resources": []}, {"name": "A"}]}
    spec = {"queueingStrategy": "LIFO", "resourceGroups": [group], "admissionChecksStrategy": {"admissionChecks": []}}
    assert errors(QUEUE, {"spec": spec}) == [
        ("spec.queueingStrategy", "NotSupported"),
        ("spec.resourceGroups[0].flavors[0].name", "Required"),
        ("spec.resourceGroups[0].flavors[1].name", "Invalid"),
        ("spec.admissionChecksStrategy.admissionChecks", "Invalid"),
    ]


def test_items_that_are_told_apart_by_a_name_have_different_names() -> None:
    flavors = [{"name": "a"}, {"name": "a"}]
    assert errors(QUEUE, {"spec": {"resourceGroups": [{"flavors": flavors}]}}) == [
        ("spec.resourceGroups[0].flavors[1]", "Duplicate")
    ]


def test_too_long_and_too_many_are_told() -> None:
    flavor = kind_of("ResourceFlavor", "kueue.x-k8s.io")
    spec = {"nodeLabels": {str(i): "x" for i in range(9)}, "topologyName": "a" * 254}
    assert errors(flavor, {"spec": spec}) == [("spec.nodeLabels", "TooMany"), ("spec.topologyName", "TooLong")]


def test_numbers_have_their_bounds() -> None:
    workload = kind_of("Workload", "kueue.x-k8s.io")
    pod_set = {"template": {}, "minCount": 0}
    assert errors(workload, {"spec": {"podSets": [pod_set]}}) == [("spec.podSets[0].minCount", "Invalid")]


def test_null_is_as_good_as_absent_and_a_zero_in_maps_and_lists() -> None:
    obj = {"metadata": {"labels": None, "annotations": {"a": None}}, "spec": {"containers": [None], "volumes": None}}
    checked = fields.check(POD, "", obj)
    assert checked.errors == []
    assert checked.object == {"metadata": {"annotations": {"a": ""}}, "spec": {"containers": [{}]}}


def test_quantities_of_kubernetes_own_kinds_are_written_the_canonical_way() -> None:
    limits = {"cpu": 0.5, "memory": "1024Mi"}
    pod = fields.check(POD, "", {"spec": {"containers": [{"resources": {"limits": limits}}]}}).object
    assert pod["spec"]["containers"][0]["resources"]["limits"] == {"cpu": "500m", "memory": "1Gi"}
    quota = {"name": "cpu", "nominalQuota": 0.5}
    spec = {"resourceGroups": [{"coveredResources": ["cpu"], "flavors": [{"name": "a", "resources": [quota]}]}]}
    assert fields.check(QUEUE, "", {"spec": spec}).object == {"spec": spec}


def test_what_kubernetes_own_types_can_t_tell_from_nothing_is_left_out() -> None:
    container = {"name": "c", "env": [{"name": "A", "value": ""}], "args": [], "securityContext": {}, "tty": False}
    spec = {"containers": [container], "hostNetwork": False, "nodeSelector": {}, "priority": 0, "tolerations": []}
    pod = fields.check(POD, "", {"spec": spec}).object
    kept = {"name": "c", "env": [{"name": "A"}], "securityContext": {}}
    assert pod == {"spec": {"containers": [kept], "priority": 0}}
    assert fields.check(POD, "", {"spec": {"containers": []}}).object == {"spec": {"containers": []}}
    own = {"resourceGroups": [], "namespaceSelector": {}}
    assert fields.check(QUEUE, "", {"spec": own}).object == {"spec": own}


def test_bytes_are_written_in_base64() -> None:
    secret = kind_of("Secret", "")
    (error,) = fields.check_types(secret, "", {"data": {"good": "eA==", "wrapped": "eA\n==", "bad": "hush!"}})
    assert (error.path, error.type, error.value) == ("data.bad", "FieldValueTypeInvalid", "string")


def test_what_has_no_shape_is_kept_as_it_is() -> None:
    workload = kind_of("Workload", "kueue.x-k8s.io")
    status = {"decision": {"anything": [None, {"goes": 1}]}}
    assert fields.check(workload, "", {"status": status}).object == {"status": status}


def test_a_refusal_is_400_for_kubernetes_own_kinds_and_422_with_causes_for_the_others() -> None:
    bad = {"metadata": {"name": "x"}, "spec": 1}
    pod = fields.refusal(POD, "", bad, fields.check_types(POD, "", bad))
    assert (pod.code, pod.message) == (
        400,
        'Pod in version "v1" cannot be handled as a Pod: spec: expected object, got integer',
    )
    job = fields.refusal(JOB, "v1", bad, fields.check_types(JOB, "", bad))
    assert (job.code, job.status()["details"]["causes"][0]["field"]) == (422, "spec")
    assert 'PyTorchJob.kubeflow.org "x" is invalid: spec' in job.message


def test_a_strict_refusal_names_every_field() -> None:
    refusal = fields.strict_refusal(JOB, "", ['duplicate field "spec.bar"', 'unknown field "spec.foo"'])
    assert refusal.message == (
        'PyTorchJob in version "v1" cannot be handled as a PyTorchJob: '
        'strict decoding error: duplicate field "spec.bar", unknown field "spec.foo"'
    )


def test_fields_that_a_text_gives_twice_are_found_with_their_path() -> None:
    text = b'{"a": {"b": 1, "b": 2, "b": 3}, "c": [{"d": {"x/y": 1, "x/y": 2}}], "a": {}}'
    value, twice = fields.decode(text)
    assert twice == ["a.b", "c[0].d[x/y]", "a"]
    assert value["c"] == [{"d": {"x/y": 2}}]
    assert fields.decode('{"a": 1}') == ({"a": 1}, [])


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"{'a': 1}",
        b'{"a": NaN}',
        b'{"a": "\xff"}',
        b"[" * 5000 + b"]" * 5000,
        b'{"a":' * 1010 + b"1" + b"}" * 1010,
    ],
)
def test_what_is_no_json_is_a_bad_request(text: bytes) -> None:
    with pytest.raises(ApiError) as told:
        fields.decode(text)
    assert told.value.code == 400


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("2026-11-30T01:02:03Z", "2026-11-30T01:02:03Z"),
        ("2026-11-30T01:02:03+00:00", "2026-11-30T01:02:03Z"),
        ("2026-11-30T01:02:03.987654321+02:00", "2026-11-29T23:02:03Z"),
    ],
)
def test_times_of_kubernetes_own_kinds_are_written_in_utc(written: str, kept: str) -> None:
    checked = fields.check(
        SCHEME.of(Job), "", {"metadata": {"creationTimestamp": written}, "status": {"startTime": written}}
    )
    assert checked.errors == []
    assert checked.object == {"metadata": {"creationTimestamp": kept}, "status": {"startTime": kept}}


def test_times_of_leases_keep_their_microseconds() -> None:
    checked = fields.check(SCHEME.of(Lease), "", {"spec": {"renewTime": "2026-11-30T01:02:03.5+00:00"}})
    assert checked.object == {"spec": {"renewTime": "2026-11-30T01:02:03.500000Z"}}


@pytest.mark.parametrize("text", ["today", "2026-11-30", "2026-13-30T01:02:03Z", "2026-11-30T01:02:03"])
def test_what_is_no_time_is_a_wrong_type(text: str) -> None:
    errors = fields.check(SCHEME.of(Job), "", {"metadata": {"creationTimestamp": text}}).errors
    assert [error.path for error in errors] == ["metadata.creationTimestamp"]


@pytest.mark.parametrize(
    ("text", "right"), [("2026-11-30T02:00:00+02:00", True), ("", True), ("today", False), ("2026-11-30", False)]
)
def test_times_of_other_kinds_must_be_times_and_stay_as_they_are_written(text: str, right: bool) -> None:
    workload = kind_of("Workload", "kueue.x-k8s.io")
    written = {"status": {"requeueState": {"requeueAt": text}}}
    checked = fields.check(workload, "", written)
    assert checked.object == written
    assert errors(workload, written) == ([] if right else [("status.requeueState.requeueAt", "Invalid")])


@given(st.recursive(st.text(), lambda v: st.lists(v) | st.dictionaries(st.text(), v)), st.text())
def test_a_field_that_is_given_twice_is_found_whatever_stands_around_it(value: object, name: str) -> None:
    once = orjson.dumps({"value": value})
    assert fields.duplicate_fields(once) == []
    key = orjson.dumps(name).decode()
    twice = f'{{"value": {once.decode()}, {key}: 1, {key}: "2"}}'
    assert len(fields.duplicate_fields(twice)) == 1
    assert fields.duplicate_fields(b'{"\\u0061": 1, "a": 2}') == ["a"]
