"""A real browser for tests of pages: Chromium, told what to do by its own protocol (DevTools) over a WebSocket."""

from __future__ import annotations

import asyncio
import base64
import json
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
from programs import find_chromium

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
)
PATIENCE_S = 30


class Page:
    """One page. `errors`: what its scripts complained of; `asked`: addresses that it wanted."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket, self._number = socket, 0
        self.errors: list[str] = []
        self.asked: list[str] = []
        self._loaded = False

    async def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command, and its answer."""
        self._number += 1
        number = self._number
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        while True:
            told = await self._heard()
            if told.get("id") == number:
                assert "error" not in told, told
                answer: dict[str, Any] = told["result"]
                return answer

    async def show(self, path: Path, *, width: int, height: int = 900, scheme: str = "light") -> None:
        """Opens a file as a screen of this width shows it, and waits until it is loaded."""
        for domain in ("Page", "Runtime", "Network", "Log"):
            await self.call(f"{domain}.enable")
        phone = width < 600
        await self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone
        )
        await self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self._loaded = False
        await self.call("Page.navigate", url=path.as_uri())
        async with asyncio.timeout(PATIENCE_S):
            while not self._loaded:
                await self._heard()
        await self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    async def run(self, script: str) -> Any:
        """What the script gives."""
        answer = await self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    async def picture(self) -> bytes:
        """The whole page as a PNG."""
        answer = await self.call("Page.captureScreenshot", captureBeyondViewport=True, format="png")
        return base64.b64decode(answer["data"])

    async def _heard(self) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE_S):
            told: dict[str, Any] = json.loads((await self._socket.receive()).data)
        about = told.get("params", {})
        match told.get("method"):
            case "Page.loadEventFired":
                self._loaded = True
            case "Runtime.exceptionThrown":
                self.errors.append(json.dumps(about["exceptionDetails"]))
            case "Log.entryAdded" if about["entry"]["level"] == "error":
                self.errors.append(about["entry"]["text"])
            case "Network.requestWillBeSent":
                self.asked.append(about["request"]["url"])
        return told


@contextmanager
def running(folder: Path) -> Iterator[int]:
    """A browser that lives as long as the block, its files in the folder; the port on which it can be told what to do."""
    program = find_chromium()
    assert program is not None
    with (folder / "browser.log").open("wb") as log:
        process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={folder}", "about:blank"], stderr=log, stdout=log
        )
    try:
        said, deadline = folder / "DevToolsActivePort", time.monotonic() + PATIENCE_S
        while not (said.exists() and said.read_text().strip()):
            assert process.poll() is None, "the browser ended"
            assert time.monotonic() < deadline, "the browser does not start"
            time.sleep(0.05)
        yield int(said.read_text().split()[0])
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)
        process.kill()
        process.wait()


@asynccontextmanager
async def opened(port: int) -> AsyncIterator[Page]:
    """A page of its own of a running browser."""
    async with aiohttp.ClientSession() as session:
        async with session.put(f"http://127.0.0.1:{port}/json/new?about:blank") as answer:
            address = (await answer.json())["webSocketDebuggerUrl"]
        async with session.ws_connect(address, max_msg_size=0) as socket:
            yield Page(socket)
