"""Data-parallel training with nothing but NumPy and TCP: what torch.distributed does, small enough to read.

A two-layer network learns a fixed function. Every rank holds a shard of the data and the same weights; at each step the
ranks send their gradients to rank 0, which sends back the mean. All that a rank knows of the others is the environment:
MASTER_ADDR, MASTER_PORT, WORLD_SIZE, RANK. At the end every rank prints its loss and a digest of its weights: the digests
are equal, or the gradients did not travel.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import socket
import struct
import sys
import time

import numpy as np

HIDDEN, INPUTS, SAMPLES = 64, 16, 4096


def receive(peer: socket.socket, size: int) -> bytes:
    """Exactly `size` bytes; ConnectionError if the peer goes."""
    parts = []
    while size:
        part = peer.recv(min(size, 1 << 20))
        if not part:
            raise ConnectionError("a rank is gone")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


class Star:
    """The ranks, with rank 0 in the middle."""

    def __init__(self, rank: int, world: int, address: str, port: int, patience_s: float) -> None:
        self.rank, self.world = rank, world
        self.peers: list[socket.socket] = []
        if rank == 0:
            self._gather(port, patience_s)
        else:
            self._join(address, port, patience_s)

    def _gather(self, port: int, patience_s: float) -> None:
        with socket.create_server(("0.0.0.0", port)) as server:
            server.settimeout(patience_s)
            found: dict[int, socket.socket] = {}
            while len(found) < self.world - 1:
                peer, _ = server.accept()
                (rank,) = struct.unpack("!I", receive(peer, 4))
                found[rank] = peer
            self.peers = [found[rank] for rank in sorted(found)]

    def _join(self, address: str, port: int, patience_s: float) -> None:
        end = time.monotonic() + patience_s
        while True:
            try:
                peer = socket.create_connection((address, port), timeout=5)
                break
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)
        peer.settimeout(patience_s)
        peer.sendall(struct.pack("!I", self.rank))
        self.peers = [peer]

    def mean(self, values: np.ndarray) -> np.ndarray:
        """The mean over all ranks, the same bytes on each."""
        if self.rank == 0:
            total = values.copy()
            for peer in self.peers:
                total += np.frombuffer(receive(peer, values.nbytes), values.dtype)
            total /= self.world
            for peer in self.peers:
                peer.sendall(total.tobytes())
            return total
        self.peers[0].sendall(values.tobytes())
        return np.frombuffer(receive(self.peers[0], values.nbytes), values.dtype)


def shard(seed: int, rank: int, world: int) -> tuple[np.ndarray, np.ndarray]:
    """This rank's part of the data."""
    data = np.random.default_rng(seed)
    x = data.standard_normal((SAMPLES, INPUTS))
    y = np.sin(x @ data.standard_normal(INPUTS) / 2)
    return x[rank::world], y[rank::world]


def gradient(weights: np.ndarray, x: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
    """Mean squared error of this shard and its gradient."""
    inner = weights[: INPUTS * HIDDEN].reshape(INPUTS, HIDDEN)
    outer = weights[INPUTS * HIDDEN :]
    hidden = np.tanh(x @ inner)
    error = hidden @ outer - y
    back = np.outer(error, outer) * (1 - hidden**2)
    flat = np.concatenate([(x.T @ back).ravel(), hidden.T @ error]) * (2 / len(y))
    return float(np.mean(error**2)), flat


def main() -> int:
    """Trains, and prints what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--patience", type=float, default=60.0, help="seconds to wait for the other ranks")
    arguments = parser.parse_args()
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    address, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    print(
        f"rank {rank} of {world}: meets at {address}:{port}, GPU {os.environ.get('CUDA_VISIBLE_DEVICES', '-')}",
        flush=True,
    )
    star = Star(rank, world, address, port, arguments.patience)
    x, y = shard(arguments.seed, rank, world)
    weights = np.random.default_rng(arguments.seed).standard_normal(INPUTS * HIDDEN + HIDDEN) / 4
    loss = 0.0
    for step in range(arguments.steps):
        loss, flat = gradient(weights, x, y)
        weights = weights - 0.1 * star.mean(flat)
        if step % 500 == 0:
            print(f"rank {rank}: step {step} loss {loss:.4f}", flush=True)
    digest = hashlib.sha256(weights.tobytes()).hexdigest()[:16]
    print(f"rank {rank}: done loss {loss:.4f} weights {digest}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
