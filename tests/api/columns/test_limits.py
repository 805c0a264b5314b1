from __future__ import annotations

from kumi.api.columns.limits import RESOURCE_QUOTA


def test_a_quota_shows_requests_and_limits_apart() -> None:
    status = {"hard": {"pods": "3", "limits.cpu": "4", "cpu": "2"}, "used": {"pods": "1", "limits.cpu": "1"}}
    request, limit = (column.cell({"status": status}, 0) for column in RESOURCE_QUOTA[:2] if column.cell)
    assert request == "cpu: 0/2, pods: 1/3"
    assert limit == "limits.cpu: 1/4"
