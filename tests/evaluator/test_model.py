from kumi.engine.model import Profile
from kumi.engine.placement.conf import Arguments, Conf, Option
from kumi.evaluator.model import START_MS, Arrive, Cancel, Change, Policy, Role
from kumi.testing.builders import shape
from tests.evaluator.stories import job


def test_a_jobs_namespace_is_the_first_part_of_its_key_and_its_owner_is_who_it_says_or_that():
    assert job("team/a").namespace == "team"
    assert job("team/a").owner == "team"
    assert job("team/a", tenant="ann").owner == "ann"


def test_a_job_has_the_pods_of_all_its_roles():
    from dataclasses import replace

    two = replace(job("a"), roles=(Role("x", 2, shape(cpu=1)), Role("y", 3, shape(cpu=1))))
    assert two.pods == 5


def test_every_event_has_its_time():
    assert [e.at_ms for e in (Arrive(job("a", at_ms=3)), Cancel(7, "a"), Change(9, ()))] == [START_MS + 3, 7, 9]


def test_what_is_left_to_chance_draws_by_the_runs_seed():
    conf = Conf(("allocate",), ((Option("random"), Option("gang")),))
    seeded = Policy("p", Profile(conf=conf, arguments={"scoring": "random"})).seeded(7)
    assert seeded.arguments == {"scoring": "random", "seed": "7"}
    drawing, other = seeded.conf.tiers[0]
    assert drawing.arguments.raw == {"random.seed": 7}
    assert other == Option("gang")


def test_a_policy_that_names_its_own_seed_keeps_it():
    option = Option("random", arguments=Arguments({"random.seed": 3}))
    seeded = Policy("p", Profile(conf=Conf((), ((option,),)), arguments={"seed": "5"})).seeded(7)
    assert seeded.arguments["seed"] == "5"
    assert seeded.conf.tiers[0][0].arguments.raw == {"random.seed": 3}
