from __future__ import annotations

from kumi.api.claims import StorageClass
from kumi.api.volumes import IS_DEFAULT, LOCAL
from kumi.cli.storage import CLASS, provide_class
from kumi.testing.stage import Stage


async def test_the_class_is_made_once_and_stays_as_its_users_made_it() -> None:
    stage = Stage()
    await provide_class(stage.client)
    made = await stage.one(StorageClass, "local")
    assert made is not None
    assert (made["provisioner"], made["volumeBindingMode"], made["reclaimPolicy"]) == (LOCAL, "Immediate", "Delete")
    assert made["metadata"]["annotations"] == {IS_DEFAULT: "true"}
    await stage.patch(StorageClass, "local", {"metadata": {"annotations": {IS_DEFAULT: "false"}}})
    await provide_class(stage.client)
    kept = await stage.one(StorageClass, "local")
    assert kept is not None
    assert kept["metadata"]["annotations"] == {IS_DEFAULT: "false"}
    assert "uid" not in CLASS["metadata"], "the pattern is not what was made of it"
