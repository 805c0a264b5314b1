"""What strategic merge patches read of Kubernetes' own schemas."""

from __future__ import annotations

from kumi.registry.patch.shape import shape_of

POD = "io.k8s.api.core.v1.Pod"


def test_containers_merge_by_name_and_so_do_their_variables() -> None:
    containers = shape_of(POD).member("spec").member("containers")
    assert (containers.strategies, containers.merge_key) == (("merge",), "name")
    assert containers.item().member("env").merge_key == "name"


def test_volumes_merge_and_retain_keys() -> None:
    assert shape_of(POD).member("spec").member("volumes").strategies == ("merge", "retainKeys")


def test_a_list_without_strategy_has_no_merge_key() -> None:
    args = shape_of(POD).member("spec").member("containers").item().member("args")
    assert (args.strategies, args.merge_key) == (("",), "")


def test_finalizers_are_a_set_of_scalars() -> None:
    finalizers = shape_of(POD).member("metadata").member("finalizers")
    assert (finalizers.strategies, finalizers.merge_key) == (("merge",), "")


def test_what_no_schema_knows_has_no_strategy_anywhere() -> None:
    nowhere = shape_of("io.example.v1.Nothing").member("a").member("b")
    assert (nowhere.strategies, nowhere.merge_key, nowhere.item().merge_key) == (("",), "", "")


def test_a_map_has_one_shape_for_all_its_members() -> None:
    labels = shape_of(POD).member("metadata").member("labels")
    assert labels.member("one").strategies == labels.member("two").strategies == ("",)
