"""What is sent to a subresource, as webhooks let it in: the object sent is reviewed, not the one that it acts on.

    pods/binding, pods/eviction, serviceaccounts/token     CREATE, with the Binding, Eviction, TokenRequest
    */scale                                                UPDATE, with the Scale as it is to be and as it is
    pods/exec, pods/attach, pods/portforward               CONNECT, with the options
Source     Kubernetes: dynamic admission control (rules, operations).
Not here   status and finalize, which are written like the object itself: kumi.registry.writing.
"""

from __future__ import annotations

from dataclasses import replace

from kumi.api.errors import not_found
from kumi.api.wire import JsonObject
from kumi.registry.environment import Environment
from kumi.registry.requests import Target, WriteOptions
from kumi.registry.webhooks.matching import SPOKEN, Operation


async def reviewed(
    env: Environment, verb: str, target: Target, sent: JsonObject, options: WriteOptions, old: JsonObject | None = None
) -> JsonObject:
    """What was sent, as webhooks want it. ApiError: refused."""
    said: JsonObject = {"kind": f"{verb.capitalize()}Options", "apiVersion": "meta.k8s.io/v1"}
    if options.dry_run:
        said["dryRun"] = ["All"]
    place = target.namespace, target.name
    spoken = SPOKEN[target.subresource]
    operation = Operation(verb, target, *place, sent, old, options.user, options.dry_run, said, spoken)
    mutated = await env.webhooks.mutate(operation, options.warn)
    new = sent if mutated is None else mutated
    await env.webhooks.validate(replace(operation, new=new), options.warn)
    return new


async def connected(env: Environment, target: Target, query: JsonObject, options: WriteOptions) -> JsonObject:
    """The options with which somebody may be connected to a pod, as webhooks want them. ApiError: refused, or no such pod."""
    if env.objects.get(target.kind, target.namespace, target.name) is None:
        raise not_found(target.kind.plural, target.name, target.kind.group)
    spoken = SPOKEN[target.subresource]
    sent = {"kind": spoken.kind, "apiVersion": spoken.version, **query}
    said = await reviewed(env, "CONNECT", target, sent, options)
    return {key: value for key, value in said.items() if key not in ("kind", "apiVersion")}
