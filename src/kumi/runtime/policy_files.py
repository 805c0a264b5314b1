"""Policy files: a policy, a Configuration of Kueue's or a scheduler file of Volcano's, read from disk and checked.

The rule   one document, YAML or JSON; the plug-ins that it names are Python files beside it (plugin_files.py)
           a ConfigMap that holds one of these is what it holds (config_maps.py)
           what it says in vain is told with its line by whoever reads it (Profile.vain)
Errors     KumiError with the path; of what can be read and is wrong every field at once, one a line, with its line in the file,
           in the order of these.
Not here   what the fields mean: kumi.engine.policy.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kumi.api.errors import FieldError, KumiError
from kumi.runtime.config_maps import Inner, is_config_map, unwrapped

if TYPE_CHECKING:
    import yaml

    from kumi.engine.model import Profile


def read_policy(path: Path | None) -> Profile:
    """The profile that the file asks for; the default where there is none. KumiError."""
    from kumi.api.yaml import load_all

    if path is None:
        return checked(None, path)
    try:
        text = path.read_bytes()
        documents = list(load_all(text))
    except (OSError, KumiError) as error:
        raise KumiError(f"the policy {path} can't be read: {error}") from error
    if len(documents) > 1:
        raise KumiError(f"the policy {path} must be one document, not {len(documents)}")
    return checked(documents[0] if documents else None, path, text)


def checked(
    raw: Any, path: Path | None, text: bytes = b"", *, document: int = 0, plugins: Sequence[Path] = ()
) -> Profile:
    """The profile that the policy `raw` asks for, which is what that document of the file says in `text`. `plugins`: files of
    plug-ins besides those that it names. KumiError."""
    from kumi.engine.policy import PolicyError, odd, parse, plugin_files
    from kumi.runtime.plugin_files import others

    if text and is_config_map(raw):
        inner = opened(raw, path, text, document)
        return checked(inner.raw, path, inner.text, plugins=plugins)
    named = [path.parent / file for file in plugin_files(raw)] if path is not None else []
    made = {one.name: one.made for one in others([*named, *plugins])}
    try:
        profile = parse(raw, made)
    except PolicyError as error:
        lines = "\n".join(f"  line {line}: {wrong.text()}" for line, wrong in _by_line(error.errors, text, document))
        raise KumiError(f"the policy {path} is wrong:\n{lines}") from error
    vain = tuple(
        f"the policy {path}{f', line {line}' if text else ''}: {one.path}: {one.detail}"
        for line, one in _by_line(odd(raw, made), text, document)
    )
    return replace(profile, vain=vain) if vain else profile


def _by_line(errors: Iterable[FieldError], text: bytes, document: int) -> list[tuple[int, FieldError]]:
    found = [(line_of(text, error.path, document), error) for error in errors]
    return sorted(found, key=lambda pair: pair[0])


def opened(raw: Mapping[str, Any], path: Path | None, text: bytes, document: int = 0) -> Inner:
    """The policy that a ConfigMap holds, which is that document of the file. KumiError."""
    try:
        return unwrapped(raw, text, document)
    except KumiError as error:
        raise KumiError(f"the policy {path} is wrong:\n{error}") from error


def line_of(text: bytes, path: str, document: int = 0) -> int:
    """The line of a field (`tiers[0].plugins[1].name`) of a document; where it isn't there, of what is nearest above it."""
    from kumi.api.yaml import roots

    node = next(islice(roots(text), document, None), None)
    line = node.start_mark.line + 1 if node is not None else 1
    words = re.findall(r"[^.\[\]]+", path)
    while words:  # a name may have dots itself
        steps = ((_below(node, ".".join(words[:taken])), taken) for taken in range(len(words), 0, -1))
        step, taken = next(((found, taken) for found, taken in steps if found is not None), (None, 0))
        if step is None:
            break
        (line, node), words = step, words[taken:]
    return line


def _below(node: Any, word: str) -> tuple[int, yaml.Node] | None:
    """The line and the value of a member or an item."""
    import yaml

    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == word:
                return key.start_mark.line + 1, value
    elif isinstance(node, yaml.SequenceNode) and word.isdecimal() and int(word) < len(node.value):
        item = node.value[int(word)]
        return item.start_mark.line + 1, item
    return None
