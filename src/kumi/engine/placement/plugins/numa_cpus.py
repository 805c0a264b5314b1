"""NUMA cpus: which cpus of a machine a container gets for itself.

The rule
    hints      every set of NUMA nodes whose free cpus are enough; preferred where no smaller set could be enough, were all
               its cpus free
    take       whole sockets while that many are needed; then whole cores, of the sockets with the fewest free cores first; then
               single cpus: of sockets that gave some already, of those with the fewest free, of the cores with the fewest free
    given      first from the nodes of the hint, then from any; nothing where they aren't enough
    reserved   as many as the system keeps (rounded up), taken first: they are never given
Ties           socket, core, cpu number.
Why            a container whose cpus and memory are near each other runs faster.
Cost           O(sets of NUMA nodes x cpus).
Source         Kubernetes: cpu manager, static policy.
Not here       which hint is best: numa_hints.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from kumi.engine.model import Cpu, NumaTopology
from kumi.engine.placement.plugins.numa_hints import Hint, mask_of, nodes_of

Cpus = frozenset[int]
NO_CPUS: Cpus = frozenset()


def numa_nodes(cpus: Sequence[Cpu]) -> int:
    """The machine's NUMA nodes."""
    return mask_of(cpu.numa for cpu in cpus)


def reserved(topology: NumaTopology) -> Cpus:
    """What the system keeps."""
    everything = frozenset(cpu.number for cpu in topology.cpus)
    return take(topology.cpus, everything, -(-topology.reserved // 1000)) or NO_CPUS


def cpu_hints(cpus: Sequence[Cpu], free: Cpus, count: int) -> list[Hint]:
    """See the module; the smaller sets first."""
    numbers = nodes_of(numa_nodes(cpus))
    least = len(numbers)
    enough = []
    for size in range(1, len(numbers) + 1):
        for nodes in combinations(numbers, size):
            within = [cpu for cpu in cpus if cpu.numa in nodes]
            if len(within) >= count:
                least = min(least, size)
            if sum(cpu.number in free for cpu in within) >= count:
                enough.append(mask_of(nodes))
    return [Hint(mask, mask.bit_count() == least) for mask in enough]


def give(cpus: Sequence[Cpu], free: Cpus, count: int, hint: Hint) -> Cpus:
    """Which cpus a container that asks for so many gets; none where there aren't enough."""
    aligned = NO_CPUS
    if hint.nodes is not None:
        near = frozenset(cpu.number for cpu in cpus if cpu.number in free and hint.nodes >> cpu.numa & 1)
        found = take(cpus, near, min(count, len(near)))
        if found is None:
            return NO_CPUS
        aligned = found
    rest = take(cpus, free - aligned, count - len(aligned))
    return NO_CPUS if rest is None else aligned | rest


def take(cpus: Sequence[Cpu], free: Cpus, count: int) -> Cpus | None:
    """So many of the free ones; None where there aren't."""
    if count > len(free):
        return None
    taken: set[int] = set()
    sockets = _groups(cpus, lambda cpu: (cpu.socket,))
    cores = _groups(cpus, lambda cpu: (cpu.socket, cpu.core))
    left = set(free)

    def grab(numbers: Iterable[int]) -> None:
        taken.update(numbers)
        left.difference_update(numbers)

    per_socket = len(cpus) // max(1, len(sockets))
    for _, members in sorted(sockets.items()):
        if count - len(taken) >= per_socket > 0 and left.issuperset(members) and len(members) == per_socket:
            grab(members)
    per_core = len(cpus) // max(1, len(cores))
    for _, members in _free_cores(cores, left, per_core):
        if count - len(taken) >= per_core > 0:
            grab(members)
    for number in _single(sockets, cores, left, taken):
        if len(taken) < count:
            grab([number])
    return frozenset(taken)


Groups = dict[tuple[int, ...], list[int]]


def _groups(cpus: Sequence[Cpu], key: object) -> Groups:
    assert callable(key)
    groups: Groups = {}
    for cpu in sorted(cpus, key=lambda c: c.number):
        groups.setdefault(key(cpu), []).append(cpu.number)
    return groups


def _free_cores(cores: Groups, left: set[int], per_core: int) -> list[tuple[tuple[int, ...], list[int]]]:
    """Cores that are free as a whole, those of the sockets with the fewest of them first."""
    whole = [(key, members) for key, members in cores.items() if left.issuperset(members) and len(members) == per_core]
    by_socket: dict[int, int] = {}
    for key, _ in whole:
        by_socket[key[0]] = by_socket.get(key[0], 0) + 1
    return sorted(whole, key=lambda one: (by_socket[one[0][0]], one[0]))


def _single(sockets: Groups, cores: Groups, left: set[int], taken: set[int]) -> list[int]:
    """The free cpus in the order in which single ones are taken."""
    ranked = []
    for key, members in cores.items():
        socket = sockets[key[:1]]
        given, free = sum(n in taken for n in socket), sum(n in left for n in socket)
        ranked.append(((-given, free, sum(n in left for n in members), key), [n for n in members if n in left]))
    return [number for _, numbers in sorted(ranked) for number in numbers]
