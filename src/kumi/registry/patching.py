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

OPERATIONS = 10_000
"""Operations that a JSON patch may have."""


class Patch:
    """One patch; `content_type` may have parameters."""

    def __init__(self, content_type: str, body: object) -> None:
        self.content_type = content_type.partition(";")[0].strip().lower()
        self._body = orjson.dumps(body)
        if self.content_type == JSON_PATCH and isinstance(body, list) and len(body) > OPERATIONS:
            what = f"The allowed maximum operations in a JSON patch is {OPERATIONS}, got {len(body)}"
            raise ApiError(413, "RequestEntityTooLarge", what)

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
