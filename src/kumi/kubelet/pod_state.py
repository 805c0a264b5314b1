"""The life of a pod, as a pure state machine: what happened goes in, what to do comes out.

    life = PodLife(plan, now)              orders = life.hear(event, now)           life.wake_at(): hear(Tick()) then

A container's stages (TABLE has every arrow; anything else is a bug):

    WAITING --start--> STARTING --started--> RUNNING --exited--> EXITED
       |                |    ^                  |
       |             refused |               exited, and it is to run again
       |                v    |start             v
       |             PENDING RETRY = BACKOFF <--+
       +--found (after a restart of Kumi)--> RUNNING          WAITING, BACKOFF --stopped--> EXITED

    What is told to a RUNNING container that is to end, harder each time:   (nothing) -> hook -> term -> kill

The rules, in the order in which each event is followed up:
    1  past the pod's deadline it is ended (DeadlineExceeded)
    2  a pod that is ending starts nothing; what runs gets SIGTERM once and, when the grace is over, SIGKILL; sidecars get
       theirs only when the other containers are gone, within the same grace
    3  nothing starts before the pod is prepared (address, volumes, devices)
    4  init containers start in order, each when those before it succeeded; a sidecar lets the next go on once it has
       started up
    5  then all containers start together; but one with a postStart hook lets those behind it start when that is over
    6  a container is up when its postStart hook is over, and only then are its probes asked (probes.py)
    7  a hook or probe that ends a container ends this attempt: preStop, SIGTERM, and SIGKILL after its grace. When a preStop
       hook takes the whole grace, SIGTERM comes then and SIGKILL LAST_GRACE_MS later; with no grace there is no hook
    8  an exited container runs again: Always; OnFailure after a failure; an init container after a failure unless Never;
       a sidecar always, while the pod is not ending. It waits as Backoff says. A run cut short by the node itself
       (`lost`) waits for nothing, counts as no crash, and is no success whatever its exit code
    9  all containers exited for good, or an init container failed for good: the pod is finished, sidecars are ended
    10 nothing is left alive: the phase is Succeeded or Failed and never changes; a removed pod is Gone, once
Attempts   number 0, 1, ...: an event about another attempt than the last is old news and ignored.
Units      milliseconds since the epoch.
Cost       O(containers) an event.
Source     Kubernetes: pod life cycle (phases, restart policy, back-off, termination), sidecar containers.
Not here   what the API shows: pod_status.py. The words: pod_words.py. Doing it: worker.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from kumi.api.errors import InvariantError
from kumi.kubelet.pod_plan import HookKind, PodPlan, Restart, Role
from kumi.kubelet.pod_words import (
    Event,
    Exit,
    Exited,
    Fail,
    Found,
    Gone,
    Halt,
    Hook,
    Hooked,
    Order,
    Prepare,
    Prepared,
    Probe,
    Probed,
    Refused,
    Remove,
    Start,
    Started,
    Stop,
    Tell,
    Told,
    Unprepared,
)
from kumi.kubelet.probes import Probing


class Stage(Enum):
    """Where a container is."""

    WAITING = "waiting"
    STARTING = "starting"
    RUNNING = "running"
    BACKOFF = "backoff"
    EXITED = "exited"


TABLE: dict[tuple[Stage, str], tuple[Stage, ...]] = {
    (Stage.WAITING, "start"): (Stage.STARTING,),
    (Stage.WAITING, "found"): (Stage.RUNNING,),
    (Stage.WAITING, "stopped"): (Stage.EXITED,),
    (Stage.STARTING, "started"): (Stage.RUNNING,),
    (Stage.STARTING, "refused"): (Stage.BACKOFF, Stage.EXITED),
    (Stage.STARTING, "exited"): (Stage.BACKOFF, Stage.EXITED),
    (Stage.RUNNING, "exited"): (Stage.BACKOFF, Stage.EXITED),
    (Stage.BACKOFF, "start"): (Stage.STARTING,),
    (Stage.BACKOFF, "stopped"): (Stage.EXITED,),
}
"""every arrow: (stage, word) -> where it may lead"""

FINAL = ("Succeeded", "Failed")
"""phases that never change"""
LIVE = (Stage.STARTING, Stage.RUNNING)
"""stages in which there is, or may be, a process"""


@dataclass
class ContainerLife:
    """One container. `exits`: the last two; `runs`: attempts that began; `cut_short`: those of them that were lost and that
    another attempt has followed."""

    name: str
    role: Role
    stage: Stage = Stage.WAITING
    runs: int = 0
    started_ms: int = 0
    exits: list[Exit] = field(default_factory=list)
    waiting: tuple[str, str] = ("", "")
    due_ms: int = 0
    cut_short: int = 0
    crashes: int = 0
    refusals: int = 0
    let_go: bool = False
    """of a sidecar: whether what comes after it may start"""
    told: str = ""
    """the hardest thing this attempt was told: "", hook, term, kill"""
    late_ms: int | None = None
    """when it is killed after all, because its preStop hook took the whole grace"""
    kill_at_ms: int | None = None
    """when this attempt is killed for its own sake: a probe or a hook failed"""
    hooking: HookKind | None = None
    """the hook that runs"""
    probing: Probing | None = None
    """once it is up"""

    @property
    def up(self) -> bool:
        """Whether it runs, and its postStart hook is over."""
        return self.stage is Stage.RUNNING and self.probing is not None

    @property
    def started(self) -> bool:
        """Whether it runs and has started up."""
        return self.stage is Stage.RUNNING and self.probing is not None and self.probing.started

    @property
    def ready(self) -> bool:
        """Whether it runs and is ready to serve; an init container: whether it has succeeded."""
        if self.role is Role.INIT:
            return self.succeeded
        return self.started and self.probing is not None and self.probing.ready

    @property
    def restarts(self) -> int:
        """How often it ran again by its own doing: what the node cut short is nobody's failure, and uses up no retry."""
        return max(self.runs - 1 - self.cut_short, 0)

    @property
    def last_exit(self) -> Exit | None:
        """How the last attempt that ended did."""
        return self.exits[-1] if self.exits else None

    @property
    def succeeded(self) -> bool:
        """Whether it is over and its last exit was 0, by its own doing."""
        return self.stage is Stage.EXITED and bool(self.exits) and self.exits[-1].code == 0 and not self.exits[-1].lost


@dataclass
class Ending:
    """Why and until when a pod ends. `reason` set: it is Failed, whatever the exit codes say."""

    kill_at_ms: int
    reason: str = ""
    message: str = ""
    halted: bool = False


class PodLife:
    """See the module. `started_ms`: when the node first saw the pod (status.startTime)."""

    def __init__(self, plan: PodPlan, started_ms: int) -> None:
        self.plan, self.started_ms = plan, started_ms
        self.containers = {name: ContainerLife(name, role) for name, role in plan.roles.items()}
        self.ending: Ending | None = None
        self.phase = "Pending"
        self.trouble = ""
        """why it is not prepared yet"""
        self._prepared: bool | None = None
        self._prepare_at_ms = 0
        self._refusals = 0
        self._removing = self._gone = self._forced = False
        self._orders: list[Order] = []

    @property
    def over(self) -> bool:
        """Whether the phase is final."""
        return self.phase in FINAL

    @property
    def alive(self) -> bool:
        """Whether there is, or may be, a process."""
        return any(c.stage in LIVE for c in self.containers.values())

    @property
    def begins(self) -> bool:
        """Whether it is on its way to its first process, and nothing else can be told of it."""
        quiet = self.phase == "Pending" and self.ending is None and not self.trouble
        return quiet and not any(c.runs or c.exits or c.waiting[0] for c in self.containers.values())

    @property
    def halted(self) -> bool:
        """Whether the node's stop has ended every process."""
        return self.ending is not None and self.ending.halted and not self.alive

    def of(self, *roles: Role) -> list[ContainerLife]:
        """The containers with such a role, in order."""
        return [c for c in self.containers.values() if c.role in roles]

    def hear(self, event: Event, now_ms: int) -> list[Order]:
        """What to do now that this happened."""
        return self.hear_all([event], now_ms)

    def hear_all(self, events: Sequence[Event], now_ms: int) -> list[Order]:
        """The same for several at one moment: what is found after a restart must be known before anything follows."""
        self._orders = []
        for event in events:
            self._take(event, now_ms)
        self._follow_up(now_ms)
        return self._orders

    def wake_at(self) -> int | None:
        """When to say Tick, if nothing happens before."""
        ending = self.ending is not None
        times = [c.due_ms for c in self.containers.values() if c.stage is Stage.BACKOFF and not ending]
        for container in self.containers.values():
            if container.stage is not Stage.RUNNING:
                continue
            if (kill_at := self._kill_at(container)) is not None and container.told != "kill":
                times.append(kill_at)
            if container.probing is not None:
                at = container.probing.wake_at(self._ends(container))
                times += [] if at is None else [at]
        if self.ending is None and not self.over:
            if self.plan.deadline_ms is not None:
                times.append(self.started_ms + self.plan.deadline_ms)
            if self._prepared is False and self._prepare_at_ms < _NEVER:
                times.append(self._prepare_at_ms)
        return min(times, default=None)

    # what happened

    def _take(self, event: Event, now_ms: int) -> None:
        match event:
            case Prepared():
                self._prepared, self.trouble = True, ""
            case Unprepared(message):
                self._prepared, self.trouble = False, message
                self._prepare_at_ms = now_ms + self.plan.backoff.after_refusal(self._refusals)
                self._refusals += 1
            case Found() | Started() | Refused() | Exited() | Hooked() | Probed():
                self._take_container(event, now_ms)
            case Remove(grace_ms):
                self._removing = True
                self._forced = self._forced or grace_ms == 0
                self._end(now_ms + grace_ms)
            case Fail(reason, message):
                if self.ending is None or not self.ending.reason:
                    self._end(now_ms + self.plan.grace_ms, reason, message)
            case Halt(grace_ms):
                if not self.over:
                    self._end(now_ms + grace_ms, halted=True)

    def _take_container(self, event: Told, now_ms: int) -> None:
        container = self.containers.get(event.container)
        if container is None:
            return
        if isinstance(event, Found):
            self._found(container, event)
        elif not self._is_news(container, event):
            return
        elif isinstance(event, Started):
            _follows(container)
            container.runs, container.started_ms, container.refusals = event.attempt + 1, event.started_ms, 0
            _move(container, "started", Stage.RUNNING)
            if self.plan.has_hook(container.name, HookKind.POST_START) and self.ending is None:
                self._hook(container, HookKind.POST_START)
            else:
                self._is_up(container)
        elif isinstance(event, Refused):
            self._refused(container, event, now_ms)
        elif isinstance(event, Hooked):
            self._hooked(container, event, now_ms)
        elif isinstance(event, Probed):
            self._probed(container, event, now_ms)
        else:
            if container.stage is Stage.STARTING:
                _follows(container)
            container.runs = event.attempt + 1
            container.exits = [*container.exits[-1:], event.exit]
            _forget(container)
            self._exited(container, event.exit)

    @staticmethod
    def _is_news(container: ContainerLife, event: Told) -> bool:
        if container.stage is Stage.STARTING:
            return event.attempt == container.runs and isinstance(event, Started | Refused | Exited)
        running = container.stage is Stage.RUNNING and isinstance(event, Exited | Hooked | Probed)
        return running and event.attempt == container.runs - 1

    def _found(self, container: ContainerLife, event: Found) -> None:
        self._prepared = True
        container.runs, container.cut_short = event.attempt + 1, event.cut_short
        container.crashes = event.attempt - event.cut_short
        container.started_ms = event.started_ms
        container.exits = [event.previous] if event.previous else []
        for before in self.containers.values():
            if before is container:
                break
            before.let_go = True
        _move(container, "found", Stage.RUNNING)
        self._is_up(container, event.started, event.ready)

    def _is_up(self, container: ContainerLife, started: bool = False, ready: bool = False) -> None:
        plans = self.plan.probes.get(container.name, {})
        container.probing = Probing(plans, container.started_ms, started, ready)

    def _hook(self, container: ContainerLife, hook: HookKind) -> None:
        container.hooking = hook
        self._orders.append(Hook(container.name, container.runs - 1, hook))

    def _hooked(self, container: ContainerLife, event: Hooked, now_ms: int) -> None:
        if container.hooking is not event.hook:
            return
        container.hooking = None
        if event.hook is HookKind.PRE_STOP:
            kill_at_ms = self._kill_at(container)
            if kill_at_ms is not None and kill_at_ms < now_ms + LAST_GRACE_MS:
                container.late_ms = now_ms + LAST_GRACE_MS
            return
        self._is_up(container)
        if event.trouble:
            self._end_attempt(container, now_ms + self.plan.grace_ms, "FailedPostStartHook")

    def _probed(self, container: ContainerLife, event: Probed, now_ms: int) -> None:
        if container.probing is None:
            return
        failed = container.probing.take(event.probe, event.ok)
        if failed is not None and self.ending is None:
            grace = self.plan.grace_ms if failed.grace_ms is None else failed.grace_ms
            why = f"Container {container.name} failed {event.probe.value} probe"
            self._end_attempt(container, now_ms + grace, f"{why}, {self._what_follows(container)}")

    def _end_attempt(self, container: ContainerLife, kill_at_ms: int, why: str) -> None:
        if container.kill_at_ms is None:
            container.kill_at_ms = kill_at_ms
            self._orders.append(Tell("Killing", why))

    def _what_follows(self, container: ContainerLife) -> str:
        always = container.role is Role.SIDECAR or self.plan.restart is not Restart.NEVER
        return "will be restarted" if always else "will be stopped"

    def _refused(self, container: ContainerLife, event: Refused, now_ms: int) -> None:
        container.waiting = (event.reason, event.message)
        if self.ending is not None:
            _move(container, "refused", Stage.EXITED)
            return
        wait = self.plan.backoff.after_refusal(container.refusals) if event.after_ms is None else event.after_ms
        container.refusals += 1
        container.due_ms = now_ms + wait
        _move(container, "refused", Stage.BACKOFF)

    def _exited(self, container: ContainerLife, exit: Exit) -> None:
        if not self._runs_again(container, exit):
            _move(container, "exited", Stage.EXITED)
            if exit.lost and self.ending is None:
                self._end(
                    exit.finished_ms + self.plan.grace_ms,
                    NODE_STOPPED,
                    "Pod was terminated: its node stopped, or lost it",
                )
            return
        if exit.finished_ms - exit.started_ms >= self.plan.backoff.reset_ms:
            container.crashes = 0
        wait = 0
        if not exit.lost:
            wait = self.plan.backoff.after_crash(container.crashes)
            container.crashes += 1
        container.due_ms = exit.finished_ms + wait
        container.waiting = (
            "CrashLoopBackOff",
            f"back-off {_seconds(wait)} restarting failed container={container.name}",
        )
        _move(container, "exited", Stage.BACKOFF)

    def _runs_again(self, container: ContainerLife, exit: Exit) -> bool:
        if self.ending is not None:
            return False
        if container.role is Role.SIDECAR:
            return True
        if container.role is Role.MAIN and self.plan.restart is Restart.ALWAYS:
            return True
        return self.plan.restart is not Restart.NEVER and (exit.code != 0 or exit.lost)

    def _end(self, kill_at_ms: int, reason: str = "", message: str = "", halted: bool = False) -> None:
        """The first reason stands, the shortest grace counts; a real end replaces a halt."""
        if self.over:
            return
        if self.ending is None:
            self.ending = Ending(kill_at_ms, reason, message, halted)
            return
        self.ending.kill_at_ms = min(self.ending.kill_at_ms, kill_at_ms)
        if not self.ending.reason:
            self.ending.reason, self.ending.message = reason, message
        if not halted:
            self.ending.halted = False

    # what follows

    def _follow_up(self, now_ms: int) -> None:
        for container in self.of(Role.SIDECAR):
            container.let_go = container.let_go or container.started
        if self.ending is None and not self.over and self._is_late(now_ms):
            message = "Pod was active on the node longer than the specified deadline"
            self._end(now_ms + self.plan.grace_ms, "DeadlineExceeded", message)
        if self.ending is None and not self.over:
            self._bring_up(now_ms)
            self._finish(now_ms)
        if self.ending is not None:
            self._wind_down(now_ms)
        else:
            for container in self.containers.values():
                if container.kill_at_ms is not None and container.stage is Stage.RUNNING:
                    self._press(container, container.kill_at_ms, now_ms)
        self._ask(now_ms)
        self._set_phase()
        if self._removing and self.over and not self._gone:
            self._gone = True
            self._orders.append(Gone())

    def _is_late(self, now_ms: int) -> bool:
        deadline = self.plan.deadline_ms
        return deadline is not None and now_ms >= self.started_ms + deadline

    def _bring_up(self, now_ms: int) -> None:
        if not self._prepared:
            if self._prepared is None or now_ms >= self._prepare_at_ms:
                self._prepared, self._prepare_at_ms = False, _NEVER
                self._orders.append(Prepare())
            return
        for container in self.of(Role.INIT, Role.SIDECAR):
            self._start_if_due(container, now_ms)
            if not _lets_go_on(container):
                return
        for container in self.of(Role.MAIN):
            self._start_if_due(container, now_ms)
            hooks = self.plan.has_hook(container.name, HookKind.POST_START)
            if hooks and (container.stage is Stage.STARTING or container.hooking is HookKind.POST_START):
                return

    def _start_if_due(self, container: ContainerLife, now_ms: int) -> None:
        if container.stage is Stage.WAITING or (container.stage is Stage.BACKOFF and now_ms >= container.due_ms):
            _move(container, "start", Stage.STARTING)
            self._orders.append(Start(container.name, container.runs))

    def _finish(self, now_ms: int) -> None:
        done = all(c.stage is Stage.EXITED for c in self.of(Role.MAIN))
        if done or self._init_failed():
            self._end(now_ms + self.plan.grace_ms)

    def _init_failed(self) -> bool:
        return any(c.stage is Stage.EXITED and not c.succeeded for c in self.of(Role.INIT))

    def _wind_down(self, now_ms: int) -> None:
        assert self.ending is not None
        for container in self.containers.values():
            if container.stage in (Stage.WAITING, Stage.BACKOFF):
                _move(container, "stopped", Stage.EXITED)
        others = any(c.stage in LIVE for c in self.of(Role.INIT, Role.MAIN))
        for container in self.containers.values():
            if container.stage is Stage.RUNNING:
                kill_at_ms = self._kill_at(container)
                assert kill_at_ms is not None
                if now_ms >= kill_at_ms or container.role is not Role.SIDECAR or not others:
                    self._press(container, kill_at_ms, now_ms)

    def _kill_at(self, container: ContainerLife) -> int | None:
        """When it is killed, if that is known."""
        times = [] if self.ending is None else [self.ending.kill_at_ms]
        times += [] if container.kill_at_ms is None else [container.kill_at_ms]
        if self._forced or container.late_ms is None:
            return min(times, default=None)
        return container.late_ms

    def _press(self, container: ContainerLife, kill_at_ms: int, now_ms: int) -> None:
        """Tells a running container, as hard as it is time for, that it is to end."""
        if container.told == "kill":
            return
        if now_ms >= kill_at_ms:
            if container.told == "hook" and not self._forced:
                container.told, container.late_ms = "term", now_ms + LAST_GRACE_MS
            else:
                container.told = "kill"
        elif container.told == "":
            hook = self.plan.has_hook(container.name, HookKind.PRE_STOP)
            container.told = "hook" if hook else "term"
            if hook:
                self._hook(container, HookKind.PRE_STOP)
                return
        elif container.told == "hook" and container.hooking is None:
            container.told = "term"
        else:
            return
        self._orders.append(Stop(container.name, container.runs - 1, kill=container.told == "kill"))

    def _ends(self, container: ContainerLife) -> bool:
        return self.ending is not None or container.kill_at_ms is not None

    def _ask(self, now_ms: int) -> None:
        for container in self.containers.values():
            if container.probing is not None and container.stage is Stage.RUNNING:
                kinds = container.probing.ask(now_ms, self._ends(container))
                self._orders += [Probe(container.name, container.runs - 1, kind) for kind in kinds]

    def _set_phase(self) -> None:
        if self.over:
            return
        if self.ending is not None and not self.alive:
            if not self.ending.halted:
                whole = all(c.succeeded for c in self.of(Role.MAIN))
                self.phase = "Succeeded" if whole and not self.ending.reason else "Failed"
            return
        inits = all(_lets_go_on(c) for c in self.of(Role.INIT, Role.SIDECAR))
        begun = all(c.runs for c in self.of(Role.MAIN))
        self.phase = "Running" if inits and begun else "Pending"


NODE_STOPPED = "Terminated"
"""reason of a pod that its node cut short and that may not run again"""
LAST_GRACE_MS = 2_000
_NEVER = 1 << 62


def _forget(container: ContainerLife) -> None:
    """What was about the attempt that is over."""
    container.told, container.kill_at_ms, container.late_ms = "", None, None
    container.hooking = container.probing = None


def _lets_go_on(container: ContainerLife) -> bool:
    """Whether what comes after an init container or sidecar may start; a sidecar that was up once holds nobody."""
    return container.succeeded if container.role is Role.INIT else container.let_go


def _follows(container: ContainerLife) -> None:
    """Another attempt begins; was the last one lost?"""
    last = container.last_exit
    container.cut_short += int(last is not None and last.lost)


def _move(container: ContainerLife, word: str, to: Stage) -> None:
    if to not in TABLE.get((container.stage, word), ()):
        raise InvariantError(f"container {container.name}: no arrow {word} from {container.stage.value} to {to.value}")
    container.stage = to


def _seconds(ms: int) -> str:
    minutes, seconds = divmod(ms // 1000, 60)
    return f"{minutes}m{seconds}s" if minutes else f"{seconds}s"
