"""PATCH with an apply: creates the object or changes it, in the name of a manager.

Config     must name its apiVersion, kind and (to create) name, may carry no managed fields, and has only fields of its kind,
           whatever field validation was asked for; what this request may not write (the status, for the object; the spec, for
           its status) is passed over, and becomes nobody's
Before     an object whose fields nobody manages yet: all it has belongs to `before-first-apply`, so that nothing is taken
           silently
Then       the result is written as any update is (kumi.registry.writing): default, admit, validate, put, if nobody was faster
Status     400  no configuration, another version, an unknown field, an item without keys
           403  the object is not there, and this user may not create it
           404  of a status or scale whose object is not there
           409  conflicts with other managers, or the resourceVersion that the configuration names is old
Source     Kubernetes: server-side apply; its behaviour as recorded.
"""

from __future__ import annotations

from dataclasses import replace

from kumi.api import fields
from kumi.api.errors import ApiError, bad_request, not_found
from kumi.api.scheme import Kind
from kumi.api.shapes import shape_of
from kumi.api.wire import JsonObject
from kumi.registry import incoming, versions
from kumi.registry.apply import last_applied
from kumi.registry.apply.apply import Applied, Config, Conflicting, apply, first, refusal
from kumi.registry.apply.elements import Unnameable
from kumi.registry.apply.managers import Entries, Manager, decode
from kumi.registry.apply.tracking import Written, manager_of, note, tracked
from kumi.registry.authorization.escalation import check_create
from kumi.registry.environment import Environment
from kumi.registry.objects import MANAGED, Found, clone, managed_text
from kumi.registry.requests import Target, WriteOptions
from kumi.registry.subresources import scale
from kumi.registry.subresources.reviewed import reviewed
from kumi.registry.writing import ROUNDS, Prepare, Wanted, Writing

BEFORE = "before-first-apply"
_IDENTITY = ("name", "namespace", "uid", "resourceVersion")
_NOT_THROUGH_STATUS = ("ownerReferences", "deletionTimestamp", "deletionGracePeriodSeconds")


class Applying:
    """The verb."""

    def __init__(self, env: Environment, writing: Writing) -> None:
        self._env, self._writing = env, writing

    async def apply(self, target: Target, body: object, options: WriteOptions) -> JsonObject:
        """The object as it is now, in the caller's version, or its scale. ApiError 400, 403, 404, 409, 422."""
        if target.subresource == "scale":
            body = await self._scale(target, body, options)
            one = _One(self._env, target, scale_config(target, body, options), options)
            stored = await self._change(target, one, options)
            return scale.read(target.kind, stored)
        said = checked(target, body)
        named = bool(said["metadata"].get("name"))
        incoming.check_place(target, said)
        config = Config(target.kind, writable(target, said), manager_of(target, options, "Apply"))
        for _ in range(ROUNDS):
            there = self._env.objects.get(target.kind, target.namespace, target.name)
            try:
                if there is not None:
                    stored = await self._change(target, _One(self._env, target, config, options), options)
                    return versions.from_stored(target.kind, target.version, stored)
                if target.subresource:
                    raise not_found(target.kind.plural, target.name, target.kind.group)
                if not named:
                    raise bad_request("the name of the object (based on URL) was undeterminable: name must be provided")
                return await self._create(target, config, options)
            except ApiError as error:
                if error.reason != ("NotFound" if there is not None else "AlreadyExists") or target.subresource:
                    raise
        raise not_found(target.kind.plural, target.name, target.kind.group)

    async def _create(self, target: Target, config: Config, options: WriteOptions) -> JsonObject:
        try:
            entries = first(config, self._env.now())
        except Unnameable as error:
            raise _untyped(target, str(error)) from error
        new = clone(config.object)
        new["metadata"].pop("resourceVersion", None)
        if uid := new["metadata"].pop("uid", ""):
            raise _no_such_uid(target, uid)
        check_create(self._env.policies.now(), options.user, target.kind, target.namespace, target.name)
        return await self._writing.create(target, new, options, lambda obj, _: note(obj, entries))

    async def _change(self, target: Target, one: _One, options: WriteOptions) -> JsonObject:
        through = target if target.subresource == "status" else replace(target, subresource="")
        prepare: Prepare = self._writing.prepare(through, options, lambda new, _: note(new, one.entries))
        wanted: Wanted = one.wanted
        return await self._writing.change(target, wanted, prepare, options)

    async def _scale(self, target: Target, body: object, options: WriteOptions) -> object:
        """A configuration of a scale as webhooks let it in."""
        there = self._env.objects.get(target.kind, target.namespace, target.name)
        if there is None:
            raise not_found(target.kind.plural, target.name, target.kind.group)
        if not isinstance(body, dict) or "replicas" not in (body.get("spec") or {}):
            return body
        now = scale.read(target.kind, there.object, target.version)
        said = await reviewed(self._env, "UPDATE", target, {**now, "spec": body["spec"]}, options, now)
        return {**body, "spec": said.get("spec") or {}}


class _One:
    """One apply to an object that is there; it may be tried more than once."""

    def __init__(self, env: Environment, target: Target, config: Config, options: WriteOptions) -> None:
        self._env, self._target, self._config, self._options = env, target, config, options
        self.entries: Entries = ()

    def wanted(self, found: Found) -> JsonObject:
        """The object as it is to be, in the stored version, the caller's own."""
        target, config = self._target, self._config
        try:
            applied = self._applied(found.object)
        except Unnameable as error:
            raise _untyped(target, str(error)) from error
        except Conflicting as error:
            raise refusal(error.conflicts) from error
        self.entries = applied.entries
        obj = applied.object
        if config.manager.name == last_applied.MANAGER:
            last_applied.renewed(obj, config.object)
        new = incoming.read(replace(target, subresource=""), clone(obj), self._options, found.object)
        incoming.check_place(target, new)
        return new

    def _applied(self, live: JsonObject) -> Applied:
        config, force, now = self._config, self._options.force, self._env.now()
        entries = decode(managed_text(live["metadata"].get(MANAGED))) or self._before(live, now)
        try:
            return apply(live, entries, config, now, force=force)
        except Conflicting as error:
            if config.manager.name != last_applied.MANAGER:
                raise
            shape = shape_of(config.kind, self._target.version)
            spoken = versions.from_stored(config.kind, self._target.version, live)
            allowed = last_applied.allowed(shape, spoken, config.manager.api_version)
            left = [conflict for conflict in error.conflicts if conflict.path not in allowed]
            if left:
                raise Conflicting(left) from error
            return apply(live, entries, config, now, force=True)

    def _before(self, live: JsonObject, now: str) -> Entries:
        """Who manages an object of which nobody manages anything."""
        manager = Manager(BEFORE, "Update", self._config.manager.api_version)
        return tracked(Written(self._config.kind, None, live), (), manager, now)


def checked(target: Target, body: object) -> JsonObject:
    """A configuration, its values of the right types and canonical, without nulls. ApiError 400, for custom kinds 422 too.

    What a whole object must have, and the bounds of its values, are looked at once it is one."""
    kind, expected = target.kind, versions.api_version(target.kind, target.version)
    if not isinstance(body, dict):
        raise bad_request("error decoding YAML: an apply must be an object")
    if body.get("kind") != kind.kind:
        raise bad_request(f"invalid object type: {body.get('apiVersion', '')}, Kind={body.get('kind', '')}")
    if body.get("apiVersion") != expected:
        raise bad_request(
            "Incorrect version specified in apply patch. "
            f"Specified patch version: {body.get('apiVersion', '')}, expected: {expected}"
        )
    found = body.get("metadata")
    if isinstance(found, dict) and found.get(MANAGED) is not None:
        raise bad_request("metadata.managedFields must be nil")
    looked_at = fields.check(kind, target.version, {**body, "metadata": {} if found is None else found})
    wrong = [error for error in looked_at.errors if error.type == "FieldValueTypeInvalid"]
    if wrong:
        raise fields.refusal(kind, target.version, body, wrong)
    if looked_at.unknown:
        raise _untyped(target, ", ".join(f".{path}: field not declared in schema" for path in looked_at.unknown))
    return looked_at.object


def writable(target: Target, config: JsonObject) -> JsonObject:
    """The part of a configuration that this request may write."""
    kind: Kind = target.kind
    if not target.subresource:
        dropped = ("status",) if "status" in kind.subresources_in(target.version) else ()
        return {key: value for key, value in config.items() if key not in dropped}
    metadata = config["metadata"]
    if kind.custom:
        kept = {key: metadata[key] for key in _IDENTITY if key in metadata}
    else:
        kept = {key: value for key, value in metadata.items() if key not in _NOT_THROUGH_STATUS}
    out = {"apiVersion": config["apiVersion"], "kind": config["kind"], "metadata": kept}
    return {**out, "status": config["status"]} if "status" in config else out


def scale_config(target: Target, body: object, options: WriteOptions) -> Config:
    """The configuration of the object that a configuration of its scale stands for."""
    if not isinstance(body, dict) or body.get("kind") != "Scale":
        raise bad_request("error decoding YAML: an apply to a scale must be a Scale")
    said = body.get("metadata") or {}
    if said.get(MANAGED) is not None:
        raise bad_request("metadata.managedFields must be nil")
    kind = target.kind
    metadata = {key: said[key] for key in _IDENTITY if key in said}
    metadata.setdefault("name", target.name)
    config: JsonObject = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata}
    if (body.get("spec") or {}).get("replicas") is not None:
        scale.put(kind, config, scale.replicas_of(target, body))
    manager = manager_of(replace(target, version=""), options, "Apply")
    return Config(kind, config, manager)


def _untyped(target: Target, why: str) -> ApiError:
    where = "/".join(filter(None, (target.namespace, target.name)))
    version = versions.api_version(target.kind, target.version)
    return bad_request(f"failed to create typed patch object ({where}; {version}, Kind={target.kind.kind}): {why}")


def _no_such_uid(target: Target, uid: str) -> ApiError:
    kind = target.kind
    where = f"{kind.plural}.{kind.group}" if kind.group else kind.plural
    why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
    message = f'Operation cannot be fulfilled on {where} "{target.name}": {why}'
    return ApiError(409, "Conflict", message, kind=kind.plural, group=kind.group, name=target.name)
