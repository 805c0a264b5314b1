"""A container's streams and those attached to them, without a container."""

from __future__ import annotations

import os
import select
import socket
import struct
import termios
import time
from collections.abc import Callable, Iterator
from fcntl import ioctl
from pathlib import Path

import pytest

from kumi.kubelet import console
from kumi.kubelet.console import END, RESIZE, STDERR, STDIN, STDOUT, Console, Wanted


class Held:
    """A console with its guardian's loop; the test is the container."""

    def __init__(self, directory: Path, wanted: Wanted) -> None:
        self.console, self.poll = Console(wanted), select.poll()
        self.stdin, self.stdout, self.stderr = (os.dup(fd) for fd in self.console.theirs)
        self.console.handed_over()
        self.path = str(directory / "0.attach")
        self.console.open(self.path, self.poll)

    def attach(self) -> socket.socket:
        client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        client.settimeout(10)
        client.connect(self.path)
        self.turn()
        return client

    def turn(self) -> None:
        """All that can be done without waiting."""
        while found := self.poll.poll(0):
            for descriptor, events in found:
                self.console.heed(descriptor, events)

    def until(self, holds: Callable[[], object]) -> None:
        end = time.monotonic() + 10
        while not holds():
            assert time.monotonic() < end
            self.turn()


@pytest.fixture
def hold(tmp_path: Path) -> Iterator[Callable[[Wanted], Held]]:
    made: list[Held] = []

    def make(wanted: Wanted) -> Held:
        made.append(Held(tmp_path, wanted))
        return made[-1]

    yield make
    for each in made:
        each.console.close()


def test_without_stdin_there_is_nothing_to_read(hold: Callable[[Wanted], Held]) -> None:
    assert os.read(hold(Wanted()).stdin, 1) == b""


def test_every_client_is_told_what_is_said_from_then_on(hold: Callable[[Wanted], Held]) -> None:
    held = hold(Wanted())
    held.console.tell("stdout", b"before")
    first, second = held.attach(), held.attach()
    held.console.tell("stdout", b"out")
    held.console.tell("stderr", b"err")
    for client in (first, second):
        assert [client.recv(100), client.recv(100)] == [bytes([STDOUT]) + b"out", bytes([STDERR]) + b"err"]


def test_input_reaches_the_container_and_stays_open(hold: Callable[[Wanted], Held]) -> None:
    held = hold(Wanted(stdin=True))
    for word in (b"one", b"two"):
        client = held.attach()
        client.send(bytes([STDIN]) + word)
        client.send(bytes([END]))
        client.close()
        held.turn()
        assert os.read(held.stdin, 100) == word
    os.set_blocking(held.stdin, False)
    with pytest.raises(BlockingIOError):
        os.read(held.stdin, 1)


@pytest.mark.parametrize("says_so", [True, False])
def test_stdin_once_ends_with_the_first_client_that_has_input(hold: Callable[[Wanted], Held], says_so: bool) -> None:
    held = hold(Wanted(stdin=True, once=True))
    looker = held.attach()
    looker.close()
    held.turn()
    client = held.attach()
    client.send(bytes([STDIN]) + b"all")
    if says_so:
        client.send(bytes([END]))
    else:
        client.close()
    held.turn()
    assert os.read(held.stdin, 100) == b"all"
    assert os.read(held.stdin, 100) == b""


def test_input_that_is_not_taken_waits_and_then_comes_whole(hold: Callable[[Wanted], Held]) -> None:
    held, client = hold(Wanted(stdin=True, once=True)), None
    client = held.attach()
    client.setblocking(False)
    piece, sent = bytes([STDIN]) + b"x" * 30_000, 0
    for _ in range(50):
        try:
            client.send(piece)
            sent += 30_000
        except BlockingIOError:
            break
        held.turn()
    else:
        raise AssertionError("it takes everything at once")
    client.close()
    os.set_blocking(held.stdin, False)
    got = bytearray()

    def read() -> bool:
        try:
            data = os.read(held.stdin, 1 << 20)
        except BlockingIOError:
            return False
        got.extend(data)
        return not data

    held.until(read)
    assert len(got) == sent


def test_a_client_that_takes_nothing_is_cut_off_and_the_others_are_not(
    hold: Callable[[Wanted], Held], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "BACKLOG_BYTES", 1 << 18)
    held = hold(Wanted())
    slow, quick = held.attach(), held.attach()
    count = 0
    for _ in range(60):
        held.console.tell("stdout", b"x" * 30_000)
        count += len(quick.recv(1 << 16)) - 1
        held.turn()
    assert count == 60 * 30_000
    got = 0
    while packet := slow.recv(1 << 16):
        got += len(packet) - 1
    assert got < count


def test_a_terminal_is_all_three_streams_and_has_a_size(hold: Callable[[Wanted], Held]) -> None:
    held = hold(Wanted(stdin=True, terminal=True))
    assert os.isatty(held.stdin)
    assert os.isatty(held.stderr)
    client = held.attach()
    client.send(struct.pack("!BHH", RESIZE, 100, 40))
    client.send(bytes([STDIN]) + b"word\n")
    held.turn()
    assert os.read(held.stdin, 100) == b"word\n"
    assert struct.unpack("HHHH", ioctl(held.stdin, termios.TIOCGWINSZ, bytes(8)))[:2] == (40, 100)
    assert list(held.console.outputs.values()) == ["stdout"]


def test_what_makes_no_sense_is_let_be(hold: Callable[[Wanted], Held]) -> None:
    held = hold(Wanted(stdin=True))
    client = held.attach()
    for packet in (b"\x07what", bytes([RESIZE]), bytes([END])):
        client.send(packet)
    held.turn()
    client.send(bytes([STDIN]) + b"word")
    held.turn()
    assert os.read(held.stdin, 100) == b"word"


def test_the_end_says_what_is_left_and_removes_the_socket(hold: Callable[[Wanted], Held]) -> None:
    held = hold(Wanted())
    client = held.attach()
    held.console.tell("stdout", b"last")
    held.console.close()
    assert client.recv(100) == bytes([STDOUT]) + b"last"
    assert client.recv(100) == b""
    assert not os.path.exists(held.path)
