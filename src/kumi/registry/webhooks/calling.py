"""One webhook: the review that it gets, and what its answer means.

    allowed               with a patch (mutating only): the object is changed by it; with warnings: the writer hears them
    not allowed           the write is refused with the webhook's own status, 400 where it gives none
    no answer, a wrong    failurePolicy Fail: the write is refused (500); Ignore: it goes on as if nobody had been asked
Dry run    a webhook with other side effects than None and NoneOnDryRun can't be asked: the write is refused (400).
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import Any, Protocol

import orjson

from kumi.api.errors import ApiError, KumiError, bad_request
from kumi.api.user import AUTHENTICATED, MASTERS, User
from kumi.api.wire import JsonObject
from kumi.registry import versions
from kumi.registry.patch import BadPatch, Unappliable, json_patch
from kumi.registry.webhooks.matching import Operation

_HARMLESS = ("None", "NoneOnDryRun")
ITSELF = User("system:apiserver", (MASTERS, AUTHENTICATED))
"""who writes when a loop of this process does"""


@dataclass(frozen=True)
class Address:
    """Where a webhook is: `host` and `port` to connect to, `server` the name that its certificate must have."""

    host: str
    port: int
    server: str
    path: str
    authority: str
    """PEM of who signed its certificate; "": the system's"""


class CallFailed(KumiError):
    """The webhook could not be asked, or did not answer."""


class Caller(Protocol):
    """Asks webhooks. The only thing here that waits for others."""

    async def call(self, address: Address, review: JsonObject, timeout_s: float) -> object:
        """The decoded answer. CallFailed: there is none."""
        ...


class Refused(ApiError):
    """A webhook said no; its own words come along."""

    def __init__(self, hook: str, said: JsonObject) -> None:
        code, reason = said.get("code") or 400, said.get("reason") or ""
        why = f": {said['message']}" if said.get("message") else f": {reason}" if reason else " without explanation"
        text = f'admission webhook "{hook}" denied the request{why}'
        super().__init__(int(code), str(reason) or ("BadRequest" if code == 400 else ""), text)


def review_of(hook: JsonObject, operation: Operation, version: str, uid: str) -> JsonObject:
    """The AdmissionReview that the webhook gets."""
    target = operation.target
    kind, spoken = target.kind, target.version or target.kind.version
    sent = operation.spoken
    request: JsonObject = {
        "uid": uid,
        "kind": sent._asdict() if sent else {"group": kind.group, "version": version, "kind": kind.kind},
        "resource": {"group": kind.group, "version": version, "resource": kind.plural},
        "requestKind": sent._asdict() if sent else {"group": kind.group, "version": spoken, "kind": kind.kind},
        "requestResource": {"group": kind.group, "version": spoken, "resource": kind.plural},
        "operation": operation.verb,
        "userInfo": (operation.user or ITSELF).info(),
        "object": _as(operation, version, operation.new),
        "oldObject": _as(operation, version, operation.old),
        "dryRun": operation.dry_run,
        "options": operation.options,
    }
    for key, value in (("name", operation.name), ("namespace", operation.namespace)):
        if value:
            request[key] = value
    if target.subresource:
        request["subResource"] = request["requestSubResource"] = target.subresource
    return {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}


def check_dry_run(hook: JsonObject, operation: Operation) -> None:
    """ApiError 400."""
    if operation.dry_run and hook.get("sideEffects") not in _HARMLESS:
        raise bad_request(f'admission webhook "{hook["name"]}" does not support dry run')


def failed(hook: JsonObject, why: str) -> ApiError:
    """The refusal where a webhook that must be asked can't be."""
    return ApiError(500, "InternalError", f'Internal error occurred: failed calling webhook "{hook["name"]}": {why}')


def response_in(answer: object, uid: str) -> JsonObject:
    """The response of an answer. CallFailed: it is none to what was asked."""
    response = answer.get("response") if isinstance(answer, dict) else None
    if not isinstance(answer, dict) or not isinstance(response, dict):
        raise CallFailed("the answer holds no response")
    if answer.get("kind") != "AdmissionReview" or answer.get("apiVersion") != "admission.k8s.io/v1":
        raise CallFailed("expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview")
    if response.get("uid") != uid:
        raise CallFailed(f"expected response.uid={uid}, got {response.get('uid')!r}")
    return response


def patched(operation: Operation, version: str, response: JsonObject) -> JsonObject | None:
    """The object as the response changes it, in the stored version; None: it doesn't. CallFailed: it can't be."""
    if response.get("patch") is None or operation.new is None:
        return None
    if response.get("patchType") != "JSONPatch":
        raise CallFailed(f"webhook returned response.patchType {response.get('patchType')!r}, expected JSONPatch")
    try:
        patch: Any = orjson.loads(base64.b64decode(response["patch"], validate=True))
        if not patch:
            return None
        spoken = orjson.loads(orjson.dumps(_as(operation, version, operation.new)))
        changed: JsonObject = json_patch.apply(spoken, patch)
        return changed if operation.spoken else versions.to_stored(operation.target.kind, version, changed)
    except (binascii.Error, TypeError, orjson.JSONDecodeError, BadPatch, Unappliable) as error:
        raise CallFailed(f"its patch can't be applied: {error}") from error


def _as(operation: Operation, version: str, obj: JsonObject | None) -> JsonObject | None:
    if obj is None or operation.spoken:
        return obj
    return versions.from_stored(operation.target.kind, version, obj)
