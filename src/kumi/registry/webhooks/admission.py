"""All webhooks that an operation is about, in order.

    mutating     one after another, configurations by name, webhooks as listed: each sees what the ones before made of the object;
                 if a later one changed it, those with reinvocationPolicy IfNeeded are asked once more
    validating   together: nothing depends on their order, and the first refusal in order answers
Cost       nothing but a look at the configurations (kept, by their newest revision) where no webhook is about the operation.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from kumi.api.scheme import Scheme
from kumi.api.user import AUTHENTICATED, User, service_account_groups, service_account_name
from kumi.api.wire import JsonObject
from kumi.registry.authorization.decisions import Decision, decide
from kumi.registry.authorization.live import LivePolicies
from kumi.registry.authorization.rules import Asked
from kumi.registry.custom.cel.authorizer import Answer
from kumi.registry.objects import Objects, prefix_of, with_managers
from kumi.registry.webhooks.calling import (
    ITSELF,
    Address,
    Caller,
    CallFailed,
    Refused,
    check_dry_run,
    failed,
    patched,
    response_in,
    review_of,
)
from kumi.registry.webhooks.conditions import ConditionFailed, hold
from kumi.registry.webhooks.matching import GROUP, SPOKEN, Operation, is_selected, version_for

Warn = Callable[[list[str]], None]


class Webhooks:
    """See the module. Without a caller nobody is asked."""

    def __init__(
        self,
        objects: Objects,
        scheme: Scheme,
        new_uid: Callable[[], str],
        caller: Caller | None,
        policies: LivePolicies,
    ) -> None:
        self._objects, self._scheme, self._new_uid, self._caller = objects, scheme, new_uid, caller
        self._policies = policies

    async def mutate(self, operation: Operation, warn: Warn) -> JsonObject | None:
        """The object as webhooks want it, None if they leave it alone. ApiError: refused."""
        hooks = self._about("MutatingWebhookConfiguration", operation)
        changed_by: int | None = None
        for number, hook in enumerate(hooks):
            operation, changed = await self._mutated(hook, operation, warn)
            changed_by = number if changed else changed_by
        last = changed_by
        for number, hook in enumerate(hooks):
            if last is not None and number < last and hook.get("reinvocationPolicy") == "IfNeeded":
                operation, _ = await self._mutated(hook, operation, warn)
        return None if changed_by is None else operation.new

    async def validate(self, operation: Operation, warn: Warn) -> None:
        """ApiError: refused."""
        hooks = self._about("ValidatingWebhookConfiguration", operation)
        if not hooks:
            return
        answers = await asyncio.gather(*(self._ask(hook, operation, warn) for hook in hooks), return_exceptions=True)
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer

    async def _mutated(self, hook: JsonObject, operation: Operation, warn: Warn) -> tuple[Operation, bool]:
        try:
            answer = await self._ask(hook, operation, warn)
            new = None if answer is None else patched(operation, answer[0], answer[1])
        except CallFailed as error:
            _ignored_or_raise(hook, error)
            new = None
        return (operation, False) if new is None else (replace(operation, new=new), True)

    async def _ask(self, hook: JsonObject, operation: Operation, warn: Warn) -> tuple[str, JsonObject] | None:
        """(the version that it saw, its response), None if it was not asked or need not have answered. ApiError: refused."""
        version = version_for(hook, operation)
        if version is None or self._caller is None:
            return None
        uid = self._new_uid()
        review = review_of(hook, _readable(operation), version, uid)
        try:
            conditions = hook.get("matchConditions")
            if conditions and not hold(conditions, review["request"], self._answer(operation)):
                return None
            check_dry_run(hook, operation)
            address = self._address(hook.get("clientConfig") or {})
            answer = await self._caller.call(address, review, float(hook.get("timeoutSeconds", 10)))
            response = response_in(answer, uid)
        except (CallFailed, ConditionFailed) as error:
            _ignored_or_raise(hook, error)
            return None
        warn([str(text) for text in response.get("warnings") or ()])
        if response.get("allowed") is not True:
            raise Refused(hook["name"], response.get("status") or {})
        return version, response

    def _answer(self, operation: Operation) -> Answer:
        """The authorizer of an operation's conditions: it speaks of the one who asks."""

        def answer(asked: Asked, account: tuple[str, str] | None) -> Decision:
            user = operation.user or ITSELF
            if account is not None:
                groups = (*service_account_groups(account[0]), AUTHENTICATED)
                user = User(service_account_name(*account), groups)
            return decide(self._policies.now(), user, asked)

        return answer

    def _about(self, kind: str, operation: Operation) -> Sequence[JsonObject]:
        """Those whose rules and selectors choose the operation, in order."""
        configurations = self._scheme.find(GROUP, kind)
        if configurations is None or self._caller is None or operation.target.kind.group == GROUP:
            return ()
        if operation.target.subresource in SPOKEN and operation.spoken is None:
            return ()  # they were asked about what was sent, of which this comes
        entries = self._objects.page(prefix_of(configurations, "")).entries
        if not entries:
            return ()
        labels = self._namespace_labels(operation)
        return [
            hook
            for entry in sorted(entries, key=lambda entry: entry.key)
            for hook in self._objects.found(entry).object.get("webhooks") or ()
            if version_for(hook, operation) is not None and is_selected(hook, operation, labels)
        ]

    def _namespace_labels(self, operation: Operation) -> dict[str, str] | None:
        kind = operation.target.kind
        if kind.kind == "Namespace" and not kind.group:
            return next(operation.labels(), {})
        namespaces = self._scheme.find("", "Namespace")
        if not kind.namespaced or namespaces is None:
            return None
        found = self._objects.get(namespaces, "", operation.namespace)
        return (found.object["metadata"].get("labels") or {}) if found else {}

    def _address(self, client: JsonObject) -> Address:
        """Where to ask; a service is where its first ready endpoint is. CallFailed: there is none."""
        authority = base64.b64decode(client.get("caBundle") or "").decode(errors="replace")
        if client.get("url"):
            parts = urlsplit(client["url"])
            host = parts.hostname or ""
            return Address(host, parts.port or 443, host, parts.path or "/", authority)
        service = client.get("service") or {}
        name, namespace, port = service.get("name", ""), service.get("namespace", ""), service.get("port", 443)
        host, at = self._endpoint(namespace, name, port)
        return Address(host, at, f"{name}.{namespace}.svc", service.get("path") or "/", authority)

    def _endpoint(self, namespace: str, name: str, port: int) -> tuple[str, int]:
        services, endpoints = self._scheme.find("", "Service"), self._scheme.find("", "Endpoints")
        assert services is not None
        assert endpoints is not None
        service = self._objects.get(services, namespace, name)
        if service is None:
            raise CallFailed(f'service "{name}" not found')
        ports: list[Any] = service.object["spec"].get("ports") or []
        wanted = next((each for each in ports if each["port"] == port), None)
        if wanted is None:
            raise CallFailed(f'no service port {port} found for service "{name}"')
        found = self._objects.get(endpoints, namespace, name)
        for subset in (found.object.get("subsets") or ()) if found else ():
            for each in subset.get("ports") or ():
                if subset.get("addresses") and each.get("name", "") == wanted.get("name", ""):
                    return subset["addresses"][0]["ip"], each["port"]
        raise CallFailed(f'no endpoints available for service "{name}"')


def _readable(operation: Operation) -> Operation:
    """With managers that can be read, as a webhook's patch may touch them."""
    if operation.spoken:
        return operation
    new = None if operation.new is None else with_managers(operation.new)
    old = None if operation.old is None else with_managers(operation.old)
    return replace(operation, new=new, old=old)


def _ignored_or_raise(hook: JsonObject, error: Exception) -> None:
    if hook.get("failurePolicy", "Fail") != "Ignore":
        raise failed(hook, str(error)) from error
