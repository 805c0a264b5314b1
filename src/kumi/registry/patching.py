"""A patch as it came with a request: which kind of patch it is, and how its failures are told.

The body is kept as bytes and read anew for every attempt: an attempt uses its patch up.
Not here   the three rules: kumi.registry.patch.
"""

from __future__ import annotations

import orjson

from kumi.api.errors import ApiError, bad_request
from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject
from kumi.registry.patch import BadPatch, Unappliable, json_patch, merge, strategic
from kumi.registry.patch.shape import shape_of
from kumi.registry.refusals import JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, unpatchable, unsupported_patch

_STATUS = frozenset(("metadata", "status"))
OPERATIONS = 10_000
"""Operations that a JSON patch may have."""


class Patch:
    """One patch; `content_type` may have parameters."""

    def __init__(self, content_type: str, body: object) -> None:
        self.content_type = content_type.partition(";")[0].strip().lower()
        self._body = orjson.dumps(body)
        self.is_of_status = self._is_of_status(self.content_type, body)
        """whether it can change nothing but the status, and plain members of metadata"""
        if self.content_type == JSON_PATCH and isinstance(body, list) and len(body) > OPERATIONS:
            what = f"The allowed maximum operations in a JSON patch is {OPERATIONS}, got {len(body)}"
            raise ApiError(413, "RequestEntityTooLarge", what)

    @staticmethod
    def _is_of_status(content_type: str, body: object) -> bool:
        if content_type not in (MERGE_PATCH, STRATEGIC_PATCH) or not isinstance(body, dict):
            return False
        found = body.get("metadata", {})
        return body.keys() <= _STATUS and isinstance(found, dict) and all(isinstance(v, str) for v in found.values())

    def mentions(self, word: str) -> bool:
        """Whether the word stands anywhere in the patch."""
        return word.encode() in self._body

    def check(self, kind: Kind) -> None:
        """ApiError 415 if the kind doesn't take this kind of patch."""
        taken = (JSON_PATCH, MERGE_PATCH, *((STRATEGIC_PATCH,) if kind.strategic else ()))
        if self.content_type not in taken:
            raise unsupported_patch(kind, self.content_type)

    def applied(self, kind: Kind, obj: JsonObject, definition: str = "") -> JsonObject:
        """The patch laid over `obj`, which is used up. `definition` is the schema of `obj` if not the kind's own.

        ApiError 400 for what is no patch, 422 for one that does not fit."""
        body = orjson.loads(self._body)
        try:
            if self.content_type == JSON_PATCH:
                return json_patch.apply(obj, body)
            if self.content_type == MERGE_PATCH:
                return merge.apply(obj, body)
            return strategic.apply(obj, body, shape_of(definition or kind.schema))
        except BadPatch as error:
            raise bad_request(str(error)) from error
        except Unappliable:
            raise unpatchable() from None
