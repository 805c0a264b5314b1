"""Conf: the scheduler's file, parsed and checked: which actions run, which plug-ins have a say, in which order.

    actions: "enqueue, allocate, backfill"        run in this order, once a session
    tiers:                                        earlier tiers go first
    - plugins:
      - name: gang
        enableJobOrder: false                     one of a plug-in's hooks is off; all are on where nothing is said,
        arguments: {...}                          but enableHierarchy and enabledClusterOrder
    configurations:                               of actions
    - name: preempt
      arguments: {...}

Arguments     a whole number must be one; where a number is asked for, whole ones do too; a switch may be written as text; what
              can't be read so counts as not said, and a policy that says so is wrong (asked.py).
Errors        every wrong field at once, with its path.
Source        Volcano: scheduler configuration.
Not here      what the names mean: hooks.py, plugins/, actions/.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from kumi.api.errors import FieldError
from kumi.engine.placement.times import duration_ms

T = TypeVar("T")
D = TypeVar("D")

SWITCHES = (
    "enableJobOrder",
    "enableJobReady",
    "enableJobPipelined",
    "enableJobEnqueued",
    "enableTaskOrder",
    "enablePreemptable",
    "enableReclaimable",
    "enablePreemptive",
    "enableQueueOrder",
    "enabledClusterOrder",
    "enablePredicate",
    "enableBestNode",
    "enableNodeOrder",
    "enableTargetJob",
    "enableReservedNodes",
    "enabledVictim",
    "enableJobStarving",
    "enabledOverused",
    "enabledAllocatable",
    "enabledHyperNodeOrder",
    "enabledSubJobReady",
    "enabledSubJobPipelined",
    "enabledSubJobOrder",
    "enabledHyperNodeGradient",
    "enableHierarchy",
)
OFF_BY_DEFAULT = ("enableHierarchy", "enabledClusterOrder")
NOT_SERVED = ("capacity-card", "cdp", "deviceshare", "extender", "jdb", "network-topology-aware", "rescheduling")
"""plug-ins of Volcano's that a file may name, and that have no say here"""


@dataclass(frozen=True, slots=True)
class Arguments:
    """What was written for a plug-in or an action; see the module for how values are read."""

    raw: Mapping[str, Any] = field(default_factory=dict)

    def value(self, name: str, read: Callable[[Any], T | None], default: D, must: str) -> T | D:
        """What `read` makes of the value; the default where none is written, or where it is None: such a value `must` be
        something else."""
        written = self.raw.get(name)
        found = None if written is None else read(written)
        return default if found is None else found

    def nested(self, name: str) -> Arguments:
        """The arguments in an argument."""
        made = self.value(name, lambda v: v if isinstance(v, Mapping) else None, {}, "must be a mapping")
        return Arguments({str(key): value for key, value in made.items()})

    def unused(self, *names: str) -> None:
        """Names that say nothing here, and needn't: what they are for is so anyway."""

    def whole(self, name: str, default: int) -> int:
        """A whole number."""
        return self.value(name, _whole, default, "must be a whole number")

    def number(self, name: str, default: float) -> float:
        """A number."""
        return self.value(name, _number, default, "must be a number")

    def switch(self, name: str, *, default: bool) -> bool:
        """Yes or no."""
        return self.value(name, _switch, default, "must be true or false")

    def text(self, name: str, default: str = "") -> str:
        """A word."""
        return self.value(name, lambda v: v if isinstance(v, str) else None, default, "must be text")

    def length_ms(self, name: str) -> int | None:
        """A length of time."""
        return self.value(name, _length_ms, None, "must be a length of time above 0, like 90s or 1h30m")


@dataclass(frozen=True, slots=True)
class Option:
    """One plug-in of a tier: its switches that are on, and its arguments."""

    name: str
    switches: frozenset[str] = frozenset(SWITCHES) - frozenset(OFF_BY_DEFAULT)
    arguments: Arguments = field(default_factory=Arguments)


@dataclass(frozen=True, slots=True)
class Conf:
    """The file."""

    actions: tuple[str, ...]
    tiers: tuple[tuple[Option, ...], ...]
    configurations: Mapping[str, Arguments] = field(default_factory=dict)
    places: Mapping[str, int] = field(default_factory=dict, compare=False)
    """of each action its place in the file's configurations"""

    def of_action(self, name: str) -> Arguments:
        """The action's arguments."""
        return self.configurations.get(name, Arguments())


def _whole(value: Any) -> int | None:
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            return None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _length_ms(value: Any) -> int | None:
    return duration_ms(value) if isinstance(value, str) else None


def _switch(value: Any) -> bool | None:
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def parse(raw: Any, errors: list[FieldError], *, unsaid: bool = True) -> Conf:
    """What the file says, everything in its own place; what can't be understood is added to the errors. `unsaid`: what a switch
    is that isn't written."""
    if not isinstance(raw, Mapping):
        errors.append(FieldError("", "must be a mapping with actions and tiers", "FieldValueTypeInvalid"))
        return Conf((), ())
    actions = _actions(raw.get("actions", ""), errors)
    tiers = [
        _tier_of(tier, f"tiers[{number}]", errors, unsaid=unsaid)
        for number, tier in enumerate(_list(raw.get("tiers"), "tiers", errors))
    ]
    configurations, places = {}, {}
    for number, one in enumerate(_list(raw.get("configurations"), "configurations", errors)):
        at = f"configurations[{number}]"
        if isinstance(one, Mapping) and isinstance(one.get("name"), str):
            errors += _unknown(one, ("name", "arguments"), at)
            places[one["name"]] = number
            configurations[one["name"]] = _arguments(one.get("arguments"), f"{at}.arguments", errors)
        else:
            errors.append(FieldError(f"{at}.name", "must name an action", "FieldValueRequired"))
    return Conf(actions, tuple(tiers), configurations, places)


def wrong_names(conf: Conf, actions: Sequence[str], plugins: Sequence[str]) -> list[FieldError]:
    """Actions and plug-ins that aren't there, and plug-ins that don't go together."""
    errors = []
    for name in conf.actions:
        if name not in actions:
            errors.append(FieldError("actions", _one_of(actions), "FieldValueNotSupported", name))
    for number, tier in enumerate(conf.tiers):
        path = f"tiers[{number}].plugins"
        for at, option in enumerate(tier):
            if option.name and option.name not in plugins and option.name not in NOT_SERVED:
                wrong = FieldError(f"{path}[{at}].name", _one_of(plugins), "FieldValueNotSupported", option.name)
                errors.append(wrong)
        hierarchical = [o for o in tier if o.name == "drf" and "enableHierarchy" in o.switches]
        if hierarchical and any(o.name == "proportion" for o in tier):
            detail = "proportion and drf with enableHierarchy share out the same: only one of them can be in a tier"
            errors.append(FieldError(path, detail))
    for name in conf.configurations:
        if name not in actions:
            path = f"configurations[{conf.places.get(name, 0)}].name"
            errors.append(FieldError(path, _one_of(actions), "FieldValueNotSupported", name))
    return errors


def _one_of(names: Sequence[str]) -> str:
    return "supported values: " + ", ".join(f'"{name}"' for name in sorted(names))


def _actions(raw: Any, errors: list[FieldError]) -> tuple[str, ...]:
    names = raw.split(",") if isinstance(raw, str) else raw
    if not isinstance(names, list) or not all(isinstance(n, str) for n in names):
        errors.append(
            FieldError(
                "actions", 'must be names with commas between, like "enqueue, allocate"', "FieldValueTypeInvalid"
            )
        )
        return ()
    return tuple(name.strip() for name in names if name.strip())


def _tier_of(raw: Any, path: str, errors: list[FieldError], *, unsaid: bool) -> tuple[Option, ...]:
    if not isinstance(raw, Mapping):
        errors.append(FieldError(path, "must be a mapping with plugins", "FieldValueTypeInvalid"))
        return ()
    errors += _unknown(raw, ("plugins",), path)
    path = f"{path}.plugins"
    plugins = _list(raw.get("plugins"), path, errors)
    return tuple(_option(one, f"{path}[{at}]", errors, unsaid=unsaid) for at, one in enumerate(plugins))


def _option(raw: Any, path: str, errors: list[FieldError], *, unsaid: bool) -> Option:
    """One without a name (an error) has the name "": it keeps its place."""
    if not isinstance(raw, Mapping) or not isinstance(raw.get("name"), str) or not raw["name"]:
        errors.append(FieldError(f"{path}.name", "must name a plug-in", "FieldValueRequired"))
        return Option("")
    errors += _unknown(raw, ("name", "arguments", *SWITCHES), path)
    said = {switch: raw[switch] for switch in SWITCHES if switch in raw}
    for switch, value in said.items():
        if not isinstance(value, bool):
            errors.append(FieldError(f"{path}.{switch}", "must be true or false", "FieldValueTypeInvalid", value))
    on = {switch for switch, value in said.items() if value is True}
    if unsaid:
        on |= {s for s in SWITCHES if s not in said and s not in OFF_BY_DEFAULT}
    return Option(raw["name"], frozenset(on), _arguments(raw.get("arguments"), f"{path}.arguments", errors))


def _unknown(raw: Mapping[Any, Any], known: Sequence[str], path: str) -> list[FieldError]:
    return [FieldError(f"{path}.{key}", "unknown field", "FieldValueForbidden") for key in raw if key not in known]


def _arguments(raw: Any, path: str, errors: list[FieldError]) -> Arguments:
    if raw is not None and not isinstance(raw, Mapping):
        errors.append(FieldError(path, "must be a mapping", "FieldValueTypeInvalid"))
        return Arguments()
    return Arguments(raw or {})


def _list(raw: Any, path: str, errors: list[FieldError]) -> list[Any]:
    if raw is None:
        return []
    if not isinstance(raw, list):
        errors.append(FieldError(path, "must be a list", "FieldValueTypeInvalid"))
        return []
    return raw


def _tier(*names: str) -> tuple[Option, ...]:
    return tuple(Option(name) for name in names)


VOLCANO = Conf(
    ("enqueue", "allocate", "backfill"),
    (
        _tier("priority", "gang", "conformance"),
        _tier("overcommit", "drf", "predicates", "proportion", "nodeorder", "binpack"),
    ),
)
"""what Volcano does where nothing is said, and the fuller of two nodes first"""


def _without(name: str, *switches: str) -> Option:
    return Option(name, frozenset(SWITCHES) - frozenset(OFF_BY_DEFAULT) - frozenset(switches))


DEFAULT = Conf(
    ("allocate", "preempt", "gangpreempt", "reclaim", "gangreclaim", "backfill"),
    (
        (
            Option("priority"),
            _without("least_slack", "enablePreemptable"),
            _without("gang", "enableJobStarving"),
            Option("conformance"),
            Option("disruption-budgets"),
            Option("proportion"),
            Option("bundle-shares"),
            Option("predicates"),
            Option("nodeorder", arguments=Arguments({"leastrequested.weight": 0, "balancedresource.weight": 0})),
            Option("binpack", arguments=Arguments({"binpack.weight": 5})),
        ),
    ),
)
"""What suits a cluster of training jobs, and why.

No enqueue     it lets in what has room, so whoever could only start by preempting would never be looked at; and pods that wait
               cost next to nothing here.
Evicting       task by task first, from what gangs can spare; whole gangs only where that isn't enough. Gangs mostly need all of
               their pods, so without the second nobody would ever have to give way.
One tier       a first tier that names victims silences all others: with priority in one of its own, shares would protect nobody.
No drf         it puts the smaller of two gangs first, so a large one waits behind every small one that comes later, and one that
               lost a node behind those that never started. Equals go in the order in which they came.
budgets        who runs a service says so with a disruption budget; a gang's room is not worth more than that.
starving       who still waits is, not only who lacks its minimum: elastic gangs get the rest of their pods too.
proportion     shares by weight need no numbers; whoever has numbers (deserved) names capacity in its place.
binpack        the fuller of two nodes: whole nodes stay free for the next large gang; spreading would leave a device on each."""


def of(profile: str) -> Conf:
    """Where a policy says nothing."""
    return VOLCANO if profile == "volcano" else DEFAULT
