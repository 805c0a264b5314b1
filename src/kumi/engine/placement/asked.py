"""Asked: what is wrong with the arguments of a scheduler's file, found by reading them as those do whom they are for.

The rule   a value that can't be read is wrong
           a name that nobody asks for is odd: it passes, as in Volcano, and makes no difference
           so is a plug-in of Volcano's that isn't served
Why        a plug-in's `configured` says which arguments there are and how each is read; said twice, the two would drift apart.
Order      as written.
Source     Volcano: arguments of plug-ins and actions.
Not here   what the arguments mean: plugins/, actions/. Plug-ins of others may read theirs as they like: no name is odd there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from kumi.api.errors import FieldError
from kumi.engine.placement.conf import NOT_SERVED, Arguments, Conf, Option
from kumi.engine.placement.hooks import Configured
from kumi.engine.placement.plugins.registry import PLUGINS

T = TypeVar("T")
D = TypeVar("D")

_CACHE = "predicateErrorCacheEnable"
"""answers are kept anyway"""


@dataclass(frozen=True, slots=True)
class Asked(Arguments):
    """Arguments that keep in mind what was asked for. `wrong`: what can't be read, in them and below."""

    path: str = ""
    wrong: list[FieldError] = field(default_factory=list)
    names: dict[str, None] = field(default_factory=dict)
    below: list[Asked] = field(default_factory=list)

    def value(self, name: str, read: Callable[[Any], T | None], default: D, must: str) -> T | D:
        """See Arguments."""
        self.names[name] = None
        written = self.raw.get(name)
        found = None if written is None else read(written)
        if written is not None and found is None:
            self.wrong.append(FieldError(f"{self.path}.{name}", must, value=written))
        return default if found is None else found

    def nested(self, name: str) -> Arguments:
        """See Arguments."""
        made = self.value(name, lambda v: v if isinstance(v, Mapping) else None, {}, "must be a mapping")
        one = Asked({str(key): value for key, value in made.items()}, f"{self.path}.{name}", self.wrong)
        self.below.append(one)
        return one

    def unused(self, *names: str) -> None:
        """See Arguments."""
        self.names.update(dict.fromkeys(names))

    def odd(self, whose: str) -> list[FieldError]:
        """What nobody asked for, here and below."""
        detail = f"{whose} has no such argument: it makes no difference"
        found = [
            FieldError(f"{self.path}.{name}", detail, "FieldValueForbidden")
            for name in self.raw
            if name not in self.names
        ]
        return found + [error for one in self.below for error in one.odd(whose)]


def look(conf: Conf, others: Mapping[str, Configured]) -> tuple[list[FieldError], list[FieldError]]:
    """What is wrong, and what is odd. `others`: plug-ins that aren't Kumi's own."""
    wrong: list[FieldError] = []
    odd: list[FieldError] = []
    for number, tier in enumerate(conf.tiers):
        for at, option in enumerate(tier):
            path = f"tiers[{number}].plugins[{at}]"
            asked = Asked(option.arguments.raw, f"{path}.arguments", wrong)
            if option.name in others or option.name not in PLUGINS:
                if option.name in NOT_SERVED and option.name not in others:
                    detail = f"{option.name} is not served here: it has no say"
                    odd.append(FieldError(f"{path}.name", detail, "FieldValueForbidden"))
                continue
            PLUGINS[option.name].configured(Option(option.name, option.switches, asked))
            odd += asked.odd(option.name)
    for name, arguments in conf.configurations.items():
        asked = Asked(arguments.raw, f"configurations[{conf.places.get(name, 0)}].arguments", wrong)
        _of_action(name, asked)
        odd += asked.odd(name)
    return wrong, odd


def _of_action(name: str, arguments: Arguments) -> None:
    """Asks for what the action asks for."""
    if name in ("allocate", "backfill", "preempt", "reclaim"):
        arguments.unused(_CACHE)
    if name == "preempt":
        arguments.switch("enableTopologyAwarePreemption", default=False)
        arguments.unused("topologyAwarePreemptWorkerNum")
        for word in ("minCandidateNodesPercentage", "minCandidateNodesAbsolute", "maxCandidateNodesAbsolute"):
            arguments.whole(word, 0)
    elif name in ("gangpreempt", "gangreclaim"):
        arguments.whole("maxDomains", 0)
        arguments.switch("allowWholeBundle", default=True)
        if name == "gangpreempt":
            arguments.switch("equalPriority", default=False)
    elif name in ("easy", "conservative"):
        arguments.whole("depth", 0)
