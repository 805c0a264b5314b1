"""Probes of one container: laws over random answers, then single cases."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kumi.kubelet.probes import ProbeKind, ProbePlan, Probing, plans_of

STARTUP, LIVENESS, READINESS = ProbeKind.STARTUP, ProbeKind.LIVENESS, ProbeKind.READINESS

plans = st.dictionaries(
    st.sampled_from(ProbeKind),
    st.builds(
        ProbePlan,
        delay_ms=st.sampled_from([0, 50]),
        period_ms=st.sampled_from([10, 30]),
        successes=st.integers(1, 3),
        failures=st.integers(1, 3),
    ),
)


@given(plans=plans, answers=st.lists(st.tuples(st.integers(1, 40), st.booleans()), max_size=40), ending=st.booleans())
def test_whatever_the_answers_are_the_rules_hold(
    plans: dict[ProbeKind, ProbePlan], answers: list[tuple[int, bool]], ending: bool
) -> None:
    probing, now, ended = Probing(plans, 0), 0, False
    asked_at = {kind: plan.delay_ms - plan.period_ms for kind, plan in plans.items()}
    for wait, ok in answers:
        now += wait
        due = probing.wake_at(ending)
        kinds = probing.ask(now, ending)
        assert bool(kinds) == (due is not None and due <= now), "wake_at is when something is to be asked"
        assert not (kinds and ended), "nothing is asked of an attempt that is to end"
        for kind in kinds:
            assert now - asked_at[kind] >= plans[kind].period_ms
            assert (kind is STARTUP) == (not probing.started), "startup holds the others"
            assert kind is READINESS or not ending
            asked_at[kind] = now
            ended = probing.take(kind, ok) is not None or ended
        assert probing.started or not probing.ready


@given(plan=st.builds(ProbePlan, failures=st.integers(1, 4), successes=st.integers(1, 4)), data=st.data())
def test_readiness_is_what_the_last_long_row_of_answers_says(plan: ProbePlan, data: st.DataObject) -> None:
    probing, said, want = Probing({READINESS: plan}, 0), "", False
    for ok in data.draw(st.lists(st.booleans(), max_size=30)):
        probing.ask(1 << 40, ending=False)
        assert probing.take(READINESS, ok) is None
        probing._series[READINESS].due_ms = 0
        said += "+" if ok else "-"
        if said.endswith("+" * plan.successes):
            want = True
        elif said.endswith("-" * plan.failures):
            want = False
        assert probing.ready is want


def test_without_probes_a_container_is_started_and_ready_and_nothing_is_asked() -> None:
    probing = Probing({}, 0)
    assert (probing.started, probing.ready, probing.wake_at(False), probing.ask(9, False)) == (True, True, None, [])


def test_the_first_look_is_after_the_delay_and_the_next_a_period_later() -> None:
    probing = Probing({LIVENESS: ProbePlan(delay_ms=50, period_ms=20)}, 1_000)
    assert probing.ask(1_049, False) == []
    assert probing.ask(1_051, False) == [LIVENESS]
    assert probing.ask(1_100, False) == [], "an answer is awaited"
    probing.take(LIVENESS, True)
    assert probing.wake_at(False) == 1_071


def test_liveness_ends_an_attempt_with_the_threshold_and_a_good_answer_starts_the_count_again() -> None:
    plan = ProbePlan(period_ms=1, failures=2)
    probing = Probing({LIVENESS: plan}, 0)
    found = []
    for now, ok in enumerate([False, True, False, False]):
        probing.ask(now, False)
        found.append(probing.take(LIVENESS, ok))
    assert found == [None, None, None, plan]


def test_an_answer_that_nobody_asked_for_counts_for_nothing() -> None:
    probing = Probing({LIVENESS: ProbePlan(failures=1)}, 0)
    assert probing.take(LIVENESS, False) is None
    assert probing.take(READINESS, False) is None


def test_what_is_taken_over_stays_started_and_ready_until_probes_say_otherwise() -> None:
    probing = Probing({STARTUP: ProbePlan(), READINESS: ProbePlan(failures=1)}, 0, started=True, ready=True)
    assert probing.ready
    assert probing.ask(0, False) == [READINESS]
    probing.take(READINESS, False)
    assert not probing.ready


def test_the_numbers_are_the_manifest_s_or_kubernetes_own() -> None:
    spec = {"initialDelaySeconds": 1, "periodSeconds": 2, "failureThreshold": 4, "terminationGracePeriodSeconds": 5}
    found = plans_of({"livenessProbe": spec, "readinessProbe": {"successThreshold": 2}})
    assert found == {
        LIVENESS: ProbePlan(1_000, 2_000, 1, 4, 5_000),
        READINESS: ProbePlan(0, 10_000, 2, 3, None),
    }
