"""Scenarios: what happens, in a file: a cluster, queues, what arrives, what fails, which policies decide, with which seeds.

    name: packing
    about: one sentence
    start: 2026-01-01T00:00:00Z         # of the virtual clock
    until: 30d                          # until when nodes fail by chance
    seeds: 10                           # 0 to 9, or a list
    parameters: {load: 0.8}             # ${load} anywhere below; `kumi evaluate` can give others
    cluster, queues                     cluster.py: nodes by count, and any objects
    arrivals                            arrivals.py: manifests at times, jobs by chance (chances.py), traces, Python generators
                                        (python.py)
    failures, spot, maintenance         outages.py
    policies: [fifo, mine.yaml, {name: packed, policy: {scoring: binpack}, objects: [queues.yaml]}]

A Python file is a scenario too: its function events(seed), as python.py has it; NAME, SEEDS, POLICIES, if they are there.

    load_scenario(path, parameters) -> Scenario
        .load(seed)                     the Load of a run: engine speed and stack speed play it
        .objects(seed)                  the same as manifests, as they were written, each with its time
        .policies, .seeds               as written: built-in names, files, or policies that stand in it

Errors     ScenarioError: all that is wrong, each with its line and path; one in which nothing happens is wrong. What only shows
           when it is played (a job that can't change, a generator that yields no object) is looked for in the first steps of the
           first seed as well.
Not here   what steps are for the engine: plays.py; how jobs are read: arriving.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, zip_longest
from pathlib import Path

from kumi.api.errors import KumiError
from kumi.api.meta import parse_time
from kumi.api.wire import JsonObject
from kumi.engine.model import Node, Noun, Put
from kumi.evaluator import LARGEST_SEED, SEEDS_AT_MOST, policies
from kumi.evaluator.manifests import nouns as nouns_of
from kumi.evaluator.model import START_MS, Arrive, Change, Event, Load, Policy, Written
from kumi.evaluator.scenarios import arrivals, cluster, outages
from kumi.evaluator.scenarios.arriving import Arriving
from kumi.evaluator.scenarios.beside import Beside
from kumi.evaluator.scenarios.document import Document, Part, ScenarioError, Value, read
from kumi.evaluator.scenarios.manifests import listed
from kumi.evaluator.scenarios.plays import Stage
from kumi.evaluator.scenarios.python import Generator, run
from kumi.evaluator.scenarios.steps import Moment, Source, Step, Told, Verb, together
from kumi.evaluator.scenarios.written import manifests_of
from kumi.runtime.policy_files import checked

__all__ = ["Scenario", "ScenarioError", "load_scenario"]

FIELDS = (
    "name",
    "about",
    "start",
    "until",
    "seeds",
    "cluster",
    "queues",
    "arrivals",
    *outages.SECTIONS,
    "policies",
)
NOT_THE_SAME = (
    "with seed {seed} comes something else when it is asked for again, so that policies would have different jobs: draw all "
    "chance from the seed that events(seed) is given (rng = random.Random(seed)), and nothing from the clock"
)
REHEARSED = 2_000
"""so many steps of the first seed are looked at before anything is played"""


@dataclass(frozen=True)
class Scenario:
    """See the module. `policies`: names and paths, as `--policy` takes them, or policies. `files`: those that were read for it,
    its own first: if one of them changes, so does the scenario."""

    name: str
    path: Path
    sources: tuple[Source, ...]
    seeds: tuple[int, ...] = (0,)
    policies: tuple[str | Policy, ...] = ()
    about: str = ""
    start_ms: int = START_MS
    files: tuple[str, ...] = ()

    def load(self, seed: int) -> Load:
        """The run's load. ManifestError, KumiError: of what is there from the start; else when it is played."""
        stream = _Played(self.sources, self.start_ms, seed)
        return Load(
            self.name, stream.setting(), stream.events, self.start_ms, written=stream.written, whence=stream.whence
        )

    def objects(self, seed: int) -> Iterator[tuple[int, Verb, JsonObject]]:
        """(when, what is done, with which manifest), by time. KumiError for what has no manifest (written.py)."""
        for moment in together(self.sources, seed):
            if isinstance(moment, Step):
                yield moment.at_ms, moment.verb, moment.object
            else:
                yield from ((moment.at_ms, verb, obj) for verb, obj in manifests_of(moment.event))


@dataclass(frozen=True, slots=True)
class _Played:
    """The sources of a scenario as a load's setting and events: the first Change at the start is what is there."""

    sources: tuple[Source, ...]
    start_ms: int
    seed: int

    def setting(self) -> tuple[Noun, ...]:
        """What is there at the start."""
        first = next(self.written(), None)
        return self._nouns(first.event) if first is not None else ()

    def events(self) -> Iterator[Event]:
        """What happens then."""
        stream = self._all()
        first = next(stream, None)
        if first is not None and not self._nouns(first):
            yield first
        yield from stream

    def written(self) -> Iterator[Written]:
        """The setting and the events with their objects."""
        return Stage().written(together(self.sources, self.seed))

    def whence(self, key: str) -> Sequence[str]:
        """Where the first two jobs of that key come from."""
        return tuple(islice((one.place for one in together(self.sources, self.seed) if _creates(one, key)), 2))

    def _all(self) -> Iterator[Event]:
        return Stage().events(together(self.sources, self.seed))

    def _nouns(self, event: Event) -> tuple[Noun, ...]:
        """Of the first event, if it is what is there at the start."""
        if not isinstance(event, Change) or event.at_ms > self.start_ms:
            return ()
        if not all(isinstance(delta, Put) for delta in event.deltas):
            return ()
        return tuple(delta.noun for delta in event.deltas if isinstance(delta, Put))


def _creates(moment: Moment, key: str) -> bool:
    """Whether a job of that key comes with it."""
    if isinstance(moment, Told):
        return isinstance(moment.event, Arrive) and moment.event.job.key == key
    meta = moment.object.get("metadata") or {}
    named = f"{meta.get('namespace') or 'default'}/{meta.get('name')}" == key
    return named and moment.verb == "create" and Arriving().takes(moment.object)


def load_scenario(path: str | Path, parameters: Mapping[str, Value] | None = None) -> Scenario:
    """The scenario of a YAML or Python file, with these parameters in place of its own. ScenarioError."""
    path = Path(path)
    if path.suffix == ".py":
        return _of_python(path, parameters or {})
    part = read(path, parameters or {})
    fields = part.fields(*FIELDS)
    start_ms = _start(fields["start"])
    there = cluster.setting(fields["cluster"], fields["queues"], start_ms)
    until = start_ms + fields["until"].span_ms(least=1) if fields["until"] else None
    out = outages.outages([(name, fields[name]) for name in outages.SECTIONS], there, start_ms, until)
    if not fields["arrivals"].items() and not any(fields[name].items() for name in outages.SECTIONS):
        fields["arrivals"].wrong("nothing arrives and nothing else happens: say which jobs come, and when")
    nodes = _nodes(fields["cluster"], there, start_ms)
    found = Scenario(
        name=fields["name"].text(path.stem),
        path=path,
        sources=(partial(_steps, there), out.steps, *arrivals.sources(fields["arrivals"], start_ms, nodes)),
        seeds=_seeds(fields["seeds"]),
        policies=_policies(fields["policies"]),
        about=fields["about"].text(),
        start_ms=start_ms,
        files=(str(path), *map(str, part.document.files)),
    )
    part.document.finish()
    _rehearse(found)
    return found


def _nodes(part: Part, there: Sequence[Step], start_ms: int) -> list[Node] | None:
    """The nodes at the start; None: the cluster is wrong, and what is wrong with it is noted."""
    if part.document.faults:
        return None
    try:
        setting = _Played((partial(_steps, there),), start_ms, 0).setting()
    except KumiError as error:
        part.wrong(str(error))
        return None
    return [noun for noun in setting if isinstance(noun, Node)]


def _steps(steps: Sequence[Moment], seed: int) -> Iterator[Moment]:
    return iter(steps)


def _start(part: Part) -> int:
    try:
        found = parse_time(part.text()) if part else START_MS
    except ValueError:
        found = None
    if found is None:
        part.wrong(f"{part.value!r} is no time: write one like 2026-01-01T00:00:00Z")
    return found if found is not None else START_MS


def _seeds(part: Part) -> tuple[int, ...]:
    if not isinstance(part.value, list):
        return tuple(range(part.whole(1, least=1, most=SEEDS_AT_MOST)))
    seeds = tuple(dict.fromkeys(each.whole(0, most=LARGEST_SEED) for each in part.items()))
    if not seeds:
        part.wrong("must be a number of seeds, or a list of some")
    return seeds


def _policies(part: Part) -> tuple[str | Policy, ...]:
    """Those that are written, each under a name of its own."""
    found: list[str | Policy] = []
    path_of: dict[str, str] = {}
    for each in part.items():
        for one in _policy(each):
            name = one.name if isinstance(one, Policy) else policies.name_of(one)
            if name in path_of:
                each.wrong(
                    f"is named {name}, and so is {path_of[name]}: leave one of them out, or give it another name"
                )
            path_of.setdefault(name, each.path)
            found.append(one)
    return tuple(found)


def _policy(part: Part) -> list[str | Policy]:
    """A policy as it is written: a built-in name, a file beside the scenario, or one that stands here."""
    if not isinstance(part.value, dict):
        name = part.text()
        if not name:
            part.wrong("must be a name, a file, or a policy")
        beside = part.document.beside(name)
        if policies.known(name) or not beside.is_file():
            if not policies.known(name):
                part.wrong(
                    f"there is no policy {name}: built-in are {', '.join(policies.BUILTIN)}; and there is no such file"
                )
            return [name]
        return [str(beside)]
    fields = part.fields("name", "policy", "objects")
    raw = fields["policy"].value if fields["policy"] else {}
    try:
        profile = checked(raw, part.document.path)
        nouns = nouns_of(listed(fields["objects"]))
    except KumiError as error:
        part.wrong(str(error))
        return []
    as_gangs = isinstance(raw, dict) and any(raw.get(field) is not None for field in policies.GANGS)
    return [Policy(fields["name"].text(f"policy-{part.path}"), profile, as_gangs=as_gangs, nouns=nouns)]


def _of_python(path: Path, parameters: Mapping[str, Value]) -> Scenario:
    """A Python file as a scenario; the parameters are the function's arguments."""
    try:
        generator = Generator(path, tuple(parameters.items()), START_MS)
        names = run(path, Beside(path))
    except KumiError as error:
        raise ScenarioError(path, [str(error)]) from error
    document = Document(path, b"")
    seeds = _seeds(Part(document, names.get("SEEDS"), "SEEDS"))
    chosen = _policies(Part(document, names.get("POLICIES"), "POLICIES"))
    document.finish()
    files = str(path), *map(str, (*generator.files, *document.files))
    found = Scenario(str(names.get("NAME", path.stem)), path, (generator.moments,), seeds, chosen, files=files)
    _rehearse(found)
    return found


def _rehearse(scenario: Scenario) -> None:
    """ScenarioError, if one of the first steps of the first seed can't be, or a generator yields another when it is asked again:
    policies would have different jobs."""
    seed = scenario.seeds[0]
    try:
        for _ in Stage().written(islice(together(scenario.sources, seed), REHEARSED)):
            pass
        for source in scenario.sources:
            if isinstance(getattr(source, "__self__", None), Generator):
                # one after the other: a generator may seed Python's own, which both would draw from
                first, second = (list(islice(source(seed), REHEARSED)) for _ in range(2))
                _refuse_other(first, second, seed)
    except KumiError as error:
        raise ScenarioError(scenario.path, [str(error)]) from error


def _refuse_other(first: Sequence[Moment], second: Sequence[Moment], seed: int) -> None:
    for one, other in zip_longest(first, second):
        if one != other:
            raise KumiError(f"{(one or other).place}: {NOT_THE_SAME.format(seed=seed)}")
