from __future__ import annotations

from kumi.api.defaulting.scheduling import default_autoscaler, default_priority_class
from kumi.api.wire import JsonObject


def test_pods_of_a_class_may_preempt_unless_it_says_otherwise() -> None:
    classes: list[JsonObject] = [{"value": 1}, {"preemptionPolicy": "Never"}]
    for class_ in classes:
        default_priority_class(class_)
    assert [class_["preemptionPolicy"] for class_ in classes] == ["PreemptLowerPriority", "Never"]


def test_an_autoscaler_keeps_one_replica_and_looks_at_cpu() -> None:
    autoscaler: JsonObject = {"spec": {"maxReplicas": 3}}
    default_autoscaler(autoscaler)
    assert autoscaler["spec"]["minReplicas"] == 1
    assert autoscaler["spec"]["metrics"][0]["resource"] == {
        "name": "cpu",
        "target": {"type": "Utilization", "averageUtilization": 80},
    }
