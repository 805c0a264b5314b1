"""The three patch documents of the Kubernetes API, as functions on JSON.

json_patch     RFC 6902: a list of operations, all or none
merge          RFC 7386: an object laid over an object, null deletes
strategic      Kubernetes': as merge, but lists merge by a key that the schema names, with directives

Each changes the target in place, which must be the caller's own, and may keep parts of the patch in it. A patch that
is no such document is a BadPatch, one that can't be applied to this target is an Unappliable.
"""

from __future__ import annotations

from kumi.api.errors import KumiError


class BadPatch(KumiError):
    """The document is not a patch."""


class Unappliable(KumiError):
    """The patch does not fit what is there: a test that fails, a path that is missing."""
