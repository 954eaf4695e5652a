"""pagerank_taichi.py - ../ours/pagerank.lua as a user of Taichi writes it."""
import numpy as np

import bench

ti = bench.taichi()
(n,) = bench.arguments(262144)
damping = 0.85
counts = (np.float32(2) / (np.float32(0.02) + bench.noises(n))).astype(np.int32)
heads = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
edges = int(heads[-1])
sources = (bench.noises(n + edges)[n:] * np.float32(n)).astype(np.int32)
first, links, source = ti.field(ti.i32, n + 1), ti.field(ti.i32, n), ti.field(ti.i32, edges)
first.from_numpy(heads)
source.from_numpy(sources)
links.from_numpy(np.bincount(sources, minlength=n).astype(np.int32))
rank, next_rank = ti.field(ti.f32, n), ti.field(ti.f32, n)


@ti.kernel
def iterate(rank: ti.template(), next_rank: ti.template()):
    for v in rank:
        total = 0.0
        for e in range(first[v], first[v + 1]):
            u = source[e]
            total += rank[u] / links[u]
        next_rank[v] = (1 - damping) / n + damping * total


def step():
    global rank, next_rank
    iterate(rank, next_rank)
    rank, next_rank = next_rank, rank


def checksum():
    r = rank.to_numpy().astype(np.float64)
    return n * (r * r).sum()


bench.run(start=lambda: rank.fill(1 / n), step=step, checksum=checksum)
