"""What an error of a write means."""

from __future__ import annotations

import pytest

from kumi.api.errors import ApiError, already_exists, bad_request, conflict, invalid, not_found
from kumi.runtime.reconcile import Create, Delete, Patch, Write
from kumi.runtime.writes import Verdict, describe, perform, retry_after_ms, verdict
from kumi.testing.fake_client import FakeClient

from .kinds import KINDS, THINGS, ZONES, pod, thing

CREATE, PATCH, DELETE = Create(thing("a")), Patch(THINGS, "default", "a", {}), Delete(THINGS, "default", "a", "u")


@pytest.mark.parametrize(
    ("write", "error", "meaning"),
    [
        (DELETE, not_found("things", "a"), Verdict.DONE),
        (PATCH, not_found("things", "a"), Verdict.RETRY),
        (CREATE, not_found("namespaces", "default"), Verdict.REFUSED),
        (CREATE, already_exists("things", "a"), Verdict.LOOK_AGAIN),
        (PATCH, already_exists("things", "a"), Verdict.RETRY),
        (PATCH, conflict("things", "a"), Verdict.RETRY),
        (DELETE, conflict("things", "a"), Verdict.RETRY),
        (CREATE, ApiError(429, "TooManyRequests", ""), Verdict.RETRY),
        (PATCH, ApiError(500, "InternalError", ""), Verdict.RETRY),
        (PATCH, ApiError(503, "ServiceUnavailable", ""), Verdict.RETRY),
        (CREATE, invalid("Thing", "a", ()), Verdict.REFUSED),
        (PATCH, ApiError(403, "Forbidden", ""), Verdict.REFUSED),
        (DELETE, bad_request(""), Verdict.REFUSED),
        (CREATE, ConnectionResetError(), Verdict.RETRY),
        (DELETE, TimeoutError(), Verdict.RETRY),
    ],
)
def test_an_error_means_the_same_to_every_loop(write: Write, error: Exception, meaning: Verdict) -> None:
    assert verdict(write, error) is meaning


async def test_each_write_does_what_it_says() -> None:
    client = FakeClient(KINDS)
    made = await perform(client, CREATE)
    assert made is not None
    patched = await perform(client, Patch(THINGS, "default", "a", {"status": {"ready": True}}, "status"))
    assert patched is not None
    assert patched["status"] == {"ready": True}
    assert await perform(client, Delete(THINGS, "default", "a", made["metadata"]["uid"], grace_seconds=3)) is None
    assert client.objects(THINGS) == []
    assert client.calls[-1].body == {"uid": made["metadata"]["uid"], "grace_seconds": 3}


def test_a_write_is_described_in_a_few_words() -> None:
    assert describe(CREATE) == "create Thing default/a"
    assert describe(Create(pod("p"), "binding")) == "create Pod default/p (binding)"
    assert describe(Patch(THINGS, "default", "a", {}, "status")) == "patch Thing default/a (status)"
    assert describe(Delete(ZONES, "", "z", "u")) == "delete Zone z"


def test_the_servers_wish_to_wait_is_heard() -> None:
    assert retry_after_ms(ApiError(429, "TooManyRequests", "", retry_after_seconds=3)) == 3_000
    assert retry_after_ms(ConnectionError()) == 0
