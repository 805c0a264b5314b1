from __future__ import annotations

from pathlib import Path

from kumi.jobs.injected import ANNOTATION, Injected, encode
from kumi.kubelet.hosts import NamedPod, Names, alias_lines, hosts_text, machine_lines, named_pod, write_in_place
from tests.kubelet.stage import pod


def names(domain: str = "") -> Names:
    found = Names(domain)
    master = pod("job-master-0", "true", meta={"labels": {"job": "j", "role": "master"}}, hostname="m", subdomain="sub")
    worker = pod("job-worker-0", "true", meta={"labels": {"job": "j", "role": "worker"}})
    found.put_pod("u1", named_pod(master, "127.5.0.2"))
    found.put_pod("u2", named_pod(worker, "127.5.0.3"))
    found.put_service("default", "svc", {"job": "j"})
    found.put_service("default", "none", {})
    return found


def test_pods_and_services_of_the_namespace_have_their_names() -> None:
    assert hosts_text(names().lines("default")).splitlines() == [
        "127.0.0.1 localhost",
        "::1 localhost ip6-localhost ip6-loopback",
        "127.5.0.2 job-master-0 m.sub m.sub.default m.sub.default.svc m.sub.default.svc.cluster.local",
        "127.5.0.3 job-worker-0",
        "127.5.0.2 svc svc.default svc.default.svc svc.default.svc.cluster.local",
        "127.5.0.3 svc svc.default svc.default.svc svc.default.svc.cluster.local",
    ]


def test_the_clusters_own_domain_is_used() -> None:
    assert "svc.default.svc.lab.example" in hosts_text(names("lab.example").lines("default"))


def test_a_pod_sees_its_own_host_name_first_and_the_machines_lines_last() -> None:
    lines = hosts_text([], "127.5.0.2 me\n", "10.0.0.9 printer\n").splitlines()
    assert lines[2:] == ["127.5.0.2 me", "10.0.0.9 printer"]


def test_names_have_the_address_that_pods_of_the_namespace_see() -> None:
    found = names()
    assert found.address_of("svc", "default") == "127.5.0.2"
    assert found.address_of("job-worker-0", "default") == "127.5.0.3"
    assert found.address_of("svc.default.svc.cluster.local", "default") == "127.5.0.2"
    assert found.address_of("svc", "other") is None
    assert found.address_of("svc.default", "other") == "127.5.0.2"
    assert found.address_of("m.sub.default.svc", "other") == "127.5.0.2"
    assert found.address_of("job-worker-0", "other") is None


def of_job(name: str, job: str, role: str) -> NamedPod:
    note = {ANNOTATION: encode(Injected(group=job))}
    return named_pod(pod(name, "true", meta={"annotations": note, "labels": {"job": job, "role": role}}), "127.5.0.9")


def test_the_names_of_a_pod_that_ended_stay_while_its_job_has_others() -> None:
    found = Names()
    found.put_pod("m", of_job("j-master-0", "j", "master"))
    found.put_pod("w", of_job("j-worker-0", "j", "worker"))
    found.put_service("default", "svc", {"job": "j", "role": "master"})
    found.end_pod("default", "m")
    assert found.address_of("j-master-0", "default") == "127.5.0.9"
    assert found.address_of("svc.default.svc", "other") == "127.5.0.9"
    found.end_pod("default", "w")
    assert found.lines("default") == []
    found.put_pod("w2", of_job("other", "k", "worker"))
    assert [names for _, names in found.lines("default")] == [["other"]]


def test_a_service_has_living_pods_alone_if_there_are_any() -> None:
    found = Names()
    for uid in ("a", "b", "c"):
        found.put_pod(uid, of_job(f"j-{uid}", "j", "r")._replace(address=uid))
    found.put_service("default", "svc", {"job": "j"})
    found.end_pod("default", "a")
    addresses = [address for address, names in found.lines("default") if "svc" in names]
    assert addresses == ["b", "c"]


def test_a_pod_of_no_job_that_ended_has_no_name() -> None:
    found = names()
    found.end_pod("default", "u1")
    assert found.lines("default")[0] == ("127.5.0.3", ["job-worker-0"])
    assert found.address_of("job-master-0", "default") is None


def test_only_what_changed_is_stale() -> None:
    found = names()
    assert found.take_stale() == ["default"]
    found.put_service("default", "svc", {"job": "j"})
    found.drop_pod("default", "unknown")
    assert found.take_stale() == []
    found.drop_pod("default", "u1")
    found.drop_service("default", "svc")
    assert found.take_stale() == ["default"]
    assert found.lines("default") == [("127.5.0.3", ["job-worker-0"])]


def test_a_file_is_rewritten_in_place(tmp_path: Path) -> None:
    path = tmp_path / "net" / "hosts"
    write_in_place(path, "a long first text\n")
    before = path.stat().st_ino
    write_in_place(path, "short\n")
    assert (path.stat().st_ino, path.read_text()) == (before, "short\n")


def test_the_machines_own_lines_are_kept_without_localhost_and_comments(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("127.0.0.1 localhost me # c\n# all\n\n10.0.0.1\tbox box.lan\n::1 localhost\n")
    assert machine_lines(str(path)) == "127.0.0.1 me\n10.0.0.1 box box.lan\n"
    assert machine_lines(str(tmp_path / "none")) == ""


def test_host_aliases_are_lines() -> None:
    aliases = [{"ip": "10.0.0.5", "hostnames": ["db", "db.lan"]}, {"ip": "10.0.0.6"}]
    assert alias_lines(pod("p", "true", hostAliases=aliases)) == "10.0.0.5 db db.lan\n"
