"""Reviews: questions about users, answered from the rules and from what proves who one is. A create is the question; the
answer is the same object with a status.

    TokenReview                 whom a token is of, and for which of the asked audiences it is
    SelfSubjectReview           who asks
    SubjectAccessReview         may that user do that; LocalSubjectAccessReview: in this namespace;
    SelfSubjectAccessReview     may the one who asks
    SelfSubjectRulesReview      everything that the one who asks may do in a namespace
Refused    422 what does not say exactly one thing to decide about, or about nobody; 400 a question without its subject
Source     Kubernetes: authorization overview (checking API access), authenticating; its behaviour as recorded.
Not here   whether one may ask: that is decided like any other create.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from kumi.api import reviews
from kumi.api.errors import ApiError, FieldError, bad_request
from kumi.api.meta import format_time
from kumi.api.user import AUTHENTICATED, MASTERS, User
from kumi.api.wire import JsonObject
from kumi.apiserver.authentication import AUDIENCE, Known, TokenSource
from kumi.registry import incoming
from kumi.registry.authorization.decisions import decide, rules_of
from kumi.registry.authorization.rules import Asked
from kumi.registry.refusals import invalid_as
from kumi.registry.registry import Registry
from kumi.registry.requests import Target, WriteOptions

UNGUARDED = User("system:unsecured", (MASTERS, AUTHENTICATED))
"""who asks where nobody has to prove anything"""
_ATTRIBUTES = ("resourceAttributes", "nonResourceAttributes")
Answer = Callable[[User, Target, JsonObject], JsonObject]


class _Question(NamedTuple):
    """What an access review is about: a user, None where it is the one who asks."""

    user: User | None
    asked: Asked


class Reviews:
    """Answers them. `sources` know tokens."""

    def __init__(self, registry: Registry, sources: Sequence[TokenSource], clock_ms: Callable[[], int]) -> None:
        self._registry, self._sources, self._clock_ms = registry, tuple(sources), clock_ms
        self._answers: dict[str, Answer] = {
            reviews.TOKEN_REVIEW.kind: self._token,
            reviews.SELF_SUBJECT_REVIEW.kind: self._self,
            reviews.SUBJECT_ACCESS_REVIEW.kind: self._access,
            reviews.LOCAL_SUBJECT_ACCESS_REVIEW.kind: self._access,
            reviews.SELF_SUBJECT_ACCESS_REVIEW.kind: self._access,
            reviews.SELF_SUBJECT_RULES_REVIEW.kind: self._rules,
        }

    def answer(self, user: User | None, target: Target, body: JsonObject, options: WriteOptions) -> JsonObject:
        """The review with its status. ApiError 400, 422."""
        said = incoming.read(target, body, options)
        if target.namespace:
            incoming.check_place(target, said)
        review = {"kind": target.kind.kind, "apiVersion": target.kind.api_version, "metadata": said["metadata"]}
        if "spec" in said:
            review["spec"] = said["spec"]
        review["status"] = self._answers[target.kind.kind](user or UNGUARDED, target, review)
        return review

    def _self(self, user: User, _target: Target, review: JsonObject) -> JsonObject:
        review["metadata"] = {"creationTimestamp": format_time(self._clock_ms())}
        return {"userInfo": user.info()}

    def _token(self, _user: User, _target: Target, review: JsonObject) -> JsonObject:
        spec = review.get("spec") or {}
        token = spec.get("token", "")
        if not token:
            raise bad_request("token is required for TokenReview in authentication")
        asked = tuple(spec.get("audiences") or ())
        answers = (source.knows(token, asked or (AUDIENCE,)) for source in self._sources)
        found: Known | None = next((answer for answer in answers if answer is not None), None)
        if found is None:
            return {"user": {}, "error": "the token is not known, or not for these audiences"}
        status: JsonObject = {"authenticated": True, "user": found.user.info()}
        if asked:
            status["audiences"] = list(found.audiences)
        return status

    def _access(self, user: User, target: Target, review: JsonObject) -> JsonObject:
        question = _question(target, review)
        decision = decide(self._registry.policies, question.user or user, question.asked)
        status: JsonObject = {"allowed": decision.allowed}
        if decision.reason:
            status["reason"] = decision.reason
        return status

    def _rules(self, user: User, _target: Target, review: JsonObject) -> JsonObject:
        namespace = review.setdefault("spec", {}).get("namespace", "")
        if not namespace:
            raise bad_request("no namespace on request")
        rules, missing = rules_of(self._registry.policies, user, namespace)
        status: JsonObject = {
            "resourceRules": [rule.wire() for rule in rules if rule.resources],
            "nonResourceRules": [rule.wire() for rule in rules if rule.urls],
            "incomplete": False,
        }
        if missing:
            status["evaluationError"] = missing
        return status


def _question(target: Target, review: JsonObject) -> _Question:
    spec = review.setdefault("spec", {})
    errors = _wrong_attributes(spec)
    about_self = target.kind is reviews.SELF_SUBJECT_ACCESS_REVIEW
    if not about_self and not spec.get("user") and not spec.get("groups"):
        errors.append(FieldError("spec.user", "at least one of user or group must be specified", value=""))
    if target.kind is reviews.LOCAL_SUBJECT_ACCESS_REVIEW:
        errors += _wrong_place(target.namespace, spec)
    if set(review["metadata"]) - {"namespace", "creationTimestamp"}:
        errors.append(FieldError("metadata", "must be empty except for namespace"))
    if errors:
        raise _invalid(errors)
    user = None if about_self else _subject(spec)
    resource = spec.get("resourceAttributes")
    if resource is None:
        path = spec["nonResourceAttributes"]
        return _Question(user, Asked(path.get("verb", ""), path=path.get("path", "") or "/"))
    words = [resource.get(key, "") for key in ("verb", "group", "resource", "subresource", "namespace", "name")]
    verb, group, plural, subresource, namespace, name = words
    what = f"{plural}/{subresource}" if subresource else plural
    return _Question(user, Asked(verb, group, what, namespace, name))


def _subject(spec: JsonObject) -> User:
    extra = sorted((key, tuple(values or ())) for key, values in (spec.get("extra") or {}).items())
    return User(spec.get("user", ""), tuple(spec.get("groups") or ()), spec.get("uid", ""), tuple(extra))


def _wrong_attributes(spec: JsonObject) -> list[FieldError]:
    given = [key for key in _ATTRIBUTES if spec.get(key) is not None]
    if len(given) == 1:
        return []
    if not given:
        detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        return [FieldError("spec.resourceAttributes", detail)]
    detail = "cannot be specified in combination with resourceAttributes"
    return [FieldError("spec.nonResourceAttributes", detail)]


def _wrong_place(namespace: str, spec: JsonObject) -> list[FieldError]:
    errors = []
    if spec.get("nonResourceAttributes") is not None:
        detail = "disallowed on this kind of request"
        errors.append(FieldError("spec.nonResourceAttributes", detail))
    asked = (spec.get("resourceAttributes") or {}).get("namespace", "")
    if asked != namespace:
        errors.append(FieldError("spec.resourceAttributes.namespace", "must match metadata.namespace", value=asked))
    return errors


def _invalid(errors: list[FieldError]) -> ApiError:
    return invalid_as("", reviews.AUTHORIZATION, "", errors)
