"""Python generators: a file with a function that yields what happens.

    def events(seed):
        yield "create", {"apiVersion": "v1", "kind": "Node", ...}, 0
        while True:
            yield "create", job(...), random_gap()       # so many seconds after the one before
            yield "delete", job(...), 60

The rule   events(seed), with the arguments that the scenario gives by name, yields (verb, object, after): `create`, `update` or
           `delete`; a manifest as a mapping or as YAML text, or a Job of kumi.evaluator.model; seconds since the one before
           an update says what is different; a delete needs kind, name and namespace
Same       for equal seeds it must yield the same, each time: chance comes from the seed.
Errors     name the file and the number of the event.
Not here   what comes of the events: plays.py.
"""

from __future__ import annotations

import inspect
import runpy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kumi.api.errors import KumiError
from kumi.api.yaml import load_objects
from kumi.evaluator.model import Arrive, Job
from kumi.evaluator.scenarios.document import Part
from kumi.evaluator.scenarios.steps import VERBS, Moment, Source, Step, Told

FUNCTION = "events"


def source(part: Part, start_ms: int) -> list[Source]:
    """What the file yields that a part names. What is wrong is noted."""
    named, arguments = part, dict[str, Any]()
    if isinstance(part.value, dict):
        fields = part.fields("file", "arguments")
        named = fields["file"]
        arguments = {name: each.value for name, each in fields["arguments"].members().items()}
    path = part.document.beside(named.text())
    try:
        return [Generator(path, tuple(arguments.items()), start_ms).moments]
    except KumiError as error:
        named.wrong(str(error))
        return []


@dataclass(frozen=True)
class Generator:
    """The events of a file. KumiError: it can't be read, has no such function, or that takes other arguments."""

    path: Path
    arguments: tuple[tuple[str, Any], ...]
    start_ms: int

    def __post_init__(self) -> None:
        function, arguments = _function(self.path), dict(self.arguments)
        try:
            inspect.signature(function).bind(0, **arguments)
        except TypeError as error:
            raise KumiError(f"{self.path}: {FUNCTION}(seed, ...) can't be called so: {error}") from error

    def moments(self, seed: int) -> Iterator[Moment]:
        """What happens, by time. KumiError."""
        now_ms = float(self.start_ms)
        yielded = self._called(seed)
        number = 0
        while True:
            place = f"{self.path.name}, event {number + 1}"
            try:
                event = next(yielded, None)
            except (Exception, SystemExit) as error:
                raise KumiError(f"{place}: {type(error).__name__}: {error}") from error
            if event is None:
                return
            number += 1
            verb, what, after = _parts(event, place)
            now_ms += after * 1000
            yield from _moments(verb, what, int(now_ms), place)

    def _called(self, seed: int) -> Iterator[Any]:
        try:
            return iter(_function(self.path)(seed, **dict(self.arguments)))
        except KumiError:
            raise
        except (Exception, SystemExit) as error:
            raise KumiError(
                f"{self.path.name}: {FUNCTION} must yield (verb, object, seconds after): {type(error).__name__}: {error}"
            ) from error


def _function(path: Path) -> Callable[..., Any]:
    try:
        names: Mapping[str, Any] = runpy.run_path(str(path))
    except OSError as error:
        raise KumiError(f"{path} can't be read: {error.strerror or error}") from error
    except (Exception, SystemExit) as error:
        raise KumiError(f"{path} can't be run: {type(error).__name__}: {error}") from error
    function = names.get(FUNCTION)
    if not callable(function):
        raise KumiError(f"{path} has no function {FUNCTION}(seed): it yields (verb, object, seconds after)")
    found: Callable[..., Any] = function
    return found


def _parts(event: Any, place: str) -> tuple[str, Any, float]:
    if not isinstance(event, tuple | list) or len(event) != 3:
        raise KumiError(f"{place}: must be (verb, object, seconds after), not {event!r:.200}")
    verb, what, after = event
    if verb not in VERBS:
        raise KumiError(f"{place}: {verb!r} is no verb; it may be {', '.join(VERBS)}")
    if isinstance(after, bool) or not isinstance(after, int | float) or not 0 <= after < 2**40:
        raise KumiError(f"{place}: {after!r} are no seconds: write a number of 0 or more")
    return verb, what, after


def _moments(verb: Any, what: Any, at_ms: int, place: str) -> Iterator[Moment]:
    if isinstance(what, Job):
        if verb != "create":
            raise KumiError(f"{place}: a Job can only be created; it ends by itself")
        due = None if what.deadline_ms is None else what.deadline_ms - what.arrives_ms + at_ms
        yield Told(Arrive(replace(what, arrives_ms=at_ms, deadline_ms=due)))
        return
    if isinstance(what, str):
        try:
            objects = load_objects(what)
        except KumiError as error:
            raise KumiError(f"{place}: {error}") from error
    elif isinstance(what, dict):
        objects = [what]
    else:
        raise KumiError(
            f"{place}: {type(what).__name__} is no object: give a manifest, as a mapping or as YAML, or a Job"
        )
    for obj in objects:
        yield Step(at_ms, verb, obj, place)
