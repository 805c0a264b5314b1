"""Ends: when what runs is expected to end."""

from __future__ import annotations

from dataclasses import replace

from kumi.engine.ends import Ends
from kumi.engine.gangs import Member
from kumi.engine.journal import Journal
from kumi.engine.model import Pod
from kumi.testing.builders import pod

NOW = 1000


def running(name: str, said: int | None, started: int = 0, group: str = "", **fields: object) -> Pod:
    made = replace(pod(f"ns/{name}"), started_ms=started, member=Member(group=group, execution_ms=said))
    return replace(made, **fields)  # type: ignore[arg-type]


def told(made: Ends) -> list[tuple[int, str]]:
    """(end, pod), in order"""
    return [(end, uid) for end, _, party in made.in_order(NOW) for uid in sorted(party.pods)]


def ends(*pods: Pod) -> Ends:
    made = Ends(Journal())
    for one in pods:
        made.seat(one, 1)
    return made


def test_they_end_when_they_said_and_those_that_have_not_started_start_now() -> None:
    made = ends(running("late", 500, 900), running("early", 500, 600), running("new", 200))
    assert told(made) == [(1100, "ns/early"), (1200, "ns/new"), (1400, "ns/late")]
    assert [made.of(f"ns/{name}", NOW) for name in ("late", "early", "new", "nobody")] == [1400, 1100, 1200, None]


def test_what_is_overdue_ends_in_the_next_millisecond() -> None:
    made = ends(running("b", 100, 800), running("a", 500, 500), running("c", 102, 900))
    assert told(made) == [(1001, "ns/a"), (1001, "ns/b"), (1002, "ns/c")]
    assert (made.of("ns/b", NOW), made.next_ms(NOW), made.next_ms(1002)) == (1001, 1002, None)


def test_nobody_that_says_nothing_or_is_leaving_ever_ends() -> None:
    made = ends(running("silent", None, 900), running("leaving", 5, 900, terminating=True))
    assert told(made) == []


def test_what_the_gang_says_counts_before_what_its_pods_say_and_whenever_it_says_it() -> None:
    made = ends(running("p", 100, 950, group="ns/g"), running("q", None, 950, group="ns/g"))
    assert told(made) == [(1050, "ns/p")]
    made.say("ns/g", 300)
    assert told(made) == [(1250, "ns/p"), (1250, "ns/q")]
    made.say("ns/g", None)
    assert told(made) == [(1050, "ns/p")]
    assert made.said_ms(running("p", 100, group="ns/g")) == 100


def test_one_that_goes_leaves_nothing() -> None:
    made = ends(one := running("p", 100, 950, group="ns/g"), two := running("q", 5))
    made.seat(one, -1)
    made.seat(two, -1)
    made.say("ns/g", 7)
    assert (made.order, made.parties, made.starting, told(made)) == ([], {}, {}, [])


def test_pods_of_a_gang_that_end_at_one_time_are_one_party() -> None:
    pods = [running(name, 100, 950, group="ns/g") for name in ("p", "q")]
    late, alone = running("r", 100, 960, group="ns/g"), [running(name, 100, 950) for name in ("s", "t")]
    made = ends(*pods, late, *alone)
    found = [(end, sorted(party.pods)) for end, _, party in made.in_order(NOW)]
    assert found == [(1050, ["ns/p", "ns/q"]), (1050, ["ns/s"]), (1050, ["ns/t"]), (1060, ["ns/r"])]


def test_what_is_found_of_a_party_holds_until_a_pod_comes_or_goes_or_that_is_taken_back() -> None:
    journal = Journal()
    made = Ends(journal)
    made.seat(running("p", 100, 950, group="ns/g"), 1)
    (_, _, party), *_ = made.in_order(NOW)
    before = party.stamp
    with journal.trial():
        made.seat(running("q", 100, 950, group="ns/g"), 1)
        there = party.stamp
    made.seat(running("r", 100, 950, group="ns/g"), 1)
    assert len({before, there, party.stamp}) == 3
    assert sorted(party.pods) == ["ns/p", "ns/r"]
