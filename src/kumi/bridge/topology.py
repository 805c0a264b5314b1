"""A pod set's nodes as Kueue's TopologyAssignment (v1beta2), and back.

The rule   nodes = ((node, pods), ...) in the order of pod indices  <->
           levels: [kubernetes.io/hostname], slices: runs of domains, each compressed column by column:
             valuesPerLevel   one `universal` value, or `individual` roots with their common `prefix` and `suffix`
             podCounts        one `universal` count, or `individual` counts
           Slices follow one another in the order of pod indices, and so do the domains within a slice.
Why        A gang on 5,000 nodes must fit in an object of 1.5 MB: node names of a pool share prefix and suffix, and most
           counts are equal. No root is empty: the API wants at least one letter. A slice has at most SLICE_AT_MOST
           domains, so that one can be read without the whole.
Reading    Any valid assignment is read, whoever wrote it: several levels (the last one is the host, when it is the host's
           level; otherwise no node is known), several slices, either form of each column. v1beta1's `domains` are read too.
Law        nodes(assignment(n)) == n for every n whose node names are not empty and whose counts are positive.
Source     Kueue: topology-aware scheduling (KEP-2724), API v1beta2.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Any, TypeAlias

from kumi.api.errors import KumiError
from kumi.api.kueue import HOST_LEVEL
from kumi.api.wire import JsonObject

Nodes: TypeAlias = tuple[tuple[str, int], ...]

SLICE_AT_MOST = 1000
WORD_AT_MOST = 63
"""letters of a value, a prefix, a suffix, a root"""


def assignment(nodes: Nodes) -> JsonObject | None:
    """The assignment down to the host; None for no nodes (the cluster's own scheduler places)."""
    if not nodes:
        return None
    parts = [nodes[i : i + SLICE_AT_MOST] for i in range(0, len(nodes), SLICE_AT_MOST)]
    return {"levels": [HOST_LEVEL], "slices": [_slice(part) for part in parts]}


def nodes(assignment: JsonObject | None) -> Nodes:
    """(node, how many pods) in order; () where the assignment does not go down to the host. KumiError if it is malformed."""
    if not assignment or (assignment.get("levels") or [""])[-1] != HOST_LEVEL:
        return ()
    try:
        if "domains" in assignment:
            return tuple((str(d["values"][-1]), int(d["count"])) for d in assignment["domains"])
        return tuple(pair for part in assignment.get("slices") or () for pair in _domains(part))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise KumiError(f"the topology assignment can't be read: {error!r}") from error


def _slice(part: Sequence[tuple[str, int]]) -> JsonObject:
    names, counts = [name for name, _ in part], [count for _, count in part]
    same = len(set(counts)) == 1
    return {
        "domainCount": len(part),
        "valuesPerLevel": [_column(names)],
        "podCounts": {"universal": counts[0]} if same else {"individual": counts},
    }


def _column(names: list[str]) -> JsonObject:
    if len(set(names)) == 1 and len(names[0]) <= WORD_AT_MOST:
        return {"universal": names[0]}
    shortest = min(len(name) for name in names)
    prefix = _common_prefix(names)[: min(shortest - 1, WORD_AT_MOST)]
    rests = [name[len(prefix) :] for name in names]
    suffix = _common_prefix([rest[::-1] for rest in rests])
    suffix = suffix[: min(shortest - len(prefix) - 1, WORD_AT_MOST)][::-1]
    individual: JsonObject = {}
    if prefix:
        individual["prefix"] = prefix
    if suffix:
        individual["suffix"] = suffix
    individual["roots"] = [rest[: len(rest) - len(suffix)] for rest in rests]
    return {"individual": individual}


def _common_prefix(names: list[str]) -> str:
    columns = takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    return "".join(letters[0] for letters in columns)


def _domains(part: dict[str, Any]) -> list[tuple[str, int]]:
    count = int(part["domainCount"])
    hosts = part["valuesPerLevel"][-1]
    if hosts.get("universal") is not None:
        names = [str(hosts["universal"])] * count
    else:
        individual = hosts["individual"]
        prefix, suffix = individual.get("prefix") or "", individual.get("suffix") or ""
        names = [f"{prefix}{root}{suffix}" for root in individual["roots"]]
    pods = part["podCounts"]
    counts = (
        [int(pods["universal"])] * count if pods.get("universal") is not None else [int(n) for n in pods["individual"]]
    )
    if not len(names) == len(counts) == count:
        raise ValueError(f"a slice of {count} domains has {len(names)} values and {len(counts)} counts")
    return list(zip(names, counts, strict=True))
