"""mesh_queries_warp.py - ../ours/mesh_queries.lua as a user of Warp writes it. Its kernels run on one
thread of a processor."""
import numpy as np
import warp as wp

import bench

what, n, queries = bench.arguments("rays", 256, 100000)
wp.config.quiet = True
wp.init()
device = "cpu"

turn = 2 * np.pi / n
i, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
thick = 0.35 + 0.05 * np.sin(5 * i * turn) * np.sin(7 * j * turn)
wide = 1 + thick * np.cos(j * turn)
points = np.stack([wide * np.cos(i * turn), wide * np.sin(i * turn), thick * np.sin(j * turn)], -1)
a, b = i * n + j, i * n + (j + 1) % n
c, d = (i + 1) % n * n + j, (i + 1) % n * n + (j + 1) % n
cells = np.stack([a, c, b, b, c, d], -1)
mesh = wp.Mesh(
    points=wp.array(points.reshape(-1, 3).astype(np.float32), dtype=wp.vec3, device=device),
    indices=wp.array(cells.reshape(-1).astype(np.int32), dtype=int, device=device),
)
r = bench.noises(6 * queries).reshape(queries, 6)
start = wp.array((r[:, :3] - np.float32(0.5)) * 3, dtype=wp.vec3, device=device)
end = wp.array((r[:, 3:] - np.float32(0.5)) * 2, dtype=wp.vec3, device=device)
found = wp.zeros(queries, dtype=float, device=device)


@wp.kernel
def cast(mesh: wp.uint64, start: wp.array(dtype=wp.vec3), end: wp.array(dtype=wp.vec3), found: wp.array(dtype=float)):
    q = wp.tid()
    way = end[q] - start[q]
    length = wp.length(way)
    hit = wp.mesh_query_ray(mesh, start[q], way / length, 1.0e6)
    found[q] = hit.t / length if hit.result else 2.0


@wp.kernel
def approach(mesh: wp.uint64, start: wp.array(dtype=wp.vec3), end: wp.array(dtype=wp.vec3), found: wp.array(dtype=float)):
    q = wp.tid()
    at = wp.mesh_query_point_no_sign(mesh, start[q], 1.0e6)
    if at.result:
        found[q] = wp.length(wp.mesh_eval_position(mesh, at.face, at.u, at.v) - start[q])
    else:
        found[q] = 2.0


kernel = cast if what == "rays" else approach


def query():
    wp.launch(kernel, dim=queries, inputs=[mesh.id, start, end, found], device=device)


def checksum():
    query()
    return found.numpy().astype("float64").mean()


bench.run(step=mesh.refit if what == "refit" else query, checksum=checksum)
