"""Ports: one pod a port and host."""

from __future__ import annotations

from dataclasses import replace

from kumi.engine.journal import Journal
from kumi.engine.model import HostPort, Pod
from kumi.engine.placement.nodes import Nodes
from kumi.engine.placement.plugins.ports import taken
from kumi.testing.builders import node, pod, shape


def listening(*ports: HostPort) -> Pod:
    return pod("ns/p", shape=replace(shape(), ports=ports))


def test_a_node_on_which_a_port_is_in_use_is_taken_until_the_pod_goes() -> None:
    nodes = Nodes(Journal())
    for name in ("n1", "n2"):
        nodes.put(node(name))
    first = listening(HostPort(80), HostPort(443))
    nodes.residents.seat(first, "n1", 1)
    assert taken(nodes, listening(HostPort(443), HostPort(81)).shape)[nodes.by_name()].tolist() == [True, False]
    assert not taken(nodes, listening(HostPort(443, "UDP")).shape).any()
    nodes.residents.seat(first, "n1", -1)
    assert not taken(nodes, first.shape).any()


def test_an_address_of_its_own_is_in_nobody_elses_way() -> None:
    nodes = Nodes(Journal())
    nodes.put(node("n1"))
    nodes.residents.seat(listening(HostPort(80, ip="10.0.0.1")), "n1", 1)
    assert not taken(nodes, listening(HostPort(80, ip="10.0.0.2")).shape).any()
    assert taken(nodes, listening(HostPort(80)).shape).any()
