"""Services and their addresses."""

from __future__ import annotations

import ipaddress

import pytest

from kumi.api.errors import ApiError
from kumi.registry.kinds import services
from tests.registry.world import World


def new(name: str = "s", **spec: object) -> dict:
    return {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}], **spec}}


async def test_every_service_has_an_address_of_its_own(world: World) -> None:
    made = [(await world.create("Service", new(f"s{n}")))["spec"] for n in range(20)]
    addresses = {spec["clusterIP"] for spec in made}
    assert len(addresses) == 20
    assert all(ipaddress.ip_address(address) in services.RANGE for address in addresses)
    assert made[0]["clusterIPs"] == [made[0]["clusterIP"]]
    assert (made[0]["ipFamilies"], made[0]["ipFamilyPolicy"]) == (["IPv4"], "SingleStack")


async def test_a_headless_service_has_none(world: World) -> None:
    spec = (await world.create("Service", new(clusterIP="None")))["spec"]
    assert (spec["clusterIP"], spec["clusterIPs"]) == ("None", ["None"])
    assert (await world.create("Service", new("t", clusterIP="None")))["spec"]["clusterIP"] == "None"


async def test_an_external_name_has_none(world: World) -> None:
    made = await world.create("Service", new(type="ExternalName", externalName="example.com"))
    assert "clusterIP" not in made["spec"]


async def test_an_address_may_be_asked_for_once(world: World) -> None:
    assert (await world.create("Service", new(clusterIP="10.96.1.2")))["spec"]["clusterIP"] == "10.96.1.2"
    with pytest.raises(ApiError, match="provided IP is already allocated"):
        await world.create("Service", new("t", clusterIP="10.96.1.2"))
    await world.delete("Service", "s")
    await world.create("Service", new("t", clusterIP="10.96.1.2"))


@pytest.mark.parametrize("address", ["192.0.2.1", "::1", "x"])
def test_an_address_from_elsewhere_is_refused(address: str) -> None:
    service = {**new(clusterIP=address), "metadata": {"uid": "u"}}
    (error,) = services.allocate(service, ())
    assert error.path == "spec.clusterIPs"


def test_the_next_free_address_is_taken() -> None:
    one, two = {**new(), "metadata": {"uid": "u"}}, {**new(), "metadata": {"uid": "u"}}
    services.allocate(one, ())
    services.allocate(two, {one["spec"]["clusterIP"]})
    first, second = (ipaddress.IPv4Address(s["spec"]["clusterIP"]) for s in (one, two))
    assert int(second) - int(first) == 1


def test_a_full_range_is_told() -> None:
    everything = {str(address) for address in services.RANGE}
    (error,) = services.allocate({**new(), "metadata": {"uid": "u"}}, everything)
    assert error.detail == "no address is left to allocate"


async def test_an_update_that_leaves_the_address_out_keeps_it(world: World) -> None:
    made = await world.create("Service", new())
    now = await world.put("Service", new(ports=[{"port": 81}]))
    assert now["spec"]["clusterIP"] == made["spec"]["clusterIP"]
    assert now["spec"]["ports"][0]["port"] == 81
