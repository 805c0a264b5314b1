from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.errors import KumiError
from kumi.bridge import topology

names = st.text(alphabet="ab-1", min_size=1, max_size=6)
placed = st.lists(st.tuples(names, st.integers(1, 3)), max_size=8).map(tuple)


@given(placed)
def test_what_is_written_is_read_back(nodes: topology.Nodes) -> None:
    assert topology.nodes(topology.assignment(nodes)) == nodes


@given(placed)
def test_no_root_is_empty(nodes: topology.Nodes) -> None:
    made = topology.assignment(nodes) or {"slices": []}
    columns = [column for part in made["slices"] for column in part["valuesPerLevel"]]
    assert all(root for column in columns if "individual" in column for root in column["individual"]["roots"])


def test_one_node_is_a_universal_value() -> None:
    assert topology.assignment((("node-a", 4),)) == {
        "levels": ["kubernetes.io/hostname"],
        "slices": [
            {"domainCount": 1, "valuesPerLevel": [{"universal": "node-a"}], "podCounts": {"universal": 4}},
        ],
    }


def test_names_share_their_prefix_and_suffix() -> None:
    made = topology.assignment((("pool-1.zone", 2), ("pool-2.zone", 1)))
    assert made is not None
    assert made["slices"] == [
        {
            "domainCount": 2,
            "valuesPerLevel": [{"individual": {"prefix": "pool-", "suffix": ".zone", "roots": ["1", "2"]}}],
            "podCounts": {"individual": [2, 1]},
        }
    ]


def test_a_long_name_is_split_into_words_that_the_api_takes() -> None:
    name = "n" * 150
    made = topology.assignment(((name, 1),))
    assert made is not None
    column = made["slices"][0]["valuesPerLevel"][0]["individual"]
    assert max(len(word) for word in (column["prefix"], column["suffix"], *column["roots"])) <= 63
    assert topology.nodes(made) == ((name, 1),)


def test_a_large_gang_is_cut_into_slices_in_order() -> None:
    nodes = tuple((f"node-{i}", 1) for i in range(topology.SLICE_AT_MOST + 1))
    made = topology.assignment(nodes)
    assert made is not None
    assert [part["domainCount"] for part in made["slices"]] == [topology.SLICE_AT_MOST, 1]
    assert topology.nodes(made) == nodes


def test_several_levels_are_read_down_to_the_host() -> None:
    written = {
        "levels": ["rack", "kubernetes.io/hostname"],
        "slices": [
            {
                "domainCount": 2,
                "valuesPerLevel": [{"universal": "r1"}, {"individual": {"prefix": "n", "roots": ["1", "2"]}}],
                "podCounts": {"universal": 3},
            }
        ],
    }
    assert topology.nodes(written) == (("n1", 3), ("n2", 3))


def test_the_older_form_is_read() -> None:
    written = {"levels": ["kubernetes.io/hostname"], "domains": [{"values": ["n1"], "count": 2}]}
    assert topology.nodes(written) == (("n1", 2),)


def test_an_assignment_above_the_host_names_no_node() -> None:
    assert topology.nodes({"levels": ["rack"], "slices": []}) == ()
    assert topology.nodes(None) == ()


def test_counts_that_do_not_match_are_an_error() -> None:
    part = {"domainCount": 2, "valuesPerLevel": [{"universal": "n"}], "podCounts": {"individual": [1]}}
    with pytest.raises(KumiError, match="can't be read"):
        topology.nodes({"levels": ["kubernetes.io/hostname"], "slices": [part]})
