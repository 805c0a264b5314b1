from __future__ import annotations

from kumi.api.defaulting import apps


def test_a_deployment_rolls_a_quarter_at_a_time() -> None:
    made: dict[str, object] = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "i:1"}]}}}}
    apps.default_deployment(made)
    spec = made["spec"]
    assert isinstance(spec, dict)
    assert (spec["replicas"], spec["revisionHistoryLimit"], spec["progressDeadlineSeconds"]) == (1, 10, 600)
    assert spec["strategy"] == {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}}
    assert spec["template"]["spec"]["restartPolicy"] == "Always"


def test_one_that_is_recreated_has_no_rolling_update() -> None:
    made = {"spec": {"strategy": {"type": "Recreate"}}}
    apps.default_deployment(made)
    assert made["spec"]["strategy"] == {"type": "Recreate"}


def test_a_stateful_set_goes_in_order_and_its_claims_are_whole() -> None:
    made = {"spec": {"volumeClaimTemplates": [{"metadata": {"name": "data"}}]}}
    apps.default_stateful_set(made)
    spec: dict[str, object] = made["spec"]  # type: ignore[assignment]
    assert spec["podManagementPolicy"] == "OrderedReady"
    assert spec["updateStrategy"] == {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}
    assert spec["volumeClaimTemplates"] == [
        {
            "metadata": {"name": "data"},
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "spec": {"volumeMode": "Filesystem"},
            "status": {"phase": "Pending"},
        }
    ]


def test_defaults_do_not_change_twice() -> None:
    for default in (
        apps.default_deployment,
        apps.default_replica_set,
        apps.default_stateful_set,
        apps.default_daemon_set,
    ):
        once: dict[str, object] = {"spec": {}}
        default(once)
        text = repr(once)
        default(once)
        assert repr(once) == text
