"""Policy: the policy file, parsed and checked.

    profile: kumi | kueue | volcano    which strategies decide
    placement: kumi | none             Kumi places pods itself, or the cluster's own scheduler does (only quota is decided)
    scoring: binpack | nodeorder |     which node is best: the fullest that fits, the emptiest (nodeorder, spread), the one with
                                       the
        spread | bestFit |             least left, where the fewest free GPUs become useless, any, the one of which the most is
        fragmentation | random |       used, the one with the fewest free GPUs (placement/plugins has a file for each); for pods
                                       on
        utilization | fewestFree       their own and for pod groups (scoring_words.py)
    scoringArguments: {}               random: seed; fragmentation: typical (plugins/typical.py)
    queueOrder: time | leastSlack |    who goes first of those of equal priority: of a queue's workloads, of pods on their own,
                                       and
        shortest | deadline | fair     (order.py) of pod groups; settings.py says what each word means, kumi.jobs.due which
                                       annotations
    line: open | strict |              who may pass whom of pods on their own, and of pod groups: whoever fits, nobody, or who
        easy | conservative            delays not the first, or none, of those that wait (placement/line); lineDepth: 1000 is how
                                       many are looked at behind the first that doesn't fit

    actions, tiers, configurations     as in Volcano's scheduler file: what a session of pod groups does (placement/conf.py)
    metrics                            beside them: where it is known from how busy nodes are (measuring.py)
    plugins: [file.py]                 plug-ins of one's own: Python files, beside the policy where the path is not absolute

    fairSharing, admissionFairSharing, waitForPodsReady, resources, objectRetentionPolicies, featureGates
                                       as in Kueue's Configuration file

All fields may be left out; what is here is the default but for the alternatives after it. A Configuration file of Kueue's own
(apiVersion config.kueue.x-k8s.io/...) is a policy as it is; what in it is about Kueue's own processes makes no difference. So is
a scheduler file of Volcano's; what else it may have is about Volcano's own processes.
Errors        every wrong field at once, with its path and what it may be.
Not here      what the sections say: configuration.py; actions and tiers of plug-ins: placement/conf.py; what the words mean:
              placement/plugins; how files of plug-ins are read: kumi.cli.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kumi.api.errors import FieldError, KumiError
from kumi.engine import configuration, measuring
from kumi.engine.model import Profile
from kumi.engine.placement import asked, conf
from kumi.engine.placement.actions import ACTIONS
from kumi.engine.placement.conf import Conf, Option
from kumi.engine.placement.hooks import Configured
from kumi.engine.placement.line import words
from kumi.engine.placement.plugins import SCORES, scoring_words
from kumi.engine.placement.plugins.registry import PLUGINS
from kumi.engine.settings import DEPTH, Discipline, QueueOrder

SESSION = ("actions", "tiers", "configurations")
"""the fields of Volcano's scheduler file"""
DEPTH_FIELD = "lineDepth"
OF_VOLCANO = ("metrics",)
"""what else it may have"""

FIELDS = {
    "profile": ("kumi", "kueue", "volcano"),
    "placement": ("kumi", "none"),
    "scoring": ("binpack", *sorted(set(SCORES) - {"binpack"})),
    "queueOrder": tuple(order.value for order in QueueOrder),
    "line": tuple(line.value for line in Discipline),
}
"""what each field may be; the first is the default"""


class PolicyError(KumiError):
    """The policy can't be read; `errors` has every wrong field."""

    def __init__(self, errors: tuple[FieldError, ...]) -> None:
        super().__init__("; ".join(error.text() for error in errors))
        self.errors = errors


def plugin_files(raw: Any) -> list[str]:
    """The Python files that a policy names; none where it can't be read: `parse` tells that."""
    named = raw.get("plugins") if isinstance(raw, Mapping) else None
    return [one for one in named if isinstance(one, str)] if isinstance(named, list) else []


def parse(raw: Any, plugins: Mapping[str, Configured] | None = None) -> Profile:
    """The profile that a policy (what YAML or JSON gave) asks for. `plugins`: those that aren't Kumi's own. PolicyError."""
    if raw is None:
        raw = {}
    if not isinstance(raw, Mapping):
        raise PolicyError((FieldError("policy", "must be a mapping", "FieldValueTypeInvalid"),))
    errors = [_unknown(str(key)) for key in raw if key not in _known(raw)]
    chosen = {}
    for key, values in FIELDS.items():
        chosen[key] = raw.get(key, values[0])
        if chosen[key] not in values:
            errors.append(
                FieldError(key, f"supported values: {_quoted(values)}", "FieldValueNotSupported", chosen[key])
            )
    settings = configuration.settings(raw, errors)
    if chosen["queueOrder"] in FIELDS["queueOrder"]:
        settings = replace(settings, order=QueueOrder(chosen["queueOrder"]))
    if chosen["line"] in FIELDS["line"]:
        settings = replace(settings, line=Discipline(chosen["line"]), depth=_depth(raw, errors))
    others = dict(plugins or {})
    session = words.meant(_session(raw, str(chosen["profile"]), others, errors), raw, settings)
    errors += _files(raw.get("plugins"))
    measured = measuring.measuring(_metrics(raw), errors) if measuring.is_wanted(session) else None
    said = scoring_words.arguments(raw, str(chosen["scoring"]), errors)
    if errors:
        raise PolicyError(tuple(errors))
    session = scoring_words.meant(session, raw, str(chosen["scoring"]))
    arguments = {"scoring": chosen["scoring"], **said}
    return Profile(chosen["profile"], chosen["placement"] == "kumi", arguments, settings, session, others, measured)


def _metrics(raw: Mapping[str, Any]) -> Any:
    """The section of a scheduler file; that of Kueue's Configuration is about Kueue's own."""
    return None if configuration.is_configuration(raw) else raw.get("metrics")


def _session(raw: Mapping[str, Any], profile: str, others: Mapping[str, Configured], errors: list[FieldError]) -> Conf:
    """What a session of pod groups does; what isn't written is the profile's."""
    default = conf.of(profile)
    given = {field: raw[field] for field in SESSION if raw.get(field) is not None}
    if not given:
        return default
    found = conf.parse(given, errors)
    found = Conf(
        found.actions if "actions" in given else default.actions,
        found.tiers if "tiers" in given else default.tiers,
        found.configurations,
    )
    if raw.get("actions") is not None and not found.actions and not any(e.path == "actions" for e in errors):
        errors.append(FieldError("actions", "must name an action: nothing would ever be placed", "FieldValueRequired"))
    errors += conf.wrong_names(found, tuple(ACTIONS), (*PLUGINS, *others))
    errors += asked.look(found, others)[0]
    return replace(found, tiers=tuple(tuple(o for o in t if _has_a_say(o, others)) for t in found.tiers))


def odd(raw: Any, plugins: Mapping[str, Configured] | None = None) -> list[FieldError]:
    """What a policy that can be read says in vain: arguments that nobody knows, plug-ins of Volcano's that aren't served."""
    if not isinstance(raw, Mapping):
        return []
    given = {field: raw[field] for field in SESSION if raw.get(field) is not None}
    return asked.look(conf.parse(given, []), plugins or {})[1]


def _has_a_say(option: Option, others: Mapping[str, Configured]) -> bool:
    return option.name in others or option.name not in conf.NOT_SERVED


def _depth(raw: Mapping[str, Any], errors: list[FieldError]) -> int:
    depth = raw.get(DEPTH_FIELD, DEPTH)
    if isinstance(depth, int) and not isinstance(depth, bool) and depth >= 0:
        return depth
    errors.append(FieldError(DEPTH_FIELD, "must be a whole number, 0 or more", "FieldValueInvalid", depth))
    return DEPTH


def _files(named: Any) -> list[FieldError]:
    if named is None or (isinstance(named, list) and all(isinstance(one, str) for one in named)):
        return []
    return [FieldError("plugins", "must be a list of Python files", "FieldValueTypeInvalid")]


def _known(raw: Mapping[str, Any]) -> tuple[str, ...]:
    of_kueue = ("apiVersion", "kind", *configuration.OTHERS) if configuration.is_configuration(raw) else ()
    of_volcano = OF_VOLCANO if "tiers" in raw or "actions" in raw else ()
    return (*_own(), *of_kueue, *of_volcano)


def _own() -> Sequence[str]:
    return (*FIELDS, DEPTH_FIELD, scoring_words.FIELD, *SESSION, "plugins", *configuration.SECTIONS)


def _unknown(key: str) -> FieldError:
    return FieldError(key, f"unknown field; known are {_quoted(tuple(_own()))}", "FieldValueForbidden")


def _quoted(values: tuple[str, ...]) -> str:
    return ", ".join(f'"{value}"' for value in values)
