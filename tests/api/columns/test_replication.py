from __future__ import annotations

from kumi.api.columns.replication import REPLICATION_CONTROLLER


def test_counts_come_from_the_status_and_the_rest_from_the_template() -> None:
    obj = {
        "spec": {
            "replicas": 3,
            "selector": {"a": "b"},
            "template": {"spec": {"containers": [{"name": "c", "image": "i"}, {"name": "d", "image": "j"}]}},
        },
        "status": {"replicas": 2},
    }
    cells = {column.name: column.cell(obj, 0) for column in REPLICATION_CONTROLLER if column.cell is not None}
    assert cells == {"Current": 2, "Ready": 0, "Containers": "c,d", "Images": "i,j", "Selector": "a=b"}
