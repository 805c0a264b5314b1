"""The life of a pod: laws over random histories, then single cases."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.api.errors import InvariantError
from kumi.kubelet.pod_plan import Backoff, HookKind, PodPlan, Restart, Role
from kumi.kubelet.pod_state import FINAL, TABLE, ContainerLife, PodLife, Stage, _move
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
    Tick,
    Unprepared,
)
from kumi.kubelet.probes import ProbeKind, ProbePlan

BACKOFF = Backoff(base_ms=100, most_ms=400, reset_ms=10_000, retry_ms=50, retry_most_ms=200)


def plan(restart: Restart = Restart.NEVER, deadline_ms: int | None = None, **roles: Role) -> PodPlan:
    return PodPlan(roles or {"main": Role.MAIN}, restart, 1_000, deadline_ms, BACKOFF)


def ready(life: PodLife, now_ms: int = 0) -> list[Order]:
    """Orders after it was prepared."""
    assert life.hear(Tick(), now_ms) == [Prepare()]
    return life.hear(Prepared(), now_ms)


class Machine:
    """Obeys a life's orders like a machine that may do anything at any time, and keeps the laws."""

    def __init__(self, plan_: PodPlan, data: st.DataObject) -> None:
        self.life, self.data, self.now = PodLife(plan_, 0), data, 0
        self.asked: dict[str, int] = {}
        self.live: dict[str, int] = {}
        self.begun: dict[str, list[int]] = {}
        self.termed: dict[tuple[str, int], int] = {}
        self.hooks: list[tuple[str, int, HookKind]] = []
        self.probes: list[tuple[str, int, ProbeKind]] = []
        self.told_end: set[tuple[str, int]] = set()
        self.kill_at: int | None = None
        self.preparing = self.gone = self.removed = False
        self.final = ""
        self.hear(Tick())

    def hear(self, event: Any) -> None:
        for order in self.life.hear(event, self.now):
            self.obey(order)
        if self.final:
            assert self.life.phase == self.final
        if self.life.over:
            self.final = self.life.phase
            assert not self.live, "a pod is over while a process lives"
            assert not self.asked
        for container in self.life.containers.values():
            assert (container.stage is Stage.RUNNING) == (container.name in self.live)
            assert container.runs == len(self.begun.get(container.name, []))

    def obey(self, order: Order) -> None:
        assert not self.gone, "an order after Gone"
        match order:
            case Prepare():
                assert not self.preparing
                self.preparing = True
            case Start(name, attempt):
                assert name not in self.live, "two live instances of one container"
                assert name not in self.asked
                assert attempt == len(self.begun.get(name, [])), "attempts are counted one by one"
                assert not self.removed, "a start after the removal"
                self.asked[name] = attempt
            case Stop(name, attempt, kill):
                assert self.live[name] == attempt
                ended_alone = name in {n for n, a in self.told_end if a == attempt}
                if kill and not ended_alone:
                    assert self.kill_at is None or self.now >= self.kill_at, "killed within its grace"
                elif not kill:
                    assert (name, attempt) not in self.termed, "SIGTERM twice"
                    self.termed[name, attempt] = self.now
            case Hook(name, attempt, hook):
                assert self.live[name] == attempt
                assert (name, attempt, hook) not in self.hooks
                assert (name, attempt) not in self.termed, "a hook after SIGTERM"
                self.hooks.append((name, attempt, hook))
            case Probe(name, attempt, kind):
                assert self.live[name] == attempt
                assert (name, attempt, kind) not in self.probes, "asked while the answer is awaited"
                self.probes.append((name, attempt, kind))
            case Tell(_, message):
                name = message.split()[1] if message.startswith("Container") else self.hooked
                self.told_end.add((name, self.live[name]))
            case Gone():
                assert self.removed
                self.gone = True

    def choose(self, *options: str) -> str:
        return str(self.data.draw(st.sampled_from(sorted(options))))

    def step(self) -> None:
        options = ["time", "tick"]
        options += ["prepared", "unprepared"] * self.preparing
        options += ["started", "refused", "failed"] * bool(self.asked)
        options += ["exited"] * 2 * bool(self.live)
        options += ["hooked"] * bool(self.hooks)
        options += ["probed"] * 2 * bool(self.probes)
        options += ["remove", "fail", "halt", "stale"] * (self.data.draw(st.integers(0, 9)) == 0)
        self.do(self.choose(*options))

    def do(self, what: str) -> None:
        if what == "time":
            self.now += self.data.draw(st.sampled_from([1, 50, 200, 1_000]))
        elif what in ("prepared", "unprepared"):
            self.preparing = False
            self.hear(Prepared() if what == "prepared" else Unprepared("not yet"))
        elif what in ("started", "refused", "failed"):
            name = self.choose(*self.asked)
            attempt = self.asked.pop(name)
            if what == "refused":
                self.hear(Refused(name, attempt, "CreateContainerConfigError", "no"))
                return
            self.begun.setdefault(name, []).append(attempt)
            if what == "started":
                self.live[name] = attempt
                self.hear(Started(name, attempt, self.now))
            else:
                self.hear(Exited(name, attempt, Exit(128, started_ms=self.now, finished_ms=self.now)))
        elif what == "tick":
            self.hear(Tick())
        elif what == "hooked":
            name, attempt, hook = self.hooks.pop(self.data.draw(st.integers(0, len(self.hooks) - 1)))
            self.hooked = name
            self.hear(Hooked(name, attempt, hook, self.data.draw(st.sampled_from(["", "no"]))))
        elif what == "probed":
            name, attempt, kind = self.probes.pop(self.data.draw(st.integers(0, len(self.probes) - 1)))
            self.hear(Probed(name, attempt, kind, self.data.draw(st.booleans())))
        elif what == "exited":
            name = self.choose(*self.live)
            code, lost = self.data.draw(st.sampled_from([(0, False), (1, False), (137, True)]))
            self.hear(Exited(name, self.live.pop(name), Exit(code, started_ms=0, finished_ms=self.now, lost=lost)))
        else:
            self.interfere(what)

    def interfere(self, what: str) -> None:
        grace = self.data.draw(st.sampled_from([0, 500]))
        if what == "stale":
            name = self.choose(*self.life.containers)
            self.hear(Exited(name, len(self.begun.get(name, [])) + 5, Exit(0)))
        elif what == "fail":
            self.hear(Fail("Evicted", "no room"))
        else:
            self.removed = self.removed or what == "remove"
            at = self.now + grace
            self.kill_at = at if self.kill_at is None else min(at, self.kill_at)
            self.hear(Remove(grace) if what == "remove" else Halt(grace))

    def let_everything_end(self) -> None:
        """However it got here: once it is removed and the machine obeys, it goes."""
        self.removed, self.kill_at = True, self.now
        self.hear(Remove(0))
        for _ in range(3):
            while self.asked:
                self.do("started")
            for name in list(self.live):
                assert any(c.told == "kill" for c in self.life.containers.values() if c.name == name)
                self.hear(Exited(name, self.live.pop(name), Exit(137, 9, finished_ms=self.now)))
            self.hear(Tick())
        assert self.gone
        assert self.life.wake_at() is None


plans = st.builds(
    PodPlan,
    roles=st.sampled_from(
        [
            {"a": Role.MAIN},
            {"a": Role.MAIN, "b": Role.MAIN},
            {"i": Role.INIT, "a": Role.MAIN},
            {"i": Role.INIT, "s": Role.SIDECAR, "j": Role.INIT, "a": Role.MAIN, "b": Role.MAIN},
        ]
    ),
    restart=st.sampled_from(Restart),
    grace_ms=st.sampled_from([0, 300]),
    deadline_ms=st.sampled_from([None, 2_000]),
    backoff=st.just(BACKOFF),
    hooks=st.dictionaries(st.sampled_from("isab"), st.frozensets(st.sampled_from(HookKind)), max_size=2),
    probes=st.dictionaries(
        st.sampled_from("sab"),
        st.dictionaries(st.sampled_from(ProbeKind), st.just(ProbePlan(0, 100, 1, 2, 50)), min_size=1),
        max_size=2,
    ),
)


@settings(max_examples=200)
@given(plan_=plans, steps=st.integers(0, 40), data=st.data())
def test_whatever_happens_the_laws_of_a_pods_life_hold(plan_: PodPlan, steps: int, data: st.DataObject) -> None:
    machine = Machine(plan_, data)
    for _ in range(steps):
        machine.step()
    machine.let_everything_end()


@given(plan_=plans, data=st.data())
def test_a_pod_whose_containers_all_succeed_ends_as_its_policy_says(plan_: PodPlan, data: st.DataObject) -> None:
    machine = Machine(PodPlan(plan_.roles, plan_.restart, plan_.grace_ms, None, BACKOFF), data)
    machine.do("prepared")
    for _ in range(12):
        while machine.asked:
            machine.do("started")
        for name in [n for n in machine.live if plan_.roles[n] is not Role.SIDECAR or machine.life.containers[n].told]:
            machine.hear(Exited(name, machine.live.pop(name), Exit(0, finished_ms=machine.now)))
    wanted = "Running" if plan_.restart is Restart.ALWAYS else "Succeeded"
    assert machine.life.phase == wanted


def test_every_stage_but_the_last_can_be_left_and_each_can_be_reached() -> None:
    assert {stage for stage, _ in TABLE} == set(Stage) - {Stage.EXITED}
    assert {to for targets in TABLE.values() for to in targets} == set(Stage) - {Stage.WAITING}


def test_a_move_that_the_table_does_not_have_is_a_bug() -> None:
    with pytest.raises(InvariantError):
        _move(ContainerLife("c", Role.MAIN), "exited", Stage.EXITED)


def test_nothing_starts_before_the_pod_is_prepared_and_preparing_is_tried_again() -> None:
    life = PodLife(plan(), 0)
    assert life.hear(Tick(), 0) == [Prepare()]
    assert life.hear(Unprepared("no volume"), 0) == []
    assert (life.wake_at(), life.trouble) == (50, "no volume")
    assert life.hear(Tick(), 50) == [Prepare()]
    assert life.hear(Prepared(), 50) == [Start("main", 0)]


def test_a_pod_begins_until_there_is_something_to_tell_of_it() -> None:
    life = PodLife(plan(), 0)
    for event in (Tick(), Prepared()):
        life.hear(event, 0)
        assert life.begins
    life.hear(Started("main", 0, 0), 0)
    assert not life.begins


@pytest.mark.parametrize("trouble", [Unprepared("no volume"), Refused("main", 0, "RunContainerError", "no"), Remove(0)])
def test_a_pod_in_trouble_begins_no_more(trouble: Event) -> None:
    life = PodLife(plan(), 0)
    if isinstance(trouble, Refused):
        ready(life)
    life.hear(trouble, 0)
    assert not life.begins


def test_the_wait_between_crashes_doubles_and_is_forgotten_after_a_long_run() -> None:
    life = PodLife(plan(Restart.ALWAYS), 0)
    ready(life)
    now, waits = 0, []
    for attempt, ran_ms in enumerate([0, 0, 0, 0, 0, 10_000, 0]):
        life.hear(Started("main", attempt, now), now)
        life.hear(Exited("main", attempt, Exit(1, started_ms=now, finished_ms=now + ran_ms)), now + ran_ms)
        now += ran_ms
        wake = life.wake_at()
        waits.append(0 if wake is None else wake - now)
        now += waits[-1]
        life.hear(Tick(), now)
    assert waits == [0, 100, 200, 400, 400, 0, 100]


def test_what_the_node_cut_short_runs_again_at_once_and_is_no_crash() -> None:
    life = PodLife(plan(Restart.ON_FAILURE), 0)
    ready(life)
    life.hear(Started("main", 0, 0), 0)
    assert life.hear(Exited("main", 0, Exit(0, lost=True)), 5) == [Start("main", 1)]
    assert life.containers["main"].crashes == 0


def test_what_the_node_cut_short_and_may_not_restart_has_failed_even_with_exit_code_0() -> None:
    life = PodLife(plan(), 0)
    ready(life)
    life.hear(Started("main", 0, 0), 0)
    life.hear(Exited("main", 0, Exit(0, lost=True)), 5)
    assert life.phase == "Failed"
    assert life.ending is not None
    assert life.ending.reason == "Terminated"


def test_a_removed_pod_gets_sigterm_then_after_its_grace_sigkill() -> None:
    life = PodLife(plan(), 0)
    ready(life)
    life.hear(Started("main", 0, 0), 0)
    assert life.hear(Remove(700), 100) == [Stop("main", 0, kill=False)]
    assert life.wake_at() == 800
    assert life.hear(Tick(), 799) == []
    assert life.hear(Tick(), 800) == [Stop("main", 0, kill=True)]
    assert life.hear(Exited("main", 0, Exit(137, 9)), 810) == [Gone()]
    assert life.phase == "Failed"


def test_a_second_removal_can_only_shorten_the_grace() -> None:
    life = PodLife(plan(), 0)
    ready(life)
    life.hear(Started("main", 0, 0), 0)
    life.hear(Remove(700), 0)
    life.hear(Remove(5_000), 0)
    assert life.wake_at() == 700
    assert life.hear(Remove(0), 10) == [Stop("main", 0, kill=True)]


def test_sidecars_are_ended_after_the_others() -> None:
    life = PodLife(plan(side=Role.SIDECAR, main=Role.MAIN), 0)
    ready(life)
    life.hear(Started("side", 0, 0), 0)
    life.hear(Started("main", 0, 0), 0)
    assert life.hear(Remove(700), 0) == [Stop("main", 0, kill=False)]
    assert life.hear(Exited("main", 0, Exit(143, 15)), 10) == [Stop("side", 0, kill=False)]


def test_a_pod_past_its_deadline_fails_with_that_reason() -> None:
    life = PodLife(plan(deadline_ms=500), 0)
    ready(life)
    life.hear(Started("main", 0, 0), 0)
    assert life.wake_at() == 500
    assert life.hear(Tick(), 500) == [Stop("main", 0, kill=False)]
    life.hear(Exited("main", 0, Exit(0)), 510)
    assert (life.phase, life.ending.reason if life.ending else "") == ("Failed", "DeadlineExceeded")


def test_a_halted_pod_ends_its_processes_but_is_not_over() -> None:
    life = PodLife(plan(), 0)
    ready(life)
    life.hear(Started("main", 0, 0), 0)
    life.hear(Halt(100), 0)
    life.hear(Exited("main", 0, Exit(143, 15)), 10)
    assert life.halted
    assert life.phase not in FINAL


def test_what_is_found_after_a_restart_goes_on_where_it_was() -> None:
    life = PodLife(plan(Restart.ON_FAILURE, init=Role.INIT, main=Role.MAIN), 0)
    events = [Found("init", 0, 1), Exited("init", 0, Exit(0)), Found("main", 2, 7, Exit(1))]
    assert life.hear_all(events, 100) == []
    main = life.containers["main"]
    assert (main.stage, main.runs, main.started_ms) == (Stage.RUNNING, 3, 7)
    assert life.phase == "Running"
    assert life.hear(Exited("main", 2, Exit(0)), 200) == []
    assert life.phase == "Succeeded"


def test_a_failed_init_container_is_tried_again_unless_never() -> None:
    for restart, wanted in ((Restart.ALWAYS, "Pending"), (Restart.ON_FAILURE, "Pending"), (Restart.NEVER, "Failed")):
        life = PodLife(plan(restart, init=Role.INIT, main=Role.MAIN), 0)
        assert ready(life) == [Start("init", 0)]
        life.hear(Started("init", 0, 0), 0)
        life.hear(Exited("init", 0, Exit(1)), 0)
        assert life.phase == wanted


def test_a_removed_pod_that_never_ran_goes_at_once() -> None:
    life = PodLife(plan(), 0)
    assert life.hear(Remove(30_000), 0) == [Gone()]
    assert life.phase == "Failed"


def test_gone_is_said_once() -> None:
    life = PodLife(plan(), 0)
    life.hear(Remove(0), 0)
    assert life.hear(Remove(0), 1) == []
    assert life.hear(Tick(), 2) == []


# hooks and probes


def hooked(
    *hooks: HookKind, restart: Restart = Restart.ALWAYS, probes: dict[ProbeKind, ProbePlan] | None = None
) -> PodLife:
    """A pod of two containers, a and b; a has the hooks and probes. Not started yet."""
    roles = {"a": Role.MAIN, "b": Role.MAIN}
    return PodLife(
        PodPlan(roles, restart, 1_000, None, BACKOFF, {"a": frozenset(hooks)}, {"a": probes} if probes else {}), 0
    )


def test_a_post_start_hook_keeps_the_containers_behind_it_waiting() -> None:
    life = hooked(HookKind.POST_START)
    assert ready(life) == [Start("a", 0)]
    assert life.hear(Started("a", 0, 5), 5) == [Hook("a", 0, HookKind.POST_START)]
    assert not life.containers["a"].up
    assert life.hear(Hooked("a", 0, HookKind.POST_START), 9) == [Start("b", 0)]
    assert life.containers["a"].ready


def test_a_post_start_hook_that_fails_ends_the_container_and_it_runs_again() -> None:
    life = hooked(HookKind.POST_START)
    ready(life)
    life.hear(Started("a", 0, 0), 0)
    orders = life.hear(Hooked("a", 0, HookKind.POST_START, "no"), 10)
    assert orders == [Tell("Killing", "FailedPostStartHook"), Start("b", 0), Stop("a", 0, kill=False)]
    assert life.hear(Exited("a", 0, Exit(143, finished_ms=20)), 20) == [Start("a", 1)]


def test_a_pre_stop_hook_goes_before_sigterm_within_the_grace() -> None:
    life = hooked(HookKind.PRE_STOP)
    ready(life)
    life.hear_all([Started("a", 0, 0), Started("b", 0, 0)], 0)
    assert life.hear(Remove(5_000), 100) == [Hook("a", 0, HookKind.PRE_STOP), Stop("b", 0, kill=False)]
    assert life.hear(Hooked("a", 0, HookKind.PRE_STOP), 200) == [Stop("a", 0, kill=False)]
    assert life.wake_at() == 5_100


def test_a_pre_stop_hook_that_takes_the_whole_grace_leaves_the_container_two_seconds_more() -> None:
    life = hooked(HookKind.PRE_STOP)
    ready(life)
    life.hear(Started("a", 0, 0), 0)
    life.hear(Remove(5_000), 0)
    assert life.hear(Tick(), 5_000) == [Stop("a", 0, kill=False)]
    assert life.wake_at() == 7_000
    assert life.hear(Tick(), 7_000) == [Stop("a", 0, kill=True)]


def test_a_pod_that_is_removed_without_grace_has_no_time_for_a_hook() -> None:
    life = hooked(HookKind.PRE_STOP)
    ready(life)
    life.hear(Started("a", 0, 0), 0)
    assert life.hear(Remove(0), 0) == [Stop("a", 0, kill=True)]


def test_a_container_that_ends_by_itself_has_no_pre_stop_hook() -> None:
    life = hooked(HookKind.PRE_STOP, restart=Restart.NEVER)
    ready(life)
    life.hear(Started("a", 0, 0), 0)
    assert life.hear(Exited("a", 0, Exit(0)), 10) == []


def test_a_liveness_probe_that_fails_kills_after_its_own_grace_and_the_container_runs_again() -> None:
    life = hooked(probes={ProbeKind.LIVENESS: ProbePlan(period_ms=10, failures=1, grace_ms=300)})
    ready(life)
    assert life.hear(Started("a", 0, 0), 0) == [Probe("a", 0, ProbeKind.LIVENESS)]
    orders = life.hear(Probed("a", 0, ProbeKind.LIVENESS, ok=False), 5)
    assert orders == [Tell("Killing", "Container a failed liveness probe, will be restarted"), Stop("a", 0, kill=False)]
    assert life.wake_at() == 305
    assert life.hear(Tick(), 305) == [Stop("a", 0, kill=True)]
    assert life.hear(Exited("a", 0, Exit(137, 9, finished_ms=310)), 310) == [Start("a", 1)]
    assert life.hear(Started("a", 1, 320), 320) == [Probe("a", 1, ProbeKind.LIVENESS)]


def test_a_startup_probe_holds_readiness_and_the_containers_after_a_sidecar() -> None:
    probes = {"s": {ProbeKind.STARTUP: ProbePlan(period_ms=10)}}
    life = PodLife(PodPlan({"s": Role.SIDECAR, "a": Role.MAIN}, backoff=BACKOFF, probes=probes), 0)
    ready(life)
    assert life.hear(Started("s", 0, 0), 0) == [Probe("s", 0, ProbeKind.STARTUP)]
    assert not life.containers["s"].started
    assert life.hear(Probed("s", 0, ProbeKind.STARTUP, ok=False), 1) == []
    life.hear(Tick(), 10)
    assert life.hear(Probed("s", 0, ProbeKind.STARTUP, ok=True), 11) == [Start("a", 0)]
    assert life.containers["s"].ready


def test_a_container_that_is_taken_over_is_as_ready_as_the_api_says() -> None:
    life = hooked(HookKind.POST_START, probes={ProbeKind.READINESS: ProbePlan()})
    assert life.hear(Found("a", 0, 0, started=True, ready=True), 0) == [
        Start("b", 0),
        Probe("a", 0, ProbeKind.READINESS),
    ]
    assert life.containers["a"].ready
