"""Policy files: read and checked, and what is wrong is told with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumi.api.errors import KumiError
from kumi.engine.policy import parse
from kumi.engine.settings import FairSharing
from kumi.runtime.policy_files import line_of, read_policy


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "policy.yaml"
    path.write_text(text, "utf-8")
    return path


def test_no_file_is_the_default() -> None:
    assert read_policy(None) == parse(None)


@pytest.mark.parametrize("text", ["", "---\n", "# nothing\n"])
def test_an_empty_file_is_the_default(tmp_path: Path, text: str) -> None:
    assert read_policy(write(tmp_path, text)) == parse(None)


def test_a_policy_is_read(tmp_path: Path) -> None:
    found = read_policy(write(tmp_path, "profile: kueue\nplacement: none\nfairSharing: {}\n"))
    assert (found.name, found.places, found.settings.fair) == ("kueue", False, FairSharing())


def test_a_configuration_of_kueue_is_read_as_it_is(tmp_path: Path) -> None:
    text = """
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
controller:
  groupKindConcurrency: {Job.batch: 5}
waitForPodsReady:
  timeout: 5m
resources:
  excludeResourcePrefixes: [example.com/]
"""
    found = read_policy(write(tmp_path, text)).settings
    assert found.pods_ready is not None
    assert (found.pods_ready.timeout_ms, found.excluded_prefixes) == (300_000, ("example.com/",))


def test_every_wrong_field_is_told_on_a_line_of_its_own(tmp_path: Path) -> None:
    path = write(tmp_path, "profile: tetris\nresources: {quotaCheckStrategy: Most}\n")
    with pytest.raises(KumiError) as caught:
        read_policy(path)
    head, *lines = str(caught.value).splitlines()
    assert head == f"the policy {path} is wrong:"
    told = [line.strip().split(": ")[:2] for line in lines]
    assert told == [["line 1", "profile"], ["line 2", "resources.quotaCheckStrategy"]]


@pytest.mark.parametrize(
    ("text", "said"), [("a: [", "can't be read"), ("a: 1\na: 2", "given twice"), ("{}\n---\n{}\n", "one document")]
)
def test_what_is_no_document_is_told(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(KumiError, match=said):
        read_policy(write(tmp_path, text))


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("profile", 1),
        ("tiers[0].plugins[1].name", 5),
        ("tiers[0].plugins[1].enableFoo", 6),
        ("tiers[0].plugins[7].name", 3),
        ("tiers[0].plugins", 3),
        ("missing", 1),
        ("metrics.tls.insecureSkipVerify", 8),
        ("metrics.tls.other", 7),
        ("metrics.with.dots.too[1]", 10),
    ],
)
def test_the_line_of_a_field_is_its_own_or_the_nearest_above(path: str, line: int) -> None:
    text = b"""profile: volcano
tiers:
- plugins:
  - name: gang
  - name: mine
    enableFoo: true
metrics:
  tls.insecureSkipVerify: "true"
  with.dots.too: [1,
    2]
"""
    assert line_of(text, path) == line


def test_volcanos_scheduler_file_is_read_and_its_mistakes_have_their_lines(tmp_path: Path) -> None:
    text = 'actions: "enqueue, allocate"\ntiers:\n- plugins:\n  - name: gang\n  - name: nobody\n'
    with pytest.raises(KumiError, match=r"line 5: tiers\[0\]\.plugins\[1\]\.name: Unsupported value: \"nobody\""):
        read_policy(write(tmp_path, text))


PLUGIN = """
from dataclasses import dataclass


@dataclass(frozen=True)
class Mine:
    @classmethod
    def configured(cls, option):
        return cls()

    def open(self, session):
        return self
"""


def test_a_plug_in_of_ones_own_is_a_file_beside_the_policy(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(PLUGIN)
    found = read_policy(write(tmp_path, "plugins: [mine.py]\ntiers: [{plugins: [{name: mine}]}]\n"))
    assert [option.name for option in found.conf.tiers[0]] == ["mine"]
    assert list(found.plugins) == ["mine"]


def test_mistakes_come_in_the_order_of_their_lines(tmp_path: Path) -> None:
    sla = "  - name: sla\n    arguments: {sla-waiting-time: x}\n"
    text = f"configurations: [{{name: sing}}]\ntiers:\n- plugins:\n  - name: gong\n{sla}nonsense: 1\n"
    with pytest.raises(KumiError) as caught:
        read_policy(write(tmp_path, text))
    lines = str(caught.value).splitlines()[1:]
    assert [line.split(":")[0].strip() for line in lines] == ["line 1", "line 4", "line 6", "line 7"]


def test_what_is_said_in_vain_is_told_with_its_line_and_passes(tmp_path: Path) -> None:
    arguments = "    arguments:\n      binpack.weight: 1\n      binpack.wieght: 3\n"
    text = f"tiers:\n- plugins:\n  - name: cdp\n  - name: binpack\n{arguments}"
    found = read_policy(write(tmp_path, text))
    assert [option.name for tier in found.conf.tiers for option in tier] == ["binpack"]
    first, second = found.vain
    assert "policy.yaml, line 3: tiers[0].plugins[0].name: cdp is not served here" in first
    assert "policy.yaml, line 7: tiers[0].plugins[1].arguments.binpack.wieght: binpack has no such argument" in second
