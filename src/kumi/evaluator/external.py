"""External: a run whose pods are placed by a scheduler in another process, unmodified, over HTTP.

The rule   the API of the run is served, with a kubeconfig in a file; the jobs' pods name the scheduler, and Kumi's own leaves
           them alone: it decides only about quota
           at each instant, once all that follows from what happened is written, the run waits until the scheduler has settled
           (answers.py); what it writes meanwhile is followed up at the same instant; then virtual time moves on
           where no answer has come for `limit_s` of real time it moves on without: `late` says how often
           the first answer is waited for longer, since a scheduler has to start: FIRST_S
Stopping   a run that waits hears within LOOK_S that it is to stop, or that its real time is spent: it is over at this instant
Child      a command is started with {kubeconfig} in it replaced by the file; one that ends before the run does ends it.
           It is a process group of its own: Ctrl-C on the terminal is for the run alone, which ends the group when it is over.
           Without a command the run waits for whoever connects.
Not exact  what another process decides, and when, is its own: two runs are alike only as far as it decides alike. Results say so.
Units      real time in seconds.
Errors     KumiError: nobody answers, or the command can't be started or has ended.
Not here   how to point kube-scheduler at it: docs/evaluate.md.
"""

from __future__ import annotations

import asyncio  # noqa: TID251  another process is waited for
import os
import shlex
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kumi.api.core import Pod
from kumi.api.errors import InvariantError, KumiError
from kumi.api.wire import JsonObject
from kumi.apiserver.app import make_app
from kumi.apiserver.authentication import Bearer
from kumi.apiserver.identity import Identity
from kumi.apiserver.server import Server
from kumi.bridge.scheduler_names import SCHEDULERS
from kumi.engine.decisions import Bind
from kumi.engine.model import Profile
from kumi.evaluator.answers import Answers
from kumi.evaluator.books import Books, Submitted
from kumi.evaluator.budget import STOPPED, Budget
from kumi.evaluator.engine import WAVES_AT_MOST
from kumi.evaluator.feed import News
from kumi.evaluator.heap import Heap
from kumi.evaluator.model import Load, Observer, Policy
from kumi.evaluator.stack import StackRun
from kumi.evaluator.world import World
from kumi.runtime.clock import RealClock

DEFAULT = "default-scheduler"
LIMIT_S = 10.0
FIRST_S = 60.0
LOOK_S = 0.2
END_S = 5.0
"""how long a scheduler is given to end by itself"""
LAST_WORDS = 2_000
"""characters of what a scheduler said before it ended"""


@dataclass(frozen=True, slots=True)
class External:
    """Which scheduler. `command` "": it is started by somebody else. `name`: what pods name it. `kubeconfig`: where the file is
    written, "": where the command finds it and nobody else. `log`: where the command's output goes; "" likewise."""

    command: str = ""
    name: str = DEFAULT
    limit_s: float = LIMIT_S
    first_s: float = FIRST_S
    kubeconfig: str = ""
    log: str = ""


class ExternalRun(StackRun):
    """See the module. `late`: at how many instants the scheduler had not settled in time. `interrupted`: is the run to stop?"""

    others_place = True

    def __init__(
        self,
        load: Load,
        policy: Policy,
        seed: int,
        observers: Sequence[Observer] = (),
        budget: Budget | None = None,
        external: External | None = None,
        *,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> None:
        self.external, self._interrupted = external or External(), interrupted
        self.late = self._looks = 0
        self._answers = Answers(self.external.name)
        self._directory = Path(tempfile.mkdtemp(prefix="kumi-evaluate-"))
        self._server: Server | None = None
        self._child: asyncio.subprocess.Process | None = None
        try:
            super().__init__(load, policy, seed, observers, budget)
        except BaseException:
            self._end_others()
            raise

    def advance(self, events: int) -> bool:
        """See StackRun. KumiError as in the module."""
        try:
            return super().advance(events)
        except BaseException:
            self._end_others()
            raise

    def waiting(self) -> list[tuple[str, str]]:
        """See StackRun; what the scheduler said, where it said something."""
        said = {key: self._said_of(life) for key, life in self._books.lives.items()}
        return [(key, said[key] or why) for key, why in super().waiting()]

    def close(self) -> None:
        """See StackRun. The scheduler that was started ends as well."""
        self._end_others()
        super().close()

    @property
    def kubeconfig(self) -> Path:
        """The file with which a scheduler finds the API."""
        named = self.external.kubeconfig
        return Path(named) if named else self._directory / "kubeconfig"

    @property
    def more(self) -> JsonObject:
        """What a summary says of such a run."""
        return {"exact": False, "scheduler": self.external.name, "settled_late": self.late, "settlings": self._looks}

    # what differs from a run with Kumi's own scheduler

    def _made_books(self) -> Books:
        return _Books(self._told, self._heap, lambda: self.now_ms, self._answers)

    def _made_world(self, profile: Profile, schedulers: tuple[str, ...] = SCHEDULERS) -> World:
        others = {self.external.name, ""} if self.external.name == DEFAULT else {self.external.name}
        own = tuple(name for name in schedulers if name not in others)
        return super()._made_world(replace(profile, places=False), own)

    async def _create(self, manifest: JsonObject, uid: str = "") -> JsonObject:
        return await super()._create(_with_scheduler(manifest, self.external.name), uid)

    async def _set_up(self) -> None:
        self._server = await self._serve()
        await self._start_child()
        await super()._set_up()

    def _next_ms(self) -> int | None:
        return None if self.stopped else super()._next_ms()

    async def _rest(self) -> None:
        """Everything that follows at this instant, and what the scheduler makes of it."""
        for _ in range(WAVES_AT_MOST):
            await self.world.rest()
            self._books.tell_placed()
            if await self._come_anew():
                continue
            if self._answers.settled:
                return
            if not await self._hears_more():
                self.late += 0 if self.stopped else 1
                return
        raise InvariantError(f"at {self.now_ms} ms the stack and its scheduler do not come to rest")

    async def _hears_more(self) -> bool:
        """Waits for the next write; an answer starts the limit anew. False: there was none in time, or the run is to stop."""
        self._looks += 1
        first = self._answers.given == 0
        limit_s = max(self.external.limit_s, self.external.first_s) if first else self.external.limit_s
        ends_s = self._asyncio.time() + limit_s
        given = self._answers.given
        while self._answers.given == given and not self._answers.settled:
            left_s = ends_s - self._asyncio.time()
            if left_s <= 0:
                break
            await self._next_write(min(left_s, LOOK_S))
            self._check_child()
            await self.world.rest()
            self.stopped = STOPPED if self._interrupted() else self._budget.spent_of_real(self._since_s)
            if self.stopped:
                return False
        if self._answers.given == given and not self._answers.settled:
            if first:
                raise KumiError(
                    f"no scheduler has said anything of pods that name {self.external.name} in {limit_s:g} s; "
                    f"its kubeconfig is {self.kubeconfig}"
                )
            return False
        return True

    async def _next_write(self, limit_s: float) -> None:
        """Returns when something was written, the child has ended, or it is time."""
        store = self.world.registry.store
        watch = store.watch("/", store.revision)
        waiting: list[asyncio.Future[Any]] = [asyncio.ensure_future(watch.some())]
        if self._child is not None:
            waiting.append(asyncio.ensure_future(self._child.wait()))
        try:
            await asyncio.wait(waiting, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
            await watch.aclose()

    def _said_of(self, life: Submitted) -> str:
        return next((said for uid in life.pods if (said := self._answers.why(uid))), "")

    # the server and the child

    async def _serve(self) -> Server:
        clock = RealClock()
        identity = Identity(self._directory, clock.now_ms)
        registry = self.world.registry
        app = make_app(registry, registry.scheme, clock_ms=lambda: self.now_ms, authenticators=[Bearer([identity])])
        server = Server(app, identity=identity)
        await server.start()
        identity.write_kubeconfig(self.kubeconfig, server.url)
        return server

    async def _start_child(self) -> None:
        if not self.external.command:
            return
        said = shlex.split(self.external.command)
        words = [word.replace("{kubeconfig}", str(self.kubeconfig)) for word in said]
        try:
            with self._log.open("wb") as log:
                self._child = await asyncio.create_subprocess_exec(
                    *words, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log, process_group=0
                )
        except (OSError, IndexError, ValueError) as error:
            raise KumiError(f"the scheduler can't be started ({self.external.command}): {error}") from error

    @property
    def _log(self) -> Path:
        return Path(self.external.log) if self.external.log else self._directory / "scheduler.log"

    def _check_child(self) -> None:
        """KumiError, if it has ended."""
        if self._child is None or self._child.returncode is None:
            return
        told = self._log.read_text("utf-8", "replace")[-LAST_WORDS:].strip()
        raise KumiError(f"the scheduler has ended ({self._child.returncode}); it said last: {told or 'nothing'}")

    def _end_others(self) -> None:
        """The child, the server, and what was written for them."""
        if self._asyncio.is_closed():
            return
        self._asyncio.run_until_complete(self._stop_others())
        shutil.rmtree(self._directory, ignore_errors=True)

    async def _stop_others(self) -> None:
        child, self._child = self._child, None
        if child is not None and child.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGTERM)
            try:
                await asyncio.wait_for(child.wait(), END_S)
            except TimeoutError:
                with suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
                await child.wait()
        server, self._server = self._server, None
        if server is not None:
            await server.stop()


class _Books(Books):
    """Books that hear of bindings only when they are written."""

    def __init__(
        self, observers: Sequence[Observer], heap: Heap[Submitted], now_ms: Callable[[], int], answers: Answers
    ) -> None:
        super().__init__(observers, heap, now_ms)
        self._answers = answers

    def seen(self, news: News) -> None:
        """See Watcher."""
        self._answers.seen(news)
        super().seen(news)

    def bound(self, pod: Pod) -> None:
        """See Books."""
        self.decisions += 1
        self.tell(Bind(self.name_of(pod.metadata.uid), pod.spec.node_name))


def _with_scheduler(manifest: JsonObject, name: str) -> JsonObject:
    """The manifest, whose pods name that scheduler."""
    for spec in _pod_specs(manifest):
        spec["schedulerName"] = name
    return manifest


def _pod_specs(manifest: JsonObject) -> Iterator[JsonObject]:
    """Of a pod, or of the templates of a job."""
    spec = manifest.get("spec") or {}
    if manifest.get("kind") == "Pod":
        yield spec
    templates = [spec.get("template"), *(r.get("template") for r in (spec.get("pytorchReplicaSpecs") or {}).values())]
    for template in templates:
        if template:
            yield template["spec"]
