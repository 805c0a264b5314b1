"""Jobs by chance, as a scenario has them: what generators.py makes.

    jobs:
      count: 1000                       # how many; or until when they come (both: what is first)
      until: 24h
      at: 0s                            # from then on
      rate: 120                         # an hour; or `load: 0.85`, of what the scenario's nodes have
      pattern: poisson                  # or diurnal, regular; {diurnal: {swing: 0.5, period: 24h, peak: 14h}}
      runs: {lognormal: {median: 30m, sigma: 1.5, most: 24h}}
      says: 1.5                         # their owners say so many times the truth; 0: nothing
      deadline: 3                       # so many times as long after they came
      checkpoint: 10m
      tenants: {research: 3, product: 1}     # weights; a tenant is a namespace
      kinds:
        - name: small
          weight: 3
          asks: {cpu: 1, nvidia.com/gpu: 1}
          pods: 4                       # or sizes with their weights: {1: 6, 4: 3, 8: 1}
          as: pod                       # or gang, workload
          queue: default                # its LocalQueue, or Queue
          priority: 0
          gpuModel: A100                # or several: [A100, H100]
          runs: 1h                      # in place of the one above

Not here   what the words lead to: generators.py, spreads.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kumi.api.errors import KumiError
from kumi.api.quantity import parse
from kumi.engine.model import Node, PodShape, Requirement
from kumi.evaluator.generators import Arrivals, Diurnal, Generated, Kind, Plan, Poisson, Regular, per_hour, sized
from kumi.evaluator.model import Role, Via
from kumi.evaluator.scenarios.cluster import MODEL
from kumi.evaluator.scenarios.document import Part
from kumi.evaluator.scenarios.lengths import spread
from kumi.evaluator.scenarios.steps import Moment, Source, Told, seed_of
from kumi.evaluator.spreads import Fixed, Spread
from kumi.jobs.due import DAY_MS

FIELDS = (
    "count",
    "until",
    "at",
    "rate",
    "load",
    "pattern",
    "runs",
    "says",
    "deadline",
    "checkpoint",
    "tenants",
    "kinds",
)
OF_KIND = ("name", "weight", "asks", "pods", "as", "queue", "priority", "gpuModel", "runs")
PATTERNS = ("poisson", "diurnal", "regular")
PEAK_MS = 14 * 3_600_000
PODS_AT_MOST = 1_000_000
"""of a job: more are a slip of the pen"""


def source(part: Part, number: int, start_ms: int, nodes: list[Node] | None) -> list[Source]:
    """The jobs of a part; none where something is wrong, which is noted."""
    before = len(part.document.faults)
    fields = part.fields(*FIELDS)
    usual = spread(fields["runs"])
    kinds = [kind for each in fields["kinds"].items() for kind in _kinds(each, usual, fields["runs"])]
    tenants = tuple((name, each.number(1.0)) for name, each in fields["tenants"].members().items())
    if not fields["kinds"]:
        fields["kinds"].wrong("says what jobs there are: at least one kind, with what it asks for")
    if not fields["count"] and not fields["until"]:
        part.wrong("goes on for ever: say how many (`count`), or `until` when")
    if len(part.document.faults) > before:
        return []
    try:
        says = fields["says"].number(1.0)
        if says < 0:
            fields["says"].wrong(f"must be 0 (owners say nothing) or more, not {says}")
        plan = Plan(
            arrivals=_arrivals(fields, kinds, nodes),
            kinds=tuple(kinds),
            jobs=fields["count"].whole(1) if fields["count"] else None,
            until_ms=fields["until"].span_ms(least=1) - fields["at"].span_ms() if fields["until"] else None,
            tenants=tenants or (("default", 1.0),),
            says=says or None,
            slack=fields["deadline"].number(1.0, above=0) if fields["deadline"] else None,
            checkpoint_ms=fields["checkpoint"].span_ms(least=1) if fields["checkpoint"] else None,
        )
    except KumiError as error:
        part.wrong(str(error))
        return []
    made = _Chance(plan, number, start_ms + fields["at"].span_ms(), part.place)
    return [made.moments] if len(part.document.faults) == before else []


@dataclass(frozen=True, slots=True)
class _Chance:
    """A plan, with a seed of its own in each run."""

    plan: Plan
    number: int
    start_ms: int
    place: str

    def moments(self, seed: int) -> Iterator[Moment]:
        """The arrivals."""
        made = Generated(self.plan, seed_of(seed, self.number), self.start_ms)
        return (Told(event, self.place) for event in made.events())


def _arrivals(fields: dict[str, Part], kinds: list[Kind], nodes: list[Node] | None) -> Arrivals:
    if bool(fields["rate"]) == bool(fields["load"]):
        raise KumiError("needs one of `rate` (jobs an hour) and `load` (a part of the cluster)")
    load = fields["load"].number(1.0, above=0)
    rate = fields["rate"].number(1.0, above=0)
    if fields["load"] and nodes is not None:
        rate = per_hour(kinds, load, nodes)
    pattern = fields["pattern"]
    if not isinstance(pattern.value, dict):
        match pattern.word(*PATTERNS):
            case "diurnal":
                return Diurnal(rate)
            case "regular":
                return Regular(rate)
        return Poisson(rate)
    said = pattern.fields("diurnal")["diurnal"].fields("swing", "period", "peak")
    period, peak = said["period"].span_ms(DAY_MS, least=1), said["peak"].span_ms(PEAK_MS)
    return Diurnal(rate, said["swing"].number(0.5), period, peak)


def _kinds(part: Part, usual: Spread | None, of_all: Part) -> tuple[Kind, ...]:
    """`usual`: what the part `of_all` says of how long they run; None: nothing, or what is wrong."""
    fields = part.fields(*OF_KIND)
    name = fields["name"].text("job")
    runs = spread(fields["runs"]) or usual
    if not fields["runs"] and not of_all:
        part.wrong("says nothing of how long it runs: give `runs`, here or for all kinds")
    pods = fields["pods"]
    kind = Kind(
        name=name,
        roles=(
            Role(
                "task", 1 if isinstance(pods.value, dict) else pods.whole(1, least=1, most=PODS_AT_MOST), _shape(fields)
            ),
        ),
        runs=runs or Fixed(1),
        weight=fields["weight"].number(1.0),
        via=Via(fields["as"].word(*(via.value for via in Via))),
        queue=fields["queue"].text(),
        priority=fields["priority"].whole(0, least=-(2**31)),
    )
    if kind.via is Via.WORKLOAD and not kind.queue:
        fields["queue"].wrong("a workload needs a queue: the name of a LocalQueue in its tenant's namespace")
    if not isinstance(pods.value, dict):
        return (kind,)
    sizes = {int(size): each.number(1.0) for size, each in pods.members().items() if size.isdecimal()}
    if len(sizes) < len(pods.members()) or max(sizes, default=0) > PODS_AT_MOST:
        pods.wrong(f"sizes are whole numbers, {PODS_AT_MOST:,} at most: {{1: 6, 4: 3}}")
        return ()
    try:
        return sized(kind, sizes)
    except KumiError as error:
        pods.wrong(str(error))
        return ()


def _shape(fields: dict[str, Part]) -> PodShape:
    requests: dict[str, int] = {}
    for resource, each in fields["asks"].members().items():
        try:
            requests[resource] = parse(each.text("0"), resource)
            if requests[resource] < 0:
                each.wrong(f"must be 0 or more, not {each.text()}")
        except KumiError as error:
            each.wrong(str(error))
    if not fields["asks"]:
        fields["asks"].wrong("says what a pod asks for, such as {cpu: 1, memory: 4Gi}")
    models = tuple(each.text() for each in fields["gpuModel"].items())
    affinity = ((Requirement(MODEL, "In", models),),) if models else None
    return PodShape(tuple(sorted(requests.items())), affinity=affinity)
