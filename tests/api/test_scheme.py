from __future__ import annotations

import pytest

from kumi.api.core import Pod
from kumi.api.errors import KumiError
from kumi.api.kueue import Workload
from kumi.api.meta import Object
from kumi.api.scheme import Kind, Scheme, load

SCHEME = load()


class Thing(Object):
    """A kind of this test."""


def thing(plural: str = "things") -> Kind:
    return Kind("example.com", "v2", "Thing", plural, Thing, conversions={"v1": (lambda o: o, lambda o: o)})


def test_a_kind_is_found_by_kind_by_plural_by_type_and_by_object() -> None:
    scheme = Scheme()
    kind = scheme.register(thing())
    assert (
        scheme.find("example.com", "Thing") is scheme.find_plural("example.com", "things") is scheme.of(Thing) is kind
    )
    assert scheme.of_object({"apiVersion": "example.com/v1", "kind": "Thing"}) is kind
    assert scheme.of_object({"apiVersion": "v1", "kind": "Thing"}) is None
    assert scheme.of_object({}) is None
    assert list(scheme) == [kind]


def test_a_kind_is_registered_once() -> None:
    scheme = Scheme()
    scheme.register(thing())
    with pytest.raises(KumiError, match="twice"):
        scheme.register(thing("others"))


def test_a_kind_knows_its_names() -> None:
    assert (thing().api_version, thing().resource, thing().versions) == (
        "example.com/v2",
        "things.example.com",
        ("v2", "v1"),
    )
    assert (SCHEME.of(Pod).api_version, SCHEME.of(Pod).resource) == ("v1", "pods")


def test_short_names_lead_to_one_kind_and_plurals_to_one_kind_of_a_group() -> None:
    plurals = [(kind.group, kind.plural) for kind in SCHEME]
    assert len(plurals) == len(set(plurals))
    own = [kind for kind in SCHEME if kind.twin is None]
    short = [name for kind in own for name in kind.short_names]
    assert len(short) == len(set(short))
    # kubectl takes a plural for what it is before it looks at short names: `queues` are Volcano's, `queue` and `lq` Kueue's
    assert {kind.plural for kind in own} & set(short) == {"queues"}


def test_names_that_users_know() -> None:
    short = {name: kind.kind for kind in SCHEME for name in kind.short_names}
    assert short.items() >= {
        "po": "Pod", "no": "Node", "ns": "Namespace", "svc": "Service", "cm": "ConfigMap", "ep": "Endpoints", "ev": "Event",
        "sa": "ServiceAccount", "pc": "PriorityClass", "hpa": "HorizontalPodAutoscaler", "cq": "ClusterQueue", "lq": "LocalQueue",
        "queue": "LocalQueue", "wl": "Workload", "rf": "ResourceFlavor", "flavor": "ResourceFlavor",
    }.items()  # fmt: skip


def test_every_kind_is_validated_and_custom_ones_take_no_strategic_patch() -> None:
    for kind in SCHEME:
        assert kind.validate is not None, kind.kind
        assert kind.custom is not kind.strategic, kind.kind
        assert kind.custom is not bool(kind.schema), kind.kind
        assert kind.custom or not kind.conversions


def test_what_is_served_in_two_versions_has_a_type_for_each() -> None:
    assert SCHEME.of(Workload).versions == ("v1beta2", "v1beta1")
    for kind in SCHEME:
        assert set(kind.served_types) == set(kind.conversions)


def test_columns_have_a_path_or_a_cell_and_custom_kinds_have_paths() -> None:
    for kind in SCHEME:
        assert kind.columns
        for column in kind.columns:
            assert bool(column.path) is not bool(column.cell), (kind.kind, column.name)
            assert column.path or not kind.custom


def test_a_scheme_grows_and_shrinks_and_its_copies_and_readers_stay_as_they_were() -> None:
    scheme = Scheme()
    scheme.register(thing())
    copy, walk = scheme.copy(), iter(scheme)
    assert next(walk).plural == "things"
    again = thing()
    scheme.put(again)
    assert scheme.find_plural("example.com", "things") is scheme.of(Thing) is again
    assert copy.find("example.com", "Thing") is not again
    scheme.remove("example.com", "Thing")
    assert (list(scheme), scheme.find_plural("example.com", "things")) == ([], None)
    assert list(walk) == []
    scheme.remove("example.com", "Thing")
    assert copy.find("example.com", "Thing") is not None


def test_a_plural_that_another_kind_has_is_not_given_away() -> None:
    scheme = Scheme()
    scheme.register(thing())
    with pytest.raises(KumiError):
        scheme.put(Kind("example.com", "v2", "Other", "things", type("Other", (Object,), {})))


def test_what_a_server_puts_into_its_scheme_stays_its_own() -> None:
    mine, other = load(), load()
    mine.put(thing())
    assert mine.find("example.com", "Thing") is not None
    assert other.find("example.com", "Thing") is None
    assert load().find("example.com", "Thing") is None
