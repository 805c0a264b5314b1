"""Sources: where the jobs of a run come from, as paths and numbers that another process can be told.

    Trace           files of a format, and how they are reshaped
    ScenarioFile    a scenario, with parameters of one's own, and how it is reshaped
    Given           a Load that is there already (from Python)
    Stated          a policy that stands in a scenario: which one

Rule        `load(seed)` is the load; equal sources and seeds give equal loads, in whatever process. What of a trace is left to
            chance (which jobs, in which order) is drawn by `sample_seed`, else by the run's own seed: so policies that are
            compared with one seed meet the same jobs.
Order       of reshaping, whatever the order of the options: nodes, resample, sample, inflate, compress, departures, drop.
Cost        the last two loads are kept: the policies of an experiment read a trace's files once.
Not here    how files are read: traces/, scenarios/; what reshaping does: reshape.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from kumi.api.errors import KumiError
from kumi.evaluator import reshape
from kumi.evaluator.model import Load, Policy

if TYPE_CHECKING:
    from kumi.evaluator.scenarios import Scenario

Value: TypeAlias = bool | int | float | str
Parameters: TypeAlias = tuple[tuple[str, Value], ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """How a load is reshaped; the fields are those of kumi.evaluator.reshape. None, False: it stays as it is."""

    gpu_nodes: bool = False
    scale_nodes: float | int | None = None
    resample: bool = False
    sample: int | None = None
    inflate: float | None = None
    compress_time: float | None = None
    no_departures: bool = False
    drop_waiting: bool = False

    @property
    def by_chance(self) -> bool:
        """Whether the outcome depends on a seed."""
        return self.resample or self.sample is not None or self.inflate is not None

    def with_parameters(self, parameters: Parameters) -> Shape:
        """The same with these in place of its own, of those that it has. KumiError."""
        given = {name: _parameter(name, value) for name, value in parameters if name in PARAMETERS}
        return replace(self, **given)

    def of(self, load: Load, seed: int) -> Load:
        """The load in this shape."""
        if self.gpu_nodes:
            load = reshape.gpu_nodes(load)
        if self.scale_nodes is not None:
            load = reshape.scale_nodes(load, self.scale_nodes)
        if self.resample:
            load = reshape.resample(load, seed)
        if self.sample is not None:
            load = reshape.sample(load, self.sample, seed)
        if self.inflate is not None:
            load = reshape.inflate(load, self.inflate, seed)
        if self.compress_time is not None:
            load = reshape.compress_time(load, self.compress_time)
        if self.no_departures:
            load = reshape.no_departures(load)
        return reshape.drop_waiting(load) if self.drop_waiting else load


PARAMETERS = tuple(field.name for field in fields(Shape))
"""what a grid over a trace may vary"""


class Source(Protocol):
    """See the module. Hashable, and pickled to other processes."""

    def load(self, seed: int) -> Load:
        """The load of a run with that seed. KumiError."""
        ...

    def with_parameters(self, parameters: Parameters) -> Source:
        """The same with these in place of its own. KumiError for one that it doesn't have."""
        ...

    def files(self) -> Sequence[str]:
        """What is read: if one of these changes, so does the load."""
        ...

    @property
    def words(self) -> str:
        """What tells it from others; "" where the load alone does."""
        ...

    def policy(self, number: int) -> Policy:
        """One that it states itself. KumiError: it doesn't state so many."""
        ...

    @property
    def endless(self) -> bool:
        """Whether no job comes to an end."""
        ...


@dataclass(frozen=True, slots=True)
class Stated:
    """The policy of that number of those that stand in a scenario."""

    number: int
    name: str


@dataclass(frozen=True, slots=True)
class Trace:
    """Files of a format (kumi.evaluator.traces)."""

    format: str
    jobs: str
    nodes: str = ""
    options: tuple[tuple[str, str], ...] = ()
    shape: Shape = Shape()
    sample_seed: int | None = None

    def load(self, seed: int) -> Load:
        """See Source."""
        chance = seed if self.sample_seed is None else self.sample_seed
        return _reshaped(self, chance if self.shape.by_chance else 0, stamps(self.files()))

    def with_parameters(self, parameters: Parameters) -> Source:
        """See Source."""
        for name, _ in parameters:
            if name not in PARAMETERS:
                raise KumiError(f"a trace has no parameter {name!r}: it may be {', '.join(PARAMETERS)}")
        return replace(self, shape=self.shape.with_parameters(parameters))

    def files(self) -> Sequence[str]:
        """See Source."""
        return tuple(path for path in (self.nodes, self.jobs) if path)

    def policy(self, number: int) -> Policy:
        """See Source."""
        raise KumiError("a trace states no policies")

    @property
    def words(self) -> str:
        """See Source."""
        return repr(self)

    @property
    def endless(self) -> bool:
        """See Source."""
        return self.shape.no_departures


@dataclass(frozen=True, slots=True)
class ScenarioFile:
    """A scenario's file (kumi.evaluator.scenarios)."""

    path: str
    parameters: Parameters = ()
    shape: Shape = Shape()
    sample_seed: int | None = None

    @property
    def scenario(self) -> Scenario:
        """What is in the file. ScenarioError."""
        return _reading(self.path, self.parameters).now()

    def load(self, seed: int) -> Load:
        """See Source."""
        return self.shape.of(self.scenario.load(seed), seed if self.sample_seed is None else self.sample_seed)

    def with_parameters(self, parameters: Parameters) -> ScenarioFile:
        """See Source. What a Shape has is a parameter as well; others are the scenario's."""
        own = {**dict(self.parameters), **{name: value for name, value in parameters if name not in PARAMETERS}}
        return replace(self, parameters=tuple(own.items()), shape=self.shape.with_parameters(parameters))

    def files(self) -> Sequence[str]:
        """See Source."""
        return self.scenario.files

    @property
    def words(self) -> str:
        """See Source."""
        return repr(self)

    def policy(self, number: int) -> Policy:
        """See Source."""
        found = self.scenario.policies[number] if number < len(self.scenario.policies) else None
        if not isinstance(found, Policy):
            raise KumiError(f"{self.path} states no policy of number {number}")
        return found

    @property
    def policies(self) -> tuple[str | Stated, ...]:
        """Those that it names or states."""
        said = enumerate(self.scenario.policies)
        return tuple(Stated(number, one.name) if isinstance(one, Policy) else one for number, one in said)

    @property
    def endless(self) -> bool:
        """See Source."""
        return self.shape.no_departures


def _parameter(name: str, value: Value) -> Any:
    """The value as Shape has it. KumiError."""
    if name == "scale_nodes" and isinstance(value, str):
        return reshape.part(value)
    switch = isinstance(getattr(Shape(), name), bool)
    whole = name == "sample"
    if isinstance(value, bool) is not switch or isinstance(value, str) or (whole and not isinstance(value, int)):
        must = "true or false" if switch else "a whole number" if whole else "a number"
        raise KumiError(f"the parameter {name} must be {must}, not {value!r}")
    return value


@dataclass(frozen=True, eq=False)
class Given:
    """A load that is there already."""

    there: Load

    def load(self, seed: int) -> Load:
        """See Source."""
        return self.there

    def with_parameters(self, parameters: Parameters) -> Source:
        """See Source."""
        if parameters:
            raise KumiError("a Load has no parameters: reshape it first (kumi.evaluator.reshape)")
        return self

    def files(self) -> Sequence[str]:
        """See Source."""
        return ()

    @property
    def words(self) -> str:
        """See Source."""
        return ""

    def policy(self, number: int) -> Policy:
        """See Source."""
        raise KumiError("a Load states no policies")

    @property
    def endless(self) -> bool:
        """See Source."""
        return False


def absolute(source: Source) -> Source:
    """The same with whole paths."""
    match source:
        case Trace():
            nodes = str(Path(source.nodes).absolute()) if source.nodes else ""
            return replace(source, jobs=str(Path(source.jobs).absolute()), nodes=nodes)
        case ScenarioFile():
            return replace(source, path=str(Path(source.path).absolute()))
    return source


@dataclass(slots=True)
class _Reading:
    """A scenario's file as it was read last, with what its files were like then."""

    path: str
    parameters: Parameters
    known: tuple[tuple[tuple[str, int, int], ...], Scenario] | None = None

    def now(self) -> Scenario:
        """The scenario, which is read again if one of its files has changed. ScenarioError."""
        from kumi.evaluator.scenarios import load_scenario

        known = self.known
        if known is None or stamps(known[1].files) != known[0]:
            found = load_scenario(self.path, dict(self.parameters))
            self.known = known = stamps(found.files), found
        return known[1]


@lru_cache(maxsize=2)
def _reading(path: str, parameters: Parameters) -> _Reading:
    return _Reading(path, parameters)


def stamps(files: Sequence[str]) -> tuple[tuple[str, int, int], ...]:
    """What changes when one of these files does: its size and when it was written; 0 for one that isn't there."""
    found = []
    for file in files:
        path = Path(file)
        stat = path.stat() if path.exists() else None
        found.append((file, stat.st_size, stat.st_mtime_ns) if stat is not None else (file, 0, 0))
    return tuple(found)


@lru_cache(maxsize=2)
def _reshaped(trace: Trace, seed: int, of: tuple[tuple[str, int, int], ...]) -> Load:
    """`of`: the files as they are now."""
    from kumi.evaluator.traces import read

    load = read(trace.format, Path(trace.nodes) if trace.nodes else None, Path(trace.jobs), **dict(trace.options))
    return trace.shape.of(load, seed)
