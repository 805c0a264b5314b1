"""A small scheduler of somebody else's, for tests of external.py: first fit by name, over HTTP, with nothing of Kumi's in it.

    python first_fit.py KUBECONFIG NAME [--mute | --die]

Lists and watches pods and nodes. A pending pod that names NAME is bound to the first node with room, else told that it is
unschedulable, once after each change that may have made room. --mute: it never says that a pod is unschedulable. --die: it ends
at the first pod.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
import ssl
import sys
from pathlib import Path
from typing import Any

import aiohttp

OVER = ("Succeeded", "Failed")
UNITS = {"m": 0.001, "k": 1000, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "": 1}
Objects = dict[str, dict[str, Any]]


def amount(text: str) -> float:
    """A quantity, as far as the tests have it."""
    found = re.fullmatch(r"([0-9.]+)(m|k|Ki|Mi|Gi|)", str(text))
    assert found is not None, text
    return float(found[1]) * UNITS[found[2]]


def requests(pod: dict[str, Any]) -> dict[str, float]:
    """What a pod asks for."""
    asked: dict[str, float] = {"pods": 1}
    for container in pod["spec"]["containers"]:
        for name, text in container.get("resources", {}).get("requests", {}).items():
            asked[name] = asked.get(name, 0) + amount(text)
    return asked


def holds(pod: dict[str, Any]) -> bool:
    """Does it take room on a node?"""
    return bool(pod["spec"].get("nodeName")) and pod["status"].get("phase") not in OVER


class FirstFit:
    """What it knows, and what it does."""

    def __init__(self, session: aiohttp.ClientSession, url: str, name: str, how: str) -> None:
        self.session, self.url, self.name, self.how = session, url, name, how
        self.pods: Objects = {}
        self.nodes: Objects = {}
        self.changes = 0
        """how many may have made room"""
        self.told: dict[str, int] = {}
        """uid of a pod -> after which of them it was told that it has no room"""
        self.news = asyncio.Event()
        self.listed = {"pods": asyncio.Event(), "nodes": asyncio.Event()}

    async def follow(self, plural: str, objects: Objects) -> None:
        """Keeps all of a kind."""
        async with self.session.get(f"{self.url}/api/v1/{plural}") as answer:
            listed = await answer.json()
        for item in listed["items"]:
            self.seen(plural, objects, "ADDED", item)
        self.listed[plural].set()
        query = {"watch": "1", "resourceVersion": listed["metadata"]["resourceVersion"]}
        async with self.session.get(f"{self.url}/api/v1/{plural}", params=query) as answer:
            async for line in answer.content:
                event = json.loads(line)
                self.seen(plural, objects, event["type"], event["object"])

    def seen(self, plural: str, objects: Objects, type_: str, item: dict[str, Any]) -> None:
        """An object came, changed or went."""
        uid = item["metadata"]["uid"]
        before = objects.get(uid)
        if type_ == "DELETED":
            objects.pop(uid, None)
        else:
            objects[uid] = item
        left = before is not None and plural == "pods" and holds(before) and (type_ == "DELETED" or not holds(item))
        self.changes += plural == "nodes" or left
        self.news.set()

    async def decide(self) -> None:
        """Goes through the pending pods whenever something happened."""
        for listed in self.listed.values():
            await listed.wait()
        while True:
            await self.news.wait()
            self.news.clear()
            free = self.free()
            for pod in sorted(self.pods.values(), key=lambda p: p["metadata"]["name"]):
                if self.is_mine(pod):
                    if self.how == "--die":
                        sys.exit("this is too much")
                    await self.place(pod, free)

    def is_mine(self, pod: dict[str, Any]) -> bool:
        """Does it wait for this scheduler?"""
        spec, meta = pod["spec"], pod["metadata"]
        waits = not (spec.get("nodeName") or meta.get("deletionTimestamp") or spec.get("schedulingGates"))
        return waits and spec["schedulerName"] == self.name and pod["status"].get("phase") == "Pending"

    def free(self) -> dict[str, dict[str, float]]:
        """What each node that is ready has left."""
        left = {}
        for node in self.nodes.values():
            conditions = node["status"].get("conditions", ())
            if any(c["type"] == "Ready" and c["status"] == "True" for c in conditions):
                left[node["metadata"]["name"]] = {k: amount(v) for k, v in node["status"]["allocatable"].items()}
        for pod in self.pods.values():
            if holds(pod) and pod["spec"]["nodeName"] in left:
                for name, asked in requests(pod).items():
                    left[pod["spec"]["nodeName"]][name] -= asked
        return left

    async def place(self, pod: dict[str, Any], free: dict[str, dict[str, float]]) -> None:
        """Binds a pod, or says that it can't be."""
        asked, meta = requests(pod), pod["metadata"]
        path = f"{self.url}/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
        for name in sorted(free):
            if all(free[name].get(resource, 0) >= want for resource, want in asked.items()):
                for resource, want in asked.items():
                    if want:
                        free[name][resource] -= want
                pod["spec"]["nodeName"] = name
                target = {"apiVersion": "v1", "kind": "Node", "name": name}
                binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": meta["name"]}, "target": target}
                await self.write("POST", f"{path}/binding", binding)
                return
        if self.how == "--mute" or self.told.get(meta["uid"]) == self.changes:
            return
        self.told[meta["uid"]] = self.changes
        message = f"none of {len(free)} nodes has room (look {self.changes})"
        said = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
        await self.write("PATCH", f"{path}/status", {"status": {"conditions": [said]}})

    async def write(self, verb: str, path: str, body: dict[str, Any]) -> None:
        """One request; what is refused is seen to at the next look."""
        kind = "application/strategic-merge-patch+json" if verb == "PATCH" else "application/json"
        async with self.session.request(verb, path, data=json.dumps(body), headers={"Content-Type": kind}) as answer:
            await answer.read()


async def main(text: str, name: str, how: str = "") -> None:
    """Until it is ended. `text`: of the kubeconfig."""
    said = dict(re.findall(r"^ *(server|certificate-authority-data|token): (\S+)$", text, re.MULTILINE))
    authority = base64.b64decode(said["certificate-authority-data"]).decode()
    trust = aiohttp.TCPConnector(ssl=ssl.create_default_context(cadata=authority))
    headers = {"Authorization": f"Bearer {said['token']}"}
    timeout = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(connector=trust, headers=headers, timeout=timeout) as session:
        scheduler = FirstFit(session, said["server"], name, how)
        await asyncio.gather(
            scheduler.follow("pods", scheduler.pods), scheduler.follow("nodes", scheduler.nodes), scheduler.decide()
        )


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]).read_text(), *sys.argv[2:]))
