#!/usr/bin/env python3
"""all_reduce through PyTorch's gloo group beside Taeda's, from 1 KB to 64 MB.

    benchmarks/collectives_torch.py build-release/benchmarks/collectives [--ranks N] [--rounds N]

A round runs `collectives`, then the same sizes and numbers of calls in processes of PyTorch, so that both see the same
drift of the machine; a figure is the median of its rounds. A ratio above 1 means that Taeda is faster. Both sides take
one thread a process and 127.0.0.1. PyTorch is the one that this interpreter imports.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

SIZES = [1 << shift for shift in range(10, 27, 2)]


def measure(rank, ranks, rendezvous, out):
    """PyTorch's side, a process: microseconds of one call by size, written by rank 0."""
    import torch
    import torch.distributed as dist
    torch.set_num_threads(1)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    dist.init_process_group("gloo", init_method="file://" + rendezvous, rank=rank, world_size=ranks)
    medians = {}
    for size in SIZES:
        data = torch.zeros(size // 4)
        calls = min(max((4 << 20) // size, 1), 200)
        rounds = []
        for _ in range(4):
            start = time.perf_counter()
            for _ in range(calls):
                dist.all_reduce(data)
            rounds.append(1e6 * (time.perf_counter() - start) / calls)
        medians[size] = statistics.median(rounds[1:])  # the first touches memory
    if rank == 0:
        with open(out, "w") as file:
            json.dump(medians, file)
    dist.destroy_process_group()


def torch_round(ranks):
    with tempfile.TemporaryDirectory(prefix="taeda-collectives-") as folder:
        out = os.path.join(folder, "medians.json")
        command = [sys.executable, __file__, "--as-rank"]
        processes = [subprocess.Popen([*command, str(rank), str(ranks), os.path.join(folder, "rendezvous"), out])
                     for rank in range(ranks)]
        if any([process.wait() for process in processes]):
            sys.exit("collectives_torch.py: a process of PyTorch's failed")
        with open(out) as file:
            return {int(size): us for size, us in json.load(file).items()}


def taeda_round(program, ranks):
    done = subprocess.run([program, "--ranks", str(ranks), "--rounds", "3"], check=True, stdout=subprocess.PIPE, text=True)
    rows = map(json.loads, (line for line in done.stdout.splitlines() if line.startswith("{")))
    return {row["bytes"]: row["taeda_us"] for row in rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the built benchmark `collectives`")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    rounds = [(taeda_round(args.program, args.ranks), torch_round(args.ranks)) for _ in range(args.rounds)]
    print(f"{'bytes':>10} {'Taeda us':>12} {'PyTorch us':>12} {'PyTorch/Taeda':>14}")
    for size in SIZES:
        ours, theirs = (statistics.median(r[side][size] for r in rounds) for side in (0, 1))
        print(f"{size:10} {ours:12.1f} {theirs:12.1f} {theirs / ours:14.2f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--as-rank"]:
        measure(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5])
    else:
        main()
