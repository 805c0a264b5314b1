"""How Kubernetes' own kinds are written in protobuf: each message's fields by number, read once when first asked for.

Messages have the names of the definitions that say the same in JSON (`io.k8s.api.core.v1.PodSpec`). No message holds
itself, however deep: what is written in them nests no deeper than they do.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import orjson

Form: TypeAlias = Literal["", "by value", "unless zero", "list", "map"]


class MessageField(NamedTuple):
    """One field. `name` is the one in JSON; "" says that the fields of the part stand among those of the whole.

    `type` is another message, or: text, bool, int32, int64, bytes, quantity, `int or text`, time, `micro time`, `fields`
    (which fields a manager owns, as JSON). `form` says whether it is one value that may be absent, one that its object always
    has, one that JSON leaves out when it is zero, a list, or a map from text."""

    name: str
    type: str
    form: Form


Message: TypeAlias = dict[int, MessageField]
"""field number -> field"""


@cache
def _data() -> dict[str, Any]:
    data: dict[str, Any] = orjson.loads(Path(__file__).with_name("protobuf.json").read_bytes())
    return data


@cache
def messages() -> dict[str, Message]:
    """All of them, by name."""
    return {
        name: {int(number): MessageField(*field) for number, field in fields.items()}
        for name, fields in _data()["messages"].items()
    }


def message_of(api_version: str, kind: str) -> str:
    """The name of a kind's message; "" if it has none. DeleteOptions belong to every group."""
    kinds: dict[str, str] = _data()["kinds"]
    return kinds.get(f"{'v1' if kind == 'DeleteOptions' else api_version} {kind}", "")
