"""neighbours_warp.py - ../ours/neighbours.lua as a user of Warp writes it. Its kernels run on one
thread of a processor."""
import warp as wp

import bench

phase, count, radius = bench.arguments("build", 200000, 0.033)
wp.config.quiet = True
wp.init()
device = "cpu"
x = wp.array(bench.noises(3 * count).reshape(count, 3), dtype=wp.vec3, device=device)
density = wp.zeros(count, dtype=float, device=device)
cells = max(8, int(1 / radius) + 1)
grid = wp.HashGrid(cells, cells, cells, device=device)


@wp.kernel
def estimate(grid: wp.uint64, x: wp.array(dtype=wp.vec3), density: wp.array(dtype=float), radius: float):
    p = wp.hash_grid_point_id(grid, wp.tid())
    here = x[p]
    sum = float(0.0)
    for other in wp.hash_grid_query(grid, here, radius):
        d = wp.length(x[other] - here)
        if d <= radius:
            sum += 1.0 - d / radius
    density[p] = sum


def build():
    grid.build(x, radius)


def step():
    wp.launch(estimate, dim=count, inputs=[grid.id, x, density, radius], device=device)


def checksum():
    step()
    return density.numpy().astype("float64").mean()


build()
bench.run(step=build if phase == "build" else step, checksum=checksum)
