"""The same with torch.distributed (gloo): the environment that Kumi injects is the one that torch reads by itself."""

from __future__ import annotations

import argparse
import hashlib
import os
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

INPUTS, HIDDEN, SAMPLES = 16, 64, 4096


def main() -> int:
    """Trains, and prints what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=300)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    print(f"rank {rank} of {world}: GPU {os.environ.get('CUDA_VISIBLE_DEVICES', '-')}", flush=True)
    torch.manual_seed(arguments.seed)
    x = torch.randn(SAMPLES, INPUTS)
    y = torch.sin(x @ torch.randn(INPUTS) / 2)
    x, y = x[rank::world], y[rank::world]
    net = torch.nn.Sequential(torch.nn.Linear(INPUTS, HIDDEN), torch.nn.Tanh(), torch.nn.Linear(HIDDEN, 1))
    model = DistributedDataParallel(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
    loss = torch.zeros(())
    for step in range(arguments.steps):
        optimizer.zero_grad()
        loss = torch.mean((model(x).squeeze(1) - y) ** 2)
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            print(f"rank {rank}: step {step} loss {loss.item():.4f}", flush=True)
    weights = b"".join(p.detach().numpy().tobytes() for p in model.parameters())
    print(f"rank {rank}: done loss {loss.item():.4f} weights {hashlib.sha256(weights).hexdigest()[:16]}", flush=True)
    dist.barrier()  # a rank that leaves while another still works with it makes that one abort
    dist.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main())
