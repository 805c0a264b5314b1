"""ControllerRevisions: what the template of a StatefulSet or a DaemonSet was, each under a name and a number.

The rule   the revision of the present template is the newest object that holds it, else a new one is made
           a new one is named `<owner>-<10 letters of a digest of the template>`; where another template has that name, the
           next digest is taken
           its number is above all others; an old template that is put back gets such a number again, so that the newest
           number is always that of the present template (`kubectl rollout undo` goes by it)
           what no pod is of goes beyond the limit, the smallest numbers first
Data       a patch of the owner: applied to it, it puts the template back.
Source     Kubernetes: ControllerRevision, rolling back a DaemonSet.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from kumi.api.apps import ControllerRevision
from kumi.api.meta import Object, owner_reference
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject
from kumi.jobs.pod_names import letters
from kumi.runtime.reconcile import Create, Delete, Patch, Write

HASH = "controller-revision-hash"
"""the label of a pod that says which revision it is of"""
HISTORY = 10
NOTED = "kubectl.kubernetes.io/last-applied-configuration"


@dataclass(frozen=True)
class Revision:
    """A template under a name."""

    name: str
    number: int
    template: JsonObject

    @classmethod
    def of(cls, stored: ControllerRevision) -> Revision:
        """As an object holds it."""
        data = stored.data if isinstance(stored.data, dict) else {}
        template = dict((data.get("spec") or {}).get("template") or {})
        template.pop("$patch", None)
        return cls(stored.metadata.name, stored.revision, template)

    @property
    def hash(self) -> str:
        """The digest in its name."""
        return self.name.rpartition("-")[2]

    def made(self, owner: Object, labels: Mapping[str, str]) -> JsonObject:
        """The object that will hold it; `labels` besides those of the template."""
        kind, meta = SCHEME.of(type(owner)), owner.metadata
        notes = {key: value for key, value in meta.annotations.items() if key != NOTED}
        return {
            "apiVersion": "apps/v1",
            "kind": "ControllerRevision",
            "metadata": {
                "name": self.name,
                "namespace": meta.namespace,
                "labels": {**((self.template.get("metadata") or {}).get("labels") or {}), **labels},
                **({"annotations": notes} if notes else {}),
                "ownerReferences": [owner_reference(owner, kind.api_version, kind.kind)],
            },
            "revision": self.number,
            "data": {"spec": {"template": {**self.template, "$patch": "replace"}}},
        }


def revision_of(owner: Object, template: JsonObject, stored: Sequence[ControllerRevision]) -> Revision:
    """The revision of that template, with the number that it should have."""
    newest = max((each.revision for each in stored), default=0)
    text = json.dumps(template, sort_keys=True)
    held = [each for each in map(Revision.of, stored) if json.dumps(each.template, sort_keys=True) == text]
    if held:
        found = max(held, key=lambda each: (each.number, each.name))
        return found if found.number == newest else Revision(found.name, newest + 1, found.template)
    taken = {each.metadata.name for each in stored}
    for number in range(len(taken) + 1):
        name = f"{owner.metadata.name}-{letters(text + (str(number) if number else ''), 10)}"
        if name not in taken:
            return Revision(name, newest + 1, template)
    raise AssertionError("one name more than there are revisions is free")


def kept(
    revision: Revision, owner: Object, stored: Sequence[ControllerRevision], labels: Mapping[str, str]
) -> Write | None:
    """The write after which an object holds the revision under its number; None: one does."""
    found = next((each for each in stored if each.metadata.name == revision.name), None)
    if found is None:
        return Create(revision.made(owner, labels))
    if found.revision == revision.number:
        return None
    body = {"metadata": {"resourceVersion": found.metadata.resource_version}, "revision": revision.number}
    return Patch(SCHEME.of(ControllerRevision), found.metadata.namespace, found.metadata.name, body)


def surplus(stored: Sequence[ControllerRevision], used: Collection[str], limit: int | None) -> list[Write]:
    """Removes those that are not in use (by name), beyond the limit."""
    idle = sorted(
        (each for each in stored if each.metadata.name not in used), key=lambda each: (each.revision, each.key)
    )
    gone = idle[: max(0, len(idle) - (HISTORY if limit is None else limit))]
    kind = SCHEME.of(ControllerRevision)
    return [Delete(kind, each.metadata.namespace, each.metadata.name, each.metadata.uid) for each in gone]
