"""Python generators: a file with a function that yields what happens.

    def events(seed):
        yield "create", {"apiVersion": "v1", "kind": "Node", ...}, 0
        while True:
            yield "create", job(...), random_gap()       # so many seconds after the one before
            yield "delete", job(...), 60

The rule   events(seed), with the arguments that the scenario gives by name, yields (verb, object, after): `create`, `update` or
           `delete`; a manifest as a mapping or as YAML text, or a Job of kumi.evaluator.model; seconds since the one before
           an update says what is different; a delete needs kind, name and namespace
Same       for equal seeds it must yield the same, each time: chance comes from the seed (random.Random(seed), or NumPy's
           default_rng(seed)), never from the clock or from a generator that nobody seeded.
Modules    that stand beside the file can be imported, as by a script. Each run has its own: none of two folders' is in the
           other's way, and one that has changed is read again.
Errors     name the file and the number of the event.
Not here   what comes of the events: plays.py.
"""

from __future__ import annotations

import inspect
import runpy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kumi.api.errors import KumiError
from kumi.api.yaml import load_objects
from kumi.evaluator.model import Arrive, Job
from kumi.evaluator.scenarios.beside import Beside
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
        made = Generator(path, tuple(arguments.items()), start_ms)
    except KumiError as error:
        named.wrong(str(error))
        return []
    part.document.files.update(dict.fromkeys(made.files))
    return [made.moments]


@dataclass(frozen=True)
class Generator:
    """The events of a file. KumiError: it can't be read, has no such function, or that takes other arguments."""

    path: Path
    arguments: tuple[tuple[str, Any], ...]
    start_ms: int
    files: tuple[Path, ...] = field(init=False, default=())
    """modules beside it that it imports when it is read"""

    def __post_init__(self) -> None:
        beside = Beside(self.path)
        function, arguments = _function(run(self.path, beside), self.path), dict(self.arguments)
        object.__setattr__(self, "files", beside.files)
        try:
            inspect.signature(function).bind(0, **arguments)
        except TypeError as error:
            raise KumiError(f"{self.path}: {FUNCTION}(seed, ...) can't be called so: {error}") from error

    def moments(self, seed: int) -> Iterator[Moment]:
        """What happens, by time. KumiError."""
        now_ms = float(self.start_ms)
        beside = Beside(self.path)
        yielded = self._called(seed, beside)
        number = 0
        while True:
            place = f"{self.path.name}, event {number + 1}"
            try:
                with beside:
                    event = next(yielded, None)
            except (Exception, SystemExit) as error:
                raise KumiError(f"{place}: {type(error).__name__}: {error}") from error
            if event is None:
                return
            number += 1
            verb, what, after = _parts(event, place)
            now_ms += after * 1000
            yield from _moments(verb, what, int(now_ms), place)

    def _called(self, seed: int, beside: Beside) -> Iterator[Any]:
        try:
            function = _function(run(self.path, beside), self.path)
            with beside:
                return iter(function(seed, **dict(self.arguments)))
        except KumiError:
            raise
        except (Exception, SystemExit) as error:
            raise KumiError(
                f"{self.path.name}: {FUNCTION} must yield (verb, object, seconds after): {type(error).__name__}: {error}"
            ) from error


def run(path: Path, beside: Beside) -> Mapping[str, Any]:
    """The names of a Python file. KumiError."""
    try:
        with beside:
            return runpy.run_path(str(path))
    except OSError as error:
        raise KumiError(f"{path} can't be read: {error.strerror or error}") from error
    except (Exception, SystemExit) as error:
        raise KumiError(f"{path} can't be run: {type(error).__name__}: {error}") from error


def _function(names: Mapping[str, Any], path: Path) -> Callable[..., Any]:
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
        yield Told(Arrive(replace(what, arrives_ms=at_ms, deadline_ms=due)), place)
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
