"""Config maps: the policy in one, and the lines of the file around it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.api.errors import KumiError
from kumi.api.yaml import load_all
from kumi.engine.policy import parse
from kumi.runtime.config_maps import is_config_map, unwrapped
from kumi.runtime.policy_files import line_of, read_policy

HEAD = """\
# installed by hand
apiVersion: v1
kind: ConfigMap
metadata: {name: volcano-scheduler-configmap, namespace: volcano-system}
data:
"""
CONF = """\
actions: "allocate, backfill"
tiers:
- plugins:
  - name: gang
  - name: predicates
    arguments: {predicate.VolumeZoneEnable: false}
"""


def block(conf: str, key: str = "volcano-scheduler.conf") -> str:
    """As people write it."""
    return HEAD + f"  {key}: |\n" + "".join(f"    {line}\n" if line else "\n" for line in conf.splitlines())


def quoted(conf: str) -> str:
    """As some tools do."""
    escaped = conf.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return HEAD + f'  volcano-scheduler.conf: "{escaped}"\n'


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "policy.yaml"
    path.write_text(text, "utf-8")
    return path


def raw_of(text: str) -> dict[str, object]:
    (raw,) = load_all(text)
    assert isinstance(raw, dict)
    return raw


@given(above=st.integers(0, 4), blank=st.integers(0, 3))
@settings(max_examples=20)
def test_every_field_of_a_block_is_on_its_own_line(above: int, blank: int) -> None:
    conf = "\n" * blank + CONF
    text = "# c\n" * above + block(conf)
    inner = unwrapped(raw_of(text), text.encode())
    lines = text.splitlines()
    assert inner.raw == raw_of(conf)
    for path, there in (("tiers", "tiers:"), ("tiers[0].plugins[1].name", "predicates"), ("actions", "actions")):
        assert there in lines[line_of(inner.text, path) - 1]


@pytest.mark.parametrize("text", [block(CONF), quoted(CONF), block(CONF, "mine.conf")])
def test_what_it_holds_is_the_policy(tmp_path: Path, text: str) -> None:
    assert read_policy(write(tmp_path, text)) == parse(raw_of(CONF))


def test_the_file_of_kueues_installer_is_one_too(tmp_path: Path) -> None:
    text = block("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n", "controller_manager_config.yaml")
    assert read_policy(write(tmp_path, text)) == parse({})


def test_of_several_values_the_one_whose_name_says_so_is_it(tmp_path: Path) -> None:
    text = block(CONF) + "  notes.txt: hello\n"
    assert read_policy(write(tmp_path, text)) == parse(raw_of(CONF))


def test_one_that_holds_nothing_is_the_default(tmp_path: Path) -> None:
    assert read_policy(write(tmp_path, HEAD + '  volcano-scheduler.conf: ""\n')) == parse(None)


WRONG = CONF.replace("gang", "tetris")


@pytest.mark.parametrize(("text", "line"), [(block(WRONG), 10), (block("\n\n" + WRONG), 12), (quoted(WRONG), 6)])
def test_a_wrong_field_is_told_with_its_line_in_the_file(tmp_path: Path, text: str, line: int) -> None:
    with pytest.raises(KumiError) as caught:
        read_policy(write(tmp_path, text))
    (said,) = str(caught.value).splitlines()[1:]
    assert said.startswith(f"  line {line}: tiers[0].plugins[0].name:")
    assert text.count("tetris") == 1
    assert "tetris" in text.splitlines()[line - 1]


EMPTY = "---\n---\n"


@given(above=st.integers(0, 3))
@settings(max_examples=4)
def test_empty_documents_before_it_move_its_lines_and_nothing_else(above: int) -> None:
    text = EMPTY * above + "---\n" + block(WRONG)
    inner = unwrapped(raw_of(text), text.encode())
    assert "tetris" in text.splitlines()[line_of(inner.text, "tiers[0].plugins[0].name") - 1]
    plain = EMPTY * above + "---\n" + WRONG
    assert "tetris" in plain.splitlines()[line_of(plain.encode(), "tiers[0].plugins[0].name") - 1]
    within = block(EMPTY * above + "---\n" + WRONG)
    inner = unwrapped(raw_of(within), within.encode())
    assert "tetris" in within.splitlines()[line_of(inner.text, "tiers[0].plugins[0].name") - 1]


MERGED = (
    "---\n<<: &x {data: {volcano-scheduler.conf: 'scoring: nobody'}}\napiVersion: v1\nkind: ConfigMap\n",
    "---\napiVersion: v1\nkind: ConfigMap\ndata: {<<: {volcano-scheduler.conf: 'scoring: nobody'}}\n",
)


@pytest.mark.parametrize("text", MERGED)
def test_what_a_merge_key_brings_is_on_the_line_of_the_config_map(tmp_path: Path, text: str) -> None:
    with pytest.raises(KumiError, match=r"wrong:\n  line 2: scoring"):
        read_policy(write(tmp_path, text))


def test_data_that_a_merge_key_brings_and_that_holds_no_policy_is_told_with_the_line_of_the_config_map(
    tmp_path: Path,
) -> None:
    with pytest.raises(KumiError, match="line 2: data: a ConfigMap holds a policy"):
        read_policy(write(tmp_path, "---\n<<: {data: {}}\napiVersion: v1\nkind: ConfigMap\n"))


@pytest.mark.parametrize("value", ["!!binary aGk=", "!!timestamp 2024-01-01", "!!set {a}"])
def test_what_json_cannot_say_is_told_with_the_line_of_the_value(tmp_path: Path, value: str) -> None:
    with pytest.raises(KumiError, match=r'line 6: data\["volcano-scheduler.conf"\], whose line 1 this is: line 1: !!'):
        read_policy(write(tmp_path, quoted(f"scoring: {value}")))
    with pytest.raises(KumiError, match=r'line 6: data\["volcano-scheduler.conf"\]: line 7: !!'):
        read_policy(write(tmp_path, block(f"scoring: {value}")))


def test_a_value_that_is_no_yaml_is_told_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(KumiError, match=r"line 8, column"):
        read_policy(write(tmp_path, block("actions: a\ntiers: *x\n")))
    with pytest.raises(KumiError, match=r"line 6: data.*whose line 1 this is"):
        read_policy(write(tmp_path, quoted("actions: [")))


@pytest.mark.parametrize(
    ("data", "line"), [("", 5), ("  a: x\n  b: y\n", 6), ("  a: 1\n", 6), ("  a: [x]\n", 6), ("  - x\n", 6)]
)
def test_one_without_a_policy_is_told(tmp_path: Path, data: str, line: int) -> None:
    with pytest.raises(KumiError, match=rf"line {line}: data: a ConfigMap holds a policy"):
        read_policy(write(tmp_path, HEAD + data))


def test_a_value_is_one_document(tmp_path: Path) -> None:
    with pytest.raises(KumiError, match="must be one document, not 2"):
        read_policy(write(tmp_path, block(CONF + "---\n" + CONF)))


def test_only_config_maps_are_config_maps() -> None:
    assert is_config_map(raw_of(block(CONF)))
    assert not is_config_map({"kind": "Configuration", "apiVersion": "config.kueue.x-k8s.io/v1beta2"})
    assert not is_config_map(None)
