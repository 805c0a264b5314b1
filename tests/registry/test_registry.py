"""The registry against a plain model: random verbs, and the model always knows the answer."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from kumi.api.errors import ApiError
from kumi.api.scheme import load
from kumi.api.wire import WatchEvent
from kumi.registry.registry import ListOptions

from .world import World, config

NAMES = st.sampled_from(["a", "b", "c"])
VALUES = st.sampled_from(["1", "2", "3"])
FINALIZER = "example.com/hold"


class RegistryMachine(RuleBasedStateMachine):
    """ConfigMaps of one namespace: the model is name -> (data, finalizers, marked), and every revision that was seen."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.world = World(load())
        self.run(self.world.create("Namespace", {"metadata": {"name": "ns"}}))
        self.model: dict[str, tuple[dict[str, str], bool, bool]] = {}
        self.seen: dict[str, str] = {}
        self.start = str(self.world.store.revision)

    def run(self, call: Any) -> Any:
        return self.loop.run_until_complete(call)

    def outcome(self, call: Any) -> Any:
        """The answer, or the reason of the refusal."""
        try:
            return self.run(call)
        except ApiError as error:
            return error.reason

    @rule(name=NAMES, value=VALUES, held=st.booleans())
    def create(self, name: str, value: str, held: bool) -> None:
        body = config(name, v=value)
        if held:
            body["metadata"]["finalizers"] = [FINALIZER]
        made = self.outcome(self.world.create("ConfigMap", body))
        if name in self.model:
            assert made == "AlreadyExists"
        else:
            assert made["data"] == {"v": value}
            self.model[name] = ({"v": value}, held, False)

    @rule(name=NAMES)
    def read(self, name: str) -> None:
        found = self.outcome(self.world.get("ConfigMap", name))
        if name in self.model:
            self.seen[name] = found["metadata"]["resourceVersion"]
        else:
            assert found == "NotFound"

    @rule(name=NAMES, value=VALUES)
    def patch(self, name: str, value: str) -> None:
        made = self.outcome(self.world.patch("ConfigMap", name, {"data": {"v": value}}))
        if name not in self.model:
            assert made == "NotFound"
            return
        _, held, marked = self.model[name]
        self.model[name] = ({"v": value}, held, marked)
        assert made["data"] == {"v": value}

    @precondition(lambda self: self.seen)
    @rule(data=st.data(), value=VALUES)
    def update_what_was_read(self, data: st.DataObject, value: str) -> None:
        name = data.draw(st.sampled_from(sorted(self.seen)))
        there = self.world.store.get(f"/core/configmaps/ns/{name}")
        body = {"metadata": {"resourceVersion": self.seen[name]}, "data": {"v": value}}
        made = self.outcome(self.world.patch("ConfigMap", name, body))
        if there is None:
            assert made == "NotFound"
        elif str(there.revision) != self.seen[name]:
            assert made == "Conflict"
        else:
            _, held, marked = self.model[name]
            self.model[name] = ({"v": value}, held, marked)
            assert made["data"] == {"v": value}

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        gone = self.outcome(self.world.delete("ConfigMap", name))
        if name not in self.model:
            assert gone == "NotFound"
            return
        data, held, _ = self.model[name]
        if held:
            self.model[name] = (data, held, True)
            assert gone["metadata"]["deletionTimestamp"]
        else:
            del self.model[name]
            assert gone["status"] == "Success"

    @rule(name=NAMES)
    def release(self, name: str) -> None:
        made = self.outcome(self.world.patch("ConfigMap", name, {"metadata": {"finalizers": None}}))
        if name not in self.model:
            assert made == "NotFound"
            return
        data, _, marked = self.model[name]
        if marked:
            del self.model[name]
        else:
            self.model[name] = (data, False, False)

    @invariant()
    def a_list_is_the_model(self) -> None:
        listing = self.run(self.world.registry.list(self.world.target("ConfigMap"), ListOptions()))
        found = {
            obj["metadata"]["name"]: (
                obj["data"],
                bool(obj["metadata"].get("finalizers")),
                "deletionTimestamp" in obj["metadata"],
            )
            for obj in listing.items
        }
        assert found == self.model

    def teardown(self) -> None:
        """A watch from the start tells the whole story."""
        self.run(self._replay())
        self.loop.close()

    async def _replay(self) -> None:
        await self.world.create("ConfigMap", config("end"))
        known: dict[str, WatchEvent] = {}
        events = self.world.registry.watch(self.world.target("ConfigMap"), ListOptions(revision=self.start))
        async for event in events:
            name = event.object["metadata"]["name"]
            assert (name in known) == (event.type != "ADDED")
            known[name] = event
            if event.type == "DELETED":
                del known[name]
            if name == "end":
                break
        await events.aclose()  # type: ignore[attr-defined]
        assert {name: event.object["data"] for name, event in known.items() if name != "end"} == {
            name: data for name, (data, _, _) in self.model.items()
        }


TestRegistry = RegistryMachine.TestCase
TestRegistry.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
