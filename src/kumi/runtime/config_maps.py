"""Config maps: a policy that is a value of a ConfigMap, as the installers of Volcano and Kueue have it.

The rule   the value is that of volcano-scheduler.conf, of controller_manager_config.yaml, or the only one that there is; what it
           says is the policy, as if it stood in a file of its own
Lines      those of the file around it: a value that is written as a block (`|`) has its own ones; of any other style all of it
           is on the line on which it begins, and of one that comes by a merge key (`<<`) on that of the ConfigMap.
Errors     KumiError, with the line in the file.
Not here   what a policy says: kumi.engine.policy; which file: policy_files.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from kumi.api.errors import KumiError

if TYPE_CHECKING:
    import yaml

KEYS = ("volcano-scheduler.conf", "controller_manager_config.yaml")
"""what Volcano's and Kueue's installers call it"""


@dataclass(frozen=True, slots=True)
class Inner:
    """`raw`: what the value says; `text`: it, so far down that its lines are those of the file around it."""

    raw: Any
    text: bytes


def is_config_map(raw: Any) -> bool:
    """Is this document a ConfigMap?"""
    return isinstance(raw, Mapping) and raw.get("kind") == "ConfigMap" and raw.get("apiVersion") == "v1"


def unwrapped(raw: Mapping[str, Any], text: bytes, document: int = 0) -> Inner:
    """The policy in a ConfigMap, which is that document of `text`. KumiError."""
    import yaml

    from kumi.api.yaml import load_all

    data, root = raw.get("data"), _root(text, document)
    written = _member(root, "data")
    key = _key(data if isinstance(data, Mapping) else {})
    if key is None:
        names = " or ".join(KEYS)
        line = (written or root).start_mark.line + 1
        raise KumiError(f"  line {line}: data: a ConfigMap holds a policy as its only value, or as {names}")
    node = _member(written, key) or root
    line, is_block = node.start_mark.line + 1, isinstance(node, yaml.ScalarNode) and node.style == "|"
    inner = b"\n" * (line if is_block else 0) + str(raw["data"][key]).encode()
    try:
        documents = list(load_all(inner))
    except KumiError as error:
        where = f'data["{key}"]' if is_block else f'data["{key}"], whose line 1 this is'
        raise KumiError(f"  line {line}: {where}: {error}") from error
    if len(documents) > 1:
        raise KumiError(f'  line {line}: data["{key}"]: must be one document, not {len(documents)}')
    said = documents[0] if documents else None
    return Inner(said, inner if is_block else b"\n" * (line - 1) + json.dumps(said).encode())


def _key(data: Mapping[str, Any]) -> str | None:
    texts = [key for key, value in data.items() if isinstance(value, str)]
    return next((key for key in KEYS if key in texts), texts[0] if len(texts) == 1 else None)


def _root(text: bytes, document: int) -> yaml.Node:
    from kumi.api.yaml import roots

    return next(islice(roots(text), document, None))  # there is one: `raw` is what it says


def _member(node: yaml.Node | None, name: str) -> yaml.Node | None:
    """The value of a member; None: nothing of that name is written there."""
    import yaml

    members = node.value if isinstance(node, yaml.MappingNode) else ()
    return next((value for key, value in members if key.value == name), None)
