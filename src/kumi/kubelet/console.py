"""A container's standard streams as its guardian has them, and the clients that are attached to them.

    stdin      /dev/null; with `stdin: true` a pipe that stays open, also while nobody is attached; with `stdinOnce` it ends
               when the first client that has input leaves or says that its input ends
    tty        one terminal is all three streams; what is read from it is told as stdout
    attached   a client gets what is said from then on, as it is said; several may be
Socket     <attempt>.attach beside the log: packets whose first byte is a channel, as in Kubernetes' remote commands:
               from the client   0 stdin (an empty one says that there will be input)   4 the terminal's size, two uint16:
                                 columns, rows   255 the input ends
               to the client     1 stdout   2 stderr
Bounds     a client that does not take what it is told is cut off past BACKLOG_BYTES; input that the container does not take
           makes the clients wait.
Source     Kubernetes: kubectl attach, Container.stdin, stdinOnce, tty; unix(7), pty(7).
Not here   the log: log_files.py. The client's side: attaching.py. Standard library only: the shim loads it.
"""

from __future__ import annotations

import collections
import contextlib
import fcntl
import os
import select
import socket
import struct
import termios
from typing import NamedTuple

STDIN, STDOUT, STDERR, RESIZE, END = 0, 1, 2, 4, 255
CHANNELS = {"stdout": STDOUT, "stderr": STDERR}
PACKET_BYTES = 1 << 16
BACKLOG_BYTES = 1 << 22
END_OF_INPUT = b"\x04"
"""what a terminal takes for the end of a file"""


class Wanted(NamedTuple):
    """What a container's spec says of its streams."""

    stdin: bool = False
    once: bool = False
    terminal: bool = False


class _Client:
    """One that is attached."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.has_input = False
        self.backlog: collections.deque[bytes] = collections.deque()
        self.backlog_bytes = 0


class Console:
    """See the module. `theirs`: stdin, stdout and stderr for the container, until `handed_over`; `outputs`: what its words
    are read from, by descriptor."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._input = -1
        self._unwritten = b""
        self._listener: socket.socket | None = None
        self._clients: dict[int, _Client] = {}
        self._path = ""
        self._poll: select.poll | None = None
        self.outputs: dict[int, str] = {}
        self.theirs = self._terminal() if wanted.terminal else self._pipes()

    def handed_over(self) -> None:
        """The container has its ends."""
        for descriptor in set(self.theirs):
            os.close(descriptor)

    def open(self, path: str, poll: select.poll) -> None:
        """Clients may attach, as long as `poll` is asked and `heed` told of what is not the guardian's own."""
        self._poll = poll
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        directory = os.open(os.path.dirname(path), os.O_PATH | os.O_CLOEXEC)
        try:
            with contextlib.suppress(OSError):
                os.unlink(path)
            listener.bind(
                f"/proc/self/fd/{directory}/{os.path.basename(path)}"
            )  # a path may be longer than addresses are
            listener.listen(16)
            listener.setblocking(False)
        except OSError:
            listener.close()
            return  # a full disk: the container goes on, and nobody can attach
        finally:
            os.close(directory)
        self._listener, self._path = listener, path
        poll.register(listener, select.POLLIN)

    def heed(self, descriptor: int, events: int) -> None:
        """Something happened at a descriptor that is this console's."""
        if self._listener is not None and descriptor == self._listener.fileno():
            self._welcome()
        elif descriptor == self._input:
            self._feed(b"")
        elif (client := self._clients.get(descriptor)) is not None:
            if events & select.POLLOUT:
                self._send(client, b"")
            if events & (select.POLLIN | select.POLLHUP | select.POLLERR) and descriptor in self._clients:
                self._hear(client)

    def tell(self, stream: str, data: bytes) -> None:
        """The container has said something."""
        packet = bytes([CHANNELS[stream]]) + data
        for client in list(self._clients.values()):
            self._send(client, packet)

    def close(self) -> None:
        """The container has ended: clients get what they are still to get, as far as they take it at once."""
        for client in list(self._clients.values()):
            with contextlib.suppress(OSError):
                client.connection.setblocking(True)
                client.connection.settimeout(1.0)
                for packet in client.backlog:
                    client.connection.send(packet)
            client.connection.close()
        self._clients = {}
        if self._listener is not None:
            self._listener.close()
            with contextlib.suppress(OSError):
                os.unlink(self._path)

    def _terminal(self) -> list[int]:
        ours, theirs = os.openpty()
        os.set_blocking(ours, False)
        self.outputs = {ours: "stdout"}
        if self._wanted.stdin:
            self._input = os.dup(ours)
        return [theirs, theirs, theirs]

    def _pipes(self) -> list[int]:
        if self._wanted.stdin:
            stdin, self._input = os.pipe2(os.O_CLOEXEC)
            os.set_blocking(self._input, False)
        else:
            stdin = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        theirs = [stdin]
        for stream in CHANNELS:
            ours, end = os.pipe2(os.O_CLOEXEC)
            self.outputs[ours] = stream
            theirs.append(end)
        return theirs

    def _welcome(self) -> None:
        assert self._listener is not None
        with contextlib.suppress(OSError):
            connection, _ = self._listener.accept()
            connection.setblocking(False)
            client = self._clients[connection.fileno()] = _Client(connection)
            self._watch(client)

    def _hear(self, client: _Client) -> None:
        try:
            packet = client.connection.recv(PACKET_BYTES + 1)
        except BlockingIOError:
            return
        except OSError:
            packet = b""
        if not packet:
            self._leave(client)
        elif packet[0] == STDIN:
            client.has_input = True
            self._feed(packet[1:])
        elif packet[0] == RESIZE and self._wanted.terminal and len(packet) == 5:
            columns, rows = struct.unpack("!HH", packet[1:])
            for ours in self.outputs:
                fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        elif packet[0] == END and client.has_input:
            client.has_input = False
            self._input_ends()

    def _leave(self, client: _Client) -> None:
        if self._poll is not None:
            self._poll.unregister(client.connection)
        del self._clients[client.connection.fileno()]
        client.connection.close()
        if client.has_input:
            self._input_ends()

    def _input_ends(self) -> None:
        if not self._wanted.once or self._input < 0:
            return
        if self._wanted.terminal:
            self._feed(END_OF_INPUT)
        elif self._unwritten:
            self._wanted = self._wanted._replace(stdin=False)  # once it is written
        else:
            self._close_input()

    def _feed(self, data: bytes) -> None:
        """To the container's stdin, as much as it takes; what is left keeps the clients from saying more."""
        if self._input < 0:
            return
        waited = bool(self._unwritten)
        self._unwritten += data
        try:
            while self._unwritten:
                self._unwritten = self._unwritten[os.write(self._input, self._unwritten) :]
        except BlockingIOError:
            pass
        except OSError:
            self._close_input()  # it has closed its end
        if self._poll is None or bool(self._unwritten) == waited:
            return
        if self._unwritten:
            self._poll.register(self._input, select.POLLOUT)
        elif self._input >= 0:
            self._poll.unregister(self._input)
            if not self._wanted.stdin:
                self._close_input()
        for client in self._clients.values():
            self._watch(client)

    def _close_input(self) -> None:
        if self._poll is not None and self._unwritten:
            with contextlib.suppress(KeyError):
                self._poll.unregister(self._input)
        self._unwritten = b""
        os.close(self._input)
        self._input = -1
        for client in self._clients.values():
            self._watch(client)

    def _send(self, client: _Client, packet: bytes) -> None:
        """After what it is still to get."""
        if packet:
            client.backlog.append(packet)
            client.backlog_bytes += len(packet)
        try:
            while client.backlog:
                client.connection.send(client.backlog[0])
                client.backlog_bytes -= len(client.backlog.popleft())
        except BlockingIOError:
            pass
        except OSError:
            self._leave(client)
            return
        if client.backlog_bytes > BACKLOG_BYTES:
            self._leave(client)
        else:
            self._watch(client)

    def _watch(self, client: _Client) -> None:
        """What is awaited of a client now."""
        if self._poll is not None:
            awaited = (0 if self._unwritten else select.POLLIN) | (select.POLLOUT if client.backlog else 0)
            self._poll.register(client.connection, awaited)
