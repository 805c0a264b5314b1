from __future__ import annotations

import msgspec

from kumi.api.kueue import Cohort
from kumi.bridge.into.cohort import cohort
from kumi.engine import model


def test_a_cohort_with_a_parent_quota_and_a_share() -> None:
    group = {
        "coveredResources": ["cpu"],
        "flavors": [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": 2, "lendingLimit": "500m"}]}],
    }
    view = msgspec.convert(
        {
            "metadata": {"name": "a"},
            "spec": {"parentName": "b", "resourceGroups": [group], "fairSharing": {"weight": 0}},
        },
        Cohort,
    )
    quotas = model.FlavorQuotas("f", (("cpu", model.Quota(2000, None, 500)),))
    assert cohort(view) == model.Cohort("a", "b", (model.ResourceGroup(("cpu",), (quotas,)),), 0.0)


def test_a_root_of_its_own() -> None:
    assert cohort(msgspec.convert({"metadata": {"name": "a"}}, Cohort)) == model.Cohort("a")
