from __future__ import annotations

from kumi.api.scheme import SCHEME
from kumi.api.volcano_command import CLOSE_QUEUE, Command
from kumi.testing.view import decoded


def test_a_command_says_what_is_to_be_done_to_whom() -> None:
    target = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "name": "q", "uid": "u"}
    made = {"metadata": {"name": "c", "namespace": "ns"}, "action": CLOSE_QUEUE, "target": target}
    found = decoded({"apiVersion": "bus.volcano.sh/v1alpha1", "kind": "Command", **made})
    assert isinstance(found, Command)
    assert found.target is not None
    assert (found.action, found.target.kind, found.target.name) == ("CloseQueue", "Queue", "q")


def test_it_is_known_by_its_names() -> None:
    kind = SCHEME.of(Command)
    assert (kind.api_version, kind.plural, kind.namespaced) == ("bus.volcano.sh/v1alpha1", "commands", True)
