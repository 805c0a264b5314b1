"""token of a service account: a bearer token for it, for some audiences, for a while, bound to an object that has to be there.

Refused    422  fewer than LEAST_S seconds, or more than MOST_S; bound to what no token can be bound to
           404  the object that it is to be bound to is not there
           409  it has another uid
           400  it is a pod that runs as another service account
Extended   a token for this API that is bound to a pod and asks for just WARN_AFTER_S is good for a year: programs that read
           their token once go on working. Its holder is told to come back after WARN_AFTER_S all the same.
Answer     the TokenRequest with its status: the token, and when it expires. Nothing is stored: a token is known by its
           signature, and lasts no longer than its account and what it is bound to.
Source     Kubernetes: TokenRequest API, managing service accounts (bound tokens and their claims).
Not here   how a token is signed: whoever made the registry brings that. How it is checked: kumi.apiserver.tokens.
"""

from __future__ import annotations

from typing import Protocol

from kumi.api.errors import ApiError, FieldError, bad_request, conflict, not_found
from kumi.api.meta import format_time
from kumi.api.user import service_account_name
from kumi.api.wire import JsonObject
from kumi.registry.environment import Environment
from kumi.registry.refusals import invalid_as
from kumi.registry.requests import Target

LEAST_S, USUAL_S, MOST_S = 600, 3600, 1 << 32
WARN_AFTER_S, EXTENDED_S = 3607, 365 * 24 * 3600
GROUP = "authentication.k8s.io"
BOUND = {"Pod": "pods", "Secret": "secrets", "Node": "nodes"}
"""kinds that a token can be bound to -> their plural"""


class TokenSigner(Protocol):
    """Makes a token of claims."""

    @property
    def issuer(self) -> str:
        """Who the tokens are said to be from; also the audience of those who name none: this API."""
        ...

    def sign(self, claims: JsonObject) -> str:
        """The token."""
        ...


def request(env: Environment, signer: TokenSigner | None, target: Target, body: JsonObject) -> JsonObject:
    """See the module. ApiError 400, 404, 409, 422, 501."""
    if signer is None:
        raise ApiError(501, "NotImplemented", "this server signs no tokens")
    found = env.objects.get(target.kind, target.namespace, target.name)
    if found is None:
        raise not_found(target.kind.plural, target.name)
    said = body.get("metadata") or {}
    for key, value in (("name", target.name), ("namespace", target.namespace)):
        if said.get(key, value) != value:
            raise bad_request(f"the {key} of the object ({said[key]}) does not match the {key} on the URL ({value})")
    asked = body.get("spec") or {}
    seconds = asked.get("expirationSeconds", USUAL_S)
    audiences = [str(audience) for audience in asked.get("audiences") or ()] or [signer.issuer]
    bound = asked.get("boundObjectRef")
    _check(target.name, seconds, bound)
    now_ms = env.clock_ms()
    spec: JsonObject = {"audiences": audiences, "expirationSeconds": seconds, "boundObjectRef": bound}
    extended = bound and bound["kind"] == "Pod" and seconds == WARN_AFTER_S and audiences == [signer.issuer]
    claims: JsonObject = {
        "aud": audiences,
        "exp": now_ms // 1000 + (EXTENDED_S if extended else seconds),
        "iat": now_ms // 1000,
        "nbf": now_ms // 1000,
        "iss": signer.issuer,
        "jti": env.new_uid(),
        "kubernetes.io": {
            "namespace": target.namespace,
            "serviceaccount": {"name": target.name, "uid": found.object["metadata"]["uid"]},
            **(_bound_to(env, target, bound) if bound else {}),
        },
        "sub": service_account_name(target.namespace, target.name),
    }
    if extended:
        claims["kubernetes.io"]["warnafter"] = now_ms // 1000 + seconds
    return {
        "kind": "TokenRequest",
        "apiVersion": f"{GROUP}/v1",
        "metadata": {"name": target.name, "namespace": target.namespace, "creationTimestamp": format_time(now_ms)},
        "spec": spec,
        "status": {"token": signer.sign(claims), "expirationTimestamp": format_time(now_ms + seconds * 1000)},
    }


def _check(name: str, seconds: object, bound: object) -> None:
    errors = []
    if not isinstance(seconds, int) or isinstance(seconds, bool):
        raise bad_request("spec.expirationSeconds must be a whole number")
    if seconds < LEAST_S:
        detail = "may not specify a duration less than 10 minutes"
        errors.append(FieldError("spec.expirationSeconds", detail, value=seconds))
    if seconds > MOST_S:
        detail = "may not specify a duration larger than 2^32 seconds"
        errors.append(FieldError("spec.expirationSeconds", detail, value=seconds))
    if bound is not None and not isinstance(bound, dict):
        raise bad_request("spec.boundObjectRef must be an object")
    if bound and (bound.get("apiVersion", "v1") != "v1" or bound.get("kind") not in BOUND):
        shown = f"{bound.get('apiVersion', '')}, Kind={bound.get('kind', '')}"
        errors.append(FieldError("spec.boundObjectRef", "cannot bind token to object of this type", value=shown))
    if errors:
        raise invalid_as("TokenRequest", GROUP, name, errors)


def _bound_to(env: Environment, target: Target, bound: JsonObject) -> JsonObject:
    """The claims about what the token is bound to."""
    kind = env.scheme.find("", str(bound["kind"]))
    name, plural = str(bound.get("name", "")), BOUND[bound["kind"]]
    namespace = target.namespace if bound["kind"] != "Node" else ""
    found = None if kind is None else env.objects.get(kind, namespace, name)
    if found is None:
        raise not_found(plural, name)
    uid = found.object["metadata"]["uid"]
    if bound.get("uid") and bound["uid"] != uid:
        why = f"the UID in the bound object reference ({bound['uid']}) does not match the UID in record ({uid})."
        raise conflict(plural, name, "", why)
    claims: JsonObject = {bound["kind"].lower(): {"name": name, "uid": uid}}
    if bound["kind"] == "Pod":
        spec = found.object["spec"]
        if (spec.get("serviceAccountName") or "default") != target.name:
            raise bad_request(
                f'cannot bind token for serviceaccount "{target.name}" to pod running with different serviceaccount name.'
            )
        if spec.get("nodeName"):
            claims["node"] = {"name": spec["nodeName"]}
    return claims
