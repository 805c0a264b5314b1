"""Numatopology -> NumaTopology: a node's cpus, which are free, and how its kubelet gives them out.

The rule   free       the set in numares.cpu.allocatable, numbers and ranges with commas between; what can't be read is left out
           reserved   resReserved.cpu
           static     the cpu manager's policy is `static`
Source     Volcano: Numatopology.
"""

from __future__ import annotations

from kumi.api.nodeinfo import CPU_POLICY, TOPOLOGY_POLICY, Numatopology
from kumi.api.quantity import parse
from kumi.engine import model


def numatopology(view: Numatopology) -> model.NumaTopology:
    """See the module. KumiError for a quantity that can't be read."""
    spec = view.spec
    cpus = [model.Cpu(int(n), c.core, c.socket, c.numa) for n, c in spec.cpu_detail.items() if n.isdecimal()]
    free = spec.numares["cpu"].allocatable if "cpu" in spec.numares else ""
    return model.NumaTopology(
        node=view.metadata.name,
        cpus=tuple(sorted(cpus, key=lambda cpu: cpu.number)),
        free=tuple(sorted(numbers(free))),
        reserved=parse(spec.res_reserved.get("cpu", "0"), "cpu"),
        policy=spec.policies.get(TOPOLOGY_POLICY, ""),
        static=spec.policies.get(CPU_POLICY) == "static",
    )


def numbers(text: str) -> set[int]:
    """The members of a set like 0-3,8."""
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        if first.isdecimal() and (last or first).isdecimal():
            found.update(range(int(first), int(last or first) + 1))
    return found
