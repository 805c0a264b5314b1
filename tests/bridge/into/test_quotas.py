from __future__ import annotations

import pytest

from kumi.api.errors import KumiError
from kumi.api.kueue import FairSharing, FlavorQuotas, ResourceGroup, ResourceQuota
from kumi.api.quantity import MAX
from kumi.bridge.into.quotas import groups, weight
from kumi.engine import model


def test_limits_that_are_absent_are_none() -> None:
    quotas = [ResourceQuota(name="cpu", nominal_quota="1", borrowing_limit=0), ResourceQuota(name="cpu2")]
    (made,) = groups([ResourceGroup(covered_resources=["cpu", "cpu2"], flavors=[FlavorQuotas("f", quotas)])])
    assert made.flavors[0].quotas == (("cpu", model.Quota(1000, 0)), ("cpu2", model.Quota(0)))


def test_a_weight_is_one_where_nothing_is_said() -> None:
    assert (weight(None), weight(FairSharing()), weight(FairSharing(weight="1500m"))) == (1.0, 1.0, 1.5)
    with pytest.raises(KumiError):
        weight(FairSharing(weight="heavy"))


@pytest.mark.parametrize(
    ("resource", "written", "amount"),
    [
        ("cpu", "9223372036854775", MAX),
        ("cpu", "9223372036854774", 9223372036854774000),
        ("memory", "9223372036854775807", MAX),
        ("memory", "9223372036854775806", MAX - 1),
    ],
)
def test_as_much_as_can_be_counted_is_without_end(resource: str, written: str, amount: int) -> None:
    quotas = [ResourceQuota(name=resource, nominal_quota=written, lending_limit=written)]
    (made,) = groups([ResourceGroup(covered_resources=[resource], flavors=[FlavorQuotas("f", quotas)])])
    assert made.flavors[0].quotas == ((resource, model.Quota(amount, None, amount)),)
